"""What a long command tells: a line that changes on a terminal, plain lines elsewhere, and a log.

Runs under the Python that the reader has, as `environment.py` does: with no package, and it must
at least parse under old ones.
"""

import os
import shutil
import sys
import threading
import time
from pathlib import Path
from typing import TextIO

ERASE = "\r\x1b[K"


def clock(seconds: float) -> str:
    """Write seconds as minutes and seconds, such as 1:05."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}:{rest:02d}"


class Progress:
    """Tells what is being done, and keeps everything in a log file.

    `say` writes a line that stays. `now` says what is going on, and shows on a terminal alone: one
    line at the bottom, with the time since this began. `note` goes to the log and nowhere else.
    """

    def __init__(self, log: Path, stream: "TextIO | None" = None) -> None:
        self.log = log
        self.stream = sys.stdout if stream is None else stream
        self.terminal = self.stream.isatty() and os.environ.get("TERM") != "dumb"
        self.began = time.monotonic()
        self._now = ""
        self._lock = threading.Lock()
        self._over = threading.Event()

    def __enter__(self) -> "Progress":
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.file = self.log.open("w", encoding="utf-8", errors="replace", buffering=1)
        if self.terminal:
            threading.Thread(target=self._tick, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self.now("")
        self.file.close()

    @property
    def seconds(self) -> float:
        """Return how many seconds it has taken so far."""
        return time.monotonic() - self.began

    def note(self, text: str) -> None:
        """Write a line to the log."""
        self.file.write(text.rstrip("\n") + "\n")

    def say(self, text: str) -> None:
        """Write a line to the reader and to the log."""
        self.note(text)
        with self._lock:
            self.stream.write((ERASE if self.terminal else "") + text + "\n")
            self._draw()

    def now(self, text: str) -> None:
        """Show what is going on until the next call; show nothing for the empty text."""
        with self._lock:
            self._now = text
            self._draw()

    def _draw(self) -> None:
        if self.terminal:
            line = f"{clock(self.seconds)} · {self._now}"
            columns = shutil.get_terminal_size().columns
            self.stream.write(ERASE + (line[: columns - 1] if self._now else ""))
        self.stream.flush()

    def _tick(self) -> None:
        while not self._over.wait(1):
            with self._lock:
                if not self._over.is_set():
                    self._draw()
