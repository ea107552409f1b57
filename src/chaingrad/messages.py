"""The messages of a backward pass, one by one: what each child sends to each of its parents.

The pass itself, in `chaingrad.backward`, keeps no record of them. Whatever shows, checks or asks
about a pass reads it here.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from chaingrad._wording import kind
from chaingrad.backward import accumulate, parents_first


@dataclass(frozen=True)
class Message:
    """The share that a child sends to one of its parents, and what the parent then has.

    Attributes:
        child, parent: nodes.
        position: of the parent among the child's operands.
        above: the child's adjoint.
        local: ∂child/∂parent where both are numbers; None where it is no number, or unknown.
        share: what is sent.
        known: what had reached the parent before; None if nothing had.
        total: what the parent has with this share.
    """

    child: Any
    parent: Any
    position: int
    above: Any
    local: float | None
    share: Any
    known: Any
    total: Any


def messages(root: Any, seed: Any = None) -> Iterator[Message]:
    """Yield the messages of a backward pass from ``root`` in their order; store nothing.

    The pass is the general one, so what it yields is what it adds up. A message to an array has no
    local gradient: the rule of its child never makes that matrix.

    Args:
        root: a node that requires a gradient.
        seed: its adjoint; by default 1.

    Raises:
        TypeError, ValueError: as `~chaingrad.node.Node.backward`, when the first is asked for.

    >>> from chaingrad import Node
    >>> x = Node(3.0, "x")
    >>> [(m.parent.label, m.above, m.local, m.share, m.total) for m in messages(x * x)]
    [('x', 1.0, 3.0, 3.0, 3.0), ('x', 1.0, 3.0, 3.0, 6.0)]
    """
    if not hasattr(root, "rule"):
        raise TypeError(f"messages expects a node; got {kind(root)}")
    told: list[Message] = []

    def sent(child: Any, position: int, above: Any, *numbers: Any) -> None:
        local = local_gradient(child, position)
        told.append(Message(child, child.parents[position], position, above, local, *numbers))

    accumulate(root, root.seed(seed), parents_first(root), sent=sent)
    yield from told


def local_gradient(node: Any, position: int) -> float | None:
    """Return ∂node/∂operand for the operand at a position.

    None stands where there is none to give as a number: the operand is a constant, or the node or
    the operand is an array.
    """
    operand = node.parents[position]
    if not operand.requires_grad or node.ndim or operand.ndim:
        return None
    needed = [place == position for place in range(len(node.parents))]
    with np.errstate(all="ignore"):
        pulled = node.rule.pull(1.0, node.data, [parent.data for parent in node.parents], needed)
        return float(list(pulled)[position])


def local_gradients(node: Any) -> list[tuple[Any, float | None]]:
    """Return each operand of a scalar node with its `local_gradient`.

    >>> from chaingrad import Node
    >>> a, b = Node(2.0, "a"), Node(3.0, "b")
    >>> [(parent.label, local) for parent, local in local_gradients(a * b)]
    [('a', 3.0), ('b', 2.0)]
    """
    return [(parent, local_gradient(node, i)) for i, parent in enumerate(node.parents)]
