"""The modules of Python itself that the browser has, whatever Python builds the site."""

import json
import re
import textwrap
import zipfile
from pathlib import Path

FILE = Path(__file__).with_name("modules.json")
CORE = {"builtins", "marshal", "sys"}  # compiled in under no name of their own


def read() -> set[str]:
    return set(json.loads(FILE.read_text()))


def held(runtime: Path) -> set[str]:
    """The public modules in a folder with Pyodide's files: packed ones, and those compiled in."""
    with zipfile.ZipFile(runtime / "python_stdlib.zip") as archive:
        packed = {re.split("[./]", name)[0] for name in archive.namelist()}
    machine_code = (runtime / "pyodide.asm.wasm").read_bytes()
    compiled = {name.decode() for name in re.findall(rb"PyInit_(\w+)\0", machine_code)}
    public = {name for name in packed | compiled if re.fullmatch("__future__|[A-Za-z]\\w*", name)}
    return public | CORE


def write(runtime: Path) -> None:
    """Bring the list up to date with the runtime."""
    FILE.write_text(textwrap.fill(json.dumps(sorted(held(runtime))), 100) + "\n")
