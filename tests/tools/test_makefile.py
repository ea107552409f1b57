"""The make targets explain themselves."""

import re
import subprocess

from tests.site.built import with_code
from tests.site.test_walk import test_a_page_runs_and_shows_what_the_book_shows as walks
from tests.support import ROOT


def test_help_lists_every_target():
    help_text = subprocess.run(
        ["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert phony is not None
    for target in phony[1].split():
        assert re.search(rf"^  make {target} +\S", help_text, re.MULTILINE), target


def test_walk_takes_every_page():
    recipe = subprocess.run(
        ["make", "--dry-run", "walk"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    chosen = re.search(r'-m "(.+)" tests\n', recipe)
    assert chosen is not None
    marks = {mark.name: mark for mark in walks.pytestmark}  # type: ignore[attr-defined]
    assert eval(chosen[1], {}, {"walk": "walk" in marks, "full": "full" in marks})
    assert marks["parametrize"].args == ("name", with_code())
