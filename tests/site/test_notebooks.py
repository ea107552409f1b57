"""The notebooks read well in plain Jupyter, and run where there is no copy of the course."""

import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import nbformat
import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Browser, expect

import chaingrad
import notebooks
from coursework.installation import repository
from coursework.sources import PACKAGES
from notebooks import first_cell, wheel
from tests.site.built import Site, with_code
from tests.site.colab import carry
from tests.site.jupyterlab import Lab, ran
from tests.support import PATIENCE, ROOT, each, git, lacking, litter
from tools import build, environment, foreign

PAGE_NAME = "chapters/intro"
WITH_CODE = with_code()
RAW = re.compile(
    r"^\s*(> )*(`{3,}|:{3,})\{|\{[a-z][a-z:+-]*\}`|^\s*:(label|class|name):|^\([\w-]+\)=|^\+\+\+",
    re.MULTILINE,
)
LINK = re.compile(r"\]\(#([^)]+)\)")
ANCHOR = re.compile(r'<a id="([^"]+)"')


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


@each("page", WITH_CODE)
def test_notebooks_are_valid_and_empty(site: Site, page: str) -> None:
    notebook = read(site, page)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert notebook.metadata.kernelspec.name == "python3"
    assert not [cell for cell in code if cell.outputs or cell.execution_count]
    assert [cell.id for cell in notebook.cells] == [f"cell-{i}" for i in range(len(notebook.cells))]


@each("page", WITH_CODE)
def test_nothing_of_the_page_is_lost(site: Site, page: str) -> None:
    """Its cells, and as many headings, formulas and answers as the page of the site has."""
    notebook, soup = read(site, page), site.document(page)
    text = without_code(prose(notebook))
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"][1:]
    answers = len(soup.select("details.solution"))
    assert code == build.code_cells(ROOT / f"{page}.md")
    assert len(code) == len(soup.select("div.cell_input"))
    formulas = [box for box in soup.select("div.math") if not box.find_parent(class_="cell_output")]
    assert len(re.findall(r"\$\$.+?\$\$", text, re.DOTALL)) == len(formulas)
    assert len(re.findall(r"^#+ Exercise ", text, re.MULTILINE)) == len(soup.select("div.exercise"))
    solution = r"^(<summary><b>|\*\*)Solution to .*(?<!continued)(</b></summary>|\*\*)$"
    assert len(re.findall(solution, text, re.MULTILINE)) == answers


@each("page", WITH_CODE)
def test_no_markup_of_the_book_is_left(site: Site, page: str) -> None:
    assert not RAW.findall(without_code(prose(read(site, page))))


@each("page", WITH_CODE)
def test_numbers_are_those_of_the_page(site: Site, page: str) -> None:
    shown = [tag.contents[0].strip(" ()") for tag in site.document(page).select("div.math .eqno")]
    assert re.findall(r"\\tag\{(.+?)\}", prose(read(site, page))) == shown


@each("page", WITH_CODE)
def test_links_within_a_notebook_resolve(site: Site, page: str) -> None:
    text = prose(read(site, page))
    assert set(LINK.findall(text)) <= set(ANCHOR.findall(text))


@each("page", WITH_CODE)
def test_what_is_cited_is_listed(site: Site, page: str) -> None:
    text = prose(read(site, page))
    cited = {link["href"].partition("#")[2] for link in
             site.document(page).select(".bibtex-citation a")}  # fmt: skip
    _, _, references = text.partition("## References\n")
    assert references.count('<a id="ref-') == len(cited)


@each("page", WITH_CODE)
def test_pages_offer_their_notebook(site: Site, page: str) -> None:
    soup = site.document(page)
    here = (site.folder / page).parent
    button, head = soup.select_one("a.btn-notebook"), soup.select_one("link[type*=ipynb]")
    assert button is not None
    assert head is not None
    assert button["href"] == head["href"]
    assert (here / str(head["href"])).resolve() == site.folder / notebooks.notebook_path(page)
    if not repository(ROOT):
        assert not soup.select("a.btn-colab, meta[name=colab]")


# The setting


def first_of(code: str) -> str:
    """The first cell of a notebook of one cell."""
    content: dict[str, Any] = {
        "cells": [{"cell_type": "code", "source": text} for text in ("", code)]
    }
    first_cell.stamp(content, first_cell.head(ROOT, "chaingrad-1-py3-none-any.whl"))
    return "".join(content["cells"][0]["source"])


def test_what_cells_import_is_installed_at_its_pin() -> None:
    code = "import os\nfrom micrograd.engine import Value\n%matplotlib inline\nimport sklearn.svm"
    source = first_of(code)
    pins = environment.pins(ROOT / "requirements.txt")
    assert f'"micrograd": "micrograd=={pins["micrograd"]}"' in source
    assert f'"sklearn": "scikit-learn=={pins["scikit-learn"]}"' in source
    assert '"os"' not in source
    assert "myst_nb" not in source
    assert "myst_nb" in first_of("from myst_nb import glue")


def test_what_a_cell_writes_is_asked_of_no_index() -> None:
    source = first_of("%%writefile common.py\nimport psutil\n")
    assert '"psutil": "psutil==' in source
    assert '"common"' not in first_of("from common import shards")


@each(
    ("named", "address"),
    [
        ("https://github.com/a/b.git", "https://colab.research.google.com/github/a/b/blob/"),
        ("https://gitlab.com/a/b", ""),
        ("https://example.org/chaingrad.whl", ""),
        ("dist/chaingrad.whl", ""),
        ("", ""),
    ],
)
def test_colab_opens_what_stands_on_github(named: str, address: str) -> None:
    found = notebooks.colab_address(named, "notebooks/page.ipynb")
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
  local_extensions: {notebooks: _ext, about.previews: _ext}
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
        git(book, *command)
    command = [sys.executable, str(ROOT / "tools" / "build.py"), str(book)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return book / "_build" / "html"


@pytest.fixture(scope="module")
def everything(small: Path) -> Any:
    return nbformat.read(small / "notebooks" / "page.ipynb", as_version=4)


@each(
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


def test_a_link_to_a_hosted_book_is_shown_with_a_picture(small: Path) -> None:
    head = BeautifulSoup((small / "page.html").read_text(), "html.parser").head
    assert head is not None
    shown = {tag["property"]: tag["content"] for tag in head.select("meta[property]")}
    assert shown["og:url"] == "https://course.example/page.html"
    picture = shown["og:image"].removeprefix("https://course.example/")
    assert (small / picture).read_bytes() == (ROOT / "img" / "page-light.png").read_bytes()


def test_a_hosted_book_offers_colab(small: Path) -> None:
    soup = BeautifulSoup((small / "page.html").read_text(), "html.parser")
    address = (
        "https://colab.research.google.com/github/someone/course/blob/gh-pages/notebooks/page.ipynb"
    )
    assert [a["href"] for a in soup.select("a.btn-colab")] == [address]
    assert [tag["content"] for tag in soup.select("meta[name=colab]")] == [address]


def test_the_first_cell_names_site_and_commit_of_the_book(small: Path, everything: Any) -> None:
    head = git(small, "rev-parse", "HEAD").strip()
    lines = everything.cells[0].source.splitlines()
    assert 'site = "https://course.example/"' in lines
    assert f'repository = "git+https://github.com/someone/course@{head}"' in lines


# The engine that the site carries


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what the engine's wheel is made from, in a folder with a space and an umlaut."""
    root = tmp_path / "a cöpy"
    for name in wheel.SOURCES:
        source, target = ROOT / name, root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
    return root


def test_the_version_of_the_wheel_says_what_it_is_made_from(checkout: Path) -> None:
    start = checkout / "src" / "chaingrad" / "__init__.py"
    plain = re.escape(chaingrad.__version__)
    without = wheel.version(checkout)
    assert re.fullmatch(rf"{plain}\+d[0-9a-f]{{8}}", without)
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "A course"]):
        git(checkout, *command)
    head = git(checkout, "rev-parse", "HEAD")[:7]
    (checkout / "page.md").touch()
    assert wheel.version(checkout) == f"{chaingrad.__version__}+g{head}"
    start.write_text(start.read_text() + "CHANGED = True\n")
    changed = wheel.version(checkout)
    assert re.fullmatch(rf"{plain}\+g{head}\.d[0-9a-f]{{8}}", changed)
    assert changed[-9:] != without[-9:]


def test_the_wheel_holds_the_engine_alone_and_is_built_once(checkout: Path, tmp_path: Path) -> None:
    built = wheel.build(tmp_path / "site", checkout)
    written = built.stat().st_mtime_ns
    with zipfile.ZipFile(built) as archive:
        names = archive.namelist()
        (about,) = (name for name in names if name.endswith("METADATA"))
        assert f"\nVersion: {wheel.version(checkout)}\n" in archive.read(about).decode()
    assert {name.partition("/")[0] for name in names} == {*PACKAGES, about.partition("/")[0]}
    assert {"chaingrad/digits.npz", "chainview/player/players.bundle.js"} <= set(names)
    assert not list(checkout.rglob("*.egg-info"))
    assert wheel.build(tmp_path / "site", checkout).stat().st_mtime_ns == written
    litter(checkout / "src" / "chainview" / "player" / "player.js")
    assert wheel.build(tmp_path / "site", checkout).stat().st_mtime_ns == written
    (checkout / "src" / "chaingrad" / "new.py").touch()
    other = wheel.build(tmp_path / "site", checkout)
    assert list((tmp_path / "site").iterdir()) == [other] != [built]


def test_a_wheel_that_cannot_be_built_says_why(checkout: Path, tmp_path: Path) -> None:
    (checkout / "pyproject.toml").write_text("no table")
    with pytest.raises(RuntimeError, match=r"could not build the wheel of chaingrad:\n(.|\n)*toml"):
        wheel.build(tmp_path / "site", checkout)
    assert not list((tmp_path / "site").iterdir())


# Where there is no copy of the course


@pytest.fixture(scope="module")
def engine(site: Site) -> Path:
    """The wheel that the site carries."""
    (found,) = (site.folder / "notebooks").glob("*.whl")
    return found


@pytest.fixture(scope="module")
def carried(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("colab") / "carried"
    carry(folder)
    return folder


@pytest.fixture
def bare(carried: Path, tmp_path: Path) -> Path:
    """A Python with what Colab carries, and no chaingrad."""
    return foreign.overlay(tmp_path / "venv", sys.executable, carried)


def packages(python: Path) -> Path:
    (folder,) = python.parent.parent.glob("lib/python*/site-packages")
    return folder


def pretend(python: Path, name: str, version: str) -> Path:
    """Have a Python say that a package is installed; the folder in which it says so."""
    about = packages(python) / f"{name}-{version}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    return about


@pytest.fixture
def source(site: Site) -> str:
    """The first cell of a notebook as it lies in the site."""
    return first_cell_of(site.folder / notebooks.notebook_path(PAGE_NAME))


def first_cell_of(path: Path) -> str:
    return "".join(json.loads(path.read_text())["cells"][0]["source"])


def start(source: str, python: Path, folder: Path, **variables: str) -> str:
    """Run a first cell where pip reaches no index; what it prints, and which engine is there."""
    says = "\nfrom importlib.metadata import version\nprint('engine', version('chaingrad'))\n"
    (folder / "page.ipy").write_text(source + says)
    done = subprocess.run(
        [str(python), "-m", "IPython", "--colors=NoColor", "page.ipy"],
        cwd=folder,
        env=foreign.surroundings() | {"PIP_NO_INDEX": "1"} | variables,
        capture_output=True,
        text=True,
    )
    return done.stdout + done.stderr


def version_of(engine: Path) -> str:
    return engine.name.split("-")[1]


@pytest.fixture
def downloaded(browser: Browser, address: str, tmp_path: Path) -> Path:
    """The notebook that the button of a page gives to a reader of the site."""
    page = browser.new_page()
    page.goto(f"{address}/{PAGE_NAME}.html")
    with page.expect_download() as download:
        page.locator("a.btn-notebook").click()
    assert download.value.suggested_filename == "intro.ipynb"
    download.value.save_as(tmp_path / "intro.ipynb")
    page.close()
    return tmp_path / "intro.ipynb"


@pytest.mark.walk
def test_a_notebook_from_the_button_gets_the_engine_of_its_site(
    site: Site, address: str, downloaded: Path, engine: Path, bare: Path, tmp_path: Path
) -> None:
    source = first_cell_of(downloaded)
    assert f'\nsite = "{address}/"\n' in source
    mine, plain = json.loads(downloaded.read_text()), read(site, PAGE_NAME)
    assert [cell["source"] for cell in mine["cells"][1:]] == [
        cell.source.splitlines(keepends=True) for cell in plain.cells[1:]
    ]
    assert f"engine {version_of(engine)}" in start(source, bare, tmp_path)
    assert (packages(bare) / "chaingrad" / "node.py").exists()


@pytest.mark.walk
def test_a_notebook_of_an_earlier_build_gets_the_engine_that_the_site_has(
    downloaded: Path, engine: Path, bare: Path, tmp_path: Path
) -> None:
    source = first_cell_of(downloaded).replace(version_of(engine), "0.0.1+gone")
    printed = start(source, bare, tmp_path)
    assert f"engine {version_of(engine)}" in printed
    assert printed.count("Another chaingrad is here. The page was run with chaingrad-0.0.1") == 1


@pytest.mark.walk
@pytest.mark.parametrize("place", [".", ".."])
def test_a_wheel_beside_the_notebook_needs_no_network(
    source: str, engine: Path, bare: Path, tmp_path: Path, place: str
) -> None:
    folder = tmp_path / "with spaces" / "ü"
    folder.mkdir(parents=True)
    shutil.copy(engine, folder / place)
    assert f"engine {version_of(engine)}" in start(source, bare, folder)


def install_older(checkout: Path, python: Path, folder: Path) -> str:
    """Install the engine of another checkout; its version."""
    older = wheel.build(folder / "older", checkout)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", str(older)]
    subprocess.run(pip, check=True, env=foreign.surroundings())
    return version_of(older)


@pytest.mark.walk
def test_another_chaingrad_is_replaced_by_that_of_the_page(
    source: str, checkout: Path, engine: Path, bare: Path, tmp_path: Path
) -> None:
    older = install_older(checkout, bare, tmp_path)
    printed = start(source, bare, tmp_path)
    assert "Another chaingrad is here. The page was run with" in printed
    assert f"engine {older}" in printed
    shutil.copy(engine, tmp_path)
    again = start(source, bare, tmp_path)
    assert f"engine {version_of(engine)}" in again
    assert "Another chaingrad" not in again


@pytest.mark.walk
def test_a_copy_that_is_worked_on_stays(
    source: str, engine: Path, bare: Path, tmp_path: Path
) -> None:
    about = pretend(bare, "chaingrad", "0.0.1")
    origin = {"dir_info": {"editable": True}, "url": (ROOT / "src").as_uri()}
    (about / "direct_url.json").write_text(json.dumps(origin))
    (packages(bare) / "chaingrad.pth").write_text(f"{ROOT / 'src'}\n")
    shutil.copy(engine, tmp_path)
    printed = start(source, bare, tmp_path)
    assert "engine 0.0.1" in printed
    assert "Another chaingrad" not in printed


def test_with_nothing_at_hand_the_cell_says_what_to_do(
    source: str, engine: Path, bare: Path, tmp_path: Path
) -> None:
    printed = start(source, bare, tmp_path)
    (line,) = re.findall(r"^ModuleNotFoundError: (.*)$", printed, re.MULTILINE)
    assert engine.name in line
    assert "put it beside this notebook, and run this cell again." in line


@pytest.mark.walk
def test_another_pytorch_is_told_and_kept(
    site: Site, engine: Path, bare: Path, tmp_path: Path
) -> None:
    pretend(bare, "torch", "2.0.0+cu118")
    shutil.copy(engine, tmp_path)
    page = "chapters/frameworks/jax-backward-pass"
    source = first_cell_of(site.folder / notebooks.notebook_path(page))
    printed = start(source, bare, tmp_path)
    pin = environment.pins(ROOT / "requirements.txt")["torch"]
    assert f"torch is 2.0.0+cu118 here, and the page was run with {pin}." in printed
    assert "jax is" not in printed


@pytest.mark.walk
def test_in_jupyterlab_the_copy_of_the_course_stays(
    source: str, browser: Browser, lab: Lab
) -> None:
    where = "import chaingrad\nprint('from', chaingrad.__file__)"
    with ran(browser, lab, source, where) as window:
        expect(window.locator(".jp-OutputArea-output")).to_have_text(
            f"from {ROOT / 'src' / 'chaingrad' / '__init__.py'}\n", timeout=1000 * PATIENCE
        )


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> None:
    """An index from which pip brings what Colab does not carry."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "micrograd"]
    folder = tmp_path_factory.mktemp("index")
    done = subprocess.run(pip, cwd=folder, capture_output=True, text=True)
    if done.returncode and "No matching distribution" in done.stderr:
        lacking("a package index")
    assert done.returncode == 0, done.stderr


@pytest.mark.walk
@pytest.mark.usefixtures("index")
@pytest.mark.parametrize(
    "page",
    [PAGE_NAME, *(pytest.param(n, marks=pytest.mark.full) for n in WITH_CODE if n != PAGE_NAME)],
)
def test_runs_without_a_copy_of_the_course(
    site: Site, page: str, engine: Path, bare: Path, tmp_path: Path
) -> None:
    shutil.copy(engine, tmp_path)
    error = foreign.run(site.folder / notebooks.notebook_path(page), bare, tmp_path)
    assert not error, error[-3000:]
