"""The views that other parts of the package make: the graph, the player, the figures."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from chaingrad.node import Node
from chainlab.workbench.rerun import Rerun
from chainlab.workbench.subject import Subject
from chainview import draw_graph
from chainview.figures import nudge as nudging
from chainview.figures.order import order
from chainview.piece import Piece
from chainview.player.passes import play
from chainview.player.player import MOST_NODES as MOST_PLAYED

MOST_DRAWN = 150
MOST_CLICKED = 10


@dataclass(frozen=True)
class View:
    """A view: its HTML, the same in words, and what of it can be taken along.

    Attributes:
        html: what is shown.
        alt: the same in words.
        code: a program that runs alone, where the view is one.
        svg: a picture that stands alone, where the view is one.
    """

    html: str
    alt: str
    code: str = ""
    svg: str = ""


def require_drawing(subject: Subject) -> None:
    """Refuse a graph too large to draw."""
    subject.require_at_most(MOST_DRAWN, "a drawing")


def graph(subject: Subject) -> View:
    """Draw the graph with its values, and with its gradients where it has any."""
    root = subject.root
    can_run = root.size == 1 and root.requires_grad
    if can_run and not any(np.any(_grad(x)) for x in subject.leaves):
        root.backward()
    drawing = draw_graph(root, max_nodes=MOST_DRAWN)
    if not drawing.fits:
        drawing = draw_graph(root, max_nodes=MOST_DRAWN, direction="TB")
    html = drawing._repr_mimebundle_()["text/html"]
    return View(html, drawing.alt, svg=drawing.svg(theme=False))


def _grad(node: Any) -> Any:
    return getattr(node.grad, "data", node.grad)


def require_player(subject: Subject) -> None:
    """Refuse a graph that would be played for too long."""
    subject.require_scalar("play")
    subject.require_at_most(MOST_PLAYED, "play")


def played(subject: Subject) -> View:
    """Return the player of the graph's passes."""
    return _of(play(subject.root))


def require_sliders(subject: Subject) -> None:
    """Refuse a graph with too much to move, or to watch."""
    subject.require_scalar("nudge")
    subject.require_at_most(nudging.MOST_NODES, "nudge")
    if subject.entries > nudging.MOST_LEAVES:
        raise ValueError(
            f"the leaves hold {subject.entries:,} numbers, and nudge has a slider for each, at "
            f"most {nudging.MOST_LEAVES}: make the inputs that are only data NumPy arrays, or "
            "give them requires_grad=False"
        )


def nudged(subject: Subject) -> View:
    """Return the graph with leaves to drag.

    What the graph has settled, such as the choice of a ``where`` or of a norm at 0, the program
    chooses anew for each place of the leaves.
    """
    try:
        return _of(nudging.nudge(subject.root))
    except TypeError:
        rerun = Rerun.of(subject) if subject.text else None
        if rerun is None:
            raise
    again = partial(_again, rerun)
    return _of(nudging.nudge(again, *[leaf.data for leaf in subject.leaves]))


def _again(rerun: Rerun, *leaves: Node) -> Node:
    root = rerun.root([leaf.data for leaf in leaves])
    if root is None:
        raise TypeError("nudge cannot follow the program to other numbers: it fails there")
    return root


def require_clicks(subject: Subject) -> None:
    """Refuse arrays, and more operations than anybody would click."""
    subject.require_scalar("order")
    array = next((node for node in reversed(subject.nodes) if node.ndim), None)
    if array is not None:
        raise TypeError(
            f"order takes a graph of single numbers, and {array.label or 'a node'} is an array of "
            f"shape {array.shape}: play shows its passes"
        )
    clicked = sum(bool(node.parents) and node.requires_grad for node in subject.nodes)
    if clicked > MOST_CLICKED:
        raise ValueError(
            f"order asks for a click on each operation, and there are {clicked}, more than "
            f"{MOST_CLICKED}: take a smaller part, or see play"
        )


def clickable(subject: Subject) -> View:
    """Return the backward pass as a figure to click through."""
    return _of(order(subject.root))


def _of(figure: Piece) -> View:
    return View(figure.html, figure.alt)
