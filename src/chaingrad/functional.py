"""Derivatives of functions: gradients, and products with Jacobians and Hessians.

The functions differentiated take nodes and give a node. Their arguments here are numbers, arrays or
nodes: numbers and arrays give numbers and arrays back, nodes that require a gradient give nodes, so
that derivatives can be nested. An argument may be a list, tuple or dictionary of these, nested too;
so is its derivative then. Within a function that is being differentiated they always give
nodes, since it may read what the outer derivative is taken by (not so in a thread that it starts).
No ``grad`` attribute is touched. Within `~chaingrad.modes.no_grad` derivatives are computed as
ever, and their results are constants.
"""

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ParamSpec

import numpy as np

from chaingrad import _tree, modes, rules
from chaingrad._arguments import parameter_list
from chaingrad._floats import as_data
from chaingrad._shares import zeros
from chaingrad._wording import kind
from chaingrad.backward import adjoints
from chaingrad.node import Node
from chaingrad.operations import stack

P = ParamSpec("P")


def _constant_within_no_grad(derivative: Callable[P, Any]) -> Callable[P, Any]:
    """Let ``derivative`` record even within `no_grad`; there, detach its results afterwards."""

    @functools.wraps(derivative)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> Any:
        result = derivative(*args, **kwargs)
        return _detached(result) if modes.paused() else result

    return wrapped


def _detached(result: Any) -> Any:
    # An alias, which does not record here, lets a watch see that the node is read.
    aliases = (rules.alias(x) if isinstance(x, Node) else x for x in _tree.leaves(result))
    return _tree.rebuilt(result, aliases)


def value_and_grad(
    f: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    by: Iterable[Node] | None = None,
) -> Callable[..., Any]:
    """Make a function that returns the value of ``f`` and its gradient.

    Args:
        f: gives a scalar node.
        argnums: the position of the argument to differentiate by, or several of them.
        has_aux: ``f`` gives ``(node, more)``, of which the node is differentiated.
        by: leaves that ``f`` reads beside its arguments, such as ``model.parameters()``, to
            differentiate by instead of arguments.

    Returns:
        A function of the arguments of ``f`` that gives ``(value, gradient)``, or
        ``((value, more), gradient)``; the gradient is a tuple where ``argnums`` is a sequence or
        ``by`` is given. Each gradient has the shape of its argument or leaf.

    Raises:
        ValueError: (from the function) ``f`` does not give a scalar, or an argument is missing;
            (at once) ``argnums`` and ``by`` are both given.
        TypeError: ``f`` does not give a node, or ``by`` holds something else than leaves.

    >>> value_and_grad(lambda w, x: (w * x).tanh(), argnums=(0, 1))(0.5, 0.0)
    (0.0, (0.0, 0.5))
    >>> value_and_grad(lambda p: (p["w"] * p["b"]).sum())({"w": np.array([1.0, 2.0]), "b": 3.0})
    (9.0, {'w': array([3., 3.]), 'b': 3.0})
    >>> w = Node(3.0)
    >>> value_and_grad(lambda x: w * x, by=[w])(2.0)
    (6.0, (2.0,))
    """
    leaves = None if by is None else parameter_list(by)
    if leaves is not None and argnums != 0:
        raise ValueError("give argnums, to differentiate by arguments, or by=, not both")
    if not callable(f):
        raise TypeError(
            f"grad takes a function and gives one: grad(f)(x); the first argument was {kind(f)}"
        )
    one = _is_position(argnums)
    if not one and not (isinstance(argnums, Sequence) and all(map(_is_position, argnums))):
        raise TypeError(
            f"argnums must be a position or several, say grad(f, 0)(x); got {kind(argnums)}"
        )
    positions: tuple[Any, ...] = (argnums,) if one else tuple(argnums)  # type: ignore[arg-type]
    if leaves is not None:
        positions, one = (), False
    elif not positions:
        raise ValueError("argnums=() names no argument to differentiate by")

    @_constant_within_no_grad
    def both(*args: Any, **kwargs: Any) -> Any:
        for position in positions:
            if not -len(args) <= position < len(args):
                raise ValueError(
                    f"argnums={argnums!r} asks for argument {position}, but the "
                    f"function was called with {len(args)}"
                    + (", and others by name: give it by its position" if kwargs else "")
                )
        places = [i % len(args) for i in positions]
        trace = _traced(f, args, places, has_aux, **kwargs)
        if trace.out.size != 1:
            raise ValueError(
                f"grad needs a function that gives one number; this one gave "
                f"shape {trace.out.shape}: reduce it, say with .sum(), or use vjp"
            )
        points = leaves or [trace.inputs[position] for position in positions]
        gradients = _pull(trace.out, None, points, trace.nested)
        answer = (trace.value, trace.aux) if has_aux else trace.value
        return answer, gradients[0] if one else gradients

    return both


def grad(
    f: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Make a function that returns the gradient of ``f``, or ``(gradient, more)`` with ``has_aux``.

    The arguments are those of `value_and_grad`.

    >>> grad(lambda x: x**3)(2.0)
    12.0
    >>> grad(grad(lambda x: x**3))(2.0)
    12.0
    """
    both = value_and_grad(f, argnums, has_aux)

    def gradient(*args: Any, **kwargs: Any) -> Any:
        answer, gradients = both(*args, **kwargs)
        return (gradients, answer[1]) if has_aux else gradients

    return gradient


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
    trace = _traced(f, primals, range(len(primals)))

    @_constant_within_no_grad
    def pull(cotangent: Any) -> tuple[Any, ...]:
        shape = cotangent.shape if isinstance(cotangent, Node) else np.shape(cotangent)
        if shape != trace.out.shape:
            raise ValueError(f"vjp: pull takes the value's shape, {trace.out.shape}; got {shape}")
        keep = trace.nested or _is_variable(cotangent)
        return _pull(trace.out, cotangent, trace.inputs, keep)

    return trace.value, pull


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
    for what, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, list | tuple):
            raise TypeError(f"jvp: {what} must be a list, one for each argument; got {kind(given)}")
    if len(primals) != len(tangents):
        raise ValueError(f"jvp: {len(primals)} primals need as many tangents; got {len(tangents)}")
    along: list[Any] = []
    for i, (x, v) in enumerate(zip(primals, tangents, strict=True)):
        along += _direction_leaves(f"jvp: tangent {i}", x, v)
    trace = _traced(f, primals, range(len(primals)))
    trace.nested = trace.nested or any(map(_is_variable, along))
    out = trace.out
    u = Node(zeros(out.data))
    if not out.requires_grad:
        tangent: Any = Node(u.data, requires_grad=False)
    else:
        with modes.recording():
            pulled = _pull(out, u, trace.inputs, True)
            total = _inner(_leaves(pulled), along)
        tangent = _pull(total, None, [u], True)[0]
    return trace.value, tangent if trace.nested else tangent.data


def hvp(f: Callable[[Node], Node], x: Any, v: Any) -> Any:
    """Compute the Hessian-vector product ∇²f(x) v, without the Hessian :cite:`pearlmutter1994`.

    Reverse over reverse: v is pulled back through ∇f, for a small constant times the cost of ∇f.

    Args:
        f: a scalar function of one argument.
        x: where; any shape.
        v: of the shape of ``x``, or with arrays of its shapes under the same keys.

    Raises:
        ValueError: ``v`` does not match ``x``.

    >>> hvp(lambda x: (x**3).sum(), np.array([1.0, 2.0]), np.array([1.0, 0.0]))
    array([6., 0.])
    """
    along = _direction_leaves("hvp: v", x, v)
    if not _tree.is_container(x):
        return vjp(grad(f), x)[1](along[0])[0]
    return grad(lambda x: _inner(_tree.leaves(grad(f)(x)), along))(x)


def hessian(f: Callable[[Node], Node], x: Any = ...) -> Any:
    """Compute the matrix of second derivatives of a scalar function of one argument.

    One backward pass builds the graph of the gradient; one more an entry of ``x`` pulls each row.

    Returns:
        An array (a node where ``x`` is one) of shape ``x.shape + x.shape``; a float where ``x`` is
        a number. Of a container ``x`` one such container for each array in it, by which the rows
        are taken, in a container. Without ``x`` a function that gives this, ``hessian(f)(x)``.

    >>> hessian(lambda x: x[0] ** 2 * x[1], np.array([3.0, 5.0]))
    array([[10.,  6.],
           [ 6.,  0.]])
    """
    if x is ...:
        return functools.partial(hessian, f)
    if not _tree.is_container(x):
        return jacobian(grad(f), x)

    def slope(i: int) -> Callable[[Any], Any]:
        return lambda x: _tree.leaves(grad(f)(x))[i]

    return _tree.rebuilt(x, (jacobian(slope(i), x) for i in range(len(_tree.leaves(x)))))


def jacobian(f: Callable[[Any], Node], x: Any = ...) -> Any:
    """Compute the matrix of first derivatives of a function of one argument, row by row.

    One backward pass for each entry of the result; where that has more entries than ``x``, `jvp`
    with each unit vector takes fewer.

    Returns:
        An array (a node where ``x`` is one) of shape ``out.shape + x.shape``; of a container ``x``
        one for each array in it. Without ``x`` a function that gives this, ``jacobian(f)(x)``.

    >>> jacobian(lambda x: x**2, np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    if x is ...:
        return functools.partial(jacobian, f)
    out, pull = vjp(f, x)
    shape = rules.shape_of(out)
    if not shape:
        return pull(1.0)[0]
    unit_vectors = np.eye(math.prod(shape), dtype=out.dtype)
    rows = [_tree.leaves(pull(row.reshape(shape))[0]) for row in unit_vectors]
    blocks = []
    for i, leaf in enumerate(_tree.leaves(x)):
        block, whole = [row[i] for row in rows], shape + np.shape(rules.value(leaf))
        join = stack if isinstance(out, Node) else np.stack if block else np.asarray
        blocks.append(join(block).reshape(whole))
    return _tree.rebuilt(x, iter(blocks))


# --- parts --------------------------------------------------------------------------------------


def _leaves(containers: Sequence[Any]) -> list[Any]:
    return [leaf for x in containers for leaf in _tree.leaves(x)]


def _direction_leaves(what: str, x: Any, v: Any) -> list[Any]:
    """List the leaves of a direction ``v`` in the same order as the leaves of ``x``."""
    given = _tree.leaves(_tree.matching(what, x, v))
    vs = [u if isinstance(u, Node) else as_data(u) for u in given]
    for at, u in zip(_tree.leaves(x), vs, strict=True):
        if np.shape(rules.value(at)) != np.shape(rules.value(u)):
            raise ValueError(
                f"{what} must have the shape {np.shape(rules.value(at))} of the point; "
                f"got {np.shape(rules.value(u))}"
            )
    return vs


def _inner(gradients: Sequence[Any], along: Sequence[Any]) -> Any:
    """Compute the inner product of two lists of arrays."""
    products = [rules.sum_(g * v) for g, v in zip(gradients, along, strict=True)]
    return sum(products[1:], products[0])


def _kind(x: Any) -> str:
    return "an array or a number" if rules.is_symbol(x) else type(x).__name__


def _is_position(i: Any) -> bool:
    return isinstance(i, int | np.integer)


def _is_variable(x: Any) -> bool:
    return isinstance(x, Node) and x.requires_grad


@dataclass
class _Evaluation:
    """A function called with new variables in the place of some of its arguments."""

    inputs: list[Any]
    out: Node
    aux: Any  # its second result, with ``has_aux``
    nested: bool  # whether its value and derivatives must be nodes

    @property
    def value(self) -> Any:
        return self.out if self.nested else self.out.data


def _traced(
    f: Callable[..., Any],
    args: Sequence[Any],
    positions: Sequence[int],
    has_aux: bool = False,
    /,
    **kwargs: Any,
) -> _Evaluation:
    """Call ``f`` with a new variable for each argument at ``positions``.

    An alias of a node, not the node itself, so that a function that also uses the node by another
    name (a nested derivative) is not differentiated by that one too.
    """
    with modes.differentiating() as nested:
        inputs, given = list(args), list(args)
        for i in set(positions):
            leaves = [args[i]] if _is_single(args[i]) else _tree.leaves(args[i])
            nested = nested or any(map(_is_variable, leaves))
            new = list(map(_variable, leaves))
            # The function gets its own container, since it may change it.
            inputs[i], given[i] = (
                new[0] if _is_single(args[i]) else _tree.rebuilt(args[i], iter(new))
                for _ in range(2)
            )
        out, aux = f(*given, **kwargs), None
        if has_aux:
            if not isinstance(out, tuple) or len(out) != 2:
                raise TypeError(
                    f"with has_aux, {_name(f)} must give (node, more); it gave {out!r:.60}"
                )
            out, aux = out
        if not nested:
            aux = _tree.rebuilt(aux, map(rules.value, _tree.leaves(aux)))
        return _Evaluation(inputs, _node(out, f), aux, nested)


def _is_single(x: Any) -> bool:
    return isinstance(x, float | np.ndarray | Node)


def _variable(x: Any) -> Node:
    if _is_variable(x):
        return rules.alias(x)  # type: ignore[no-any-return]
    return Node(rules.value(x))


def _name(f: Callable[..., Any]) -> str:
    return getattr(f, "__name__", repr(f))


def _node(out: Any, f: Callable[..., Any]) -> Node:
    if not isinstance(out, Node):
        raise TypeError(
            f"{_name(f)} must give a node; it gave {_kind(out)}. Compute with the "
            "nodes it is called with, not with their .data"
        )
    return out


def _pull(out: Node, cotangent: Any, points: Sequence[Any], keep: bool) -> tuple[Any, ...]:
    """Compute the gradients of ``out`` by ``points``, which are variables or containers of them.

    They are nodes if ``keep``, numbers and arrays if not.
    """
    single = all(map(_is_single, points))
    variables = points if single else _leaves(points)
    found: dict[Node, Any] = {}
    if out.requires_grad:
        seed = out.seed(cotangent if keep else rules.value(cotangent), keep)
        found = adjoints(out, seed, variables, keep, independent=True)
    gradients = []
    for variable in variables:
        g = found.get(variable)
        if g is None:
            zero = zeros(variable.data)
            g = Node(zero, requires_grad=False) if keep else zero
        gradients.append(g)
    if single:
        return tuple(gradients)
    each = iter(gradients)
    return tuple(_tree.rebuilt(point, each) for point in points)
