"""The view *costs*: operations and bytes, node by node, and what a checkpoint would save."""

import html
from dataclasses import dataclass

from chaingrad.account import Ledger, Row
from chaingrad.node import Node
from chainlab.workbench.subject import Subject
from chainlab.workbench.tables import table
from chainlab.workbench.views import View
from chainview.read.terms import written

MOST = 300  # nodes


@dataclass(frozen=True)
class Segment:
    """A part of a graph that leads to one node only, and could be computed twice.

    Attributes:
        top: the row of the node that it leads to.
        saves: the bytes that need not be kept until the backward pass gets there.
        again: the operations that are done a second time.
    """

    top: Row
    saves: int
    again: int


def require_costs(subject: Subject) -> None:
    """Refuse a graph too long to list."""
    subject.require_scalar("costs")
    subject.require_at_most(MOST, "costs")


def costs(subject: Subject) -> View:
    """Return the ledger of the graph."""
    ledger = Ledger(subject.root)
    forward, backward = ledger.forward_flops.total(), ledger.backward_flops.total()
    words = (
        f"{_operations(forward)} forward, {backward:,} backward. Computed values take "
        f"{ledger.value_bytes:,} bytes, of which the backward pass reads {ledger.needed_bytes:,}. "
        f"{_advice(ledger)}"
    )
    heads = ("node", "operation", "shape", "operations", "bytes", "kept for the backward pass")
    rows = [
        (
            html.escape(row.name),
            html.escape(written(row.node.op).symbol or row.node.op or row.role),
            html.escape("×".join(map(str, row.node.shape)) or "number"),
            f"{row.flops:,}",
            f"{row.bytes:,}",
            "yes" if row.needed else "",
        )
        for row in ledger.rows
    ]
    return View(table("costs", words, heads, rows), words)


def _advice(ledger: Ledger) -> str:
    if not ledger.value_bytes:
        return "Plain numbers are not counted among the bytes, so no checkpoint saves any."
    found = best_segment(ledger)
    if found is None:
        return "No part of it could be left to a checkpoint with a gain."
    return (
        f"A checkpoint around what leads to {found.top.name} would keep {found.saves:,} bytes "
        f"fewer until the backward pass gets there, and do {_operations(found.again)} again."
    )


def _operations(count: int) -> str:
    return f"{count:,} operation{'s' * (count != 1)}"


def best_segment(ledger: Ledger) -> Segment | None:
    """Return the segment that leaves the fewest bytes to keep at once, inside or outside it."""
    total = ledger.needed_bytes
    segments = [found for row in ledger.rows if (found := segment(ledger, row)).saves > 0]
    gains = [s for s in segments if s.saves < total]
    return min(gains, key=lambda s: (max(s.saves, total - s.saves), s.again), default=None)


def segment(ledger: Ledger, top: Row) -> Segment:
    """Return what a checkpoint around everything that leads to a node would save.

    Values that something else reads too are not part of the segment.
    """
    rows = {row.node: row for row in ledger.rows}
    children: dict[Node, set[Node]] = {node: set() for node in rows}
    for node in rows:
        for parent in node.parents:
            children[parent].add(node)
    inside = {top.node}
    for row in reversed(ledger.rows):  # children before parents
        if row.role == "value" and children[row.node] and children[row.node] <= inside:
            inside.add(row.node)
    again = sum(rows[node].flops for node in inside)
    inside.remove(top.node)
    saves = sum(rows[node].bytes for node in inside if rows[node].needed)
    saves -= 0 if top.needed else top.bytes  # a checkpoint's result is kept, for comparison
    return Segment(top, saves, again)
