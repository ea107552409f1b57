"""Drawings of computational graphs, laid out by Graphviz.

`draw_graph` shows what a computation built, `draw_toposort` the order in which a depth-first search
sorts it, and `draw_gradient_flow` what each edge carries backward. Arrows run from parents to
children, the way the data flows. Colours mean the same thing in each, and never alone: leaves are
yellow, constants grey, nodes that the sort visited violet, nodes that it left out dashed, local
gradients red, gradients of the root blue; where something was found wrong, a thick red line with
words and an exclamation mark.

A node is anything with ``data``, ``grad``, ``parents``, ``op`` and ``label`` (see
`chaingrad.graph.GraphNode`), so engines written elsewhere can be drawn too. `draw_graph` also draws
what PyTorch and JAX record: the ``grad_fn`` graph of a tensor, and a jaxpr.

Curves, bars and heat maps in the same colours: `chaingrad.draw.plots`, which needs matplotlib.
"""

from chaingrad.draw.dot import GraphvizMissingError
from chaingrad.draw.flow import draw_gradient_flow
from chaingrad.draw.graph import draw_graph
from chaingrad.draw.kept import draw_kept
from chaingrad.draw.palette import color
from chaingrad.draw.sort import draw_toposort
from chaingrad.draw.svg import Drawing

__all__ = [
    "Drawing",
    "GraphvizMissingError",
    "color",
    "draw_gradient_flow",
    "draw_graph",
    "draw_kept",
    "draw_toposort",
]
