"""A graph, drawn so that its values and gradients can be written anew."""

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from chaingrad.messages import Message, messages
from chaingrad.node import Node
from chainview.draw.boxes import Direction
from chainview.draw.svg import either, scrolling
from chainview.player.names import NodeNames, amount, is_plain_number
from chainview.player.picture import ROOM, Look, carry, draw, fill
from chainview.read.items import Item
from chainview.read.reading import read
from chainview.read.terms import word
from chainview.read.words import describe

GAP = 17  # between two ranks, where nothing is carried
Shares = Mapping[tuple[str, int], float]  # by the child's id and the operand's position


@dataclass(frozen=True)
class NumberGraph:
    """A graph of numbers, or of arrays that stand for themselves by their norms, and the gradients.

    Attributes:
        items: its nodes, parents before children.
        names: what they are called.
        sent: the messages of its backward pass.
    """

    items: Sequence[Item]
    names: NodeNames
    sent: Sequence[Message]

    @classmethod
    def read(
        cls, root: Any, caller: str, max_nodes: int, takes_arrays: bool = False
    ) -> "NumberGraph":
        """Read the graph of ``root``.

        Raises:
            TypeError: ``root`` is not a node that requires a gradient, or the graph holds an array
                that is not taken.
            ValueError: the graph has more than ``max_nodes`` nodes.
        """
        if not isinstance(root, Node):
            raise TypeError(f"{caller} expected a chaingrad node, and got {type(root).__name__}")
        if not root.requires_grad:
            raise TypeError(f"{caller}: the node depends on no leaf that requires a gradient")
        items = read(root, caller, 10**9)
        if len(items) > max_nodes:
            raise ValueError(
                f"{caller}: the graph has {len(items):,} nodes, more than the {max_nodes:,} that "
                "one can follow; take a smaller graph, or raise max_nodes"
            )
        for item in items:
            if item.node.ndim and not (takes_arrays and item.node is not root):
                raise TypeError(
                    f"{caller} takes a graph of numbers, and {item.name} is an array of shape "
                    f"{item.node.shape}: compute with a node for each entry"
                )
        return cls(items, NodeNames(items), list(messages(root)))

    @cached_property
    def grads(self) -> dict[Any, Any]:
        """The gradients of the root, of the nodes that have one."""
        top = self.top.node
        return {top: top.seed()} | {message.parent: message.total for message in self.sent}

    @property
    def top(self) -> Item:
        """The root."""
        return self.items[-1]

    def leaves(self) -> list[Item]:
        """Return the leaves that require a gradient."""
        return [item for item in self.items if item.is_leaf and item.node.requires_grad]

    def gradients_html(self, items: Iterable[tuple[Item, tuple[int, ...]]]) -> list[str]:
        """Write the gradients of numbers and of entries, by their indices, as HTML."""
        of = [
            (x, index, np.asarray(self.grads[x.node])) for x, index in items if x.node in self.grads
        ]
        return [f"{self.names.derivative(x, index)} = {amount(g[index])}" for x, index, g in of]

    def draw(self, direction: Direction | None, room: str, shares: Shares | None = None) -> str:
        """Draw the graph as HTML; each text that can change says what it is in ``data-slot``.

        Args:
            direction: which way the data flows; by default to the right, and downwards where the
                place is too narrow for that.
            room: the widest text of a number that is written anew; with ``shares`` its digits, as
                a gradient keeps its sign.
            shares: what each edge passes back, to be written anew instead of the values.
        """
        wide = self._draw(direction or "LR", room, shares or {})
        if direction or "tabindex" not in scrolling(wide):  # no place is too narrow
            return f'<div class="cg-graph">{scrolling(wide)}</div>'
        return f'<div class="cg-graph">{either(wide, self._draw("TB", room, shares or {}))}</div>'

    def _draw(self, direction: Direction, room: str, shares: Shares) -> str:
        texts = {item.id: self._texts(item) for item in self.items}
        carried = {
            place: (_signed(room, share), f"+ {_signed(room, share)}")
            for place, share in shares.items()
        }
        root = draw(
            [self._look(item, texts[item.id], room, bool(shares)) for item in self.items],
            direction,
            ROOM if shares else GAP,
            describe("Graph", self.items, True, False),
            carried=carried,
            at_once=True,
        )
        fill(root, {(id, slot): text for id, of in texts.items() for slot, text in of.items()})
        for (id, position), share in shares.items():
            carry(root, self.names.item_by_id(id), position, amount(share))
        return ET.tostring(root, encoding="unicode")

    def _texts(self, item: Item) -> dict[str, str]:
        """Return what stands in the slots of a node: numbers, and of arrays their norms."""
        data, grad = item.node.data, self.grads.get(item.node)
        if is_plain_number(item):
            return {"data": amount(data)}
        found = {"shape": f"shape {amount(data)}"} if np.ndim(data) else {}
        found["data"] = f"{_named('data', data)} {amount(size(data))}"
        if grad is not None:
            found["grad"] = f"{_named('grad', data)} {amount(size(grad))}"
        return found

    def _look(self, item: Item, texts: Mapping[str, str], room: str, passes: bool) -> Look:
        """Return how a node looks, with room for the numbers that are written anew."""
        widest = dict(texts)
        for slot in ("data", "grad") if "grad" in texts else ():
            if not passes:
                widest[slot] = f"{texts[slot].partition(' ')[0]} {room}"
            elif slot == "grad":
                widest[slot] = f"grad {_signed(room, self.grads[item.node])}"
        return Look(
            item,
            "" if item.kind == "constant" and not item.label else self.names.full_name(item),
            "" if is_plain_number(item) else word(item),
            tuple((slot,) for slot in texts),
            tuple(widest.values()),
            item.color,
        )


def size(value: Any) -> Any:
    """Return a number itself, or the norm of an array."""
    return np.linalg.norm(value) if np.ndim(value) else value


def _signed(digits: str, value: Any) -> str:
    """Write the widest text of a number that has the sign of this value."""
    return f"−{digits}" if value < 0 else digits


def _named(slot: str, value: Any) -> str:
    return f"‖{slot}‖" if np.ndim(value) else slot
