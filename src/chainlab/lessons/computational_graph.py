"""What *Computational graphs* draws: the neuron's graph, its backward pass by clicks, its sort."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import chaingrad
from chaingrad.nn import Parameter
from chainview import Drawing, Figure, draw_graph, draw_toposort, order

W, X, B, TARGET = 0.5, 1.5, -0.2, 0.2  # the neuron of Parts I and II


def draw(root: Any, named: Mapping[str, Any]) -> Drawing:
    """Draw the graph of a result; leaves called ``w`` and ``b`` are parameters.

    Args:
        root: the node that everything was computed for.
        named: the nodes by their names.
    """
    parameters = [node for name, node in named.items() if name in ("w", "b")]
    for node in named.values():
        node.op = _operation(node.f) if node.f else ""
    return draw_graph(root, names=named, parameters=parameters)


def _operation(f: Callable[..., Any]) -> str:
    """Return what an operation is called; a power is a lambda that holds its exponent."""
    exponent = inspect.getclosurevars(f).nonlocals.get("n") if inspect.isfunction(f) else None
    return f.__name__ if exponent is None else f"**{exponent}"


def neuron() -> chaingrad.Node:
    """Build the loss of the neuron with the package's nodes, at the numbers of the page."""
    w, b = Parameter(W, "w"), Parameter(B, "b")
    x, target = chaingrad.Node(X, "x"), chaingrad.Node(TARGET, "target")
    p = w * x
    z = p + b
    h = z.tanh()
    out = z + h
    error = out - target
    loss = error**2
    for name, node in {"p": p, "z": z, "h": h, "out": out, "error": error, "loss": loss}.items():
        node.label = name
    return loss


def click() -> Figure:
    """Show the neuron's graph for the reader to run the backward pass, a click for each message."""
    return order(neuron())


def draw_search(root: Any, named: Mapping[str, Any]) -> Drawing:
    """Draw what a depth-first search from a node finds among all nodes that have a name."""
    names = {node: name for name, node in named.items()}
    parents = {name: [names[parent] for parent in node.parents] for name, node in named.items()}
    return draw_toposort(parents, names[root])


def draw_layer() -> Drawing:
    """Draw a dense layer of two units with two inputs, number by number, to fit a phone."""
    node = chaingrad.Node
    x = [node(0.5, "x1"), node(-1.0, "x2")]
    weights = [[node(0.2, "w11"), node(-0.4, "w12")], [node(0.7, "w21"), node(0.1, "w22")]]
    biases = [node(0.3, "b1"), node(-0.2, "b2")]
    units: list[chaingrad.Node] = []
    for row, bias in zip(weights, biases, strict=True):
        unit = (row[0] * x[0] + row[1] * x[1] + bias).tanh()
        unit.label = f"h{len(units) + 1}"
        units.append(unit)
    return draw_graph(units, values=False)
