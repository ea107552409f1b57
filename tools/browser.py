"""Find the browser that tests drive, and fetch Playwright's own where there is none.

python tools/browser.py
"""

import os
import shutil
import subprocess
import sys

from playwright.sync_api import sync_playwright

# The one without a window of its own comes first: it does the same in four fifths of the time.
NAMES = (
    "chromium-headless-shell", "chromium", "chromium-browser",
    "google-chrome", "google-chrome-stable", "chrome",
)  # fmt: skip
INSTALL = [sys.executable, "-m", "playwright", "install", "--no-shell", "chromium"]


def find() -> str | None:
    """A Chromium on PATH, or the one that Playwright has installed."""
    for name in NAMES:
        if found := shutil.which(name):
            return found
    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    return own if os.access(own, os.X_OK) else None


def fetch() -> None:
    """Have Playwright install its Chromium; say so where that cannot be done."""
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
