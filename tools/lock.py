"""Resolve the project's extras afresh and write every version into requirements.txt."""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = "book,coursework,figures,pages,test"
# What the CUDA build of PyTorch brings on Linux; the CPU build does without.
ACCELERATOR = re.compile(r"nvidia-|cuda-|triton")
HEADER = """\
# Everything the course needs, pinned. Written by `make lock`; to move the pins, run it again.
"""


def resolve() -> dict[str, str]:
    """{name: version} of a fresh installation, which pip works out but does not make."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed"]
        project = ["--report", str(report), "-e", f"{ROOT}[{EXTRAS}]"]
        subprocess.run([*command, *project], check=True)
        metadata = [item["metadata"] for item in json.loads(report.read_text())["install"]]
    return {item["name"]: item["version"].split("+")[0] for item in metadata}


def requirements(versions: dict[str, str]) -> str:
    """The text of the requirements file: the package itself, then its pins by name."""
    names = sorted(versions, key=str.lower)
    kept = [name for name in names if name != "chaingrad" and not ACCELERATOR.match(name)]
    return HEADER + "-e .\n" + "".join(f"{name}=={versions[name]}\n" for name in kept)


if __name__ == "__main__":
    (ROOT / "requirements.txt").write_text(requirements(resolve()))
