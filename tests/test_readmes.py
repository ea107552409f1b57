"""The README of each part of the code names every module there, and no other."""

import re

import pytest

from tests.support import ROOT

KINDS = ("py", "js", "css")


@pytest.mark.parametrize("part", ["src/chaingrad", "src/coursework"])
def test_the_readme_names_every_module(part: str) -> None:
    folder = ROOT / part
    text = (folder / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(rf"`(\w+\.(?:{'|'.join(KINDS)}))`", text))
    files = {path.name for kind in KINDS for path in folder.rglob(f"*.{kind}")}
    assert named == files - {"__init__.py"}
