"""Gradients that are 0: where they become so and why, and units that are 0 for a whole batch."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from chaingrad.messages import Message
from chainview.frameworks.run import Summary, WatchedNode, reached, summary
from chainview.frameworks.symptom import Symptom, messages, op_name, place
from chainview.frameworks.watched import Watched
from chainview.read.words import listed

FLAT = "it has slope 0 wherever it has one: its gradient can be passed straight through instead"
CLAMPED = "all its operands lie outside of its bounds"
NEGATIVE = "none of its operands is above 0: biases, and the learning rate"
SATURATED = "it's saturated: its operands are so far from 0 that its slope is 0 to the last digit"
NORMALIZED = "the rows it normalizes have equal entries, or the batch has equal rows"
REASONS = {
    **dict.fromkeys(("round", "sign", "sgn", "floor", "ceil", "trunc", "heaviside", "div"), FLAT),
    **dict.fromkeys(("clamp", "hardtanh", "clip", "clampmin", "clampmax", "max", "min"), CLAMPED),
    **dict.fromkeys(("relu", "relu6", "threshold"), NEGATIVE),
    **dict.fromkeys(("sigmoid", "tanh", "logistic", "erf"), SATURATED),
    **dict.fromkeys(("nativebatchnorm", "nativelayernorm"), NORMALIZED),
}
PRODUCTS = ("mul", "mm", "bmm", "addmm", "baddbmm", "dotgeneral", "matmul", "convolution", "mv")
SELECTIONS = ("stack", "cat", "concatenate", "select", "slice", "unbind", "index")
ADDITIONS = ("add", "sub", "expand", "broadcastindim")
NORMALIZATIONS = ("batchnorm", "layernorm", "groupnorm", "instancenorm", "rmsnorm")
RELUS = ("relu", "hardtanh", "relu6", "clampmin", "max", "maximum")
DEAD = 0.25  # the part of a layer's units that may be silent
FAR = 3.0  # standard deviations below 0 that the largest entry of a dead unit lies
FEWEST = 4  # entries that tell how far a unit's numbers spread
MANY = 64  # entries which are all 0 are no chance


def zeros(watched: Watched) -> Iterator[Symptom]:
    """Yield the operations after which leaves are sent nothing but zeros.

    None is yielded where the zero comes from a factor that learns: it's 0 by design, as the second
    matrix of a low-rank update is at its start, and won't be after one step. Nor where it comes
    from one that was drawn, as of a layer that is skipped; nor where no entries were sent, as to
    an expert to which no row was routed; nor where an addend's shares come to 0.
    """
    sent = _Sent(watched)
    by_cause: dict[WatchedNode, list[WatchedNode]] = defaultdict(list)
    for leaf in watched.leaves:
        if leaf.grad is None or not summary(leaf.grad).size:
            continue
        if sent.nonzero(leaf):  # whose sum may be 0
            continue
        causes = [message for message in sent.causes(leaf) if not sent.is_by_design(message)]
        if causes:
            by_cause[_switched_off(causes[0].child)].append(leaf)
    for cause, leaves in by_cause.items():
        names = listed([leaf.name for leaf in leaves], 6)
        zero = "0 up to rounding" if any(_is_nonzero(leaf.grad) for leaf in leaves) else "0"
        yield Symptom(
            "zero",
            f"{names}; first in {cause.op or cause.name}{place(cause)}",
            f"every entry of the gradient is {zero} from {cause.op or cause.name} on",
            _reason(cause),
            [cause, *leaves],
            cause.line,
        )


class _Sent:
    """The shares that each value was sent."""

    def __init__(self, watched: Watched) -> None:
        self._to: dict[WatchedNode, list[Message]] = defaultdict(list)
        self._from: dict[WatchedNode, list[Message]] = defaultdict(list)
        for message in messages(watched):
            self._to[message.parent].append(message)
            self._from[message.child].append(message)

    def nonzero(self, value: WatchedNode) -> bool:
        """Return whether any share that a value was sent has an entry that isn't 0."""
        return any(
            _is_nonzero(message.share) and not _is_residue(message) for message in self._to[value]
        )

    def causes(self, leaf: WatchedNode) -> list[Message]:
        """Return the shares, all 0, that are the first to be so on the way to a leaf.

        What computes comes before what selects, which is 0 where nothing was read.
        """
        found: list[Message] = []
        seen, todo = {leaf}, [leaf]
        while todo:
            for message in self._to[todo.pop()]:
                if _is_nonzero(message.above) or not self._to[message.child]:
                    found.append(message)
                elif message.child not in seen:
                    seen.add(message.child)
                    todo.append(message.child)
        return sorted(found, key=lambda m: (op_name(m.child) in SELECTIONS, -m.child.ran))

    def is_by_design(self, message: Message) -> bool:
        """Return whether a share is empty, a sum that is 0, or has a factor of 0 that's meant."""
        is_empty = message.share is not None and not summary(message.share).size
        if is_empty or _is_addend(message):
            return True
        others = [p for i, p in _factors(message.child) if i != message.position]
        zero = [other for other in others if not _is_nonzero(other.data)]
        return any(_is_drawn(other) or self._learns(other) for other in zero)

    def _learns(self, value: WatchedNode) -> bool:
        """Return whether shares that aren't 0 lead from a value on to a leaf."""
        on = reached(
            value, lambda each: [m.parent for m in self._from[each] if _is_nonzero(m.share)]
        )
        return any(not x.parents and x.requires_grad and self.nonzero(x) for x in on)


def _is_drawn(value: WatchedNode) -> bool:
    """Return whether a factor without a gradient comes of random numbers."""
    while value.parents and not value.requires_grad:
        if any(word in op_name(value) for word in ("bernoulli", "rand", "dropout")):
            return True
        value = value.parents[0]
    return False


def _factors(value: WatchedNode) -> list[tuple[int, WatchedNode]]:
    """Return the operands that an operation multiplies, with their positions: no addends."""
    name, operands = op_name(value), list(enumerate(value.parents))
    if name in ("addmm", "baddbmm"):
        return operands[1:]
    if name == "convolution" or any(norm in name for norm in NORMALIZATIONS):
        return operands[:2]
    return operands if name in PRODUCTS else []


def _is_addend(message: Message) -> bool:
    """Return whether a share is what arrives, or a sum of it over the entries of a broadcast."""
    name = op_name(message.child)
    return name in ADDITIONS or (name in ("addmm", "baddbmm") and not message.position)


def _is_nonzero(x: Any) -> bool:
    return x is not None and bool(summary(x).largest)


def _is_residue(message: Message) -> bool:
    """Return whether rounding alone makes the share of a gain: what it multiplies is 0.

    That is so where a normalization is over equal entries. Whether the difference of each from
    their mean is 0 or its last digit depends on the order in which they were added up.
    """
    name, operands = op_name(message.child), message.child.parents
    if not name.startswith(("nativebatchnorm", "nativelayernorm")) or message.position != 1:
        return False
    if summary(message.share).largest > 1e-3 * summary(message.above).largest:
        return False  # normalized by statistics of another batch, say
    x, gain = operands[0].data, operands[1].data
    if not isinstance(x, np.ndarray) or x.dtype.kind != "f":
        return False
    layer = tuple(range(x.ndim - len(summary(gain).shape), x.ndim))
    spread = np.ptp(x.astype(float), axis=layer if "layer" in name else (0, *range(2, x.ndim)))
    return bool((spread <= 4 * np.finfo(x.dtype).eps * summary(x).largest).all())


def _switched_off(cause: WatchedNode) -> WatchedNode:
    """Return, for a product with a factor that is 0, the activation that made it 0, if one did.

    What it was given isn't 0: a ReLU of zeros is no cause.
    """
    for operand in _zero_operands(cause):
        while len(operand.parents) == 1 and op_name(operand) not in REASONS:
            (operand,) = operand.parents
        if op_name(operand) in REASONS and any(_is_nonzero(p.data) for p in operand.parents):
            return operand
    return cause


def _reason(cause: WatchedNode) -> str:
    if "softmax" in op_name(cause) and _is_one(cause.data):
        return "it's over a single entry, so that its result is a constant, whatever it's given"
    for name, reason in REASONS.items():
        if op_name(cause) == name or (len(name) > 4 and op_name(cause).startswith(name)):
            return reason
    if op_name(cause) in PRODUCTS:
        zero = [p.name for p in _zero_operands(cause)]
        if zero:
            return f"a factor that is 0: {listed(zero, 3)}"
    return "its derivative is 0 at its operands, or their shares are too small to be told from 0"


def _zero_operands(cause: WatchedNode) -> Sequence[WatchedNode]:
    return [p for _, p in _factors(cause) if p.data is not None and not _is_nonzero(p.data)]


def _is_one(x: Any) -> bool:
    if x is None or isinstance(x, Summary):
        return False
    return bool(np.isin(x, (0.0, 1.0)).all()) and any(size == 1 for size in np.shape(x))


# --- units that no example of the batch comes near to switching on -------------------------------


def dead_units(watched: Watched) -> Iterator[Symptom]:
    """Yield layers of which a part of the units is silent, in each call of the layer."""
    layers: dict[Any, list[WatchedNode]] = defaultdict(list)
    for value in filter(_is_relu, watched.values):
        layers[(value.op, value.call.path) if value.call.turns > 1 else value].append(value)
    for key, values in layers.items():
        found = _silent(values)
        if found is not None and found.sum() > DEAD * found.size:
            call = values[0].call
            many = f"{values[0].op} in {call.path or call.kind}"
            yield Symptom(
                "dead units",
                values[0].name if key is values[0] else many,
                f"{int(found.sum())} of {found.size} units are 0 for the whole batch",
                "biases far below 0, a learning rate that was too large",
                values,
                values[0].line,
            )


def _is_relu(value: WatchedNode) -> bool:
    if op_name(value) not in RELUS or not value.requires_grad:
        return False
    is_array = not isinstance(value.data, Summary | None) and np.ndim(value.data) > 1
    if op_name(value) in ("max", "maximum"):
        is_array &= any(np.size(p.data) == 1 and not np.any(p.data) for p in value.parents)
    return bool(is_array)


def _silent(values: Sequence[WatchedNode]) -> Any:
    """Return which units are silent in all calls, or None if their shapes differ."""
    before = [next(p.data for p in value.parents if p.requires_grad) for value in values]
    if len({np.shape(x) for x in before}) > 1 or any(isinstance(x, Summary) for x in before):
        return None
    axis = _axis(values[0])
    rows = [np.moveaxis(np.asarray(x), axis, 0).reshape(np.shape(x)[axis], -1) for x in before]
    entries = np.concatenate(rows, axis=1)
    if not entries.size:
        return None
    largest, spread = entries.max(axis=1), entries.std(axis=1)
    usual = np.maximum(spread, np.median(spread))
    is_far = (largest < -FAR * usual) & (entries.shape[1] >= FEWEST)
    return (largest < 0) & (is_far | (entries.shape[1] >= MANY))


def _axis(value: WatchedNode) -> int:
    """Return the axis of units: the channels after a convolution, else the last."""
    ndim = np.ndim(value.data)
    if ndim > 3:
        return 1
    node: WatchedNode | None = value
    for _ in range(4):  # there may be a normalization between
        if node is not None and "conv" in op_name(node):
            return ndim - 2
        node = next((p for p in node.parents if p.parents), None) if node is not None else None
    return ndim - 1
