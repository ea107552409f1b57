"""The build tells what failed, keeps failing until it is put right, and does nothing twice."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from bs4 import BeautifulSoup

from tests.site.built import toc_documents
from tests.support import ROOT
from tools import build, execute

CONFIG = """\
only_build_toc_files: true
exclude_patterns: [src]
execute: {execute_notebooks: cache, run_in_temp: true}
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
CELL = """\
```{code-cell} ipython3
%s
```
"""
FAILING = CELL % "# divide\none / 0"
TELLTALE = CELL % (
    "import os\nwith open(os.environ['TELLTALE'], 'a') as file:\n    _ = file.write('%s ')"
)


def make_book(folder: Path) -> Path:
    """A book whose only page runs one cell."""
    (folder / "_config.yml").write_text(CONFIG)
    (folder / "chapters").mkdir()
    write(folder, page=PAGE)
    for name in ("chaingrad", "coursework"):
        (folder / "src" / name).mkdir(parents=True)
        (folder / "src" / name / "__init__.py").write_text("")
    return folder


@pytest.fixture
def book(tmp_path: Path) -> Path:
    return make_book(tmp_path)


def write(book: Path, **pages: str) -> None:
    """Write pages, and the table of contents that has them."""
    for name, text in pages.items():
        path = book / "chapters" / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    first, *more = (f"chapters/{name}" for name in pages)
    chapters = "".join(f"- file: {name}\n" for name in more)
    toc = f"format: jb-book\nroot: {first}\n" + (f"chapters:\n{chapters}" if more else "")
    (book / "_toc.yml").write_text(toc)


def command(book: Path, *options: str) -> list[str]:
    return [sys.executable, str(ROOT / "tools" / "build.py"), str(book), *options]


def environment(book: Path) -> dict[str, str]:
    return os.environ | {"TELLTALE": str(book / "telltale"), "TMPDIR": str(book.parent)}


def run(book: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(book, *options), env=environment(book), capture_output=True, text=True
    )


def ran(book: Path) -> str:
    path = book / "telltale"
    return path.read_text() if path.exists() else ""


@pytest.mark.walk
def test_what_fails_the_build_fails_it_until_it_is_put_right(book: Path) -> None:
    """A cell that fails, and what a page says on stderr without meaning it."""
    says = "import warnings\nwarnings.warn('%s')"
    meant = CELL % (":mystnb: {output_stderr: show}\n" + says % "meant")
    noisy, page = PAGE + CELL % (says % "stray") + meant, PAGE + TELLTALE % "other"
    write(book, failing=PAGE + FAILING, noisy=noisy, page=page)
    for _ in range(2):
        result = run(book)
        assert result.returncode == 1
        assert "The book was not built." in result.stderr
        assert "Cells that failed (2):" in result.stderr
        assert "chapters/failing.md, cell 2 (line 12):\n        one / 0\n" in result.stderr
        assert "    ZeroDivisionError: division by zero" in result.stderr
        assert "chapters/noisy.md, cell 2 (line 12):" in result.stderr
        assert "UserWarning: stray" in result.stderr
        log = result.stderr.rpartition("The whole log is in ")[2].strip()
        assert "Traceback" in Path(log).read_text()
        assert ran(book) == "other "  # the failure stops no other page
    warning = page + "\nSee {ref}`nowhere`.\n"
    write(book, failing=PAGE, noisy=PAGE + meant, page=warning)
    for _ in range(2):
        result = run(book)
        assert result.returncode == 1
        assert "chapters/page.md:18: WARNING: undefined label: 'nowhere'" in result.stderr
    write(book, failing=PAGE, noisy=PAGE + meant, page=page)
    result = run(book)
    assert result.returncode == 0
    assert "The book is built. Open file://" in result.stdout
    assert "meant" in (book / "_build" / "html" / "chapters" / "noisy.html").read_text()
    assert ran(book) == "other "


@pytest.mark.walk
def test_what_a_cell_prints_in_pieces_is_joined_to_the_letter(book: Path) -> None:
    code = """\
import sys
for piece in ("a  ", "  b\\n", "\\n  c", "50%\\r", "99%\\n", "  d  \\n"):
    sys.stdout.write(piece)
    sys.stdout.flush()
"""
    write(book, page=PAGE + CELL % code)
    assert run(book).returncode == 0
    soup = BeautifulSoup((book / "_build/html/chapters/page.html").read_text(), "html.parser")
    assert [pre.get_text() for pre in soup.select(".output pre")] == ["a    b\n\n99%\n  d  \n"]


def test_a_page_runs_again_if_what_it_reads_has_changed(book: Path) -> None:
    using = PAGE + CELL % "import chaingrad" + TELLTALE % "using"
    write(book, page=PAGE + TELLTALE % "plain", using=using)
    assert run(book).returncode == 0
    assert sorted(ran(book).split()) == ["plain", "using"]
    (book / "telltale").unlink()

    again = run(book)
    assert again.returncode == 0
    assert again.stdout.strip().startswith("The book is built.")

    write(book, page=PAGE + "More prose.\n\n" + TELLTALE % "plain", using=using)
    (book / "src" / "coursework" / "__init__.py").write_text("version = 2\n")
    assert run(book).returncode == 0
    assert "More prose" in (book / "_build" / "html" / "chapters" / "page.html").read_text()
    assert ran(book) == ""

    (book / "src" / "chaingrad" / "__init__.py").write_text("version = 2\n")
    assert run(book).returncode == 0
    assert ran(book) == "using "


@pytest.mark.full
def test_what_is_gone_or_half_written_is_not_used(book: Path) -> None:
    write(book, page=PAGE + TELLTALE % "page", more=PAGE)
    assert run(book).returncode == 0
    results = (book / "_build" / ".jupyter_cache" / "executed").rglob("base.ipynb")
    for result in results:
        result.write_text(result.read_text()[:200])
    (book / "chapters" / "more.md").unlink()
    write(book, page=PAGE + TELLTALE % "page")
    assert run(book).returncode == 0
    assert ran(book) == "page page "
    site = book / "_build" / "html" / "chapters"
    assert [path.name for path in site.glob("*.html")] == ["page.html"]


def content(site: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in site.rglob("*") if path.is_file()}


@pytest.mark.walk
def test_a_build_that_fails_leaves_the_site_as_it_was(book: Path) -> None:
    write(book, page=PAGE, more=PAGE)
    assert run(book).returncode == 0
    site = book / "_build" / "html"
    before = content(site)
    (book / "chapters" / "more.md").unlink()
    for wrong in (PAGE + "More prose, and {ref}`nowhere`.\n", PAGE + FAILING):
        write(book, page=wrong, new=PAGE)
        assert run(book).returncode == 1
        assert content(site) == before
    write(book, page=PAGE + "More prose.\n", new=PAGE)
    (site / "kept.txt").touch()  # not of a build, as Python for live cells is
    assert run(book).returncode == 0
    after = content(site)
    gone = {path.relative_to(site).as_posix() for path in before.keys() - after.keys()}
    assert gone == {"chapters/more.html", "_sources/chapters/more.md"}
    assert site / "chapters" / "new.html" in after
    assert site / "kept.txt" in after
    assert b"More prose" in after[site / "chapters" / "page.html"]


def test_pages_run_side_by_side(book: Path) -> None:
    """Each of two pages waits for the other."""
    meet = (
        "import os, pathlib, time\n"
        "folder = pathlib.Path(os.environ['TELLTALE']).parent\n"
        "(folder / '{own}').touch()\n"
        "while not (folder / '{other}').exists():\n    time.sleep(0.1)"
    )
    pages = {
        own: PAGE + CELL % f"{meet.format(own=own, other=other)}\n_ = os.write(2, b'of a library')"
        for own, other in (("left", "right"), ("right", "left"))
    }
    write(book, **pages)
    result = run(book, "--jobs", "2")
    assert result.returncode == 0
    check_plain(book, result)


def check_plain(book: Path, result: subprocess.CompletedProcess[str]) -> None:
    """Elsewhere than on a terminal there are plain lines; the rest is in the log."""
    assert "\n  1 of 2  chapters/" in result.stdout
    assert not [c for c in result.stdout if c != "\n" and not c.isprintable()]
    assert len(result.stdout.splitlines()) < 11
    assert result.stderr == ""
    assert "of a library" in (book / "_build" / "book.log").read_text()


@pytest.mark.full
def test_pages_that_time_things_run_alone(book: Path) -> None:
    """Such a page counts the pages that are running while it runs."""
    mark = (
        "import os, pathlib, time\n"
        "folder = pathlib.Path(os.environ['TELLTALE']).parent\n"
        "own = folder / '%s.running'\nown.touch()\n"
    )
    beside = PAGE + CELL % (mark % "NAME" + "time.sleep(2)\nown.unlink()")
    lonely = PAGE + CELL % (
        mark % "lonely" + "for _ in range(20):\n    time.sleep(0.1)\n"
        "    assert len(list(folder.glob('*.running'))) == 1\nown.unlink()"
    )
    name = execute.ALONE[0].removeprefix("chapters/")
    write(
        book, one=beside.replace("NAME", "one"), **{name: lonely}, two=beside.replace("NAME", "two")
    )
    result = run(book, "--jobs", "3")
    assert result.returncode == 0, result.stderr


def test_pages_that_run_alone_are_in_the_course() -> None:
    assert set(execute.ALONE) <= set(toc_documents())


def runs(process: psutil.Process) -> bool:
    """Whether a process has not ended; one that nobody has asked about yet remains listed."""
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.walk
@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.full)]
)
def test_an_interrupted_build_leaves_no_process_behind(book: Path, number: signal.Signals) -> None:
    sleeper = "subprocess.run([sys.executable, '-c', 'import time; time.sleep(600)'])"
    waiting = f"import subprocess, sys\nopen({str(book / 'started')!r}, 'w')\n{sleeper}"
    write(book, page=PAGE + TELLTALE % "page", waiting=PAGE + CELL % waiting)
    process = subprocess.Popen(
        command(book, "--jobs", "2"),
        env=environment(book),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    log = book / "_build" / "book.log"
    family: list[psutil.Process] = []
    while len(family) < 2 or "chapters/page  " not in log.read_text():  # a kernel and its child
        assert process.poll() is None
        time.sleep(0.1)
        started = (book / "started").exists()
        family = psutil.Process(process.pid).children(recursive=True) if started else []
    process.send_signal(number)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert "Traceback" not in said
    assert [relative for relative in family if runs(relative)] == []

    write(book, page=PAGE + TELLTALE % "page", waiting=PAGE)
    assert run(book).returncode == 0
    assert ran(book) == "page "


@pytest.mark.full
def test_a_broken_configuration_is_shown(book: Path) -> None:
    (book / "_config.yml").write_text(CONFIG + "sphinx: {config: {extensions: [no_such_thing]}}\n")
    result = run(book)
    assert result.returncode == 1
    assert "no_such_thing" in result.stderr


def test_a_number_of_pages_at_a_time_is_checked(book: Path) -> None:
    result = run(book, "--jobs", "none")
    assert result.returncode == 2
    assert "'none' is not a number of pages: 1, 2, …" in result.stderr


def test_a_full_disk_is_named(tmp_path: Path) -> None:
    troubles = ["OSError: [Errno 28] No space left on device: 'page.html'"]
    assert "The disk is full" in build.summary(troubles, tmp_path / "log")


def test_cells_are_counted_as_readers_count_them(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE + "````md\n```{code-cell}\nnot a cell\n```\n````\n\n" + FAILING)
    assert build.code_cells(page) == ["one = 1", "# divide\none / 0"]
