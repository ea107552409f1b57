"""Build the site, and end with a summary that says what failed: page, cell, error.

Jupyter Book does the work. This adds what it lacks: pages run again when the engine has changed
(its cache knows only the pages' own cells), and a build that failed fails again until it is put
right (Sphinx repeats no warning for a page that it does not read again).
"""

import fcntl
import hashlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENGINE = ("src", "requirements.txt", "benchmarks/results.json")
PAGES = ("chapters", "img", "_ext", "_config.yml", "_toc.yml", "references.bib", "tools/build.py")
GENERATED = re.compile(r"\.pyc$|\.egg-info/")
ANSI = re.compile(r"\x1b\[[0-9;]*m")
REPORT = re.compile(
    r"executing the following cell:\n-{3,}\n(?P<source>.*?)\n-{3,}\n(?P<rest>.*)", re.DOTALL
)
RAISED = re.compile(r"^-+> *\d+ (.+)$", re.MULTILINE)
# Failed cells have a report each; their warnings would say it twice.
WARNING = re.compile(
    r"\b(WARNING|ERROR|CRITICAL): (?!Executing notebook failed|Notebook exception)"
)
ERROR = re.compile(r"^(\w+\.)*\w*(Error|Exception)\b.*:|^[A-Z]\w+ error")
FENCE = re.compile(r"^(`{3,})([^\n]*)\n(.*?)^\1[ \t]*$", re.DOTALL | re.MULTILINE)


@dataclass
class Failure:
    """A cell that raised: where it is, the line that did it, and the error's own last line."""

    page: str
    cell: int | None
    source: str
    error: str

    def __str__(self) -> str:
        where = f"cell {self.cell}" if self.cell else "a cell"
        source = "\n".join(f"        {line}" for line in self.source.splitlines())
        return f"  {self.page}, {where}:\n{source}\n    {self.error}"


def code_cells(page: Path) -> list[str]:
    """The sources of a MyST page's code cells, without their options."""
    cells = []
    for _, name, body in FENCE.findall(page.read_text()):
        if not name.startswith("{code-cell}"):
            continue
        lines = body.splitlines()
        if lines and lines[0].strip() == "---":
            lines = lines[lines.index("---", 1) + 1 :]
        while lines and lines[0].startswith(":"):
            lines.pop(0)
        cells.append("\n".join(lines).strip())
    return cells


def read_failure(report: Path, reports: Path, book: Path) -> Failure:
    """What a myst-nb error report says, and the number of the cell that it is about."""
    text = ANSI.sub("", report.read_text())
    page = report.relative_to(reports).as_posix().removesuffix(".err.log") + ".md"
    match = REPORT.search(text)
    source = match["source"].strip() if match else ""
    rest = match["rest"] if match else text
    error = next((line for line in reversed(rest.splitlines()) if line.strip()), "no message")
    path = book / page
    cells = code_cells(path) if path.exists() else []
    cell = cells.index(source) + 1 if source in cells else None
    line = RAISED.search(rest)
    head = line[1].strip() if line else "\n".join(source.splitlines()[:4])
    return Failure(page, cell, head, error.strip())


def failures(book: Path) -> list[Failure]:
    """Every failed cell that the last build reported."""
    reports = book / "_build" / "html" / "reports"
    return [read_failure(path, reports, book) for path in sorted(reports.rglob("*.err.log"))]


def fingerprint(book: Path, *inputs: str) -> str:
    """A digest of this Python and of every file under the named inputs of the book."""
    digest = hashlib.sha256(sys.version.encode())
    for name in inputs:
        root = book / name
        files = sorted(root.rglob("*")) if root.is_dir() else [root]
        for path in files:
            if path.is_file() and not GENERATED.search(str(path)):
                digest.update(f"{path.relative_to(book)}\n".encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()


def forget_stale_results(book: Path) -> None:
    """Drop what earlier builds kept, if the engine or its environment has changed since."""
    build = book / "_build"
    stamp = build / "engine.sha256"
    current = fingerprint(book, *ENGINE)
    if not stamp.exists() or stamp.read_text() != current:
        shutil.rmtree(build / ".jupyter_cache", ignore_errors=True)
        shutil.rmtree(build / ".doctrees", ignore_errors=True)
    stamp.write_text(current)
    shutil.rmtree(build / "html" / "reports", ignore_errors=True)


def run_jupyter_book(book: Path) -> tuple[int, list[str]]:
    """Build with warnings as errors, relaying the output; the exit status and that output."""
    command = [str(Path(sys.executable).with_name("jupyter-book")), "build", str(book)]
    process = subprocess.Popen(
        [*command, "-W", "-n", "--keep-going"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        print(line, end="", flush=True)
        lines.append(ANSI.sub("", line).rstrip().replace(f"{book}/", ""))
    return process.wait(), lines


def summary(failed: list[Failure], output: list[str]) -> str:
    """The last lines of a failed build."""
    lines = ["", "The book was not built."]
    if any("No space left on device" in line for line in output):
        lines.append(f"The disk is full: {shutil.disk_usage('.').free / 1e9:.1f} GB free here.")
    if failed:
        lines += ["", f"Cells that failed ({len(failed)}):", *map(str, failed)]
    warnings = [line for line in dict.fromkeys(output) if WARNING.search(line)]
    if failed:
        warnings = [line for line in warnings if "[mystnb.glue]" not in line]
    if warnings:
        lines += ["", f"Warnings, which count as errors ({len(warnings)}):"]
        lines += [f"  {line}" for line in warnings]
    if not failed and not warnings:
        errors = [line for line in output if ERROR.search(line)] or output[-20:]
        lines += ["", "The build broke off with:", *(f"  {line}" for line in errors)]
    return "\n".join(lines)


@contextmanager
def alone(book: Path) -> Iterator[None]:
    """Wait until no other build of the same book is running."""
    (book / "_build").mkdir(exist_ok=True)
    with (book / "_build" / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def build(book: Path) -> int:
    """Bring the site up to date; 0 if every page ran and nothing warned."""
    stamp = book / "_build" / "site.sha256"
    current = fingerprint(book, *ENGINE, *PAGES)
    index = book / "_build" / "html" / "index.html"
    if not (index.exists() and stamp.exists() and stamp.read_text() == current):
        stamp.unlink(missing_ok=True)
        forget_stale_results(book)
        status, output = run_jupyter_book(book)
        failed = failures(book)
        if status or failed:
            shutil.rmtree(book / "_build" / ".doctrees", ignore_errors=True)
            print(summary(failed, output), file=sys.stderr)
            return status or 1
        stamp.write_text(current)
    print(f"\nThe book is built. Open {index.as_uri()}")
    return 0


if __name__ == "__main__":
    target = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT
    with alone(target):
        sys.exit(build(target))
