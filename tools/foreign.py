"""Run a notebook in an empty folder, on a Python that is not the course's own."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HIDDEN = ("PYTHONPATH", "VIRTUAL_ENV")  # variables that would lead back to this environment


@dataclass(frozen=True)
class Result:
    """How a run ended, and what it printed."""

    status: int
    output: str


def overlay(folder: Path, base: str, packages: Path) -> Path:
    """A new Python, made by `base`, that finds the packages of a folder installed; its path."""
    subprocess.run([base, "-m", "venv", "--without-pip", str(folder)], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "packages.pth").write_text(f"{packages}\n")
    return folder / "bin" / "python"


def kernel(python: Path, folder: Path) -> dict[str, str]:
    """The variables under which the kernel called python3 is this Python."""
    target = folder / "jupyter" / "kernels" / "python3"
    target.mkdir(parents=True, exist_ok=True)
    launch = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (target / "kernel.json").write_text(json.dumps({"argv": launch, "display_name": "Python 3"}))
    kept = {name: value for name, value in os.environ.items() if name not in HIDDEN}
    return kept | {"JUPYTER_PATH": str(folder / "jupyter"), "OMP_NUM_THREADS": "1"}


def run(notebook: Path, python: Path, folder: Path, timeout: int = 300) -> Result:
    """Run a notebook from top to bottom, in the new folder `folder`/work."""
    work = folder / "work"
    work.mkdir(parents=True)
    copy = work / notebook.name
    copy.write_bytes(notebook.read_bytes())
    execute = [sys.executable, "-m", "jupyter", "execute", f"--timeout={timeout}", copy.name]
    done = subprocess.run(
        execute, cwd=work, env=kernel(python, folder), capture_output=True, text=True
    )
    return Result(done.returncode, done.stdout + done.stderr)
