"""Gradients beside central differences."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from chaingrad import _tree, rules
from chaingrad.functional import _inner, _leaves, _node, grad
from chaingrad.node import Node, as_data


def check_gradients(
    f: Callable[..., Node],
    *args: Any,
    order: int = 1,
    step: float = 1e-6,
    rtol: float = 1e-5,
    atol: float = 1e-7,
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
        for index in np.ndindex(x.shape):
            h = step * max(1.0, abs(float(x[index])))
            sides = []
            for moved in (x[index] + h, x[index] - h):
                there = x.copy()
                there[index] = moved
                at = [*points[:number], there, *points[number + 1 :]]
                sides.append(total(*[Node(a) for a in at]).item())
            expected = (sides[0] - sides[1]) / (2 * h)
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
