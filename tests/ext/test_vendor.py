"""The bundled scripts are what their sources and package-lock.json give."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support import LACKS, ROOT

VENDOR = ROOT / "_ext" / "live" / "vendor"
SOURCES = ("package.json", "package-lock.json", "editor.src.js")
UNREACHABLE = re.compile(r"ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ERR_SOCKET")


def test_the_lock_holds_every_package_by_its_hash():
    lock = json.loads((VENDOR / "package-lock.json").read_text())["packages"]
    asked = json.loads((VENDOR / "package.json").read_text())["devDependencies"]
    assert lock.pop("")["devDependencies"] == asked
    assert all(package["integrity"].startswith("sha512-") for package in lock.values())
    for name, version in asked.items():
        assert lock[f"node_modules/{name}"]["version"] == version


def test_every_bundled_package_has_its_licence():
    """All that npm installs, but for esbuild, which bundles and is not bundled."""
    lock = json.loads((VENDOR / "package-lock.json").read_text())["packages"]
    licences = (VENDOR / "LICENSES.txt").read_text()
    for path, package in lock.items():
        name = path.removeprefix("node_modules/")
        if name and "esbuild" not in name:
            assert f"{name} {package['version']}" in licences


@pytest.mark.slow
def test_building_the_scripts_again_gives_the_same_bytes(tmp_path: Path):
    if shutil.which("npm") is None:
        pytest.skip(f"{LACKS}npm, to build the bundled scripts again")
    for name in SOURCES:
        shutil.copy(VENDOR / name, tmp_path)
    install = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    done = subprocess.run(install, cwd=tmp_path, capture_output=True, text=True)
    if done.returncode and UNREACHABLE.search(done.stderr):
        pytest.skip(f"{LACKS}a registry for npm, to build the bundled scripts again")
    assert done.returncode == 0, done.stderr
    subprocess.run(["npm", "run", "build"], cwd=tmp_path, capture_output=True, check=True)
    for name in ("editor.js", "graphviz.js"):
        assert (tmp_path / name).read_bytes() == (VENDOR / name).read_bytes(), name
