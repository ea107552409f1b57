"""Operations that no operator writes: functions of nodes, and NumPy's own functions of them.

What is made of other operations has derivatives of any order by theirs. Numbers and arrays beside a
node are constants. NumPy asks its operands first (NEP 13 and 18), and `~chaingrad.node.Node` sends
the question to `ufunc` and `function` here.
"""

import difflib
import inspect
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from chaingrad import rules
from chaingrad.rules import Traced, is_symbol, may_hold, shape_of, value

# --- of several operands ------------------------------------------------------------------------


def maximum(a: Any, b: Any) -> Any:
    """The larger of ``a`` and ``b``, entry by entry; a tie gives each half of the gradient."""
    return _first("maximum", a, b).apply(rules.maximum, (a, b), {})


def minimum(a: Any, b: Any) -> Any:
    """The smaller of ``a`` and ``b``, entry by entry; a tie gives each half of the gradient."""
    return _first("minimum", a, b).apply(rules.minimum, (a, b), {})


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
    """Join along an axis that the operands have; None joins all entries, in a row.

    Raises:
        ValueError: there is nothing to join, or the shapes differ on another axis.
        TypeError: ``axis`` is not an integer.
    """
    first = _first("concatenate", *arrays)
    if axis is None:
        arrays, axis = [_reshaped(x, (-1,)) for x in arrays], 0
    if any(np.ndim(value(x)) == 0 for x in arrays):
        raise ValueError("concatenate: a number has no axis to join along; use stack")
    return first.apply(rules.concatenate, tuple(arrays), {"axis": operator.index(axis)})


def stack(arrays: Sequence[Any], axis: int = 0) -> Any:
    """Join along a new axis; all operands have one shape.

    >>> from chaingrad import Node
    >>> stack([Node(1.0), Node(2.0)]).data
    array([1., 2.])
    """
    first = _first("stack", *arrays)
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
    slices = tuple(_reshaped(x, tuple(shape)) for x in arrays)
    return first.apply(rules.concatenate, slices, {"axis": axis})


def logaddexp(a: Any, b: Any) -> Any:
    """log(exp(a) + exp(b)), entry by entry, without overflow."""
    return _first("logaddexp", a, b).apply(rules.logaddexp, (a, b), {})


def einsum(subscripts: str, *operands: Any) -> Any:
    """Sums of products over indices, as ``np.einsum`` writes them.

    Args:
        subscripts: such as "ij,jk->ik"; ``...`` stands for further axes.
        operands: nodes, arrays and numbers.

    Raises:
        ValueError: the terms do not fit the operands, or an operand's index repeats, as in "ii".

    >>> from chaingrad import Node
    >>> einsum("i,i->", Node(np.array([1.0, 2.0])), np.array([3.0, 4.0])).data
    11.0
    """
    first = _first("einsum", *operands)
    return first.apply(rules.einsum, operands, {"subscripts": subscripts})


def dot(a: Any, b: Any) -> Any:
    """The product of two vectors or matrices, as ``np.dot``; times a number, entry by entry.

    Raises:
        TypeError: an operand has more than two axes.
    """
    if not shape_of(a) or not shape_of(b):
        return a * b
    if max(len(shape_of(a)), len(shape_of(b))) > 2:
        raise TypeError("np.dot of a node with more than two axes: use @ or np.einsum")
    return a @ b


def outer(a: Any, b: Any) -> Any:
    """The products of each entry of ``a`` (rows) with each of ``b`` (columns)."""
    return _reshaped(a, (-1, 1)) * _reshaped(b, (1, -1))


def _first(what: str, *operands: Any) -> Any:
    """The first node, beside which integers take its dtype, or else a constant."""
    if not operands:
        raise ValueError(f"{what}: give at least one node")
    node = next((x for x in operands if isinstance(x, Traced)), None)
    return Traced._constant(operands[0]) if node is None else node


def _reshaped(x: Any, shape: tuple[int, ...]) -> Any:
    return rules.reshape(x if isinstance(x, Traced) else np.asarray(x), shape=shape)


# --- of one node: methods of it, and its own docstrings -----------------------------------------


def flatten(x: Any) -> Any:
    """All entries along one axis."""
    return rules.reshape(x, shape=(-1,))


def squeeze(x: Any, axis: Any = None) -> Any:
    """Drop the axes of size 1, or those named."""
    return rules.reshape(x, shape=np.squeeze(np.empty(x.shape, bool), axis).shape)


def expand_dims(x: Any, axis: Any) -> Any:
    """Insert an axis of size 1 at each place named."""
    return rules.reshape(x, shape=np.expand_dims(np.empty(x.shape, bool), axis).shape)


def clip(x: Any, low: Any = None, high: Any = None) -> Any:
    """Entries limited to ``low`` and ``high``; the slope is 1 from bound to bound, 0 beyond.

    Raises:
        TypeError: a bound is a node, which would take a gradient too.
    """
    if any(isinstance(bound, Traced) for bound in (low, high)):
        raise TypeError("clip: bounds are numbers or arrays; with nodes use maximum and minimum")
    low, high = (-np.inf if low is None else low), (np.inf if high is None else high)
    within = (x.data >= low) & (x.data <= high)
    outside = rules.cast(np.clip(x.data, low, high), dtype=x.dtype)
    return rules.where(x, outside, condition=within)


def var(x: Any, axis: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
    """The mean square distance from the mean along ``axis``, over n - ``ddof`` entries."""
    away = x - x.mean(axis=axis, keepdims=True)
    total = rules.sum_(away * away, axis=axis, keepdims=keepdims)
    count = x.size // max(total.size, 1) - ddof
    if count <= 0:
        raise ValueError(f"var: {count + ddof} entries are too few for ddof={ddof}")
    return total / float(count)


def std(x: Any, axis: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
    """The root of `var`; its slope where that is 0 is taken as 0."""
    return _root(var(x, axis, ddof, keepdims))


def norm(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The root of the sum of squares along ``axis``; its slope at 0 is taken as 0."""
    return _root(rules.sum_(x * x, axis=axis, keepdims=keepdims))


def _root(square: Any) -> Any:
    """The square root, with slope 0 where the square is 0: as of a norm, whose tip is there."""
    zero = np.equal(square.data, 0)
    if not may_hold(zero):
        return rules.sqrt(square)
    return rules.where(0.0, rules.sqrt(rules.where(1.0, square, condition=zero)), condition=zero)


def prod(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The product along ``axis``, by halves; gradients are right also where factors are 0."""
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


def cumsum(x: Any, axis: int | None = None) -> Any:
    """The sums up to each entry along ``axis``; None runs through all entries in a row."""
    return rules.cumsum(flatten(x), axis=0) if axis is None else rules.cumsum(x, axis=axis)


def sort(x: Any, axis: int = -1) -> Any:
    """A node with the entries in rising order along ``axis``; ``x`` stays as it is.

    Raises:
        TypeError: ``x`` is a number.
    """
    if not x.shape:
        raise TypeError("sort: a single number has no axis to sort along")
    index = list(np.ogrid[tuple(slice(n) for n in x.shape)])
    index[axis] = np.argsort(x.data, axis=axis, kind="stable")
    return x[tuple(index)]


def softplus(x: Any) -> Any:
    """log(1 + exp(x)) of each entry, a smooth positive part, without overflow."""
    return rules.logaddexp(x, 0.0)


def logsigmoid(x: Any) -> Any:
    """The logarithm of the logistic function of each entry, -log(1 + exp(-x)), without overflow."""
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
    return lambda a, *args, **kwargs: getattr(_node(a), name)(*args, **kwargs)


def _of_values(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **kwargs: function(*map(value, args), **kwargs)


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    getattr(np, name): _method(name)
    for name in (
        "sum", "mean", "max", "min", "var", "std", "prod", "cumsum", "reshape", "transpose",
        "squeeze", "clip", "argmax", "argmin",
    )
} | {
    np.ravel: lambda a: flatten(_node(a)),
    np.expand_dims: lambda a, axis: expand_dims(_node(a), axis),
    np.broadcast_to: lambda array, shape: rules.broadcast_to(_node(array), shape=shape),
    np.sort: lambda a, axis=-1: sort(_node(a), axis),
    np.linalg.norm: lambda x, axis=None, keepdims=False: norm(_node(x), axis, keepdims),
    np.concatenate: concatenate, np.stack: stack, np.where: where, np.dot: dot, np.outer: outer,
    np.einsum: einsum,
} | {
    function: _of_values(function)
    for function in (
        np.array_equal, np.array_equiv, np.allclose, np.isclose, np.shape, np.ndim, np.size,
        np.argsort, np.zeros_like, np.ones_like, np.full_like, np.empty_like, np.result_type,
    )
}
# fmt: on


def ufunc(function: Any, method: str, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
    """What a universal function gives for ``inputs`` with a node among them.

    Raises:
        TypeError: there is no rule for it, or it would write into an array.
    """
    if "out" in options:
        raise TypeError(
            f"np.{function.__name__} cannot write a node into an array, which would lose its "
            "graph: write a = a + x instead of a += x, and leave out= away"
        )
    if method == "__call__" and not options:
        operation = UFUNCS.get(function) or rules.RULES.get(function.__name__)
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
    raise _refusal(name, options)


def function(called: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """What another function of NumPy gives for arguments with a node among them.

    Raises:
        TypeError: there is no rule for it, or not with these arguments.
    """
    operation = FUNCTIONS.get(called)
    if operation is None:
        raise _refusal(called.__name__, {})
    unknown = [key for key in ("out", "dtype", "where", "initial", "order") if key in kwargs]
    if unknown:
        raise _refusal(called.__name__, kwargs)
    try:
        inspect.signature(operation).bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"np.{called.__name__} of a node: {error}") from None
    return operation(*args, **kwargs)


def _refusal(name: str, options: dict[str, Any]) -> TypeError:
    with_options = f" with {', '.join(f'{key}=' for key in options)}" if options else ""
    own = {f.__name__ for f in (*UFUNCS, *FUNCTIONS)}
    known = sorted(own | {r for r in rules.RULES if isinstance(getattr(np, r, None), np.ufunc)})
    near = difflib.get_close_matches(name.partition(".")[0], known, n=1, cutoff=0.75)
    hint = f" The nearest there is: np.{near[0]}." if near and not options else ""
    return TypeError(
        f"np.{name} of a node{with_options} has no derivative here.{hint} Write it with the "
        "operations of Node, or give it x.data where only the value is meant"
    )
