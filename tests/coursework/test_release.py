"""Notebooks for students, and the command line that writes them."""

import ast
import hashlib
import json
import linecache
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from coursework import release
from coursework.__main__ import main
from coursework.exercise.assignments import Assignment
from coursework.exercise.imports import imported
from coursework.exercise.pages import read_problems
from coursework.exercise.stubs import function_bodies
from coursework.sources import PACKAGES
from tests.coursework.classes import complete_answer
from tests.coursework.course import COMMON, NAMES, assignments
from tests.support import ROOT, git

SECRET = "a secret of the tests"
GUIDE = ROOT / "chapters" / "reference" / "teaching.md"
EXERCISE = re.compile(r"^`{4}text\n(.*?)^`{4}$", re.DOTALL | re.MULTILINE)


def cells(notebook: dict[str, Any], kind: str = "code") -> dict[str, str]:
    """{grade_id: source} of a notebook's cells."""
    found = [cell for cell in notebook["cells"] if cell["cell_type"] == kind]
    return {cell["metadata"]["nbgrader"]["grade_id"]: cell["source"] for cell in found}


def body_lines(answer: str) -> set[str]:
    """The lines of an answer that a student has to find."""
    lines = answer.splitlines()
    return {
        line.strip()
        for start, end, _ in function_bodies(answer)
        for line in lines[start:end]
        if len(line.strip()) > 9  # not "return {", which says nothing
    }


def run(notebook: dict[str, Any], **answers: str) -> dict[str, Exception | None]:
    """Run the cells one after another; what each check raised, by the name of its cell."""
    space: dict[str, Any] = {}
    raised: dict[str, Exception | None] = {}
    for name, source in cells(notebook).items():
        code = answers.get(name, source)
        linecache.cache[name] = len(code), None, code.splitlines(keepends=True), name  # as IPython
        try:
            exec(compile(code, name, "exec"), space)
        except Exception as error:
            raised[name] = error
        else:
            raised[name] = None
    return {name: error for name, error in raised.items() if "-check-" in name}


def with_answers(assignment: Assignment) -> dict[str, str]:
    return {problem.id: complete_answer(problem) for problem in assignment.problems}


@pytest.fixture(params=NAMES)
def assignment(request: pytest.FixtureRequest) -> Assignment:
    return assignments()[request.param]


@pytest.fixture
def notebook(assignment: Assignment) -> dict[str, Any]:
    return release.student_notebook(assignment, ROOT)


# --- what students get --------------------------------------------------------------------------


def test_no_answer_is_in_it(assignment: Assignment, notebook: dict[str, Any]) -> None:
    text = "\n".join([*cells(notebook).values(), *cells(notebook, "markdown").values()])
    lines = {line.strip() for line in text.splitlines()}
    for problem in assignment.problems:
        assert not body_lines(problem.answer) & lines
        assert problem.stub in text
    assert "oracle" not in text
    assert "SOLUTION" not in text
    assert "HIDDEN" not in text


def test_checks_pass_the_answers(assignment: Assignment, notebook: dict[str, Any]) -> None:
    raised = run(notebook, **with_answers(assignment))
    assert len(raised) == sum(len(problem.parts) for problem in assignment.problems)
    assert raised == dict.fromkeys(raised)


def test_the_first_cell_says_what_answers_may_import(
    assignment: Assignment, notebook: dict[str, Any]
) -> None:
    first = cells(notebook, "markdown")["setup-title"]
    named = [name for name in release.IMPORTS if f"`{name}`" in first]
    assert named == (["numpy"] if assignment.is_alone else [*release.IMPORTS])


def test_what_answers_may_import_is_installed() -> None:
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    installed = {line.partition("==")[0] for line in lines} | {*PACKAGES}
    assert {*release.IMPORTS} <= installed


def test_the_common_assignments_are_neither_drawn_nor_alone() -> None:
    assert [a.name for a in assignments().values() if not (a.is_drawn or a.is_alone)] == COMMON


def test_what_is_not_written_yet_is_said(notebook: dict[str, Any]) -> None:
    for name, error in run(notebook).items():
        begun = name.startswith(("ex-own-adjoints", "ex-own-fault"))  # with more than a stub
        assert type(error) is (AssertionError if begun else NotImplementedError)


def test_the_first_wrong_adjoint_is_named() -> None:
    assignment = assignments()["training"]
    answers = with_answers(assignment)
    answers["ex-forward-manual"] = answers["ex-forward-manual"].replace(" / len(X)", "")
    raised = run(release.student_notebook(assignment, ROOT), **answers)
    message = str(raised["ex-forward-manual-check-3"])
    assert message.splitlines()[:2] == [
        "the first wrong result is",
        "dO: 15 of 15 entries are wrong, the first at [0, 0]",
    ]
    assert "hint      every entry is 5 times what is expected; the mean over the" in message
    assert f"AssertionError: {message}" in GUIDE.read_text(encoding="utf-8")


def test_no_secret_seed_is_in_it(assignment: Assignment, notebook: dict[str, Any]) -> None:
    for source in cells(notebook).values():
        for seeds in re.findall(r"seeds=(\[.*\])", source):
            assert set(ast.literal_eval(seeds)) <= set(release.VISIBLE_SEEDS)


# --- nbgrader's format --------------------------------------------------------------------------


def test_the_format_is_nbgraders(assignment: Assignment) -> None:
    """The rules of version 3 of its metadata schema."""
    made = release.student_notebook(assignment, ROOT)
    nbformat.validate(made)
    names, points = [], 0.0
    for cell in made["cells"]:
        meta = cell["metadata"]["nbgrader"]
        names.append(meta["grade_id"])
        assert re.fullmatch(r"[a-zA-Z0-9_\-]+", meta["grade_id"])
        assert (meta["schema_version"], meta["task"]) == (3, False)
        assert meta["cell_type"] == cell["cell_type"]
        assert meta["locked"] != meta["solution"]
        assert not (meta["grade"] and meta["solution"])
        assert ("points" in meta) == meta["grade"] == ("-check-" in meta["grade_id"])
        assert cell["cell_type"] == "code" or not (meta["grade"] or meta["solution"])
        assert meta["checksum"] == checksum(cell)
        points += meta.get("points", 0)
    assert len(set(names)) == len(names)
    assert len({cell["id"] for cell in made["cells"]}) == len(names)
    assert points == pytest.approx(assignment.points)


def checksum(cell: dict[str, Any]) -> str:
    """nbgrader's own: see `compute_checksum` in its `utils.py`."""
    meta, digest = cell["metadata"]["nbgrader"], hashlib.md5(usedforsecurity=False)
    for part in (
        cell["source"],
        cell["cell_type"],
        meta["grade"],
        meta["solution"],
        meta["locked"],
    ):
        digest.update(str(part).encode())
    digest.update(meta["grade_id"].encode())
    if meta["grade"]:
        digest.update(str(float(meta["points"])).encode())
    return digest.hexdigest()


# --- in Jupyter ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_it_runs_in_jupyter_with_no_file_beside_it(tmp_path: Path) -> None:
    assignment = assignments()["layers"]
    made = release.student_notebook(assignment, ROOT)
    for cell in made["cells"]:
        answer = with_answers(assignment).get(cell["metadata"]["nbgrader"]["grade_id"])
        cell["source"] = answer or cell["source"]
    outputs = in_jupyter(made, tmp_path)
    parts = sum(len(problem.parts) for problem in assignment.problems)
    assert outputs.count("Right on 2 random inputs.") == parts

    wrong = release.student_notebook(assignment, ROOT)
    with pytest.raises(CellExecutionError, match="NotImplementedError"):
        in_jupyter(wrong, tmp_path)


def in_jupyter(notebook: dict[str, Any], folder: Path) -> str:
    """What the cells print, run by a kernel of their own."""
    node = nbformat.from_dict(notebook)
    NotebookClient(node, resources={"metadata": {"path": str(folder)}}).execute()
    printed = [output.get("text", "") for cell in node.cells for output in cell.get("outputs", [])]
    assert not list(folder.iterdir())
    return "".join(printed)


def test_only_what_uses_the_engine_asks_for_it() -> None:
    for assignment in assignments().values():
        made = release.student_notebook(assignment, ROOT)
        modules = set().union(*(imported(s) for s in without_magic(cells(made))))
        assert modules - {*PACKAGES} <= {"numpy", *sys.stdlib_module_names}
        assert ("setup-install" in cells(made)) == bool(modules & {*PACKAGES})


def without_magic(sources: dict[str, str]) -> list[str]:
    return [re.sub(r"%pip .*", "pass", source) for source in sources.values()]


@pytest.mark.parametrize(
    ("url", "install"),
    [
        ("", ""),
        ("https://example.org/book", "git+https://example.org/book@{head}"),
        ("https://example.org/a-1-py3-none-any.whl", "https://example.org/a-1-py3-none-any.whl"),
        ("..", ""),
    ],
)
def test_the_engine_comes_from_where_students_reach_it(
    tmp_path: Path, url: str, install: str
) -> None:
    (tmp_path / "_config.yml").write_text(f'repository: {{url: "{url}"}}')
    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "A book")
    wanted = install.format(head=git(tmp_path, "rev-parse", "HEAD").strip())
    cell = cells(release.student_notebook(assignments()["engine"], tmp_path))["setup-install"]
    assert re.findall(r'%pip install --quiet "chaingrad @ (.*)"', cell) == [wanted][: bool(wanted)]


# --- literals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        {"a": 1.5, "b": [1, 2.25, "ü\n", None, True], "c": {}},
        np.array([[1.0, -0.5], [np.inf, np.nan]]),
        np.arange(24.0).reshape(2, 3, 4) / 7,
        np.array([1, 2]),
        np.array([True, False]),
        np.array([0.1, 0.2], np.float32),
        np.float64(0.1),
        np.zeros((0, 2)),
        (1, 2),
    ],
)
def test_results_are_written_as_they_were(value: Any) -> None:
    text = release._literal(value, 17, 0)
    read = eval(text, {"np": np})
    np.testing.assert_equal(read, list(value) if isinstance(value, tuple) else value)


def test_no_zero_is_negative() -> None:
    assert release._literal(np.array([-0.0, 1.0]), 12, 0) == "np.array([0, 1])"


def test_results_must_be_plain_data() -> None:
    with pytest.raises(TypeError, match="a check returned a set"):
        release._literal({1}, 12, 0)


# --- a private folder ---------------------------------------------------------------------------


@pytest.fixture
def private(tmp_path: Path) -> Path:
    """The two pages that the page on teaching shows."""
    guide = GUIDE.read_text(encoding="utf-8")
    pages = [page for page in EXERCISE.findall(guide) if "coursework" in page]
    folder = tmp_path / "private"
    folder.mkdir()
    for k, page in enumerate(pages):
        (folder / f"{k}.md").write_text(page, encoding="utf-8")
    assert len(pages) == 2
    return folder


@pytest.mark.slow
def test_the_documented_private_problems_work(private: Path, tmp_path: Path) -> None:
    problems = read_problems(ROOT / "chapters", private)
    own = {name: problem for name, problem in problems.items() if problem.private}
    added = [part for name in problems for part in problems[name].parts if part.private]
    assert len(own) == 1
    assert len(added) >= 2

    file = tmp_path / "exam.toml"
    others = {part.problem for part in added} | set(own)
    entries = ", ".join(f'{{ id = "{name}", points = 2 }}' for name in sorted(others))
    file.write_text(f'[[assignment]]\nname = "exam"\nexercises = [{entries}]\n')
    out = tmp_path / "out"
    arguments = ["--assignments", str(file), "--book", str(ROOT), "--private", str(private)]
    assert main(["check", *arguments, "--draws", "2"]) == 0
    secret = ["--secret", str(tmp_path / "secret")]
    assert main(["release", *arguments, *secret, "--to", str(out)]) == 0
    text = (out / "release" / "exam" / "exam.ipynb").read_text(encoding="utf-8")
    made = json.loads(text)
    for part in added:
        assert part.name not in text
        assert json.dumps(part.driver)[1:-1] not in text
        assert json.dumps(part.inputs)[1:-1] not in text
    [problem] = own.values()
    assert problem.title in text
    lines = {line.strip() for source in cells(made).values() for line in source.splitlines()}
    assert not body_lines(problem.answer) & lines
    assert sum("run when you have handed in" in source for source in cells(made).values()) == len(
        added
    )


def test_the_guide_lists_what_can_be_set() -> None:
    guide = GUIDE.read_text(encoding="utf-8")
    row = re.compile(r"^\| \{ref\}`(ex-[a-z0-9-]+)` \| `\1` \| (★+) \|", re.MULTILINE)
    problems = read_problems(ROOT / "chapters").values()
    assert set(row.findall(guide)) == {(problem.id, problem.level) for problem in problems}


# --- the command line ---------------------------------------------------------------------------


def command(*arguments: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "coursework", *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
    )


@pytest.mark.slow
def test_there_is_help() -> None:
    overview = command("--help")
    assert overview.returncode == 0
    for name in ("check", "release", "grade"):
        assert name in overview.stdout
        assert command(name, "--help").stdout.startswith(f"usage: coursework {name}")


@pytest.mark.slow
def test_release_writes_what_nbgrader_expects(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    arguments = ["release", "--to", str(tmp_path), "--only", "layers", "--only", "graphs"]
    done = command(*arguments, "--secret", str(secret))
    assert done.returncode == 0
    made = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.ipynb")}
    names = ("layers/layers.ipynb", "graphs/graphs.ipynb")
    assert made == {f"release/{name}" for name in names}
    assert secret.stat().st_mode & 0o077 == 0
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.ipynb")}
    assert command(*arguments, "--secret", str(secret)).returncode == 0
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*.ipynb")}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["release", "--only", "layer"], "no assignment 'layer'; there are graphs, layers"),
        (["release", "--book", "src"], "no book in"),
        (["release", "--assignments", "nothing.toml"], "there is no file nothing.toml"),
        (["check", "--private", "nowhere"], "the private folder nowhere is not a folder"),
        (["release", "--secret", "/dev/null"], "has 0 characters"),
    ],
)
def test_what_cannot_be_done_is_said(arguments: list[str], message: str) -> None:
    done = command(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("isolated")
def test_what_is_released_can_be_graded(tmp_path: Path) -> None:
    settings = ["--book", str(ROOT), "--only", "layers", "--secret", str(tmp_path / "secret")]
    assert main(["release", *settings, "--to", str(tmp_path / "out")]) == 0
    released = tmp_path / "out" / "release" / "layers" / "layers.ipynb"
    answers = with_answers(assignments()["layers"])
    for student in ("ada", "zoë"):
        handed_in = tmp_path / "in" / student / "layers.ipynb"
        handed_in.parent.mkdir(parents=True)
        made = json.loads(released.read_text(encoding="utf-8"))
        for cell in made["cells"]:
            answer = answers.get(cell["metadata"]["nbgrader"]["grade_id"])
            cell["source"] = (student == "ada" and answer) or cell["source"]
        handed_in.write_text(json.dumps(made), encoding="utf-8")
    marks = tmp_path / "marks"
    assert main(["grade", str(tmp_path / "in"), *settings, "--output", str(marks)]) == 0
    table = (marks / "grades.csv").read_text(encoding="utf-8").splitlines()
    assert [row.split(",")[:4] for row in table[1:]] == [
        ["ada", "layers", "12", "12"],
        ["zoë", "layers", "0", "12"],
    ]


def test_an_answer_that_fails_stops_the_release(tmp_path: Path, capsys: Any) -> None:
    book = tmp_path / "book"
    (book / "chapters").mkdir(parents=True)
    page = (ROOT / "chapters" / "atlas" / "layers-by-hand.md").read_text(encoding="utf-8")
    (book / "chapters" / "page.md").write_text(
        page.replace("return dH * ((H > 0) & (H < 6))", "return dH")
    )
    (book / "assignments.toml").write_text(
        '[[assignment]]\nname = "a"\nexercises = [{ id = "ex-matrix-relu", points = 2 }]\n'
    )
    out = tmp_path / "out"
    assert main(["release", "--book", str(book), "--to", str(out)]) == 2
    assert "the reference answer does not pass" in capsys.readouterr().err
    assert not out.exists()
    assert main(["check", "--book", str(book)]) == 1
    said = capsys.readouterr()
    assert "ex-matrix-relu, 'below the ceiling', draw 0: dZ where H is below 6: " in said.err
    assert "the reference answer does not pass: 2." in said.err


@pytest.mark.parametrize("command", [["grade", "in"], ["release"]])
def test_no_secret_is_made_where_there_is_no_book(command: list[str], tmp_path: Path) -> None:
    assert main([*command, "--book", str(tmp_path)]) == 2
    assert not list(tmp_path.iterdir())
