"""Find the browser that tests drive, and fetch Playwright's own where there is none.

python tools/browser.py
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Page, Route, sync_playwright

# The headless shell comes first: it does the same in four fifths of the time.
NAMES = (
    "chromium-headless-shell", "chromium", "chromium-browser",
    "google-chrome", "google-chrome-stable", "chrome",
)  # fmt: skip
ADDRESS = "https://folder.invalid/"
INSTALL = [sys.executable, "-m", "playwright", "install", "--no-shell", "chromium"]


def find() -> str | None:
    """Return the path of a Chromium on PATH, or of the one that Playwright has installed."""
    for name in NAMES:
        if found := shutil.which(name):
            return found
    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    return own if os.access(own, os.X_OK) else None


@contextmanager
def opened(folder: Path, **options: Any) -> Iterator[Page]:
    """Open a browser window that can load only the files of one folder."""

    def answer(route: Route) -> None:
        path = folder / urlsplit(route.request.url).path.lstrip("/")
        route.fulfill(path=path) if path.is_file() else route.fulfill(status=404, body="no file")

    executable = find()
    if executable is None:
        raise SystemExit("No browser found: put Chromium or Chrome on PATH.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        page = browser.new_page(**options)
        page.route("**", answer)
        page.goto(ADDRESS)
        yield page
        browser.close()


def fetch() -> None:
    """Let Playwright install its Chromium; say so if that fails."""
    print("Fetching a browser for the tests (once) …", flush=True)
    done = subprocess.run(INSTALL, capture_output=True, text=True)
    if done.returncode or not find():
        said = (done.stderr or done.stdout).strip().splitlines()
        print(
            f"No browser could be fetched ({said[0] if said else 'Playwright does not say why'}).\n"
            "The tests run without one and say at the end what they left out.",
            file=sys.stderr,
        )


if __name__ == "__main__":
    if not find():
        fetch()
