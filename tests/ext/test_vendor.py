"""The bundled scripts are what their sources and package-lock.json give."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support import LACKS, ROOT

EXT = ROOT / "_ext"
LIVE, FORMULAS, SEARCH = (EXT / part / "vendor" for part in ("live", "formulas", "search"))
# What npm is given, and what it is to make of it.
BUILT = {
    LIVE: ("editor.js", "graphviz.js"),
    FORMULAS: ("katex.min.js", "copy-tex.min.js", "katex.min.css", "LICENSE", "fonts"),
    SEARCH: ("minisearch.js", "LICENSE"),
}
SOURCES = ("package.json", "package-lock.json", "editor.src.js")
EACH = pytest.mark.parametrize("vendor", BUILT, ids=lambda folder: folder.parent.name)
UNREACHABLE = re.compile(r"ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ERR_SOCKET")


@EACH
def test_the_lock_holds_every_package_by_its_hash(vendor: Path):
    lock = json.loads((vendor / "package-lock.json").read_text())["packages"]
    asked = json.loads((vendor / "package.json").read_text())["devDependencies"]
    assert lock.pop("")["devDependencies"] == asked
    assert all(package["integrity"].startswith("sha512-") for package in lock.values())
    for name, version in asked.items():
        assert lock[f"node_modules/{name}"]["version"] == version


def test_every_bundled_package_has_its_licence():
    """All that npm installs, but for esbuild, which bundles and is not bundled."""
    lock = json.loads((LIVE / "package-lock.json").read_text())["packages"]
    licences = (LIVE / "LICENSES.txt").read_text()
    for path, package in lock.items():
        name = path.removeprefix("node_modules/")
        if name and "esbuild" not in name:
            assert f"{name} {package['version']}" in licences


@pytest.mark.full
@EACH
def test_building_the_scripts_again_gives_the_same_bytes(vendor: Path, tmp_path: Path):
    if shutil.which("npm") is None:
        pytest.skip(f"{LACKS}npm, to build the bundled scripts again")
    for source in filter(Path.exists, (vendor / name for name in SOURCES)):
        shutil.copy(source, tmp_path)
    install = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    done = subprocess.run(install, cwd=tmp_path, capture_output=True, text=True)
    if done.returncode and UNREACHABLE.search(done.stderr):
        pytest.skip(f"{LACKS}a registry for npm, to build the bundled scripts again")
    assert done.returncode == 0, done.stderr
    subprocess.run(["npm", "run", "build"], cwd=tmp_path, capture_output=True, check=True)
    for name in BUILT[vendor]:
        assert contents(tmp_path / name) == contents(vendor / name), name


def contents(path: Path) -> dict[str, bytes]:
    """The bytes of a file, or of each file of a folder."""
    files = path.rglob("*") if path.is_dir() else [path]
    return {file.name: file.read_bytes() for file in files}
