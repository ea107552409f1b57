"""Run a teacher's own code, inputs, reference answers and oracles, and name it where it fails."""

import contextlib
import functools
import signal
import threading
import types
from collections.abc import Iterator
from typing import Any

PATIENCE = 60.0  # seconds by the clock for one call


class ProblemError(ValueError):
    """A page, a list or code of the teacher's is not what it should be; says where."""


class _TooLongError(BaseException):
    """The time is up; no `except Exception` of the code that runs may hold this up."""


def run(*sources: str, **given: Any) -> dict[str, Any]:
    """Run the sources one after another, and return the names that they define."""
    space: dict[str, Any] = {"__name__": "problem", **given}
    for source in sources:
        exec(_compiled(source), space)
    return space


@functools.lru_cache(maxsize=1024)
def _compiled(source: str) -> types.CodeType:
    return compile(source, "<problem>", "exec")


@contextlib.contextmanager
def errors_at(place: str) -> Iterator[None]:
    """Put the place in front of the message of a `ProblemError` from the block."""
    try:
        yield
    except ProblemError as error:
        raise ProblemError(f"{place}: {error}") from None


@contextlib.contextmanager
def errors_named(what: str) -> Iterator[None]:
    """Turn any exception of the block into a `ProblemError` that starts with `what`.

    A block that takes longer than `PATIENCE` ends in the same way where Python can stop it: in
    the main thread, and not on Windows.
    """
    try:
        with _time_limit():
            yield
    except _TooLongError:
        raise ProblemError(f"{what} did not finish within {PATIENCE:g} s") from None
    except (Exception, SystemExit) as error:
        raise ProblemError(f"{what} raised {type(error).__name__}: {error}") from error


@contextlib.contextmanager
def _time_limit() -> Iterator[None]:
    """Raise `_TooLongError` in the block when the time is up, and again until it ends."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGALRM"):
        yield
        return

    def ring(*_: object) -> None:
        raise _TooLongError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
