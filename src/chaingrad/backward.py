"""The backward pass: sort the graph, then let each node send its gradient to its parents.

The gradient of the root with respect to a node, its adjoint, is the sum over the node's children of
the child's adjoint times the local gradient :cite:`linnainmaa1976`. Sorted with children before
parents, a node is left when every child has sent its share, and each edge is passed once.
"""

import itertools
import threading
from collections.abc import Collection
from typing import Any

import numpy as np

from chaingrad._messages import describe
from chaingrad.rules import Rule, Traced, cast, shape_of, unbroadcast

REACHED: Any = object()  # the adjoint of a node that the sort has seen and no share has reached
RELEASED: Any = object()  # the VJPs of a node that was freed
_one_pass_at_a_time = threading.RLock()  # marks and adjoints live on the nodes


def children_first(root: Any) -> tuple[list[Any], list[Any]]:
    """Sort as `chaingrad.graph.toposort` does, for the nodes that require a gradient only.

    The mark of a visit is kept on the node, where the adjoint will be; leaves need no order and
    come apart. Returns the interior nodes, children before parents, and the leaves.
    """
    order: list[Any] = []
    leaves: list[Any] = []
    stack: list[Any] = [root]
    push, pop = stack.append, stack.pop
    if root._rule is None:
        root._adjoint = REACHED
        return order, [root]
    while stack:
        node = pop()
        if node is None:  # the parents of the node below have all been pushed
            order.append(pop())
        elif node._adjoint is None:
            node._adjoint = REACHED
            push(node)
            push(None)
            for parent in node.parents:
                if parent._adjoint is None and parent.requires_grad:
                    if parent._rule is None:
                        parent._adjoint = REACHED
                        leaves.append(parent)
                    else:
                        push(parent)
    order.reverse()
    return order, leaves


def propagate(
    root: Any,
    seed: Any,
    create_graph: bool = False,
    release: bool = False,
    wanted: Collection[Any] | None = None,
) -> dict[Any, Any]:
    """Run the backward pass that `chaingrad.Node.backward` describes.

    Args:
        root: the node to differentiate.
        seed: its adjoint, of its shape and dtype; a node under ``create_graph``.
        create_graph, release: as there.
        wanted: nodes whose adjoints to return, leaving every ``grad`` as it was. None stores them.

    Returns:
        The adjoints of the wanted nodes that the root depends on.
    """
    found: dict[Any, Any] = {}
    order: list[Any] = []
    leaves: list[Any] = []
    with _one_pass_at_a_time:
        try:
            order, leaves = children_first(root)
            root._adjoint = seed
            for node in order:
                g = node._adjoint
                node._adjoint = None
                if wanted is None:
                    node.grad = g
                elif node in wanted:
                    found[node] = g
                parents = node.parents
                if len(parents) == 2 and not create_graph:
                    # What _send does, unrolled: most nodes of a scalar graph come this way.
                    a, b = parents
                    out, x, y = node.data, a.data, b.data
                    to_a, to_b = node._rule.vjps
                    known = a._adjoint
                    if known is not None:
                        share = to_a(g, out, x, y)
                        if type(share) is float and type(x) is float:
                            a._adjoint = share if known is REACHED else known + share
                        else:
                            _add(a, share, g)
                    known = b._adjoint
                    if known is not None:
                        share = to_b(g, out, x, y)
                        if type(share) is float and type(y) is float:
                            b._adjoint = share if known is REACHED else known + share
                        else:
                            _add(b, share, g)
                else:
                    _send(node, g, create_graph)
                if release:
                    _release(node, keep_data=node is root)
            for leaf in leaves:
                g = leaf._adjoint
                leaf._adjoint = None
                if wanted is None:
                    leaf.grad = _total(leaf.grad, g)
                elif leaf in wanted:
                    found[leaf] = g
        except BaseException:
            for node in itertools.chain(order, leaves) if order else root.sorted_graph():
                node._adjoint = None
            raise
    return found


def local_gradients(node: Any) -> list[tuple[Any, float | None]]:
    """Give the local gradient ∂node/∂parent for each operand of a scalar node.

    None stands where there is none to give as a number: the operand is a constant, or the node or
    the operand is an array.

    >>> from chaingrad import Node
    >>> a, b = Node(2.0, "a"), Node(3.0, "b")
    >>> [(parent.label, local) for parent, local in local_gradients(a * b)]
    [('a', 3.0), ('b', 2.0)]
    """
    inputs = [parent.data for parent in node.parents]
    return [
        (parent, float(vjp(1.0, node.data, *inputs)))
        if parent.requires_grad and node.ndim == parent.ndim == 0
        else (parent, None)
        for parent, vjp in zip(node.parents, node._rule.vjps if inputs else (), strict=True)
    ]


def _send(node: Any, g: Any, create_graph: bool) -> None:
    """Send each parent that takes part its share of the adjoint ``g`` of ``node``."""
    rule, parents = node._rule, node.parents
    if rule.vjps is RELEASED:
        raise ValueError(
            f"backward: {describe(node)} was freed by backward(release=True); compute it again, or "
            "leave release out of the earlier call"
        )
    out = node if create_graph else node.data
    inputs = parents if create_graph else [parent.data for parent in parents]
    for parent, vjp in zip(parents, rule.vjps, strict=True):
        if parent._adjoint is not None:
            _add(parent, vjp(g, out, *inputs), g)


def _add(parent: Any, share: Any, g: Any) -> None:
    """Add a share, made from the child's adjoint ``g``, to the adjoint of ``parent``."""
    data, known = parent.data, parent._adjoint
    if not (type(share) is np.ndarray is type(data) and share.shape == data.shape
            and share.dtype is data.dtype):  # fmt: skip
        share = _fitted(share, data)
    if known is not REACHED:
        share = known + share
        if isinstance(share, np.generic):  # NumPy turns sums of 0-d arrays into scalars
            share = np.asarray(share)
    elif (
        parent._rule is None
        and isinstance(share, np.ndarray)
        and (share is g or share.base is not None)
    ):
        share = share.copy()  # the gradient of a leaf shares no memory with another
    parent._adjoint = share


def _fitted(share: Any, data: Any) -> Any:
    """Bring ``share`` to the shape and dtype of ``data``, undoing broadcasting."""
    if shape_of(share) != np.shape(data):
        share = unbroadcast(share, np.shape(data))
    if isinstance(share, Traced):
        same = type(data) is float or np.result_type(share.data) == data.dtype
        return share if same else cast(share, dtype=data.dtype)
    return float(share) if type(data) is float else np.asarray(share, data.dtype)


def _total(grad: Any, more: Any) -> Any:
    """Add ``more`` to what a leaf has gathered in earlier passes."""
    if type(grad) is float and grad == 0.0:
        return more
    total = grad + more
    return np.asarray(total) if isinstance(total, np.generic) else total


def _release(node: Any, keep_data: bool) -> None:
    node.parents = ()
    node._rule = Rule(node.op, node._rule.compute, RELEASED)
    if not keep_data:
        node.data = None
        node.grad = 0.0
