"""A backward pass with one wrong message, which is to be found."""

from collections.abc import Mapping, Sequence
from typing import Any

from chaingrad.draw.items import Item
from chaingrad.step.drills.recording import Edge, Number, Recording
from chaingrad.step.drills.slips import Slip, of_message

Faults = Sequence[tuple[Edge, Slip]]


def faults(rec: Recording) -> Faults:
    """Every mistake in every message."""
    return [(edge, slip) for edge in rec.edges for slip in of_message(rec, edge)]


def outputs(rec: Recording, wrong: Faults) -> dict[str, Number]:
    """What is shown of each pass, by name: its messages and its adjoints."""
    found: dict[str, Number] = {}
    for i, edge in enumerate(rec.edges):
        found[f"local {i}"] = rec.local(edge.child, edge.position)
        found[f"right {i}"] = rec.right[edge]
    for k, (edge, slip) in enumerate(wrong):
        sent = rec.messages({edge: slip.gives})
        found |= {f"sent {k} {i}": sent[other] for i, other in enumerate(rec.edges)}
        found |= {f"sum {k} {item.id}": rec.adjoint(item, sent) for item in rec.moving}
    return found


def described(rec: Recording, wrong: Faults, places: Mapping[str, int]) -> dict[str, Any]:
    """The edges, and each pass with a fault."""
    edges = rec.edges
    variants = [
        {
            "fault": edges.index(edge),
            "name": slip.name,
            "says": rec.placed(slip.says),
            "sent": [places[f"sent {k} {i}"] for i in range(len(edges))],
            "sums": {item.id: places[f"sum {k} {item.id}"] for item in rec.moving},
            "alike": [_likeness(rec, other, edge) for other in edges],
        }
        for k, (edge, slip) in enumerate(wrong)
    ]
    return {
        "edges": [_edge(rec, i, edge, places) for i, edge in enumerate(edges)],
        "variants": variants,
    }


def _edge(rec: Recording, i: int, edge: Edge, places: Mapping[str, int]) -> dict[str, Any]:
    names = rec.names
    return {
        "ends": edge.ends,
        "says": f"from {names.text(edge.child)} to {names.text(edge.parent)}",
        "label": f"{names.adjoint(edge.child)} · {names.local(edge.child, edge.parent)}",
        "child": names.html(edge.child),
        "parent": names.html(edge.parent),
        "local": places[f"local {i}"],
        "right": places[f"right {i}"],
    }


def _likeness(rec: Recording, edge: Edge, fault: Edge) -> str:
    """Why a message is taken for the wrong one: it hands on what is wrong, or is beside it."""
    if edge.child in _below(rec, fault.parent):
        return "passed on"
    if edge.parent is fault.parent:
        return "beside"
    return "same sender" if edge.child is fault.child else ""


def _below(rec: Recording, item: Item) -> list[Item]:
    """A node and all that it hands anything on to."""
    found = [item]
    for edge in rec.edges:
        if edge.child in found and edge.parent not in found:
            found.append(edge.parent)
    return found
