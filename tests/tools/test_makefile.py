"""The make targets explain themselves."""

import re
import subprocess
import sys

import pytest

from tests.site.built import with_code
from tests.support import ROOT


def test_help_lists_every_target():
    help_text = subprocess.run(
        ["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert phony is not None
    for target in phony[1].split():
        assert re.search(rf"^  make {target} +\S", help_text, re.MULTILINE), target


@pytest.mark.slow
def test_walk_takes_every_page():
    recipe = subprocess.run(
        ["make", "--dry-run", "walk"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    chosen = re.search(r'-m "(.+)" tests\n', recipe)
    assert chosen is not None
    options = [
        "--collect-only",
        "--quiet",
        "-p",
        "no:cacheprovider",
        "-m",
        chosen[1],
        "tests/site/test_walk.py",
    ]
    collected = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "tests/site/test_walk.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    ).stdout
    assert [name for name in with_code() if f"book_shows[{name}]" not in collected] == []
