"""Operations that are made of others, so that their derivatives of any order are those of others.

They take nodes; `chaingrad.node.Node` has them as methods.
"""

import math
from typing import Any

import numpy as np

from chaingrad import rules


def flatten(x: Any) -> Any:
    """All entries along one axis."""
    return rules.reshape(x, shape=(-1,))


def squeeze(x: Any, axis: Any = None) -> Any:
    """Drop the axes of size 1, or those named."""
    kept = np.squeeze(np.empty(x.shape, bool), axis).shape
    return rules.reshape(x, shape=kept)


def expand_dims(x: Any, axis: Any) -> Any:
    """Insert an axis of size 1 at each place named."""
    return rules.reshape(x, shape=np.expand_dims(np.empty(x.shape, bool), axis).shape)


def clip(x: Any, low: Any = None, high: Any = None) -> Any:
    """Entries limited to ``low`` and ``high``; the slope is 1 from bound to bound, 0 beyond.

    Raises:
        TypeError: a bound is a node, which would take a gradient too.
    """
    if any(isinstance(bound, rules.Traced) for bound in (low, high)):
        raise TypeError("clip: bounds are numbers or arrays; with nodes use maximum and minimum")
    low, high = (-np.inf if low is None else low), (np.inf if high is None else high)
    within = (x.data >= low) & (x.data <= high)
    outside = np.clip(x.data, low, high)
    return rules.where(x, np.asarray(outside, x.dtype), condition=within)


def var(x: Any, axis: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
    """The mean square of the distances from the mean, over n - ``ddof`` entries."""
    away = x - x.mean(axis=axis, keepdims=True)
    total = rules.sum_(away * away, axis=axis, keepdims=keepdims)
    count = x.size // max(total.size, 1) - ddof
    if count <= 0:
        raise ValueError(f"var: {count + ddof} entries are too few for ddof={ddof}")
    return total / float(count)


def root(square: Any) -> Any:
    """The square root, with slope 0 where the square is 0: as of a norm, whose tip is there."""
    zero = np.equal(square.data, 0)
    if not np.any(zero):
        return rules.sqrt(square)
    return rules.where(rules.sqrt(rules.where(square, 1.0, condition=~zero)), 0.0, condition=~zero)


def norm(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The root of the sum of squares; its gradient where all are 0 is taken as 0."""
    return root(rules.sum_(x * x, axis=axis, keepdims=keepdims))


def prod(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The product over ``axis``, by halves: right also where factors are 0."""
    shape = x.shape
    named = range(len(shape)) if axis is None else np.atleast_1d(axis)
    axes = {int(np.lib.array_utils.normalize_axis_index(i, len(shape))) for i in named}
    kept = [i for i in range(len(shape)) if i not in axes]
    count = math.prod(shape[i] for i in axes)
    factors = rules.transpose(x, axes=(*sorted(axes), *kept)) if kept and axes else x
    factors = rules.reshape(factors, shape=(count, *[shape[i] for i in kept]))
    if not count:
        factors = factors.sum(axis=0, keepdims=True) + 1.0
    while count > 1:
        half = count // 2
        odd = factors[2 * half :]
        factors = factors[:half] * factors[half : 2 * half]
        if odd.size:
            factors = rules.concatenate(factors, odd, axis=0)
        count = (count + 1) // 2
    if not keepdims:
        return factors[0]
    return rules.reshape(factors, shape=tuple(1 if i in axes else n for i, n in enumerate(shape)))


def sort(x: Any, axis: int = -1) -> Any:
    """The entries in rising order along ``axis``; each gradient goes back to where its entry was.

    Raises:
        TypeError: ``x`` is a number.
    """
    if not x.shape:
        raise TypeError("sort: a single number has no axis to sort along")
    index = list(np.ogrid[tuple(slice(n) for n in x.shape)])
    index[axis] = np.argsort(x.data, axis=axis, kind="stable")
    return x[tuple(index)]


def softplus(x: Any) -> Any:
    """log(1 + exp(x)), a smooth positive part, without overflow."""
    return rules.logaddexp(x, 0.0)


def logsigmoid(x: Any) -> Any:
    """The logarithm of the logistic function, -log(1 + exp(-x)), without overflow."""
    return -rules.logaddexp(-x, 0.0)
