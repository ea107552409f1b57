"""The kinds of problems: what is asked, of which graphs."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from chaingrad.step.drills import forms
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
    """A kind of problem that asks for numbers.

    Attributes:
        title: what it is called.
        asks: what the reader is to do, as HTML.
        levels: the graphs of each level.
        boxes: what is asked of a graph.
        steps: how the engine fills the boxes.
    """

    title: str
    asks: str
    levels: Sequence[Sequence[str]]
    boxes: Callable[[Recording], list[Box]]
    steps: Callable[[Recording], Iterator[Words]]


NUMBERS = "Write −3, 1/3, 0.5 or 0,5."
KINDS = {
    "local": Kind(
        "Local gradients",
        "Write every local gradient into the node that it belongs to: how fast the node grows "
        f"with that operand, at these values. {NUMBERS}",
        forms.LOCAL,
        local_boxes,
        local_steps,
    ),
    "chain": Kind(
        "Adjoints on a chain",
        "Write the adjoint of every node into it: how fast <i>L</i> grows with that node. "
        f"The pass starts at <i>L</i>, with 1. {NUMBERS}",
        forms.CHAIN,
        adjoint_boxes,
        adjoint_steps,
    ),
    "adjoints": Kind(
        "Adjoints where paths meet",
        "Write the adjoint of every node into it. Where a node is used more than once, a share "
        f"comes along each edge. {NUMBERS}",
        forms.MEETING,
        adjoint_boxes,
        adjoint_steps,
    ),
}
