"""Environments like Colab's: its packages, not ours, and a package index to install from."""

import importlib.metadata
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

# Of what Colab carries, the packages that the pages use.
CARRIED = ["numpy", "matplotlib", "torch", "jax", "graphviz", "scikit-learn", "tqdm"]
TOOLS = ["ipykernel", "pip"]


def closure(names: list[str]) -> Iterator[importlib.metadata.Distribution]:
    """The distributions of these names and everything that they need here."""
    waiting, seen = list(names), set()
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name in seen:
            continue
        seen.add(name)
        try:
            found = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue  # needed on other platforms, or by another build of PyTorch
        yield found
        for requirement in map(Requirement, found.requires or []):
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                waiting.append(requirement.name)


def carry(folder: Path) -> None:
    """Fill a folder with links to Colab's packages, as installed here."""
    folder.mkdir()
    for distribution in closure(CARRIED + TOOLS):
        files = distribution.files or []
        for name in {file.parts[0] for file in files} - {"..", "__pycache__"}:
            source = Path(str(distribution.locate_file(name)))
            if source.exists() and not (folder / name).exists():
                (folder / name).symlink_to(source)


@dataclass(frozen=True)
class Result:
    status: int
    output: str


@dataclass(frozen=True)
class Colab:
    """Gives each notebook an empty folder and a Python of its own."""

    folder: Path
    carried: Path

    def environment(self, name: str) -> dict[str, str]:
        """A new Python that sees the carried packages; the variables that run notebooks on it."""
        home = self.folder / name
        venv = home / "venv"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
        (site,) = venv.glob("lib/python*/site-packages")
        (site / "carried.pth").write_text(f"{self.carried}\n")
        kernel = home / "jupyter" / "kernels" / "python3"
        kernel.mkdir(parents=True)
        launch = [str(venv / "bin" / "python"), "-m", "ipykernel_launcher", "-f"]
        specification = {"argv": [*launch, "{connection_file}"], "display_name": "Python 3"}
        (kernel / "kernel.json").write_text(json.dumps(specification))
        dropped = ("PYTHONPATH", "VIRTUAL_ENV", "CI")
        kept = {name: value for name, value in os.environ.items() if name not in dropped}
        return kept | {
            "JUPYTER_PATH": str(home / "jupyter"),
            "OMP_NUM_THREADS": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }

    def run(self, notebook: Path, name: str) -> Result:
        """Run a notebook from top to bottom in an empty folder."""
        variables = self.environment(name)
        work = self.folder / name / "work"
        work.mkdir()
        copy = work / notebook.name
        copy.write_bytes(notebook.read_bytes())
        execute = [sys.executable, "-m", "jupyter", "execute", "--timeout=300", copy.name]
        done = subprocess.run(execute, cwd=work, env=variables, capture_output=True, text=True)
        return Result(done.returncode, done.stdout + done.stderr)
