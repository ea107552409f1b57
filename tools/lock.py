"""Resolve the project's extras and write every version into requirements.txt.

    python tools/lock.py             move every pin to the newest version that fits
    python tools/lock.py --keep      move none; pin what pyproject.toml newly asks for

uv resolves once for every Python and platform that pyproject.toml accepts; where they differ, a
line says when it holds. It asks the public index alone, whatever pip's settings say: a wheel at
hand here is no version for everyone. There are no hashes: with them pip refuses `-e .`, which hubs
need, and PyTorch's CPU build, which is another file under the same version.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The CUDA build of PyTorch needs these on Linux; the CPU build doesn't.
ACCELERATOR = re.compile(r"nvidia-|cuda-|triton")
HEADER = """\
# Everything the course needs, pinned. Written by `make lock`; to move the pins, run it again.
-e .
"""


def resolve(before: str) -> str:
    """Return what uv finds for all extras; versions named in `before` stay if they still fit."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "requirements.txt"
        output.write_text(before)
        command = [sys.executable, "-m", "uv", "pip", "compile", "--universal", "--all-extras"]
        style = ["--quiet", "--no-header", "--no-annotate"]
        source = [str(ROOT / "pyproject.toml"), "--output-file", str(output)]
        subprocess.run([*command, *style, *source], cwd=ROOT, check=True)
        return output.read_text()


def requirements(resolved: str) -> str:
    """Return the text of the requirements file: the package itself, then its pins."""
    lines = resolved.splitlines(keepends=True)
    kept = [line for line in lines if "==" in line and not ACCELERATOR.match(line)]
    return HEADER + "".join(kept)


def main(arguments: list[str]) -> None:
    if arguments not in ([], ["--keep"]):
        raise SystemExit(__doc__)
    file = ROOT / "requirements.txt"
    before = file.read_text().replace("-e .\n", "") if arguments else ""
    file.write_text(requirements(resolve(before)))


if __name__ == "__main__":
    main(sys.argv[1:])
