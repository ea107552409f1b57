"""A run says which tests the machine could not run; continuous integration fails for them."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import ROOT

pytestmark = pytest.mark.full
# The second also starts a browser by a command.
WANT_A_BROWSER = ("tests/chainview/draw/test_in_browser.py", "tests/site/test_reading.py")


def run(nowhere: Path, workers: int, ci: str) -> subprocess.CompletedProcess[str]:
    """Run tests in a browser where there is no browser."""
    variables = {"PATH": str(nowhere), "PLAYWRIGHT_BROWSERS_PATH": str(nowhere), "CI": ci}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    command = [sys.executable, "-m", "pytest", f"--numprocesses={workers}", *WANT_A_BROWSER]
    return subprocess.run(
        [*command, "-p", "no:cacheprovider"],
        cwd=ROOT,
        env=kept | variables,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("workers", [0, 2])
def test_what_did_not_run_is_counted_and_how_to_run_it_said(tmp_path: Path, workers: int) -> None:
    done = run(tmp_path, workers, ci="")
    assert done.returncode == 0, done.stdout
    [lacking] = re.findall(r"(\d+) skipped[, ]", done.stdout)
    assert f"{lacking} TESTS DID NOT RUN" in done.stdout
    assert f"{lacking} want a browser." in done.stdout
    assert "playwright install" in done.stdout


def test_continuous_integration_lacks_nothing(tmp_path: Path) -> None:
    done = run(tmp_path, 0, ci="true")
    assert done.returncode == 1
    assert "this machine lacks a browser" in done.stdout
