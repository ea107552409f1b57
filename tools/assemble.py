"""Put the pages together into the site, with Sphinx's output in the log; or try their links.

    python tools/assemble.py linkcheck [BOOK]      ask every address outside the site

Jupyter Book is called here alone: it reads `_config.yml` and runs Sphinx.
"""

import gc
import io
import os
import re
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from jupyter_book.config import get_final_config
from jupyter_book.sphinx import build_sphinx

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools.console import Progress  # noqa: E402

ANSI = re.compile(r"\x1b\[[0-9;]*m")
STEP = re.compile(r"(reading sources|writing output)\.\.\. *\[ *\d+%\] (\S+)")
OVERRIDES = {"latex_individualpages": False, "nitpicky": True}


class Relay(io.TextIOBase):
    """Takes what Sphinx prints: into the log line by line, and shows which page it is at."""

    def __init__(self, book: Path, progress: Progress) -> None:
        self.book, self.progress = book, progress
        self.lines: list[str] = []
        self._rest = ""

    def write(self, text: str) -> int:
        *lines, self._rest = re.split(r"[\r\n]+", self._rest + text)
        for line in lines:
            self._take(ANSI.sub("", line).rstrip())
        return len(text)

    def _take(self, line: str) -> None:
        if not line:
            return
        self.lines.append(line.replace(f"{self.book}/", ""))
        self.progress.note(self.lines[-1])
        if step := STEP.search(line):
            self.progress.now(f"{step[1]}: {step[2]}")


def overrides(book: Path) -> dict[str, Any]:
    return OVERRIDES | {"external_toc_path": str(book / "_toc.yml")}


def configuration(book: Path) -> dict[str, Any]:
    """Return Sphinx's settings, as Jupyter Book derives them from `_config.yml`."""
    config, _ = get_final_config(
        user_yaml=book / "_config.yml",
        cli_config=overrides(book),
        sourcedir=book,
        use_external_toc=True,
    )
    return dict(config)


def run(book: Path, builder: str, folder: Path) -> int:
    """Run one of Sphinx's builders into a folder; warnings are errors. Return the exit status."""
    result = build_sphinx(
        book,
        folder,
        noconfig=True,
        path_config=book / "_config.yml",
        confoverrides=overrides(book),
        builder=builder,
        warningiserror=True,
        keep_going=True,
    )
    if isinstance(result, KeyboardInterrupt):
        raise result
    return result if isinstance(result, int) else 1


def assemble(book: Path, folder: Path, progress: Progress) -> tuple[int, list[str]]:
    """Build the site in a folder of `_build`; return the exit status and what Sphinx printed."""
    relay = Relay(book, progress)
    os.environ["NO_COLOR"] = "1"
    gc.disable()  # it took a third of the time, for trees of small objects that stay anyway
    with redirect_stdout(relay), redirect_stderr(relay):
        return run(book, "html", folder), relay.lines


if __name__ == "__main__":
    builder, *named = sys.argv[1:]
    book = Path(*named).resolve() if named else ROOT
    sys.exit(run(book, builder, book / "_build" / builder))
