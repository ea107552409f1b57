"""Shares of an adjoint, brought to the shape of a parent and added up."""

from typing import Any

import numpy as np

from chaingrad._wording import describe, kind
from chaingrad.rules import (
    Traced,
    cast,
    float_dtype,
    is_number,
    is_symbol,
    reshape,
    shape_of,
    sum_,
    unbroadcast,
    value,
)

ndarray = np.ndarray


def fit(share: Any, parent: Any, child: Any) -> Any:
    """Bring a share to the shape and dtype of the parent, undoing broadcasting.

    Raises:
        TypeError, ValueError: it is not numeric, or of a shape that no broadcasting explains: the
            VJP of the child's rule is wrong.
    """
    data = parent.data
    if type(share) is type(data) is ndarray:
        if share.dtype is data.dtype and share.shape == data.shape:
            return share
    elif type(share) is float is type(data):
        return share
    if isinstance(share, np.floating) and type(data) is ndarray and not data.shape:
        return np.asarray(share, float_dtype(data))  # what NumPy makes of 0-d arrays
    if not isinstance(share, Traced | ndarray | np.generic | float | int):
        raise TypeError(
            f"the VJP of {child.op} for {describe(parent)} must give a number, an array or a node; "
            f"it gave {kind(share)}"
        )
    shape = shape_of(data)
    if shape_of(share) != shape:
        try:
            share = unbroadcast(share, shape)
        except ValueError as error:
            raise ValueError(f"the VJP of {child.op} for {describe(parent)}: {error}") from None
    if isinstance(share, Traced):
        return _of_dtype(share, data)
    if np.iscomplexobj(share):
        raise TypeError(
            f"the VJP of {child.op} for {describe(parent)} gave complex numbers; take the real part"
        )
    return float(share) if is_number(data) else np.asarray(share, float_dtype(data))


def _of_dtype(share: Any, data: Any) -> Any:
    if is_symbol(share) and is_number(data):
        return share.settled(number=True)
    same = float_dtype(share.data) == float_dtype(data)
    return _of_kind(share if same else cast(share, dtype=float_dtype(data)), data)


def _of_kind(share: Any, data: Any) -> Any:
    """Make a node hold a number beside a number, and an array without axes beside such an array."""
    kinds = type(share.data), type(data)
    if kinds == (ndarray, float):
        return sum_(share)
    return reshape(share, shape=()) if kinds == (float, ndarray) else share


def added(known: Any, share: Any) -> Any:
    total = known + share
    if type(total) is float or (type(total) is ndarray and total.dtype is known.dtype):
        return total
    # NumPy makes a number of two arrays without axes, and the order of bytes the machine's own
    if isinstance(total, Traced):
        return total if is_symbol(total) else _of_dtype(total, value(known))
    return np.asarray(total, known.dtype)


def zeros(data: Any) -> Any:
    """Return the share of a node that holds ``data`` when nothing sends it one: zeros."""
    return 0.0 if type(data) is float else np.zeros_like(data)


def copy_if_view(g: Any) -> Any:
    """Return ``g``, or a copy if it is a view, since a view may show an array of another node."""
    return g.copy() if type(g) is ndarray and g.base is not None else g


def accumulated(before: Any, g: Any) -> Any:
    """Add the gradient that a pass has found to the gradient that the leaf had before."""
    if type(before) is float is type(g):
        return before + g
    untouched = before is None or (type(before) is float and before == 0.0)
    if not untouched and shape_of(before) not in ((), shape_of(g)):
        raise ValueError(
            f"a grad of shape {shape_of(before)} was there before, to which a gradient of shape "
            f"{shape_of(g)} cannot be added: set grad = 0.0"
        )
    return copy_if_view(g) if untouched else added(before, g)
