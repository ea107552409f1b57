"""The kinds of problems: what is asked, of which graphs."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from chaingrad.step.drills import forms
from chaingrad.step.drills.orders import drawn
from chaingrad.step.drills.recording import Recording
from chaingrad.step.drills.tasks import (
    Box,
    Words,
    adjoint_boxes,
    adjoint_steps,
    local_boxes,
    local_steps,
)


@dataclass(frozen=True)
class Kind:
    """A kind of problem.

    Attributes:
        title: what it is called.
        asks: what the reader is to do, as HTML.
        forms: gives the graphs of a level, 1, 2 or 3.
        sheet: how it is answered: "boxes", "messages" or "order".
        boxes: what numbers are asked of a graph.
        steps: how the engine fills the boxes.
    """

    title: str
    asks: str
    forms: Callable[[int], Sequence[str]]
    sheet: str = "boxes"
    boxes: Callable[[Recording], list[Box]] = adjoint_boxes
    steps: Callable[[Recording], Iterator[Words]] = adjoint_steps


LEVELS = (1, 2, 3)
NUMBERS = "Write −3, 1/3, 0.5 or 0,5."
KINDS = {
    "local": Kind(
        "Local gradients",
        "Write every local gradient into the node that it belongs to: how fast the node grows "
        f"with that operand, at these values. {NUMBERS}",
        lambda level: forms.LOCAL[level - 1],
        boxes=local_boxes,
        steps=local_steps,
    ),
    "chain": Kind(
        "Adjoints on a chain",
        "Write the adjoint of every node into it: how fast <i>L</i> grows with that node. "
        f"The pass starts at <i>L</i>, with 1. {NUMBERS}",
        lambda level: forms.CHAIN[level - 1],
    ),
    "adjoints": Kind(
        "Adjoints where paths meet",
        "Write the adjoint of every node into it. Where a node is used more than once, a share "
        f"comes along each edge. {NUMBERS}",
        lambda level: forms.MEETING[level - 1],
    ),
    "orders": Kind(
        "Orders that are valid",
        "Choose the operations one after the other, in an order in which the backward pass can "
        "handle them: each passes on once, when all that it is to receive has come. "
        "A second click takes one back.",
        drawn,
        sheet="order",
    ),
    "messages": Kind(
        "Which message is wrong",
        "One message of this backward pass was computed wrongly; all others are right for what "
        "had come before. <i>grad</i> is the sum of what came. Choose the wrong one.",
        lambda level: forms.MEETING[level - 1],
        sheet="messages",
    ),
}
