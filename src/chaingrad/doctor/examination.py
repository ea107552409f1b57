"""Put an engine through the probes, whatever it prints, raises, or fails to finish."""

import contextlib
import io
import math
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any

from chaingrad.doctor.probes import ENDLESS, PROBES, Probe
from chaingrad.doctor.report import Outcome, Report

_MISSING = (TypeError, AttributeError, NotImplementedError, AssertionError)
_LINES = 1_000_000  # of Python, that count as a second where no timer can be set


@dataclass
class Adapter:
    """How the doctor speaks to an engine; override what yours does in another way.

    A gradient may be None where no pass has been. This one is for PyTorch:

    .. code-block:: python

        class Torch(Adapter):
            def leaf(self, value):
                return torch.tensor(float(value), requires_grad=True)

            def clear(self, leaf):
                leaf.grad = None
    """

    engine: Any = None

    @property
    def name(self) -> str:
        """The name in the report."""
        return getattr(self.engine, "__name__", type(self).__name__)

    def leaf(self, value: float) -> Any:
        """A node of the number, which takes a gradient."""
        return self.engine(value)

    def value(self, node: Any) -> Any:
        """The number that a node holds."""
        return node.data

    def gradient(self, leaf: Any) -> Any:
        """The gradient of a leaf."""
        return leaf.grad

    def backward(self, root: Any) -> None:
        """Run the backward pass from a node."""
        root.backward()

    def clear(self, leaf: Any) -> None:
        """Set the gradient of a leaf to 0."""
        leaf.grad = 0.0

    @contextlib.contextmanager
    def forward(self) -> Iterator[None]:
        """Around a computation whose operations may be missing."""
        try:
            yield
        except _MISSING as error:
            raise _NotThere(f"{type(error).__name__}: {error}") from None


def examine(engine: Any, seconds: float = 5.0) -> Report:
    """Put an engine through all probes.

    What it prints is not shown, and what it raises becomes a finding. A probe that computes for
    more than ``seconds`` is stopped: by a timer in the main thread of a process, elsewhere (as in a
    browser) by a count of the lines of Python. Neither can stop compiled code, nor what waits
    without computing, nor survive an engine that ends the process; the command line can, for there
    each engine has a process of its own.

    Args:
        engine: a class such as ``Value``, called with a number to make a leaf; or an `Adapter`.
        seconds: the processor time that each probe may take; where lines are counted, a million
            of them make a second.

    >>> from chaingrad import Node
    >>> examine(Node).is_sound
    True
    """
    adapter = adapted(engine)
    return Report(adapter.name, list(outcomes(adapter, PROBES, seconds)))


def adapted(engine: Any) -> Adapter:
    """The adapter of an engine, if it is not one already.

    Raises:
        TypeError: it is neither an adapter nor something to call with a number.
    """
    if isinstance(engine, type) and issubclass(engine, Adapter):
        return engine()
    if isinstance(engine, Adapter):
        return engine
    if not callable(engine):
        raise TypeError(
            f"examine needs a class such as Value, which makes a leaf of a number, or an Adapter; "
            f"got {type(engine).__name__} {engine!r:.40}"
        )
    return Adapter(engine)


def outcomes(adapter: Adapter, probes: Iterable[Probe], seconds: float) -> Iterator[Outcome]:
    """Yield what came of each probe."""
    for probe in probes:
        yield _outcome(adapter, probe, seconds)


def _outcome(adapter: Adapter, probe: Probe, seconds: float) -> Outcome:
    limit = sys.getrecursionlimit()
    silence = _Silence()
    bad = "remark" if probe.only_remark else "wrong"
    try:
        with (
            contextlib.redirect_stdout(silence),
            contextlib.redirect_stderr(silence),
            _stopped_after(seconds),
        ):
            for what, found, right in probe.trial(adapter):
                if not _close(found, right):
                    return Outcome(probe.text, bad, what, _told(found), _told(right))
    except _NotThere as error:
        return Outcome(probe.text, "missing", "", str(error), "")
    except _TimeIsUpError:
        return Outcome(probe.text, bad, "", ENDLESS, probe.right())
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # of an engine that we do not know, anything
        return Outcome(probe.text, bad, "", _brief(error), probe.right())
    finally:
        sys.setrecursionlimit(limit)
    return Outcome(probe.text, "sound")


def _close(found: Any, right: float) -> bool:
    if found is None:
        return right == 0.0
    return math.isclose(float(found), right, rel_tol=1e-5, abs_tol=1e-7)


def _brief(error: BaseException) -> str:
    return f"{type(error).__name__}: {error!s:.80}"


def _told(x: Any) -> str:
    try:
        return f"{float(x):.6g}"
    except (TypeError, ValueError):
        return f"{x!r:.40}"


# --- guards -------------------------------------------------------------------------------------


class _NotThere(Exception):  # noqa: N818 (no error of the engine: it has no such operation)
    """The engine has no such operation."""


class _TimeIsUpError(BaseException):
    """A probe takes too long; no Exception, so that engines which catch those let it pass."""


class _Silence(io.TextIOBase):
    def write(self, text: str) -> int:
        return len(text)


@contextlib.contextmanager
def _stopped_after(seconds: float) -> Iterator[None]:
    timed = hasattr(signal, "setitimer") and sys.platform != "emscripten"
    in_main = threading.current_thread() is threading.main_thread()
    with _timer(seconds) if timed and in_main else _counter(int(seconds * _LINES)):
        yield


@contextlib.contextmanager
def _timer(seconds: float) -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise _TimeIsUpError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, 1.0)  # again, if it was caught
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextlib.contextmanager
def _counter(lines: int) -> Iterator[None]:
    left = lines

    def look(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise _TimeIsUpError
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        yield
    finally:
        sys.settrace(before)
