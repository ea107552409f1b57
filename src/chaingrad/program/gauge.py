"""Maxima that drop out, as in softmax: no derivative has to go through them.

People subtract m = max(a) so that no exponential overflows. What they compute does not depend on
m, and so the derivative by m is 0, but each way on which m comes in sends a share, and it takes a
mask, a count of ties and three more passes over the array to find that they add up to nothing.

We follow m through the graph. Each node that it reaches is shifted, x + k m, or scaled, x exp(k m),
or free of it. If the root is free of it, whatever m is, so is the derivative. A node of which we
cannot say this ends the search, and the shares are computed as ever.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from chaingrad.backward import children_first
from chaingrad.program.tape import Recorded, example

Axes = tuple[int | None, ...]


@dataclass(frozen=True)
class Gauge:
    """How the values of a node depend on m.

    Attributes:
        how: "shifted" by k m or "scaled" by exp(k m).
        k: the number; it is not 0.
        along: for each axis of the values, the axis of m that runs along it.
    """

    how: str
    k: float
    along: Axes


Gauged = Gauge | None  # None where the values are free of m


class _LostError(Exception):
    """What a node does with m is none of that."""


def vanishing(root: Any) -> dict[Any, bool]:
    """Map each maximum and minimum below ``root`` to whether the derivative by it is 0."""
    order = children_first(root)[::-1]
    same: dict[Any, list[Any]] = defaultdict(list)  # up to whether they keep their axes
    for node in order:
        if node.rule.name in ("max", "min"):
            same[node.rule.name, node.parents[0].data, _axes(node)].append(node)
    return {m: free for nodes in same.values() for free in [_is_free(order, nodes)] for m in nodes}


def _is_free(order: Sequence[Any], maxima: Sequence[Any]) -> bool:
    """Return whether the last node stays what it is if the maxima, one number, are another."""
    found: dict[Any, Gauged] = {m: _without(m, _all_axes(m.parents[0]), _axes(m)) for m in maxima}
    first = order.index(maxima[0])
    for node in order[first:]:
        if node not in found and any(found.get(parent) for parent in node.parents):
            try:
                found[node] = _of(node, [found.get(parent) for parent in node.parents])
            except _LostError:
                return False
    return found.get(order[-1]) is None


def _all_axes(x: Any) -> Gauge:
    """Return the gauge of a maximum that is one for each entry of ``x``."""
    return Gauge("shifted", 1.0, tuple(i if n > 1 else None for i, n in enumerate(x.shape)))


def _axes(node: Any) -> tuple[int, ...]:
    """Return the axes along which a node reduces its operand."""
    axis, count = node.rule.options.get("axis"), node.parents[0].ndim
    if axis is None or not count:  # NumPy takes axis 0 of a number, too
        return tuple(range(count))
    return tuple(sorted({int(i) % count for i in np.atleast_1d(axis)}))


def _of(node: Any, gauges: Sequence[Gauged]) -> Gauged:
    name = node.rule.name
    if name in _OF_TWO:
        return _of_two(node, *gauges)
    gauge, *others = gauges
    follow = _OF_ONE.get(name)
    if follow is None or gauge is None or any(others):
        raise _LostError
    return follow(node, gauge)


def _check(holds: bool) -> None:
    if not holds:
        raise _LostError


# --- operations on two --------------------------------------------------------------------------


def _of_two(node: Any, a: Gauged, b: Gauged) -> Gauged:
    x, y = node.parents
    combine = _OF_TWO[node.rule.name]
    if b is None:
        assert a is not None
        return _aligned(combine(a, y), x, node)
    if a is None:
        return _aligned(_mirrored(node.rule.name, x, b), y, node)
    a, b = _aligned(a, x, node), _aligned(b, y, node)
    _check(a.how == b.how == _SAME[node.rule.name] and a.along == b.along)
    k = a.k + b.k if node.rule.name in ("add", "mul") else a.k - b.k
    return replace(a, k=k) if k else None


def _mirrored(name: str, x: Any, b: Gauge) -> Gauge:
    """Combine ``x``, which is free of m, with an operand to the right that is not."""
    if name == "div":
        _check(b.how == "scaled")
    found = _OF_TWO["mul" if name == "div" else "add" if name == "sub" else name](b, x)
    return replace(found, k=-found.k) if name in ("sub", "div") else found


def _shift(a: Gauge, other: Any) -> Gauge:
    _check(a.how == "shifted")
    return a


def _times(a: Gauge, other: Any) -> Gauge:
    return a if a.how == "scaled" else replace(a, k=a.k * _number(other))


def _over(a: Gauge, other: Any) -> Gauge:
    return a if a.how == "scaled" else replace(a, k=a.k / _number(other))


def _number(node: Any) -> float:
    """Return the one number, the same at each call and not 0, that a node holds."""
    data = node.data
    _check(not node.shape and (not isinstance(data, Recorded) or data.is_constant))
    number = float(example(data))
    _check(bool(np.isfinite(number)) and number != 0)
    return number


def _matmul(node: Any, a: Gauge) -> Gauge:
    """Multiply rows that are scaled, each as a whole, by a matrix that is free of m."""
    x, y = node.parents
    _check(a.how == "scaled" and a.along[-1] is None and x.ndim >= 2 and y.ndim >= 2)
    return _aligned(a, x, node)


def _aligned(gauge: Gauge, x: Any, node: Any) -> Gauge:
    """Broadcast ``x`` to the axes of the result."""
    return replace(gauge, along=(None,) * (node.ndim - x.ndim) + gauge.along)


_OF_TWO: dict[str, Callable[[Gauge, Any], Gauge]] = {
    "add": _shift, "sub": _shift, "mul": _times, "div": _over,
}  # fmt: skip
_SAME = {"add": "shifted", "sub": "shifted", "mul": "scaled", "div": "scaled"}


# --- operations whose first operand depends on m ------------------------------------------------


def _exp(node: Any, a: Gauge) -> Gauge:
    _check(a.how == "shifted")
    return replace(a, how="scaled")


def _log(node: Any, a: Gauge) -> Gauge:
    _check(a.how == "scaled")
    return replace(a, how="shifted")


def _reduced(node: Any, a: Gauge) -> Gauge:
    """Reduce along axes on which m is one number."""
    if node.rule.name == "sum":
        _check(a.how == "scaled")
    if node.rule.name == "logsumexp":
        _check(a.how == "shifted")
    axes = _axes(node)
    _check(all(a.along[i] is None for i in axes))
    return _without(node, a, axes)


def _without(node: Any, a: Gauge, axes: Sequence[int]) -> Gauge:
    """Drop the axes of a reduction, or keep them with size 1."""
    along = [None if i in axes else m for i, m in enumerate(a.along)]
    if not node.rule.options.get("keepdims"):
        along = [m for i, m in enumerate(along) if i not in axes]
    return replace(a, along=tuple(along))


def _reshaped(node: Any, a: Gauge) -> Gauge:
    """Add and drop axes of size 1, and no others."""
    left = _long(zip(node.parents[0].shape, a.along, strict=True))
    _check([n for n, _ in left] == [n for n in node.shape if n > 1])
    runs = iter(left)
    return replace(a, along=tuple(next(runs)[1] if n > 1 else None for n in node.shape))


def _long(axes: Iterable[tuple[int, int | None]]) -> list[tuple[int, int | None]]:
    return [(n, m) for n, m in axes if n > 1]


def _transposed(node: Any, a: Gauge) -> Gauge:
    axes = node.rule.options.get("axes") or range(node.ndim)[::-1]
    return replace(a, along=tuple(a.along[i] for i in axes))


def _repeated(node: Any, a: Gauge) -> Gauge:
    return _aligned(a, node.parents[0], node)


def _picked(node: Any, a: Gauge) -> Gauge:
    """Pick entries, but keep every axis on which m changes whole and in order."""
    if not any(m is not None for m in a.along):
        return replace(a, along=(None,) * node.ndim)
    index = node.rule.options["index"]
    parts = list(index) if isinstance(index, tuple) else [index]
    _check(all(p is not ... for p in parts))
    arrays = [p for p in parts if not isinstance(p, slice | int) and p is not None]
    if arrays:  # as z[np.arange(n), labels]
        _check(len(arrays) == len(parts) == len(a.along) and all(np.ndim(p) == 1 for p in arrays))
        runs = [m for p, m in zip(parts, a.along, strict=True) if m is not None]
        held = [p for p, m in zip(parts, a.along, strict=True) if m is not None]
        _check(len(runs) <= 1 and all(_is_all(p, node.shape[0]) for p in held))
        return replace(a, along=(runs[0] if runs else None,))
    along: list[int | None] = []
    left = list(a.along)
    for part in parts:
        if part is None:
            along.append(None)
            continue
        m = left.pop(0)
        whole = isinstance(part, slice) and part == slice(None)
        _check(m is None or whole)
        if isinstance(part, slice):
            along.append(m)
    return replace(a, along=(*along, *left))


def _is_all(part: Any, count: int) -> bool:
    if isinstance(part, Recorded):
        return part.is_constant and _is_all(part.example, count)
    return np.array_equal(part, np.arange(count))


_OF_ONE: dict[str, Callable[[Any, Gauge], Gauge]] = {
    "exp": _exp, "log": _log, "reshape": _reshaped, "transpose": _transposed,
    "broadcast_to": _repeated, "getitem": _picked, "matmul": _matmul,
    "neg": lambda node, a: replace(a, k=-a.k) if a.how == "shifted" else a,
    **dict.fromkeys(("alias", "cast"), lambda node, a: a),
    **dict.fromkeys(("sum", "mean", "max", "min", "logsumexp"), _reduced),
}  # fmt: skip
