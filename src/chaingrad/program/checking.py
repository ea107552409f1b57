"""A program beside the function that it was written for: the nodes are the reference.

What decides by the type of a value, or by something that it keeps from call to call, takes another
course while it is traced than on nodes. So may a fault of this package. Both show where the program
and the nodes give different results for the same arguments.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from chaingrad import modes
from chaingrad._tree import flat
from chaingrad.program.arguments import mapped
from chaingrad.program.tape import Tape
from chaingrad.program.tracing import comparing
from chaingrad.rules import TracingError, value

ndarray = np.ndarray
CallArguments = tuple[Sequence[Any], dict[str, Any]]
_FLOAT = {np.dtype(float)}
_CHOOSING = {
    "where", "maximum", "minimum", "absolute", "sign", "less", "less_equal", "greater",
    "greater_equal", "equal", "not_equal", "max", "min", "isfinite", "isinf", "isnan", "call",
}  # fmt: skip
_ASKED_AGAIN = 4  # times, where results differ
_MARGIN = 32  # what rounding makes of the nodes' results, times this, explains a difference
_ROUNDINGS = 16  # of the largest number that is computed with, explain a difference


def compare(
    run: Callable[..., Any],
    on_nodes: Callable[..., Any],
    call: CallArguments,
    name: str,
    heads: Sequence[str],
    tape: Tape,
) -> Any:
    """Call a program and the function it was written for, and compare their results.

    If there are conditions among the operations, compare on their other sides as well: with the
    floats' signs turned, and with their entries mixed. Where the function doesn't take such
    arguments, or gives what isn't finite, there is nothing to compare.

    Args:
        run: the program, called with the arguments and the keywords.
        on_nodes: the function and its derivative, computed by nodes.
        call: the arguments and the keywords, which stay as they are.
        name: of the function, for messages.
        heads: what the members of the result are called there; none for a single result.
        tape: what the program was written from.

    Returns:
        What the nodes gave.

    Raises:
        TracingError: a result differs by more than rounding explains, or the function changes an
            argument in place.
    """
    with np.errstate(all="ignore"), comparing(), modes.watching(None):
        expected = _compared(run, on_nodes, call, name, heads, tape.floats)
        for there in _elsewhere(call) if tape.ops & _CHOOSING else ():
            try:
                _compared(run, on_nodes, there, name, heads, tape.floats, where_finite=True)
            except TracingError:
                raise
            except Exception:  # The function doesn't take these, or Python's math raises.
                continue
    return expected


def _elsewhere(call: CallArguments) -> Iterator[CallArguments]:
    """Yield the call with the signs of its floats turned, and with their entries mixed."""
    random = np.random.default_rng(0)

    def turned(x: Any) -> Any:
        return _like(x, 0.0 - x) if _is_float(x) else x

    def mixed(x: Any) -> Any:
        if not _is_float(x):
            return x
        signs = random.choice([-1.5, -0.5, 0.5, 1.5], np.shape(x))
        return _like(x, random.permutation(np.ravel(x)).reshape(np.shape(x)) * signs)

    for change in (turned, mixed):
        args, kwargs = mapped(list(call), change)
        yield args, kwargs


def _compared(
    run: Callable[..., Any],
    on_nodes: Callable[..., Any],
    call: CallArguments,
    name: str,
    heads: Sequence[str],
    floats: set[np.dtype[Any]],
    where_finite: bool = False,
) -> Any:
    """Compare at these arguments, with ``where_finite`` only if the nodes' results are finite."""
    given = mapped(list(call), _copied)
    expected = on_nodes(*given)
    _refuse_changed(call, given, name)
    if where_finite and not all(map(_is_finite, map(value, flat(expected)))):
        return expected
    own = mapped(list(call), _copied)
    got = run(*own)
    if not _are_equal(call, own):
        raise TracingError(
            f"program: the program written for {name} changes its arguments; please report "
            "this error with the source below"
        )
    pairs = list(_pairs(heads, got, expected, name))
    given_back = {y.dtype for *_, y in pairs if y.dtype.kind == "f"}
    coarsest = max(map(np.finfo, floats | given_back | _FLOAT), key=lambda t: float(t.eps))
    excess = [_excess(x, y, coarsest) for _, x, y in pairs]
    if not any(map(np.any, excess)):
        return expected
    spread = _spread(on_nodes, call, [y for *_, y in pairs], float(coarsest.eps))
    for (where, x, y), beyond, rounding in zip(pairs, excess, spread, strict=True):
        if np.any(beyond > _MARGIN * rounding):
            raise _disagreement(name, where, x, y)
    return expected


def _is_finite(x: Any) -> bool:
    return not _is_numeric(x) or bool(np.all(np.isfinite(x)))


def _is_float(x: Any) -> bool:
    return isinstance(x, float | np.floating | ndarray) and np.result_type(x).kind == "f"


def _like(x: Any, y: Any) -> Any:
    """Return ``y`` as the kind of number or array that ``x`` is."""
    return np.asarray(y, x.dtype) if isinstance(x, ndarray) else type(x)(y)


def _copied(x: Any) -> Any:
    return x.copy(order="K") if isinstance(x, ndarray) else x


def _are_equal(call: CallArguments, given: Sequence[Any]) -> bool:
    before, after = flat(list(call)), flat(given)
    return len(before) == len(after) and all(map(_is_equal, before, after))


def _refuse_changed(call: CallArguments, given: Sequence[Any], name: str) -> None:
    if _are_equal(call, given):
        return
    raise TracingError(
        f"program: {name} changes an argument in place, but the program written for it would leave "
        "its arguments as they are. Write x = x - m instead of x -= m, or change the argument "
        "before the call"
    )


def _is_equal(x: Any, y: Any) -> bool:
    if isinstance(x, ndarray) or isinstance(y, ndarray):
        return np.array_equal(x, y, equal_nan=np.result_type(x).kind == "f")
    return x is y or bool(x == y)


def _pairs(
    heads: Sequence[str], x: Any, y: Any, name: str
) -> Iterator[tuple[str, ndarray, ndarray]]:
    """Yield the numbers of the program and of the nodes, side by side, and a name for each pair."""
    parts = zip(heads, x, y, strict=True) if heads else [("result", x, y)]
    for head, mine, theirs in parts:
        yield from _within(head, mine, theirs, name)


def _within(where: str, x: Any, y: Any, name: str) -> Iterator[tuple[str, ndarray, ndarray]]:
    y = value(y)
    mine, theirs = _members(x), _members(y)
    if mine is not None and theirs is not None and list(mine) == list(theirs):
        for key in mine:
            yield from _within(f"{where}[{key!r}]", mine[key], theirs[key], name)
    elif _is_numeric(x) and _is_numeric(y) and np.shape(x) == np.shape(y):
        yield where, np.asarray(x), np.asarray(y)
    elif _is_numeric(x) or _is_numeric(y) or mine is not None or not _is_equal(x, y):
        raise _disagreement(name, where, x, y)


def _members(x: Any) -> dict[Any, Any] | None:
    if isinstance(x, dict):
        return x
    return dict(enumerate(x)) if isinstance(x, list | tuple) else None


def _is_numeric(x: Any) -> bool:
    return isinstance(x, int | float | np.generic | ndarray)


def _excess(x: ndarray, y: ndarray, coarsest: np.finfo[Any]) -> ndarray:
    """Return how far each entry of ``x`` is from ``y``, or 0 where it is close enough."""
    difference = _distance(x, y)
    sizes = np.abs(np.where(np.isfinite(y), y, 0).astype(float))
    if y.dtype.kind != "f":
        return difference
    allowed = math.sqrt(coarsest.eps) * (sizes + sizes.max(initial=0.0)) + float(coarsest.tiny)
    return np.where(difference <= allowed, 0.0, difference)


def _distance(x: ndarray, y: ndarray) -> ndarray:
    """Return how far each entry of ``x`` is from ``y``: 0 if both are nan, infinite if one is."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    same = (x == y) | (np.isnan(x) & np.isnan(y))
    difference = np.where(same, 0.0, np.abs(x - y))
    return np.where(np.isnan(difference), np.inf, difference)


def _spread(
    on_nodes: Callable[..., Any], call: CallArguments, expected: Sequence[ndarray], epsilon: float
) -> list[ndarray]:
    """Measure how far results on the nodes move when we round the arguments differently.

    By that much two right programs may differ: at ties and kinks, and where a result is what
    rounding has left of terms that cancel. If results differ for the very same arguments, they are
    no function of these, and rounding explains nothing. Terms may also cancel to the last bit on
    the nodes, however we round, and not in the program: so results may differ by a few roundings of
    the largest number on the way to them.
    """
    random = np.random.default_rng(0)
    with modes.watching(sizes := _Sizes()):
        again = on_nodes(*mapped(list(call), _copied))
    still = _moves(again, expected)
    if still is None or any(map(np.any, still)):
        return [np.zeros(y.shape) for y in expected]
    least = _ROUNDINGS * epsilon * sizes.largest / _MARGIN
    spread = [np.full(y.shape, least if y.dtype.kind == "f" else 0.0) for y in expected]

    def moved(x: Any) -> Any:
        if not _is_float(x):
            return x
        steps = random.choice([-2.0, -1.0, 1.0, 2.0], np.shape(x))
        return _like(x, x * (1.0 + epsilon * steps))

    for _ in range(_ASKED_AGAIN):
        try:
            again = on_nodes(*mapped(list(call), moved))
        except Exception:  # The arguments are at the edge of what the function takes.
            continue
        if moves := _moves(again, expected):
            spread = list(map(np.maximum, spread, moves))
    return spread


class _Sizes(modes.Watch):
    """Sees how large the numbers of a computation become, forward and backward."""

    largest = 0.0

    def forward(self, rule: Any, data: Any, inputs: Any) -> None:
        self._see(data)

    def backward(self, node: Any, parent: Any, share: Any, g: Any) -> None:
        self._see(value(share))

    def _see(self, x: Any) -> None:
        numbers = np.abs(np.asarray(x, float))
        self.largest = max(self.largest, numbers[np.isfinite(numbers)].max(initial=0.0))


def _moves(again: Any, expected: Sequence[ndarray]) -> list[ndarray] | None:
    """Measure how far the numbers of a result have moved; return None if shapes changed."""
    numbers = [np.asarray(y) for y in map(value, flat(again)) if _is_numeric(y)]
    if [y.shape for y in numbers] != [y.shape for y in expected]:
        return None
    return list(map(_distance, numbers, expected))


def _disagreement(name: str, where: str, x: Any, y: Any) -> TracingError:
    found, wanted, at = f"{x!r:.60}", f"{y!r:.60}", ""
    if isinstance(x, ndarray) and isinstance(y, ndarray) and x.shape == y.shape:
        worst = np.unravel_index(np.argmax(_distance(x, y)), x.shape)
        found, wanted = str(x[worst]), str(y[worst])
        at = f" at index {tuple(map(int, worst))}" if x.shape else ""
    return TracingError(
        f"program: the program written for {name} gives {found} for the {where}{at}, and nodes "
        f"give {wanted}. Does {name} decide by a type (isinstance, np.isscalar, hasattr), or read "
        "something that changes from call to call? Then call value_and_grad instead, or pass what "
        "decides as an int, a bool or a string. If it does neither, please report this error with "
        "the source below"
    )
