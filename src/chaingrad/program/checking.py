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
from chaingrad.program.tracing import comparing
from chaingrad.rules import TracingError, value

ndarray = np.ndarray
Call = Callable[[Sequence[Any]], Any]
_CHOOSING = {
    "where", "maximum", "minimum", "absolute", "sign", "less", "less_equal", "greater",
    "greater_equal", "equal", "not_equal", "max", "min", "isfinite", "isinf", "isnan", "sort",
    "argsort", "argmax", "argmin",
}  # fmt: skip
_ROUNDINGS = 16  # of the largest number that is computed with, explain a difference


def compare(
    run: Call, on_nodes: Call, args: Sequence[Any], name: str, heads: Sequence[str], ops: set[str]
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
        ops: the names of the operations that the program was written from.

    Returns:
        What the nodes gave.

    Raises:
        TracingError: a result differs by more than rounding explains, or the function changes an
            argument in place.
    """
    comparison = _Comparison(run, on_nodes, name, heads)
    with np.errstate(all="ignore"), comparing():
        expected = comparison.at(args)
        for there in _elsewhere(args) if ops & _CHOOSING else ():
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
    """A program and the function, whose name and results have names in messages."""

    run: Call
    on_nodes: Call
    name: str
    heads: Sequence[str]

    def at(self, args: Sequence[Any], where_finite: bool = False) -> Any:
        """Compare at these arguments, with ``where_finite`` only if the nodes give finite numbers.

        Returns:
            What the nodes gave.
        """
        own = list(map(_copied, args))
        with modes.watching(numbers := _Numbers()):
            expected = self.on_nodes(own)
        if not all(map(_is_equal, args, own)):
            raise TracingError(
                f"program: {self.name} changes an argument in place, but the program written for "
                "it would leave its arguments as they are. Write x = x - m instead of x -= m, or "
                "change the argument before the call"
            )
        if where_finite and not all(map(_is_finite, map(value, flat(expected)))):
            return expected
        for where, x, y in self._pairs(self.run(list(map(_copied, args))), expected):
            if np.any(_distance(x, y) > numbers.allowed(y)):
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


def _distance(x: ndarray, y: ndarray) -> ndarray:
    """Return how far each entry of ``x`` is from ``y``: 0 if both are nan, infinite if one is."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    same = (x == y) | (np.isnan(x) & np.isnan(y))
    difference = np.where(same, 0.0, np.abs(x - y))
    return np.where(np.isnan(difference), np.inf, difference)


class _Numbers(modes.Watch):
    """Sees how large the numbers of a computation become, forward and backward, and how coarse.

    Terms may cancel to the last bit on the nodes, and not in the program: so results may differ by
    a few roundings of the largest number on the way to them.
    """

    largest, epsilon = 0.0, float(np.finfo(float).eps)

    def forward(self, rule: Any, data: Any, inputs: Any) -> None:
        self._see(data)

    def backward(self, node: Any, parent: Any, share: Any, g: Any) -> None:
        self._see(value(share))

    def _see(self, x: Any) -> None:
        if _is_float(x):
            numbers = np.abs(np.asarray(x, float))
            self.largest = max(self.largest, numbers[np.isfinite(numbers)].max(initial=0.0))
            self.epsilon = max(self.epsilon, float(np.finfo(np.result_type(x)).eps))

    def allowed(self, y: ndarray) -> Any:
        """Return how far a program's results may be from the entries of ``y``."""
        if y.dtype.kind != "f":
            return 0.0
        sizes = np.abs(np.where(np.isfinite(y), y, 0).astype(float))
        relative = math.sqrt(self.epsilon) * (sizes + sizes.max(initial=0.0))
        return relative + _ROUNDINGS * self.epsilon * self.largest
