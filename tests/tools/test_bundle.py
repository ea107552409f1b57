"""The bundles are what esbuild makes of the scripts, as the repository has them."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.ext.test_vendor import UNREACHABLE
from tests.support import LACKS
from tools import bundle


def test_no_script_has_changed_since_it_was_bundled():
    changed = bundle.stale()
    assert not changed, f"not as bundled: {', '.join(changed)}. Run: make bundles (it takes npm)"


def test_a_script_that_has_changed_is_named(tmp_path: Path):
    manifest = json.loads(bundle.MANIFEST.read_text())
    for name in [*manifest["sources"], *manifest["bundles"]]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(bundle.ROOT / name, tmp_path / name)
    assert bundle.stale(tmp_path) == []
    changed, gone, edited = "src/chainview/ui.js", "_ext/look/book.js", "tests/logic.bundle.js"
    with (tmp_path / changed).open("a") as script:
        script.write("// more\n")
    (tmp_path / gone).unlink()
    (tmp_path / edited).write_text("")
    assert {*bundle.stale(tmp_path)} == {changed, gone, edited}


def test_every_script_beside_python_is_in_a_bundle():
    known = json.loads(bundle.MANIFEST.read_text())["sources"]
    found = (path for path in (bundle.ROOT / "src").glob("chain*/**/*.js"))
    scripts = [path.relative_to(bundle.ROOT).as_posix() for path in found]
    assert [name for name in scripts if not name.endswith(".bundle.js") and name not in known] == []


@pytest.mark.full
def test_bundling_again_gives_the_same_bytes_and_types_fit(tmp_path: Path):
    if shutil.which("npm") is None:
        pytest.skip(f"{LACKS}npm, to bundle the scripts again")
    try:
        with bundle.installed() as programs:
            wrong, manifest = bundle.check_types(programs), bundle.build(programs, tmp_path)
    except subprocess.CalledProcessError as error:
        if UNREACHABLE.search(error.stderr or ""):
            pytest.skip(f"{LACKS}a registry for npm, to bundle the scripts again")
        raise
    assert manifest == json.loads(bundle.MANIFEST.read_text())
    assert not wrong
