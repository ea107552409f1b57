"""Coding exercises in what is built: shown, answers folded, nothing private anywhere."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from coursework.__main__ import main
from coursework.exercise.assignments import load
from tests.coursework.course import EXERCISES, exercises
from tests.site.built import Site, parse, toc_documents
from tests.support import ROOT, each

pytestmark = pytest.mark.walk

MARK = "PRIVATE7301"
PAGE = """\
---
jupytext: {{text_representation: {{extension: .md, format_name: myst}}}}
kernelspec: {{name: python3, display_name: Python 3}}
---
# {title}

```{{exercise-start}} ★ {title}
:label: ex-{name}
```
Write `{name}(x)`, twice `x`.
```{{exercise-end}}
```

```{{solution-start}} ex-{name}
:class: dropdown
```
```{{code-cell}} ipython3
:coursework: {{role: answer}}
def {name}(x):
    mark = "{mark} answer"
    return x + x
```

{check}
```{{solution-end}}
```
"""
CHECK = """\
```{{code-cell}} ipython3
---
tags: [hide-input]
coursework: {{role: check, part: "{mark}", points: 1, draws: 1}}
---
from chaingrad.checks import check_results


def inputs(rng):
    mark = "{mark} inputs"
    return {{"x": rng.normal()}}


def driver(student, inputs):
    mark = "{mark} driver"
    return {{"y": student.{name}(inputs["x"])}}


def oracle(inputs):
    mark = "{mark} oracle"
    return {{"y": 2 * inputs["x"]}}


check_results(inputs, driver, oracle)
```
"""
ADDED = "```{{solution-start}} ex-{name}\n```\n{check}\n```{{solution-end}}\n```\n"


def page(name: str, title: str, mark: str) -> str:
    return PAGE.format(name=name, title=title, mark=mark, check=CHECK.format(name=name, mark=mark))


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built book with this one's settings, and a private folder carelessly put inside it."""
    book = tmp_path_factory.mktemp("book")
    for name in ("_config.yml", "_ext", "references.bib", "img", "requirements.txt", "LICENSE"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, book / name)
    (book / "_toc.yml").write_text("format: jb-book\nroot: chapters/page\n")
    (book / "chapters").mkdir()
    cited = "\n```{bibliography}\n```\n"
    (book / "chapters" / "page.md").write_text(page("public", "In the book", "public") + cited)
    private = book / "private"
    private.mkdir()
    (private / "own.md").write_text(page("own", "Own problem", MARK))
    added = ADDED.format(name="public", check=CHECK.format(name="public", mark=MARK + " added"))
    (private / "added.md").write_text(added)
    (book / "assignments.toml").write_text(
        '[[assignment]]\nname = "a"\nexercises = [{ id = "ex-public" }, { id = "ex-own" }]\n'
    )
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "build.py"), str(book)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return book


def test_nothing_private_is_built(book: Path) -> None:
    built = [path for path in (book / "_build").rglob("*") if path.is_file()]
    assert any(b"public answer" in path.read_bytes() for path in built)
    assert [path for path in built if MARK.encode() in path.read_bytes()] == []


def test_students_get_the_statement_of_a_private_problem_alone(book: Path, tmp_path: Path) -> None:
    common = ["--book", str(book), "--private", str(book / "private"), "--to", str(tmp_path)]
    common += ["--secret", str(tmp_path / "secret")]
    assert main(["release", *common]) == 0
    text = (tmp_path / "release" / "a" / "a.ipynb").read_text()
    assert "Own problem" in text
    assert "Write `own(x)`" in text
    for hidden in (MARK, "public answer", "public oracle"):
        assert hidden not in text
    assert "public driver" in text
    graded = [c for c in json.loads(text)["cells"] if c["metadata"]["nbgrader"]["grade"]]
    assert len(graded) == 3


@each("name", EXERCISES)
def test_an_exercise_is_shown_and_its_answer_folded(site: Site, name: str) -> None:
    problem = exercises()[name]
    document = Path(problem.where).relative_to(ROOT).with_suffix(".html")
    if not (site.folder / document).exists():
        pytest.skip(f"{document} is not in the table of contents")
    soup = parse(site.folder / document)
    exercise = soup.find(id=name)
    assert exercise is not None
    assert problem.title in exercise.get_text()
    solution = next(s for s in soup.select(".solution") if s.find("a", href=f"#{name}"))
    assert "dropdown" in solution["class"]
    code = re.sub(r"\s", "", solution.get_text())
    assert re.sub(r"\s", "", problem.answer) in code
    assert re.sub(r"\s", "", problem.answer) not in re.sub(r"\s", "", exercise.get_text())


def test_the_site_holds_no_assignment(site: Site) -> None:
    """Assignments are written for a class; their sources hold what students must not see."""
    names = set(load(ROOT / "assignments.toml", ROOT / "chapters"))
    notebooks = list(site.folder.rglob("*.ipynb"))
    assert not names & ({path.stem for path in notebooks} - {Path(d).name for d in toc_documents()})
    for path in [*notebooks, *site.folder.rglob("*.html")]:
        assert "### BEGIN HIDDEN TESTS" not in path.read_text()
