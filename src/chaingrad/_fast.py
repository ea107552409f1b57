"""What is written for speed alone; nothing else is to be learnt here.

The plain backward pass with the adjoints kept on the nodes, in which a graph of numbers spends its
time: `chaingrad.backward` has the general pass, which reads like the formula, and
``tests/chaingrad/test_fast.py`` holds the two to the same gradients.
"""

import threading
from collections import deque
from collections.abc import Iterable
from itertools import repeat
from typing import Any

import numpy as np

from chaingrad._shares import accumulated, match_parent

ndarray = np.ndarray
REACHED: Any = object()  # marks a node that takes part, before the first share has come
VISITED: Any = object()  # marks a node that has been searched for what is wanted
lock = threading.RLock()  # marks live on the nodes, and threads share leaves: one pass at a time
_running = False


def store(root: Any, seed: Any) -> bool:
    """Store every interior gradient, and add to the leaves' gradients; return False if refused.

    It is refused within another such pass, whose marks are on the nodes. If anything fails, every
    ``grad`` is what it was.
    """
    global _running
    with lock:
        if _running:
            return False
        order: list[Any] = []
        leaves: list[Any] = []
        before: list[Any] = []
        try:
            _running = True
            sort(root, order, leaves)
            before = [node.grad for node in order] + [leaf.grad for leaf in leaves]
            root._adjoint = seed
            _send_all(order, True)
            for leaf in leaves:
                g, known = leaf._adjoint, leaf.grad
                leaf.grad = known + g if type(g) is float is type(known) else accumulated(known, g)
                leaf._adjoint = None
        except BaseException:
            set_all(order + leaves, "grad", before)
            set_all(root.sorted_graph(), "_adjoint", repeat(None))
            raise
        finally:
            _running = False
    return True


def find(root: Any, seed: Any, wanted: set[Any]) -> dict[Any, Any] | None:
    """Find the adjoints of ``wanted`` nodes; the pass stops at each of them.

    None if refused, as in `store`.
    """
    global _running
    with lock:
        if _running:
            return None
        try:
            _running = True
            set_all(wanted, "_adjoint", repeat(REACHED))
            order = _sort_leading(root)
            if order or root in wanted:
                root._adjoint = seed
            _send_all(order, False)
            return {node: node._adjoint for node in wanted if node._adjoint is not REACHED}
        except BaseException:
            set_all(root.sorted_graph(), "_adjoint", repeat(None))
            raise
        finally:
            set_all(wanted, "_adjoint", repeat(None))
            _running = False


def sort(root: Any, order: list[Any], leaves: list[Any]) -> None:
    """Fill ``order`` with the interior nodes, children first, and ``leaves``; mark them all.

    Depth first, as `chaingrad.graph.toposort`, but from the last operand to the first.
    """
    if root.rule is None:
        leaves.append(root)
        return
    stack: list[Any] = [root]
    while stack:
        node = stack.pop()
        if node is None:  # the parents of the node below have all been pushed
            order.append(stack.pop())
        elif node._adjoint is None:
            node._adjoint = REACHED
            left, right = node._left, node._right
            if left is None:
                stack += (node, None, *_unmarked(right or (), leaves))
                continue
            before = None  # an interior node on the left, for which this one waits
            if left._adjoint is None and left.requires_grad:
                if left.rule is not None:
                    before = left
                else:
                    left._adjoint = REACHED
                    leaves.append(left)
            if right is not None and right._adjoint is None and right.requires_grad:
                if right.rule is not None:
                    stack += (node, None, right) if before is None else (node, None, before, right)
                    continue
                right._adjoint = REACHED
                leaves.append(right)
            if before is None:
                order.append(node)
            else:
                stack += (node, None, before)
    order.reverse()


def _unmarked(parents: Iterable[Any], leaves: list[Any]) -> list[Any]:
    """Return the interior parents that have no mark; mark and list the leaves that have none."""
    interior = []
    for parent in parents:
        if parent._adjoint is None and parent.requires_grad:
            if parent.rule is not None:
                interior.append(parent)
            else:
                parent._adjoint = REACHED
                leaves.append(parent)
    return interior


def _sort_leading(root: Any) -> list[Any]:
    """Sort the nodes that lead to marked nodes, and mark them too."""
    order: list[Any] = []
    visited: list[Any] = []
    stack: list[Any] = [root]
    push, pop = stack.append, stack.pop
    while stack:
        node = pop()
        if node is None:
            node = pop()
            for parent in node.parents:
                if parent._adjoint is REACHED:
                    node._adjoint = REACHED
                    order.append(node)
                    break
            else:
                if not node.rule.vjps:  # it may be freed: the pass reports that
                    node._adjoint = REACHED
                    order.append(node)
        elif node._adjoint is None and node.rule is not None and node.requires_grad:
            node._adjoint = VISITED
            visited.append(node)
            push(node)
            push(None)
            for parent in node.parents:
                if parent._adjoint is None:
                    push(parent)
    for node in visited:
        if node._adjoint is VISITED:  # it leads to no wanted node
            node._adjoint = None
    order.reverse()
    return order


def _send_all(order: list[Any], stored: bool) -> None:
    """Let each node send its adjoint to its marked parents: `chaingrad.backward.send`."""
    reached = REACHED
    for node in order:
        g = node._adjoint
        node._adjoint = None
        if stored:
            node.grad = g
        vjps = node.rule.vjps
        if len(vjps) == 2:
            a, b = node._left, node._right
            out, x, y = node.data, a.data, b.data
            to_a, to_b = vjps
            known = a._adjoint
            if known is not None:
                share = to_a(g, out, x, y) if to_a else g
                if type(share) is not float or type(x) is not float:
                    _add(a, share, g, node)
                    share = None  # so that its memory is free while others are computed
                else:
                    a._adjoint = share if known is reached else known + share
            known = b._adjoint
            if known is not None:
                share = to_b(g, out, x, y) if to_b else g
                if type(share) is not float or type(y) is not float:
                    _add(b, share, g, node)
                    share = None
                else:
                    b._adjoint = share if known is reached else known + share
        elif len(vjps) == 1:
            a = node._left
            known = a._adjoint
            if known is not None:
                to_a = vjps[0]
                _add(a, to_a(g, node.data, a.data) if to_a else g, g, node)
        else:
            parents = node.parents
            needed = [p._adjoint is not None for p in parents]
            pulled = iter(node.rule.pull(g, node.data, [p.data for p in parents], needed))
            for parent, takes in zip(parents, needed, strict=True):
                share = next(pulled, None)  # zip would hold it while the next is computed
                if takes:
                    _add(parent, share, g, node)
                share = None


def _add(parent: Any, share: Any, g: Any, child: Any) -> None:
    """Add a share, computed from the child's adjoint ``g``, to what has reached ``parent``."""
    data = parent.data
    if type(data) is not ndarray:
        if type(share) is not float:
            share = match_parent(share, parent, child)
    elif type(share) is not ndarray or share.dtype is not data.dtype or share.shape != data.shape:
        share = match_parent(share, parent, child)
    known = parent._adjoint
    if known is REACHED:
        # a view, as in chaingrad.backward.send: the memory is the child's
        parent._adjoint = share.view() if share is g and type(g) is ndarray else share
    else:
        parent._adjoint = total = known + share
        if type(data) is ndarray and (type(total) is not ndarray or total.dtype is not data.dtype):
            # NumPy makes arrays without axes scalars, and the order of bytes the machine's own
            parent._adjoint = np.asarray(total, data.dtype)


def set_all(nodes: Iterable[Any], name: str, values: Iterable[Any]) -> None:
    """Set an attribute of each node, in one call that neither Ctrl-C nor a thread can interrupt."""
    deque(map(setattr, nodes, repeat(name), values), maxlen=0)
