"""Pictures of computational graphs: drawings, a player that steps, figures that move.

`draw_graph` shows what a computation built, `draw_toposort` the order in which a depth-first search
sorts it, and `draw_gradient_flow` what each edge carries backward. Arrows run from parents to
children, the way the data flows. Colours mean the same thing in each, and never alone: leaves are
yellow, constants grey, nodes that the sort visited violet, nodes that it left out dashed, local
gradients red, gradients of the root blue; where something was found wrong, a thick red line with
words and an exclamation mark.

A node is anything with ``data``, ``grad``, ``parents``, ``op`` and ``label`` (see
`chaingrad.graph.GraphNode`), so engines written elsewhere can be drawn too. `draw_graph` also draws
what PyTorch and JAX record: the ``grad_fn`` graph of a tensor, and a jaxpr.

`play` draws the graph as `draw_graph` does and adds what happens in it, one message at a time, with
numbers. `play_toposort` does the same for a topological sort. The player is a piece of HTML that
holds its own script: it needs no server, no network and no library, and where scripts do not run,
or on paper, three key frames stand in its place. Keys: the arrows make one step, space plays and
pauses, Home and End go to the ends. Of several layouts it shows the first that fits the screen with
the words and the controls: in the asked direction, from the top down, or that with boxes in which
the gradient takes the place of the value. What fits in none scrolls by itself.

Figures that move are pieces of HTML of the same kind. `nudge` and `order` are for any graph of
numbers: leaves to drag, a backward pass to click through. `vary` has controls for a line that was
computed for each of their settings, and `replay` a slider over all the steps of a training run.
`transposes` has the gradients of a matrix product, and says what each of their entries is made of.
`export` writes a player or a figure as a file of its own.

`chainview.frameworks` has ``watch_torch`` and ``watch_jax``, which watch one training step of a
model of yours as a graph that all of these take, and ``diagnose``, which says in words what is
wrong with it. `draw_kept` draws what the step keeps for its backward pass,
`saved_by_layer` counts it.

Curves, bars and heat maps in the same colours: `chainview.plots`, which needs matplotlib.
"""

from chainview.draw.computation import draw_graph
from chainview.draw.flow import draw_gradient_flow
from chainview.draw.layout import GraphvizMissingError
from chainview.draw.palette import color
from chainview.draw.sort import draw_toposort
from chainview.draw.svg import Drawing
from chainview.export import export
from chainview.figures.controls import vary
from chainview.figures.figure import Figure
from chainview.figures.nudge import nudge
from chainview.figures.order import order
from chainview.figures.products import transposes
from chainview.figures.replay import replay
from chainview.frameworks import diagnose, watch_jax, watch_torch
from chainview.frameworks.kept import draw_kept, saved_by_layer
from chainview.player.passes import play
from chainview.player.player import Player
from chainview.player.sorting import play_toposort

__all__ = [
    "Drawing",
    "Figure",
    "GraphvizMissingError",
    "Player",
    "color",
    "diagnose",
    "draw_gradient_flow",
    "draw_graph",
    "draw_kept",
    "draw_toposort",
    "export",
    "nudge",
    "order",
    "play",
    "play_toposort",
    "replay",
    "saved_by_layer",
    "transposes",
    "vary",
    "watch_jax",
    "watch_torch",
]
