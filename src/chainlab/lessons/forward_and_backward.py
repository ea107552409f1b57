"""What *Forward and backward* draws: the network with weight decay, and what came back in it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from chaingrad import Node
from chainview import Drawing, draw_graph

# What stands in the circle before a variable; the weights and the data have none.
OPERATORS = {"z": "@", "h": "φ", "o": "@", "L": "l(o, y)", "s": "λ/2 ‖·‖²", "J": "add"}
WEIGHTS = ("W⁽¹⁾", "W⁽²⁾")


def record(W1: Any, W2: Any, x: Any, y: Any, lam: float) -> tuple[Node, list[Node]]:
    """Run the six lines of the forward pass on nodes that bear their names.

    Args:
        W1, W2: weights, of shapes (h, d) and (q, h).
        x, y: the example and its target, of shapes (d,) and (q,).
        lam: the strength of weight decay.

    Returns:
        The node of J, and those of the two weight matrices.
    """
    V1, V2 = weights = [Node(W, name) for W, name in zip((W1, W2), WEIGHTS, strict=True)]
    z = V1 @ Node(x, "x", requires_grad=False)
    h = z.relu()
    o = V2 @ h
    L = ((o - Node(y, "y", requires_grad=False)) ** 2).sum() / 2
    s = lam / 2 * ((V1**2).sum() + (V2**2).sum())
    J = L + s
    for node, name in zip((z, h, o, L, s, J), OPERATORS, strict=True):
        node.label = name
    return J, weights


def draw_network(W1: Any, W2: Any, x: Any, y: Any, lam: float, back: bool = False) -> Drawing:
    """Draw the network with a square for each variable and a circle for each operator.

    Args:
        W1, W2, x, y, lam: as `record` takes them.
        back: run the backward pass first, and draw the gradients.
    """
    root, weights = record(W1, W2, x, y, lam)
    if back:
        root.backward()
    named: dict[Node, Any] = {}
    top = _condensed(root, named)
    drawing = draw_graph(top, style="shapes", parameters=[named[W] for W in weights])
    close, gaps = re.subn(r'ranksep="[^"]*"', 'ranksep="0.2"', drawing.source)
    assert gaps == 1
    return replace(drawing, source=close)  # it fits a narrow page


def _condensed(node: Node, named: dict[Node, Any]) -> Any:
    """Return the graph below a named node on its named nodes alone."""
    if node not in named:
        named[node] = SimpleNamespace(
            data=node.data,
            grad=node.grad,
            requires_grad=node.requires_grad,
            label=node.label,
            op=OPERATORS.get(node.label or "", ""),
            parents=tuple(_condensed(operand, named) for operand in _operands(node)),
        )
    return named[node]


def _operands(node: Node) -> list[Node]:
    """Return the nearest named nodes below a node, each once."""
    found = []
    for parent in node.parents:
        found += [parent] if parent.label else _operands(parent)
    return list(dict.fromkeys(found))


def at(values: Mapping[str, Any], name: str, weight: float = 1.0) -> Callable[[Any], Any]:
    """Return J as a function of one variable of the network, wherever it is.

    What the forward pass computes before the variable is left alone, and what it computes from the
    variable is computed again.

    Args:
        values: x, y, lam, W1 and W2, and the variable itself.
        name: W1, W2, z, h, o, L or s.
        weight: what L counts in J.
    """

    def objective(given: Any) -> Any:
        v = {**values, name: given}
        z = given if name == "z" else v["W1"] @ v["x"]
        h = given if name == "h" else np.maximum(z, 0)
        o = given if name == "o" else v["W2"] @ h
        L = given if name == "L" else np.sum((o - v["y"]) ** 2) / 2
        squares = np.sum(v["W1"] ** 2) + np.sum(v["W2"] ** 2)
        return weight * L + (given if name == "s" else v["lam"] / 2 * squares)

    return objective
