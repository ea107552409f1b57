"""Products of some factors of many: without division, which fails at a factor 0.

Nor do they overflow or vanish on the way to a result that doesn't: `math.frexp` takes apart each
factor, and the exponents are added up.
"""

from typing import Any

import numpy as np

_FAR = 5000  # an exponent beyond those of floats, and within those that `numpy.ldexp` takes


def without_each(factors: Any) -> Any:
    """Multiply along the first axis all factors but one, for each of them.

    By halves: the product of all outside a half is that outside of both, times the other half.

    >>> without_each(np.array([2.0, 0.0, 5.0])).tolist()
    [0.0, 10.0, 0.0]
    """
    level = _taken_apart(np.asarray(factors, np.float64))
    levels = []
    while len(level[0]) > 1:
        if len(level[0]) % 2:
            one = np.ones((1, *np.shape(factors)[1:]))
            level = _joined(level, _taken_apart(one))
        half = len(level[0]) // 2
        first, second = (level[0][:half], level[1][:half]), (level[0][half:], level[1][half:])
        levels.append((first, second))
        level = _times(first, second)
    others = _taken_apart(np.ones_like(level[0]))
    for first, second in reversed(levels):
        count = len(first[0])
        others = others[0][:count], others[1][:count]  # without the one that made the count even
        others = _joined(_times(others, second), _times(others, first))
    return _put_together(*(x[: len(factors)] for x in others))


def up_to_each(factors: Any) -> Any:
    """Multiply along the first axis all factors up to each, by doubling."""
    level, step = _taken_apart(np.asarray(factors, np.float64)), 1
    while step < len(factors):
        before, after = (level[0][:-step], level[1][:-step]), (level[0][step:], level[1][step:])
        level = _joined((level[0][:step], level[1][:step]), _times(before, after))
        step *= 2
    return _put_together(*level)


def may_lose_a_part(factors: Any) -> bool:
    """Return whether part of a product along the first axis may overflow, or vanish for no reason.

    If no factor is larger than 1, the whole vanishes with its part.
    """
    x = np.abs(np.asarray(factors))
    limits = np.finfo(x.dtype)
    most = min(limits.maxexp, -limits.minexp) - 2
    with np.errstate(divide="ignore"):
        powers = np.log2(x, dtype=np.float64 if x.dtype == np.float64 else np.float32)
    up = np.where(np.isfinite(powers) & (powers > 0), powers, 0.0).sum(axis=0)
    down = np.where(np.isfinite(powers) & (powers < 0), -powers, 0.0).sum(axis=0)
    return bool(np.any((up > most) | (down > most) & (up > 1)))


def without_both(factors: Any) -> Any:
    """Multiply along the first axis all factors but two, for each two; 0 for one and itself."""
    count = len(factors)
    same = np.eye(count, dtype=bool).reshape(count, count, *[1] * (np.ndim(factors) - 1))
    return np.where(same, 0.0, without_each(np.where(same, 1.0, np.asarray(factors)[:, None])))


def _taken_apart(x: Any) -> tuple[Any, Any]:
    mantissas, exponents = np.frexp(x)
    return mantissas, exponents.astype(np.int64)


def _put_together(mantissas: Any, exponents: Any) -> Any:
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(mantissas, np.clip(exponents, -_FAR, _FAR))


def _times(a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
    mantissas, exponents = _taken_apart(a[0] * b[0])
    return mantissas, exponents + a[1] + b[1]


def _joined(a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
    return np.concatenate([a[0], b[0]]), np.concatenate([a[1], b[1]])
