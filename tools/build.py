"""Build the site, and end with a summary that says what failed: page, cell, error.

Pages run first, side by side (`execute.py`); Jupyter Book then puts the site together from what
they gave (`assemble.py`), in a folder beside it. Only a build that succeeded changes the site, file
by file: whoever reads it meanwhile finds every page. What is up to date is not done again, and a
build that failed fails again until it is put right, although Sphinx repeats no warning for a page
that it does not read again.
"""

import argparse
import fcntl
import filecmp
import re
import shutil
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools.console import Progress, clock  # noqa: E402
from tools.inputs import CODE, EXERCISES, SITE, files, fingerprint  # noqa: E402

MADE = ".html"  # where the site is put together, in the folder _build
WARNING = re.compile(r"\b(WARNING|ERROR|CRITICAL): ")
ERROR = re.compile(r"^(\w+\.)*\w*(Error|Exception)\b.*:|^[A-Z]\w+ error")


def code_cells(page: Path) -> list[str]:
    """Return the sources of a page's code cells, without their options."""
    from tools.execute import Page

    return Page(ROOT, page).cells


def troubles(output: list[str]) -> list[str]:
    """Return the warnings that Sphinx gave, or the error that stopped it."""
    warnings = [line for line in dict.fromkeys(output) if WARNING.search(line)]
    if warnings:
        head = f"Warnings, which count as errors ({len(warnings)}):"
        return ["", head, *(f"  {line}" for line in warnings)]
    first = next((i for i, line in enumerate(output) if ERROR.search(line)), -20)
    return ["", "The build stopped with:", *(f"  {line}" for line in output[first:][:20])]


def summary(troubles: list[str], log: Path) -> str:
    """Return the last lines of a failed build."""
    lines = ["", "The book was not built."]
    if any("No space left on device" in line for line in troubles):
        lines.append(f"The disk is full: {shutil.disk_usage('.').free / 1e9:.1f} GB free here.")
    return "\n".join([*lines, *troubles, "", f"The whole log is in {log}"])


@contextmanager
def build_lock(book: Path) -> Iterator[None]:
    """Wait until no other build of the same book is running."""
    (book / "_build").mkdir(exist_ok=True)
    with (book / "_build" / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def forget(folder: Path, current: str) -> None:
    """Empty a folder that was made from something else."""
    stamp = folder.with_name(f"{folder.name}.stamp")
    if not stamp.exists() or stamp.read_text() != current:
        shutil.rmtree(folder, ignore_errors=True)
    stamp.write_text(current)


def forget_pages(book: Path) -> None:
    """Make Sphinx read or write every page again after a change that it doesn't notice itself."""
    build, kinds = book / "_build", (".py", ".json", ".toml")
    code = [path for path in files(book, ["_ext", *EXERCISES]) if path.suffix in kinds]
    if (build / "unfinished").exists():
        shutil.rmtree(build / ".doctrees", ignore_errors=True)
    forget(build / ".doctrees", fingerprint(book, [*code, *files(book, ["requirements.txt"])]))
    # Sphinx keeps the pages of deleted files, and other pages still link to them.
    names = map(str, files(book, ["chapters", *CODE]))
    forget(build / MADE, "\n".join([*names, (book / "_toc.yml").read_text()]))


def publish(made: Path, site: Path) -> None:
    """Bring the site up to date; at any time, each file is the old one or the new one, whole."""
    listing = site.with_name(f"{site.name}.files")
    before = set(listing.read_text().splitlines()) if listing.exists() else set()
    paths = sorted((p for p in made.rglob("*") if p.is_file()), key=lambda p: p.suffix == ".html")
    names = [path.relative_to(made).as_posix() for path in paths]
    listing.write_text("\n".join(sorted(before | set(names))))
    for name in names:  # pages come last, because they need the other files
        replace(site / name, made / name)
    for name in before - set(names):
        (site / name).unlink(missing_ok=True)
    listing.write_text("\n".join(sorted(names)))


def replace(file: Path, new: Path) -> None:
    """Copy a file over another, unless both have the same content."""
    if file.is_file() and filecmp.cmp(file, new, shallow=False):
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f".{file.name}.part")
    shutil.copyfile(new, part)
    part.replace(file)


def make(book: Path, progress: Progress, jobs: int | None) -> list[str]:
    """Run what has to run and put the site together; return what went wrong."""
    from tools.assemble import assemble, configuration
    from tools.execute import execute

    failures = execute(book, configuration(book), progress, jobs)
    if failures:
        return ["", f"Cells that failed ({len(failures)}):", *map(str, failures)]
    forget_pages(book)
    unfinished = book / "_build" / "unfinished"
    unfinished.touch()
    progress.say("Putting the site together")
    status, output = assemble(book, book / "_build" / MADE, progress)
    if status:
        return troubles(output)
    publish(book / "_build" / MADE, book / "_build" / "html")
    unfinished.unlink()
    return []


def build(book: Path, jobs: int | None = None) -> int:
    """Bring the site up to date; return 0 if every page ran and nothing warned."""
    stamp = book / "_build" / "site.sha256"
    log = book / "_build" / "book.log"
    current = fingerprint(book, files(book, SITE))
    made, index = (book / "_build" / name / "index.html" for name in (MADE, "html"))
    there = all(path.exists() for path in (made, index, stamp))
    if not (there and stamp.read_text() == current):
        stamp.unlink(missing_ok=True)
        with Progress(log) as progress:
            try:
                wrong = make(book, progress, jobs)
            except Exception as error:
                progress.note(traceback.format_exc())
                wrong = troubles(traceback.format_exception_only(error))
        if wrong:
            print(summary(wrong, log), file=sys.stderr)
            return 1
        stamp.write_text(current)
        print(f"It took {clock(progress.seconds)}.")
    print(f"\nThe book is built. Open {index.as_uri()}")
    print("To run its cells in the pages, too: make serve")
    return 0


def count(text: str) -> int:
    if not text.isdecimal() or text == "0":
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of pages: 1, 2, …")
    return int(text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("book", nargs="?", type=Path, default=ROOT)
    parser.add_argument("--jobs", type=count, help="how many pages run at a time (one a core)")
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    book = options.book.resolve()
    try:
        with build_lock(book):
            return build(book, options.jobs)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


if __name__ == "__main__":
    sys.exit(main())
