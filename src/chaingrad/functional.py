"""Derivatives of functions: gradients, products with Jacobians and Hessians, and their check.

The functions differentiated take nodes and give a node. Their arguments here are numbers, arrays or
nodes: numbers and arrays give numbers and arrays back, nodes that require a gradient give nodes, so
that derivatives can be nested. Within a function that is being differentiated they always give
nodes, since it may read what the outer derivative is taken by (not so in a thread that it starts).
No ``grad`` attribute is touched. Within `~chaingrad.modes.no_grad` derivatives are computed as
ever, and their results are constants.
"""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec

import numpy as np

from chaingrad import modes, rules
from chaingrad.backward import propagate
from chaingrad.node import Node, as_data
from chaingrad.ops import stack

P = ParamSpec("P")


def _constant_within_no_grad(derivative: Callable[P, Any]) -> Callable[P, Any]:
    """Let ``derivative`` record, as it has to, and cut its results off afterwards."""

    @functools.wraps(derivative)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> Any:
        result = derivative(*args, **kwargs)
        return _detached(result) if modes.paused() else result

    return wrapped


def _detached(result: Any) -> Any:
    if isinstance(result, tuple):
        return tuple(map(_detached, result))
    # By a rule, which does not record here, so that what watches sees the node read.
    return rules.alias(result) if isinstance(result, Node) else result


def value_and_grad(f: Callable[..., Node], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """Make a function that gives the value of ``f`` and its gradient.

    Args:
        f: gives a scalar node.
        argnums: the position of the argument to differentiate by, or several of them.

    Returns:
        A function of the arguments of ``f`` that gives ``(value, gradient)``; the gradient is a
        tuple where ``argnums`` is a sequence. Each gradient has the shape of its argument.

    Raises:
        ValueError: (from the function) ``f`` does not give a scalar, or an argument is missing.
        TypeError: ``f`` does not give a node.

    >>> value_and_grad(lambda w, x: (w * x).tanh(), argnums=(0, 1))(0.5, 0.0)
    (0.0, (0.0, 0.5))
    """
    one = isinstance(argnums, int | np.integer)
    positions: tuple[Any, ...] = (argnums,) if one else tuple(argnums)  # type: ignore[arg-type]

    @_constant_within_no_grad
    def both(*args: Any, **kwargs: Any) -> Any:
        for position in positions:
            if not -len(args) <= position < len(args):
                raise ValueError(
                    f"argnums={argnums!r} asks for argument {position}, but the "
                    f"function was called with {len(args)}"
                )
        nested, inputs, out = _traced(f, args, [i % len(args) for i in positions], **kwargs)
        if out.size != 1:
            raise ValueError(
                f"grad needs a function that gives one number; this one gave "
                f"shape {out.shape}: reduce it, say with .sum(), or use vjp"
            )
        variables = [inputs[position] for position in positions]
        gradients = _pull(out, None, variables, nested)
        answer = out if nested else out.data
        return answer, gradients[0] if one else gradients

    return both


def grad(f: Callable[..., Node], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """Make a function that gives the gradient of ``f``; see `value_and_grad`.

    >>> grad(lambda x: x**3)(2.0)
    12.0
    >>> grad(grad(lambda x: x**3))(2.0)
    12.0
    """
    both = value_and_grad(f, argnums)
    return lambda *args, **kwargs: both(*args, **kwargs)[1]


@_constant_within_no_grad
def vjp(f: Callable[..., Node], *primals: Any) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """Compute ``f(*primals)`` and the function that pulls a cotangent back through it.

    Returns:
        ``(out, pull)``: ``pull(u)`` takes ``u`` of the shape of ``out`` and gives the
        vector-Jacobian product uᵀ ∂out/∂primal for each primal, in its shape.

    >>> out, pull = vjp(lambda x: x * x, np.array([1.0, 2.0]))
    >>> pull(np.array([1.0, 10.0]))
    (array([ 2., 40.]),)
    """
    nested, inputs, out = _traced(f, primals, range(len(primals)))

    @_constant_within_no_grad
    def pull(cotangent: Any) -> tuple[Any, ...]:
        return _pull(out, cotangent, inputs, nested or _is_variable(cotangent))

    return (out if nested else out.data), pull


@_constant_within_no_grad
def jvp(f: Callable[..., Node], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """Compute ``f(*primals)`` and the Jacobian-vector product ∂out/∂primals · tangents.

    The VJP uᵀJ is linear in u; its own VJP with respect to u is Jv: the reverse pass, transposed
    twice, gives the forward one.

    Raises:
        ValueError: the tangents do not match the primals in number or shape.

    >>> jvp(lambda x: x**2, [3.0], [1.0])
    (9.0, 6.0)
    """
    primals, tangents = [_given(x) for x in primals], [_given(v) for v in tangents]
    if len(primals) != len(tangents):
        raise ValueError(f"jvp: {len(primals)} primals need as many tangents; got {len(tangents)}")
    for i, (x, v) in enumerate(zip(primals, tangents, strict=True)):
        if rules.shape_of(x) != rules.shape_of(v):
            raise ValueError(
                f"jvp: tangent {i} must have the shape {rules.shape_of(x)} of its "
                f"primal; got {rules.shape_of(v)}"
            )
    nested, inputs, out = _traced(f, primals, range(len(primals)))
    nested = nested or any(map(_is_variable, tangents))
    u = Node(np.zeros_like(out.data) if type(out.data) is not float else 0.0)
    if not out.requires_grad:
        tangent: Any = Node(u.data, requires_grad=False)
    else:
        with modes.recording():
            pulled = _pull(out, u, inputs, True)
            products = [rules.sum_(g * v) for g, v in zip(pulled, tangents, strict=True)]
            total = sum(products[1:], products[0])
        tangent = _pull(total, None, [u], True)[0]
    return (out, tangent) if nested else (out.data, tangent.data)


def hvp(f: Callable[[Node], Node], x: Any, v: Any) -> Any:
    """Compute the Hessian-vector product ∇²f(x) v, without the Hessian :cite:`pearlmutter1994`.

    Reverse over reverse: v is pulled back through ∇f, for a small constant times the cost of ∇f.

    Args:
        f: a scalar function of one argument.
        x: where; any shape.
        v: of the shape of ``x``.

    >>> hvp(lambda x: (x**3).sum(), np.array([1.0, 2.0]), np.array([1.0, 0.0]))
    array([6., 0.])
    """
    x, v = _given(x), _given(v)
    if rules.shape_of(x) != rules.shape_of(v):
        raise ValueError(
            f"hvp: v must have the shape {rules.shape_of(x)} of x; got {rules.shape_of(v)}"
        )
    _, pull = vjp(grad(f), x)
    return pull(v)[0]


def hessian(f: Callable[[Node], Node], x: Any) -> Any:
    """Compute the matrix of second derivatives of a scalar function of one argument.

    One backward pass builds the graph of the gradient; one more an entry of ``x`` pulls each row.

    Returns:
        An array (a node where ``x`` is one) of shape ``x.shape + x.shape``; a float where ``x`` is
        a number.

    >>> hessian(lambda x: x[0] ** 2 * x[1], np.array([3.0, 5.0]))
    array([[10.,  6.],
           [ 6.,  0.]])
    """
    x = _given(x)
    shape = rules.shape_of(x)
    slope, pull = vjp(grad(f), x)
    if not shape:
        return pull(1.0)[0]
    unit_vectors = np.eye(math.prod(shape), dtype=slope.dtype)
    rows = [pull(row.reshape(shape))[0] for row in unit_vectors]
    if isinstance(slope, Node):
        return stack(rows).reshape(shape + shape)
    return np.reshape(rows, shape + shape)


def check_gradients(
    f: Callable[..., Node],
    *args: Any,
    order: int = 1,
    step: float = 1e-6,
    rtol: float = 1e-5,
    atol: float = 1e-7,
) -> float:
    """Check the gradient of ``f`` against central differences, in float64.

    Each entry of each argument is moved by plus and minus ``step`` (times its size, where that is
    above 1). The difference quotient errs by O(step²) plus rounding of about 1e-16/step, relative
    to the value: below the tolerances for smooth functions of moderate size. A function with
    several outputs is contracted with a fixed random vector, so its whole Jacobian takes part.

    Args:
        f: takes nodes, gives a node.
        args: numbers or arrays, where to check.
        order: 1 checks the gradient; 2 also checks the gradient of the gradient.
        step, rtol, atol: of the comparison ``|ours - difference| <= atol + rtol * |difference|``.

    Returns:
        The largest difference found, divided by the tolerance at that entry (at most 1).

    Raises:
        AssertionError: an entry differs by more; the message gives argument, index and both values.
        ValueError: ``order`` is not 1 or 2, or there is nothing to check.

    >>> check_gradients(lambda x: x.exp() * x, 0.5) < 1
    True
    """
    if order not in (1, 2):
        raise ValueError(f"check_gradients: order must be 1 or 2; got {order!r}")
    points = [np.array(as_data(x), np.float64) for x in args]
    if not any(x.size for x in points):
        raise ValueError("check_gradients: give the arguments to differentiate by")
    with np.errstate(all="ignore"):
        worst = _check_first_order(f, points, step, rtol, atol)
        if order == 2:
            random = np.random.default_rng(1)
            directions = [random.standard_normal(x.shape) for x in points]
            total = _contracted(f, points)

            def slope(*xs: Node) -> Any:
                gradients = grad(total, argnums=range(len(xs)))(*xs)
                return sum(rules.sum_(g * v) for g, v in zip(gradients, directions, strict=True))

            second = _check_first_order(slope, points, step, rtol, atol, "second derivative")
            worst = max(worst, second)
    return worst


# --- parts --------------------------------------------------------------------------------------


def _given(x: Any) -> Any:
    return x if isinstance(x, Node) else as_data(x)


def _is_variable(x: Any) -> bool:
    return isinstance(x, Node) and x.requires_grad


def _traced(
    f: Callable[..., Node], args: Sequence[Any], positions: Sequence[int], /, **kwargs: Any
) -> tuple[bool, list[Any], Node]:
    """Call ``f`` with a new variable for each argument at ``positions``.

    An alias of a node, not the node itself, so that a function that also uses the node by another
    name (a nested derivative) is not differentiated by that one too.

    Returns:
        Whether derivatives are to be nodes, what ``f`` was called with, and the node it gave.
    """
    with modes.differentiating() as nested:
        inputs = list(args)
        for i in set(positions):
            x = args[i]
            if _is_variable(x):
                nested = True
                inputs[i] = rules.alias(x)
            else:
                inputs[i] = Node(rules.value(x))
        return nested, inputs, _node(f(*inputs, **kwargs), f)


def _node(out: Any, f: Callable[..., Any]) -> Node:
    if not isinstance(out, Node):
        name = getattr(f, "__name__", repr(f))
        raise TypeError(
            f"{name} must give a node; it gave {type(out).__name__}. Compute with the "
            "nodes it is called with, not with their .data"
        )
    return out


def _pull(out: Node, cotangent: Any, variables: Sequence[Node], keep: bool) -> tuple[Any, ...]:
    """The gradients of ``out`` by ``variables``: nodes if ``keep``, numbers and arrays if not."""
    found: dict[Node, Any] = {}
    if out.requires_grad:
        seed = out.seed(cotangent if keep else rules.value(cotangent), keep)
        found = propagate(out, seed, keep, wanted=variables)
    gradients = []
    for variable in variables:
        g = found.get(variable)
        if g is None:
            zero = np.zeros_like(variable.data) if type(variable.data) is not float else 0.0
            g = Node(zero, requires_grad=False) if keep else zero
        gradients.append(g)
    return tuple(gradients)


def _contracted(f: Callable[..., Node], points: Sequence[Any]) -> Callable[..., Node]:
    """``f`` itself if it is scalar, else its product with a fixed random vector."""
    shape = _node(f(*[Node(x) for x in points]), f).shape
    if not shape:
        return f
    weights = np.random.default_rng(0).standard_normal(shape)
    return lambda *xs: rules.sum_(f(*xs) * weights)


def _check_first_order(
    f: Callable[..., Node],
    points: Sequence[np.ndarray[Any, Any]],
    step: float,
    rtol: float,
    atol: float,
    what: str = "derivative",
) -> float:
    total = _contracted(f, points)
    ours = grad(total, argnums=range(len(points)))(*points)
    worst = 0.0
    for number, (x, g) in enumerate(zip(points, ours, strict=True)):
        for index in np.ndindex(x.shape):
            h = step * max(1.0, abs(float(x[index])))
            sides = []
            for moved in (x[index] + h, x[index] - h):
                there = x.copy()
                there[index] = moved
                at = [*points[:number], there, *points[number + 1 :]]
                sides.append(total(*[Node(a) for a in at]).item())
            expected = (sides[0] - sides[1]) / (2 * h)
            excess = abs(g[index] - expected) / (atol + rtol * abs(expected))
            if not excess <= 1:
                place = f"argument {number}" + (f" at index {index}" if x.ndim else "")
                raise AssertionError(
                    f"{what} by {place} is wrong: ours {float(g[index])!r}, central differences "
                    f"{float(expected)!r} (allowed difference {atol + rtol * abs(expected):.2g})"
                )
            worst = max(worst, float(excess))
    return worst
