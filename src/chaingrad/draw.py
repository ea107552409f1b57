"""Drawings of computational graphs, laid out by Graphviz.

`draw_graph` shows what a computation built, `draw_toposort` the order in which a depth-first search
sorts it, and `draw_gradient_flow` what each edge carries backward. Arrows run from parents to
children, the way the data flows. Colours mean the same thing in each, and never alone: leaves are
yellow, constants grey, nodes that the sort visited red, nodes that it left out dashed, local
gradients red, gradients of the root blue.

A node is anything with ``data``, ``grad``, ``parents``, ``op`` and ``label`` (see
`chaingrad.graph.GraphNode`), so engines written elsewhere can be drawn too. `draw_graph` also draws
what PyTorch and JAX record: the ``grad_fn`` graph of a tensor, and a jaxpr.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from chaingrad._graphviz import FONTS, Digraph, Markup, escape, font, row
from chaingrad._items import (
    Item,
    cut,
    describe,
    digits,
    is_tensor,
    listed,
    number,
    read,
    read_names,
    read_nodes,
    title,
)
from chaingrad._jaxpr import is_jaxpr
from chaingrad._svg import LIGHT, Drawing
from chaingrad.backward import local_gradients
from chaingrad.graph import GraphNode, toposort
from chaingrad.node import Node

__all__ = ["Drawing", "draw_gradient_flow", "draw_graph", "draw_toposort"]

Direction = Literal["LR", "TB", "RL", "BT"]
Style = Literal["box", "shapes"]
LocalGradient = Callable[[Any, int], Any]

_SYMBOLS = {  # of operators that Python writes with a sign, and the transpose
    "add": "+", "sub": "−", "neg": "−", "mul": "×", "div": "÷", "pow": "^", "matmul": "@",
    "transpose": "T",
}  # fmt: skip
_ROUNDED = ' STYLE="ROUNDED"'
_BARE = '<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="1">'
_EITHER_WAY = {"add", "mul", "maximum", "minimum"}  # the order of the operands does not matter
_BACK = {"LR": "←", "RL": "→", "TB": "↑", "BT": "↓"}


def draw_graph(
    root: GraphNode | Sequence[GraphNode] | Any,
    *,
    style: Style = "box",
    direction: Direction = "LR",
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
            these.
        style: ``"box"`` for one box a node; ``"shapes"`` for squares (variables) and circles
            (operators), where a result inside the graph has a square only if it has a label.
        direction: which way the data flows, in Graphviz's terms: ``"LR"`` is left to right.
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
    Computational graph with 1 leaf and 1 operation. Root: y = 9.0 (mul). Leaf: x = 3.0.
    >>> drawing.source.count("->")
    2
    """
    _check_option("style", style, ("box", "shapes"))
    graph = _new_graph(direction)
    items = read(root, "draw_graph", max_nodes, parameters, names, inline)
    gradients = gradients and any(item.reached for item in items)
    draw = _draw_boxes if style == "box" else _draw_shapes
    draw(graph, items, values, gradients)
    titles = {item.id: title(item) for item in items}
    words = describe("Computational graph", items, values, gradients)
    return Drawing(graph.source, alt or words, titles)


def draw_toposort(
    graph: Mapping[str, Sequence[str]] | GraphNode | Sequence[GraphNode],
    root: Any = None,
    *,
    step: int | None = None,
    direction: Direction = "LR",
    max_nodes: int = 300,
    alt: str | None = None,
) -> Drawing:
    """Draw how a depth-first search from ``root`` sorts a graph, children before parents.

    Nodes that it visits are red and numbered by their place in the sorted list; leaves are yellow
    (a visited leaf has a red border); nodes that the root does not depend on are grey and dashed.

    Args:
        graph: a dictionary of each node's parents, or a node, or several.
        root: where the search starts: a name in the dictionary, or a node (by default ``graph``).
        step: draw the search after this many of its events (visits and pushes) instead of all of
            them; a node that has been visited and not yet pushed has no number yet.
        direction: which way the data flows, in Graphviz's terms.
        max_nodes: a larger graph is refused.
        alt: words to use instead of the generated alt text.

    Raises:
        TypeError: ``graph`` is something else, or ``root`` is missing.
        KeyError: a name that the dictionary does not hold.
        ValueError: the graph is too large, or the root is not in it.
        CycleError: a node depends on itself.

    >>> graph = {"a": [], "b": [], "c": ["a", "b"], "d": ["c"], "e": ["c"]}
    >>> print(draw_toposort(graph, "d").alt)
    Topological sort from d of a graph with 5 nodes: d, c, b, a. Left out: e.
    >>> print(draw_toposort(graph, "d", step=3).alt)
    Topological sort from d of a graph with 5 nodes, after 3 of 8 steps. Visited: d, c, a.
    """
    picture = _new_graph(direction)
    if isinstance(graph, Mapping):
        items, start = read_names(graph, root, max_nodes)
    else:
        items, start = read_nodes(graph, root, max_nodes)
    search = _Search(items, start, step)
    circles = all(len(item.name) <= 3 for item in items)
    picture.defaults("node", shape="circle" if circles else "box", width="0.62", margin="0.05")
    for item in items:
        picture.node(item.id, **_sort_look(item, search, circles))
    for item in items:
        for parent in item.parents:
            picture.edge(parent, item.id, **({} if item.id in search.visited else _DASHED))
    titles = {item.id: f"{item.name}: {search.state(item.id)}" for item in items}
    return Drawing(picture.source, alt or _describe_sort(items, search), titles)


def draw_gradient_flow(
    root: GraphNode,
    *,
    local_gradient: LocalGradient | None = None,
    parameters: Iterable[Any] = (),
    direction: Direction = "LR",
    max_nodes: int = 300,
    alt: str | None = None,
) -> Drawing:
    """Draw what flows back along each edge after ``root.backward()``.

    A node shows the gradient of the root with respect to it (blue, ∂root/∂node). An edge shows the
    local gradient (red, ∂child/∂parent) and below it what it passes back: the child's gradient
    times the local one. A node's gradient is the sum of what its edges pass to it.

    Args:
        root: the node that ``backward`` was called on.
        local_gradient: gives ∂node/∂operand for a node and the operand's position; needed for
            nodes of another engine, whose edges are bare without it.
        parameters: leaves to mark as parameters, besides `chaingrad.nn.Parameter` and leaves
            of another class of that name.
        direction: which way the data flows, in Graphviz's terms.
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
    graph = _new_graph(direction)
    items = read(root, "draw_gradient_flow", max_nodes, parameters)
    items = [replace(item, label=item.name) for item in items]  # the ∂ need a name for each
    by_id = {item.id: item for item in items}
    top = items[-1].name
    ran = items[-1].reached  # or else the gradients are those of another root
    for item in items:
        blue = [(f"∂{top}/∂{item.name} =", item.gradient)] if ran and item.gradient else []
        graph.node(item.id, **_box(item, [(item.fact, item.value), *blue]))
    flows = []
    for item in items:
        for position, (parent, local) in enumerate(_local_gradients(item, local_gradient)):
            flow = _Flow(item, by_id[parent], position, local, ran)
            graph.edge(parent, item.id, **flow.look(_BACK[direction]))
            flows.append(flow)
    words = describe(
        "Gradient flow through a graph", items, True, ran, [flow.words for flow in flows]
    )
    return Drawing(graph.source, alt or words, {item.id: title(item) for item in items})


# --- nodes and edges as Graphviz draws them -----------------------------------------------------


def _check_option(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        expected = " or ".join(map(repr, known))
        raise ValueError(f"{name} was {value!r}; expected {expected}")


def _new_graph(direction: str) -> Digraph:
    _check_option("direction", direction, tuple(_BACK))
    text = {"fontname": FONTS, "fontcolor": LIGHT["ink"]}
    graph = Digraph(
        rankdir=direction,
        bgcolor=LIGHT["paper"],
        pad="0.08",
        nodesep="0.3",
        ranksep="0.45",
        outputorder="edgesfirst",  # and then the nodes in their own order
    )
    graph.defaults("node", **text, fontsize="14", color=LIGHT["node-line"], penwidth="1.2")
    graph.defaults("edge", **text, fontsize="12", color=LIGHT["edge"], arrowsize="0.7")
    return graph


def _colors(kind: str) -> tuple[str, str]:
    """Give the fill and the line of a kind of node."""
    name = {"operation": "node", "constant": "constant"}.get(kind, "leaf")
    return LIGHT[name], LIGHT[f"{name}-line"]


def _draw_boxes(graph: Digraph, items: list[Item], values: bool, gradients: bool) -> None:
    for item in items:
        rows = [(item.fact, item.value)] if values and item.value else []
        rows += [("grad", item.gradient)] if gradients and item.gradient else []
        graph.node(item.id, **_box(item, rows))
        for parent in item.parents:
            graph.edge(parent, item.id)


def _box(item: Item, rows: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Lay a node out: its label and operation, a rule, its value in ink and gradients in blue."""
    fill, line = _colors(item.kind)
    parameter = item.kind == "parameter"
    note = escape(item.op or item.kind)
    if item.label:
        note = f"<B>{escape(item.label)}</B>  {font(note, LIGHT['muted'], 12)}"
    body = ""
    for key, value in rows:
        lines = '<BR ALIGN="LEFT"/>'.join(map(escape, f"{key} {value}".split("\n")))
        body += row(font(lines, LIGHT["ink" if key == item.fact else "global"], 12))
    table = (
        f'<TABLE BORDER="{2 if parameter else 1}" CELLBORDER="0" CELLSPACING="0" CELLPADDING="4"'
        f' COLOR="{line}" BGCOLOR="{fill}"{"" if item.is_leaf else _ROUNDED}>'
        f"{row(note)}{'<HR/>' + body if body else ''}</TABLE>"
    )
    return {"shape": "plain", "label": Markup(table), **_operand_order(item)}


def _operand_order(item: Item) -> dict[str, str]:
    """Keep the operands of ``a - b`` or ``a @ b`` in their written order, from the top down."""
    return {} if item.is_leaf or item.op.lower() in _EITHER_WAY else {"ordering": "in"}


def _draw_shapes(graph: Digraph, items: list[Item], values: bool, gradients: bool) -> None:
    """Draw variables as squares and operators as circles, an operator before its result."""
    graph.defaults("node", style="filled", margin="0.05")
    used = {parent for item in items for parent in item.parents}
    for item in items:
        has_square = item.is_leaf or item.label or item.id not in used
        circle = item.id + "_op" if has_square else item.id
        if not item.is_leaf:
            graph.node(circle, **_circle(item))
        for parent in item.parents:
            graph.edge(parent, circle)
        if has_square:
            graph.node(item.id, **_square(item, values, gradients))
        if has_square and not item.is_leaf:
            graph.edge(circle, item.id, weight="3")


def _circle(item: Item) -> dict[str, str]:
    name = _SYMBOLS.get(item.op, item.op)
    return {
        "shape": "circle" if len(name) <= 4 else "ellipse",
        "width": "0.42",
        "height": "0.42",
        "margin": "0.03",
        "fillcolor": LIGHT["op"],
        "color": LIGHT["op-line"],
        "label": Markup(escape(name)) or " ",
        **_operand_order(item),
    }


def _square(item: Item, values: bool, gradients: bool) -> dict[str, str]:
    fill, line = _colors(item.kind)
    return {
        "shape": "square",
        "width": "0.55",
        "fillcolor": fill,
        "color": line,
        "penwidth": "2.4" if item.kind == "parameter" else "1.2",
        "label": _square_label(item, values, gradients),
    }


def _square_label(item: Item, values: bool, gradients: bool) -> Markup:
    """Write the label, the value and the gradient below each other; of arrays only the shape."""
    lines = [f"<B>{escape(item.label)}</B>"] if item.label else []
    if item.value and (values or not lines):
        lines.append(font(escape(item.value.partition("\n")[0]), LIGHT["ink"], 11))
    if gradients and item.gradient:
        gradient = "grad " + item.gradient.partition("\n")[0]
        lines.append(font(escape(gradient), LIGHT["global"], 11))
    rows = "".join(f"<TR><TD>{line}</TD></TR>" for line in lines)
    return Markup(f"{_BARE}{rows}</TABLE>" if rows else " ")


# --- a sort -------------------------------------------------------------------------------------

_DASHED = {"style": "dashed", "color": LIGHT["excluded"]}


class _Search:
    """A depth-first search after some of its steps.

    Attributes:
        order: the whole sorted list, children before parents.
        events: the steps made so far.
        length: how many steps the search has in all.
    """

    def __init__(self, items: list[Item], start: str, step: int | None) -> None:
        self.events: list[tuple[str, str]] = []
        self.order = toposort(
            start,
            {item.id: item.parents for item in items},
            trace=lambda event, id: self.events.append((event, id)),
        )
        self.length = len(self.events)
        self.events = self.events[:step]
        self.visited = {id for event, id in self.events if event == "visit"}
        pushed = {id for event, id in self.events if event == "push"}
        self.place = {id: i for i, id in enumerate(self.order, 1) if id in pushed}

    @property
    def is_over(self) -> bool:
        return len(self.events) == self.length

    def state(self, id: str) -> str:
        """Say what the search knows of a node."""
        if id in self.place:
            return f"visited, number {self.place[id]} of the sorted list"
        if id in self.visited:
            return "visited, not yet in the sorted list"
        return "left out" if self.is_over else "not visited"


def _sort_look(item: Item, search: _Search, circles: bool) -> dict[str, str]:
    """Choose the shape, colours and label of a node of a sort."""
    shape = "" if circles else ",rounded"
    if item.id not in search.visited:
        label = Markup(font(escape(item.name), LIGHT["excluded"]))
        return {**_DASHED, "style": _DASHED["style"] + shape, "label": label}
    place = f"#{search.place[item.id]}" if item.id in search.place else "…"
    return {
        "style": "filled" + shape,
        "fillcolor": LIGHT["leaf" if item.is_leaf else "visited"],
        "color": LIGHT["visited-line"],
        "penwidth": "2",
        "label": Markup(f"<B>{escape(item.name)}</B><BR/>{font(place, LIGHT['ink'], 11)}"),
    }


def _describe_sort(items: list[Item], search: "_Search") -> str:
    name = {item.id: item.name for item in items}
    text = f"Topological sort from {name[search.order[0]]} of a graph with {len(items)} nodes"
    if not search.is_over:
        visited = [name[id] for event, id in search.events if event == "visit"]
        pushed = [name[id] for event, id in search.events if event == "push"]
        text += f", after {len(search.events)} of {search.length} steps."
        text += f" Visited: {listed(visited, 20)}." if visited else ""
        return cut(text + (f" Pushed: {listed(pushed, 20)}." if pushed else ""))
    text += f": {listed([name[id] for id in search.order], 20)}."
    left_out = [item.name for item in items if item.id not in search.order]
    return cut(text + (f" Left out: {listed(left_out, 20)}." if left_out else ""))


# --- gradients along the edges ------------------------------------------------------------------

_UNKNOWN = object()


def _local_gradients(item: Item, given: LocalGradient | None) -> list[tuple[str, Any]]:
    """Give ∂item/∂operand for each operand: a number, None for an array, or `_UNKNOWN`."""
    if given is not None:
        found = [given(item.node, position) for position in range(len(item.parents))]
    elif isinstance(item.node, Node):
        found = [local for _, local in local_gradients(item.node)]
    else:
        found = [_UNKNOWN] * len(item.parents)
    return list(zip(item.parents, found, strict=True))


@dataclass(frozen=True)
class _Flow:
    """What one edge carries from a child back to one of its parents."""

    child: Item
    parent: Item
    position: int
    local: Any
    ran: bool

    @property
    def _known(self) -> bool:
        return self.local is not _UNKNOWN and getattr(self.parent.node, "requires_grad", True)

    @property
    def _local(self) -> str:
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

    def look(self, arrow: str) -> dict[str, str]:
        """Give the edge's label, as attributes: none if nothing is known to flow."""
        if not self._known:
            return {}
        rows = row(font(escape(self._local), LIGHT["local"]))
        if self._passed:
            above, local, product = self._passed
            above, local = font(above, LIGHT["global"]), font(local, LIGHT["local"])
            rows += row(f"{arrow} {above} × {local} = {product}")
        return {"label": Markup(f"{_BARE}{rows}</TABLE>")}

    @property
    def words(self) -> str:
        """Say the same for the alt text."""
        if not self._known:
            return ""
        return self._local + (f", passes {self._passed[2]}" if self._passed else "")
