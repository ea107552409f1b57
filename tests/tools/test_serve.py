"""Writing with `make serve`: pages reload after each change, and failures are told."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from playwright.sync_api import Browser, expect

from tests.support import ROOT, free_port, litter
from tools import serve

pytestmark = pytest.mark.slow

SCRIPT = ROOT / "tools" / "serve.py"
PATIENCE = 90  # seconds; how long it takes is no part of what is tested
PAGE = "# A page\n\n{text}\n"
TOC = "format: jb-book\nroot: chapters/page\n"


class Served:
    """A book that is being served, and what the terminal shows."""

    def __init__(self, book: Path, port: int) -> None:
        self.page = book / "chapters" / "page.md"
        self.address = f"http://127.0.0.1:{port}/chapters/page.html"
        self.process = subprocess.Popen(
            [sys.executable, str(SCRIPT), str(book), "--port", str(port)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.output = ""
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines:
            for line in lines:
                self.output += line

    def wait_for(self, text: str, times: int = 1) -> None:
        end = time.monotonic() + PATIENCE
        while self.output.count(text) < times:
            assert time.monotonic() < end, f"{text!r} did not appear in:\n{self.output}"
            time.sleep(0.05)

    def interrupt(self) -> int:
        os.kill(self.process.pid, signal.SIGINT)
        status = self.process.wait(timeout=20)
        self.reader.join(timeout=20)
        return status


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A book of one page without code."""
    (tmp_path / "_config.yml").write_text("title: A book\nexecute: {execute_notebooks: 'off'}\n")
    (tmp_path / "_toc.yml").write_text(TOC)
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters" / "page.md").write_text(PAGE.format(text="first words"))
    return tmp_path


@pytest.fixture
def served(book: Path) -> Iterator[Served]:
    served = Served(book, free_port())
    yield served
    if served.process.poll() is None:
        served.interrupt()


@pytest.mark.walk
def test_page_reloads_after_a_change_and_recovers_from_a_bad_one(
    served: Served, browser: Browser
) -> None:
    served.wait_for("The book is built")
    page = browser.new_page()
    page.goto(served.address)
    text = page.locator("article, main").first
    expect(text).to_contain_text("first words")

    served.page.write_text(PAGE.format(text="second words"))
    expect(text).to_contain_text("second words", timeout=PATIENCE * 1000)

    served.page.write_text(PAGE.format(text="third words {ref}`nowhere`"))
    served.wait_for("The book was not built.")
    served.wait_for("chapters/page.md:3: WARNING")
    served.wait_for("Mend this")

    # Editors write a new file and put it in the place of the old one.
    mended = served.page.with_name("page.md~")
    mended.write_text(PAGE.format(text="fourth words"))
    shutil.move(mended, served.page)
    expect(text).to_contain_text("fourth words", timeout=PATIENCE * 1000)
    page.close()


@pytest.mark.walk
def test_a_page_is_there_while_the_site_is_built_again(served: Served) -> None:
    """Whatever comes or goes beside it, and whatever fails."""
    served.wait_for("The book is built")
    book, found = served.page.parents[1], set()

    def build(text: str, says: str) -> None:
        built = served.output.count(says)
        (served.page.parent / "new.md").write_text(PAGE.format(text=text))
        (book / "_toc.yml").write_text(TOC + "chapters: [file: chapters/new]\n")
        end = time.monotonic() + PATIENCE
        while served.output.count(says) == built:
            assert time.monotonic() < end, served.output
            found.add(requests.get(served.address, timeout=PATIENCE).status_code)

    build("new words", "The book is built")
    build("{ref}`nowhere`", "Mend this")
    assert found == {200}


def test_what_editors_leave_is_not_watched(book: Path) -> None:
    config, page = book / "_config.yml", book / "chapters" / "page.md"
    folders, files = serve.sources(book)
    assert serve.matters(page, folders)
    assert serve.matters(config, files)
    assert not [path for path in litter(page) if serve.matters(path, folders)]
    assert not [path for path in litter(config) if serve.matters(path, files)]


def test_interrupt_ends_it_and_the_build(served: Served) -> None:
    served.wait_for("Putting the site together")
    assert served.interrupt() == 0
    assert "Traceback" not in served.output
    left = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert str(served.page.parents[1]) not in left


def test_port_in_use(book: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        run = subprocess.run(
            [sys.executable, str(SCRIPT), str(book), "--port", str(port)],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
    assert run.returncode == 1
    assert run.stderr.strip() == (
        f"Port {port} is in use. Choose another, for example: make serve PORT={port + 1}"
    )
