"""The backward pass: sort the graph, then let each node send its gradient to its parents.

The gradient of the root with respect to a node, its adjoint, is the sum over the node's children of
the child's adjoint times the local gradient :cite:`linnainmaa1976`. Taken with children before
parents, a node is left when every child has sent its share, and each edge is passed once.

`accumulate` is the pass. `backward_pass` stores its adjoints in the nodes, `adjoints` returns some.
"""

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Collection
from itertools import repeat
from operator import attrgetter
from typing import Any

import numpy as np

from chaingrad import modes
from chaingrad._release import is_released, release_node
from chaingrad._shares import accumulated, added, copy_if_view, fit

Adjoints = dict[Any, Any]  # of nodes, parents before children; None for what has not been reached
Value = Callable[[Any], Any]

data_of: Value = attrgetter("data")
_storing = threading.Lock()  # threads share leaves


def backward_pass(root: Any, seed: Any, create_graph: bool = False, release: bool = False) -> None:
    """Store the adjoint of every node, as `~chaingrad.node.Node.backward` describes.

    A pass that fails or is interrupted changes no gradient.

    Args:
        root: the node to differentiate.
        seed: its adjoint, of its shape and dtype; a node under ``create_graph``.
        create_graph, release: as there.
    """
    adjoint = parents_first(root)
    kept = [root] if release else None
    with modes.recording() if create_graph else contextlib.nullcontext():
        accumulate(root, seed, adjoint, kept, create_graph, release)
        if release:
            adjoint = {node: g for node, g in adjoint.items() if g is not None}
        with _storing:
            new = [g if node.rule else accumulated(node.grad, g) for node, g in adjoint.items()]
            # one call, which Ctrl-C cannot interrupt
            deque(map(setattr, adjoint, repeat("grad"), new), maxlen=0)


def adjoints(
    root: Any,
    seed: Any,
    wanted: Collection[Any],
    create_graph: bool = False,
    release: bool = False,
    independent: bool = False,
) -> Adjoints:
    """Return the adjoints of the ``wanted`` nodes that the root depends on; store none.

    Only nodes on the way to these are visited.

    Args:
        root, seed, create_graph, release: as in `backward_pass`.
        wanted: nodes.
        independent: None of the wanted nodes depends on another, as the inputs of a function: what
            lies beyond them need not be searched.
    """
    wanted = set(wanted)
    adjoint: Adjoints = {}
    for node in parents_first(root, wanted if independent else ()):
        # what a freed node depended on is lost: it is there, for the pass to refuse
        if node in wanted or is_released(node) or not adjoint.keys().isdisjoint(node.parents):
            adjoint[node] = None
    if root not in adjoint:
        return {}
    with modes.recording() if create_graph else contextlib.nullcontext():
        accumulate(root, seed, adjoint, wanted, create_graph, release)
    # in the graph's order, which is the same in every run, as a set's of nodes is not
    return {node: copy_if_view(g) for node, g in adjoint.items() if node in wanted}


def accumulate(
    root: Any,
    seed: Any,
    adjoint: Adjoints,
    kept: Collection[Any] | None = None,
    create_graph: bool = False,
    release: bool = False,
    sent: Callable[..., None] | None = None,
) -> None:
    """Add up the adjoint of each node, x̄ = Σ c̄ ∂c/∂x over its children c.

    Args:
        root, seed, create_graph, release: as in `backward_pass`.
        adjoint: the nodes that take part, sorted as `parents_first` does; gets their adjoints.
        kept: those interior nodes whose adjoints stay when they have been sent; by default all.
        sent: as in `send`.
    """
    value = _itself if create_graph else data_of
    watch = modes.watch()
    is_plain = not (watch or create_graph or release or sent)
    adjoint[root] = seed
    for node, g in reversed(adjoint.items()):
        rule = node.rule
        if rule is None:
            continue
        # one or two operands as `send` has them, written out: a graph of numbers is nothing else
        if is_plain and len(rule.vjps) == 2:
            (a, b), (to_a, to_b) = node.parents, rule.vjps
            out, x, y = node.data, a.data, b.data
            if a in adjoint:
                share = to_a(g, out, x, y) if to_a else g
                if type(share) is float is type(x):
                    known = adjoint[a]
                    adjoint[a] = share if known is None else known + share
                else:
                    add_share(adjoint, a, share, node, g)
            if b in adjoint:
                share = to_b(g, out, x, y) if to_b else g
                if type(share) is float is type(y):
                    known = adjoint[b]
                    adjoint[b] = share if known is None else known + share
                else:
                    add_share(adjoint, b, share, node, g)
            share = None  # so that its memory is free while others are computed
        elif is_plain and len(rule.vjps) == 1:
            (a,), (to_a,) = node.parents, rule.vjps
            if a in adjoint:
                add_share(adjoint, a, to_a(g, node.data, a.data) if to_a else g, node, g)
        else:
            send(node, g, adjoint, value, watch, sent)
        if kept is not None and node not in kept:
            adjoint[node] = None
        if release:
            release_node(node, keep_data=node is root)


def send(
    node: Any,
    g: Any,
    adjoint: Adjoints,
    value: Value = data_of,
    watch: modes.Watch | None = None,
    sent: Callable[..., None] | None = None,
) -> None:
    """Add to the adjoint of each parent its share of the adjoint ``g`` of ``node``.

    Args:
        node, g: as said.
        adjoint: what has reached each node that takes part; the shares are added here.
        value: gives what the rules compute with for a node: its data, the node itself where the
            pass is recorded, or what a recorder has for it.
        watch: sees the node, and each share before it is fitted to its parent.
        sent: told of each share: the child, the position of the parent among its operands, the
            child's adjoint, the share, what the parent had before (None for nothing), and has now.
    """
    parents, vjps = node.parents, node.rule.vjps
    out, inputs = value(node), [*map(value, parents)]
    if watch:
        watch.unchanged(node)
    if not vjps:  # the shares are found together, and lazily
        needed = [parent in adjoint for parent in parents]
        pulled = iter(node.rule.pull(g, out, inputs, needed))
    for position, parent in enumerate(parents):
        share = None if vjps else next(pulled, None)
        if parent not in adjoint:
            continue
        if vjps:
            vjp = vjps[position]
            share = vjp(g, out, *inputs) if vjp else g
        if watch:
            watch.backward(node, parent, share, g)
        known = adjoint[parent] if sent else None
        share = add_share(adjoint, parent, share, node, g)
        if sent:
            sent(node, position, g, share, known, adjoint[parent])
        share = known = None  # so that their memory is free while others are computed


def add_share(adjoint: Adjoints, parent: Any, share: Any, child: Any, g: Any) -> Any:
    """Fit a share to its parent, add it to the parent's adjoint, and return it as it fits."""
    share = fit(share, parent, child)
    if share is g and type(g) is np.ndarray:
        share = g.view()  # which tells the child's array from the parent's own
    known = adjoint[parent]
    adjoint[parent] = share if known is None else added(known, share)
    return share


def parents_first(root: Any, ends: Collection[Any] = ()) -> Adjoints:
    """Sort what ``root`` depends on and requires a gradient, parents before children.

    Depth first, as `chaingrad.graph.toposort`, but from the last operand to the first.

    Args:
        root: where the search starts.
        ends: nodes beyond which it does not look.

    Returns:
        A dictionary with the nodes as keys, and None for each.
    """
    order: Adjoints = {}
    path = []  # from the root to here, each with the parents to come
    node, to_come = root, reversed(() if root in ends else root.parents)
    while True:
        for parent in to_come:
            if parent.requires_grad and parent not in order:
                if parent.rule is None or parent in ends:
                    order[parent] = None
                else:
                    path.append((node, to_come))
                    node, to_come = parent, reversed(parent.parents)
                    break
        else:
            order[node] = None
            if not path:
                return order
            node, to_come = path.pop()


def children_first(root: Any) -> list[Any]:
    """List the interior nodes below ``root`` in the order in which a pass leaves them."""
    return [node for node in reversed(parents_first(root)) if node.rule is not None]


def _itself(node: Any) -> Any:
    return node
