"""In which order the nodes of a graph may pass on, and orders that people try instead."""

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from chainlab.drills.draw import choice
from chainlab.drills.draw.choice import COUNT, FEWEST, LETTERS
from chainlab.drills.draw.forms import Form
from chainlab.drills.draw.series import Series
from chainlab.drills.kinds.kind import Kind, Problem
from chainlab.mistakes import Mistake
from chainview.player.picture import Look
from chainview.read.words import listed

OPERATIONS = (5, 6, 7)  # by level

Order = tuple[str, ...]


class Graph(choice.Graph):
    """The operations of a form, and what each hands on to."""

    def __init__(self, lines: str) -> None:
        form = Form.parse(lines)
        super().__init__(form.run([1.0] * len(form.leaves)))
        self.by_id = {item.id: item for item in self.operations}
        self.operands = {
            id: [parent for parent in dict.fromkeys(item.parents) if parent in self.by_id]
            for id, item in self.by_id.items()
        }
        self.children = {
            id: [child for child in reversed(self.by_id) if id in self.operands[child]]
            for id in self.by_id
        }
        self.root = self.operations[-1].id

    def is_valid(self, order: Sequence[str]) -> bool:
        """Return whether each node stands behind all its children."""
        return all(
            order.index(child) < order.index(id) for id in order for child in self.children[id]
        )

    def right(self) -> Order:
        """Return the order that the engine would take, children first."""
        return tuple(reversed(self.by_id))


def _searched(graph: Graph, take: int) -> Order:
    """Search from the root, and always take the first (0) or the last (-1) node that waits."""
    waiting, order = [graph.root], list[str]()
    while waiting:
        id = waiting.pop(take)
        if id not in order:
            order.append(id)
            waiting += [other for other in graph.operands[id] if other not in order]
    return tuple(order)


def _deep(graph: Graph) -> tuple[Order, Order]:
    """Return the orders in which a depth-first search enters and leaves the nodes."""
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


# By their names in ``chainlab.mistakes``.
MISTAKES: dict[str, Callable[[Graph], Order]] = {
    "depth": lambda graph: _deep(graph)[0],
    "breadth": lambda graph: _searched(graph, 0),
    "stack": lambda graph: _searched(graph, -1),
    "forward": lambda graph: tuple(graph.by_id),
    "left": lambda graph: _deep(graph)[1],
}


def wrong(graph: Graph) -> Iterator[Mistake[Order]]:
    """Yield the wrong orders that people try."""
    return choice.wrong(graph, MISTAKES, graph.is_valid)


@functools.cache
def drawn(level: int) -> tuple[str, ...]:
    """Draw graphs whose order takes some thought."""
    dice, texts = Series(f"orders {level}"), dict[str, str]()
    while len(texts) < COUNT:
        names, lines = ["a", "b"], []
        for name in LETTERS[: OPERATIONS[level - 1]]:
            first, second = dice.choose(names[-3:]), dice.choose(names)
            lines.append(f"{name} = {first} {dice.choose('+*')} {second}")
            names.append(name)
        text = "; ".join(lines)
        graph = Graph(text)
        if len(graph.by_id) == len(lines) and len(list(wrong(graph))) >= FEWEST:
            texts.setdefault(str(graph.operands), text)
    return tuple(texts.values())


# --- as a page reads it ---------------------------------------------------------------------------


graph_of = functools.cache(Graph)


class Orders(Kind):
    name, title, sheet = "orders", "Orders that are valid", "order"

    def asks(self, level: int) -> str:
        return (
            "Choose the operations one after the other, in an order in which the backward pass can "
            "handle them: each sends its gradient on once, after all of its own shares have "
            "arrived. Choose one again to take it back."
        )

    def forms(self, level: int) -> Sequence[str]:
        return drawn(level)

    def looks(self, text: str) -> list[Look]:
        """Return the nodes of the drawing; operations can be chosen."""
        return graph_of(text).looks(lambda item: not item.is_leaf)

    def draw(self, level: int, dice: Series) -> Problem:
        number, text = dice.turn(self.forms(level))
        graph = graph_of(text)
        names = dice.shuffle(graph.letters)
        entry = _entry(graph.renamed(names))
        return Problem(self.name, level, dice.number, number, entry, names=names)


def _entry(graph: Graph) -> dict[str, Any]:
    """Return the right and wrong choices, and words, as a page reads them."""
    return {
        "written": [],
        "children": graph.children,
        "says": {id: f"{graph.said(item)}; {_use(graph, id)}" for id, item in graph.by_id.items()},
        "wrong": [[slip.name, list(slip.gives)] for slip in wrong(graph)],
        "order": list(graph.right()),
        "steps": list(_steps(graph)),
    }


def _use(graph: Graph, id: str) -> str:
    """Return the children of a node in words."""
    users = list(map(graph.named, graph.children[id]))
    return f"used by {listed(users, 6)}" if users else "the root"


def _steps(graph: Graph) -> Iterator[list[Any]]:
    """Yield one step for each operation, in an order that is right."""
    for place, id in enumerate(graph.right(), start=1):
        senders = [f"<b>{graph.named(child)}</b>" for child in graph.children[id]]
        has = f"has what {listed(senders, 6)} sent" if senders else "is the root"
        to = list(map(graph.named, dict.fromkeys(graph.by_id[id].parents)))
        words = f"<b>{graph.named(id)}</b> {has}: it passes on to {listed(to, 6)}."
        yield ["Order", words, [id], None, [[id, "number", f"#{place}"]]]
