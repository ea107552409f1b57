"""Arrays that repeat one entry: made without copying it, and multiplied as one number."""

from collections.abc import Sequence
from typing import Any

import numpy as np


def repeated_entry(entry: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """Make a read-only array that repeats one entry: a much faster np.broadcast_to."""
    return np.ndarray(shape, entry.dtype, entry.tobytes(), 0, (0,) * len(shape))


def uniform_entry(g: Any) -> Any:
    """Return ``g`` as a float if it has, or repeats, one entry: floats multiply faster."""
    if type(g) is np.ndarray and g.size and not any(g.strides):
        return g.item(0)
    return g
