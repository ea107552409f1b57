"""Play the three passes of a graph: forward, the sort, and backward."""

import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chaingrad.backward import adjoints
from chaingrad.graph import GraphNode
from chaingrad.messages import Message
from chaingrad.messages import local_gradient as engines_own
from chaingrad.node import Node
from chainview.draw.boxes import Direction
from chainview.player.backward_steps import backward_steps
from chainview.player.names import (
    NodeNames,
    amount,
    data_text,
    is_number,
    is_plain_number,
    sum_text,
)
from chainview.player.picture import NOTHING, ROOM, Carried, Look, draw, fitting
from chainview.player.player import BEYOND, MOST_NODES, Player
from chainview.player.steps import BACKWARD, FORWARD, SlotChange, Step, forward_steps, sort_steps
from chainview.player.watch import (
    Event,
    backward_events,
    foreign_events,
    sort_events,
    written_by,
)
from chainview.read.items import Item
from chainview.read.reading import check_size, read
from chainview.read.terms import word
from chainview.read.watches import is_watched
from chainview.read.words import describe, listed, one_line, truncate

FITTING = 60  # nodes that some screen may show at once
IN_A_ROW = 20  # nodes that some screen may show in one row


def play(
    root: GraphNode | Any,
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
        root: a node that holds one number; or a run that `chainview.frameworks` watched, which is
            played as it was, by modules where it is large.
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
    if is_watched(root):
        passes = _framework_passes(root, backward, local_gradient, max_nodes, parameters)
    else:
        passes = _run_passes(_read(root, max_nodes, parameters), backward, local_gradient)
    steps = passes.steps()
    return Player(
        passes.alt(len(steps)),
        steps,
        lambda: passes.pictures(direction),
        passes.initial_changes(),
        _key_frames(steps),
    )


def _framework_passes(
    root: Any,
    backward: Callable[[], object] | None,
    local_gradient: Callable[[Any, int], Any] | None,
    max_nodes: int,
    parameters: Iterable[Any],
) -> "_Passes":
    """Read a framework's run, by modules if the run is large."""
    if backward or local_gradient:
        raise TypeError("play: backward= and local_gradient= are for nodes; a watched run has run")
    run = root.folded(min(max_nodes, FITTING))
    items = read(run, "play", 10**9, parameters)
    return _Passes(items, NodeNames(items), (), run.events)


def _read(root: Any, max_nodes: int, parameters: Iterable[Any]) -> list[Item]:
    if not (hasattr(root, "parents") and hasattr(root, "data") and hasattr(root, "grad")):
        raise TypeError(
            "play expected a node (with data, grad, parents, op and label), and got "
            f"{type(root).__name__}; draw_graph draws PyTorch tensors, jaxprs and lists of nodes"
        )
    items = read(root, "play", 10**9, parameters)
    check_size(len(items), max_nodes, BEYOND)
    return items


def _run_passes(
    items: Sequence[Item],
    backward: Callable[[], object] | None,
    local_gradient: Callable[[Any, int], Any] | None,
) -> "_Passes":
    """Run what is to be run, and record what it does."""
    root = items[-1].node
    if isinstance(root, Node):
        if local_gradient:
            raise TypeError(
                "play: local_gradient= is for nodes of another engine; chaingrad knows the local "
                "gradients of its own nodes"
            )
        if backward is None:
            names = NodeNames(items)
            sorting = [(event, names.item(node)) for event, node in sort_events(root)]
            return _Passes(items, names, sorting, backward_events(root))
        local_gradient = engines_own
    nodes = [item.node for item in items]
    events = foreign_events(nodes, backward or root.backward, local_gradient)
    return _Passes(
        items, NodeNames(items, foreign=True), (), events, _true_gradients(items, local_gradient)
    )


def _true_gradients(
    items: Sequence[Item], local_gradient: Callable[[Any, int], Any] | None
) -> dict[str, Any]:
    """Return the gradient of the last item with respect to each leaf we know it for."""
    top = items[-1].node
    leaves = [item for item in items if item.is_leaf and item.kind != "constant"]
    if isinstance(top, Node):
        nodes = {item.id: item.node for item in items}
    elif local_gradient is None:
        return {}
    else:
        nodes = _linearized(items, local_gradient)
        top = nodes[items[-1].id]
    found = adjoints(top, top.seed(np.ones(top.shape)), [nodes[item.id] for item in leaves])
    return {item.id: found[nodes[item.id]] for item in leaves if nodes[item.id] in found}


def _linearized(
    items: Sequence[Item], local_gradient: Callable[[Any, int], Any]
) -> dict[str, Node]:
    """Build the graph again from our nodes: each is a sum of local gradients times operands."""
    nodes: dict[str, Node] = {}
    for item in items:
        terms = (local_gradient(item.node, i) * nodes[x] for i, x in enumerate(item.parents))
        shape = np.shape(item.node.data)
        nodes[item.id] = sum(terms, Node(np.zeros(shape) if shape else 0.0))
    return nodes


def _key_frames(steps: Sequence[Step]) -> list[tuple[str, int]]:
    forward = max(i for i, step in enumerate(steps) if step.phase == FORWARD)
    backward = [i for i, step in enumerate(steps) if step.phase == BACKWARD]
    telling = max(backward, key=lambda i: steps[i].accumulates)  # the first of the best
    middle = [("A gradient accumulates", telling)] if steps[telling].accumulates else []
    if not middle:  # no node is used twice
        middle = [("A message", backward[min(1, len(backward) - 1)])]
    return [("Forward pass", forward), *middle, ("Final gradients", len(steps) - 1)]


@dataclass(frozen=True)
class _Passes:
    """A graph and what was seen of its passes."""

    items: Sequence[Item]
    names: NodeNames
    sorting: Sequence[tuple[str, Item]]
    events: Sequence[Event]
    truth: Mapping[str, Any] | None = None  # the gradients that another pass should have found

    def steps(self) -> list[Step]:
        return [
            *forward_steps(self.items, self.names),
            *sort_steps(self.sorting, self.names),
            *backward_steps(self.events, self.names, self.truth),
        ]

    def initial_changes(self) -> list[SlotChange]:
        """Return what the picture says before the first step."""
        return [
            *((item.id, "state", "todo") for item in self.items if not item.is_leaf),
            *((item.id, "state", "") for item in self.items if item.is_leaf and item.is_root),
            *((item.id, "data", "…" if is_plain_number(item) else "data …") for item in self.items),
            *((item.id, "grad", "") for item in self.items),
            *((item.id, "number", "") for event, item in self.sorting if event == "visit"),
        ]

    def alt(self, count: int) -> str:
        leaves = [i for i in self.items if i.is_leaf and i.kind != "constant"]
        given = listed([self.names.text(leaf) for leaf in leaves], 6)
        top = self.items[-1]
        result = f"{self.names.text(top)} = {amount(top.node.data)}"
        return truncate(f"Step by step from {given} to {result} and back: {count} steps.")

    def pictures(self, direction: Direction) -> list[ET.Element]:
        """Draw the graph in its own direction, then from the top down, then that folded.

        The last is for a low and wide window: in one row what has several rows elsewhere. A graph
        that fits no screen has the first alone, because laying it out takes seconds.
        """
        alt = describe("Graph", self.items, True, False)
        whole, folded = (self._looks(fold) for fold in (False, True))
        carried = self._carried()
        first = draw(whole, direction, ROOM, alt, carried=carried)
        if len(self.items) > FITTING:
            return [first]
        down = [draw(looks, "TB", ROOM, alt, carried=carried) for looks in (whole, folded)]
        if len(self.items) > IN_A_ROW:
            return [first, *down]
        row = draw(whole, direction, ROOM, alt, carried=carried, is_cut=False)
        return [first, *down, *([row] if row.get("width") != first.get("width") else [])]

    def _carried(self) -> dict[tuple[str, int], Carried]:
        """Return the widest that each edge carries: an adjoint, and a local gradient."""
        widest: dict[tuple[str, int], Carried] = {}
        for event in self.events:
            if isinstance(event, Message) and event.local is not None:
                place = self.names.item(event.child).id, event.position
                above, below = widest.get(place, NOTHING)
                widest[place] = (
                    max(above, amount(event.above), key=len),
                    max(below, f"× {amount(event.local)}", key=len),
                )
        return widest

    def _looks(self, folded: bool) -> list[Look]:
        """Return how the nodes look, with room for everything that the player will write there.

        Folded, a node is smaller: its value gives way to its gradient when that comes.
        """
        widest: dict[int, str] = {}
        for event in self.events:
            node, value = written_by(event)
            texts = [widest.get(id(node), ""), f"grad {amount(value)}"]
            if isinstance(event, Message) and event.known is not None and is_number(event.known):
                texts.append(sum_text(event.known, event.share))
            widest[id(node)] = max(texts, key=len)
        return [self._look(item, widest.get(id(item.node), ""), folded) for item in self.items]

    def _look(self, item: Item, gradient: str, folded: bool) -> Look:
        slots: list[tuple[str, ...]] = [("data",)]
        if gradient:
            slots = [("data", "grad")] if folded else [("data",), ("grad",)]
        return Look(
            item,
            "" if item.kind == "constant" and not item.label else self.names.full_name(item),
            "" if is_plain_number(item) else fitting([one_line(word(item))], 80)[0],
            tuple(slots),
            (data_text(item), gradient),
            item.color,
        )
