"""The backward pass: sort the graph, then let each node send its gradient to its parents.

The gradient of the root with respect to a node, its adjoint, is the sum over the node's children of
the child's adjoint times the local gradient :cite:`linnainmaa1976`. Sorted with children before
parents, a node is left when every child has sent its share, and each edge is passed once.

`backward_pass` stores the adjoints in the nodes, `adjoints` returns those of some. Both run
`accumulate`; where plain numbers and arrays are asked for, its quick twin in ``_fast.py``.
"""

import contextlib
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Set
from operator import attrgetter
from typing import Any

import numpy as np

from chaingrad import _fast, modes
from chaingrad._release import is_released, release_node
from chaingrad._shares import accumulated, added, copy_if_view, match_parent

ndarray = np.ndarray
data_of: Callable[[Any], Any] = attrgetter("data")


def backward_pass(root: Any, seed: Any, create_graph: bool = False, release: bool = False) -> None:
    """Store the adjoint of every node, as `~chaingrad.node.Node.backward` describes.

    A pass that fails or is interrupted changes no gradient.

    Args:
        root: the node to differentiate.
        seed: its adjoint, of its shape and dtype; a node under ``create_graph``.
        create_graph, release: as there.
    """
    if not (create_graph or release or modes.watch()) and _fast.store(root, seed):
        return
    with modes.recording() if create_graph else contextlib.nullcontext():
        order = children_first(root)
        kept = [root] if release and order else order
        found = accumulate(root, seed, order, kept, create_graph, release)
        with _fast.lock:
            new = [found[x] if x.rule else accumulated(x.grad, found[x]) for x in found]
            _fast.set_all(found, "grad", new)


def adjoints(
    root: Any,
    seed: Any,
    wanted: Collection[Any],
    create_graph: bool = False,
    release: bool = False,
    independent: bool = False,
) -> dict[Any, Any]:
    """Return the adjoints of the ``wanted`` nodes that the root depends on; store none.

    Only nodes on the way to these are visited.

    Args:
        root, seed, create_graph, release: as in `backward_pass`.
        wanted: nodes.
        independent: None of the wanted nodes depends on another, as the inputs of a function: what
            lies beyond them need not be searched.
    """
    wanted = set(wanted)
    found: dict[Any, Any] | None = None
    if independent and not (create_graph or release or modes.watch()):
        found = _fast.find(root, seed, wanted)
    if found is None:
        with modes.recording() if create_graph else contextlib.nullcontext():
            order, leads = _leading_to(wanted, root, independent)
            found = {}
            if root in leads:
                found = accumulate(root, seed, order, wanted, create_graph, release, leads)
    return {node: copy_if_view(g) for node, g in found.items()}


def accumulate(
    root: Any,
    seed: Any,
    order: Iterable[Any],
    kept: Collection[Any],
    create_graph: bool = False,
    release: bool = False,
    only: Set[Any] | None = None,
) -> dict[Any, Any]:
    """Add up the adjoint of each node, x̄ = Σ c̄ ∂c/∂x over its children c.

    Args:
        root, seed, create_graph, release: as in `backward_pass`.
        order: the interior nodes, children before parents.
        kept: those of them whose adjoints to keep; the others' are dropped when they are sent.
        only: the nodes that take a share; by default all that require a gradient.

    Returns:
        The adjoints of leaves and of the kept nodes.
    """
    if watch := modes.watch():
        watch.starts(root)
    kept = set(kept)
    value = (lambda node: node) if create_graph else data_of
    adjoint = {root: seed}
    for node in order:
        g = adjoint[node] if node in kept else adjoint.pop(node)
        send_all(node, g, adjoint, value, only)
        if release:
            release_node(node, keep_data=node is root)
    return adjoint


def send(
    node: Any,
    g: Any,
    adjoint: dict[Any, Any],
    value: Callable[[Any], Any] = data_of,
    only: Set[Any] | None = None,
) -> Iterator[tuple[int, Any, Any]]:
    """Add to the adjoint of each parent its share of the adjoint ``g`` of ``node``.

    Args:
        node, g: as said.
        adjoint: what has reached each node so far; the shares are added here.
        value: gives what the rules compute with for a node: its data, the node itself where the
            pass is recorded, or what a recorder has for it.
        only: as in `accumulate`.

    Yields:
        After each addition the operand's position, the share, and what had reached the parent
        before it, None if nothing had.
    """
    for position, share in _shares(node, g, value, only):
        parent = node.parents[position]
        known = adjoint.get(parent)
        adjoint[parent] = share if known is None else added(known, share)
        yield position, share, known
        del share, known  # so that their memory is free while others are computed


def send_all(node: Any, g: Any, adjoint: dict[Any, Any], *how: Any) -> None:
    """Run `send` to its end, and hold no share longer than that needs."""
    deque(send(node, g, adjoint, *how), maxlen=0)


def _shares(
    node: Any, g: Any, value: Callable[[Any], Any], only: Set[Any] | None
) -> Iterator[tuple[int, Any]]:
    """Yield the shares of the adjoint ``g`` of ``node``, each with the operand's position."""
    parents = node.parents
    needed = [p.requires_grad and (only is None or p in only) for p in parents]
    watch = modes.watch()
    if watch:
        watch.unchanged(node)
    pulled = iter(node.rule.pull(g, value(node), [value(parent) for parent in parents], needed))
    for position, parent in enumerate(parents):
        share = next(pulled, None)  # zip would hold it while the next is computed
        if needed[position]:
            if watch:
                share = watch.sent(node, share)
                watch.backward(node, parent, share, g)
            share = match_parent(share, parent, node)
            # a view tells the child's array from the parent's own
            yield position, share.view() if share is g and type(g) is ndarray else share
        share = None


def children_first(root: Any) -> list[Any]:
    """Sort the interior nodes that ``root`` depends on, children before parents.

    Depth first, as `chaingrad.graph.toposort`, but from the last operand to the first.
    """
    order: list[Any] = []
    seen = set()
    stack = [root]
    while stack:
        node = stack.pop()
        if node is None:  # the parents of the node below have all been pushed
            order.append(stack.pop())
        elif node.rule is not None and node.requires_grad and node not in seen:
            seen.add(node)
            stack += (node, None, *node.parents)
    order.reverse()
    return order


def _leading_to(wanted: Set[Any], root: Any, independent: bool) -> tuple[list[Any], set[Any]]:
    """Sort the nodes that depend on a wanted node, in the order of `children_first`.

    A node that was freed may have depended on one: it is there, for the pass to refuse. Beside the
    order comes a set of the nodes in it and of those wanted.
    """
    leads = set(wanted)
    order: list[Any] = []
    seen = set(wanted) if independent else set()
    stack = [root]
    while stack:
        node = stack.pop()
        if node is None:
            node = stack.pop()
            if node in wanted or is_released(node) or not leads.isdisjoint(node.parents):
                leads.add(node)
                order.append(node)
        elif node.rule is not None and node.requires_grad and node not in seen:
            seen.add(node)
            stack += (node, None, *node.parents)
    order.reverse()
    return order, leads
