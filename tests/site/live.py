"""A small site, of a page with live cells and a told page, and what its reader does there."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from coursework.release import page_exercise
from tests.coursework.course import exercises
from tests.coursework.exercise.test_problems import PAGE as EXERCISE_PAGE
from tests.support import ROOT, lacking
from tools import fetch_pyodide

COLD = 120_000  # the longest that the first start of Python may take on any machine, in ms
PAGE = "chapters/page.html"
TOC = """\
format: jb-book
root: chapters/page
parts:
  - chapters:
      - file: chapters/reference/progress
  - caption: A part
    numbered: 1
    chapters:
      - file: chapters/told
"""
HEAD = """\
---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {name: python3, display_name: Python 3}
---
# A page
"""
CELLS = {
    "torch": "import torch\ny = torch.ones(2)\nTHREE = 3",
    "six": "x = 6\nx",
    "seven": "x + 1",
    "wrong": "def fails():\n    return 1 / 0\n\nfails()",
    "figure": "import matplotlib.pyplot as plt\n_ = plt.plot([1, 4, 9])",
    "drawing": "from chainview import draw_graph\nfrom chaingrad.node import Node\n"
    "draw_graph(Node(2.0) * Node(3.0))",
    "plot": "from chainview import plots\nplot, ax = plots.axes()\n"
    "_ = ax.semilogy([1, 0.1, 0.01])\nplot.show('A falling line.')",
    "progress": "from tqdm.auto import tqdm\nfor _ in tqdm(range(3), disable=False):\n    pass",
    "script": "from IPython.display import HTML\n"
    'HTML(\'<p id="said">no</p><script>said.textContent = "yes"</script>\')',
    "module": "%%writefile local.py\nfrom chaingrad import Node\nNINE = 9",
    "import": "from local import NINE\nNINE",
    "builds on torch": "y + 1",
    "kept": "THREE",
    "taken out": "1 + 1",
    "folded": "from chainview import draw_graph\nfrom chaingrad.node import Node\n"
    "draw_graph(Node(2.0) + Node(3.0))",
    "claim": "print('held')\nassert 1 + 1 == 2",
    "told": "print('first', 1)\nprint('second', 2)",
    "own": "own = 1",
    "of own": "def double():\n    return 2 * own\n\nown + 1",
    "other": "own = 'two'",
    "of other": "own, double()",
    "long": "print('this line is longer', 'than most of the lines', 'that stand above')",
    "glued": "from myst_nb import glue\nglue('six', 6.0, display=False)\n"
    "glue('third', -1 / 3, display=False)",
}
PREDICTIONS = """
```{predict} doubled
:value: six
What is twice $3$?

5
: That is the sum of 2 and 3.

6
: Two times *three*.

`9`
: That is the square.
```

```{predict} third
:number:
What is the slope?

1/3
: The slope is that of a *falling* line.
```

```{predict} marked
:number:
What is one half?

1/2 ✓
: Half of *one*.

2
: That is twice one.
```

```{code-cell} ipython3
1 / 2
```

```{exercise-start} ★ Halve it
:label: ex-page-halve
```
Take half of 7.

```{predict} halved
:number:
:tolerance: 0.1
What is left?

3
: A half is *exact* here.
```
```{exercise-end}
```

```{solution-start} ex-page-halve
:label: sol-page-halve
:class: dropdown
```
So it is:

```{code-cell} ipython3
glue("halved", 7 / 2, display=False)
```
```{solution-end}
```
"""
TOLD = """\
---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {name: python3, display_name: Python 3}
bounds: {predictions: [0, 5], because: a page of a test}
---
# A told page

What is the slope of $x^2$ at 3? We compute it, and then we check it.

$$
\\bar x = 2x
$$ (eq-told-slope)

```{code-cell} ipython3
x = 3.0
print(2 * x)
```

```{code-cell} ipython3
from chainview import draw_graph
from chaingrad import Node
draw_graph(Node(x) ** 2)
```

*The graph of $x^2$. Look at the *upper* arrow: along it $\\bar x$ comes back.*

The square has one parent, and the slope of the square is that parent, twice.

```{margin}
A parent is what went *in*.
```

```{code-cell} ipython3
draw_graph(Node(x) ** 3)
```

{.in-margin}
*The graph of a cube.*

## Exercises

None.

## How this page is checked

Each check compares with an independent source.

```{code-cell} ipython3
---
tags: [hide-input]
mystnb: {code_prompt_show: "Checked: the slope is what central differences give"}
checks: eq-told-slope
---
assert abs(((x + 1e-4) ** 2 - (x - 1e-4) ** 2) / 2e-4 - 2 * x) < 1e-6
```
"""
# Where what was on the first page stands now.
MOVED = """\
"chapters/page#checks" = "chapters/told#how-this-page-is-checked"
"chapters/page#older" = "chapters/page#a-page"
"chapters/page#slope" = "chapters/told#equation-eq-told-slope"
"""
RIGHT = "def twice(x):\n    return x + x"  # the answer to it
EXERCISE = (
    EXERCISE_PAGE.partition("# A page\n")[2]
    + """
```{code-cell} ipython3
"the end"
```
"""
)
SENT = [
    (page_exercise(problem), problem.answer, problem.stub)
    for problem in exercises().values()
    if not problem.start  # a file of one's own, which the doctor examines
]
OPTIONS = {
    "progress": ":mystnb: {output_stderr: show}\n",
    "wrong": ":tags: [raises-exception]\n",
    "taken out": ":live: takes too long here\n",
    "folded": ":tags: [hide-input]\n",
    "told": ":tags: [hide-input]\n",
    "claim": ':tags: [hide-input]\n:mystnb: {code_prompt_show: "Checked: it holds"}\n',
}


def write_book(folder: Path) -> None:
    """Write its pages, and copy what a book needs besides."""
    for name in ("_config.yml", "references.bib", "LICENSE"):
        shutil.copyfile(ROOT / name, folder / name)
    for name in ("_ext", "img"):
        ignored = shutil.ignore_patterns("node_modules", "__pycache__")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    (folder / "_ext" / "look" / "moved.toml").write_text(MOVED)
    (folder / "_toc.yml").write_text(TOC)
    cells = (
        f"\n```{{code-cell}} ipython3\n{OPTIONS.get(name, '')}{code}\n```\n"
        for name, code in CELLS.items()
    )
    progress = Path("chapters/reference/progress.md")
    (folder / progress).parent.mkdir(parents=True)
    shutil.copyfile(ROOT / progress, folder / progress)
    (folder / "chapters" / "page.md").write_text(HEAD + "".join(cells) + PREDICTIONS + EXERCISE)
    (folder / "chapters" / "told.md").write_text(TOLD)


def build(book: Path) -> Path:
    """Write a book and build its site, with the runtime in it."""
    write_book(book)
    build = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "build.py"), str(book)],
        capture_output=True,
        text=True,
    )
    assert build.returncode == 0, f"exit status {build.returncode}\n{build.stderr}"
    site = book / "_build" / "html"
    put_python(site)
    return site


def put_python(site: Path) -> None:
    """Put the runtime of live cells into a site."""
    try:
        fetch_pyodide.assemble()
    except SystemExit:
        lacking("the runtime of live cells, from PyPI")
    fetch_pyodide.publish(site / "_live")


@contextmanager
def impatient(page: Page) -> Iterator[None]:
    """What waits five seconds for Python waits a tenth of one."""
    page.evaluate(
        """() => {
            window.later = setTimeout;
            window.setTimeout = (act, ms, ...more) => later(act, ms === 5000 ? 100 : ms, ...more);
        }"""
    )
    try:
        yield
    finally:
        page.evaluate("() => { window.setTimeout = later; }")


def cell(page: Page, name: str) -> Locator:
    return page.locator("div.cell:has(.cell_input)").nth(list(CELLS).index(name))


def output(page: Page, name: str) -> Locator:
    return cell(page, name).locator(".live-output")


def run(page: Page, name: str) -> Locator:
    """Click Run, wait for the end, and give the output."""
    cell(page, name).locator(".live-run").click()
    finished(page, name)
    return output(page, name)


def finished(page: Page, name: str) -> None:
    expect(output(page, name)).to_have_count(1, timeout=COLD)
    expect(cell(page, name).locator(".live-run")).to_be_visible(timeout=COLD)


def write(page: Page, name: str, code: str) -> None:
    """Put other code into a cell's editor."""
    cell(page, name).locator(".live-edit").click()
    cell(page, name).locator(".cm-content").click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(code)


def place(page: Page) -> Locator:
    return page.locator("#ex-page-twice .live-answer")


def says(page: Page) -> Locator:
    return place(page).locator(".live-status")


def answer(page: Page, code: str, said: str = "ight") -> None:
    """Write an answer and have it checked, until something is said of it."""
    if not place(page).locator(".cm-content").count():
        place(page).locator(".live-edit").click()
    place(page).locator(".cm-content").click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(code)
    place(page).locator(".live-run").click()
    expect(says(page)).to_contain_text(said, timeout=COLD)
