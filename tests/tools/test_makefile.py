"""The make targets explain themselves."""

import re
import subprocess

from tests.support import ROOT


def test_help_lists_every_target():
    help_text = subprocess.run(
        ["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert phony is not None
    for target in phony[1].split():
        assert re.search(rf"^  make {target} +\S", help_text, re.MULTILINE), target
