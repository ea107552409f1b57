"""Operations that no operator writes: functions of nodes, and NumPy's own functions of them.

What is made of other operations has derivatives of any order by theirs. Numbers and arrays beside a
node are constants. NumPy asks its operands first (NEP 13 and 18), and `~chaingrad.node.Node` sends
the question to `ufunc` and `function` here.
"""

import inspect
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from chaingrad import rules
from chaingrad._products import may_lose_a_part, up_to_each, without_each
from chaingrad._subscripts import terms_of
from chaingrad.rules import JointRule, Rule, Traced, Value, is_symbol, may_hold, shape_of, value

# --- of several operands ------------------------------------------------------------------------


def maximum(a: Any, b: Any) -> Any:
    """Take the larger of ``a`` and ``b``, entry by entry; a tie gives each half the gradient."""
    return _first("maximum", a, b).apply(rules.maximum, (a, b), {})


def minimum(a: Any, b: Any) -> Any:
    """Take the smaller of ``a`` and ``b``, entry by entry; a tie gives each half the gradient."""
    return _first("minimum", a, b).apply(rules.minimum, (a, b), {})


def _without_nan(choose: Any, a: Any, b: Any) -> Any:
    """Choose one of two; the other where one is nan."""
    for x, y in ((a, b), (b, a)):
        broken = np.isnan(value(x))
        if may_hold(broken):
            chosen = rules.where(y, x, condition=broken)
            a, b = (chosen, b) if x is a else (a, chosen)
    return choose(a, b)


def where(condition: Any, a: Any, b: Any) -> Any:
    """Take ``a`` where ``condition`` holds and ``b`` elsewhere.

    Args:
        condition: booleans (or a node: true where it is not 0), through which no gradient flows.
        a, b: operands that broadcast with the condition.

    >>> from chaingrad import Node
    >>> x = Node(np.array([-1.0, 2.0]))
    >>> where(x > 0, x, 0.1 * x).data
    array([-0.1,  2. ])
    """
    chosen = value(condition)
    chosen = (chosen if is_symbol(chosen) else np.asarray(chosen)).astype(bool)
    return _first("where", a, b).apply(rules.where, (a, b), {"condition": chosen})


def concatenate(arrays: Sequence[Any], axis: int | None = 0) -> Any:
    """Join along an axis that the operands have; with None, join all entries in a row.

    Raises:
        ValueError: there is nothing to join, or the shapes differ on another axis.
        TypeError: ``axis`` is not an integer.
    """
    first = _first("concatenate", *_several("concatenate", arrays, axis))
    if axis is None:
        arrays, axis = [reshaped(x, (-1,)) for x in arrays], 0
    if any(np.ndim(value(x)) == 0 for x in arrays):
        raise ValueError("concatenate: a number has no axis to join along; use stack")
    return first.apply(rules.concatenate, tuple(arrays), {"axis": operator.index(axis)})


def stack(arrays: Sequence[Any], axis: int = 0) -> Any:
    """Join along a new axis; all operands must have the same shape.

    >>> from chaingrad import Node
    >>> stack([Node(1.0), Node(2.0)]).data
    array([1., 2.])
    """
    first = _first("stack", *_several("stack", arrays, axis))
    shapes = [np.shape(value(x)) for x in arrays]
    if len(set(shapes)) > 1:
        raise ValueError(f"stack: all must have one shape; got {', '.join(map(str, shapes[:6]))}")
    axis, axes = operator.index(axis), len(shapes[0]) + 1
    if not -axes <= axis < axes:
        raise ValueError(
            f"stack: axis must be one of the result's {axes}, 0 to {axes - 1}; got {axis}"
        )
    shape = list(shapes[0])
    shape.insert(axis % axes, 1)
    slices = tuple(reshaped(x, tuple(shape)) for x in arrays)
    return first.apply(rules.concatenate, slices, {"axis": axis})


def logaddexp(a: Any, b: Any) -> Any:
    """Compute log(exp(a) + exp(b)), entry by entry, without overflow."""
    return _first("logaddexp", a, b).apply(rules.logaddexp, (a, b), {})


def logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Compute log(sum(exp(x))) along ``axis``, without overflow."""
    return _first("logsumexp", x).apply(rules.logsumexp, (x,), {"axis": axis, "keepdims": keepdims})


def _einsum(*inputs: Any, subscripts: str) -> Any:
    *terms, result = terms_of(subscripts, [np.shape(x) for x in inputs])
    return np.einsum(f"{','.join(terms)}->{result}", *inputs)


def _einsum_shares(
    g: Value, out: Value, inputs: Sequence[Value], needed: Sequence[bool], subscripts: str
) -> Iterator[Value]:
    for i, takes in enumerate(needed):
        yield _einsum_share(g, inputs, i, subscripts) if takes else None


def _einsum_share(g: Value, inputs: Sequence[Value], i: int, subscripts: str) -> Value:
    # the sum is linear in each operand: its share is the sum of products of g and the others
    *terms, result = terms_of(subscripts, [shape_of(x) for x in inputs])
    term, shape = terms.pop(i), shape_of(inputs[i])
    others = [x for k, x in enumerate(inputs) if k != i]
    target = "".join(c for c in term if c in result + "".join(terms))
    share = _EINSUM(g, *others, subscripts=f"{','.join([result, *terms])}->{target}")
    sizes = dict(zip(target, shape_of(share), strict=True))
    found = [sizes.get(c, 1) for c in term]
    full = tuple(n if m == 1 else m for m, n in zip(found, shape, strict=True))
    if target != term or shape_of(share) != full:
        # summed over an index that nothing else has, or has once: one entry for all
        share = rules.broadcast_to(rules.reshape(share, shape=tuple(found)), shape=full)
    return share


_EINSUM: Rule = rules.register(JointRule("einsum", _einsum, _einsum_shares))


def einsum(subscripts: str, *operands: Any) -> Any:
    """Sum products over indices, as ``np.einsum`` does.

    Args:
        subscripts: such as "ij,jk->ik"; ``...`` stands for further axes.
        operands: nodes, arrays and numbers.

    Raises:
        ValueError: the terms do not fit the operands, or an operand's index repeats, as in "ii".

    >>> from chaingrad import Node
    >>> einsum("i,i->", Node(np.array([1.0, 2.0])), np.array([3.0, 4.0])).data
    11.0
    """
    if not isinstance(subscripts, str):
        raise TypeError('einsum: say which indices first, as in einsum("ij,jk->ik", x, y)')
    first = _first("einsum", *operands)
    return first.apply(_EINSUM, operands, {"subscripts": subscripts})


def dot(a: Any, b: Any) -> Any:
    """Multiply two vectors or matrices, as ``np.dot`` does; a number multiplies entry by entry.

    Raises:
        TypeError: an operand has more than two axes.
    """
    axes = [np.ndim(value(x)) for x in (a, b)]
    if not all(axes):
        return a * b
    if max(axes) > 2:
        raise TypeError("np.dot of a node with more than two axes: use @ or np.einsum")
    return a @ b


def outer(a: Any, b: Any) -> Any:
    """Multiply each entry of ``a`` (rows) by each entry of ``b`` (columns)."""
    return reshaped(a, (-1, 1)) * reshaped(b, (1, -1))


def _first(what: str, *operands: Any) -> Any:
    """Return the first node, whose dtype integers take, or else a constant."""
    if not operands:
        raise ValueError(f"{what}: give at least one node")
    node = next((x for x in operands if isinstance(x, Traced) and not is_symbol(x)), None)
    return Traced._constant(operands[0]) if node is None else node


def _several(what: str, arrays: Any, axis: Any) -> Sequence[Any]:
    if isinstance(arrays, Traced) or isinstance(axis, Traced):
        raise TypeError(f"{what}: pass the operands as a list, {what}([x, y])")
    return arrays  # type: ignore[no-any-return]


def reshaped(x: Any, shape: tuple[int, ...]) -> Any:
    """Give the entries of a node or an array another shape."""
    return rules.reshape(x if isinstance(x, Traced) else np.asarray(x), shape=shape)


# --- of one node: methods of it, and its own docstrings -----------------------------------------


def flatten(x: Any) -> Any:
    """Put all entries along one axis."""
    return rules.reshape(x, shape=(-1,))


def along_an_axis(x: Any, axis: int | None) -> tuple[Any, int]:
    """Return ``x`` and the axis to work along, counted from the front, as NumPy takes them.

    Without an axis, all entries are put in a row; a number is a row of one.
    """
    if axis is None:
        return flatten(x), 0
    x = x if x.ndim else flatten(x)
    return x, normalize_axis_index(axis, x.ndim)


def squeeze(x: Any, axis: Any = None) -> Any:
    """Drop the axes of size 1, or only the axes you name."""
    return rules.reshape(x, shape=np.squeeze(np.empty(x.shape, bool), axis).shape)


def expand_dims(x: Any, axis: Any) -> Any:
    """Insert an axis of size 1 at each position you name."""
    return rules.reshape(x, shape=np.expand_dims(np.empty(x.shape, bool), axis).shape)


def clip(x: Any, low: Any = None, high: Any = None, *, min: Any = None, max: Any = None) -> Any:
    """Limit entries to ``low`` and ``high``; the slope is 1 from bound to bound, 0 beyond.

    ``min`` and ``max`` are NumPy's and PyTorch's names of the bounds.

    Raises:
        TypeError: a bound is a node, which would take a gradient too.
    """
    low, high = (min if low is None else low), (max if high is None else high)
    if any(isinstance(bound, Traced) and not is_symbol(bound) for bound in (low, high)):
        raise TypeError("clip: bounds are numbers or arrays; with nodes use maximum and minimum")
    low, high = (-np.inf if low is None else low), (np.inf if high is None else high)
    low, high = (b.copy() if isinstance(b, np.ndarray) else b for b in (low, high))
    return rules.clip(x, low=low, high=high)


def var(x: Any, axis: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
    """Compute the mean squared distance from the mean along ``axis``, over n - ``ddof`` entries.

    Raises:
        ValueError: n is not more than ``ddof``.
    """
    return _in_float32(lambda x: _var(x, axis, ddof, keepdims), x)


def std(x: Any, axis: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
    """Take the root of `var`; the slope is taken as 0 where `var` is 0."""
    return _in_float32(lambda x: _root(_var(x, axis, ddof, keepdims)), x)


def _var(x: Any, axis: Any, ddof: float, keepdims: bool) -> Any:
    axes = normalize_axis_tuple(range(x.ndim) if axis is None else axis, x.ndim)
    count = math.prod(x.shape[i] for i in axes)
    others = math.prod(n for i, n in enumerate(x.shape) if i not in axes)
    if count <= ddof and others:  # of no rows there are no variances
        raise ValueError(f"var: {count} entries are too few for ddof={ddof}")
    away = x - x.mean(axis=axis, keepdims=True)
    total = rules.sum_(away * away, axis=axis, keepdims=keepdims)
    return total / float(count - ddof) if others else total


def _in_float32(compute: Callable[[Any], Any], x: Any) -> Any:
    """Compute in float32 what float16 would overflow in: its squares end at 256."""
    if x.dtype != np.float16:
        return compute(x)
    return rules.cast(compute(rules.cast(x, dtype=np.float32)), dtype=np.float16)


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """Take the root of the sum of squares along ``axis``; the slope at 0 is taken as 0.

    The second derivative is nan there, also of a smooth function such as the norm's square: write
    that as `~chaingrad.node.Node.squared_norm` or ``(x * x).sum()``.

    Arguments in the order of ``np.linalg.norm``; ``ord`` may say 2 of vectors, "fro" of matrices.

    Raises:
        TypeError: another ``ord``.
    """
    vectors = x.ndim == 1 if axis is None else np.ndim(axis) == 0
    if not (ord is None or (ord == 2 and vectors) or (ord == "fro" and not vectors)):
        hint = {
            1: "; for the sum of absolute values write np.abs(x).sum(axis=...)",
            2: "; for the lengths of rows or columns name an axis, axis=",
        }.get(ord, "")
        raise TypeError(
            f"norm: ord={ord!r} has no derivative here, only the root of the sum of squares has"
            + hint
        )
    return root_of_squares(x, axis, keepdims)


def root_of_squares(x: Any, axis: Any, keepdims: bool) -> Any:
    """Take the root of the sum of squares along ``axis``; the slope at 0 is taken as 0."""
    return _in_float32(lambda x: _root(rules.sum_(x * x, axis=axis, keepdims=keepdims)), x)


def _root(square: Any) -> Any:
    """Take the square root, with slope 0 where the square is 0: a norm has its tip there.

    The derivative of that slope is nan there, since near a tip slopes turn without bound.
    """
    zero = square.data == 0
    if not may_hold(zero):
        return rules.sqrt(square)
    square = rules.tip(square, condition=zero)
    return rules.where(0.0, rules.sqrt(rules.where(1.0, square, condition=zero)), condition=zero)


def prod(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Multiply the entries along ``axis``, by halves; gradients are right even if factors are 0.

    Where a half could overflow or vanish though the product doesn't, a rule of its own computes it.
    """
    shape = x.shape
    named = range(len(shape)) if axis is None else axis
    axes = set(normalize_axis_tuple(named, max(len(shape), 1), "axis"))
    axes = axes if shape else set()  # a number takes the axis of a row of one, as in NumPy
    kept = [i for i in range(len(shape)) if i not in axes]
    count = math.prod(shape[i] for i in axes)
    factors = rules.transpose(x, axes=(*sorted(axes), *kept)) if kept and axes else x
    factors = rules.reshape(factors, shape=(count, *[shape[i] for i in kept]))
    if not count:
        factors = factors.sum(axis=0, keepdims=True) + 1.0
    if count > 1 and not is_symbol(factors.data) and may_lose_a_part(factors.data):
        factors, count = expand_dims(product_(factors), 0), 1
    while count > 1:
        half = count // 2
        odd = factors[2 * half :]
        factors = factors[:half] * factors[half : 2 * half]
        if count % 2:
            factors = rules.concatenate(factors, odd, axis=0)
        count = (count + 1) // 2
    if not keepdims:
        return factors[0]
    return rules.reshape(factors, shape=tuple(1 if i in axes else n for i, n in enumerate(shape)))


def _with_ones(a: Value) -> Value:
    """Repeat factors along a new second axis, with a 1 in place of the i-th at the i-th place."""
    n, *others = shape_of(a)
    many = rules.broadcast_to(rules.reshape(a, shape=(n, 1, *others)), shape=(n, n, *others))
    return rules.where(1.0, many, condition=_triangle(a, 0) & ~_triangle(a, -1))


def _triangle(a: Value, k: int) -> Any:
    n, *others = shape_of(a)
    return np.tri(n, n, k, dtype=bool).reshape(n, n, *[1] * len(others))


def _weighed(g: Value, factors: Value, zero: Any) -> Value:
    """Sum ``factors`` times ``g`` over the first axis, but for those that are to be zero."""
    n, *others = shape_of(g)
    if not isinstance(g, Traced):  # nor is a product that nothing asks for, which may be infinite
        zero = zero | (g == 0).reshape(n, 1, *others)
    weights = rules.reshape(g, shape=(n, 1, *others))
    return rules.sum_(weights * rules.where(0.0, factors, condition=zero), axis=0)


def _in_dtype(compute: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def computed(a: Any) -> Any:
        with np.errstate(over="ignore"):
            return compute(a).astype(rules.float_dtype(a))

    return computed


product_: Rule = rules.rule(
    "product", lambda a: np.prod(a, axis=0), lambda g, out, a: g * without_each_(a)
)
without_each_: Rule = rules.rule(
    "without_each",
    _in_dtype(without_each),
    lambda g, out, a: _weighed(
        g, without_each_(_with_ones(a)), _triangle(a, 0) & ~_triangle(a, -1)
    ),
)
up_to_each_: Rule = rules.rule(
    "up_to_each",
    _in_dtype(up_to_each),
    lambda g, out, a: _weighed(g, up_to_each_(_with_ones(a)), ~_triangle(a, 0)),
)


def cumsum(x: Any, axis: int | None = None) -> Any:
    """Sum up to each entry along ``axis``; with None, run through all entries in a row."""
    x, axis = along_an_axis(x, axis)
    return rules.cumsum(x, axis=axis)


def sort(x: Any, axis: int | None = -1) -> Any:
    """Return a node with the entries in rising order along ``axis``; ``x`` stays as it is.

    None sorts all entries in a row.

    Raises:
        TypeError: ``x`` is a number, and an axis is named.
    """
    if axis is None:
        x, axis = flatten(x), 0
    if not x.shape:
        raise TypeError("sort: a single number has no axis to sort along")
    index = list(np.ogrid[tuple(slice(n) for n in x.shape)])
    index[axis] = np.argsort(x.data, axis=axis, kind="stable")
    return rules.getitem(x, index=tuple(index))


def softplus(x: Any) -> Any:
    """Compute log(1 + exp(x)) of each entry, a smooth positive part, without overflow."""
    return rules.logaddexp(x, 0.0)


def logsigmoid(x: Any) -> Any:
    """Compute the log of each entry's logistic function, -log(1 + exp(-x)), without overflow."""
    return -rules.logaddexp(-x, 0.0)


# --- NumPy's own functions ----------------------------------------------------------------------

# Universal functions whose rules have other names; `exp` and the like are found by theirs.
UFUNCS: dict[Any, Callable[..., Any]] = {
    np.subtract: rules.sub,
    np.multiply: rules.mul,
    np.divide: rules.div,
    np.power: rules.pow_,
    np.negative: rules.neg,
    np.absolute: rules.abs_,
    np.positive: lambda x: x,
    np.square: lambda x: x * x,
    np.reciprocal: lambda x: 1.0 / x,
    np.deg2rad: lambda x: x * (math.pi / 180),
    np.radians: lambda x: x * (math.pi / 180),
    np.rad2deg: lambda x: x * (180 / math.pi),
    np.degrees: lambda x: x * (180 / math.pi),
    np.fmax: lambda a, b: _without_nan(maximum, a, b),
    np.fmin: lambda a, b: _without_nan(minimum, a, b),
    np.vecdot: lambda a, b: (a * b).sum(axis=-1),
}
SCIPY: dict[
    str, Callable[..., Any]
] = {  # of scipy.special, by name, so that SciPy need not be there
    "expit": rules.sigmoid,
    "log_expit": lambda x: -rules.logaddexp(-x, 0.0),
}
# fmt: off
_OF_VALUES = (  # these give booleans, or are flat: there is no gradient to lose
    np.less, np.less_equal, np.greater, np.greater_equal, np.sign, np.isnan, np.isfinite, np.isinf,
)


def _node(x: Any) -> Any:
    if not isinstance(x, Traced):
        raise TypeError("the first operand must be the node")
    return x


def _method(name: str) -> Callable[..., Any]:
    return lambda a, **options: getattr(_node(a), name)(**options)


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    getattr(np, name): _method(name)
    for name in (
        "sum", "mean", "max", "min", "var", "std", "prod", "cumsum", "squeeze", "argmax", "argmin",
        "expand_dims", "sort",
    )
} | {
    np.amax: _method("max"), np.amin: _method("min"), np.linalg.norm: _method("norm"),
    np.reshape: lambda a, shape: _node(a).reshape(shape),
    np.transpose: lambda a, axes=None: _node(a).transpose(axes),
    np.clip: lambda a, a_min=None, a_max=None, **named: clip(_node(a), a_min, a_max, **named),
    np.ravel: lambda a: flatten(_node(a)),
    np.broadcast_to: lambda array, shape: rules.broadcast_to(_node(array), shape=shape),
    np.concatenate: concatenate, np.stack: stack, np.where: where, np.dot: dot, np.outer: outer,
    np.einsum: einsum,
}
_QUESTIONS = {  # functions whose answers are plain values
    np.array_equal, np.array_equiv, np.allclose, np.isclose, np.shape, np.ndim, np.size,
    np.argsort, np.zeros_like, np.ones_like, np.empty_like, np.result_type,
}
_WITHOUT = {  # NumPy's options that no rule has
    "out", "dtype", "where", "initial", "order", "casting", "kind", "stable", "copy", "subok",
    "mean", "correction", "optimize", "device",
}
# fmt: on


def ufunc(function: Any, method: str, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
    """Compute a NumPy universal function of ``inputs``, one of which is a node.

    Raises:
        TypeError: there is no rule for it, or it would write into an array.
    """
    if "out" in options:
        raise TypeError(
            f"np.{function.__name__} cannot write a node into an array, which would lose its "
            "graph: write a = a + x instead of a += x, and drop out="
        )
    if method == "__call__" and not options:
        name = function.__name__
        operation = UFUNCS.get(function) or rules.RULES.get(name) or SCIPY.get(name)
        if operation is not None:
            return operation(*inputs)
        if function in _OF_VALUES:
            return function(*map(value, inputs))
        if function in (np.equal, np.not_equal):
            raise TypeError(
                "== and != of nodes compare identity, not values: compare x.data, say "
                "np.array_equal(a, x.data)"
            )
    name = function.__name__ if method == "__call__" else f"{function.__name__}.{method}"
    raise _refusal(name, tuple(options))


def function(called: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Compute another NumPy function of arguments, one of which is a node.

    Raises:
        TypeError: there is no rule for it, or not with these arguments.
    """
    beside = (*args[1:], *kwargs.values())
    plain_fill = called is np.full_like and not any(isinstance(x, Traced) for x in beside)
    if called in _QUESTIONS or plain_fill:
        return called(*map(value, args), **kwargs)
    operation = FUNCTIONS.get(called)
    name = f"{called.__module__}.{called.__name__}".removeprefix("numpy.")  # as linalg.solve
    if operation is None:
        raise _refusal(name, ())
    try:
        first, options = _numpy_arguments(called, operation, args, kwargs)
    except TypeError as error:
        raise TypeError(f"np.{name} of a node: {error}") from None
    refused = [name for name in options if name in _WITHOUT]
    if refused:
        raise _refusal(name, refused)
    return operation(*first, **options)


def _numpy_arguments(
    called: Any, operation: Any, args: Sequence[Any], kwargs: dict[str, Any]
) -> tuple[Sequence[Any], dict[str, Any]]:
    """Name the operands, and the options that the call sets to something other than the default.

    Of what NumPy writes in C, whose signature not every version tells, all is an operand.
    """
    if operation.__name__ == called.__name__:
        inspect.signature(operation).bind(
            *args, **{k: kwargs[k] for k in kwargs if k not in _WITHOUT}
        )
        return args, kwargs
    signature = inspect.signature(called)
    given = signature.bind(*args, **kwargs).arguments
    first = given.pop(next(iter(signature.parameters)))
    kept = signature.parameters
    return (first,), {name: x for name, x in given.items() if x is not kept[name].default}


def _refusal(name: str, options: Iterable[str]) -> TypeError:
    with_options = f" with {', '.join(f'{key}=' for key in options)}" if options else ""
    return TypeError(
        f"np.{name} of a node{with_options} has no derivative here. Write it with the operations "
        "of Node, or as a rule of your own (chaingrad.rules.rule); or give it x.data where only "
        "the value is meant"
    )
