"""What a computation built, drawn: nodes, PyTorch tensors, jaxprs."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from chaingrad.graph import GraphNode
from chainview.draw.boxes import Direction, Style, check_option, draw_boxes, draw_shapes, new_graph
from chainview.draw.svg import Drawing
from chainview.read.reading import read
from chainview.read.watches import is_watched
from chainview.read.words import describe, title


def draw_graph(
    root: GraphNode | Sequence[GraphNode] | Any,
    *,
    style: Style = "box",
    direction: Direction | None = None,
    values: bool = True,
    gradients: bool = True,
    parameters: Iterable[Any] = (),
    names: Mapping[str, Any] | None = None,
    inline: bool = True,
    max_nodes: int = 300,
    alt: str | None = None,
) -> Drawing:
    """Draw the graph that computed ``root``.

    Args:
        root: a node, a PyTorch tensor (its graph of ``grad_fn`` is drawn), a jaxpr (with a node for
            each argument, constant and equation, whether an output needs it or not), or a list of
            these; or a run that `chainview.frameworks` watched, folded into at most 60 boxes.
        style: ``"box"`` for one box a node; ``"shapes"`` for squares (variables) and circles
            (operators), where a result inside the graph has a square only if it has a label.
        direction: which way the data flows, in Graphviz's terms: ``"LR"`` is left to right, which
            is the default; of a watched run it is ``"TB"``, down.
        values: show each node's value; for an array its shape, and its entries when they are few.
            A jaxpr has types in their place, such as ``f32[16,64]``.
        gradients: show gradients, once a backward pass has left any.
        parameters: leaves to mark as parameters, besides `chaingrad.nn.Parameter` and leaves
            of another class of that name.
        names: labels for nodes, tensors or variables of a jaxpr that have none, ``{"w": w}``.
        inline: draw what a function does that a jaxpr calls (``jit``, ``jax.checkpoint``, a custom
            derivative); otherwise it is one box with its name.
        max_nodes: a larger graph is refused.
        alt: words to use instead of the generated alt text.

    Raises:
        TypeError: ``root`` is not something to draw.
        ValueError: the graph has more than ``max_nodes`` nodes, or an option is unknown.
        CycleError: a node depends on itself.

    >>> from types import SimpleNamespace as Leaf
    >>> x = Leaf(data=3.0, grad=0.0, parents=(), op="", label="x")
    >>> y = Leaf(data=9.0, grad=0.0, parents=(x, x), op="mul", label="y")
    >>> drawing = draw_graph(y)
    >>> print(drawing.alt)
    Computational graph with 1 leaf and 1 operation. Root: y = 9.0 (×). Leaf: x = 3.0.
    >>> drawing.source.count("->")
    2
    """
    check_option("style", style, ("box", "shapes"))
    graph = new_graph(direction or ("TB" if is_watched(root) else "LR"))
    if is_watched(root):
        root = root.folded()
        graph.defaults("graph", ranksep="0.22")  # nothing is written between the boxes
    items = read(root, "draw_graph", max_nodes, parameters, names, inline)
    gradients = gradients and any(item.reached for item in items)
    draw = draw_boxes if style == "box" else draw_shapes
    draw(graph, items, values, gradients)
    titles = {item.id: title(item) for item in items}
    words = describe("Computational graph", items, values, gradients)
    return Drawing(graph.source, alt or words, titles)
