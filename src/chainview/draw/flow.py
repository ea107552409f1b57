"""What each edge of a graph carries backward, drawn."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from chaingrad.graph import GraphNode
from chaingrad.messages import local_gradients
from chaingrad.node import Node
from chainview.draw.boxes import BACK, BARE, Direction, box, new_graph
from chainview.draw.layout import Markup, escape, font, row
from chainview.draw.palette import LIGHT
from chainview.draw.svg import Drawing
from chainview.read.items import Item
from chainview.read.jaxpr import is_jaxpr
from chainview.read.reading import read
from chainview.read.tensors import is_tensor
from chainview.read.watches import is_watched
from chainview.read.words import describe, digits, number, title

LocalGradient = Callable[[Any, int], Any]
_UNKNOWN = object()


def draw_gradient_flow(
    root: GraphNode | Any,
    *,
    local_gradient: LocalGradient | None = None,
    parameters: Iterable[Any] = (),
    direction: Direction | None = None,
    max_nodes: int = 300,
    alt: str | None = None,
) -> Drawing:
    """Draw what flows back along each edge after ``root.backward()``.

    A node shows the gradient of the root with respect to it (blue, ∂root/∂node). An edge shows the
    local gradient (red, ∂child/∂parent) and below it what it passes back: the child's gradient
    times the local one. A node's gradient is the sum of what its edges pass to it.

    Args:
        root: the node that ``backward`` was called on; or a run that `chainview.frameworks`
            watched, whose edges show the shape, norm and largest entry of each share.
        local_gradient: gives ∂node/∂operand for a node and the operand's position; needed for
            nodes of another engine, whose edges are bare without it.
        parameters: leaves to mark as parameters, besides `chaingrad.nn.Parameter` and leaves
            of another class of that name.
        direction: which way the data flows, in Graphviz's terms: by default ``"LR"``, left to
            right, of a watched run ``"TB"``, down.
        max_nodes: a larger graph is refused.
        alt: words to use instead of the generated alt text.

    Raises:
        TypeError: ``root`` is not a node.
        ValueError: the graph has more than ``max_nodes`` nodes.
        CycleError: a node depends on itself.
    """
    if is_tensor(root) or is_jaxpr(root) or isinstance(root, list | tuple):
        raise TypeError(
            f"draw_gradient_flow expected one node, and got {type(root).__name__}; draw_graph "
            "draws lists, and PyTorch tensors and jaxprs, which do not keep local gradients"
        )
    sent: dict[tuple[int, int], str] = {}
    direction = direction or ("TB" if is_watched(root) else "LR")
    if is_watched(root):
        root = root.folded()
        sent = root.shares()
    graph = new_graph(direction)
    items = read(root, "draw_gradient_flow", max_nodes, parameters)
    items = [replace(item, label=item.name) for item in items]  # each ∂ needs a name
    by_id = {item.id: item for item in items}
    top = items[-1].name
    ran = items[-1].reached  # otherwise the gradients belong to another root
    for item in items:
        blue = [(f"∂{top}/∂{item.name} =", item.gradient)] if ran and item.gradient else []
        graph.node(item.id, **box(item, [(item.value_kind, item.value), *blue]))
    flows = []
    for item in items:
        for position, (parent, local) in enumerate(_local_gradients(item, local_gradient)):
            share = sent.get((id(item.node), position), "")
            flow = _Flow(item, by_id[parent], position, local, ran, share)
            graph.edge(parent, item.id, **flow.edge_attributes(BACK[direction]))
            flows.append(flow)
    words = describe(
        "Gradient flow through a graph", items, True, ran, [flow.words for flow in flows]
    )
    return Drawing(graph.source, alt or words, {item.id: title(item) for item in items})


def _local_gradients(item: Item, given: LocalGradient | None) -> list[tuple[str, Any]]:
    """Return ∂item/∂operand for each operand: a number, None for an array, or `_UNKNOWN`."""
    if given is not None:
        found = [given(item.node, position) for position in range(len(item.parents))]
    elif isinstance(item.node, Node):
        found = [local for _, local in local_gradients(item.node)]
    else:
        found = [_UNKNOWN] * len(item.parents)
    return list(zip(item.parents, found, strict=False))  # a constant exponent, last, has no box


@dataclass(frozen=True)
class _Flow:
    """What one edge carries from a child back to one of its parents."""

    child: Item
    parent: Item
    position: int
    local: Any
    ran: bool
    share: str = ""  # what was sent, if we know nothing else

    @property
    def _local(self) -> str:
        """The local gradient in words; empty where there is none or we don't know it."""
        if self.local is _UNKNOWN or not getattr(self.parent.node, "requires_grad", True):
            return ""
        symbol = f"∂{self.child.name}/∂{self.parent.name}"
        if self.child.parents.count(self.parent.id) > 1:
            symbol += f" (operand {self.position + 1})"
        local = number(self.local)
        if local is not None:
            return f"{symbol} = {digits(local)}"
        shapes = [tuple(getattr(i.node.data, "shape", ())) for i in (self.child, self.parent)]
        return f"{symbol}: VJP {shapes[0]} → {shapes[1]}"

    @property
    def _passed(self) -> tuple[str, str, str] | None:
        """The child's gradient, the local gradient and their product."""
        local, above = number(self.local), number(getattr(self.child.node, "grad", None))
        if not self.ran or local is None or above is None:
            return None
        return digits(above), digits(local), digits(above * local)

    def edge_attributes(self, arrow: str) -> dict[str, str]:
        """Return the edge's label as attributes: none if we don't know that anything flows."""
        rows = row(f"{arrow} {escape(self.share)}") if self.share else ""
        if self._local and not self.share:
            rows = row(font(escape(self._local), LIGHT["local"]))
            if self._passed:
                above, local, product = self._passed
                above, local = font(above, LIGHT["global"]), font(local, LIGHT["local"])
                thin = "\N{THIN SPACE}"  # as wide as a space in what most readers have
                rows += row(f"{arrow}{thin}{above}{thin}×{thin}{local}{thin}= {product}")
        return {"label": Markup(f"{BARE}{rows}</TABLE>")} if rows else {}

    @property
    def words(self) -> str:
        """The same in words, for the alt text."""
        if self.share:
            return f"{self.child.name} sends {self.share} to {self.parent.name}"
        return self._local + (f", passes {self._passed[2]}" if self._local and self._passed else "")
