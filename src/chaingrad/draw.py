"""Drawings of computational graphs, laid out by Graphviz.

`draw_graph` shows what a computation built, `draw_toposort` the order in which a depth-first search
sorts it, and `draw_gradient_flow` what each edge carries backward. Arrows run from parents to
children, the way the data flows. Colours mean the same thing in each, and never alone: leaves are
yellow, constants grey, nodes that the sort visited red, nodes that it left out dashed, local
gradients red, gradients of the root blue.

A node is anything with ``data``, ``grad``, ``parents``, ``op`` and ``label`` (see
`chaingrad.graph.GraphNode`), so engines written elsewhere can be drawn too.
"""

import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from chaingrad import node as engine
from chaingrad._graphviz import FONTS, Digraph, Markup, escape, font, row
from chaingrad._svg import LIGHT, Drawing
from chaingrad.graph import GraphNode, toposort

__all__ = ["Drawing", "draw_gradient_flow", "draw_graph", "draw_toposort"]

Direction = Literal["LR", "TB", "RL", "BT"]
Style = Literal["box", "shapes"]
LocalGradient = Callable[[Any, int], Any]

_SYMBOLS = {
    "add": "+", "sub": "−", "neg": "−", "mul": "×", "div": "÷", "matmul": "@", "pow": "^",
}  # fmt: skip
_BACK = {"LR": "←", "RL": "→", "TB": "↑", "BT": "↓"}
_FEW = 6  # an array of up to this many entries shows them
_LONGEST_ALT = 600


def draw_graph(
    root: GraphNode | Sequence[GraphNode] | Any,
    *,
    style: Style = "box",
    direction: Direction = "LR",
    values: bool = True,
    gradients: bool = True,
    parameters: Iterable[Any] = (),
    names: Mapping[str, Any] | None = None,
    max_nodes: int = 300,
    alt: str | None = None,
) -> Drawing:
    """Draw the graph that computed ``root``.

    Args:
        root: a node, a PyTorch tensor (its graph of ``grad_fn`` is drawn), or a list of either.
        style: ``"box"`` for one box a node; ``"shapes"`` for squares (variables) and circles
            (operators), where a result inside the graph has a square only if it has a label.
        direction: which way the data flows, in Graphviz's terms: ``"LR"`` is left to right.
        values: show each node's value; for an array its shape, and its entries when they are few.
        gradients: show gradients, once a backward pass has left any.
        parameters: leaves to mark as parameters, besides those of class ``Parameter``.
        names: labels for nodes or tensors that have none, ``{"w": w}``.
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
    items = _read(root, "draw_graph", max_nodes, parameters, names or {})
    gradients = gradients and any(item.reached for item in items)
    draw = _draw_boxes if style == "box" else _draw_shapes
    draw(graph, items, values, gradients)
    titles = {item.id: _title(item) for item in items}
    if style == "shapes":
        titles |= {f"{item.id}_op": _title(item) for item in items if not item.is_leaf}
    words = _describe("Computational graph", items, values, gradients)
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
        items, start = _read_names(graph, root, max_nodes)
    else:
        items, start = _read_nodes_from(graph, root, max_nodes)
    search = _Search(items, start, step)
    circles = all(len(item.name) <= 3 for item in items)
    picture.defaults("node", shape="circle" if circles else "box", width="0.62", margin="0.05")
    for item in items:
        picture.node(item.id, **_sort_look(item, search, circles))
    for item in items:
        for parent in item.parents:
            look = (
                {} if item.id in search.visited else {"style": "dashed", "color": LIGHT["excluded"]}
            )
            picture.edge(parent, item.id, **look)
    titles = {item.id: f"{item.name}: {search.state(item.id)}" for item in items}
    return Drawing(picture.source, alt or _describe_sort(items, search), titles)


def draw_gradient_flow(
    root: GraphNode,
    *,
    local_gradient: LocalGradient | None = None,
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
        direction: which way the data flows, in Graphviz's terms.
        max_nodes: a larger graph is refused.
        alt: words to use instead of the generated alt text.

    Raises:
        TypeError: ``root`` is not a node.
        ValueError: the graph has more than ``max_nodes`` nodes.
        CycleError: a node depends on itself.
    """
    if _is_tensor(root):
        raise TypeError(
            "draw_gradient_flow expected a node, and got a PyTorch tensor, which does not keep "
            "local gradients; draw_graph draws tensors"
        )
    graph = _new_graph(direction)
    items = _read(root, "draw_gradient_flow", max_nodes)
    by_id = {item.id: item for item in items}
    top = items[-1].name
    ran = any(item.reached for item in items)
    for item in items:
        blue = [(f"∂{top}/∂{item.name}", item.gradient)] if ran and item.gradient else []
        graph.node(item.id, shape="plain", label=_box(item, [("data", item.value), *blue]))
    flows = []
    for item in items:
        for position, (parent, local) in enumerate(_local_gradients(item, local_gradient)):
            flow = _Flow(item, by_id[parent], position, local, ran)
            graph.edge(parent, item.id, **flow.look(_BACK[direction]))
            flows.append(flow)
    words = _describe("Gradient flow", items, True, ran, [flow.words for flow in flows])
    return Drawing(graph.source, alt or words, {item.id: _title(item) for item in items})


# --- reading a graph ----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Item:
    """One node in words; ``id`` is n0, n1, … in the order of creation, ``parents`` are ids."""

    id: str
    label: str
    op: str
    kind: str  # operation, leaf, input, parameter, constant
    parents: tuple[str, ...]
    value: str = ""
    gradient: str = ""
    reached: bool = False  # the gradient is not zero
    node: Any = None

    @property
    def is_leaf(self) -> bool:
        return self.kind != "operation"

    @property
    def name(self) -> str:
        """The label, or v3 for an unlabelled node n3."""
        return self.label or "v" + self.id[1:]


def _read(
    root: Any,
    caller: str,
    max_nodes: int,
    parameters: Iterable[Any] = (),
    names: Mapping[str, Any] | None = None,
) -> list[_Item]:
    """Read the graph behind one root or several, parents before children."""
    roots = list(root) if isinstance(root, list | tuple) else [root]
    named = {id(_source(thing)): name for name, thing in (names or {}).items()}
    trained = {id(_source(thing)) for thing in parameters}
    for thing in roots or [root]:
        if not (_is_tensor(thing) or (hasattr(thing, "parents") and hasattr(thing, "data"))):
            raise TypeError(
                f"{caller} expected a node (with data, grad, parents, op and label), a PyTorch "
                f"tensor, or a list of these, and got {type(thing).__name__}: {thing!r:.60}"
            )
    results = {id(_source(thing)): thing for thing in roots}
    order = _in_order([_source(thing) for thing in roots], max_nodes)
    ids = {id(thing): f"n{i}" for i, thing in enumerate(order)}
    facts = [_facts(thing, results.get(id(thing)), trained) for thing in order]
    told_apart = any(kind == "parameter" for kind, *_ in facts)
    return [
        _Item(
            id=ids[id(thing)],
            label=named.get(id(thing), label),
            op=op,
            kind="input" if kind == "leaf" and told_apart else kind,
            parents=tuple(ids[id(parent)] for parent in _parents(thing)),
            value=_show(data),
            gradient=_show(grad),
            reached=not _is_zero(grad),
            node=thing,
        )
        for thing, (kind, op, label, data, grad) in zip(order, facts, strict=True)
    ]


def _in_order(roots: list[Any], max_nodes: int) -> list[Any]:
    """Sort by identity (nodes may compare by value), parents before children."""
    things: dict[int, Any] = {}

    def identify(found: Iterable[Any]) -> list[int]:
        things.update((id(thing), thing) for thing in found)
        return [id(thing) for thing in found]

    everything = 0  # stands for a node above all the roots; no object has this identity
    starts = identify(roots)
    order = toposort(
        everything,
        lambda key: identify(_parents(things[key])) if key != everything else starts,
    )[:0:-1]
    _check_size(len(order), max_nodes)
    return [things[key] for key in order]


def _check_size(size: int, max_nodes: int) -> None:
    if size > max_nodes:
        raise ValueError(
            f"the graph has {size:,} nodes, more than the {max_nodes:,} that can be read in a "
            "drawing: draw a smaller model or fewer examples, write the computation with arrays "
            "instead of scalars, or raise max_nodes"
        )


def _facts(thing: Any, result: Any, trained: set[int]) -> tuple[str, str, str, Any, Any]:
    """Give kind, op, label, data and gradient of a node or a PyTorch ``grad_fn``."""
    if _is_grad_fn(thing):  # knows its name alone, unless it made the tensor we were given
        name = type(thing).__name__.rstrip("0123456789").removesuffix("Backward")
        grad = result.grad if getattr(result, "retains_grad", False) else None
        return "operation", name, "", result, grad
    leaf = not list(_parents(thing))
    if not leaf:
        kind = "operation"
    elif not getattr(thing, "requires_grad", True):
        kind = "constant"
    elif id(thing) in trained or "Parameter" in [c.__name__ for c in type(thing).__mro__]:
        kind = "parameter"
    else:
        kind = "leaf"
    grad = None if kind == "constant" else getattr(thing, "grad", None)
    op = "" if leaf else str(getattr(thing, "op", ""))
    return kind, op, getattr(thing, "label", None) or "", thing.data, grad


def _is_tensor(thing: Any) -> bool:
    torch = sys.modules.get("torch")  # whoever holds a tensor has imported it
    return torch is not None and isinstance(thing, torch.Tensor)


def _is_grad_fn(thing: Any) -> bool:
    return hasattr(thing, "next_functions")


def _source(thing: Any) -> Any:
    """Where a tensor's graph begins: its ``grad_fn``; a leaf and a node stand for themselves."""
    return thing.grad_fn if _is_tensor(thing) and thing.grad_fn is not None else thing


def _parents(thing: Any) -> Sequence[Any]:
    if _is_grad_fn(thing):
        functions = [function for function, _ in thing.next_functions if function is not None]
        return [getattr(function, "variable", function) for function in functions]
    return () if _is_tensor(thing) else tuple(thing.parents)


def _read_names(
    graph: Mapping[str, Sequence[str]], root: Any, max_nodes: int
) -> tuple[list[_Item], str]:
    """Read a dictionary of parents; nodes are numbered in its order."""
    if root is None:
        raise TypeError("draw_toposort of a dictionary expected the name of a root, and got none")
    _check_size(len(graph), max_nodes)
    ids = {name: f"n{i}" for i, name in enumerate(graph)}
    for name in [root, *(parent for parents in graph.values() for parent in parents)]:
        if name not in ids:
            known = ", ".join(map(repr, graph))
            raise KeyError(f"{name!r} is not in the graph; it holds {known}")
    items = [
        _Item(
            id=ids[name],
            label=str(name),
            op="",
            kind="operation" if parents else "leaf",
            parents=tuple(ids[parent] for parent in parents),
        )
        for name, parents in graph.items()
    ]
    return items, ids[root]


def _read_nodes_from(graph: Any, root: Any, max_nodes: int) -> tuple[list[_Item], str]:
    """Read a graph of nodes, and find the root among them."""
    if _is_tensor(graph):
        raise TypeError(
            "draw_toposort expected a dictionary of parents, a node or a list of nodes, and got a "
            "PyTorch tensor; draw_graph draws tensors"
        )
    items = _read(graph, "draw_toposort", max_nodes)
    if root is None:
        return items, items[-1].id
    for item in items:
        if item.node is root:
            return items, item.id
    raise ValueError(f"the root {root!r:.60} is not a node of the graph")


# --- words and numbers --------------------------------------------------------------------------


def _show(value: Any) -> str:
    """Show a number by four significant digits, an array by its shape and a few entries.

    >>> _show(2.0), _show(0.123456), _show(None)
    ('2.0', '0.1235', '')
    """
    value = _plain(value)
    shape = tuple(getattr(value, "shape", ()))
    if math.prod(shape) > _FEW:
        return str(shape)
    entries = _entries(value.tolist() if hasattr(value, "tolist") else value)
    return f"{shape} {entries}" if shape else entries


def _plain(value: Any) -> Any:
    """Unwrap a gradient that is itself a node."""
    while hasattr(value, "parents"):
        value = value.data
    return value


def _entries(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_entries, value)) + "]"
    return _digits(value)


def _digits(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "" if value is None else str(value)
    text = f"{value:.4g}"
    whole = text.lstrip("-").isdigit() and value == int(value)
    return text + ".0" if whole else text


def _is_zero(value: Any) -> bool:
    """Tell whether a gradient is what it was before any backward pass: None or zero."""
    value = _plain(value)
    zero: Any = value is None or value == 0
    return bool(zero.all() if hasattr(zero, "all") else zero)


def _number(value: Any) -> float | None:
    """Give a number or an array without axes as a float, and None for all else."""
    value = _plain(value)
    is_number = isinstance(value, int | float) or getattr(value, "shape", None) == ()
    return float(value) if is_number else None


def _title(item: _Item) -> str:
    """Sum a node up in a tooltip: ``c, mul: data 6.0, grad 2.0``."""
    who = ", ".join(filter(None, [item.label, item.op or item.kind]))
    facts = [f"data {item.value}"] if item.value else []
    facts += [f"grad {item.gradient}"] if item.gradient else []
    return f"{who}: {', '.join(facts)}" if facts else who


def _describe(
    what: str, items: list[_Item], values: bool, gradients: bool, flows: Sequence[str] = ()
) -> str:
    """Say in a few sentences what a drawing of a graph shows."""

    def tell(item: _Item) -> str:
        text = item.name
        if values and item.value:
            text += (" of shape " if item.value.startswith("(") else " = ") + item.value
        notes = [item.op] if item.op else []
        notes += [f"gradient {item.gradient}"] if gradients and item.gradient else []
        return f"{text} ({', '.join(notes)})" if notes else text

    used = {parent for item in items for parent in item.parents}
    roots = [tell(item) for item in items if item.id not in used]
    leaves = [tell(item) for item in items if item.is_leaf and item.kind != "constant"]
    counts = [
        _counted(sum(item.kind == kind for item in items), kind)
        for kind in ("parameter", "input", "leaf", "constant", "operation")
        if any(item.kind == kind for item in items)
    ]
    text = f"{what} with {' and '.join(filter(None, [', '.join(counts[:-1]), counts[-1]]))}."
    text += f" {'Roots' if len(roots) > 1 else 'Root'}: {_listed(roots, 3)}."
    if leaves:
        text += f" {'Leaves' if len(leaves) > 1 else 'Leaf'}: {_listed(leaves, 6)}."
    told = list(filter(None, flows))
    return _cut(f"{text} Edges: {_listed(told, 6)}." if told else text)


def _describe_sort(items: list[_Item], search: "_Search") -> str:
    name = {item.id: item.name for item in items}
    text = f"Topological sort from {name[search.order[0]]} of a graph with {len(items)} nodes"
    if not search.is_over:
        visited = [name[id] for event, id in search.events if event == "visit"]
        pushed = [name[id] for event, id in search.events if event == "push"]
        text += f", after {len(search.events)} of {search.length} steps."
        text += f" Visited: {_listed(visited, 20)}." if visited else ""
        return _cut(text + (f" Pushed: {_listed(pushed, 20)}." if pushed else ""))
    text += f": {_listed([name[id] for id in search.order], 20)}."
    left_out = [item.name for item in items if item.id not in search.order]
    return _cut(text + (f" Left out: {_listed(left_out, 20)}." if left_out else ""))


def _counted(count: int, kind: str) -> str:
    plural = "leaves" if kind == "leaf" else kind + "s"
    return f"{count} {kind if count == 1 else plural}"


def _listed(words: Sequence[str], most: int) -> str:
    shown = ", ".join(words[:most])
    return shown if len(words) <= most else f"{shown} and {len(words) - most} more"


def _cut(text: str) -> str:
    if len(text) <= _LONGEST_ALT:
        return text
    return text[: _LONGEST_ALT - 1].rpartition(" ")[0].rstrip(",.;") + "…"


# --- nodes and edges as Graphviz draws them -----------------------------------------------------


def _check_option(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        expected = " or ".join(map(repr, known))
        raise ValueError(f"{name} was {value!r}; expected {expected}")


def _new_graph(direction: str) -> Digraph:
    _check_option("direction", direction, tuple(_BACK))
    text = {"fontname": FONTS, "fontcolor": LIGHT["ink"]}
    graph = Digraph(
        rankdir=direction, bgcolor=LIGHT["paper"], pad="0.08", nodesep="0.3", ranksep="0.45"
    )
    graph.defaults("node", **text, fontsize="14", color=LIGHT["node-line"], penwidth="1.2")
    graph.defaults("edge", **text, fontsize="12", color=LIGHT["edge"], arrowsize="0.7")
    return graph


def _colors(kind: str) -> tuple[str, str]:
    """Give the fill and the line of a kind of node."""
    name = {"operation": "node", "constant": "constant"}.get(kind, "leaf")
    return LIGHT[name], LIGHT[f"{name}-line"]


def _draw_boxes(graph: Digraph, items: list[_Item], values: bool, gradients: bool) -> None:
    for item in items:
        rows = [("data", item.value)] if values and item.value else []
        rows += [("grad", item.gradient)] if gradients and item.gradient else []
        graph.node(item.id, shape="plain", label=_box(item, rows))
        for parent in item.parents:
            graph.edge(parent, item.id)


def _box(item: _Item, rows: Sequence[tuple[str, str]]) -> Markup:
    """Lay a node out as a table: its label and operation, a rule, and rows of facts.

    The row of the value is written in ink, those of gradients in blue.
    """
    fill, line = _colors(item.kind)
    parameter = item.kind == "parameter"
    note = item.op or item.kind
    if item.label:
        head = row(f"<B>{escape(item.label)}</B>", font(escape(note), LIGHT["muted"], 12))
    else:
        head = f'<TR><TD ALIGN="LEFT" COLSPAN="2">{escape(note)}</TD></TR>'
    body = ""
    for key, value in rows:
        color = LIGHT["ink" if key == "data" else "global"]
        body += row(font(escape(key), color, 12), font(escape(value), color, 12))
    return Markup(
        f'<TABLE BORDER="{2 if parameter else 1}" CELLBORDER="0" CELLSPACING="0" CELLPADDING="3"'
        f' COLOR="{line}" BGCOLOR="{fill}"{"" if item.is_leaf else _ROUNDED}>'
        f"{head}{'<HR/>' + body if body else ''}</TABLE>"
    )


_ROUNDED = ' STYLE="ROUNDED"'


def _draw_shapes(graph: Digraph, items: list[_Item], values: bool, gradients: bool) -> None:
    """Draw variables as squares and operators as circles, an operator before its result."""
    used = {parent for item in items for parent in item.parents}
    for item in items:
        square = item.is_leaf or item.label or item.id not in used
        circle = item.id + "_op" if square else item.id
        if square:
            label = _square_label(item, values, gradients)
            fill, line = _colors(item.kind)
            graph.node(
                item.id,
                shape="square",
                style="filled",
                fillcolor=fill,
                color=line,
                penwidth="2.4" if item.kind == "parameter" else "1.2",
                width="0.55",
                margin="0.05",
                label=label,
            )
        if item.is_leaf:
            continue
        graph.node(
            circle,
            shape="circle",
            style="filled",
            fillcolor=LIGHT["op"],
            color=LIGHT["op-line"],
            width="0.42",
            margin="0.02",
            label=Markup(escape(_SYMBOLS.get(item.op, item.op)) or " "),
        )
        for parent in item.parents:
            graph.edge(parent, circle)
        if square:
            graph.edge(circle, item.id, weight="3")


def _square_label(item: _Item, values: bool, gradients: bool) -> Markup:
    lines = [f"<B>{escape(item.label)}</B>"] if item.label else []
    if item.value and (values or not lines):
        lines.append(font(escape(item.value), LIGHT["ink"], 11))
    if gradients and item.gradient:
        lines.append(font(escape("grad " + item.gradient), LIGHT["global"], 11))
    return Markup("<BR/>".join(lines) or " ")


# --- a sort -------------------------------------------------------------------------------------


class _Search:
    """A depth-first search after some of its steps.

    Attributes:
        order: the whole sorted list, children before parents.
        events: the steps made so far.
        length: how many steps the search has in all.
    """

    def __init__(self, items: list[_Item], start: str, step: int | None) -> None:
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


def _sort_look(item: _Item, search: _Search, circles: bool) -> dict[str, str]:
    """Choose the shape, colours and label of a node of a sort."""
    shape = "" if circles else ",rounded"
    if item.id not in search.visited:
        grey = LIGHT["excluded"]
        return {
            "style": "dashed" + shape,
            "color": grey,
            "label": Markup(font(escape(item.name), grey)),
        }
    number = f"#{search.place[item.id]}" if item.id in search.place else "…"
    return {
        "style": "filled" + shape,
        "fillcolor": LIGHT["leaf" if item.is_leaf else "visited"],
        "color": LIGHT["visited-line"],
        "penwidth": "2",
        "label": Markup(f"<B>{escape(item.name)}</B><BR/>{font(number, LIGHT['ink'], 11)}"),
    }


# --- gradients along the edges ------------------------------------------------------------------

_UNKNOWN = object()


def _local_gradients(item: _Item, given: LocalGradient | None) -> list[tuple[str, Any]]:
    """Give ∂item/∂operand for each operand: a number, None for an array, or `_UNKNOWN`."""
    if given is not None:
        found = [given(item.node, position) for position in range(len(item.parents))]
    elif isinstance(item.node, engine.Node):
        found = [local for _, local in engine.local_gradients(item.node)]
    else:
        found = [_UNKNOWN] * len(item.parents)
    return list(zip(item.parents, found, strict=True))


@dataclass(frozen=True)
class _Flow:
    """What one edge carries from a child back to one of its parents."""

    child: _Item
    parent: _Item
    position: int
    local: Any
    ran: bool

    @property
    def _known(self) -> bool:
        return self.local is not _UNKNOWN and self.parent.kind != "constant"

    @property
    def _local(self) -> str:
        symbol = f"∂{self.child.name}/∂{self.parent.name}"
        if self.child.parents.count(self.parent.id) > 1:
            symbol += f" (operand {self.position + 1})"
        number = _number(self.local)
        if number is not None:
            return f"{symbol} = {_digits(number)}"
        shapes = [tuple(getattr(i.node.data, "shape", ())) for i in (self.child, self.parent)]
        return f"{symbol}: VJP {shapes[0]} → {shapes[1]}"

    @property
    def _passed(self) -> tuple[str, str, str] | None:
        """The child's gradient, the local gradient and their product."""
        local, above = _number(self.local), _number(getattr(self.child.node, "grad", None))
        if not self.ran or local is None or above is None:
            return None
        return _digits(above), _digits(local), _digits(above * local)

    def look(self, arrow: str) -> dict[str, str]:
        """Give the edge's label, as attributes: none if nothing is known to flow."""
        if not self._known:
            return {}
        rows = row(font(escape(self._local), LIGHT["local"]))
        if self._passed:
            above, local, product = self._passed
            above, local = font(above, LIGHT["global"]), font(local, LIGHT["local"])
            rows += row(f"{arrow} {above} × {local} = {product}")
        table = '<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="1">'
        return {"label": Markup(f"{table}{rows}</TABLE>")}

    @property
    def words(self) -> str:
        """Say the same for the alt text."""
        if not self._known:
            return ""
        return self._local + (f", passes {self._passed[2]}" if self._passed else "")
