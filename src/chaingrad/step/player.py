"""The player: the picture, what happens in it, and the HTML that holds both."""

import copy
import html
import json
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import resources
from typing import Any

from chaingrad.backward import adjoints, local_gradients
from chaingrad.draw.boxes import Direction
from chaingrad.draw.items import Item
from chaingrad.draw.palette import COLORS, style
from chaingrad.draw.reading import read, read_sort
from chaingrad.draw.words import cut, describe, one_line
from chaingrad.graph import GraphNode, toposort
from chaingrad.node import Node
from chaingrad.step.messages import backward_steps
from chaingrad.step.names import Names, amount, data_text, is_bare, plain
from chaingrad.step.picture import Look, draw, elided
from chaingrad.step.steps import BACKWARD, FORWARD, Step, forward_steps, sort_steps
from chaingrad.step.watch import Event, Message, backward_events, foreign_events, sort_events

MOST_NODES = 200
FITTING = 60  # nodes that some screen may show at once


@dataclass(frozen=True, repr=False)
class Player:
    """A player that shows itself in a notebook or on a page.

    Attributes:
        alt: what it plays, in words.
        steps: the steps, in order.
    """

    alt: str
    steps: Sequence[Step]
    _draw: Callable[[], Sequence[ET.Element]]  # one picture, or another for narrow screens, too
    _start: Sequence[tuple[str, str, str]]
    _frames: Sequence[tuple[str, int]] = field(default=())  # a title, and a place in the steps

    def __repr__(self) -> str:
        return f"<Player: {self.alt}>"

    @cached_property
    def html(self) -> str:
        """The player as a piece of HTML."""
        frames = "".join(self._frame(title, at) for title, at in self._frames)
        others = "".join(ET.tostring(x, encoding="unicode") for x in self._pictures[1:])
        label = html.escape(self.alt, quote=True)
        return (
            '<div class="chaingrad-player tex2jax_ignore mathjax_ignore" role="group" '
            f'aria-label="{label}">'
            f"<style>{_style()}</style>"
            f'<div class="cg-frames">{frames}</div><template>{others}</template>'
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
    def _pictures(self) -> Sequence[ET.Element]:
        return self._draw()

    def _frame(self, title: str, at: int) -> str:
        step = self.steps[at]
        changes = [*self._start, *(c for s in self.steps[: at + 1] for c in s.changes)]
        root = copy.deepcopy(self._pictures[0])
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
        direction: which way the data flows, in Graphviz's terms, where there is room for that;
            elsewhere it flows down, and boxes are folded.
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
        *sort_steps([(event, names.item(node)) for event, node in sorting], names),
        *backward_steps(events, names, None if own else _truth(items, local_gradient)),
    ]
    start = [(item.id, "state", "todo") for item in items if not item.is_leaf]
    start += [(item.id, "data", "…" if is_bare(item) else "data …") for item in items]
    start += [(item.id, "grad", "") for item in items]
    start += [(names.item(node).id, "number", "") for event, node in sorting if event == "visit"]
    top = items[-1]
    leaves = [names.text(item) for item in items if item.is_leaf and item.kind != "constant"]
    given = ", ".join(leaves[:6]) + (f" and {len(leaves) - 6} more" if len(leaves) > 6 else "")
    alt = f"Step by step from {given} to {names.text(top)} = {amount(top.node.data)} and back"
    return Player(
        cut(f"{alt}: {len(steps)} steps."),
        steps,
        lambda: _pictures(items, names, events, direction),
        start,
        _key_frames(steps),
    )


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
    items, start = read_sort(graph, root, 10**9)
    _check_size(len(items), max_nodes)
    by_id = {item.id: item for item in items}
    events: list[tuple[str, str]] = []
    toposort(
        start,
        {item.id: item.parents for item in items},
        trace=lambda event, id: events.append((event, id)),
    )
    names = Names(items)
    steps = sort_steps([(event, by_id[id]) for event, id in events], names)
    visited = {id for _, id in events}
    looks = [
        Look(
            item,
            names.whole(item),
            slots=(("number",),),
            widest=(f"#{len(items)}",),
            color="leaf" if item.is_leaf else "visited",
            is_round=all(len(item.name) <= 3 for item in items),
            is_centred=True,
        )
        for item in items
    ]
    before = [
        (id, slot, text) for id in by_id for slot, text in (("state", "todo"), ("number", ""))
    ]
    name = by_id[start].name
    alt = f"Topological sort from {name}, step by step: {len(steps)} visits and pushes."
    first = next(i for i, (event, _) in enumerate(events) if event == "push")
    frames = [("First push", first), ("Half-way", len(steps) // 2), ("Sorted", len(steps) - 1)]
    ways: list[Direction] = [direction, "TB"]  # the other for a narrow screen
    return Player(
        cut(alt),
        steps,
        lambda: [draw(looks, way, 26, "Graph", by_id.keys() - visited) for way in ways],
        before,
        frames,
    )


# --- the graph ----------------------------------------------------------------------------------


def _local_gradient(node: Node, position: int) -> float | None:
    return local_gradients(node)[position][1]


def _truth(
    items: Sequence[Item], local_gradient: Callable[[Any, int], Any] | None
) -> dict[str, Any]:
    """The gradient of the last item with respect to each leaf; nothing where none is known."""
    root = items[-1].node
    leaves = [item for item in items if item.is_leaf and item.kind != "constant"]
    if isinstance(root, Node):
        found = adjoints(root, root.seed(), [item.node for item in leaves])
        return {item.id: found[item.node] for item in leaves if item.node in found}
    if local_gradient is None:
        return {}
    sums = {item.id: 0.0 for item in items} | {items[-1].id: 1.0}
    for item in reversed(items):
        for position, parent in enumerate(item.parents):
            sums[parent] += sums[item.id] * local_gradient(item.node, position)
    return {item.id: sums[item.id] for item in leaves}


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


def _looks(
    items: Sequence[Item], names: Names, events: Sequence[Event], folded: bool
) -> list[Look]:
    """How the nodes look, with room for all that the player will write there.

    Folded, a node is smaller: its value gives way to its gradient when that comes.
    """
    widest: dict[int, str] = {}
    for event in events:
        text = f"grad {amount(event.value)}"
        widest[id(event.node)] = max(widest.get(id(event.node), ""), text, key=len)
    looks = []
    for item in items:
        value, gradient = data_text(item), widest.get(id(item.node), "")
        slots = [("data", "grad")] if folded else [("data",), ("grad",)]
        color = {"operation": "node", "constant": "constant"}.get(item.kind, "leaf")
        looks.append(
            Look(
                item,
                "" if item.kind == "constant" and not item.label else names.whole(item),
                "" if is_bare(item) else elided(one_line(item.op) or item.kind, 80),
                tuple(slots if gradient else [("data",)]),
                (value, gradient),
                color,
            )
        )
    return looks


def _pictures(
    items: Sequence[Item], names: Names, events: Sequence[Event], direction: Direction
) -> list[ET.Element]:
    """The graph as it is where there is room for that; from the top down; and that, folded.

    What fits no screen in any of these has the first alone: laying it out takes seconds.
    """
    alt = describe("Graph", items, True, False)
    carried = [
        amount(number)
        for event in events
        if isinstance(event, Message) and event.local is not None
        for number in (event.above, event.local)
    ]
    room = 34.0 if direction in ("TB", "BT") else 12 + 7 * max(map(len, carried), default=2)
    whole, folded = (_looks(items, names, events, fold) for fold in (False, True))
    first = draw(whole, direction, room, alt)  # with room for what an edge carries
    if len(items) > FITTING:
        return [first]
    return [first, draw(whole, "TB", 20, alt), draw(folded, "TB", 20, alt)]


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
