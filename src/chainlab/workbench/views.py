"""The views that other parts of the package make: the graph, the player, the figures."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from chaingrad.node import Node
from chainview import draw_graph
from chainview.figures.order import order
from chainview.piece import Piece

MOST_DRAWN = 150
MOST_CLICKED = 10


@dataclass(frozen=True)
class View:
    """A view: its HTML, the same in words, and code that runs alone, where it is some."""

    html: str
    alt: str
    code: str = ""


def leaves_of(root: Node) -> list[Node]:
    """Return the leaves that require a gradient, in the order in which they were made."""
    return [node for node in root.sorted_graph()[::-1] if not node.parents and node.requires_grad]


def require_scalar(root: Node, what: str) -> None:
    """Refuse a root that is not a single number, or that depends on no leaf with a gradient."""
    if root.size != 1:
        raise ValueError(
            f"{what} takes the gradient of one number, and the last line gives an array of shape "
            f"{root.shape}: sum it, as in y.sum()"
        )
    if not root.requires_grad:
        raise TypeError(
            f"{what} needs a leaf to differentiate by, and there is none: make the inputs nodes, "
            "as in x = Node(2.0)"
        )


def graph(root: Node) -> View:
    """Draw the graph with its values, and with its gradients where it has any."""
    if root.size == 1 and root.requires_grad and not any(np.any(_grad(x)) for x in leaves_of(root)):
        root.backward()
    try:
        drawing = draw_graph(root, max_nodes=MOST_DRAWN)
        if not drawing.fits:
            drawing = draw_graph(root, max_nodes=MOST_DRAWN, direction="TB")
        html = drawing._repr_mimebundle_()["text/html"]
    except ValueError as error:
        raise ValueError(
            f"{str(error).removeprefix('draw_graph: ')}; with arrays instead of numbers, or fewer "
            "turns of a loop, it is drawn"
        ) from None
    return View(html, drawing.alt)


def _grad(node: Node) -> Any:
    return node.grad.data if isinstance(node.grad, Node) else node.grad


def interactive_figure(name: str, make: Callable[[Node], Piece], root: Node) -> View:
    """Return a moving figure of the steps of a graph whose root is one number."""
    require_scalar(root, name)
    figure = make(root)
    return View(figure.html, figure.alt)


def clickable(root: Node) -> Piece:
    """Return the backward pass as a figure to click through."""
    clicked = [node for node in root.sorted_graph() if node.parents and node.requires_grad]
    if len(clicked) > MOST_CLICKED:
        raise ValueError(
            f"order asks for a click on each operation, and there are {len(clicked)}, more than "
            f"{MOST_CLICKED}: take a smaller part, or see play"
        )
    return order(root)
