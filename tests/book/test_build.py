"""The build tells what failed, keeps failing until it is put right, and does nothing twice."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support import ROOT
from tools import build

CONFIG = """\
only_build_toc_files: true
exclude_patterns: [src]
execute: {execute_notebooks: cache}
"""
PAGE = """\
---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {name: python3, display_name: Python 3}
---
# A page

```{code-cell} ipython3
:tags: [hide-input]
one = 1
```

"""
FAILING = """\
```{code-cell} ipython3
# divide
one / 0
```
"""
TELLTALE = """\
```{code-cell} ipython3
import os
with open(os.environ["TELLTALE"], "a") as file:
    _ = file.write("ran ")
```
"""


@pytest.fixture
def book(tmp_path: Path) -> Path:
    (tmp_path / "_config.yml").write_text(CONFIG)
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: page\n")
    (tmp_path / "page.md").write_text(PAGE)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "engine.py").write_text("")
    return tmp_path


def run(book: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "tools" / "build.py"), str(book)],
        env=os.environ | {"TELLTALE": str(book / "telltale")},
        capture_output=True,
        text=True,
    )


def test_a_failing_cell_fails_the_build_until_it_is_put_right(book):
    (book / "page.md").write_text(PAGE + FAILING)
    for _ in range(2):
        result = run(book)
        assert result.returncode == 1
        assert "The book was not built." in result.stderr
        assert "page.md, cell 2:\n        one / 0\n" in result.stderr
        assert "ZeroDivisionError: division by zero" in result.stderr
    (book / "page.md").write_text(PAGE)
    result = run(book)
    assert result.returncode == 0
    assert "The book is built. Open file://" in result.stdout


def test_a_warning_fails_the_build_until_it_is_put_right(book):
    (book / "page.md").write_text(PAGE + "See {ref}`nowhere`.\n")
    for _ in range(2):
        result = run(book)
        assert result.returncode == 1
        assert "page.md:12: WARNING: undefined label: 'nowhere'" in result.stderr


def test_nothing_is_done_twice_and_a_new_engine_runs_the_pages_again(book):
    (book / "page.md").write_text(PAGE + TELLTALE)
    ran = book / "telltale"
    assert run(book).returncode == 0
    again = run(book)
    assert again.returncode == 0
    assert "Running Jupyter-Book" not in again.stdout
    assert ran.read_text() == "ran "
    (book / "page.md").write_text(PAGE + "More prose.\n\n" + TELLTALE)
    assert run(book).returncode == 0
    assert ran.read_text() == "ran "
    (book / "src" / "engine.py").write_text("version = 2\n")
    assert run(book).returncode == 0
    assert ran.read_text() == "ran ran "


def test_a_broken_configuration_is_shown(book):
    (book / "_config.yml").write_text(CONFIG + "sphinx: {config: {extensions: [no_such_thing]}}\n")
    result = run(book)
    assert result.returncode == 1
    assert "no_such_thing" in result.stderr


def test_a_full_disk_is_named(book):
    text = build.summary([], ["OSError: [Errno 28] No space left on device: 'page.html'"])
    assert "The disk is full" in text


def test_cells_are_counted_as_readers_count_them(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE + "````md\n```{code-cell}\nnot a cell\n```\n````\n\n" + FAILING)
    assert build.code_cells(page) == ["one = 1", "# divide\none / 0"]
