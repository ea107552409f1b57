"""NumPy's functions that move, join, cut and sum up arrays, of nodes: made of the engine's rules.

Each has NumPy's name, signature and value, and derivatives of any order by those of its parts. An
operand that is no node is a constant.
"""

import math
import operator
import string
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from chaingrad import operations, rules
from chaingrad._products import may_lose_a_part
from chaingrad.rules import Traced, is_symbol, may_hold, value

Index = Any


def _node(x: Any) -> Any:
    return x if isinstance(x, Traced) and not is_symbol(x) else Traced._constant(x)


def _at(a: Any, axis: int, index: Index) -> Any:
    """Index along one axis."""
    return rules.getitem(a, index=(*[slice(None)] * axis, index))


# --- axes ---------------------------------------------------------------------------------------


def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    """Exchange two axes."""
    first, second = (normalize_axis_index(axis, a.ndim) for axis in (axis1, axis2))
    order = [*range(a.ndim)]
    order[first], order[second] = second, first
    return a.transpose(order)


def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    """Move axes to other positions; the others keep their order."""
    taken = normalize_axis_tuple(source, a.ndim, "source")
    put = normalize_axis_tuple(destination, a.ndim, "destination")
    if len(taken) != len(put):
        raise ValueError("moveaxis: source and destination must have equally many axes")
    order = [axis for axis in range(a.ndim) if axis not in taken]
    for to, axis in sorted(zip(put, taken, strict=True)):
        order.insert(to, axis)
    return a.transpose(order)


def matrix_transpose(x: Any) -> Any:
    """Transpose the last two axes.

    Raises:
        ValueError: there are fewer.
    """
    if x.ndim < 2:
        raise ValueError(f"matrix_transpose needs two axes; got shape {x.shape}")
    return swapaxes(x, -1, -2)


def _atleast(count: int, places: Sequence[Sequence[int]], operands: Sequence[Any]) -> Any:
    found = []
    for x in map(_node, operands):
        new = places[x.ndim] if x.ndim < count else ()
        found.append(operations.expand_dims(x, tuple(new)) if new else x)
    return found[0] if len(found) == 1 else tuple(found)


def atleast_1d(*arys: Any) -> Any:
    """Give numbers an axis."""
    return _atleast(1, [(0,)], arys)


def atleast_2d(*arys: Any) -> Any:
    """Give numbers and vectors axes in front, up to two."""
    return _atleast(2, [(0, 1), (0,)], arys)


def atleast_3d(*arys: Any) -> Any:
    """Give what has fewer axes than three new ones, where NumPy does."""
    return _atleast(3, [(0, 1, 2), (0, 2), (2,)], arys)


# --- moving entries -----------------------------------------------------------------------------


def flip(m: Any, axis: Any = None) -> Any:
    """Reverse the entries along axes, by default along all of them."""
    axes = range(m.ndim) if axis is None else normalize_axis_tuple(axis, m.ndim)
    turned = tuple(slice(None, None, -1) if i in axes else slice(None) for i in range(m.ndim))
    return rules.getitem(m, index=turned)


def fliplr(m: Any) -> Any:
    """Reverse the columns."""
    return flip(m, 1)


def flipud(m: Any) -> Any:
    """Reverse the rows."""
    return flip(m, 0)


def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """Shift entries along axes, those at the end back to the beginning."""
    if axis is None:
        return operations.reshaped(roll(operations.flatten(a), shift, 0), a.shape)
    shifts = np.broadcast(shift, normalize_axis_tuple(axis, a.ndim, allow_duplicate=True))
    for by, along in shifts:
        count = a.shape[along]
        if count and (cut := int(by) % count):
            ends = slice(count - cut, None), slice(count - cut)
            a = rules.concatenate(*(_at(a, along, end) for end in ends), axis=along)
    return a


def take(a: Any, indices: Any, axis: int | None = None) -> Any:
    """Pick entries along an axis, by default of all entries in a row."""
    a, axis = operations.along_an_axis(a, axis)
    picked = indices if is_symbol(indices) else np.array(indices)  # a copy: it may change later
    return _at(a, axis, picked)


def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Any:
    """Pick along an axis, at each place of the others by indices of its own."""
    if axis is None:
        arr, axis = operations.flatten(arr), 0
    axis = normalize_axis_index(axis, arr.ndim)
    shape = (*arr.shape[:axis], 1, *arr.shape[axis + 1 :])
    index: list[Any] = list(np.ogrid[tuple(slice(n) for n in shape)])
    index[axis] = indices if is_symbol(indices) else np.array(indices)
    return rules.getitem(arr, index=tuple(index))


def repeat(a: Any, repeats: Any, axis: int | None = None) -> Any:
    """Repeat each entry, along an axis or of all entries in a row."""
    a, axis = operations.along_an_axis(a, axis)
    if np.ndim(repeats):
        return _at(a, axis, np.repeat(np.arange(a.shape[axis]), repeats))
    before, count, after = a.shape[:axis], a.shape[axis], a.shape[axis + 1 :]
    apart = operations.reshaped(a, (*before, count, 1, *after))
    many = rules.broadcast_to(apart, shape=(*before, count, operator.index(repeats), *after))
    return operations.reshaped(many, (*before, count * operator.index(repeats), *after))


def tile(A: Any, reps: Any) -> Any:
    """Repeat the whole array, along each axis as often as ``reps`` says."""
    counts = tuple(map(operator.index, np.atleast_1d(reps).tolist()))
    axes = max(len(counts), A.ndim)
    counts = (1,) * (axes - len(counts)) + counts
    shape = (1,) * (axes - A.ndim) + A.shape
    apart = operations.reshaped(A, tuple(m for n in shape for m in (1, n)))
    many = rules.broadcast_to(
        apart, shape=tuple(m for pair in zip(counts, shape, strict=True) for m in pair)
    )
    return operations.reshaped(many, tuple(map(operator.mul, counts, shape)))


def pad(array: Any, pad_width: Any, mode: str = "constant", **kwargs: Any) -> Any:
    """Put entries before and behind along each axis: numbers, or by ``mode`` entries again.

    Modes: "constant" (with ``constant_values``), "edge", "reflect", "symmetric", "wrap".

    Raises:
        TypeError: another mode, which computes what it puts there.
    """
    if mode == "constant":
        one: Any = np.pad(np.zeros((1,) * array.ndim, array.dtype), pad_width, **kwargs)
        shape = tuple(n + m - 1 for n, m in zip(array.shape, one.shape, strict=True))
        widths = np.broadcast_to(_widths(pad_width, array.ndim), (array.ndim, 2)).tolist()
        inside = tuple(
            slice(before, before + n) for (before, _), n in zip(widths, array.shape, strict=True)
        )
        padded = rules.scatter(array, index=inside, shape=shape)
        if not one.any():
            return padded
        return padded + np.pad(np.zeros(array.shape, array.dtype), pad_width, **kwargs)
    if mode not in ("edge", "reflect", "symmetric", "wrap"):
        raise TypeError(
            f"pad: mode {mode!r} has no derivative here; constant, edge, reflect, symmetric and "
            "wrap have"
        )
    places: Any = np.arange(array.size).reshape(array.shape)
    how: Any = mode
    places = np.pad(places, pad_width, how, **kwargs)
    return rules.getitem(operations.flatten(array), index=places)


def _widths(pad_width: Any, axes: int) -> Any:
    """Return what NumPy makes of a width: (before, behind) for each axis, or for all."""
    if isinstance(pad_width, dict):
        found = [(0, 0)] * axes
        for axis, width in pad_width.items():
            found[axis] = (width, width) if np.ndim(width) == 0 else tuple(width)
        return found
    return np.atleast_1d(pad_width)


# --- joining and cutting ------------------------------------------------------------------------


def append(arr: Any, values: Any, axis: int | None = None) -> Any:
    """Join two arrays along an axis, by default all entries in a row."""
    return operations.concatenate([_node(arr), _node(values)], axis)


def hstack(tup: Any) -> Any:
    """Join side by side: along the second axis, vectors along their only one."""
    arrays = [atleast_1d(x) for x in tup]
    return operations.concatenate(arrays, 0 if arrays and arrays[0].ndim == 1 else 1)


def vstack(tup: Any) -> Any:
    """Join one above the other; vectors are rows."""
    return operations.concatenate([atleast_2d(x) for x in tup], 0)


def dstack(tup: Any) -> Any:
    """Join along the third axis."""
    return operations.concatenate([atleast_3d(x) for x in tup], 2)


def column_stack(tup: Any) -> Any:
    """Join side by side; vectors are columns."""
    arrays = map(_node, tup)
    columns = [x if x.ndim > 1 else operations.reshaped(x, (-1, 1)) for x in arrays]
    return operations.concatenate(columns, 1)


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Cut along an axis: at indices, or into equally many entries each.

    Raises:
        ValueError: the entries cannot be divided equally.
    """
    sections = indices_or_sections
    if np.ndim(sections) == 0 and ary.shape[axis] % operator.index(sections):
        raise ValueError("array split does not result in an equal division")
    return array_split(ary, sections, axis)


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Cut along an axis: at indices, or into so many parts of nearly equal size."""
    axis = normalize_axis_index(axis, ary.ndim)
    places = np.array_split(np.arange(ary.shape[axis]), indices_or_sections)
    return [_at(ary, axis, slice(i[0], i[-1] + 1) if i.size else slice(0)) for i in places]


def hsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """Cut along the second axis, or the only one."""
    return split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


def vsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """Cut along the first axis."""
    return split(ary, indices_or_sections, 0)


# --- diagonals and triangles --------------------------------------------------------------------


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Return the entries on a diagonal, along a new last axis."""
    a = moveaxis(a, (axis1, axis2), (-2, -1))
    rows, columns = a.shape[-2:]
    above, below = max(offset, 0), max(-offset, 0)
    places = np.arange(max(min(rows - below, columns - above), 0))
    return rules.getitem(a, index=(..., places + below, places + above))


def diag(v: Any, k: int = 0) -> Any:
    """Return a diagonal of a matrix, or a matrix with a vector on its diagonal and zeros.

    Raises:
        ValueError: it is neither.
    """
    if v.ndim == 2:
        return diagonal(v, k)
    if v.ndim != 1:
        raise ValueError(f"diag: a vector or a matrix is needed; got shape {v.shape}")
    places, count = np.arange(v.size), v.size + abs(k)
    index = (places + max(-k, 0), places + max(k, 0))
    return rules.scatter(v, index=index, shape=(count, count))


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Sum up a diagonal."""
    return diagonal(a, offset, axis1, axis2).sum(axis=-1)


def _triangle(m: Any, k: int) -> Any:
    shape = m.shape[-2:]
    return np.tri(shape[0], shape[-1], k, dtype=bool)  # a vector is every row of a square


def tril(m: Any, k: int = 0) -> Any:
    """Keep what is on and below a diagonal; the rest is 0."""
    return rules.where(m, 0.0, condition=_triangle(m, k))


def triu(m: Any, k: int = 0) -> Any:
    """Keep what is on and above a diagonal; the rest is 0."""
    return rules.where(0.0, m, condition=_triangle(m, k - 1))


# --- products -----------------------------------------------------------------------------------


def inner(a: Any, b: Any) -> Any:
    """Multiply and sum over the last axis of both."""
    a, b = _node(a), _node(b)
    if not a.ndim or not b.ndim:
        return a * b
    return tensordot(a, b, axes=(-1, -1))


def vdot(a: Any, b: Any) -> Any:
    """Multiply entry by entry, of both in a row, and sum up."""
    a, b = _node(a), _node(b)
    if a.size != b.size:
        raise ValueError(f"vdot: equally many entries are needed; got {a.size} and {b.size}")
    return operations.flatten(a) @ operations.flatten(b)


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """Multiply and sum over axes: the last of ``a`` and first of ``b``, or those that are named."""
    a, b = _node(a), _node(b)
    if isinstance(axes, int | np.integer):
        axes = range(a.ndim - int(axes), a.ndim), range(int(axes))
    of_a, of_b = map(normalize_axis_tuple, axes, (a.ndim, b.ndim))
    if [a.shape[i] for i in of_a] != [b.shape[i] for i in of_b]:
        raise ValueError(f"tensordot: shapes {a.shape} and {b.shape} do not fit on those axes")
    letters = string.ascii_letters
    left, right = list(letters[: a.ndim]), list(letters[a.ndim : a.ndim + b.ndim])
    for i, j in zip(of_a, of_b, strict=True):
        right[j] = left[i]
    kept = [c for i, c in enumerate(left) if i not in of_a]
    kept += [c for j, c in enumerate(right) if j not in of_b]
    return operations.einsum(f"{''.join(left)},{''.join(right)}->{''.join(kept)}", a, b)


def kron(a: Any, b: Any) -> Any:
    """Put ``b``, times each entry of ``a``, in that entry's place."""
    a, b = _node(a), _node(b)
    axes = max(a.ndim, b.ndim)
    shapes = [(1,) * (axes - x.ndim) + x.shape for x in (a, b)]
    wide = operations.reshaped(a, tuple(m for n in shapes[0] for m in (n, 1)))
    narrow = operations.reshaped(b, tuple(m for n in shapes[1] for m in (1, n)))
    return operations.reshaped(wide * narrow, tuple(map(operator.mul, *shapes)))


# --- sums, products and places along an axis ----------------------------------------------------


def diff(a: Any, n: int = 1, axis: int = -1) -> Any:
    """Subtract neighbours along an axis, ``n`` times.

    Raises:
        ValueError: ``n`` is negative.
    """
    if n < 0:
        raise ValueError(f"diff: n must be 0 or more; got {n}")
    axis = normalize_axis_index(axis, a.ndim)
    for _ in range(n):
        a = _at(a, axis, slice(1, None)) - _at(a, axis, slice(-1))
    return a


def cumprod(a: Any, axis: int | None = None) -> Any:
    """Multiply up to each entry; gradients are right even if factors are 0.

    By doubling: after k rounds each entry is the product of up to 2^k. Where that could overflow or
    vanish though the result doesn't, a rule of its own computes it.
    """
    (a, axis), step = operations.along_an_axis(a, axis), 1
    if not is_symbol(value(a)) and may_lose_a_part(np.moveaxis(value(a), axis, 0)):
        return moveaxis(operations.up_to_each_(moveaxis(a, axis, 0)), 0, axis)
    while step < a.shape[axis]:
        grown = _at(a, axis, slice(step, None)) * _at(a, axis, slice(-step))
        a = rules.concatenate(_at(a, axis, slice(step)), grown, axis=axis)
        step *= 2
    return a


def ptp(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Subtract the smallest from the largest entry."""
    return a.max(axis=axis, keepdims=keepdims) - a.min(axis=axis, keepdims=keepdims)


def median(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the entry in the middle, or the mean of the two there; nan if there is a nan."""
    kept = normalize_axis_tuple(range(a.ndim) if axis is None else axis, a.ndim)
    shape = tuple(1 if i in kept else n for i, n in enumerate(a.shape))
    others = [i for i in range(a.ndim) if i not in kept]
    count = math.prod(a.shape[i] for i in kept)
    turned = a.transpose((*others, *kept))
    rows = operations.reshaped(turned, (*[a.shape[i] for i in others], count))
    middle = slice((count - 1) // 2, count // 2 + 1)
    found = _at(operations.sort(rows), rows.ndim - 1, middle).mean(axis=-1)
    broken = np.isnan(value(rows)).any(axis=-1)
    if may_hold(broken):
        found = rules.where(math.nan, found, condition=broken)
    return operations.reshaped(found, shape) if keepdims else found


def average(a: Any, axis: int | None = None, weights: Any = None, keepdims: bool = False) -> Any:
    """Sum up the entries times weights, and divide by the sum of these.

    Raises:
        ZeroDivisionError: the weights add up to 0.
    """
    if weights is None:
        return _node(a).mean(axis=axis, keepdims=keepdims)
    a, weights = _node(a), _node(weights)
    if weights.shape != a.shape:
        if axis is None or weights.shape != (a.shape[axis],):
            raise TypeError(
                f"average: weights of shape {weights.shape} do not fit {a.shape}; give one for "
                "each entry, or a vector of them along an axis that you name"
            )
        shape = [1] * a.ndim
        shape[axis] = -1
        weights = operations.reshaped(weights, tuple(shape))
    whole = rules.broadcast_to(weights, shape=a.shape)
    total = whole.sum(axis=axis, keepdims=keepdims)
    if not is_symbol(value(total)) and np.any(np.equal(value(total), 0)):
        raise ZeroDivisionError("average: the weights add up to 0")
    return (a * whole).sum(axis=axis, keepdims=keepdims) / total


def full_like(a: Any, fill_value: Any) -> Any:
    """Repeat a value in the shape and dtype of ``a``."""
    repeated = rules.broadcast_to(_node(fill_value), shape=np.shape(value(a)))
    dtype = rules.float_dtype(value(a))
    return repeated if repeated.dtype == dtype else rules.cast(repeated, dtype=dtype)


operations.FUNCTIONS |= {
    getattr(np, function.__name__): function
    for function in (
        swapaxes, moveaxis, matrix_transpose, atleast_1d, atleast_2d, atleast_3d, flip, fliplr,
        flipud, roll, take, take_along_axis, repeat, tile, pad, append, hstack, vstack, dstack,
        column_stack, split, array_split, hsplit, vsplit, diagonal, diag, trace, tril, triu, inner,
        vdot, tensordot, kron, diff, cumprod, ptp, median, average, full_like,
    )
}  # fmt: skip
