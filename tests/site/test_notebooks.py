"""The notebooks read well in plain Jupyter, and run where there is no copy of the course."""

import ast
import functools
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from bs4 import BeautifulSoup

import notebooks
from notebooks import first_cell
from tests.site.built import Site, toc_documents
from tests.site.colab import carry
from tests.support import ROOT, lacking
from tools import build, foreign

WITH_CODE = [name for name in toc_documents() if build.code_cells(ROOT / f"{name}.md")]
# Run whole each time: the first page, one of another framework, one that looks for the course's own
# files and puts results into its text.
WHOLE = {
    "chapters/intro",
    "chapters/reference/kinks",
    "chapters/cost/time-and-flops",
}
RAW = re.compile(
    r"^\s*(> )*(`{3,}|:{3,})\{|\{[a-z][a-z:+-]*\}`|^\s*:(label|class|name):|^\([\w-]+\)=|^\+\+\+",
    re.MULTILINE,
)
NEEDED = re.compile(r"^needed = (\{.*?\})$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(#([^)]+)\)")
ANCHOR = re.compile(r'<a id="([^"]+)"')


@pytest.fixture(params=WITH_CODE)
def page(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def read(site: Site, page: str) -> Any:
    return nbformat.read(site.folder / notebooks.notebook_path(page), as_version=4)


def prose(notebook: Any) -> str:
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def without_code(text: str) -> str:
    """Markdown less its fenced blocks and literals."""
    text = re.sub(r"^( *)(`{3,}).*?^\1\2$", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"(?<!`)`[^`\n]+`(?!`)", "", text)


def test_every_page_with_code_has_a_notebook_and_no_other(site: Site) -> None:
    found = {path.relative_to(site.folder).as_posix() for path in site.folder.rglob("*.ipynb")}
    assert found == {notebooks.notebook_path(name) for name in WITH_CODE}


def test_notebooks_are_valid_and_empty(site: Site, page: str) -> None:
    notebook = read(site, page)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert notebook.metadata.kernelspec.name == "python3"
    assert not [cell for cell in code if cell.outputs or cell.execution_count]
    assert [cell.id for cell in notebook.cells] == [f"cell-{i}" for i in range(len(notebook.cells))]


def test_nothing_of_the_page_is_lost(site: Site, page: str) -> None:
    """Its cells, and as many headings, formulas and answers as the page of the site has."""
    notebook, soup = read(site, page), site.document(page)
    text = without_code(prose(notebook))
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"][1:]
    answers = len(soup.select("details.solution"))
    assert code == build.code_cells(ROOT / f"{page}.md")
    assert len(code) == len(soup.select("div.cell_input"))
    assert len(re.findall(r"\$\$.+?\$\$", text, re.DOTALL)) == len(soup.select("div.math"))
    assert len(re.findall(r"^#+ Exercise ", text, re.MULTILINE)) == len(soup.select("div.exercise"))
    solution = r"^(<summary><b>|\*\*)Solution to .*(?<!continued)(</b></summary>|\*\*)$"
    assert len(re.findall(solution, text, re.MULTILINE)) == answers


def test_no_markup_of_the_book_is_left(site: Site, page: str) -> None:
    assert not RAW.findall(without_code(prose(read(site, page))))


def test_numbers_are_those_of_the_page(site: Site, page: str) -> None:
    shown = [tag.contents[0].strip(" ()") for tag in site.document(page).select("div.math .eqno")]
    assert re.findall(r"\\tag\{(.+?)\}", prose(read(site, page))) == shown


def test_links_within_a_notebook_resolve(site: Site, page: str) -> None:
    text = prose(read(site, page))
    assert set(LINK.findall(text)) <= set(ANCHOR.findall(text))


def test_what_is_cited_is_listed(site: Site, page: str) -> None:
    text = prose(read(site, page))
    cited = {link["href"].partition("#")[2] for link in
             site.document(page).select(".bibtex-citation a")}  # fmt: skip
    _, _, references = text.partition("## References\n")
    assert references.count('<a id="ref-') == len(cited)


def test_pages_offer_their_notebook(site: Site, page: str) -> None:
    soup = site.document(page)
    here = (site.folder / page).parent
    button, head = soup.select_one("a.btn-notebook"), soup.select_one("link[type*=ipynb]")
    assert button is not None
    assert head is not None
    assert button["href"] == head["href"]
    assert (here / str(head["href"])).resolve() == site.folder / notebooks.notebook_path(page)
    if not first_cell.setting(ROOT):
        assert not soup.select("a.btn-colab, meta[name=colab]")


# The setting


def first_of(repository: str, book: Path, code: str = "import chaingrad") -> str:
    notebook = {
        "cells": [
            {"cell_type": "code", "source": []},
            {"cell_type": "code", "source": code.splitlines(keepends=True)},
        ]
    }
    first_cell.stamp(notebook, repository, book)
    return "".join(notebook["cells"][0]["source"])


def test_a_repository_is_installed_at_the_commit_checked_out() -> None:
    head = subprocess.run(
        ["git", "-C", str(ROOT), "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    source = first_of("https://github.com/someone/course", ROOT)
    assert f"chaingrad[figures] @ git+https://github.com/someone/course@{head}" in source


def test_a_wheel_and_a_folder_are_installed_from_where_they_are(tmp_path: Path) -> None:
    wheel = tmp_path / "chaingrad-1-py3-none-any.whl"
    wheel.touch()
    assert f"chaingrad[figures] @ {wheel.as_uri()}" in first_of(str(wheel), ROOT)
    assert f"chaingrad[figures] @ {tmp_path.as_uri()}" in first_of(".", tmp_path)
    address = "https://example.org/chaingrad-1-py3-none-any.whl"
    assert f"chaingrad[figures] @ {address}" in first_of(address, ROOT)


def test_a_setting_that_names_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"repository\.url in _config\.yml is 'nowhere'"):
        first_of("nowhere", tmp_path)


def test_without_a_setting_the_cell_says_what_to_do(tmp_path: Path) -> None:
    source = first_of("", tmp_path)
    assert "pip install" in source
    absent = "import importlib.util; importlib.util.find_spec = lambda name: None\n"
    ran = subprocess.run([sys.executable, "-c", absent + source], capture_output=True, text=True)
    assert "This notebook needs chaingrad" in ran.stderr
    present = absent.replace("None", "True")
    assert subprocess.run([sys.executable, "-c", present + source]).returncode == 0


def test_what_cells_import_is_installed_at_its_pin() -> None:
    code = "import os\nfrom micrograd.engine import Value\n%matplotlib inline\nimport sklearn.svm"
    source = first_of("", ROOT, code)
    pins = first_cell.pins(ROOT)
    assert f'"micrograd": "{pins["micrograd"]}"' in source
    assert f'"sklearn": "{pins["scikit-learn"]}"' in source
    assert '"os"' not in source
    assert "myst_nb" not in source
    assert "myst_nb" in first_of("", ROOT, "from myst_nb import glue")


@pytest.mark.parametrize(
    ("repository", "address"),
    [
        ("https://github.com/a/b.git", "https://colab.research.google.com/github/a/b/blob/"),
        ("https://gitlab.com/a/b", ""),
        ("https://example.org/chaingrad.whl", ""),
        ("dist/chaingrad.whl", ""),
        ("", ""),
    ],
)
def test_colab_opens_what_stands_on_github(repository: str, address: str) -> None:
    found = notebooks.colab_address(repository, "notebooks/page.ipynb")
    assert found == (f"{address}gh-pages/notebooks/page.ipynb" if address else "")


# A small book with everything that a page may hold

CONFIG = """\
only_build_toc_files: true
bibtex_bibfiles: [references.bib]
execute: {execute_notebooks: force}
html: {baseurl: "https://course.example/"}
repository: {url: "https://github.com/someone/course"}
parse: {myst_enable_extensions: [amsmath, colon_fence, deflist, dollarmath]}
sphinx:
  extra_extensions: [sphinx_exercise]
  local_extensions: {notebooks: _ext}
  config: {bibtex_reference_style: author_year}
"""
BIB = "@book{leibniz, author={Leibniz, G. W.}, title={Nova Methodus}, year={1684}, publisher={X}}"
PAGE = r"""---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {name: python3, display_name: Python 3}
---
(top)=
# A page with *everything*

```{admonition} Chain rule
:name: the-rule
If $h = g\circ f$, then

$$
h' = (g'\circ f)\,f'
$$ (eq-rule)

See {cite}`leibniz`.
```

:::{note}
By {ref}`the rule <the-rule>` and {eq}`eq-rule`; back to {ref}`top`; see [the other](other.md).
:::

```{warning}
$$
\begin{aligned}
a &= b
\end{aligned}
$$
```

\begin{align}
x &= y
\end{align}

```{code-cell} ipython3
:tags: [hide-input]
from myst_nb import glue

glue("answer", 42, display=False)
```

The answer is {glue:text}`answer`, in `a|b` and 2 * 3.

```{figure} dot.png
:name: a-figure
:alt: A dot
A caption with $x$.
```

| a | b |
|---|---|
| $\|x\|$ | `p\|q` |

term
: Its meaning.

```{exercise-start} ★ Think
:label: ex-think
```
What is {numref}`a-figure`?
```{exercise-end}
```

```{solution-start} ex-think
:class: dropdown
```
First,
```{code-cell} ipython3
1 + 1
```
and then.
```{solution-end}
```
"""
OTHER = """\
# The other

```{bibliography}
```
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of a small book."""
    book = tmp_path_factory.mktemp("small")
    (book / "_config.yml").write_text(CONFIG)
    (book / "_toc.yml").write_text("format: jb-book\nroot: page\nchapters: [file: other]\n")
    (book / "page.md").write_text(PAGE)
    (book / "other.md").write_text(OTHER)
    (book / "references.bib").write_text(BIB)
    (book / "_ext").symlink_to(ROOT / "_ext")
    pixel = bytes.fromhex("89504e470d0a1a0a")
    (book / "dot.png").write_bytes(pixel)
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "A book"]):
        identity = ["-c", "user.name=Someone", "-c", "user.email=someone@example.org"]
        subprocess.run(["git", *identity, *command], cwd=book, check=True)
    command = [sys.executable, str(ROOT / "tools" / "build.py"), str(book)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return book / "_build" / "html"


@pytest.fixture(scope="module")
def everything(small: Path) -> Any:
    return nbformat.read(small / "notebooks" / "page.ipynb", as_version=4)


@pytest.mark.parametrize(
    "expected",
    [
        "# A page with *everything*",
        "> **Chain rule**\n>\n> If $h = g\\circ f$, then",
        "> $$ h' = (g'\\circ f)\\,f' \\tag{1} $$",
        "[(1)](#equation-eq-rule)",
        "> See [[Leibniz, 1684](#ref-leibniz)].",
        "> **Note**\n>\n> By [the rule](#the-rule)",
        "[A page with everything](#top)",
        "[the other](https://course.example/other.html)",
        "> $$ \\begin{aligned} a &= b \\end{aligned} $$",
        "x &= y",
        "The answer is 42, in `a|b` and 2 \\* 3.",
        "![A dot](attachment:dot.png)",
        "**Fig. 1** A caption with $x$.",
        "What is [Fig. 1](#a-figure)?",
        "| $\\vert x\\vert $ | `p\\|q` |",
        "- **term**\n\n  Its meaning.",
        "Exercise 1 (★ Think)",
        "<summary><b>Solution to Exercise 1 (★ Think)</b></summary>\n\nFirst,\n\n</details>",
        '## References\n\n- <a id="ref-leibniz"',
    ],
)
def test_every_construct_reads_well(everything: Any, expected: str) -> None:
    assert expected in prose(everything)


def test_the_small_book_leaves_no_markup(everything: Any) -> None:
    assert not RAW.findall(without_code(prose(everything)))


def test_images_travel_in_the_notebook(everything: Any) -> None:
    (cell,) = [cell for cell in everything.cells if "attachments" in cell]
    assert cell.attachments["dot.png"] == {"image/png": "iVBORw0KGgo="}


def test_hidden_cells_and_answers_are_folded(everything: Any) -> None:
    folded = [cell.source for cell in everything.cells
              if cell.metadata.get("jupyter") == {"source_hidden": True}]  # fmt: skip
    assert [source.splitlines()[0] for source in folded[1:]] == [
        "from myst_nb import glue",
        "1 + 1",
    ]


def test_a_hosted_book_offers_colab(small: Path) -> None:
    soup = BeautifulSoup((small / "page.html").read_text(), "html.parser")
    address = (
        "https://colab.research.google.com/github/someone/course/blob/gh-pages/notebooks/page.ipynb"
    )
    assert [a["href"] for a in soup.select("a.btn-colab")] == [address]
    assert [tag["content"] for tag in soup.select("meta[name=colab]")] == [address]


def test_the_first_cell_names_the_commit_of_the_book(small: Path, everything: Any) -> None:
    head = first_cell.commit(small)
    assert f"git+https://github.com/someone/course@{head}" in everything.cells[0].source


# Where there is no copy of the course


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as a wheel, built with what an index offers."""
    folder, source = tmp_path_factory.mktemp("wheel"), tmp_path_factory.mktemp("source")
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("*.egg-info"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    pip = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--quiet", "-w", str(folder)]
    done = subprocess.run([*pip, str(source)], capture_output=True, text=True)
    if done.returncode and "No matching distribution" in done.stderr:
        lacking("a package index that pip can reach")
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def carried(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("colab") / "carried"
    carry(folder)
    return folder


def run(content: dict[str, Any], carried: Path, folder: Path) -> str:
    """Run a notebook in a new environment with what Colab carries."""
    first_cell.write(content, folder / "page.ipynb")
    python = foreign.overlay(folder / "venv", sys.executable, carried)
    return foreign.run(folder / "page.ipynb", python, folder)


def stamped(site: Site, page: str, wheel: Path) -> dict[str, Any]:
    content = json.loads((site.folder / notebooks.notebook_path(page)).read_text())
    first_cell.stamp(content, str(wheel), ROOT)
    return dict(content)


def imports(content: dict[str, Any]) -> str:
    """Code that imports what a notebook does of the course, and finds all else that it imports.

    What Colab carries is what the site was built with, so that it needs no second import.
    """
    found = ast.walk(ast.parse(first_cell.cells_of(content)))
    lines = [ast.unparse(node) for node in found if isinstance(node, ast.Import | ast.ImportFrom)]
    ours = [line for line in lines if line.split()[1].partition(".")[0] == "chaingrad"]
    others = sorted(first_cell.imported("\n".join(lines)) - written(content))
    missing = f"[name for name in {others} if find_spec(name) is None]"
    return "\n".join([*ours, f"missing = {missing}", "assert not missing, missing"])


def written(content: dict[str, Any]) -> set[str]:
    """The modules that a notebook's cells write."""
    files = re.findall(r"writefile'?, '(\S+)'", first_cell.cells_of(content))
    return set(re.findall(r"\b(\w+)\.py\b", " ".join(files)))


@pytest.fixture(scope="module")
def equipped(carried: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """A Python with what Colab carries, one for all pages that ask pip for the same packages."""

    @functools.cache
    def make(asked: frozenset[str]) -> Path:
        return foreign.overlay(tmp_path_factory.mktemp("equipped"), sys.executable, carried)

    def of_page(content: dict[str, Any]) -> Path:
        needed = ast.literal_eval(NEEDED.findall("".join(content["cells"][0]["source"]))[0])
        lacking = (what for name, what in needed.items() if not (carried / name).exists())
        return make(frozenset(lacking))

    return of_page


def test_what_it_imports_is_there(
    site: Site, page: str, wheel: Path, equipped: Callable[..., Path], tmp_path: Path
) -> None:
    content = stamped(site, page, wheel)
    code = "".join(content["cells"][0]["source"]) + "\n" + imports(content)
    (tmp_path / "page.ipy").write_text(code)
    python = equipped(content)
    done = subprocess.run(
        [str(python), "-m", "IPython", "--colors=NoColor", "page.ipy"],
        cwd=tmp_path,
        env=foreign.surroundings(),
        capture_output=True,
        text=True,
    )
    assert not done.returncode, (done.stdout + done.stderr)[-3000:]


@pytest.mark.parametrize(
    "page",
    [name if name in WHOLE else pytest.param(name, marks=pytest.mark.full) for name in WITH_CODE],
)
def test_runs_without_a_copy_of_the_course(site: Site, page: str, wheel: Path, carried: Path,
                                           tmp_path: Path) -> None:  # fmt: skip
    error = run(stamped(site, page, wheel), carried, tmp_path)
    assert not error, error[-3000:]
