"""JupyterLab as `make lab` starts it, over a copy of the pages."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import nbformat
import psutil
import pytest
from playwright.sync_api import Browser, Page, ViewportSize

from tests.support import PATIENCE, ROOT, free_port

SETTINGS = ROOT / "tools" / "jupyter"
VIEW: ViewportSize = {"width": 1280, "height": 1000}
# A kernel is told its ports before it opens them: a connection that takes one meanwhile ends it.
SOCKETS = ["--KernelManager.transport=ipc"]


@dataclass(frozen=True)
class Lab:
    """A running server over a copy of the chapters."""

    folder: Path
    address: str
    token: str

    def answers(self) -> bool:
        address = f"{self.address}/api/contents/?token={self.token}"
        with suppress(urllib.error.URLError, ConnectionError):
            urllib.request.urlopen(address, timeout=PATIENCE).close()
            return True
        return False

    def text(self, page: str) -> str:
        return (self.folder / f"{page}.md").read_bytes().decode()


def wait(lab: Lab, process: subprocess.Popen[bytes]) -> None:
    give_up = time.monotonic() + PATIENCE
    while time.monotonic() < give_up and process.poll() is None:
        if lab.answers():
            return
        time.sleep(0.2)
    pytest.fail(f"JupyterLab does not answer at {lab.address}")


def end(process: subprocess.Popen[bytes]) -> None:
    """End the server and its kernels; it may wait for a thread of its own that does not end."""
    family = [process, *psutil.Process(process.pid).children(recursive=True)]
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(10)
    for member in family:
        with suppress(psutil.NoSuchProcess):
            member.kill()
    process.wait()


@contextmanager
def start(home: Path) -> Iterator[Lab]:
    """The server of `make lab`, in a home of its own, over copies of the pages."""
    folder = home / "chapters"
    shutil.copytree(ROOT / "chapters", folder, ignore=shutil.ignore_patterns(".*"))
    port, token = free_port(), "test"
    command = [sys.executable, "-m", "jupyter", "lab", str(folder), "--no-browser", "--allow-root"]
    options = ["--ip=127.0.0.1", f"--port={port}", f"--IdentityProvider.token={token}"]
    places = {"HOME": str(home), "JUPYTER_CONFIG_PATH": str(SETTINGS)}
    lab = Lab(folder, f"http://127.0.0.1:{port}", token)
    with tempfile.TemporaryDirectory(dir="/tmp") as runtime:  # the name of a socket is short
        process = subprocess.Popen(
            [*command, *options, "--ServerApp.port_retries=0", *SOCKETS],
            env=os.environ | places | {"JUPYTER_RUNTIME_DIR": runtime},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            wait(lab, process)
            yield lab
        finally:
            end(process)


@cache
def window(browser: Browser, lab: Lab) -> Page:
    """The tab of all tests: to load JupyterLab into another takes twice as long."""
    return browser.new_page(viewport=VIEW)


@contextmanager
def ran(browser: Browser, lab: Lab, *cells: str) -> Iterator[Page]:
    """A window in which a new notebook of these cells is open and has been run."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    notebook.metadata["kernelspec"] = {
        "name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python",
    }  # fmt: skip
    path = lab.folder / "new.ipynb"
    nbformat.write(notebook, path)
    page = window(browser, lab)
    try:
        page.goto(f"{lab.address}/lab/tree/new.ipynb?token={lab.token}&reset")
        run_all(page)
        yield page
    finally:
        path.unlink()


def run_all(page: Page) -> None:
    """Run the cells of the notebook that is open."""
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
