"""Read what students wrote in a process of its own, with a clock and a memory limit.

A parser or a search may take longer, or more memory, than anybody foresaw. Here that costs one
submission: its reader is ended, and a new one takes its place. What counts is the reader's own
processor time, neither that of a sandbox which it opens nor the time for which it waits.
"""

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterable
from multiprocessing.connection import Connection
from typing import Any, Self

from coursework.sandbox import jail
from coursework.sandbox.host import signal_name

SECONDS = 60.0  # of processor time; a notebook full of code, of 16 MiB, takes a quarter
MEMORY = 2 << 30  # bytes of address space, besides what a reader has before it reads
# A reader starts as a copy of a server that has imported what this process has, and no thread.
_CONTEXT = multiprocessing.get_context("forkserver")


class ReaderError(Exception):
    """What was asked of a reader failed; says how."""


class OverrunError(ReaderError):
    """It took too much time or memory; says which, as the end of a sentence."""


class Reader:
    """A process that calls one function at a time, which its module must define by name."""

    def __init__(self, seconds: float = SECONDS, memory: int = MEMORY) -> None:
        self._limits = (seconds, memory)
        self._start()

    def _start(self) -> None:
        package = __name__.partition(".")[0]
        _CONTEXT.set_forkserver_preload([n for n in sys.modules if n.partition(".")[0] == package])
        self.link, far = _CONTEXT.Pipe()
        self._process = _CONTEXT.Process(target=_serve, args=(far, *self._limits), daemon=True)
        self._process.start()
        far.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask(self, function: Callable[..., Any], *arguments: object) -> Any:
        """Return what the function returns; raises what `answer` does."""
        self.begin(function, *arguments)
        return self.answer()

    def begin(self, function: Callable[..., Any], *arguments: object) -> None:
        """Have the function called; its answer is there once `link` can be read."""
        with contextlib.suppress(OSError):  # the process is gone: `answer` says so
            self.link.send((function, arguments))

    def answer(self) -> Any:
        """Wait for the answer and return it; after an error a new process takes this one's place.

        Raises:
            OverrunError: it took more processor time, or more memory, than a reader has.
            ReaderError: the function raised an exception, or ended its process.
        """
        seconds, memory = self._limits
        try:
            kind, value = self.link.recv()
        except (EOFError, OSError):
            kind, value = "ended", None
        if kind == "value":
            return value
        status = self._restart()
        if kind == "ended" and status == -signal.SIGPROF:
            raise OverrunError(f"took more than {seconds:g} s of processor time")
        if kind == "full":
            raise OverrunError(f"took more than {memory >> 20} MiB of memory")
        raise ReaderError(value or f"the process that read it ended ({signal_name(status)})")

    def _restart(self) -> int:
        self.close()
        status = self._process.exitcode or 0
        self._start()
        return status

    def close(self) -> None:
        """End the process, whatever it does."""
        self.link.close()
        self._process.kill()
        self._process.join()


def _serve(link: Connection, seconds: float, memory: int) -> None:
    """Answer until the grader hangs up."""
    os.setsid()  # an interrupt from the keyboard is the grader's to handle
    threading.Thread(target=_end_with_grader, daemon=True).start()
    if sys.platform == "linux":
        jail.limit_memory(memory)
    warnings.simplefilter("ignore")  # the teacher needn't see those of students' code and values
    with contextlib.suppress(EOFError, OSError):
        while True:
            function, arguments = link.recv()
            # The kernel ends this process when its time is up, also within a search or a parser.
            signal.setitimer(signal.ITIMER_PROF, seconds)
            answer = _answer(function, arguments)
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            link.send(answer)


def _end_with_grader() -> None:
    if grader := multiprocessing.parent_process():
        grader.join()
    os._exit(1)


def _answer(function: Callable[..., Any], arguments: Iterable[Any]) -> tuple[str, Any]:
    try:
        return "value", function(*arguments)
    except MemoryError:
        return "full", None
    except Exception as error:
        return "raised", f"{type(error).__name__}: {error}"
