"""NumPy's own functions of nodes: for each whose rule is known a node, for others a plain refusal.

NumPy asks its operands first (NEP 13 and 18): `~chaingrad.node.Node` sends the question here.
"""

import difflib
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from chaingrad import composed, rules
from chaingrad.rules import Traced, value

UFUNCS: dict[Any, Callable[..., Any]] = {
    np.add: rules.add, np.subtract: rules.sub, np.multiply: rules.mul, np.divide: rules.div,
    np.power: rules.pow_, np.matmul: rules.matmul, np.negative: rules.neg,
    np.positive: lambda x: x, np.absolute: rules.abs_, np.exp: rules.exp, np.log: rules.log,
    np.sqrt: rules.sqrt, np.square: lambda x: x * x, np.sin: rules.sin, np.cos: rules.cos,
    np.tanh: rules.tanh, np.log1p: rules.log1p, np.expm1: rules.expm1,
    np.logaddexp: rules.logaddexp, np.maximum: rules.maximum, np.minimum: rules.minimum,
    np.reciprocal: lambda x: 1.0 / x,
}  # fmt: skip
_OF_VALUES = (  # these give booleans, or are flat: there is no gradient to lose
    np.less, np.less_equal, np.greater, np.greater_equal, np.sign, np.isnan, np.isfinite, np.isinf,
)  # fmt: skip


def _first(x: Any, *others: Any) -> Any:
    """A node among the operands, whose dtype integers beside it take."""
    return next(y for y in (x, *others) if isinstance(y, Traced))


def _node(x: Any) -> Any:
    if not isinstance(x, Traced):
        raise TypeError("the first operand must be the node")
    return x


def _join(arrays: Sequence[Any], axis: int = 0) -> Any:
    return _first(*arrays).apply(rules.concatenate, tuple(arrays), {"axis": axis})


def _stack(arrays: Sequence[Any], axis: int = 0) -> Any:
    from chaingrad.ops import stack

    return stack(arrays, axis)


def _where(condition: Any, x: Any, y: Any) -> Any:
    chosen = np.asarray(value(condition)).astype(bool)
    if not isinstance(x, Traced) and not isinstance(y, Traced):
        return np.where(chosen, x, y)
    return _first(x, y).apply(rules.where, (x, y), {"condition": chosen})


def _dot(a: Any, b: Any) -> Any:
    scalars = not rules.shape_of(a) or not rules.shape_of(b)
    if not scalars and max(len(rules.shape_of(a)), len(rules.shape_of(b))) > 2:
        raise TypeError("np.dot of a node with more than two axes: use @ or np.einsum")
    return a * b if scalars else a @ b


def _outer(a: Any, b: Any) -> Any:
    column = rules.reshape(a, shape=(-1, 1)) if isinstance(a, Traced) else np.reshape(a, (-1, 1))
    row = rules.reshape(b, shape=(1, -1)) if isinstance(b, Traced) else np.reshape(b, (1, -1))
    return column * row


def _einsum(subscripts: str, *operands: Any) -> Any:
    return _first(*operands).apply(rules.einsum, operands, {"subscripts": subscripts})


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
    np.ravel: lambda a: _node(a).flatten(),
    np.expand_dims: lambda a, axis: composed.expand_dims(_node(a), axis),
    np.broadcast_to: lambda array, shape: rules.broadcast_to(_node(array), shape=shape),
    np.sort: lambda a, axis=-1: composed.sort(_node(a), axis),
    np.linalg.norm: lambda x, axis=None, keepdims=False: _node(x).norm(axis, keepdims),
    np.concatenate: _join,
    np.stack: _stack,
    np.where: _where,
    np.dot: _dot,
    np.outer: _outer,
    np.einsum: _einsum,
} | {
    function: _of_values(function)
    for function in (
        np.array_equal, np.array_equiv, np.allclose, np.isclose, np.shape, np.ndim, np.size,
        np.argsort, np.zeros_like, np.ones_like, np.full_like, np.empty_like, np.result_type,
    )
}  # fmt: skip


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
        if (operation := UFUNCS.get(function)) is not None:
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


_NAMES = sorted(
    {f.__name__ for f in (*UFUNCS, *FUNCTIONS)} | {r for r in rules.RULES if r.isidentifier()}
)


def _refusal(name: str, options: dict[str, Any]) -> TypeError:
    with_options = f" with {', '.join(f'{key}=' for key in options)}" if options else ""
    near = difflib.get_close_matches(name.partition(".")[0], _NAMES, n=1, cutoff=0.75)
    hint = f" The nearest there is: np.{near[0]}." if near and not options else ""
    return TypeError(
        f"np.{name} of a node{with_options} has no derivative here.{hint} Write it with the "
        "operations of Node, or give it x.data where only the value is meant"
    )
