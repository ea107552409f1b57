"""In which order the nodes of a graph may pass on, and orders that people try instead."""

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from chaingrad.draw.items import Item
from chaingrad.draw.reading import read
from chaingrad.draw.words import listed
from chaingrad.step.drills.forms import Form
from chaingrad.step.drills.series import Series

LETTERS = "pqrstuvw"
OPERATIONS = (5, 6, 7)  # by level
COUNT = 12  # graphs a level
FEWEST = 4  # mistakes that are wrong in each its own way

Order = tuple[str, ...]


class Graph:
    """The operations of a form, and what each hands on to."""

    def __init__(self, lines: str) -> None:
        form = Form.parse(lines)
        self.items = read(form.run([1.0] * len(form.leaves)), "drill", 10**9)
        self.by_id = {item.id: item for item in self.items if not item.is_leaf}
        self.operands = {
            id: [parent for parent in dict.fromkeys(item.parents) if parent in self.by_id]
            for id, item in self.by_id.items()
        }
        self.children = {
            id: [child for child in reversed(self.by_id) if id in self.operands[child]]
            for id in self.by_id
        }
        self.root = self.items[-1].id

    def is_valid(self, order: Sequence[str]) -> bool:
        """Whether each node stands behind all its children."""
        return all(
            order.index(child) < order.index(id) for id in order for child in self.children[id]
        )

    def right(self) -> Order:
        """The order that the engine would take, children first."""
        return tuple(reversed(self.by_id))


def _searched(graph: Graph, take: int) -> Order:
    """As they are first met from the root: the first (0) or the last (-1) of those that wait."""
    waiting, order = [graph.root], list[str]()
    while waiting:
        id = waiting.pop(take)
        if id not in order:
            order.append(id)
            waiting += [other for other in graph.operands[id] if other not in order]
    return tuple(order)


def _deep(graph: Graph) -> tuple[Order, Order]:
    """As a depth-first search enters them, and as it leaves them."""
    entered: list[str] = []
    left: list[str] = []

    def visit(id: str) -> None:
        if id not in entered:
            entered.append(id)
            for operand in graph.operands[id]:
                visit(operand)
            left.append(id)

    visit(graph.root)
    return tuple(entered), tuple(left)


MISTAKES: dict[str, tuple[Callable[[Graph], Order], str]] = {
    "depth": (
        lambda graph: _deep(graph)[0],
        "that is depth first from the root, each node as it is entered",
    ),
    "breadth": (
        lambda graph: _searched(graph, 0),
        "that is breadth first: each node as soon as the first share comes, and not the last",
    ),
    "stack": (
        lambda graph: _searched(graph, -1),
        "that is whoever was reached last goes first, with the first of its shares alone",
    ),
    "forward": (
        lambda graph: tuple(graph.by_id),
        "that is the order of the forward pass: the backward pass begins at the root",
    ),
    "left": (
        lambda graph: _deep(graph)[1],
        "that is a depth-first search, each node as it is left: it still has to be reversed",
    ),
}


def wrong(graph: Graph) -> Iterator[tuple[str, Order, str]]:
    """The orders that are no order to pass on in, each by the first of its names."""
    known: set[Order] = set()
    for name, (made, says) in MISTAKES.items():
        order = made(graph)
        if order not in known and not graph.is_valid(order):
            known.add(order)
            yield name, order, says


@functools.cache
def drawn(level: int) -> tuple[str, ...]:
    """Graphs whose order is not plain."""
    dice, found = Series(f"orders {level}"), dict[str, str]()
    while len(found) < COUNT:
        names, lines = ["a", "b"], []
        for name in LETTERS[: OPERATIONS[level - 1]]:
            first, second = dice.choose(names[-3:]), dice.choose(names)
            lines.append(f"{name} = {first} {dice.choose('+*')} {second}")
            names.append(name)
        text = "; ".join(lines)
        graph = Graph(text)
        if len(graph.by_id) == len(lines) and len(list(wrong(graph))) >= FEWEST:
            found.setdefault(str(graph.operands), text)
    return tuple(found.values())


def described(graph: Graph) -> dict[str, Any]:
    """What is to be ordered, and how it is judged; ``{n3}`` stands for the name of a node."""
    return {
        "letters": {id: item.label for id, item in graph.by_id.items()},
        "children": graph.children,
        "says": {id: _said(graph, item) for id, item in graph.by_id.items()},
        "wrong": [[name, list(order), says] for name, order, says in wrong(graph)],
        "order": list(graph.right()),
    }


def _said(graph: Graph, item: Item) -> str:
    """A node among its operands and children, in words."""
    operands = [named(graph, parent) for parent in item.parents]
    users = [f"{{{child}}}" for child in graph.children[item.id]]
    use = f"used by {listed(users, 6)}" if users else "the root"
    return f"{{{item.id}}}, {item.op} of {listed(operands, 6)}; {use}"


def named(graph: Graph, id: str) -> str:
    """A node by its name: of an operation, the one that the problem gives it."""
    if id in graph.by_id:
        return f"{{{id}}}"
    return next(item.label for item in graph.items if item.id == id)


def steps(graph: Graph) -> Iterator[list[Any]]:
    """One step an operation, in an order that is right."""
    for place, id in enumerate(graph.right(), start=1):
        senders = [f"<b>{{{child}}}</b>" for child in graph.children[id]]
        has = f"has what {listed(senders, 6)} sent" if senders else "is the root"
        to = [named(graph, parent) for parent in dict.fromkeys(graph.by_id[id].parents)]
        words = f"<b>{{{id}}}</b> {has}: it passes on to {listed(to, 6)}."
        yield ["Order", words, [id], None, [[id, "number", f"#{place}"]]]
