"""The engine's README names every module, and no other."""

import re

from tests.support import ROOT

PACKAGE = ROOT / "src" / "chaingrad"


def test_the_readme_names_every_module():
    named = set(re.findall(r"`(\w+\.(?:py|js|css))`", (PACKAGE / "README.md").read_text()))
    files = [path for kind in ("py", "js", "css") for path in PACKAGE.rglob(f"*.{kind}")]
    assert named == {path.name for path in files} - {"__init__.py"}
