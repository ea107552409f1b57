"""What is not written down, because something shorter gives the same.

Each identity holds for every value for which nothing overflows, up to rounding and to the sign of a
zero. It says itself for which ranks, sizes and dtypes: NumPy adds booleans up to integers and lets
small integers wrap, so hardly anything that is true of floats is true of these. What floats do not
cancel stays, as (a + b) - b, which is not a where b is large, and a - a, which may be nan.
"""

import math
from collections.abc import Callable, Sequence
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
    inner = [x.args[0] if x.op == "broadcast_to" else x for x in args]
    longest = max(x.ndim for x in inner)
    inner = [_without_new_axes(x) if x.ndim == longest else x for x in inner]
    if max(x.ndim for x in inner) < longest:  # somebody's axes must be there
        inner = [x.args[0] if x.op == "broadcast_to" else x for x in args]
    if all(x is y for x, y in zip(inner, args, strict=True)):
        return None
    smaller = computed(op, [x.example for x in inner], options)
    if np.result_type(smaller) != np.result_type(example):
        return None
    out = tape.add(op, inner, **options)
    if np.shape(smaller) == np.shape(example):
        return out
    return tape.add("broadcast_to", (out,), shape=np.shape(example))


def _with_plain_numbers(
    tape: Tape, op: str, args: Sequence[Recorded], options: dict[str, Any], example: Any
) -> Found:
    """Write a number of NumPy's as a plain one where an array beside it has its dtype."""
    dtypes = {x.dtype for x in args if x.shape}
    if len(dtypes) != 1 or (dtype := dtypes.pop()).kind != "f" or op == "where":
        return None
    plain = [_plain(x) if x.dtype == dtype else x for x in args]
    if all(x is y for x, y in zip(plain, args, strict=True)):
        return None
    return tape.add(op, plain, **options)


def _plain(x: Recorded) -> Recorded:
    is_number = x.is_constant and x.is_array and not x.shape
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
    if any(y.is_array and not _is_floating(y) for y in x.args):
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


def _scale(tape: Tape, c: float, x: Recorded) -> Recorded:
    return tape.add("negative", (x,)) if c == -1.0 else tape.add("multiply", (c, x))


def _one_times(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    """1 y = y."""
    for x, y in _both_ways(args):
        if _is(x, 1.0) and _same(y, example):
            return y
    return None


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
        before = _scaled(y)
        if before and _is_sound(c, y) and _is_sound(c * before[0], y):
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
    before = _scaled(a)
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
    if a.op == "add" and a.args[1] is b and _is_floating(b):
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


def _subtract(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    a, b = args
    if _is(b, 0.0) and _same(a, example):
        return a
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
    a, b = args
    return a if _is(b, 1.0) and _same(a, example) else None


def _transpose(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    x, axes = args[0], options["axes"]
    order = axes or tuple(range(x.ndim))[::-1]
    if x.op == "transpose":
        before = x.option("axes") or tuple(range(x.ndim))[::-1]
        return x.args[0].transpose(*[before[i] for i in order])
    if axes is None and (turned := _turned(tape, x, 0)) is not None:
        return turned
    if axes is None and x.ndim == 2 and 1 in x.shape and _flat(x) is not None:
        return x.args[0].reshape(x.shape[::-1])
    if before := _scaled(x):
        c, y = before
        if y.op == "transpose":
            return _scale(tape, c, y.transpose(*order))
        if axes is None and (turned := _turned(tape, y, 1)) is not None:
            return _scale(tape, c, turned)
    return None


def _turned(tape: Tape, x: Recorded, uses: int) -> Found:
    """Write the transpose of a product with transposed factors, unless others read the product."""
    if tape.uses[x] > uses:
        return None
    if x.op == "matmul" and x.args[0].ndim == x.args[1].ndim == 2:
        a, b = x.args
        return tape.add("matmul", (b.T, a.T))
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


def _sign_outside(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    """Reshape x in -x."""
    y = _negated(args[0])
    return None if y is None else tape.add("negative", (y.reshape(options["shape"]),))


def _names_axes(index: Any) -> bool:
    """Return whether an index picks nothing: all of each axis, and new axes."""
    parts = index if isinstance(index, tuple) else (index,)
    return all(part is None or part is ... or part == slice(None) for part in parts)


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


def _flat(x: Recorded) -> Found:
    """Return the vector that a row, a column or the like was made of."""
    return x.args[0] if x.op == "reshape" and x.args[0].ndim == 1 else None


def _sum(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    x = args[0]
    if np.ndim(example) and x.size == np.size(example) and x.dtype == np.result_type(example):
        return x.reshape(np.shape(example))
    y = _negated(x)
    return None if y is None else tape.add("negative", (tape.add("sum", (y,), **options),))


def _is_shifted(x: Recorded) -> bool:
    """Return whether ``x`` is a - max(a) of floats, so that its exponentials can't overflow."""
    if x.op != "subtract" or not _is_floating(x):
        return False
    a, top = x.args
    spread = top.option("keepdims") or top.option("axis") is None  # else along another axis
    return top.op == "max" and top.args[0] is a and bool(spread)


def _where(tape: Tape, args: Sequence[Recorded], options: Any, example: Any) -> Found:
    condition, top, other = args
    settled = condition.args[0] if condition.op == "broadcast_to" else condition
    if settled.is_constant and not settled.shape:
        chosen = top if settled.example else other
        if _same(chosen, example):
            return chosen
        if chosen.dtype == np.result_type(example) and np.shape(example):
            return tape.add("broadcast_to", (chosen,), shape=np.shape(example))
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
        _one_times, _column_times_row, _number_times, _choice_times, _number_to_smaller,
        _numbers_first,
    ),
    "divide": (_divide,),
    "add": (_add,),
    "subtract": (_subtract,),
    "negative": (_negative,),
    "power": (_power,),
    "transpose": (_transpose,),
    "reshape": (_reshape_again, _flat_product, _entry_of_slice, _other_keepdims, _sign_outside),
    "getitem": (_getitem,),
    "scatter": (_scatter,),
    "broadcast_to": (_broadcast,),
    "matmul": (_matmul,),
    "concatenate": (_concatenate,),
    "einsum": (_einsum,),
    "float": (_float,),
    "sum": (_sum,),
    "where": (_where,),
    "exp": (_exp,),
}  # fmt: skip
