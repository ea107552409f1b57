"""A second witness: before a gradient is called wrong, the engine's own values are asked.

The first witness is the right gradient, by this package's engine. The second one is the slope of
the values that the engine computes itself, to the left and to the right of the point, each from two
steps. Where the two slopes differ there is a kink, and no gradient is right or wrong.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chaingrad.differences import is_kink, slopes
from chainlab.doctor.probe import as_numbers

_STEP = 2.0**-7  # and half of it: small for the curvature, large for the rounding of float32
_CLOSE = 5e-3  # relative: where two slopes count as one


@dataclass(frozen=True)
class Slopes:
    """The slopes of an engine's own values on both sides of a point; nan where it has no value."""

    left: float
    right: float

    @property
    def is_known(self) -> bool:
        """Return whether there are values on both sides."""
        return math.isfinite(self.left + self.right)

    @property
    def is_kink(self) -> bool:
        """Return whether the slopes differ."""
        return self.is_known and is_kink(self.left, self.right)

    def is_at(self, slope: float) -> bool:
        """Return whether both sides have this slope."""
        return _close(self.left, slope) and _close(self.right, slope)


def _close(a: float, b: float) -> bool:
    return abs(a - b) <= _CLOSE * max(1.0, abs(a), abs(b))


def slopes_at(
    engine: Any, f: Callable[..., Any], at: Sequence[Any], which: int, place: tuple[int, ...] = ()
) -> Slopes:
    """Return the slopes by one entry of one leaf, by the engine's values alone."""

    points = [np.array(x, float) for x in at]

    def value(moved: Any) -> float:
        given = [*points[:which], moved, *points[which + 1 :]]
        leaves = [engine.array(x) if x.shape else engine.leaf(float(x)) for x in given]
        try:
            found = as_numbers(engine.value(f(*leaves)))
        except Exception:
            return math.nan
        return math.nan if found is None or found.size != 1 else float(found.reshape(()))

    whole, half = (slopes(value, points[which], place, step) for step in (_STEP, _STEP / 2))
    # what is left of the curvature is of second order
    return Slopes(2 * half[0] - whole[0], 2 * half[1] - whole[1])


def defines_another(engine: Any, f: Callable[..., Any], at: Sequence[Any]) -> bool:
    """Return whether an engine's gradient, by the first leaf, is the slope of its own values."""
    leaves = [engine.array(x.copy()) if np.shape(x) else engine.leaf(float(x)) for x in at]
    try:
        engine.backward(f(*leaves))
        found = as_numbers(engine.gradient(leaves[0]))
    except Exception:
        return False
    if found is None or found.shape != np.shape(at[0]):
        return False
    places = np.ndindex(found.shape)
    return all(slopes_at(engine, f, at, 0, place).is_at(float(found[place])) for place in places)


def doubt(slopes: Slopes, came: float, right: float) -> str:
    """Return why a gradient is not called wrong, though it differs; empty if it is wrong.

    >>> doubt(Slopes(0.0, 1.0), came=0.5, right=0.0)
    'a kink: the slope is 0 on the left and 1 on the right'
    >>> doubt(Slopes(2.0, 2.0), came=3.0, right=2.0)
    ''
    """
    if slopes.is_kink:
        left, right_side = f"{slopes.left:.4g} on the left", f"{slopes.right:.4g} on the right"
        return f"a kink: the slope is {left} and {right_side}"
    if slopes.is_at(came) and not slopes.is_at(right):
        return f"the engine's own values have the slope {came:.6g}"
    return ""
