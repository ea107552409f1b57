"""The steps of a player, and the steps of the forward pass and of the sort."""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from typing import Any

from chainview.player.formula import formula
from chainview.player.names import (
    EntryTable,
    NodeNames,
    amount,
    data_text,
    is_number,
    named_entries,
    plain,
)
from chainview.read.items import Item
from chainview.read.words import listed

LONGEST_LIST, LONGEST_END = 24, 6  # names, in a sentence
MOST_LEAVES = 8  # values, in a sentence
FORWARD, SORT, BACKWARD = "Forward", "Sort", "Backward"

SlotChange = tuple[
    str, str, str
]  # node, slot, text; slots: data, grad, number, and the node's state


@dataclass(frozen=True)
class Step:
    """One step.

    ``edge`` is the parent, the child, which of their edges, what it carries, and what stands in the
    parent's box before that comes and while it is added.
    """

    phase: str
    words: str
    nodes: tuple[str, ...] = ()
    edge: tuple[str, str, int, str, str, tuple[str, str]] | None = None
    changes: tuple[SlotChange, ...] = ()
    entries: tuple[EntryTable, ...] = ()
    accumulates: int = 0  # more, the more it tells: 1 at any node, 2 at a leaf, 3 onto a stale one


def forward_steps(items: Sequence[Item], names: NodeNames) -> list[Step]:
    """Return a step for all the leaves, then one for each operation in the order of creation."""
    leaves = [item for item in items if item.is_leaf]
    told = [item for item in leaves if names.text(item) != amount(item.node.data)]
    values = [f"{names.html(item)} = {_shaped(item.node.data)}" for item in told]
    words = f"Leaves have their values: {listed(values, MOST_LEAVES)}."
    first = Step(
        FORWARD,
        words if told else "Leaves have their values.",
        tuple(item.id for item in leaves),
        changes=tuple(_computed(item) for item in leaves),
        entries=_entries(told[:MOST_LEAVES], names) + names.full_labels(leaves),
    )
    return [first, *(_forward(item, names) for item in items if not item.is_leaf)]


def _shaped(value: Any) -> str:
    return amount(value) if is_number(value) else f"array {amount(value)}"


def _computed(item: Item) -> SlotChange:
    return (item.id, "data", data_text(item))


def _entries(items: Iterable[Item], names: NodeNames) -> tuple[EntryTable, ...]:
    return named_entries((names.html(item), item.node.data) for item in items)


def _forward(item: Item, names: NodeNames) -> Step:
    shown = {i.id: i for i in [*names.parents(item), item]}.values()
    return Step(
        FORWARD,
        _computation(item, names),
        (item.id,),
        changes=(_computed(item), (item.id, "state", "")),
        entries=_entries(shown, names) + names.full_labels(shown),
    )


def _computation(item: Item, names: NodeNames) -> str:
    """Write how a node is computed: in names and, for numbers, in numbers."""
    name, operands = names.html(item), names.parents(item)
    number, *numbers = (is_number(i.node.data) for i in [item, *operands])
    text = formula(item, [names.html(operand) for operand in operands], any(numbers))
    words = f"<b>{name}</b> = {text}" if text != name else f"<b>{text}</b>"
    if number and all(numbers):
        words += f" = {formula(item, [amount(operand.node.data) for operand in operands])}"
    elif item.op == "pow":
        words += " entry by entry"
    return f"{words}{' =' if number else ', of shape'} <b>{amount(item.node.data)}</b>"


def sort_steps(events: Sequence[tuple[str, Item]], names: NodeNames) -> list[Step]:
    """Return the visits and pushes of a depth-first search; the list fills from its back."""
    search = _SearchSteps({item.id for event, item in events if event == "push"}, names)
    return [search.visit(item) if event == "visit" else search.push(item) for event, item in events]


class _SearchSteps:
    """How far a depth-first search has come: its path, and the end of the sorted list."""

    def __init__(self, sorted_ids: Set[str], names: NodeNames) -> None:
        self._ids, self._names = sorted_ids, names
        self._path: list[str] = []
        self._pushed: list[str] = []

    def visit(self, item: Item) -> Step:
        came = f"a parent of {self._path[-1]}" if self._path else "the root"
        self._path.append(self._names.html(item))
        return self._step(item, f"Visit <b>{self._path[-1]}</b>, {came}.", "visited", "…")

    def push(self, item: Item) -> Step:
        name = self._path.pop()
        self._pushed.insert(0, name)
        to_come = len(self._ids) - len(self._pushed)
        title, dots, most = "Sorted list", "", LONGEST_LIST
        if to_come:
            title, dots, most = "End of the sorted list", "…, ", LONGEST_END
        shown = self._pushed[:most] + ["…"] * (len(self._pushed) > most)
        words = f"Push <b>{name}</b>: {self._ready(item)}. {title}: [{dots}{', '.join(shown)}]"
        whole = ("The sorted list", dots + ", ".join(map(plain, self._pushed)))
        return self._step(item, words, "pushed", f"#{to_come + 1}", whole)

    def _ready(self, item: Item) -> str:
        if not item.parents:
            return "it has no parents"
        if self._ids.isdisjoint(item.parents):
            return "its parents are leaves, which send nothing and are not sorted"
        return "its parents are done"

    def _step(self, item: Item, words: str, state: str, number: str, *entries: EntryTable) -> Step:
        return Step(
            SORT,
            words,
            (item.id,),
            changes=((item.id, "state", state), (item.id, "number", number)),
            entries=self._names.full_labels([item]) + entries,
        )
