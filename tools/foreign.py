"""Run a notebook in an empty folder, on a Python that is not the course's own."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

HIDDEN = ("PYTHONPATH", "VIRTUAL_ENV")  # variables that would lead back to this environment


def overlay(folder: Path, base: str, packages: Path) -> Path:
    """Make a new Python from `base` that finds the packages of a folder; return its path."""
    subprocess.run([base, "-m", "venv", "--without-pip", str(folder)], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "packages.pth").write_text(f"{packages}\n")
    return folder / "bin" / "python"


def surroundings() -> dict[str, str]:
    """Return the variables for a process that should not find the course's environment."""
    kept = {name: value for name, value in os.environ.items() if name not in HIDDEN}
    return kept | {"OMP_NUM_THREADS": "1"}


def run(notebook: Path, python: Path, folder: Path, timeout: int = 300) -> str:
    """Run a notebook in the new folder `folder`/work; return the error that ended it, or ""."""
    import nbformat  # imported here, because other users of this module don't need it
    from jupyter_client.kernelspec import KernelSpecManager
    from nbclient import NotebookClient
    from nbclient.exceptions import CellControlSignal, DeadKernelError
    from traitlets.config import Config

    from tools.execute import connection

    work = folder / "work"
    work.mkdir(parents=True)
    launch = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    kernel = folder / "kernels" / "python3"
    kernel.mkdir(parents=True)
    (kernel / "kernel.json").write_text(json.dumps({"argv": launch, "display_name": "Python 3"}))
    with tempfile.TemporaryDirectory() as sockets:
        client = NotebookClient(
            nbformat.read(notebook, as_version=4),
            timeout=timeout,
            config=Config({"KernelManager": connection(sockets)}),
        )
        client.create_kernel_manager().kernel_spec_manager = KernelSpecManager(
            kernel_dirs=[str(kernel.parent)], ensure_native_kernel=False
        )
        try:
            client.execute(cwd=str(work), env=surroundings())
        except (CellControlSignal, DeadKernelError) as error:
            return str(error)
    return ""
