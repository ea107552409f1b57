"""Slopes by differences, and gradients beside them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from chaingrad import _tree, rules
from chaingrad._floats import as_data
from chaingrad.functional import _inner, _leaves, _node, grad
from chaingrad.node import Node

STEP = 1e-6  # times the size of an entry, where that is above 1
RTOL, ATOL = 1e-5, 1e-7  # a gradient may differ from a central difference by this much
KINK = 1e-2  # slopes on either side that differ by more, relative to their size, make a kink

Index = tuple[int, ...]


def step_at(x: Any, step: float = STEP) -> float:
    """Return how far to move an entry of value ``x``."""
    return step * max(1.0, abs(float(x)))


def sides(f: Callable[[Any], float], x: Any, index: Index, step: float) -> tuple[float, float]:
    """Return what ``f`` gives with one entry of the array ``x`` moved down, and up, by ``step``."""
    down, up = x.copy(), x.copy()
    down[index] -= step
    up[index] += step
    return f(down), f(up)


def slopes(f: Callable[[Any], float], x: Any, index: Index, step: float) -> tuple[float, float]:
    """Return the slopes of ``f`` to the left and to the right of one entry of the array ``x``.

    >>> left, right = slopes(lambda x: float(abs(x).sum()), np.zeros(3), (1,), STEP)
    >>> left, right, is_kink(left, right)
    (-1.0, 1.0, True)
    """
    here = f(x)
    before, after = sides(f, x, index, step)
    return (here - before) / step, (after - here) / step


def is_kink(left: float, right: float) -> bool:
    """Return whether the slopes on either side differ by more than curvature explains."""
    return bool(abs(left - right) > KINK * max(1.0, abs(left), abs(right)))


def check_gradients(
    f: Callable[..., Node],
    *args: Any,
    order: int = 1,
    step: float = STEP,
    rtol: float = RTOL,
    atol: float = ATOL,
) -> float:
    """Check the gradient of ``f`` against central differences, in float64.

    Each entry of each argument is moved by plus and minus ``step`` (times its size, where that is
    above 1). The difference quotient errs by O(step²) plus rounding of about 1e-16/step, relative
    to the value: below the tolerances for smooth functions of moderate size. A function with
    several outputs is contracted with a fixed random vector, so its whole Jacobian takes part.

    Args:
        f: takes nodes, gives a node.
        args: where to check; in messages, the arrays of a container count as arguments.
        order: 1 checks the gradient; 2 also checks the gradient of the gradient.
        step, rtol, atol: of the comparison ``|ours - difference| <= atol + rtol * |difference|``.

    Returns:
        The largest difference found, divided by the tolerance at that entry (at most 1).

    Raises:
        AssertionError: an entry differs by more; the message gives argument, index and both values.
        ValueError: ``order`` is not 1 or 2, or there is nothing to check.

    >>> check_gradients(lambda x: x.exp() * x, 0.5) < 1
    True
    """
    if order not in (1, 2):
        raise ValueError(f"check_gradients: order must be 1 or 2; got {order!r}")
    points = [np.array(as_data(x), np.float64) for x in _leaves(args)]
    if not any(x.size for x in points):
        raise ValueError("check_gradients: give the arguments to differentiate by")

    def of_leaves(*xs: Any) -> Any:
        each = iter(xs)
        return f(*[_tree.rebuilt(x, each) for x in args])

    with np.errstate(all="ignore"):
        worst = _check_first_order(of_leaves, points, step, rtol, atol)
        if order == 2:
            random = np.random.default_rng(1)
            directions = [random.standard_normal(x.shape) for x in points]
            total = _contracted(of_leaves, points)

            def slope(*xs: Node) -> Any:
                gradients = grad(total, argnums=range(len(xs)))(*xs)
                return _inner(gradients, directions)

            second = _check_first_order(slope, points, step, rtol, atol, "second derivative")
            worst = max(worst, second)
    return worst


def _contracted(f: Callable[..., Node], points: Sequence[Any]) -> Callable[..., Node]:
    """Return ``f`` itself if it is scalar, else its product with a fixed random vector."""
    shape = _node(f(*[Node(x) for x in points]), f).shape
    if not shape:
        return f
    weights = np.random.default_rng(0).standard_normal(shape)
    return lambda *xs: rules.sum_(f(*xs) * weights)


def _check_first_order(
    f: Callable[..., Node],
    points: Sequence[np.ndarray[Any, Any]],
    step: float,
    rtol: float,
    atol: float,
    what: str = "derivative",
) -> float:
    total = _contracted(f, points)
    ours = grad(total, argnums=range(len(points)))(*points)
    worst = 0.0
    for number, (x, g) in enumerate(zip(points, ours, strict=True)):
        before, after = points[:number], points[number + 1 :]

        def value(moved: Any, before: Any = before, after: Any = after) -> float:
            return float(total(*map(Node, (*before, moved, *after))).item())

        for index in np.ndindex(x.shape):
            h = step_at(x[index], step)
            low, high = sides(value, x, index, h)
            expected = (high - low) / (2 * h)
            excess = abs(g[index] - expected) / (atol + rtol * abs(expected))
            if not excess <= 1:
                place = f"argument {number}" + (f" at index {index}" if x.ndim else "")
                raise AssertionError(
                    f"{what} by {place} is wrong: ours {float(g[index])!r}, central differences "
                    f"{float(expected)!r} (allowed difference {atol + rtol * abs(expected):.2g}); "
                    "at a kink differences mean nothing: move the point away from it"
                )
            worst = max(worst, float(excess))
    return worst
