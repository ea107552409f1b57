"""Which values a backward pass reads, and what people keep instead."""

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from chaingrad.account import Ledger
from chaingrad.prices import RESULT
from chainlab.drills.draw import choice
from chainlab.drills.draw.choice import COUNT, FEWEST, LETTERS
from chainlab.drills.draw.forms import Form
from chainlab.drills.draw.series import Series
from chainlab.drills.kinds.kind import Kind, Problem
from chainlab.mistakes import Mistake
from chainview.player.formula import formula
from chainview.player.picture import Look
from chainview.read.items import Item
from chainview.read.words import listed

FROZEN = "x"  # an input, which needs no gradient
FUNCTIONS = (("exp", "tanh", "relu"), ("tanh", "log", "sqrt", "sigmoid", "relu"))
OPERATIONS = (3, 4, 6)  # by level
SMALL = 1e-9  # a gradient that is 0 for all numbers, as that of p / p
VALUES = (0.5, 0.75, 1.25, 1.5)

GREY = "The yellow leaves need a gradient, the grey one needs none. "
QUOTIENT = (
    " A quotient <i>p</i>&nbsp;/&nbsp;<i>q</i> may read <i>q</i> and its result, as here, or both "
    "<i>p</i> and <i>q</i>, as PyTorch does: both are right."
)

Kept = frozenset[str]


class Graph(choice.Graph):
    """A graph, and of each operation what its shares are made of."""

    def __init__(self, lines: str) -> None:
        form = Form.parse(lines)
        with np.errstate(all="ignore"):  # some numbers lead nowhere: see `_is_fit`
            self.root = form.run(VALUES[: len(form.leaves)], FROZEN)
        super().__init__(self.root)
        needed = {row.node for row in Ledger(self.root).rows if row.needed}
        self.right = frozenset(id for id, item in self.items.items() if item.node in needed)
        self.leaves = frozenset(id for id, item in self.items.items() if item.is_leaf)

    @functools.cached_property
    def also(self) -> Kept:
        """What is read if a quotient reads both operands, as PyTorch's does, and not its result."""
        moving = [item for item in self.operations if item.node.requires_grad]
        return frozenset(id for item in moving for id in self._read_by_operands(item))

    def _read_by_operands(self, item: Item) -> Iterable[str]:
        is_quotient = item.op == "div" and self.items[item.parents[1]].node.requires_grad
        return item.parents if is_quotient else self.reads(item)

    def read_by(self, item: Item, frozen: bool = False) -> dict[int, list[str]]:
        """Return what each operand's share reads; if ``frozen``, also without a gradient."""
        known = item.node.rule.price.reads
        return {
            position: [item.id if i == RESULT else item.parents[i] for i in known[position]]
            for position, parent in enumerate(item.parents)
            if frozen or self.items[parent].node.requires_grad
        }

    def at_operations(self, chosen: Callable[[Item], Iterable[str]]) -> Kept:
        """Return what is chosen at the operations through which gradients flow."""
        moving = [item for item in self.operations if item.node.requires_grad]
        return frozenset(id for item in moving for id in chosen(item))

    def reads(self, item: Item, frozen: bool = False) -> set[str]:
        return {id for ids in self.read_by(item, frozen).values() for id in ids}

    def swapped(self, item: Item) -> Iterable[str]:
        """Return what an operation reads, but a function's input instead of its result."""
        reads = self.reads(item)
        return item.parents if reads == {item.id} else reads


# By their names in ``chainlab.mistakes``.
MISTAKES: dict[str, Callable[[Graph], Kept]] = {
    "everything": lambda graph: frozenset(graph.items),
    "computed": lambda graph: frozenset(item.id for item in graph.operations),
    "leaves": lambda graph: graph.right & graph.leaves,
    "no leaves": lambda graph: graph.right - graph.leaves,
    "operands": lambda graph: graph.at_operations(lambda item: item.parents),
    "swapped values": lambda graph: graph.at_operations(graph.swapped),
    "frozen": lambda graph: graph.at_operations(lambda item: graph.reads(item, frozen=True)),
    "root": lambda graph: graph.right | {list(graph.items)[-1]},
}


def wrong(graph: Graph) -> Iterator[Mistake[Kept]]:
    """Yield the values that people keep by mistake; at least one value each."""
    return choice.wrong(
        graph, MISTAKES, lambda kept: kept in (graph.right, graph.also, frozenset())
    )


@functools.cache
def drawn(level: int) -> tuple[str, ...]:
    """Draw graphs in which some values are read and some are not."""
    dice, texts = Series(f"keep {level}"), dict[Kept, str]()
    while len(texts) < COUNT:
        names, lines = ["a", "b", *[FROZEN] * (level == 3)], []
        for name in LETTERS[: OPERATIONS[level - 1]]:
            first, second = dice.choose(names[-3:]), dice.choose(names)
            function = dice.choose(FUNCTIONS[level > 1])
            unary = dice.below(5) < 2
            sign = dice.choose("+**/" if level > 1 and first != second else "+*")
            right = f"{function}({first})" if unary else f"{first} {sign} {second}"
            lines.append(f"{name} = {right}")
            names.append(name)
        text = "; ".join(lines)
        graph = Graph(text)
        frozen = level < 3 or any(slip.name == "frozen" for slip in wrong(graph))
        one = text.count("/") < 2  # or quotients undo each other
        if len(graph.operations) == len(lines) and one and frozen and _is_fit(graph):
            texts.setdefault(graph.right, text)
    return tuple(texts.values())


def _is_fit(graph: Graph) -> bool:
    """Return whether there is something to find out, and every gradient is finite and not 0."""
    with np.errstate(all="ignore"):
        graph.root.backward()
    nodes = [item.node for item in graph.items.values()]
    numbers = [node.data for node in nodes]
    numbers += [node.grad for node in nodes if not node.parents and node.requires_grad]
    plain = all(np.isfinite(x) and abs(x) > SMALL for x in numbers)
    moves = all(item.node.requires_grad for item in graph.operations[-2:])
    enough = 2 <= len(graph.right) <= len(nodes) - 2
    return plain and moves and enough and len(list(wrong(graph))) >= FEWEST


# --- as a page reads it ---------------------------------------------------------------------------


graph_of = functools.cache(Graph)


class Keep(Kind):
    name, title, sheet = "keep", "What has to be kept", "keep"

    def asks(self, level: int) -> str:
        return (
            "Choose every value that the backward pass reads, so that it has to be kept, or "
            f"computed again. {GREY * (level == 3)}A function such as exp computes its slope from "
            f"its result, so it reads the result.{QUOTIENT * (level > 1)}"
        )

    def forms(self, level: int) -> Sequence[str]:
        return drawn(level)

    def looks(self, text: str) -> list[Look]:
        """Return the nodes of the drawing; leaves can be chosen, too."""
        return graph_of(text).looks(lambda item: True)

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
        "says": {id: _said(graph, item) for id, item in graph.items.items()},
        "why": {id: _why(graph, id) for id in graph.items},
        "wrong": [[slip.name, sorted(slip.gives)] for slip in wrong(graph)],
        "right": [id for id in graph.items if id in graph.right],
        "also": [id for id in graph.items if id in graph.also],
        "steps": list(_steps(graph)),
    }


def _said(graph: Graph, item: Item) -> str:
    """Return a node in words."""
    if item.is_leaf:
        return f"{item.label}, a leaf" + ", needs no gradient" * (item.label == FROZEN)
    return graph.said(item)


def _sentence(graph: Graph, item: Item) -> str:
    """Say what an operation reads in the backward pass."""
    operands = [f"<b>{graph.named(parent)}</b>" for parent in item.parents]
    text = f"<b>{graph.named(item.id)}</b> = {formula(item, operands)}"
    if not item.node.requires_grad:
        return f"{text} needs no gradient"
    parts: dict[str, str] = {}
    for position, ids in graph.read_by(item).items():
        read_ = listed([f"<b>{graph.named(id)}</b>" for id in dict.fromkeys(ids)], 6)
        share = f"for the share of {operands[position]}"
        parts.setdefault(operands[position], f"{read_ or 'nothing'} {share}")
    return f"{text} reads {', and '.join(parts.values())}"


def _why(graph: Graph, id: str) -> str:
    """Return the operations that read a value; if none does, those that compute or use it."""
    moving = [item for item in graph.operations if item.node.requires_grad]
    readers = [item for item in moving if id in graph.reads(item)]
    near = [item for item in graph.operations if id in (item.id, *item.parents)]
    return "; ".join(_sentence(graph, item) for item in readers or near)


def _steps(graph: Graph) -> Iterator[list[Any]]:
    """Yield one step for each operation, in the order of the pass."""
    for item in reversed(graph.operations):
        reads = graph.reads(item) if item.node.requires_grad else set()
        changes = [[id, "number", "✓"] for id in graph.items if id in reads]
        yield ["Backward", f"{_sentence(graph, item)}.", [item.id], None, changes]
