"""Operations on several nodes that are not written with an operator.

Numbers and arrays among the operands are constants. The other operations are methods of
`chaingrad.node.Node`.
"""

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from chaingrad import rules
from chaingrad.node import Node


def maximum(a: Any, b: Any) -> Node:
    """The larger of ``a`` and ``b``, entry by entry; a tie gives each half of the gradient."""
    return _among(a, b).apply(rules.maximum, (a, b), {})


def minimum(a: Any, b: Any) -> Node:
    """The smaller of ``a`` and ``b``, entry by entry; a tie gives each half of the gradient."""
    return _among(a, b).apply(rules.minimum, (a, b), {})


def where(condition: Any, a: Any, b: Any) -> Node:
    """Take ``a`` where ``condition`` holds and ``b`` elsewhere.

    Args:
        condition: booleans (or a node: true where it is not 0), through which no gradient flows.
        a, b: operands that broadcast with the condition.

    >>> x = Node(np.array([-1.0, 2.0]))
    >>> where(x > 0, x, 0.1 * x).data
    array([-0.1,  2. ])
    """
    chosen = np.asarray(rules.value(condition)).astype(bool)
    return _among(a, b).apply(rules.where, (a, b), {"condition": chosen})


def concatenate(nodes: Sequence[Any], axis: int = 0) -> Node:
    """Join along an axis that the operands have.

    Raises:
        ValueError: there is nothing to join, or the shapes differ on another axis.
        TypeError: ``axis`` is not an integer.
    """
    axis = operator.index(axis)
    if any(not (rules.shape_of(x) if isinstance(x, Node) else np.shape(x)) for x in nodes):
        raise ValueError("concatenate: a number has no axis to join along; use stack")
    return _some(nodes, "concatenate").apply(rules.concatenate, tuple(nodes), {"axis": axis})


def stack(nodes: Sequence[Any], axis: int = 0) -> Node:
    """Join along a new axis; all operands have one shape.

    >>> stack([Node(1.0), Node(2.0)]).data
    array([1., 2.])
    """
    _some(nodes, "stack")
    shapes = [rules.shape_of(x) if isinstance(x, Node) else np.shape(x) for x in nodes]
    if len(set(shapes)) > 1:
        raise ValueError(f"stack: all must have one shape; got {', '.join(map(str, shapes[:6]))}")
    axis, axes = operator.index(axis), len(shapes[0]) + 1
    if not -axes <= axis < axes:
        raise ValueError(
            f"stack: axis must be one of the result's {axes}, 0 to {axes - 1}; got {axis}"
        )
    slices = []
    for x in nodes:
        operand = x if isinstance(x, Node) else np.asarray(x)
        shape = list(operand.shape)
        shape.insert(axis % axes, 1)
        slices.append(operand.reshape(shape))
    return concatenate(slices, axis)


def logaddexp(a: Any, b: Any) -> Node:
    """log(exp(a) + exp(b)), entry by entry, without overflow."""
    return _among(a, b).apply(rules.logaddexp, (a, b), {})


def einsum(subscripts: str, *operands: Any) -> Node:
    """Sums of products over indices, as ``np.einsum`` writes them.

    Args:
        subscripts: such as "ij,jk->ik"; ``...`` stands for further axes.
        operands: nodes, arrays and numbers.

    Raises:
        ValueError: the terms do not fit the operands, or an operand's index repeats, as in "ii".

    >>> einsum("i,i->", Node(np.array([1.0, 2.0])), np.array([3.0, 4.0])).data
    11.0
    """
    _some(operands, "einsum")
    return _among(*operands).apply(rules.einsum, operands, {"subscripts": subscripts})


def _node(x: Any) -> Node:
    return x if isinstance(x, Node) else Node(x, requires_grad=False)


def _among(*operands: Any) -> Node:
    """The first node, beside which integers take its dtype, or else a constant."""
    return next((x for x in operands if isinstance(x, Node)), _node(operands[0]))


def _some(nodes: Sequence[Any], what: str) -> Node:
    if not len(nodes):
        raise ValueError(f"{what}: give at least one node")
    return _among(*nodes)
