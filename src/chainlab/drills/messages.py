"""A backward pass with one wrong message, which is to be found."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from chainlab.drills.mistakes import Slip, of_message
from chainlab.drills.recording import Edge, Number, Recording
from chainview.read.items import Item


class Pass(NamedTuple):
    """A backward pass with one wrong message, sent along ``edge``: all messages, all adjoints."""

    edge: Edge
    slip: Slip
    sent: Mapping[Edge, Number]
    sums: Mapping[str, Number]


def passes(rec: Recording) -> list[Pass]:
    """Return a backward pass for every mistake in every message."""
    faults = [(edge, slip) for edge in rec.edges for slip in of_message(rec, edge)]
    found = []
    for edge, slip in faults:
        sent = rec.messages({edge: slip.gives})
        sums = {item.id: rec.adjoint(item, sent) for item in rec.moving}
        found.append(Pass(edge, slip, sent, sums))
    return found


def numbers(rec: Recording, wrong: Sequence[Pass]) -> Iterator[Number]:
    """Yield the numbers of the edges and of each pass that are shown."""
    for edge in rec.edges:
        yield from (rec.local(edge), rec.right[edge])
    for each in wrong:
        yield from (*each.sent.values(), *each.sums.values())


def described(rec: Recording, wrong: Sequence[Pass]) -> dict[str, Any]:
    """Return the edges, and each pass with a fault."""
    variants = [
        {
            "fault": rec.edges.index(edge),
            "name": slip.name,
            "says": rec.placed(slip.says),
            "sent": list(map(rec.place, sent.values())),
            "sums": {id: rec.place(number) for id, number in sums.items()},
            "alike": [_likeness(rec, other, edge) for other in rec.edges],
        }
        for edge, slip, sent, sums in wrong
    ]
    return {"edges": [_edge(rec, edge) for edge in rec.edges], "variants": variants}


def _edge(rec: Recording, edge: Edge) -> dict[str, Any]:
    names = rec.names
    return {
        "ends": edge.ends,
        "says": f"from {names.text(edge.child)} to {names.text(edge.parent)}",
        "label": f"{names.adjoint(edge.child)} · {names.local(edge.child, edge.parent)}",
        "child": names.html(edge.child),
        "parent": names.html(edge.parent),
        "local": rec.place(rec.local(edge)),
        "right": rec.place(rec.right[edge]),
    }


def _likeness(rec: Recording, edge: Edge, fault: Edge) -> str:
    """Say why someone takes a message for the wrong one: it passes on the error, or is beside."""
    if edge.child in _below(rec, fault.parent):
        return "passed on"
    if edge.parent is fault.parent:
        return "beside"
    return "same sender" if edge.child is fault.child else ""


def _below(rec: Recording, item: Item) -> list[Item]:
    """Return a node and all nodes that it passes something on to."""
    found = [item]
    for edge in rec.edges:
        if edge.child in found and edge.parent not in found:
            found.append(edge.parent)
    return found
