"""What is asked of a graph: boxes for numbers, and how the engine fills them, step by step."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from chainlab.drills.mistakes import Slip, of_adjoint, of_local
from chainlab.drills.recording import Number, Recording
from chainview.player.formula import formula
from chainview.player.names import plain
from chainview.read.items import Item
from chainview.read.words import listed

Words = tuple[str, str, tuple[str, ...], Any, tuple[tuple[str, str, str], ...]]


@dataclass(frozen=True)
class Box:
    """A place for a number.

    Attributes:
        item: the node in which it stands.
        slot: where it stands there.
        label: what is asked for, as HTML.
        says: what a screen reader is told of it.
        right: the number.
        hint: how it is found, as HTML.
        slips: mistakes, and what they give.
        name: of the number in the engine's graph, where that is not of the drawing.
        column: its place in a row, and how many stand there.
        part: of a long problem, which is judged part by part.
    """

    item: Item
    slot: str
    label: str
    says: str
    right: Number
    hint: str
    slips: tuple[Slip, ...]
    name: str = ""
    column: tuple[int, int] = (0, 1)
    part: str = ""


def local_boxes(rec: Recording) -> list[Box]:
    """Return boxes for the local gradients of every operation, the last operation first."""
    return [
        Box(
            edge.child,
            f"box{edge.position}",
            rec.names.local(edge.child, edge.parent),
            f"local gradient of {rec.names.text(edge.child)} with respect to "
            f"{rec.names.text(edge.parent)}. {_computation(rec, edge.child)}",
            rec.local(edge),
            f"{rec.names.html(edge.child)} = {_formula(rec, edge.child)}",
            tuple(of_local(rec, edge)),
        )
        for edge in rec.edges
    ]


def adjoint_boxes(rec: Recording) -> list[Box]:
    """Return boxes for the adjoints of all nodes except the root, in the order of the pass."""
    return [
        Box(
            item,
            "grad",
            rec.names.adjoint(item),
            f"adjoint of {rec.names.text(item)}. {_place(rec, item)}",
            rec.adjoint(item),
            f"{rec.names.adjoint(item)} = {_sum(rec, item)}, where {_uses(rec, item)}",
            tuple(of_adjoint(rec, item)),
        )
        for item in rec.moving[1:]
    ]


def _formula(rec: Recording, item: Item) -> str:
    return formula(item, [rec.names.html(parent) for parent in rec.names.parents(item)])


def _sum(rec: Recording, item: Item) -> str:
    """Return an adjoint as the sum over the edges to the children, in words."""
    terms = (
        f"{rec.names.adjoint(edge.child)} · {rec.names.local(edge.child, item)}"
        for edge in rec.uses(item)
    )
    return " + ".join(terms)


def _uses(rec: Recording, item: Item) -> str:
    children = dict.fromkeys(edge.child for edge in rec.uses(item))
    return listed([f"{rec.names.html(child)} = {_formula(rec, child)}" for child in children], 6)


def _computation(rec: Recording, item: Item) -> str:
    names = [rec.names.text(parent) for parent in rec.names.parents(item)]
    return f"{rec.names.text(item)} = {plain(formula(item, names))}"


def _place(rec: Recording, item: Item) -> str:
    """Return a node among its operands and children, in words."""
    children = [_computation(rec, edge.child) for edge in rec.uses(item)]
    own = "a leaf" if item.is_leaf else _computation(rec, item)
    return f"{own}; used in {listed(list(dict.fromkeys(children)), 6)}"


# --- step by step -------------------------------------------------------------------------------


def local_steps(rec: Recording) -> Iterator[Words]:
    """Yield one step for each local gradient."""
    for edge in rec.edges:
        names = rec.names
        local = names.local(edge.child, edge.parent)
        number = rec.tell(rec.local(edge))
        y = names.html(edge.child)
        told = [
            f"{names.html(x)} = {rec.tell(rec.value(x))}"
            for x in dict.fromkeys([*names.parents(edge.child), edge.child])
            if x.label
        ]
        at = f"{y} = {_formula(rec, edge.child)} at {', '.join(told)}"
        words = f"{at}: {local} = <b>{number}</b>"
        change = (edge.child.id, f"box{edge.position}", number)
        yield "Local gradients", words, (edge.parent.id, edge.child.id), edge.ends, (change,)


def adjoint_steps(rec: Recording) -> Iterator[Words]:
    """Yield a step for the seed, and one for each message."""
    names = rec.names
    seed = f"The backward pass starts at the root: {names.adjoint(rec.items[-1])} = <b>1</b>"
    yield "Backward", seed, (rec.root,), None, ((rec.root, "grad", "grad 1"),)
    sums: dict[str, Number] = {}
    for edge in rec.edges:
        above, local = rec.adjoint(edge.child), rec.local(edge)
        share, to = rec.right[edge], edge.parent
        sums[to.id] = sums[to.id] + share if to.id in sums else share
        numbers = [rec.tell(number) for number in (above, local, share, sums[to.id])]
        sent = f'<span class="g">{numbers[0]}</span> × <span class="l">{numbers[1]}</span>'
        words = (
            f"{names.adjoint(to)} += {names.adjoint(edge.child)} · "
            f"{names.local(edge.child, to)} = {sent} = {numbers[2]}, now <b>{numbers[3]}</b>"
        )
        carries = (*edge.ends, numbers[0], numbers[1])
        change = (to.id, "grad", f"grad {numbers[3]}")
        yield "Backward", words, (to.id, edge.child.id), carries, (change,)


def placed(rec: Recording, steps: Sequence[Words]) -> list[Any]:
    """Return steps as the player reads them, with marks that name places of the program."""
    return [
        [phase, rec.placed(words), nodes, edge and [_text(rec, x) for x in edge],
         [[node, slot, rec.placed(text)] for node, slot, text in changes]]
        for phase, words, nodes, edge, changes in steps
    ]  # fmt: skip


def _text(rec: Recording, part: Any) -> Any:
    return rec.placed(part) if isinstance(part, str) else part
