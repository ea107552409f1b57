"""The backward pass: sort the graph, then let each node send its gradient to its parents.

The gradient of the root with respect to a node, its adjoint, is the sum over the node's children of
the child's adjoint times the local gradient :cite:`linnainmaa1976`. Sorted with children before
parents, a node is left when every child has sent its share, and each edge is passed once.
"""

import functools
import threading
from collections.abc import Collection, Set
from typing import Any

import numpy as np

from chaingrad import modes
from chaingrad._messages import describe
from chaingrad.rules import Rule, Traced, cast, shape_of, unbroadcast

ndarray = np.ndarray
REACHED: Any = object()  # the adjoint of a node that the sort has seen and no share has reached
RELEASED: Any = object()  # the VJPs of a node that was freed
_one_pass_at_a_time = threading.RLock()  # marks and adjoints live on the nodes


def children_first(root: Any) -> list[Any]:
    """Sort the interior nodes that ``root`` depends on, children before parents.

    Depth first, as `chaingrad.graph.toposort`, but from the last operand to the first. The mark of
    a visit is kept on the node, where its adjoint will be.
    """
    order: list[Any] = []
    stack: list[Any] = [root] if root._rule else []
    push, pop = stack.append, stack.pop
    while stack:
        node = pop()
        if node is None:  # the parents of the node below have all been pushed
            order.append(pop())
        elif node._adjoint is None:
            node._adjoint = REACHED
            push(node)
            push(None)
            for parent in node.parents:
                if parent._rule is not None and parent._adjoint is None and parent.requires_grad:
                    push(parent)
    order.reverse()
    return order


def _leading_to(wanted: Set[Any], root: Any) -> tuple[list[Any], set[Any]]:
    """Sort as `children_first` the nodes that depend on a wanted node, no further than those.

    From a wanted node it goes on to wanted parents alone: what came before is not asked for. A node
    that was freed may have depended on one: it is there, for the pass to refuse. Some nodes may be
    part of another pass, within which this one runs, so no mark of a visit is kept on them.

    Returns:
        The interior nodes in order; and the same with the wanted leaves, as a set.
    """
    leads = set(wanted)
    order: list[Any] = []
    seen = set()
    stack = [root]
    while stack:
        node = stack.pop()
        if node is None:
            node = stack.pop()
            freed = node._rule.vjps is RELEASED
            if freed or node in wanted or not leads.isdisjoint(node.parents):
                leads.add(node)
                order.append(node)
        elif node._rule is not None and node.requires_grad and node not in seen:
            seen.add(node)
            stack += (node, None)
            stack += [p for p in node.parents if p in wanted] if node in wanted else node.parents
    order.reverse()
    return order, leads


def propagate(
    root: Any,
    seed: Any,
    create_graph: bool = False,
    release: bool = False,
    wanted: Collection[Any] | None = None,
) -> dict[Any, Any]:
    """Run the backward pass that `~chaingrad.node.Node.backward` describes.

    Args:
        root: the node to differentiate.
        seed: its adjoint, of its shape and dtype; a node under ``create_graph``.
        create_graph, release: as there.
        wanted: nodes whose adjoints to return, leaving every ``grad`` as it was. None stores them.
            Only nodes on the way to these are visited, and behind them only wanted ones.

    Returns:
        The adjoints of the wanted nodes, or else of leaves, as far as the root depends on them.
    """
    if create_graph and modes.paused():
        with modes.recording():
            return propagate(root, seed, create_graph, release, wanted)
    found: dict[Any, Any] = {}  # of the wanted nodes, and of leaves
    unrolled = wanted is None and not create_graph and not modes.active
    order: list[Any] = []
    leads: Set[Any] | None = None
    held: list[tuple[Any, Any]] = []  # the adjoints of a pass within which this one runs
    with _one_pass_at_a_time:
        try:
            if wanted is None:
                order = children_first(root)
            else:
                wanted = set(wanted)
                order, leads = _leading_to(wanted, root)
                if root not in leads:
                    return found
                held = [(node, node._adjoint) for node in order]
                for node in order:
                    node._adjoint = REACHED
            _add(root, seed, seed, found)
            for node in order:
                g = node._adjoint
                node._adjoint = None
                if wanted is None:
                    node.grad = g
                elif node in wanted:
                    found[node] = g
                parents = node.parents
                if unrolled and len(parents) == 2:
                    # What _send does, for the kind of node that a scalar graph has most of.
                    a, b = parents
                    out, x, y = node.data, a.data, b.data
                    to_a, to_b = node._rule.vjps
                    if a.requires_grad:
                        share = to_a(g, out, x, y) if to_a else g
                        if type(share) is not float or type(x) is not float:
                            _add(a, share, g, found)
                        elif a._rule is None:
                            a.grad = share if a.grad is None else a.grad + share
                        elif a._adjoint is REACHED:
                            a._adjoint = share
                        else:
                            a._adjoint = a._adjoint + share
                    if b.requires_grad:
                        share = to_b(g, out, x, y) if to_b else g
                        if type(share) is not float or type(y) is not float:
                            _add(b, share, g, found)
                        elif b._rule is None:
                            b.grad = share if b.grad is None else b.grad + share
                        elif b._adjoint is REACHED:
                            b._adjoint = share
                        else:
                            b._adjoint = b._adjoint + share
                elif unrolled and len(parents) == 1:
                    (a,) = parents
                    (to_a,) = node._rule.vjps
                    if a.requires_grad:
                        _add(a, to_a(g, node.data, a.data) if to_a else g, g, found)
                else:
                    only = wanted if wanted and node in wanted else leads
                    _send(node, g, create_graph, found, only)
                if release:
                    _release(node, keep_data=node is root)
            for node, g in found.items():
                # A view may show an array that another node holds; a gradient is one's own.
                owned = g.copy() if type(g) is ndarray and g.base is not None else g
                if wanted is None:
                    before = node.grad
                    untouched = before is None or (type(before) is float and before == 0.0)
                    node.grad = owned if untouched else _sum(before, owned)
                else:
                    found[node] = owned
        except BaseException:
            if wanted is None:
                for node in order or root.sorted_graph():
                    node._adjoint = None
            raise
        finally:
            for node, adjoint in held:
                node._adjoint = adjoint
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
        (parent, float(vjp(1.0, node.data, *inputs)) if vjp else 1.0)
        if parent.requires_grad and node.ndim == parent.ndim == 0
        else (parent, None)
        for parent, vjp in zip(node.parents, node._rule.vjps if inputs else (), strict=True)
    ]


def _send(
    node: Any, g: Any, create_graph: bool, found: dict[Any, Any], only: Collection[Any] | None
) -> None:
    """Send each parent that requires a gradient its share of the adjoint ``g`` of ``node``.

    Where ``only`` is given, only to the parents in it.
    """
    rule, parents = node._rule, node.parents
    if rule.vjps is RELEASED:
        raise ValueError(
            f"backward: {describe(node)} was freed by backward(release=True); compute it again, or "
            "leave release out of the earlier call"
        )
    watch = modes.watch() if modes.active else None
    if watch:
        watch.unchanged(node)
    out = node if create_graph else node.data
    inputs = parents if create_graph else [parent.data for parent in parents]
    for parent, vjp in zip(parents, rule.vjps, strict=True):
        if parent.requires_grad and (only is None or parent in only):
            share = vjp(g, out, *inputs) if vjp else g
            if watch:
                watch.backward(node, parent, share, g)
            _add(parent, share, g, found)


def _add(parent: Any, share: Any, g: Any, found: dict[Any, Any]) -> None:
    """Add a share, made from the child's adjoint ``g``, to what has reached ``parent``."""
    data = parent.data
    if type(data) is not ndarray:
        if type(share) is not float:
            share = _fitted(share, data)
    elif type(share) is not ndarray or share.dtype is not data.dtype or share.shape != data.shape:
        share = _fitted(share, data)
    if parent._rule is not None:
        known = parent._adjoint
        parent._adjoint = share if known is REACHED else _sum(known, share)
    elif parent in found:
        found[parent] = _sum(found[parent], share)
    else:
        found[parent] = share.view() if share is g and type(g) is ndarray else share


def _sum(known: Any, share: Any) -> Any:
    total = known + share
    return (
        total if type(total) is ndarray or not isinstance(total, np.generic) else np.asarray(total)
    )


def _fitted(share: Any, data: Any) -> Any:
    """Bring ``share`` to the shape and dtype of ``data``, undoing broadcasting."""
    if isinstance(share, np.floating) and type(data) is ndarray and not data.shape:
        return np.asarray(share, data.dtype)  # what NumPy makes of 0-d arrays
    shape = shape_of(data)
    if shape_of(share) != shape:
        share = unbroadcast(share, shape)
    if isinstance(share, Traced):
        same = type(data) is float or np.result_type(share.data) == data.dtype
        return share if same else cast(share, dtype=data.dtype)
    return np.asarray(share, data.dtype) if isinstance(data, np.ndarray) else float(share)


def _release(node: Any, keep_data: bool) -> None:
    node.parents = ()
    node._rule = _released(node._rule.name)
    if not keep_data:
        node.data = None
        node.grad = 0.0


class _Released(Rule):
    __slots__ = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return _released, (self.name,)


@functools.cache
def _released(name: str) -> Rule:
    return _Released(name, lambda *inputs: None, RELEASED)
