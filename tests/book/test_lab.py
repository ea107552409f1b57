"""JupyterLab as `make lab` starts it: pages open as notebooks, run, and are saved as they were."""

import difflib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest
from playwright.sync_api import Browser, Page, expect

from built import toc_documents
from support import ROOT
from tools import build

PAGES = [name.removeprefix("chapters/") for name in toc_documents()]
WITH_CODE = [page for page in PAGES if build.code_cells(ROOT / f"chapters/{page}.md")]
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
SETTINGS = ROOT / "tools" / "jupyter"
STARTS = 60  # seconds that a server may take to answer


@dataclass(frozen=True)
class Lab:
    """A running server over a copy of the chapters."""

    folder: Path
    address: str
    token: str

    def call(self, path: str, body: dict[str, Any] | None = None) -> Any:
        """A request to the contents interface: GET, or PUT with a body."""
        request = urllib.request.Request(
            f"{self.address}/api/contents/{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"token {self.token}", "Content-Type": "application/json"},
            method="GET" if body is None else "PUT",
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def open(self, page: str) -> Any:
        """The page as the notebook that JupyterLab shows."""
        return nbformat.from_dict(self.call(f"{page}.md?type=notebook&content=1")["content"])

    def save(self, page: str, notebook: Any) -> str:
        """Save the notebook; the text that the page then has."""
        body = {"type": "notebook", "format": "json", "content": notebook}
        self.call(f"{page}.md", body)
        return (self.folder / f"{page}.md").read_text()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait(lab: Lab, process: subprocess.Popen[bytes]) -> None:
    give_up = time.monotonic() + STARTS
    while time.monotonic() < give_up and process.poll() is None:
        try:
            lab.call("")
            return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.2)
    pytest.fail(f"JupyterLab does not answer at {lab.address}")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """The server of `make lab`, in a home of its own, over copies of the pages."""
    home = tmp_path_factory.mktemp("lab")
    folder = home / "chapters"
    shutil.copytree(ROOT / "chapters", folder, ignore=shutil.ignore_patterns(".*"))
    port, token = free_port(), "test"
    command = [sys.executable, "-m", "jupyter", "lab", str(folder), "--no-browser", "--allow-root"]
    options = ["--ip=127.0.0.1", f"--port={port}", f"--IdentityProvider.token={token}"]
    process = subprocess.Popen(
        [*command, *options, "--ServerApp.port_retries=0"],
        env=os.environ | {"HOME": str(home), "JUPYTER_CONFIG_PATH": str(SETTINGS)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    lab = Lab(folder, f"http://127.0.0.1:{port}", token)
    try:
        wait(lab, process)
        yield lab
    finally:
        process.terminate()
        process.wait(30)


def test_make_lab_starts_this_server() -> None:
    done = subprocess.run(
        ["make", "--dry-run", "lab"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert f"JUPYTER_CONFIG_PATH={SETTINGS}" in done.stdout
    assert "jupyter lab chapters" in done.stdout


@pytest.mark.parametrize("page", PAGES)
def test_saving_a_page_leaves_it_as_it_was(lab: Lab, page: str) -> None:
    before = (lab.folder / f"{page}.md").read_bytes().decode()
    notebook = lab.open(page)
    notebook.metadata["kernelspec"] = KERNEL
    assert lab.save(page, notebook) == before


def execute(lab: Lab, page: str) -> tuple[Any, str]:
    """Run the notebook of a page where the page lies; the notebook with its outputs, the errors."""
    notebook = lab.open(page)
    path = lab.folder / f"{page}.ipynb"
    nbformat.write(notebook, path)
    command = [sys.executable, "-m", "jupyter", "execute", "--inplace", "--timeout=300", str(path)]
    done = subprocess.run(
        command, env=os.environ | {"OMP_NUM_THREADS": "1"}, capture_output=True, text=True
    )
    executed = nbformat.read(path, as_version=4)
    path.unlink()
    return executed, done.stderr if done.returncode else ""


@pytest.fixture(scope="module")
def executions(lab: Lab) -> Iterator[dict[str, Future[tuple[Any, str]]]]:
    """Every page with code, running as a notebook, two at a time."""
    with ThreadPoolExecutor(2) as pool:
        yield {page: pool.submit(execute, lab, page) for page in WITH_CODE}
        pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize("page", WITH_CODE)
def test_a_page_runs_and_an_edit_is_all_that_changes(
    lab: Lab, executions: dict[str, Future[tuple[Any, str]]], page: str
) -> None:
    executed, error = executions[page].result()
    assert not error, error[-3000:]
    before = (lab.folder / f"{page}.md").read_text()
    cells = [cell for cell in executed.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in cells if cell.source.strip())
    cells[len(cells) // 2].source += "\n# an edit"
    after = lab.save(page, executed)
    lines = difflib.ndiff(before.splitlines(), after.splitlines())
    assert [line for line in lines if line[0] in "+-"] == ["+ # an edit"]


@pytest.fixture
def window(browser: Browser, lab: Lab) -> Iterator[Page]:
    """JupyterLab in a browser, showing the folder of the pages."""
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    page.goto(f"{lab.address}/lab?token={lab.token}&reset")
    page.get_by_role("listitem", name="intro.md").wait_for(timeout=STARTS * 1000)
    yield page
    page.close()


def test_a_double_click_opens_a_page_as_a_notebook_that_runs(window: Page, lab: Lab) -> None:
    file = lab.folder / "reference" / "notation.md"
    before = file.read_text()
    window.locator(".jp-DirListing-item", has_text="reference").dblclick()
    window.locator(".jp-DirListing-item", has_text="notation.md").dblclick()
    window.locator(".jp-MarkdownCell .myst-admonition").first.wait_for(timeout=30_000)
    window.get_by_text("Python 3 (ipykernel) | Idle").wait_for(timeout=STARTS * 1000)
    window.get_by_role("menuitem", name="Run", exact=True).click()
    window.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    last = window.locator(".jp-CodeCell .jp-InputPrompt").last
    expect(last).to_have_text(re.compile(r"\[\d+\]:"), timeout=60_000)
    assert not window.locator('.jp-OutputArea-output[data-mime-type*="error"]').count()
    window.keyboard.press("Control+s")
    expect(window.locator(".lm-TabBar-tab.jp-mod-dirty")).to_have_count(0, timeout=15_000)
    assert file.read_text() == before
