"""The kinds of problems: what is asked, of which graphs."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from chainlab.drills import costs, equations, forms, keep, mlp, orders, tiles
from chainlab.drills.recording import Recording
from chainlab.drills.tasks import (
    Box,
    Words,
    adjoint_boxes,
    adjoint_steps,
    local_boxes,
    local_steps,
)
from chainview.player.picture import Look


@dataclass(frozen=True)
class Kind:
    """A kind of problem.

    Attributes:
        title: what it is called.
        asks: what the reader is to do, as HTML.
        forms: gives the graphs of a level, 1, 2 or 3.
        sheet: how it is answered: "boxes", "messages", "order", "tiles", "keep" or "typed".
        described: gives what a page reads of a graph; if None, it has numbers, as below.
        looks: gives the nodes of the drawing, where these are not the engine's.
        boxes: what numbers are asked of a graph.
        steps: how the engine fills the boxes.
        given: what stands in the drawing beside the values.
        most: the largest number that is asked for, where that is not of the level.
    """

    title: str
    asks: str
    forms: Callable[[int], Sequence[str]]
    sheet: str = "boxes"
    described: Callable[[str], dict[str, Any]] | None = None
    looks: Callable[[str], list[Look]] | None = None
    boxes: Callable[[Recording], Sequence[Box]] = adjoint_boxes
    steps: Callable[[Recording], Iterator[Words]] = adjoint_steps
    given: Callable[[Recording], list[list[str]]] = lambda rec: [[rec.root, "grad", "grad 1"]]
    most: float | None = None


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
        given=lambda rec: [],
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
        orders.drawn,
        sheet="order",
        described=orders.described,
        looks=orders.looks,
    ),
    "messages": Kind(
        "Which message is wrong",
        "One message of this backward pass was computed wrongly; all others are right for what "
        "had come before. <i>grad</i> is the sum of what came. Choose the wrong one.",
        lambda level: forms.MEETING[level - 1],
        sheet="messages",
        boxes=lambda rec: [],
    ),
    "shapes": Kind(
        "Shapes and transposes",
        "Put every adjoint together from tiles. Neighbours are multiplied as matrices, and a "
        "product before ⊙, which multiplies entry by entry; Σ takes all that follows it.",
        lambda level: tiles.FORMS[level - 1],
        sheet="tiles",
        described=tiles.described,
        looks=tiles.looks,
    ),
    "mlp": Kind(
        "The whole network",
        "Compute the network forward, and then back: <i>z&nbsp;=&nbsp;W&nbsp;x</i>, "
        "<i>h</i>&nbsp;=&nbsp;max(<i>z</i>,&nbsp;0), <i>o&nbsp;=&nbsp;V&nbsp;h</i>, "
        "<i>L</i>&nbsp;=&nbsp;½&nbsp;‖<i>o&nbsp;−&nbsp;y</i>‖², and where weights decay "
        "<i>s</i>&nbsp;=&nbsp;½&nbsp;λ&nbsp;(‖<i>W</i>‖²&nbsp;+&nbsp;‖<i>V</i>‖²), "
        "<i>J&nbsp;=&nbsp;L&nbsp;+&nbsp;s</i>. A bar says adjoint: how fast the last node grows "
        f"with it. {NUMBERS}",
        mlp.forms,
        boxes=mlp.boxes,
        steps=mlp.steps,
        given=mlp.given,
        looks=mlp.looks,
    ),
    "keep": Kind(
        "What has to be kept",
        "Choose every value that the backward pass reads, so that it is to be kept, or computed "
        "again. Leaves in yellow need a gradient, the grey one needs none; whatever can have its "
        "slope from its result, as exp, has it from there.",
        keep.drawn,
        sheet="keep",
        described=keep.described,
        looks=keep.looks,
    ),
    "costs": Kind(
        "FLOPs and bytes",
        "On levels 1 and 2, count the FLOPs of every matrix product: of the forward pass in the "
        "node that it makes, of the backward pass in the node whose adjoint it gives; on level 2 "
        "say in <i>L</i> how many times those of the forward pass the backward pass has. On level "
        "3, count the bytes of every computed value that the backward pass reads. Write 0 for what "
        "is not made, or not read.",
        costs.forms,
        boxes=costs.boxes,
        steps=costs.steps,
        given=costs.given,
        looks=costs.looks,
        most=costs.MOST,
    ),
    "equations": Kind(
        "The equations, in NumPy",
        "Type every adjoint as one line of NumPy, <code>dW</code> for that of <code>W</code>. It "
        "is made of the names below, and of the lines before it, which are taken to be right. "
        "<i>Check</i> loads Python when it is first used.",
        lambda level: equations.FORMS[level - 1],
        sheet="typed",
        described=equations.described,
        looks=equations.looks,
    ),
}
