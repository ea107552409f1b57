"""The player: the picture, what happens in it, and the HTML that holds both."""

import copy
import html
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import resources
from typing import Any

from chaingrad.backward import local_gradients
from chaingrad.draw import Drawing, draw_toposort
from chaingrad.draw.boxes import Direction, draw_boxes, new_graph
from chaingrad.draw.items import Item, cut, describe, read, read_names, read_nodes
from chaingrad.draw.palette import COLORS, style
from chaingrad.graph import GraphNode, toposort
from chaingrad.node import Node
from chaingrad.step.messages import (
    BACKWARD,
    FORWARD,
    Names,
    Step,
    amount,
    backward_steps,
    forward_steps,
    sort_steps,
)
from chaingrad.step.watch import Event, Message, backward_events, foreign_events, sort_events

MOST_NODES = 200
_FAR = re.compile(r"-?\d+(?:\.\d+)?,-?\d+(?:\.\d+)?")


@dataclass(frozen=True, repr=False)
class Player:
    """A player that shows itself in a notebook or on a page.

    Attributes:
        alt: what it plays, in words.
        steps: the steps, in order.
    """

    alt: str
    steps: Sequence[Step]
    _drawing: Drawing
    _start: Sequence[tuple[str, str, str]]
    _frames: Sequence[tuple[str, int]] = field(default=())  # a title, and a place in the steps

    def __repr__(self) -> str:
        return f"<Player: {self.alt}>"

    @cached_property
    def html(self) -> str:
        """The player as a piece of HTML."""
        frames = "".join(self._frame(title, at) for title, at in self._frames)
        label = html.escape(self.alt, quote=True)
        return (
            f'<div class="chaingrad-player" role="group" aria-label="{label}">'
            f"<style>{_style()}</style>"
            f'<div class="cg-frames">{frames}</div>'
            f'<script type="application/json" class="cg-steps">{self._json()}</script>'
            f"<script>{_asset('player.js')}</script></div>"
        )

    def _json(self) -> str:
        phases = list(dict.fromkeys(step.phase for step in self.steps))
        rows = [
            [phases.index(s.phase), s.words, s.nodes, s.edge or 0, s.changes, s.entries]
            for s in self.steps
        ]
        data = {"label": self.alt, "phases": phases, "start": self._start, "steps": rows}
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        return text.replace("<", "\\u003c")

    @cached_property
    def _picture(self) -> ET.Element:
        root = ET.fromstring(self._drawing.svg())
        root.remove(root[0])  # the player's own style sheet does what this one would
        for group in root.iter("g"):
            if group.get("data-node"):
                _furnish(group)
        for element in root.iter():
            _shorten(element)
        return root

    def _frame(self, title: str, at: int) -> str:
        step = self.steps[at]
        changes = [*self._start, *(c for s in self.steps[: at + 1] for c in s.changes)]
        root = copy.deepcopy(self._picture)
        root.set("aria-label", f"{title}: {plain(step.words)}")
        _apply(root, {(node, slot): text for node, slot, text in changes})
        _mark(root, step)
        picture = ET.tostring(root, encoding="unicode")
        return (
            f'<figure><div class="cg-scroll" tabindex="0" role="group" aria-label="{title}">'
            f"{picture}</div><figcaption><b>{title}.</b> {step.words}</figcaption></figure>"
        )

    def _repr_mimebundle_(
        self, include: Iterable[str] | None = None, exclude: Iterable[str] | None = None
    ) -> dict[str, Any]:
        frames = [f"{title}: {plain(self.steps[at].words)}" for title, at in self._frames]
        return {"text/html": self.html, "text/plain": "\n".join([self.alt, *frames])}


def play(
    root: GraphNode,
    *,
    backward: Callable[[], object] | None = None,
    local_gradient: Callable[[Any, int], Any] | None = None,
    parameters: Iterable[Any] = (),
    direction: Direction = "LR",
    max_nodes: int = MOST_NODES,
) -> Player:
    """Play the forward pass that made ``root``, the sort, and the backward pass from it.

    The forward pass is read off the graph; the sort and the backward pass are run, and watched; of
    another engine, or with ``backward``, the backward pass alone. Every gradient is afterwards what
    it was before. Numbers are shown with four digits.

    Args:
        root: a node that holds one number.
        backward: what to run and watch instead of ``root.backward()``: a backward pass of one's
            own, right or wrong. It may send more than once.
        local_gradient: for another engine, gives ∂node/∂operand for a node and the operand's
            position.
        parameters: leaves to mark as parameters, besides `chaingrad.nn.Parameter`.
        direction: which way the data flows, in Graphviz's terms.
        max_nodes: a larger graph is refused.

    Returns:
        A player, which shows itself in a notebook or on a page. Its ``steps`` are what it tells,
        in order, and its ``html`` is the piece of HTML.

    Raises:
        TypeError: ``root`` is not a node, or does not depend on one that requires a gradient; or
            ``local_gradient`` came with a node of this engine.
        ValueError: the graph has more than ``max_nodes`` nodes, or ``root`` more than one entry.

    >>> x = Node(3.0, "x")
    >>> y = x * x
    >>> y.label = "y"
    >>> player = play(y)
    >>> print(player)
    <Player: Step by step from x to y = 9.0 and back: 8 steps.>
    >>> x.grad
    0.0
    """
    items = _items(root, max_nodes, parameters)
    nodes = [item.node for item in items]
    if isinstance(root, Node):
        if local_gradient:
            raise TypeError(
                "play: local_gradient= is for nodes of another engine; that of a chaingrad node "
                "is known"
            )
        local_gradient = _local_gradient
    own = isinstance(root, Node) and backward is None
    if own:
        events, _ = backward_events(root)
        sorting = sort_events(root)
    else:
        events = foreign_events(nodes, backward or root.backward, local_gradient)  # type: ignore[attr-defined]
        sorting = []
    names = Names(items, foreign=not own)
    steps = [
        *forward_steps(items, names),
        *sort_steps(sorting, names.item, names.html),
        *backward_steps(events, names),
    ]
    drawing = _drawing(items, names, events, direction)
    start = [(item.id, "state", "todo") for item in items if not item.is_leaf]
    start += [(item.id, "data", "data …") for item in items]
    start += [(item.id, "grad", "") for item in items]
    start += [(names.item(node).id, "number", "") for event, node in sorting if event == "visit"]
    top = items[-1]
    leaves = [names.text(item) for item in items if item.is_leaf and item.kind != "constant"]
    given = ", ".join(leaves[:6]) + (f" and {len(leaves) - 6} more" if len(leaves) > 6 else "")
    alt = f"Step by step from {given} to {names.text(top)} = {amount(top.node.data)} and back"
    return Player(cut(f"{alt}: {len(steps)} steps."), steps, drawing, start, _key_frames(steps))


def play_toposort(
    graph: Mapping[str, Sequence[str]] | GraphNode | Sequence[GraphNode],
    root: Any = None,
    *,
    direction: Direction = "LR",
    max_nodes: int = MOST_NODES,
) -> Player:
    """Play the depth-first search that sorts a graph, as `chaingrad.graph.toposort` runs it.

    Args:
        graph: a dictionary of each node's parents, or a node, or several.
        root: where the search starts: a name in the dictionary, or a node (by default ``graph``).
        direction: which way the data flows, in Graphviz's terms.
        max_nodes: a larger graph is refused.

    Raises:
        TypeError, KeyError, ValueError, CycleError: as `chaingrad.draw.draw_toposort`.

    >>> graph = {"a": [], "b": [], "c": ["a", "b"], "d": ["c"], "e": ["c"]}
    >>> player = play_toposort(graph, "d")
    >>> print(player.alt)
    Topological sort from d, step by step: 8 visits and pushes.
    """
    size = len(graph) if isinstance(graph, Mapping) else 0
    _check_size(size, max_nodes)
    if isinstance(graph, Mapping):
        items, start = read_names(graph, root, max_nodes)
    else:
        items, start = read_nodes(graph, root, 10**9)
        _check_size(len(items), max_nodes)
    by_id = {item.id: item for item in items}
    events: list[tuple[str, str]] = []
    toposort(
        start,
        {item.id: item.parents for item in items},
        trace=lambda event, id: events.append((event, id)),
    )
    names = Names(items)
    steps = sort_steps(events, by_id.__getitem__, names.html)
    drawing = replace(
        draw_toposort(graph, root, direction=direction, max_nodes=max_nodes), titles={}
    )
    before = [
        (id, slot, text) for id in by_id for slot, text in (("state", "todo"), ("number", ""))
    ]
    name = by_id[start].name
    alt = f"Topological sort from {name}, step by step: {len(steps)} visits and pushes."
    first = next(i for i, (event, _) in enumerate(events) if event == "push")
    frames = [("First push", first), ("Half-way", len(steps) // 2), ("Sorted", len(steps) - 1)]
    return Player(cut(alt), steps, drawing, before, frames)


# --- the graph ----------------------------------------------------------------------------------


def _local_gradient(node: Node, position: int) -> float | None:
    return local_gradients(node)[position][1]


def _items(root: Any, max_nodes: int, parameters: Iterable[Any]) -> list[Item]:
    if not (hasattr(root, "parents") and hasattr(root, "data") and hasattr(root, "grad")):
        raise TypeError(
            "play expected a node (with data, grad, parents, op and label), and got "
            f"{type(root).__name__}; draw_graph draws PyTorch tensors, jaxprs and lists of nodes"
        )
    items = read(root, "play", 10**9, parameters)
    _check_size(len(items), max_nodes)
    return items


def _check_size(size: int, max_nodes: int) -> None:
    if size > max_nodes:
        raise ValueError(
            f"the graph has {size:,} nodes, more than the {max_nodes:,} that a player can step "
            "through: play a smaller model or fewer examples, write the computation with arrays "
            "instead of scalars, or draw the whole with draw_graph"
        )


def _drawing(
    items: Sequence[Item], names: Names, events: Sequence[Event], direction: Direction
) -> Drawing:
    """Draw the graph with room in each node for all that the player will write there."""
    widest: dict[int, str] = {}
    for event in events:
        node, value = (
            (event.parent, event.total) if isinstance(event, Message) else (event.node, event.value)
        )
        widest[id(node)] = max(widest.get(id(node), ""), amount(value), key=len)
    shown = [
        replace(
            item,
            label="" if item.kind == "constant" and not item.label else names.text(item),
            value=amount(item.node.data),
            gradient=widest.get(id(item.node), ""),
        )
        for item in items
    ]
    carried = [
        amount(number)
        for event in events
        if isinstance(event, Message) and event.local is not None
        for number in (event.above, event.local)
    ]
    room = 26 + 6.4 * max(map(len, carried), default=0)  # for what an edge carries, in points
    graph = new_graph(direction)
    spaces = {"ranksep": f"{room / 72:.2f}", "nodesep": "0.35"}
    graph.defaults("graph", **spaces, nslimit="1")  # or a node of 200 children takes minutes
    draw_boxes(graph, shown, True, True)
    return Drawing(graph.source, describe("Graph", list(items), True, False))


def _key_frames(steps: Sequence[Step]) -> list[tuple[str, int]]:
    forward = max(i for i, step in enumerate(steps) if step.phase == FORWARD)
    backward = [i for i, step in enumerate(steps) if step.phase == BACKWARD]
    telling = max(backward, key=lambda i: steps[i].accumulates)  # the first of the best
    middle = [("A gradient accumulates", telling)] if steps[telling].accumulates else []
    if not middle:  # no node is used twice
        middle = [("A message", backward[min(1, len(backward) - 1)])]
    return [("Forward pass", forward), *middle, ("Final gradients", len(steps) - 1)]


# --- the picture --------------------------------------------------------------------------------


def _asset(name: str) -> str:
    return resources.files("chaingrad.step").joinpath(name).read_text("utf-8")


def _style() -> str:
    dark = COLORS["paper"][1]
    theme = style().replace("svg.chaingrad", ".chaingrad-player")
    theme = theme.replace("--cg-ink:", f"--cg-solid:{dark};--cg-ink:")
    light = "".join(f"--cg-{name}:{color};" for name, (color, _) in COLORS.items())
    return f".chaingrad-player{{{light}--cg-solid:#fff}}{theme}{_asset('player.css')}"


def plain(words: str) -> str:
    """Words without their markup: a subscript as _1, a power as ^2."""
    words = re.sub(r"<su([bp])>(.*?)</su[bp]>", lambda m: "_^"[m[1] == "p"] + m[2], words)
    return html.unescape(re.sub(r"<[^>]*>", "", words))


def _furnish(group: ET.Element) -> None:
    """Give a node a frame that states can colour, a corner for a number, and names to its texts."""
    boxes = [(shape, _box_of(shape)) for shape in group if _points(shape)]
    left, top = (min(box[i] for _, box in boxes) for i in (0, 1))
    right, bottom = (max(box[i] for _, box in boxes) for i in (2, 3))
    for shape, box in boxes:
        if shape.tag in ("polygon", "path") and box[3] - box[1] > 1:  # not the rule inside
            _boxed(shape, *box)
    texts = list(group.iter("text"))
    for text in texts:
        start = (text.text or "").split(" ")[0]
        slot = {"data": "data", "grad": "grad"}.get(start, "")
        if (text.text or "").startswith("#"):
            slot = "number"
        if slot:
            text.set("data-slot", slot)
    round_ = group.find("ellipse") is not None
    halo = ET.Element("rect", {
        "class": "cg-halo", "x": f"{left - 3:.1f}", "y": f"{top - 3:.1f}",
        "rx": f"{(right - left) / 2 + 3:.1f}" if round_ else "6",
        "width": f"{right - left + 6:.1f}", "height": f"{bottom - top + 6:.1f}",
    })  # fmt: skip
    group.insert(0, halo)
    if not any(text.get("data-slot") == "number" for text in texts):
        ET.SubElement(group, "text", {
            "data-slot": "number", "class": "cg-number", "text-anchor": "end",
            "x": f"{right:.1f}", "y": f"{top - 7:.1f}", "font-size": "12",
        })  # fmt: skip


def _shorten(element: ET.Element) -> None:
    """Write an element in fewer characters: there are three pictures, and pages hold several."""
    if element.get("text-anchor") == "start":
        del element.attrib["text-anchor"]  # the default
    for name, value in element.attrib.items():
        if name in ("fill", "stroke"):
            element.set(name, re.sub(r",#\w+\)", ")", value))
        elif name in ("x", "y", "d", "points", "cx", "cy", "rx", "ry"):
            element.set(name, re.sub(r"\d+\.\d+", lambda m: f"{float(m[0]):.1f}", value))


def _boxed(shape: ET.Element, left: float, top: float, right: float, bottom: float) -> None:
    """Turn the outline of a box into a rectangle."""
    rounded = shape.tag == "path"
    for name in ("d", "points"):
        shape.attrib.pop(name, None)
    shape.tag = "rect"
    sizes = {"x": left, "y": top, "width": right - left, "height": bottom - top}
    shape.attrib |= {name: f"{size:.1f}" for name, size in sizes.items()}
    if rounded:
        shape.set("rx", "12")


def _box_of(shape: ET.Element) -> tuple[float, float, float, float]:
    points = [tuple(map(float, point.split(","))) for point in _points(shape)]
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return min(xs), min(ys), max(xs), max(ys)


def _points(shape: ET.Element) -> list[str]:
    if shape.tag == "ellipse":
        cx, cy, rx, ry = (float(shape.attrib[name]) for name in ("cx", "cy", "rx", "ry"))
        return [f"{cx - rx},{cy - ry}", f"{cx + rx},{cy + ry}"]
    if shape.tag in ("polygon", "polyline", "path"):
        return _FAR.findall(shape.get("points") or shape.get("d") or "")
    return []


def _apply(root: ET.Element, values: Mapping[tuple[str, str], str]) -> None:
    for group in root.iter("g"):
        node = group.get("data-node")
        if not node:
            continue
        group.set("data-state", values.get((node, "state"), ""))
        for text in group.iter("text"):
            slot = text.get("data-slot")
            if slot:
                text.text = values.get((node, slot), "")


def _mark(root: ET.Element, step: Step) -> None:
    parent, child, which = step.edge[:3] if step.edge else ("", "", 0)
    edges = [g for g in root.iter("g") if (g.get("data-from"), g.get("data-to")) == (parent, child)]
    marked = [g for g in root.iter("g") if g.get("data-node") and g.get("data-node") in step.nodes]
    for group in marked + edges[which : which + 1]:
        group.set("class", f"{group.get('class')} cg-on")
