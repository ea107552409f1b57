"""The site, built and served."""

import functools
import http.server
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from built import Site, toc_documents
from support import ROOT

expect.set_options(timeout=30_000)  # how long the browser takes is no part of what is tested


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "document" in metafunc.fixturenames:
        metafunc.parametrize("document", toc_documents())


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def site() -> Site:
    """The site, built now unless it is up to date."""
    build = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "build.py")], capture_output=True, text=True
    )
    if build.returncode:
        pytest.exit(f"the book does not build:\n{build.stderr}", returncode=1)
    return Site(ROOT / "_build" / "html")


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="session")
def address(site: Site) -> Iterator[str]:
    """The address under which the site is served to the browser."""
    handler = functools.partial(Quiet, directory=str(site.folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
