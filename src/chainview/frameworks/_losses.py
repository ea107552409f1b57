"""Losses of PyTorch whose gradients are right and that ask for something else than was meant."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from chainview.frameworks.run import Summary, WatchedNode
from chainview.frameworks.symptom import Symptom, op_name, place
from chainview.frameworks.watched import Watched

VIEWS = ("view", "reshape", "unsafeview", "t", "transpose", "permute", "squeeze", "unsqueeze",
         "clone", "tocopy", "alias")  # fmt: skip
NEGATIVE_LOG = ("nllloss", "nllloss2d")
ELEMENTWISE = ("mseloss", "smoothl1loss", "huberloss")
SIZES = ("pow", "abs", "mul", "square")
CLOSE = 0.05  # also in bfloat16

Children = Mapping[WatchedNode, Sequence[WatchedNode]]


def losses(watched: Watched) -> Iterator[Symptom]:
    """Yield losses of two softmaxes, over the batch, and of a column against a row.

    Each has two witnesses: the operations, and their values or shapes.
    """
    children: dict[WatchedNode, list[WatchedNode]] = defaultdict(list)
    for value in watched.values:
        for parent in dict.fromkeys(value.parents):
            children[parent].append(value)
        if op_name(value) in NEGATIVE_LOG:
            yield from _of_classes(value)
    crossed = (value for value in watched.values if _is_column_against_row(value))
    for value in [value for value in crossed if _is_averaged(value, children)][:1]:
        yield _broadcast(value)


def _of_classes(loss: WatchedNode) -> Iterator[Symptom]:
    """Judge log-probabilities, whose classes stand along the second axis of several rows."""
    logs = _behind_views(loss.parents[0])
    if op_name(logs) != "logsoftmax" or not _has_rows(loss.parents[0].data):
        return
    before = _behind_views(logs.parents[0])
    first, *others = (_sums(loss.parents[0].data, axis) for axis in _axes(loss.parents[0].data))
    if not _are_one(first) and any(map(_are_one, others)):
        yield Symptom(
            "softmax over the batch",
            f"{logs.op}{place(logs)}",
            f"the probabilities of the classes don't add up to 1: the first row's come to "
            f"{first.flat[0]:.4g}",
            "the axis of the softmax: dim=1 for rows of classes",
            [logs, loss],
            logs.line,
        )
    elif op_name(before) == "softmax" and _are_probabilities(logs.parents[0].data):
        yield Symptom(
            "two softmaxes",
            f"{before.op}{place(before)}, and {logs.op} after it",
            "the loss takes the softmax of probabilities: a row of them can't come near to certain",
            "the first one: cross_entropy takes logits, without a softmax",
            [before, logs],
            before.line,
        )


def _behind_views(value: WatchedNode) -> WatchedNode:
    while op_name(value) in VIEWS and value.parents:
        value = value.parents[0]
    return value


def _has_rows(x: Any) -> bool:
    return not isinstance(x, Summary) and len(np.shape(x)) > 1 and np.size(x) > 0


def _axes(x: Any) -> list[int]:
    """Return the axis of the classes, the second one, before the others."""
    return [1, *(axis for axis in range(np.ndim(x)) if axis != 1)]


def _sums(logs: Any, axis: int) -> Any:
    return np.exp(np.asarray(logs, float)).sum(axis)


def _are_one(sums: Any) -> bool:
    return bool(abs(sums - 1).max() < CLOSE)


def _are_probabilities(x: Any) -> bool:
    """Return whether entries are at least 0 and come to 1 along the classes."""
    return _has_rows(x) and bool((np.asarray(x) >= 0).all()) and _are_one(np.asarray(x).sum(1))


def _is_column_against_row(value: WatchedNode) -> bool:
    """Return whether one of two operands learns, n by 1 or n, and the other is n or n by 1."""
    if op_name(value) not in ("sub", *ELEMENTWISE) or len(value.parents) != 2:
        return False
    ends = [_behind_expand(parent) for parent in value.parents]
    shapes = sorted((_shape(end) for end in ends), key=len)
    if sum(end.requires_grad for end in ends) != 1 or [len(s) for s in shapes] != [1, 2]:
        return False
    (n,), column = shapes
    return n > 1 and column == (n, 1)


def _shape(value: WatchedNode) -> tuple[int, ...]:
    return tuple(getattr(value.data, "shape", ()))


def _behind_expand(value: WatchedNode) -> WatchedNode:
    return value.parents[0] if op_name(value) == "expand" and value.parents else value


def _is_averaged(value: WatchedNode, children: Children) -> bool:
    """Return whether all entries of a difference, squared or without a sign, are added up."""
    if op_name(value) in ELEMENTWISE:
        return _shape(value) == ()
    sizes = [child for child in children[value] if op_name(child) in SIZES]
    ends = [end for size in sizes for end in children[size]]
    return any(op_name(end) in ("mean", "sum") and _shape(end) == () for end in ends)


def _broadcast(value: WatchedNode) -> Symptom:
    ends = [_behind_expand(parent) for parent in value.parents]
    one, other = (_shape(end) for end in ends)
    n = max(one)
    return Symptom(
        "broadcast loss",
        f"{value.op}{place(value)}",
        f"shapes {one} and {other} were broadcast to ({n}, {n}): each prediction is compared with "
        "each target",
        "the shapes: squeeze(1) the prediction, or unsqueeze(1) the target",
        [value],
        value.line,
    )
