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
_REDUCTIONS = {"sum", "mean", "max", "min"}
Identity = Callable[[Tape, Sequence[Recorded], dict[str, Any], Any], Found]


def simpler(
    tape: Tape, op: str, args: Sequence[Recorded], options: dict[str, Any], example: Any
) -> Found:
    """Find something shorter, or already written, that equals the operation; or return None."""
    if op in ELEMENTWISE and len(args) > 1:
        for of_shapes in (_with_plain_numbers, _without_repeats):
            if (found := of_shapes(tape, op, args, options, example)) is not None:
                return found
    for identity in _IDENTITIES.get(op, ()):
        if (found := identity(tape, args, options, example)) is not None:
            return found
    return None


def _without_repeats(
    tape: Tape, op: str, args: Sequence[Recorded], options: dict[str, Any], example: Any
) -> Found:
    """Drop broadcasts that NumPy does by itself, or that can come after the operation."""
    inner = before = [x.args[0] if x.op in ("broadcast_to", "full") else x for x in args]
    longest = max(x.ndim for x in inner)
    inner = [_without_new_axes(x) if x.ndim == longest else x for x in inner]
    if max(x.ndim for x in inner) < longest:  # somebody's axes must be there
        inner = before
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


def _with_plain_numbers(
    tape: Tape, op: str, args: Sequence[Recorded], options: dict[str, Any], example: Any
) -> Found:
    """Write a number as a plain float where an array of floats beside it decides the dtype."""
    dtypes = {x.dtype for x in args if x.shape}
    if len(dtypes) != 1 or (dtype := dtypes.pop()).kind != "f" or op == "where":
        return None
    plain = [_plain(x) if x.dtype == dtype or not x.is_array else x for x in args]
    if all(x is y for x, y in zip(plain, args, strict=True)):
        return None
    return tape.add(op, plain, **options)


def _plain(x: Recorded) -> Recorded:
    """Return a number as a float, so that ``x > 0`` and ``x > 0.0`` are one."""
    is_whole = type(x.example) is int and abs(x.example) < 2**53
    is_number = x.is_constant and (is_whole or (x.is_array and not x.shape))
    return x.tape.constant(float(x.example)) if is_number else x


def _without_new_axes(x: Recorded) -> Recorded:
    """Return the array of which ``x`` has only more axes in front, of size 1."""
    if x.op in _REDUCTIONS and x.option("keepdims"):
        less = np.shape(computed(x.op, [x.args[0].example], {"axis": x.option("axis")}))
        if x.shape == (1,) * (x.ndim - len(less)) + less:
            return x.tape.add(x.op, x.args, axis=x.option("axis"), keepdims=False)
    if x.op != "reshape" or (more := x.ndim - x.args[0].ndim) <= 0:
        return x
    return x.args[0] if x.shape == (1,) * more + x.args[0].shape else x


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


def _one_times(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    """1 y = y."""
    for x, y in _both_ways(args):
        if _is(x, 1.0) and _same(y, example):
            return y
    return None


def _power_undone(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    """x / exp(y) exp(y) = x; and so for c x / exp(y)."""
    for x, y in _both_ways(args):
        c, quotient = _scaled(x) or (1.0, x)
        quotient = _unsettled(quotient)
        if _unsettled(y).op != "exp" or quotient.op != "divide" or quotient.args[1] is not y:
            continue
        above = quotient.args[0]
        if type(example) is float and _unsettled(above).dtype == np.float64:
            above = tape.add("float", (above,))
        if _is_floating(above) and (c != 1.0 or _same(above, example)):
            found = above if c == 1.0 else _scale(tape, c, above)
            return found if _same(found, example) else None
    return None


def _unsettled(x: Recorded) -> Recorded:
    return x.args[0] if x.op == "float" else x


def _column_times_row(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    """x[:, None] y = outer(x, y) for vectors."""
    for x, y in _both_ways(args):
        if x.ndim == 2 and x.shape[1] == 1 and y.ndim == 1 and (column := _flat(x)) is not None:
            return tape.add("outer", (column, y))
    return None


def _number_times(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    """-1 y = -y; c (d y) = (c d) y; c where(a, d, y) = where(a, c d, c y)."""
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
        if y.op == "where" and _is_sound(c, y) and _settled(y.args[1], y.args[2]):
            each = [tape.add("multiply", (c, z)) for z in y.args[1:]]
            chosen = tape.add("where", (y.args[0], *each))
            return chosen if _same(chosen, example) else None
    return None


def _choice_times(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    """where(a, x, 0) y = where(a, x y, 0), if y is finite: 0 times infinity would be nan."""
    for x, y in _both_ways(args):
        if x.op != "where" or not _same(x, example) or not _stays_finite(y):
            continue
        if (c := _number(y)) is not None and not _is_sound(c, x):
            continue
        condition, *choices = x.args
        if any(_is(z, 0.0) for z in choices):
            each = [z if _is(z, 0.0) else tape.add("multiply", (z, y)) for z in choices]
            found = tape.add("where", (condition, *each))
            return found if _same(found, example) else None
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


def _settled(*choices: Recorded) -> bool:
    """Return whether one of two choices is a number, so that a factor can go inside."""
    return any(x.is_constant and not x.shape for x in choices)


# Operations that give finite numbers for finite numbers unless they overflow.
_FINITE = {
    "input", "add", "subtract", "multiply", "negative", "absolute", "sign", "maximum", "minimum",
    "where", "tanh", "sin", "cos", "sum", "max", "min", "matmul", "outer", "reshape", "transpose",
    "broadcast_to", "getitem", "scatter", "concatenate", "stack", "astype", "float", "full",
    "less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "invert",
    "bitwise_and", "bitwise_or", "logical_and", "logical_or", "logical_not",
}  # fmt: skip


def _stays_finite(x: Recorded) -> bool:
    """Return whether ``x`` is finite where the arguments are, and nothing overflows.

    An exponential may overflow in a branch that is not chosen, so it must have a bound.
    """
    known = x.tape.finite
    stack = [x]
    while stack:
        y = stack[-1]
        unknown = [z for z in y.args if z not in known]
        if unknown:
            stack += unknown
            continue
        stack.pop()
        known[y] = _is_finite_of_finite(y) and all(known[z] for z in y.args)
    return known[x]


def _is_finite_of_finite(x: Recorded) -> bool:
    if x.op == "constant":
        return bool(np.all(np.isfinite(x.example)))
    if x.op == "exp":
        inner = x.args[0]
        if inner.op != "minimum" or not _is_floating(inner):
            return _is_shifted(inner)
        limit = math.log(float(np.finfo(inner.dtype).max))
        return any(y.is_constant and np.all(y.example < limit) for y in inner.args)
    if x.op == "divide":
        return _number(x.args[1]) is not None
    return x.op in _FINITE


def _is_sound(c: float, x: Recorded) -> bool:
    """Return whether ``c``, in the dtype of ``x``, is neither 0 nor infinite."""
    if not _is_floating(x):
        return False
    limits = np.finfo(x.dtype)
    return float(limits.tiny) <= abs(c) <= float(limits.max)


def _divide(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    a, b = args
    if _is(b, 1.0) and _same(a, example):
        return a
    c = None if b.is_array else _number(b)
    before = _scaled(a) if c is None else _scaled_within(a)
    if before and c is not None and _is_sound(c, a) and _is_sound(before[0] / c, a):
        return _scale(tape, before[0] / c, before[1])
    if (y := _negated(a)) is not None:
        return tape.add("negative", (tape.add("divide", (y, b)),))
    return None


def _add(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    a, b = args
    for x, y in ((a, b), (b, a)):
        if _is(x, 0.0) and _same(y, example):
            return y
    if a is b and np.result_type(example).kind == "f":
        return tape.add("multiply", (2.0, a))
    if (chosen := _joined(tape, a, b, example)) is not None:
        return chosen
    if (rolled := _rolled_back(tape, a, b)) is not None:
        return rolled
    if a.op in ("add", "subtract") and b.op == "scatter":
        for i, x in enumerate(a.args[: 1 if a.op == "subtract" else 2]):
            if (rolled := _rolled_back(tape, x, b)) is not None:
                return tape.add(a.op, (*a.args[:i], rolled, *a.args[i + 1 :]))
    if a.op == "add" and a.args[1] is b and _is_floating(b):
        tape.drop(a)
        return tape.add("add", (a.args[0], tape.add("multiply", (2.0, b))))
    if (z := _negated(b)) is not None:
        return tape.add("subtract", (a, z))
    if (z := _negated(a)) is not None:
        return tape.add("subtract", (b, z))
    return None


def _joined(tape: Tape, a: Recorded, b: Recorded, example: Any) -> Found:
    """Add up two choices by one condition, of which one is 0 on each side, or both on one."""
    if a.op != "where" or b.op != "where" or a.args[0] is not b.args[0]:
        return None
    if not (_same(a, example) and _same(b, example) and _is_floating(a)):
        return None
    condition, choices = a.args[0], list(zip(a.args[1:], b.args[1:], strict=True))
    zeros = [[_is(x, 0.0) for x in choice] for choice in choices]
    if not (all(map(any, zeros)) or any(map(all, zeros))):
        return None
    found = tape.add("where", (condition, *(tape.add("add", choice) for choice in choices)))
    return found if _same(found, example) else None


def _infinite_and_finite(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    """No number is infinite and equal to a finite one."""
    for x, y in _both_ways(args):
        if x.op == "isinf" and y.op == "equal":
            for z, c in _both_ways(y.args):
                finite = c.is_constant and not c.shape and np.isfinite(c.example)
                same = z is x.args[0] and np.shape(example) == z.shape
                if same and finite and (z.shape or not z.is_array):
                    return tape.add("broadcast_to", (tape.constant(False),), shape=z.shape)
    return None


def _subtract(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    a, b = args
    if _is(b, 0.0) and _same(a, example):
        return a
    if _is(a, 0.0) and _is_floating(b) and _same(b, example):
        return tape.add("negative", (b,))
    if (y := _negated(b)) is not None:
        return tape.add("add", (a, y))
    if a.op == "subtract" and a.args[1] is b and _is_floating(b):
        return tape.add("subtract", (a.args[0], tape.add("multiply", (2.0, b))))
    return None


def _negative(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    x = args[0]
    if (y := _negated(x)) is not None:
        return y
    before = _scaled(x)
    if before and x.op == "multiply":
        return _scale(tape, -before[0], before[1])
    return None


def _power(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    """x**1 = x; x**4 = (x x) (x x) for arrays, for which NumPy has no shortcut."""
    a, b = args
    if _is(b, 4.0) and a.shape and _same(a, example) and _is_floating(a):
        square = tape.add("multiply", (a, a))
        return tape.add("multiply", (square, square))
    return a if _is(b, 1.0) and _same(a, example) else None


def _transpose(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    x, axes = args[0], options["axes"]
    order = axes or tuple(range(x.ndim))[::-1]
    if x.op == "transpose":
        before = x.option("axes") or tuple(range(x.ndim))[::-1]
        return x.args[0].transpose(*[before[i] for i in order])
    is_turn = order == (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)
    if is_turn and (turned := _turned(tape, x, 0)) is not None:
        return turned
    if axes is None and x.ndim == 2 and 1 in x.shape and _flat(x) is not None:
        return x.args[0].reshape(x.shape[::-1])
    if before := _scaled(x):
        c, y = before
        if y.op == "transpose":
            return _scale(tape, c, y.transpose(*order))
        if is_turn and (turned := _turned(tape, y, 1)) is not None:
            return _scale(tape, c, turned)
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


def _reshape_again(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    """One reshape after another is the last; a number repeated is repeated in any shape."""
    x, shape = args[0], options["shape"]
    if x.op == "reshape":
        return x.args[0].reshape(shape)
    if x.op == "broadcast_to" and not x.args[0].shape and shape:
        return tape.add("broadcast_to", x.args, shape=shape)
    return None


def _flat_product(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    """Multiply a matrix by a vector instead of by a column that becomes one."""
    x, shape = args[0], options["shape"]
    if x.op != "matmul" or len(shape) != 1 or not x.args[0].ndim == x.args[1].ndim == 2:
        return None
    a, b = x.args
    if a.shape[0] == 1 and (row := _flat(a)) is not None:
        return tape.add("matmul", (row, b))
    if b.shape[-1] == 1 and (column := _flat(b)) is not None:
        return tape.add("matmul", (a, column))
    return None


def _entry_of_slice(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    """x[2:3] as a number is x[2]."""
    x = args[0]
    if options["shape"] or x.op != "getitem" or x.shape != (1,) or len(x.args) > 1:
        return None
    index = x.option("index")
    if type(index) is not slice or x.args[0].ndim != 1:
        return None
    return tape.add("getitem", x.args, index=range(x.args[0].size)[index][0])


def _other_keepdims(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    """Axes that a reduction drops, or keeps with size 1, are no reshape of it."""
    x = args[0]
    if x.op not in _REDUCTIONS:
        return None
    other = dict(x.options) | {"keepdims": not x.option("keepdims")}
    if np.shape(computed(x.op, [x.args[0].example], other)) != options["shape"]:
        return None
    return tape.add(x.op, x.args, **other)


def _factor_outside(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    """Reshape x in -x, and a reduction, whose axes come and go, in c x and x / c."""
    y = _negated(args[0])
    if y is not None:
        return tape.add("negative", (y.reshape(options["shape"]),))
    found = _with_axes(args[0], options["shape"], 0)
    return found if found is not None and _same(found, example) else None


def _with_axes(x: Recorded, shape: tuple[int, ...], readers: int) -> Found:
    """Return numbers times a reduction of this shape, if ``x`` is such that nobody else reads."""
    if x.op in _REDUCTIONS and readers:
        other = x.reshape(shape)
        return other if other.op in _REDUCTIONS else None
    if x.op not in ("negative", "multiply", "divide") or x.tape.uses[x] > readers:
        return None
    arrays = [y for y in x.args if y.shape]
    if len(arrays) != 1 or not _is_floating(arrays[0]):
        return None
    within = _with_axes(arrays[0], shape, 1)
    if within is None:
        return None
    return x.tape.add(x.op, [y if not y.shape else within for y in x.args])


def _without_first_axes(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    """Drop axes of size 1 in front from the factors of a product."""
    x, shape = args[0], options["shape"]
    if x.op not in ("multiply", "divide") or x.shape != (1,) * (x.ndim - len(shape)) + shape:
        return None
    if not x.ndim > len(shape) > 0 or not _is_floating(x) or tape.uses[x] > 1:
        return None
    inner = [y.reshape(y.shape[max(y.ndim - len(shape), 0) :]) for y in x.args]
    found = tape.add(x.op, inner)
    return found if _same(found, example) else None


def _names_axes(index: Any) -> bool:
    """Return whether an index picks nothing: all of each axis, and new axes."""
    parts = index if isinstance(index, tuple) else (index,)
    return all(part is None or part is ... or part == slice(None) for part in parts)


def _turns_round(index: Any) -> bool:
    """Return whether an index reverses axes and does nothing else."""
    parts = index if isinstance(index, tuple) else (index,)
    return all(part is ... or part in (slice(None), slice(None, None, -1)) for part in parts)


def _is_integer(index: Any) -> bool:
    """Return whether an index is made of plain integers alone."""
    return all(type(part) is int for part in (index if type(index) is tuple else (index,)))


def _stays_behind(index: Any) -> bool:
    """Return whether an index picks the same behind integers: arrays apart from them move axes."""
    parts = index if type(index) is tuple else (index,)
    arrays = [not (type(p) in (int, slice) or p is None or p is ...) for p in parts]
    return arrays[:1] == [True] or not any(arrays)


def _then(first: Any, second: Any) -> Any:
    """Write x[first][second] as one index."""
    parts = (i if type(i) is tuple else (i,) for i in (first, second))
    return tuple(i for part in parts for i in part)


def _getitem(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    index = options["index"]
    if type(index) is tuple and len(index) == 1:
        return tape.add("getitem", args, index=index[0])
    x = args[0]
    if x.op == "getitem" and _is_integer(x.option("index")) and _stays_behind(index):
        return tape.add("getitem", (*x.args, *args[1:]), index=_then(x.option("index"), index))
    return args[0].reshape(np.shape(example)) if _names_axes(options["index"]) else None


def _scatter(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    a, shape = args[0], options["shape"]
    if a.op == "scatter" and _is_integer(options["index"]) and _stays_behind(a.option("index")):
        whole = options | {"index": _then(options["index"], a.option("index"))}
        return tape.add("scatter", a.args, **whole)
    if len(args) == 1 and _turns_round(options["index"]) and a.shape == shape:
        return a.astype(options["dtype"])[options["index"]]
    if not _names_axes(options["index"]) or a.shape != np.empty(shape)[options["index"]].shape:
        return None
    return a.astype(options["dtype"]).reshape(shape)


def _broadcast(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    x, shape = args[0], options["shape"]
    if x.shape == shape:
        return x
    if x.op == "broadcast_to":
        return tape.add("broadcast_to", x.args, shape=shape)
    return None


def _matmul(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    a, b = args
    column, row = (_flat(x) for x in args)
    if a.ndim == b.ndim == 2 and a.shape[1] == 1 and column is not None and row is not None:
        return tape.add("outer", (column, row))
    return None


def _einsum(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    """Write a sum over one index as a product of matrices, which is many times as fast."""
    given, result = options["subscripts"].split("->")
    terms = given.split(",")
    if len(terms) != 2 or not all(map(_is_floating, args)) or "." in given:
        return None
    if any(len(set(term)) < len(term) for term in terms):
        return None
    a, b = terms
    sizes = [dict(zip(term, x.shape, strict=True)) for term, x in zip(terms, args, strict=True)]
    if any(sizes[1].get(c, n) != n for c, n in sizes[0].items()):
        return None  # an axis of size 1 is stretched
    batch = [c for c in result if c in a and c in b]
    rows, columns = ([c for c in result if c not in other] for other in (b, a))
    summed = [c for c in a if c in b and c not in result]
    apart = len(a) == len(batch) + len(rows) + 1 and len(b) == len(batch) + len(columns) + 1
    if len(summed) != 1 or not apart or max(len(rows), len(columns)) > 1:
        return None
    if batch and not (rows and columns):
        return None  # a product of stacks of vectors needs new axes
    if list(result[: len(batch)]) != batch:
        return None
    left, right = (a, b), ([*batch, *rows, *summed], [*batch, *summed, *columns])
    x, y = (
        operand.transpose(*[term.index(c) for c in wanted]) if operand.ndim > 1 else operand
        for operand, term, wanted in zip(args, left, right, strict=True)
    )
    product = tape.add("matmul", (x, y))
    if [*batch, *rows, *columns] == list(result):
        return product
    order = [[*batch, *rows, *columns].index(c) for c in result]
    return product.transpose(*order)


def _concatenate(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    """Write [a], [b], ... one behind the other as [a, b, ...]."""
    if any(x.shape != (1,) or x.op not in ("full", "reshape") for x in args):
        return None
    inner = [x.args[0] for x in args]
    if any(x.shape or np.result_type(x.example) != np.result_type(example) for x in inner):
        return None
    return tape.add("stack", inner, axis=0)


def _roll(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    """Write the end of an array before its beginning as np.roll."""
    if len(args) != 2 or any(x.op != "getitem" or len(x.args) > 1 for x in args):
        return None
    (end, rest), whole = args, args[0].args[0]
    axis = int(options["axis"]) % whole.ndim
    first, last = (_piece(x.option("index"), axis, whole.shape) for x in (rest, end))
    if rest.args[0] is not whole or not first or not last:
        return None
    if first[0] or first[1] != last[0] or last[1] != whole.shape[axis]:
        return None
    return tape.add("roll", (whole,), shift=-last[0], axis=axis)


def _rolled_back(tape: Tape, a: Recorded, b: Recorded) -> Found:
    """Write an array's end put at the beginning of zeros, plus the rest put behind, as np.roll."""
    if any(x.op != "scatter" or len(x.args) > 1 or x.args[0].op != "getitem" for x in (a, b)):
        return None
    end, rest = a.args[0].args, b.args[0].args
    whole = end[0]
    if len(end) > 1 or len(rest) > 1 or rest[0] is not whole:  # == would be traced
        return None
    if not a.shape == b.shape == whole.shape:
        return None
    for axis in range(whole.ndim):
        to, of = (
            [_piece(y.option("index"), axis, whole.shape) for y in ys]
            for ys in ((a, b), (a.args[0], b.args[0]))
        )
        if None in to or None in of:
            continue
        if to[0] > to[1]:  # type: ignore[operator]
            to, of = to[::-1], of[::-1]
        k, n = to[0][1], whole.shape[axis]  # type: ignore[index]
        if to == [(0, k), (k, n)] and of == [(n - k, n), (0, n - k)]:
            return tape.add("roll", (whole,), shift=k, axis=axis)
    return None


def _piece(index: Any, axis: int, shape: tuple[int, ...]) -> tuple[int, int] | None:
    """Return where a slice along this axis alone begins and ends."""
    parts = index if type(index) is tuple else (index,)
    if any(type(part) is not slice for part in parts) or len(parts) <= axis:
        return None
    if any(part != slice(None) for i, part in enumerate(parts) if i != axis):
        return None
    start, stop, step = parts[axis].indices(shape[axis])
    return (start, stop) if step == 1 and start < stop else None


def _flat(x: Recorded) -> Found:
    """Return the vector that a row, a column or the like was made of."""
    return x.args[0] if x.op == "reshape" and x.args[0].ndim == 1 else None


def _sum(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    x = args[0]
    if np.ndim(example) and x.size == np.size(example) and x.dtype == np.result_type(example):
        return x.reshape(np.shape(example))
    y = _negated(x)
    return None if y is None else tape.add("negative", (tape.add("sum", (y,), **options),))


def _sum_of_sums(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    """Sum along all axes at once what nobody else reads in between."""
    x = args[0]
    if x.op != "sum" or not _is_floating(x) or not x.shape or tape.uses[x]:
        return None
    axes = range(x.args[0].ndim)
    along = x.option("axis")
    first = {*axes} if along is None else {axes[i] for i in np.atleast_1d(along)}
    left = axes if x.option("keepdims") else [i for i in axes if i not in first]
    then = options["axis"]
    more = left if then is None else [left[i] for i in np.atleast_1d(then)]
    every = tuple(sorted({*first, *more}))
    return x.args[0].sum(axis=every).reshape(np.shape(example))


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
    x, readers = args[0], 0
    if not _is_exact(x) or not x.size or x.size == np.size(example):
        return None
    before = _scaled(x)
    if before and before[1].op == "multiply" and options["axis"] is None:  # np.vdot
        return _scale(tape, before[0], tape.add(op, (before[1],), **options))
    if x.op == "negative" and not tape.uses[x]:
        x, readers = x.args[0], 1
    if x.op not in ("multiply", "divide") or tape.uses[x] > readers:
        return None
    for y, c in (x.args, x.args[::-1])[: 2 if x.op == "multiply" else 1]:
        if _same(y, x.example) and (factor := _along(c, x, options, example)) is not None:
            found = tape.add(x.op, (tape.add(op, (y,), **options), factor))
            return tape.add("negative", (found,)) if readers else found
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


def _is_shifted(x: Recorded) -> bool:
    """Return whether ``x`` is a - max(a) of floats, so that its exponentials can't overflow."""
    if x.op != "subtract" or not _is_floating(x):
        return False
    a, top = x.args
    spread = top.option("keepdims") or top.option("axis") is None  # else along another axis
    return top.op == "max" and top.args[0] is a and bool(spread)


def _chosen_again(tape: Tape, args: Sequence[Recorded], example: Any) -> Found:
    """Drop what a condition has decided before, and a choice that changes nothing.

    where(c, x, where(c, y, z)) = where(c, x, z), and where(x == 0, 0, sqrt(x)) = sqrt(x).
    """
    condition, top, other = args
    for i, x in ((1, top), (2, other)):
        if x.op == "where" and x.args[0] is condition and _same(x, example):
            within = x.args[i]
            found = tape.add("where", (condition, *((within, other) if i == 1 else (top, within))))
            return found if _same(found, example) else None
    if not _is(top, 0.0) or not _same(other, example):
        return None
    if other.op == "sqrt" and _is_zero_of(condition, other.args[0]):
        return other
    if other.op == "divide" and all(
        y.op == "where" and y.args[0] is condition and y.shape == other.shape for y in other.args
    ):
        above, below = (y.args[1] for y in other.args)
        return other if _is(above, 0.0) and _number(below) is not None else None
    return None


def _is_zero_of(condition: Recorded, x: Recorded) -> bool:
    if condition.op != "equal":
        return False
    return any(y is x and _is(z, 0.0) for y, z in _both_ways(condition.args))


def _sqrt(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    """sqrt(where(x == 0, 1, x)) = where(x == 0, 1, sqrt(x))."""
    x = args[0]
    if x.op != "where" or not _is_floating(x):
        return None
    condition, top, other = x.args
    if not _is(top, 1.0) or not _is_zero_of(condition, other):
        return None
    found = tape.add("where", (condition, top, tape.add("sqrt", (other,))))
    return found if _same(found, example) else None


def _where(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    condition, top, other = args
    settled = condition.args[0] if condition.op == "broadcast_to" else condition
    if settled.is_constant and not settled.shape:
        chosen = top if settled.example else other
        if _same(chosen, example):
            return chosen
        if chosen.dtype == np.result_type(example) and np.shape(example):
            return tape.add("broadcast_to", (chosen,), shape=np.shape(example))
    if (found := _chosen_again(tape, args, example)) is not None:
        return found
    # the largest of a - max(a) is 0 or nan
    if (
        _is(other, 0.0)
        and condition.op == "isfinite"
        and condition.args[0] is top
        and top.op == "max"
        and _is_shifted(top.args[0])
        and top.options == top.args[0].args[1].options
    ):
        return tape.add("broadcast_to", (np.zeros((), top.dtype),), shape=top.shape)
    return None


def _exp(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    x = args[0]
    if x.op == "subtract" and x.args[1].op == "log" and _is_shifted(x.args[0]):
        total = x.args[1].args[0]
        if _is_sum_of_powers(total):
            return tape.add("divide", (tape.add("exp", (x.args[0],)), total))
    return None


def _is_sum_of_powers(x: Recorded) -> bool:
    """Return whether ``x`` is a sum of exponentials, and so the exponential of its logarithm."""
    while x.op in ("reshape", "broadcast_to"):
        x = x.args[0]
    return x.op == "sum" and x.args[0].op == "exp"


def _float(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    x = args[0]
    if type(x.example) is float:
        return x
    y = _negated(x)  # a sign goes to the outside, where a sum takes it
    return None if y is None else tape.add("negative", (tape.add("float", (y,)),))


_IDENTITIES: dict[str, Sequence[Identity]] = {
    "multiply": (
        _one_times, _power_undone, _column_times_row, _number_times, _choice_times,
        _number_to_smaller, _numbers_first,
    ),
    "divide": (_divide,),
    "add": (_add,),
    "subtract": (_subtract,),
    "negative": (_negative,),
    "power": (_power,),
    "transpose": (_transpose,),
    "reshape": (_reshape_again, _flat_product, _entry_of_slice, _other_keepdims, _factor_outside,
        _without_first_axes,),
    "getitem": (_getitem,),
    "scatter": (_scatter,),
    "broadcast_to": (_broadcast,),
    "matmul": (_matmul,),
    "concatenate": (_concatenate, _roll),
    "einsum": (_einsum,),
    "float": (_float,),
    "sum": (partial(_factor_of_sum, "sum"), _sum, _sum_of_sums),
    "mean": (_mean_of_products, partial(_factor_of_sum, "mean")),
    "bitwise_and": (_infinite_and_finite,),
    "logical_and": (_infinite_and_finite,),
    "sqrt": (_sqrt,),
    "where": (_where,),
    "exp": (_exp,),
}  # fmt: skip
