"""Put an engine through the probes, whatever it prints, raises, or fails to finish."""

import contextlib
import io
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any, ClassVar, Self

import numpy as np

from chaingrad.node import Node
from chainlab.doctor.conventions import Conventions, read_conventions
from chainlab.doctor.interface import NAMES, obstacle
from chainlab.doctor.loading import is_file, load
from chainlab.doctor.number_probes import SLOW
from chainlab.doctor.probe import (
    ENDLESS,
    NO_ARRAYS,
    OF_ARRAYS,
    NotThereError,
    Observation,
    Probe,
    TimeIsUpError,
    as_numbers,
    clock,
    gradients,
    short_error,
)
from chainlab.doctor.probes import probes_up_to
from chainlab.doctor.report import Outcome, Report
from chainlab.doctor.witness import defines_another, doubt, slopes_at

_MISSING = (TypeError, AttributeError, NotImplementedError, AssertionError)
TOTAL = 30.0  # seconds of processor time for all probes together
_LEAST = 0.01  # seconds: if less is left, no probe begins
_LINES = 1_000_000  # of Python, which count as a second where no timer can be set
_QUICK = 0.1  # seconds: a file that loads within them is loaded again for each probe


@dataclass
class Adapter:
    """How the doctor speaks to an engine; override what yours does in another way.

    A gradient may be None where no pass has been. This one is for PyTorch, with numbers of 64 bits
    and graphs that are kept for a second pass:

    .. code-block:: python

        class Torch(Adapter):
            def leaf(self, value):
                return torch.tensor(value, dtype=torch.float64, requires_grad=True)

            def backward(self, root):
                root.backward(retain_graph=True)

            def clear(self, leaf):
                leaf.grad = None
    """

    has_nodes: ClassVar[bool] = True

    engine: Any = None
    beside: Any = None  # the module that it was asked for in

    @property
    def name(self) -> str:
        """Return the name in the report."""
        return getattr(self.engine, "__name__", type(self).__name__)

    @property
    def train(self) -> Callable[..., Any] | None:
        """Return the function `train` in the engine's file, which trains a net on the engine."""
        own = sys.modules.get(getattr(self.engine, "__module__", ""))
        return getattr(self.beside or own, "train", None)

    @property
    def clears_by_assignment(self) -> bool:
        """Return whether ``leaf.grad = 0.0`` clears a gradient, as the project says."""
        return type(self).clear is Adapter.clear

    def leaf(self, value: Any) -> Any:
        """Return a node of a number or an array, which takes a gradient."""
        return self.engine(value)

    def array(self, value: Any) -> Any:
        """Return a node of an array, if the engine knows arrays: if it has an operator ``@``."""
        if not hasattr(self.leaf(1.0), "__matmul__"):
            raise NotThereError(NO_ARRAYS)
        return self.leaf(value)

    def value(self, node: Any) -> Any:
        """Return the number or array that a node holds."""
        return node.data

    def gradient(self, leaf: Any) -> Any:
        """Return the gradient of a leaf."""
        return leaf.grad

    def backward(self, root: Any) -> None:
        """Run the backward pass from a node."""
        root.backward()

    def clear(self, leaf: Any) -> None:
        """Set the gradient of a leaf to 0."""
        grad = leaf.grad
        of_numpy = isinstance(grad, np.ndarray | np.generic)
        leaf.grad = np.zeros_like(grad) if of_numpy else 0.0

    def _born(self, x: Any) -> Any:
        """Return a leaf of a number or an array, if the engine takes it as it is."""
        shape = np.shape(x)
        try:
            leaf = self.array(x.copy()) if shape else self.leaf(x)
        except Exception:
            if np.asarray(x).dtype.kind == "i":
                raise NotThereError("it takes no whole numbers") from None
            if len(shape) > 2:
                raise NotThereError("it takes no arrays of three axes") from None
            raise
        kept = as_numbers(self.value(leaf)) if shape else None
        if kept is not None and kept.shape != shape:
            raise NotThereError(f"it keeps an array of shape {shape} as {kept.shape}")
        return leaf

    def update(self, leaf: Any, value: float) -> None:
        """Set the number of a leaf, as a step of training does."""
        is_array = isinstance(leaf.data, np.ndarray)
        leaf.data = np.full_like(leaf.data, value) if is_array else value

    @contextlib.contextmanager
    def forward(self) -> Iterator[None]:
        """Run a computation whose operations may be missing."""
        try:
            yield
        except _MISSING as error:
            raise NotThereError(short_error(error)) from None

    def observations(
        self, f: Callable[..., Any], names: Sequence[str], at: Sequence[Any]
    ) -> Iterator[Observation]:
        """Yield a function's value, its gradients, and its leaves after the pass."""
        leaves = [self._born(x) for x in at]
        with self.forward():
            y = f(*leaves)
        if y is None:
            raise NotThereError("it gives None")
        yield "the value", self.value(y), f(*map(Node, at)).data
        self.backward(y)
        for name, leaf, g in zip(names, leaves, gradients(f, tuple(at)), strict=True):
            yield f"dy/d{name}", self.gradient(leaf), g
        for name, leaf, value in zip(names, leaves, at, strict=True):
            yield f"{name} after the pass", self.value(leaf), value


class Functional(Adapter):
    """For an engine that differentiates functions and has no nodes, such as JAX and HIPS autograd.

    .. code-block:: python

        def gradients(f, point):
            return jax.grad(f, argnums=range(len(point)))(*point)

        examine(Functional(gradients))

    Expressions are tried by their gradients alone; the probes that need nodes are not tried.

    Args:
        gradients: takes a function of several numbers or arrays and a tuple of these, and returns
            the gradient by each.

    >>> from chaingrad import grad
    >>> examine(Functional(lambda f, point: grad(f, argnums=range(len(point)))(*point))).is_sound
    True
    """

    has_nodes = False

    def leaf(self, value: Any) -> Any:
        """Raise an error, because there are no leaves."""
        raise NotThereError("an engine of functions has no nodes")

    def observations(
        self, f: Callable[..., Any], names: Sequence[str], at: Sequence[Any]
    ) -> Iterator[Observation]:
        """Yield the gradients of a function of several numbers or arrays."""
        points = tuple(np.asarray(x, float) if np.shape(x) else float(x) for x in at)
        with self.forward():
            found = self.engine(f, points)
        for name, came, g in zip(names, found, gradients(f, tuple(at)), strict=True):
            yield f"dy/d{name}", came, g


def examine(
    engine: Any, seconds: float = 5.0, milestone: int | None = None, total: float = TOTAL
) -> Report:
    """Put an engine through the probes.

    What it prints is not shown, and what it raises becomes a finding. A probe that computes for
    more than ``seconds`` is stopped and said to be not finished, which is no finding: by a timer in
    the main thread of a process, elsewhere (as in a browser) by a count of the lines of Python.
    After ``total`` seconds the report says which probes were left out. Neither bound can stop
    compiled code, an engine that waits without computing or catches whatever is raised in it, nor
    survive one that ends the process. The command line can, because there each engine has a
    process of its own.

    Args:
        engine: a class such as ``Value``, called with a number to make a leaf; or an `Adapter`; or
            where the class is, as in ``"engine.py:Value"``: a file is loaded anew for each probe,
            so that nothing which a module keeps, such as a tape, outlives one. All probes share a
            class, an adapter or an installed module, and a file that takes more than 0.1 s to load.
        seconds: the processor time that each probe may take; where lines are counted, a million
            of them make a second.
        milestone: of the project in *Your own engine*, from 1 to 6: only what an engine needs that
            has come so far is tried, and what it lacks of this counts. Without one, all is tried
            but the net.
        total: the processor time that all probes together may take; in a browser, time by the
            clock.

    Raises:
        ValueError: there is no such file, class or milestone.

    >>> from chaingrad import Node
    >>> examine(Node).is_sound
    True
    """
    with Patient(engine, seconds) as patient:
        found = list(outcomes(patient, probes_up_to(milestone), seconds, total))
    return Report(patient.name, found, milestone, patient.conventions)


class Patient:
    """An engine under examination; one in a file is loaded anew for each probe.

    What a probe leaves behind, such as a long tape, is then not there for the next one. A file that
    takes long to load, or fails to load again, is kept as it is.
    """

    def __init__(self, engine: Any, seconds: float = 5.0) -> None:
        loaded: tuple[Any, Any] = load(engine) if isinstance(engine, str) else (engine, None)
        self.conventions = _read(make_adapter(*loaded), seconds)
        self.adapter = make_adapter(*loaded, conventions=self.conventions)
        self.name = self.adapter.name
        self._module = loaded[1]
        self._target = engine if isinstance(engine, str) and is_file(engine) else ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._module:  # on which no probe was tried
            sys.modules[self._module.__name__] = self._module

    def next_adapter(self) -> Adapter:
        """Return the adapter for the next probe."""
        if self._target:
            began = clock()
            try:
                self.adapter = make_adapter(*load(self._target), conventions=self.conventions)
                loads_quickly = clock() - began < _QUICK
            except Exception:
                loads_quickly = False
            if not loads_quickly:
                self._target = ""
        return self.adapter


def _read(adapter: Adapter, seconds: float) -> Conventions | None:
    """Return how an engine without an adapter of its own is spoken to; None if as usual."""
    found = None
    if type(adapter) is Adapter:
        with contextlib.suppress(Exception, SystemExit, TimeIsUpError), _guard(seconds, seconds):
            found = read_conventions(adapter.engine)
    return found


def make_adapter(
    engine: Any, beside: Any = None, conventions: Conventions | None = None
) -> Adapter:
    """Return an adapter of an engine and of its module, or the engine if it is an adapter already.

    Raises:
        TypeError: it is neither an adapter nor something to call with a number.
    """
    if conventions:
        engine = conventions.adapter(engine)
    if isinstance(engine, type) and issubclass(engine, Adapter):
        engine = engine()
    if isinstance(engine, Adapter):
        engine.beside = engine.beside or beside
        return engine
    if not callable(engine):
        raise TypeError(
            f"examine needs a class such as Value, which makes a leaf of a number, or an Adapter; "
            f"got {type(engine).__name__} {engine!r:.40}"
        )
    return Adapter(engine, beside)


def outcomes(
    patient: Patient,
    probes: Sequence[Probe],
    seconds: float,
    total: float = TOTAL,
    before: Sequence[Outcome] = (),
) -> Iterator[Outcome]:
    """Yield the outcome of each probe, starting after those that have an outcome already.

    A probe that needs an unfinished one is not tried, and no probe is tried after the total time.
    Nor is one on arrays that needs an operation which isn't there: NumPy's own would answer.
    """
    endless = {x.probe for x in before if x.verdict == "unfinished"}
    of_arrays = {probe.text for probe in probes if probe.milestone == OF_ARRAYS}
    missing = {x.probe: x.found for x in before if x.verdict == "missing"}
    came = {x.probe: x.failure for x in before}
    for probe in probes[len(before) :]:
        began = clock()
        if probe.text not in NAMES and obstacle(came):
            outcome = Outcome(probe.text, "missing")
        elif reasons := [missing[x] for x in probe.needs if x in missing and x in of_arrays]:
            outcome = Outcome(probe.text, "missing", "", reasons[0])
        elif total < _LEAST:
            outcome = Outcome(probe.text, "left out", "", ENDLESS, probe.right())
        elif endless.isdisjoint(probe.needs):
            outcome = _confirmed(patient, probe, seconds, total)
        else:
            outcome = Outcome(probe.text, "unfinished", "", ENDLESS, probe.right())
        if outcome.verdict == "missing":
            missing[probe.text] = outcome.found
        if outcome.verdict == "unfinished":
            endless.add(probe.text)
        came[probe.text] = outcome.failure
        total -= clock() - began
        yield outcome


def _confirmed(patient: Patient, probe: Probe, seconds: float, total: float) -> Outcome:
    """Return a probe's outcome; what's wrong has to be wrong once more."""
    began = clock()
    outcome = _outcome(patient, probe, seconds, total)
    left = total - (clock() - began)
    if outcome.verdict != "wrong" or left < _LEAST or probe.bug == SLOW:
        return outcome
    again = _outcome(patient, probe, seconds, left)
    if again.verdict == "sound":
        return replace(outcome, verdict="undecidable", right="another result, the second time")
    return outcome


def _outcome(patient: Patient, probe: Probe, seconds: float, total: float) -> Outcome:
    bad = "remark" if probe.only_remark else "wrong"
    try:
        with _guard(seconds, total):
            adapter = patient.next_adapter()
            for what, found, right in probe.trial(adapter):
                if wrong := difference(found, right, probe.rtol):
                    outcome = Outcome(probe.text, bad, what + wrong[0], *wrong[1:])
                    return _seen_by_another(adapter, probe, outcome, what, found, right)
    except (NotThereError, NotImplementedError) as error:
        return Outcome(probe.text, "missing", "", str(error), "")
    except TimeIsUpError:
        verdict = "unfinished" if seconds < total else "left out"
        return Outcome(probe.text, verdict, "", ENDLESS, probe.right())
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # an engine that we do not know may raise anything
        bad = "refused" if probe.refused and _is_refusal(error) else bad
        return Outcome(probe.text, bad, "", short_error(error), probe.right())
    return Outcome(probe.text, "sound")


def _seen_by_another(
    adapter: Adapter, probe: Probe, outcome: Outcome, what: str, found: Any, right: Any
) -> Outcome:
    """Ask the engine's own values whether what came is wrong.

    A gradient isn't called wrong at a kink. A function of another value is another function, if its
    gradient is the slope of that value.
    """
    formula = probe.formula
    if not formula or not adapter.has_nodes:
        return outcome
    if what == "the value":
        is_other = formula.is_named and defines_another(adapter, formula.f, formula.at)
        return replace(outcome, verdict="remark") if is_other else outcome
    if not what.startswith("dy/d") or np.shape(found) != np.shape(right):
        return outcome
    place = first_difference(found, right, probe.rtol)
    which = list(formula.names).index(what.removeprefix("dy/d"))
    slopes = slopes_at(adapter, formula.f, formula.at, which, place)
    came, wanted = (float(np.asarray(x, float)[place]) for x in (found, right))
    if reason := doubt(slopes, came, wanted):
        return replace(outcome, verdict="undecidable", right=f"undecided, {reason}")
    return outcome


def _is_refusal(error: BaseException) -> bool:
    """Return whether an engine refused on purpose, rather than stumbled."""
    stumbled = (RecursionError, ArithmeticError, AttributeError, LookupError, NameError, TypeError)
    return isinstance(error, Exception) and not isinstance(error, stumbled)


def difference(found: Any, right: Any, rtol: float) -> tuple[str, str, str] | None:
    """Return a wrong reading's index, what came there and what is right; None if it is right.

    A gradient of None counts as zeros.
    """
    came = np.zeros(np.shape(right)) if found is None else as_numbers(found)
    wanted = np.asarray(right, float)
    if came is None:
        told = f"an array of shape {wanted.shape}" if wanted.shape else f"{wanted:.6g}"
        return "", f"{type(found).__name__} {found!r:.40}", told
    if came.shape != wanted.shape and (wanted.shape or came.size != 1):
        return ", its shape", str(came.shape), str(wanted.shape)
    if _close(came, wanted, rtol).all():
        return None
    index = first_difference(came, wanted, rtol)
    place = f"[{', '.join(map(str, index))}]" if index else ""
    return place, *_distinct_texts(float(came.reshape(wanted.shape)[index]), float(wanted[index]))


def first_difference(found: Any, right: Any, rtol: float) -> tuple[int, ...]:
    """Return the index of the first entry that differs; empty for a number."""
    apart = ~_close(np.asarray(found, float), np.asarray(right, float), rtol)
    return tuple(int(i) for i in np.argwhere(apart)[0])


def _close(came: Any, wanted: Any, rtol: float) -> Any:
    return np.isclose(came.reshape(wanted.shape), wanted, rtol, rtol / 100, equal_nan=False)


def _distinct_texts(came: float, right: float) -> tuple[str, str]:
    digits = 6 if f"{came:.6g}" != f"{right:.6g}" else 12
    return f"{came:.{digits}g}", f"{right:.{digits}g}"


# --- guards -------------------------------------------------------------------------------------


@contextlib.contextmanager
def _guard(seconds: float, total: float) -> Iterator[None]:
    """Bound the time of what an engine does; keep what it prints, warns and sets from others."""
    limit = sys.getrecursionlimit()
    silence = _NullWriter()
    try:
        with (
            contextlib.redirect_stdout(silence),
            contextlib.redirect_stderr(silence),
            np.errstate(all="ignore"),
            warnings.catch_warnings(action="ignore"),
            _time_limit(seconds, total),
        ):
            yield
    finally:
        sys.setrecursionlimit(limit)


class _NullWriter(io.TextIOBase):
    def write(self, text: str) -> int:
        return len(text)


def _time_limit(seconds: float, total: float) -> contextlib.AbstractContextManager[None]:
    timed = hasattr(signal, "setitimer") and sys.platform != "emscripten"
    in_main = threading.current_thread() is threading.main_thread()
    if timed and in_main:
        return _timer(min(seconds, total))
    return _counter(int(seconds * _LINES), clock() + total)


@contextlib.contextmanager
def _timer(seconds: float) -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeIsUpError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, 1.0)  # again, if it was caught
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextlib.contextmanager
def _counter(lines: int, end: float) -> Iterator[None]:
    left = lines

    def look(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0 or (left % 1024 == 0 and clock() > end):
            raise TimeIsUpError
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        yield
    finally:
        sys.settrace(before)
