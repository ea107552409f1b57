"""Graphs whose nodes are chosen: in an order, or for what they are kept for."""

import copy
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any, Self, TypeVar

from chaingrad.node import Node
from chainlab.drills.draw.looks import formula_in, look
from chainlab.mistakes import Mistake
from chainview.player.picture import Look
from chainview.read.items import Item
from chainview.read.reading import read
from chainview.read.words import listed

LETTERS = "pqrstuvw"
COUNT = 12  # graphs a level
FEWEST = 4  # mistakes, each wrong in its own way

T = TypeVar("T", bound=Hashable)


class Graph:
    """A graph whose operations have the names that a problem gives them.

    Attributes:
        items: its nodes, by their ids.
        operations: those that are computed.
        letters: what these are called in the form.
        names: what the problem calls them.
    """

    def __init__(self, root: Node) -> None:
        self.items = {item.id: item for item in read(root, "drill", 10**9)}
        self.operations = [item for item in self.items.values() if not item.is_leaf]
        self.letters = {item.id: item.label for item in self.operations}
        self.names: Mapping[str, str] = self.letters

    def renamed(self, names: Mapping[str, str]) -> Self:
        """Return the same graph, with other names of its operations."""
        other = copy.copy(self)
        other.names = names
        return other

    def named(self, id: str) -> str:
        """Return what a problem calls a node: a leaf by its label."""
        return self.names.get(id, self.items[id].label)

    def said(self, item: Item) -> str:
        """Return an operation in words."""
        operands = listed(list(map(self.named, item.parents)), 6)
        return f"{self.named(item.id)}, {item.op} of {operands}"

    def looks(self, chosen: Callable[[Item], bool]) -> list[Look]:
        """Return the nodes of the drawing, with room for a mark in those that can be chosen."""
        return [
            look(item, item.label, self._formula(item), (("number",),) * chosen(item), "000000")
            for item in self.items.values()
        ]

    def _formula(self, item: Item) -> str:
        return "" if item.is_leaf else formula_in(item, [self.named(x) for x in item.parents])


def wrong(
    graph: Any,
    mistakes: Mapping[str, Callable[[Any], T]],
    is_right: Callable[[T], bool],
) -> Iterator[Mistake[T]]:
    """Yield the wrong choices that people make, each under the first of its names."""
    known: set[T] = set()
    for name, choose in mistakes.items():
        chosen = choose(graph)
        if chosen not in known and not is_right(chosen):
            known.add(chosen)
            yield Mistake(name, chosen)
