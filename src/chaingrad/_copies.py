"""Graphs that are copied and pickled, without recursion, however long they are."""

import copy
from collections.abc import Sequence
from typing import Any

from chaingrad._wording import describe


def deepcopied(root: Any, memo: dict[int, Any]) -> Any:
    """Copy the graph of ``root``, for `copy.deepcopy`."""
    copies = {}
    for node in reversed(root.sorted_graph()):
        if id(node) not in memo:
            parents = [memo[id(p)] for p in node.parents]
            memo[id(node)] = _rebuilt(type(node), _state(node), parents)
            memo[id(node)].data = copy.deepcopy(node.data, memo)
            copies[node] = memo[id(node)]
    for node, twin in copies.items():
        twin.grad = copy.deepcopy(node.grad, memo)
    return memo[id(root)]


def reduced(root: Any) -> tuple[Any, ...]:
    """Pickle the graph as a list, leaves as objects, so that two losses still share leaves."""
    kind, order = type(root), root.sorted_graph()[::-1]
    for node in order:
        if isinstance(node.grad, kind):
            raise TypeError(
                f"{describe(node)} cannot be pickled: its grad is a node, with a graph that "
                "leads back to it (create_graph=True); set grad = 0.0 first"
            )
    if not root.parents:
        return _rebuilt, (kind, _state(root), ())
    place = {node: i for i, node in enumerate(order)}
    rows = [
        (_state(node), [place[p] for p in node.parents]) if node.parents else node for node in order
    ]
    return _rebuilt_graph, (kind, rows)


def _state(node: Any) -> tuple[Any, ...]:
    return (node.rule, node.data, node.grad, node.label, node.requires_grad, node.is_parameter)


def _rebuilt(kind: type, state: tuple[Any, ...], parents: Sequence[Any]) -> Any:
    node = kind(0.0)
    node.rule, node.data, node.grad, node.label, node.requires_grad, is_parameter = state
    node.parents = tuple(parents)
    if is_parameter:
        node._is_parameter = True
    return node


def _rebuilt_graph(kind: type, rows: Sequence[Any]) -> Any:
    nodes: list[Any] = []
    for row in rows:
        made = isinstance(row, kind)
        nodes.append(row if made else _rebuilt(kind, row[0], [nodes[i] for i in row[1]]))
    return nodes[-1]
