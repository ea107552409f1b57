"""A program beside the function that it was written for: the nodes are the reference.

What decides by the type of a value, or by something that it keeps from call to call, takes another
course while it is traced than on nodes. So may a fault of this package. Both show where the program
and the nodes give different results for the same arguments.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chaingrad import modes
from chaingrad._tree import flat
from chaingrad.program.tape import Tape
from chaingrad.program.tracing import comparing
from chaingrad.rules import TracingError, value

ndarray = np.ndarray
Call = Callable[[Sequence[Any]], Any]
_CHOOSING = {
    "where", "maximum", "minimum", "absolute", "sign", "less", "less_equal", "greater",
    "greater_equal", "equal", "not_equal", "max", "min", "isfinite", "isinf", "isnan", "sort",
    "argsort", "argmax", "argmin",
}  # fmt: skip
_REPEATS = 4  # where results differ
_MARGIN = 32  # what rounding makes of the nodes' results, times this, explains a difference
_ROUNDINGS = 16  # of the largest number that is computed with, explain a difference


def compare(
    run: Call, on_nodes: Call, args: Sequence[Any], name: str, heads: Sequence[str], tape: Tape
) -> Any:
    """Call a program and the function it was written for, and compare their results.

    If there are conditions among the operations, compare on their other sides as well: with the
    floats' signs turned, and with their entries mixed. Where the function doesn't take such
    arguments, or gives what isn't finite, there is nothing to compare.

    Args:
        run: the program.
        on_nodes: the function and its derivative, computed by nodes.
        args: the arguments, which stay as they are.
        name: of the function, for messages.
        heads: what the members of the result are called there; none for a single result.
        tape: what the program was written from.

    Returns:
        What the nodes gave.

    Raises:
        TracingError: a result differs by more than rounding explains, or the function changes an
            argument in place.
    """
    comparison = _Comparison(run, on_nodes, name, heads, tape.floats)
    with np.errstate(all="ignore"), comparing(), modes.watching(None):
        expected = comparison.at(args)
        for there in _elsewhere(args) if tape.ops & _CHOOSING else ():
            try:
                comparison.at(there, where_finite=True)
            except TracingError:
                raise
            except Exception:  # The function doesn't take these, or Python's math raises.
                continue
    return expected


def _elsewhere(args: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Yield the arguments with the signs of their floats turned, and with their entries mixed."""
    random = np.random.default_rng(0)

    def mixed(x: Any) -> Any:
        signs = random.choice([-1.5, -0.5, 0.5, 1.5], np.shape(x))
        return random.permutation(np.ravel(x)).reshape(np.shape(x)) * signs

    yield _with_floats(args, lambda x: 0.0 - x)
    yield _with_floats(args, mixed)


def _with_floats(args: Sequence[Any], change: Callable[[Any], Any]) -> list[Any]:
    """Return the arguments with all floats changed, and arrays copied."""
    return [_like(x, change(x)) if _is_float(x) else _copied(x) for x in args]


@dataclass(frozen=True)
class _Comparison:
    """A program and the function; ``floats`` are the dtypes of floats that the program met."""

    run: Call
    on_nodes: Call
    name: str
    heads: Sequence[str]
    floats: set[np.dtype[Any]]

    def at(self, args: Sequence[Any], where_finite: bool = False) -> Any:
        """Compare at these arguments, with ``where_finite`` only if the nodes give finite numbers.

        Returns:
            What the nodes gave.
        """
        own = list(map(_copied, args))
        expected = self.on_nodes(own)
        if not all(map(_is_equal, args, own)):
            raise TracingError(
                f"program: {self.name} changes an argument in place, but the program written for "
                "it would leave its arguments as they are. Write x = x - m instead of x -= m, or "
                "change the argument before the call"
            )
        if where_finite and not all(map(_is_finite, map(value, flat(expected)))):
            return expected
        pairs = list(self._pairs(self.run(list(map(_copied, args))), expected))
        dtypes = self.floats | {y.dtype for *_, y in pairs if y.dtype.kind == "f"}
        coarsest = max(map(np.finfo, dtypes | {np.dtype(float)}), key=lambda t: float(t.eps))
        excess = [_excess(x, y, coarsest) for _, x, y in pairs]
        if not any(map(np.any, excess)):
            return expected
        spread = _spread(self.on_nodes, args, [y for *_, y in pairs], float(coarsest.eps))
        for (where, x, y), beyond, rounding in zip(pairs, excess, spread, strict=True):
            if np.any(beyond > _MARGIN * rounding):
                raise self._disagreement(where, x, y)
        return expected

    def _pairs(self, x: Any, y: Any) -> Iterator[tuple[str, ndarray, ndarray]]:
        """Yield the numbers of the program and of the nodes, side by side, and what they are."""
        parts = zip(self.heads, x, y, strict=True) if self.heads else [("result", x, y)]
        for head, mine, theirs in parts:
            yield from self._within(head, mine, theirs)

    def _within(self, where: str, x: Any, y: Any) -> Iterator[tuple[str, ndarray, ndarray]]:
        y = value(y)
        if isinstance(x, list | tuple) and isinstance(y, list | tuple) and len(x) == len(y):
            for i, (mine, theirs) in enumerate(zip(x, y, strict=True)):
                yield from self._within(f"{where}[{i}]", mine, theirs)
        elif _is_numeric(x) and _is_numeric(y) and np.shape(x) == np.shape(y):
            yield where, np.asarray(x), np.asarray(y)
        elif _is_numeric(x) or _is_numeric(y) or not _is_equal(x, y):
            raise self._disagreement(where, x, y)

    def _disagreement(self, where: str, x: Any, y: Any) -> TracingError:
        found, wanted, at = f"{x!r:.60}", f"{y!r:.60}", ""
        if isinstance(x, ndarray) and isinstance(y, ndarray) and x.shape == y.shape:
            worst = np.unravel_index(np.argmax(_distance(x, y)), x.shape)
            found, wanted = str(x[worst]), str(y[worst])
            at = f" at index {tuple(map(int, worst))}" if x.shape else ""
        return TracingError(
            f"program: the program written for {self.name} gives {found} for the {where}{at}, and "
            f"nodes give {wanted}. Does {self.name} decide by a type (isinstance, np.isscalar, "
            "hasattr), or read something that changes from call to call? Then call value_and_grad "
            "instead, or pass what decides as an int, a bool or a string. If it does neither, "
            "please report this error with the source below"
        )


def _is_numeric(x: Any) -> bool:
    return isinstance(x, int | float | np.generic | ndarray)


def _is_finite(x: Any) -> bool:
    return not _is_numeric(x) or bool(np.all(np.isfinite(x)))


def _is_float(x: Any) -> bool:
    return isinstance(x, float | np.floating | ndarray) and np.result_type(x).kind == "f"


def _like(x: Any, y: Any) -> Any:
    """Return ``y`` as the kind of number or array that ``x`` is."""
    return np.asarray(y, x.dtype) if isinstance(x, ndarray) else type(x)(y)


def _copied(x: Any) -> Any:
    if isinstance(x, ndarray):
        return x.copy(order="K")
    return list(x) if isinstance(x, list) else x


def _is_equal(x: Any, y: Any) -> bool:
    if isinstance(x, ndarray) or isinstance(y, ndarray):
        return np.array_equal(x, y, equal_nan=np.result_type(x).kind == "f")
    return x is y or bool(x == y)


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
    on_nodes: Call, args: Sequence[Any], expected: Sequence[ndarray], epsilon: float
) -> list[ndarray]:
    """Measure how far results on the nodes move when we round the arguments differently.

    By that much two right programs may differ: at ties and kinks, and where a result is what
    rounding has left of terms that cancel. If results differ for the very same arguments, they are
    no function of these, and rounding explains nothing. Terms may also cancel to the last bit on
    the nodes, however we round, and not in the program: so results may differ by a few roundings of
    the largest number on the way to them.
    """
    random = np.random.default_rng(0)

    def rounded(x: Any) -> Any:
        return x * (1.0 + epsilon * random.choice([-2.0, -1.0, 1.0, 2.0], np.shape(x)))

    with modes.watching(sizes := _Sizes()):
        still = _moves(on_nodes(list(map(_copied, args))), expected)
    if still is None or any(map(np.any, still)):
        return [np.zeros(y.shape) for y in expected]
    least = _ROUNDINGS * epsilon * sizes.largest / _MARGIN
    spread = [np.full(y.shape, least if y.dtype.kind == "f" else 0.0) for y in expected]
    for _ in range(_REPEATS):
        try:
            again = on_nodes(_with_floats(args, rounded))
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
