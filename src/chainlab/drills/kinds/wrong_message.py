"""A backward pass with one wrong message, which is to be found."""

import functools
from collections.abc import Sequence
from typing import Any

from chainlab.drills.draw import fit
from chainlab.drills.draw.recording import Edge, FormGraph, Recording, graph_of
from chainlab.drills.draw.series import Series
from chainlab.drills.draw.slips import of_message
from chainlab.drills.draw.small_numbers import CLOSE, bracketed, exact, is_small
from chainlab.drills.kinds import adjoints, graph_kind
from chainlab.drills.kinds.box_kind import MOST, bracketed_step
from chainlab.drills.kinds.graph_kind import data_of
from chainlab.drills.kinds.kind import Kind, Problem
from chainlab.mistakes import Mistake
from chainview.player.picture import Look
from chainview.read.items import Item

Fault = tuple[int, int]  # the number of an edge, and of a mistake in its message


class Pass:
    """A backward pass in which one message is wrong: all that was sent, and all sums."""

    def __init__(self, rec: Recording, edge: Edge, gives: float) -> None:
        self.sent = rec.messages({edge: gives})
        self.sums = {item.id: rec.adjoint(item, self.sent) for item in rec.graph.moving}

    def is_small(self, most: float) -> bool:
        return all(is_small(x, most) for x in (*self.sent.values(), *self.sums.values()))


class Messages(Kind):
    name, title, sheet = "messages", "Which message is wrong", "messages"
    carried = graph_kind.CARRIED

    def asks(self, level: int) -> str:
        return (
            "One message of this backward pass was computed wrongly. Every other message is right "
            "for the <i>grad</i> of its sender, and each <i>grad</i> is the sum of the messages "
            "that arrived. Choose the wrong message."
        )

    def forms(self, level: int) -> Sequence[str]:
        return adjoints.FORMS[level - 1]

    def looks(self, text: str) -> list[Look]:
        graph = graph_of(text)
        return graph_kind.looks(graph, {}, graph.moving)

    def draw(self, level: int, dice: Series) -> Problem:
        number, text = dice.turn(self.forms(level))
        faults = self._faults(level, number)
        fault = dice.choose(faults)
        for _ in range(fit.TRIES):
            rec = graph_kind.set_up(text, level, dice.choose)
            if rec.is_small(MOST[level - 1]) and (
                wrong_pass := _wrong_pass(rec, fault, faults, level)
            ):
                entry = _entry(rec, fault, wrong_pass)
                return Problem(self.name, level, dice.number, number, entry, rec.leaves)
        raise RuntimeError(f"no numbers were found for {self.name}-{level}-{dice.number}")

    @functools.cache  # noqa: B019
    def _faults(self, level: int, number: int) -> Sequence[Fault]:
        """Return the mistakes in messages that numbers can tell apart."""
        text = self.forms(level)[number]
        runs = fit.generic(lambda choose: graph_kind.set_up(text, level, choose))
        faults = []
        for i, edge in enumerate(graph_of(text).edges):
            gives = [[mistake.gives for mistake in of_message(rec, edge)] for rec in runs]
            right = [rec.right[edge] for rec in runs]
            faults += [(i, k) for k in fit.apart(right, enumerate(zip(*gives, strict=True)))]
        dice = Series("settle")
        tried = [graph_kind.set_up(text, level, dice.choose) for _ in range(fit.TRIED)]
        small = [rec for rec in tried if rec.is_small(MOST[level - 1])]
        return [
            fault
            for fault in faults
            if sum(_wrong_pass(rec, fault, faults, level) is not None for rec in small)
            >= fit.OFTEN * fit.TRIED
        ]


@functools.lru_cache(512)
def _mistakes(rec: Recording, edge: Edge) -> list[Mistake[float]]:
    return list(of_message(rec, edge))


def _wrong_pass(
    rec: Recording, fault: Fault, faults: Sequence[Fault], level: int
) -> tuple[Mistake[float], Pass] | None:
    """Return a wrong pass, if its message differs from the right one and from other mistakes."""
    at, which = fault
    edge = rec.graph.edges[at]
    mistakes = _mistakes(rec, edge)
    others = [mistakes[k].gives for i, k in faults if i == at and k != which]
    wrong = mistakes[which]
    if any(abs(wrong.gives - x) < CLOSE for x in (rec.right[edge], *others)):
        return None
    result = Pass(rec, edge, wrong.gives)
    return (wrong, result) if result.is_small(MOST[level - 1]) else None


def _entry(rec: Recording, fault: Fault, wrong_pass: tuple[Mistake[float], Pass]) -> dict[str, Any]:
    """Return the edges, and what is sent along them, as a page reads it."""
    (at, _), (wrong, result) = fault, wrong_pass
    graph = rec.graph
    return {
        "written": [
            *data_of(rec),
            *((id, "grad", f"grad {exact(number)}") for id, number in result.sums.items()),
        ],
        "edges": [_edge(rec, edge, result, graph.edges[at]) for edge in graph.edges],
        "fault": at,
        "name": wrong.name,
        "says": bracketed(wrong.says),
        "steps": [bracketed_step(step) for step in adjoints.steps(rec)],
    }


def _edge(rec: Recording, edge: Edge, result: Pass, fault: Edge) -> dict[str, Any]:
    names, above = rec.names, result.sums[edge.child.id]
    label = f"{names.adjoint(edge.child)} · {names.local(edge.child, edge.parent)}"
    factors = f"{exact(above)} × {exact(rec.local(edge))}"
    return {
        "ends": edge.ends,
        "says": f"from {names.text(edge.child)} to {names.text(edge.parent)}",
        "number": exact(result.sent[edge]),
        "right": exact(rec.right[edge]),
        "product": bracketed(f"{label} = {factors}"),
        "child": names.html(edge.child),
        "parent": names.html(edge.parent),
        "alike": _likeness(rec.graph, edge, fault, result.sent[edge] != rec.right[edge]),
    }


def _likeness(graph: FormGraph, edge: Edge, fault: Edge, is_off: bool) -> str:
    """Say why someone takes a message for the wrong one: it passes on the error, or is beside."""
    if edge.child in _below(graph, fault.parent) and is_off:
        return "passed on"
    if edge.parent is fault.parent:
        return "beside"
    return "same sender" if edge.child is fault.child else ""


def _below(graph: FormGraph, item: Item) -> list[Item]:
    """Return a node and all nodes that it passes something on to."""
    below = [item]
    for edge in graph.edges:
        if edge.child in below and edge.parent not in below:
            below.append(edge.parent)
    return below
