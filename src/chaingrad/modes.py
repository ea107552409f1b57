"""Ways of computing that a ``with`` block switches on: without recording, or under watch.

A mode holds for the thread that enters it.
"""

import contextlib
import functools
import inspect
import threading
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeVar

import numpy as np

from chaingrad._wording import describe
from chaingrad.rules import Rule, value

P = ParamSpec("P")
T = TypeVar("T")

# Every operation reads it, and a local of the thread takes ten times as long to read.
_pauses: ContextVar[int] = ContextVar("pauses", default=0)
pauses = _pauses.get
watches = 0  # how many are on in all threads together: 0 spares a look-up
_count_lock = threading.Lock()


class _Modes(threading.local):
    depth = 0
    watch: "Watch | None" = None


_modes = _Modes()


class _WithParentheses(type):
    def __enter__(cls) -> None:
        raise TypeError(f"write it with parentheses: with {cls.__name__}():")

    def __exit__(cls, *failure: object) -> None: ...


class no_grad(metaclass=_WithParentheses):  # noqa: N801 (as in PyTorch)
    """Compute without recording: results inside are constants. Also a decorator: ``@no_grad()``.

    Raises:
        TypeError: the parentheses are missing, or a generator is decorated, which would run its
            body outside.

    >>> from chaingrad import Node
    >>> w = Node(2.0)
    >>> with no_grad():
    ...     y = w * 3
    >>> y.requires_grad, y.parents
    (False, ())
    """

    def __init__(self, *function: Any) -> None:
        if function:
            raise TypeError("write it with parentheses: @no_grad()")

    def __call__(self, function: Callable[P, T]) -> Callable[P, T]:
        if inspect.isgeneratorfunction(function):
            raise TypeError("@no_grad() of a generator: write with no_grad(): inside it")

        @functools.wraps(function)
        def wrapped(*args: P.args, **kwargs: P.kwargs) -> T:
            with self:
                return function(*args, **kwargs)

        return wrapped

    def __enter__(self) -> None:
        _pauses.set(pauses() + 1)

    def __exit__(self, *failure: object) -> None:
        _pauses.set(pauses() - 1)


@contextlib.contextmanager
def detect_anomaly() -> Iterator[None]:
    """Watch the computation, and stop with an `AnomalyError` when something goes wrong.

    Watched are the first operation that makes a NaN or an infinity of finite operands, forward or
    backward; and data changed in place (or exchanged) between the forward and the backward pass,
    which would make the gradients those of another function; and plain numbers made of nodes, by
    ``float(x)`` or ``math.exp(x)``, which lose the graph. It takes time and memory: use it to
    look for an error.

    >>> from chaingrad import Node
    >>> x = Node(-1.0, "x")
    >>> with detect_anomaly():
    ...     x.log() + 1
    Traceback (most recent call last):
    chaingrad.modes.AnomalyError: log of node 'x' of shape () gave nan
    """
    with watching(_Anomalies()), np.errstate(all="ignore"):
        yield


class AnomalyError(ArithmeticError):
    """What `detect_anomaly` found."""


@contextlib.contextmanager
def watching(watch: "Watch | None") -> Iterator[None]:
    """Show ``watch`` everything this thread computes within the block; if None, watch nothing."""
    _count_watches(1)
    before, _modes.watch = _modes.watch, watch
    try:
        yield
    finally:
        _modes.watch = before
        _count_watches(-1)


@contextlib.contextmanager
def recording() -> Iterator[None]:
    """Record what this thread computes within the block, even inside `no_grad`."""
    before = pauses()
    _pauses.set(0)
    try:
        yield
    finally:
        _pauses.set(before)


@contextlib.contextmanager
def differentiating() -> Iterator[bool]:
    """Record within the block, even inside `no_grad`; say whether this is in another derivative."""
    within = _modes.depth > 0
    _modes.depth += 1
    try:
        with recording():
            yield within
    finally:
        _modes.depth -= 1


def paused() -> bool:
    """Return whether this thread computes without recording."""
    return pauses() > 0


def watch() -> "Watch | None":
    """Return the watch on this thread's computation, or None."""
    return _modes.watch if watches else None


def refuse_loss(node: Any, how: str) -> None:
    """Refuse to make a plain number of ``node`` where that would lose its graph in a derivative.

    Elsewhere, but within `no_grad`, it warns, once a place: a backward pass may be to come.

    Raises:
        TypeError: within a function that is being differentiated.
        AnomalyError: within `detect_anomaly`.
    """
    if not node.requires_grad or paused():
        return
    if _modes.depth:
        raise TypeError(_loss(describe(node), how))
    if watched := watch():
        watched.lost(node, how)
    else:
        warnings.warn(_loss("a node that requires a gradient", how), stacklevel=3)


def _loss(node: str, how: str) -> str:
    return (
        f"{how} of {node} gives a plain number, through which no gradient flows. Compute "
        "with nodes: x.exp() or np.exp(x) for math.exp(x), chaingrad.stack([x, y]) to put nodes "
        "into an array. Where only the value is meant, say x.item() or x.data"
    )


class Watch:
    """What `watching` shows a computation to; by itself it looks away and changes nothing."""

    def forward(self, rule: Rule, data: Any, inputs: Sequence[Any]) -> None:
        """See the result that ``rule`` computed from ``inputs``."""

    def recorded(self, node: Any) -> None:
        """See the node of a result that depends on a node that requires a gradient."""

    def unchanged(self, node: Any) -> None:
        """See a node before the backward pass uses its operands."""

    def lost(self, node: Any, how: str) -> None:
        """See that someone makes a plain number of a node that requires a gradient."""

    def backward(self, node: Any, parent: Any, share: Any, g: Any) -> None:
        """See the share of its gradient ``g`` that ``node`` sends to ``parent``."""


class _Anomalies(Watch):
    """Looks for the first number that is not finite, and for data that have changed."""

    def __init__(self) -> None:
        self._seen: dict[int, tuple[Any, list[int]]] = {}  # by id; holding the node keeps its id

    def forward(self, rule: Rule, data: Any, inputs: Sequence[Any]) -> None:
        if is_spoiled(data, [node.data for node in inputs]):
            of = " and ".join(describe(node) for node in inputs)
            raise AnomalyError(f"{rule.name} of {of} gave {_first(data)}")

    def lost(self, node: Any, how: str) -> None:
        raise AnomalyError(_loss(describe(node), how))

    def recorded(self, node: Any) -> None:
        held = [_fingerprint(x.data) for x in (node, *node.parents)]
        self._seen[id(node)] = (node, held)

    def unchanged(self, node: Any) -> None:
        _, held = self._seen.get(id(node), (node, []))
        for x, before in zip((node, *node.parents), held, strict=False):
            if before != _fingerprint(x.data):
                what = "it was computed" if x is node else f"{node.op} had used it"
                raise AnomalyError(
                    f"the data of {describe(x)} changed after {what}, so the "
                    "gradient would belong to another function; give the node new data only "
                    "after backward, or compute again"
                )

    def backward(self, node: Any, parent: Any, share: Any, g: Any) -> None:
        if is_spoiled(value(share), [value(g)]):
            raise AnomalyError(
                f"the backward pass of {node.op} gave {_first(value(share))} for {describe(parent)}"
            )


def _count_watches(one: int) -> None:
    global watches
    with _count_lock:
        watches += one


def _fingerprint(data: Any) -> int:
    if isinstance(data, np.ndarray):
        return zlib.crc32(np.ascontiguousarray(data).view(np.uint8).data, hash(data.shape))
    return hash(data)


def is_spoiled(data: Any, operands: Iterable[Any]) -> bool:
    """Return whether data hold a nan or an infinity that none of their operands has."""
    return not _is_finite(data) and all(map(_is_finite, operands))


def _is_finite(data: Any) -> bool:
    return bool(np.all(np.isfinite(data)))


def _first(data: Any) -> str:
    data = np.asarray(data)
    index = tuple(int(i) for i in np.argwhere(~np.isfinite(data))[0])
    return f"{data[index]}" + (f" at index {index}" if index else "")
