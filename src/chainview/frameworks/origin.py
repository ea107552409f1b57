"""Numbers that are none: the first that entered a run, or that its backward pass made."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from chaingrad.messages import Message
from chainview.frameworks.run import Summary, WatchedNode, reached, summary
from chainview.frameworks.symptom import Symptom, messages, op_name, place, value_range
from chainview.frameworks.watched import Watched

SELECTIONS = ("maskedfill", "where", "select", "indexput", "copyslices", "full", "constantpadnd")
SOFTMAXES = ("softmax", "logsoftmax", "logsumexp", "safesoftmax")
MOST_OF_HALF = 65504
CAUSES = {
    "log": "the logarithm of 0 or of less",
    "sqrt": "the root of what is negative",
    "rsqrt": "the root of what isn't positive, in a denominator",
    "div": "a division by 0",
    "exp": "an exponential that overflows: subtract the largest operand first",
    "pow": "a power of 0 or of a negative number, or one that overflows",
    "acos": "an operand outside of -1 to 1",
    "asin": "an operand outside of -1 to 1",
}
OTHER = (
    "the operands just before: a logarithm or a root of what is not positive, a division by 0, a "
    "number that overflows"
)


def not_finite(watched: Watched) -> Iterator[Symptom]:
    """Yield where the first number entered that isn't finite, where it does harm.

    Infinite entries do no harm where a softmax turns them into zeros, as in a mask, nor where the
    derivative of a mask removes infinite shares, so that no leaf's gradient has them.
    """
    if not _is_finite(watched.loss.data):
        yield _where_it_entered(_origin(watched.loss))
    elif not all(_is_finite(leaf.grad) for leaf in watched.leaves):
        yield from _in_the_backward_pass(watched)


def _is_number(x: Any) -> bool:
    return x is None or not math.isnan(summary(x).norm)


def _is_finite(x: Any) -> bool:
    return x is None or summary(x).is_finite


# --- the value in which it entered --------------------------------------------------------------


def _origin(value: WatchedNode) -> WatchedNode:
    """Go back from a value that isn't finite along NaN, then along infinities that are no mask."""
    while not _is_number(value.data):
        before = [p for p in value.parents if not _is_number(p.data)]
        if not before:
            break
        value = min(before, key=lambda parent: parent.ran)
    masks: dict[WatchedNode, bool] = {}
    if _masked_row(value) is not None and _is_mask(value.parents[0], masks):
        return value
    return min(_infinite_before(value, masks), default=value, key=lambda other: other.ran)


def _infinite_before(value: WatchedNode, masks: dict[WatchedNode, bool]) -> list[WatchedNode]:
    """Return what a value was computed from that isn't finite and no mask, leaves first."""
    before = reached(value, lambda each: each.parents)[1:]
    infinite = [x for x in before if not _is_finite(x.data) and not _is_mask(x, masks)]
    return sorted(infinite, key=lambda other: bool(other.parents))


def _is_mask(value: WatchedNode, known: dict[WatchedNode, bool]) -> bool:
    """Return whether the infinite entries of a value were put there."""
    if value not in known:
        known[value] = False
        known[value] = _is_number(value.data) and _was_put(value, known)
    return known[value]


def _was_put(value: WatchedNode, known: dict[WatchedNode, bool]) -> bool:
    if not value.parents:
        is_negative = isinstance(value.data, Summary) or not np.any(value.data == np.inf)
        return not value.requires_grad and is_negative
    infinite = [parent for parent in value.parents if not _is_finite(parent.data)]
    if infinite:
        return all(_is_mask(parent, known) for parent in infinite)
    return op_name(value).startswith(SELECTIONS)


def _masked_row(value: WatchedNode) -> tuple[int, ...] | None:
    """Return the first row of a softmax's operand that is -inf as a whole."""
    operand = value.parents[0].data if op_name(value) in SOFTMAXES else None
    if isinstance(operand, Summary | None):
        return None
    for axis in reversed(range(np.ndim(operand))):
        rows = np.argwhere((operand == -np.inf).all(axis))
        if len(rows):
            return tuple(map(int, rows[0]))
    return None


def _where_it_entered(value: WatchedNode, hidden: str = "") -> Symptom:
    if not value.parents:
        where = f"an input{place(value)}: {value.name}"
        look = "the data, and the values of parameters, before any operation"
        return Symptom("not finite", where, value_range(value.data) + hidden, look, [value])
    operands = ", ".join(f"{p.name} of {value_range(p.data)}" for p in value.parents)
    where = f"the result of {value.op}{place(value)}"
    seen = f"{value_range(value.data)}, from {operands}{hidden}"
    return Symptom("not finite", where, seen, _advice(value), [value], value.line)


def _advice(value: WatchedNode) -> str:
    row = _masked_row(value)
    if row is not None:
        return f"the mask: row {row} is -inf throughout, so that it's masked as a whole"
    if "float16" in str(getattr(value.data, "dtype", "")).replace("bfloat16", ""):
        return f"half precision, whose largest number is {MOST_OF_HALF}"
    return CAUSES.get(op_name(value), OTHER)


# --- a share that the backward pass made --------------------------------------------------------


def _in_the_backward_pass(watched: Watched) -> Iterator[Symptom]:
    for message in messages(watched):
        if not _is_finite(message.share) and _is_finite(message.above):
            cause = _hidden(message)
            says = "; the loss is finite, as a selection hides it, and its gradient isn't"
            yield _share(message) if cause is None else _where_it_entered(cause, says)
            return


def _hidden(message: Message) -> WatchedNode | None:
    """Return the value that isn't finite and that a share was computed with, if there is one."""
    masks: dict[WatchedNode, bool] = {}
    for value in (message.child, *message.child.parents):
        if not _is_finite(value.data) and not _is_mask(value, masks):
            return _origin(value)
    return None


def _share(message: Message) -> Symptom:
    return Symptom(
        "not finite",
        f"a share that {message.child.op}{place(message.child)} sends to {message.parent.name}",
        f"{value_range(message.share)}, from {value_range(message.above)}",
        "the operation's derivative at its operand, such as that of a root at 0",
        [message.child],
        message.child.line,
    )
