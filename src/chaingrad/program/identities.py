"""What is not written down, because something shorter gives the same.

Each identity holds for every value for which nothing overflows, up to rounding and to the sign of a
zero. It says itself for which ranks, sizes and dtypes: NumPy adds booleans up to integers and lets
small integers wrap, so hardly anything that is true of floats is true of these. What floats do not
cancel stays, as (a + b) - b, which is not a where b is large, and a - a, which may be nan.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from chaingrad.program.tape import ELEMENTWISE, Recorded, Tape, computed

Found = Recorded | None
Identity = Callable[[Tape, Sequence[Recorded], dict[str, Any], Any], Found]


def simpler(
    tape: Tape, op: str, args: Sequence[Recorded], options: dict[str, Any], example: Any
) -> Found:
    """Find something shorter, or already written, that equals the operation; or return None."""
    identities = list(_IDENTITIES.get(op, ()))
    if op in ELEMENTWISE and len(args) > 1:
        identities.insert(0, partial(_without_repeats, op))
    for identity in identities:
        if (found := identity(tape, args, options, example)) is not None:
            return found
    return None


def _without_repeats(
    op: str, tape: Tape, args: Sequence[Recorded], options: dict[str, Any], example: Any
) -> Found:
    """Drop broadcasts that NumPy does by itself, or that can come after the operation."""
    inner = [x.args[0] if x.op in ("broadcast_to", "full") else x for x in args]
    if all(x is y for x, y in zip(inner, args, strict=True)):
        return None
    smaller = computed(op, [x.example for x in inner], options)
    if np.result_type(smaller) != np.result_type(example):
        return None
    for x, y in zip(args, inner, strict=True):
        if x is not y:
            tape.drop(x)
    out = tape.add(op, inner, **options)
    if np.shape(smaller) == np.shape(example):
        return out
    return tape.add("broadcast_to", (out,), shape=np.shape(example))


def _number(x: Recorded) -> float | None:
    """Return the value of a constant if it is one finite number other than 0, else None."""
    if x.op != "constant" or np.ndim(x.example) or type(x.example) is bool:
        return None
    number = float(x.example)
    return number if math.isfinite(number) and number else None


def _same(x: Recorded, example: Any) -> bool:
    """Return whether ``x`` has the shape, dtype and kind of a result."""
    return (
        x.shape == np.shape(example)
        and x.is_array == isinstance(example, np.ndarray | np.generic)
        and x.dtype == (np.result_type(example) if x.is_array else type(example))
    )


def _is_floating(x: Recorded) -> bool:
    return x.dtype.kind == "f"


def _is(x: Recorded, number: float) -> bool:
    return x.op == "constant" and np.ndim(x.example) == 0 and x.example == number


def _negated(x: Recorded) -> Found:
    """Return y if ``x`` is -y, in floats only: negatives of unsigned integers wrap around."""
    return x.args[0] if x.op == "negative" and _is_floating(x) else None


def _scaled(x: Recorded) -> tuple[float, Recorded] | None:
    """Return (c, y) if ``x`` is c y for a plain number c and floats y."""
    if any(not _is_floating(y) and (y.is_array or y.dtype.kind == "b") for y in x.args):
        return None
    if x.op == "negative":
        return -1.0, x.args[0]
    if x.op == "multiply":
        for number, other in ((x.args[0], x.args[1]), (x.args[1], x.args[0])):
            if not number.is_array and (c := _number(number)) is not None:
                return (c, other) if _is_sound(c, x) else None
    if x.op == "divide" and not x.args[1].is_array and (c := _number(x.args[1])) is not None:
        return (1.0 / c, x.args[0]) if _is_sound(c, x) and _is_sound(1.0 / c, x) else None
    return None


def _scaled_within(x: Recorded, readers: int = 0) -> tuple[float, Recorded] | None:
    """Return (c, y) if ``x`` is c y, where c may be a factor within what nobody else reads."""
    if found := _scaled(x):
        return found
    if x.tape.uses[x] > readers or not _is_floating(x) or not x.args or not x.args[0].is_array:
        return None
    places = {"multiply": 2, "divide": 1, "reshape": 1}.get(x.op, 0)
    for i, y in enumerate(x.args[:places]):
        if y.dtype == x.dtype and (found := _scaled_within(y, 1)) and _is_sound(found[0], x):
            inner = (*x.args[:i], found[1], *x.args[i + 1 :])
            return found[0], x.tape.add(x.op, inner, **dict(x.options))
    return None


def _scale(tape: Tape, c: float, x: Recorded) -> Recorded:
    return tape.add("negative", (x,)) if c == -1.0 else tape.add("multiply", (c, x))


def _neutral(
    number: float, tape: Tape, args: Sequence[Recorded], options: Any, example: Any
) -> Found:
    """y + 0 = y and the like."""
    return args[0] if _is(args[1], number) and _same(args[0], example) else None


def _neutral_on_the_left(
    number: float, tape: Tape, args: Sequence[Recorded], options: Any, example: Any
) -> Found:
    """0 + y = y and the like."""
    return _neutral(number, tape, args[::-1], options, example)


def _sign_outside(
    op: str, tape: Tape, args: Sequence[Recorded], options: dict[str, Any], example: Any
) -> Found:
    """Take the sign out of what is linear: sum(-y) = -sum(y)."""
    if (y := _negated(args[0])) is None:
        return None
    tape.drop(args[0])
    return tape.add("negative", (tape.add(op, (y, *args[1:]), **options),))


def _column_times_row(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    """x[:, None] y = outer(x, y) for vectors."""
    for x, y in _both_ways(args):
        if x.ndim == 2 and x.shape[1] == 1 and y.ndim == 1 and (column := _flat(x)) is not None:
            return tape.add("outer", (column, y))
    return None


def _number_times(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    """-1 y = -y; c (d y) = (c d) y."""
    for x, y in _both_ways(args):
        c = None if x.is_array else _number(x)
        if c is None or not _is_floating(y):
            continue
        if c == -1.0:
            return tape.add("negative", (y,))
        before = _scaled_within(y)
        if before and _is_sound(c, y) and _is_sound(c * before[0], y):
            if c * before[0] == 1.0:
                return before[1] if _same(before[1], example) else None
            return _scale(tape, c * before[0], before[1])
    return None


def _number_to_smaller(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    """c (x Y) = (c x) Y, where x has fewer entries and nobody else reads the product."""
    for x, y in _both_ways(args):
        if x.is_array or _number(x) is None or y.op != "multiply" or tape.uses[y]:
            continue
        small, large = sorted(y.args, key=lambda z: z.size)
        if not _is_floating(y):  # products of small integers wrap around
            continue
        if small.size < large.size and small.dtype == y.dtype and large.shape == y.shape:
            return tape.add("multiply", (tape.add("multiply", (x, small)), large))
    return None


def _numbers_first(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    """(c x) (d y) = (c d) (x y); (-x) y = -(x y)."""
    if np.result_type(example).kind != "f":
        return None
    for x, y in _both_ways(args):
        before = None if not x.is_array and _number(x) is not None else _scaled(x)
        if before is None or before[1].shape != x.shape or _number(y) is not None:
            continue
        more = _scaled(y)
        if more and _is_sound(before[0] * more[0], x) and _is_sound(before[0] * more[0], y):
            inner = tape.add("multiply", (before[1], more[1]))
            return _scale(tape, before[0] * more[0], inner)
        if before[0] == -1.0 or not (x.shape or y.shape):
            return _scale(tape, before[0], tape.add("multiply", (before[1], y)))
    return None


def _both_ways(args: Sequence[Recorded]) -> Sequence[Sequence[Recorded]]:
    return args, args[::-1]


def _is_sound(c: float, x: Recorded) -> bool:
    """Return whether ``c``, in the dtype of ``x``, is neither 0 nor infinite."""
    if not _is_floating(x):
        return False
    limits = np.finfo(x.dtype)
    return float(limits.tiny) <= abs(c) <= float(limits.max)


def _divide(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    """(c y) / d = (c / d) y."""
    a, b = args
    c = None if b.is_array else _number(b)
    before = None if c is None else _scaled_within(a)
    if before and c is not None and _is_sound(c, a) and _is_sound(before[0] / c, a):
        return _scale(tape, before[0] / c, before[1])
    return None


def _add(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    a, b = args
    if a is b and np.result_type(example).kind == "f":
        return tape.add("multiply", (2.0, a))
    if a.op == "add" and a.args[1] is b and _is_floating(b):
        tape.drop(a)
        return tape.add("add", (a.args[0], tape.add("multiply", (2.0, b))))
    if (z := _negated(b)) is not None:
        return tape.add("subtract", (a, z))
    if (z := _negated(a)) is not None:
        return tape.add("subtract", (b, z))
    return None


def _negative(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    x = args[0]
    if (y := _negated(x)) is not None:
        return y
    before = _scaled(x)
    if before and x.op == "multiply":
        return _scale(tape, -before[0], before[1])
    return None


def _transpose(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    x, axes = args[0], options["axes"]
    order = axes or tuple(range(x.ndim))[::-1]
    if x.op == "transpose":
        before = x.option("axes") or tuple(range(x.ndim))[::-1]
        return x.args[0].transpose(*[before[i] for i in order])
    is_turn = order == (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)
    if is_turn and (turned := _turned(tape, x, 0)) is not None:
        return turned
    if is_turn and (before := _scaled(x)) and (turned := _turned(tape, before[1], 1)) is not None:
        return _scale(tape, before[0], turned)
    return None


def _turned(tape: Tape, x: Recorded, uses: int) -> Found:
    """Write the transpose of a product with transposed factors, unless others read the product."""
    if tape.uses[x] > uses:
        return None
    if x.op == "matmul" and x.args[0].ndim == x.args[1].ndim == x.ndim:
        order = (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)
        a, b = (y.transpose(*order) for y in x.args)
        return tape.add("matmul", (b, a))
    return tape.add("outer", x.args[::-1]) if x.op == "outer" else None


def _names_axes(index: Any) -> bool:
    """Return whether an index picks nothing: all of each axis, and new axes."""
    parts = index if isinstance(index, tuple) else (index,)
    return all(part is None or part is ... or part == slice(None) for part in parts)


def _flat(x: Recorded) -> Found:
    """Return the vector that a row, a column or the like was made of."""
    return x.args[0] if x.op == "reshape" and x.args[0].ndim == 1 else None


def _mean_of_products(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    """mean(x y) = sum(x y) / n, which is one product of vectors; mean(sum(x)) = sum(x) / n."""
    x = args[0]
    if options["axis"] is not None or options["keepdims"] or tape.uses[x] or not x.size:
        return None
    alike = x.op == "multiply" and all(_same(y, x.example) for y in x.args)
    if not _is_exact(x) or not (alike or x.op == "sum"):
        return None
    return tape.add("divide", (tape.add("sum", args, **options), float(x.size)))


def _factor_of_sum(
    op: str, tape: Tape, args: Sequence[Recorded], options: Any, example: Any
) -> Found:
    """Make sum(x c) = c sum(x) where c is the same along the axes; and so for a mean."""
    x = args[0]
    if not _is_exact(x) or not x.size or x.size == np.size(example) or tape.uses[x]:
        return None
    before = _scaled(x)
    if before and before[1].op == "multiply" and options["axis"] is None:  # a product of vectors
        return _scale(tape, before[0], tape.add(op, (before[1],), **options))
    if x.op not in ("multiply", "divide"):
        return None
    for y, c in (x.args, x.args[::-1])[: 2 if x.op == "multiply" else 1]:
        if _same(y, x.example) and (factor := _along(c, x, options, example)) is not None:
            return tape.add(x.op, (tape.add(op, (y,), **options), factor))
    return None


def _along(c: Recorded, x: Recorded, options: dict[str, Any], example: Any) -> Found:
    """Return ``c`` without the axes along which ``x`` is reduced, if it is one number there."""
    if c.is_constant or (c.is_array and c.dtype != x.dtype):
        return None
    axis = range(x.ndim) if options["axis"] is None else np.atleast_1d(options["axis"])
    axes = {range(x.ndim)[i] for i in axis}
    sizes = (1,) * (x.ndim - c.ndim) + c.shape
    if any(sizes[i] != 1 for i in axes):
        return None
    if options["keepdims"] or not c.shape:
        return c
    wanted = tuple(n for i, n in enumerate(sizes) if i not in axes)
    while wanted and wanted[0] == 1 and len(wanted) > 1:
        wanted = wanted[1:]
    return c.reshape(wanted)


def _is_exact(x: Recorded) -> bool:
    """Return whether ``x`` holds floats in which a sum does not overflow before its terms."""
    return _is_floating(x) and x.dtype.itemsize > 2


def _reshape(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    """One reshape after another is the last."""
    x = args[0]
    return x.args[0].reshape(options["shape"]) if x.op == "reshape" else None


def _broadcast(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    return args[0] if args[0].shape == options["shape"] else None


def _getitem(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    return args[0].reshape(np.shape(example)) if _names_axes(options["index"]) else None


def _scatter(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    a, index, shape = args[0], options["index"], options["shape"]
    if not _names_axes(index) or a.shape != np.empty(shape)[index].shape:
        return None
    return a.astype(options["dtype"]).reshape(shape)


_IDENTITIES: dict[str, Sequence[Identity]] = {
    "multiply": (
        partial(_neutral, 1.0), partial(_neutral_on_the_left, 1.0), _column_times_row,
        _number_times, _number_to_smaller, _numbers_first,
    ),
    "divide": (partial(_neutral, 1.0), _divide, partial(_sign_outside, "divide")),
    "add": (partial(_neutral, 0.0), partial(_neutral_on_the_left, 0.0), _add),
    "subtract": (partial(_neutral, 0.0),),
    "negative": (_negative,),
    "transpose": (_transpose,),
    "reshape": (partial(_sign_outside, "reshape"), _reshape),
    "broadcast_to": (_broadcast,),
    "getitem": (_getitem,),
    "scatter": (_scatter,),
    "float": (partial(_sign_outside, "float"),),
    "sum": (partial(_sign_outside, "sum"), partial(_factor_of_sum, "sum")),
    "mean": (
        partial(_sign_outside, "mean"), _mean_of_products, partial(_factor_of_sum, "mean"),
    ),
}  # fmt: skip
