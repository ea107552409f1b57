"""Checks of arguments that several modules make."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from chaingrad._wording import kind
from chaingrad.node import Node


def as_node(x: Any) -> Node:
    """Return ``x`` itself if it is a node, otherwise a constant."""
    return x if isinstance(x, Node) else Node(x, requires_grad=False)


def at_least_zero(name: str, number: float) -> float:
    """Return ``number`` as a float; raise an error that says ``name`` if it is negative or nan."""
    if not isinstance(number, int | float | np.number):
        raise TypeError(f"{name} must be a number; got {kind(number)}")
    if not number >= 0:
        raise ValueError(f"{name} must be 0 or more; got {number!r}")
    return float(number)


def node_list(parameters: Iterable[Node]) -> list[Node]:
    """Return ``parameters`` as a list of nodes; refuse a single node, and what is none."""
    if isinstance(parameters, Node):
        raise TypeError("parameters must be several nodes; for one node, pass [node]")
    if not hasattr(parameters, "__iter__"):
        called = "model.parameters()" if hasattr(parameters, "parameters") else "parameters()"
        raise TypeError(
            f"parameters must be several nodes: pass {called}; got {type(parameters).__name__} "
            f"{parameters!r:.60}"
        )
    nodes = list(parameters)
    if not nodes:
        raise ValueError(
            "there are no parameters; was a generator, such as model.parameters(), used up before?"
        )
    for i, node in enumerate(nodes):
        if not isinstance(node, Node):
            raise TypeError(
                f"parameters must be nodes; number {i} is {type(node).__name__} {node!r:.60}"
            )
    return nodes


def parameter_list(parameters: Iterable[Node]) -> list[Node]:
    """Make a list of an optimizer's parameters, which must be leaves and occur only once."""
    leaves = node_list(parameters)
    for i, node in enumerate(leaves):
        if node.parents:
            raise TypeError(
                f"parameters must be leaves; number {i} is the result of {node.op!r}, which the "
                "next forward pass computes again"
            )
    if len({id(leaf) for leaf in leaves}) < len(leaves):
        raise ValueError("a parameter is listed twice")
    return leaves
