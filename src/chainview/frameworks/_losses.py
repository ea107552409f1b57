"""Losses whose gradients are right and that ask for something else than was meant."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from chainview.frameworks._class_losses import (
    are_probabilities,
    has_rows,
    is_over_another_axis,
    no_logarithm,
    over_the_batch,
    two_sigmoids,
    two_softmaxes,
)
from chainview.frameworks._losses_in_jax import losses_in_jax
from chainview.frameworks.run import WatchedNode
from chainview.frameworks.symptom import Symptom, behind_views, op_name, place
from chainview.frameworks.watched import Watched

NEGATIVE_LOG = ("nllloss", "nllloss2d")
ELEMENTWISE = ("mseloss", "smoothl1loss", "huberloss")
SIZES = ("pow", "abs", "mul", "square", "integerpow")
TOTALS = ("mean", "sum", "reducesum")
EXPANSIONS = ("expand", "broadcastindim")
NEW_AXIS = ("None", "newaxis", "expand_dims", "unsqueeze")

Children = Mapping[WatchedNode, Sequence[WatchedNode]]


def losses(watched: Watched) -> Iterator[Symptom]:
    """Yield losses that mistake what they're given: probabilities, an axis, or a shape.

    Each has two witnesses: the operations, and their values or shapes.
    """
    children: dict[WatchedNode, list[WatchedNode]] = defaultdict(list)
    for value in watched.values:
        for parent in dict.fromkeys(value.parents):
            children[parent].append(value)
    if watched.engine == "JAX":
        yield from losses_in_jax(watched)
    else:
        for value in watched.values:
            if op_name(value) in NEGATIVE_LOG:
                yield from _of_classes(value)
            elif op_name(value) == "binarycrossentropywithlogits":
                yield from _of_two_classes(value)
    crossed = (value for value in watched.values if _is_column_against_row(value))
    for value in [value for value in crossed if _is_averaged(value, children)][:1]:
        yield _broadcast(value)


def _of_classes(loss: WatchedNode) -> Iterator[Symptom]:
    """Judge log-probabilities, whose classes stand along the second axis of several rows."""
    given = loss.parents[0]
    logs = behind_views(given)
    if not has_rows(given.data):
        return
    if op_name(logs) == "softmax" and are_probabilities(given.data, 1):
        yield no_logarithm(logs, loss)
    if op_name(logs) != "logsoftmax":
        return
    before = behind_views(logs.parents[0])
    if is_over_another_axis(given.data, 1):
        yield over_the_batch(logs, loss, given.data, 1)
    elif op_name(before) == "softmax" and are_probabilities(logs.parents[0].data, 1):
        yield two_softmaxes(before, logs)


def _of_two_classes(loss: WatchedNode) -> Iterator[Symptom]:
    before = behind_views(loss.parents[0])
    if op_name(before) == "sigmoid":
        yield two_sigmoids(before, loss)


def _is_column_against_row(value: WatchedNode) -> bool:
    """Return whether one of two operands learns, n by 1 or n, and the other is n or n by 1."""
    if op_name(value) not in ("sub", *ELEMENTWISE) or len(value.parents) != 2:
        return False
    ends = [_behind_expand(parent) for parent in value.parents]
    shapes = sorted((_shape(end) for end in ends), key=len)
    if sum(end.requires_grad for end in ends) != 1 or [len(s) for s in shapes] != [1, 2]:
        return False
    (n,), column = shapes
    return n > 1 and column == (n, 1) and not _is_written_out(value)


def _is_written_out(value: WatchedNode) -> bool:
    """Return whether the reader's line adds an axis: in a jaxpr nothing else tells that apart."""
    return value.line is not None and any(word in value.line.text for word in NEW_AXIS)


def _shape(value: WatchedNode) -> tuple[int, ...]:
    return tuple(getattr(value.data, "shape", ()))


def _behind_expand(value: WatchedNode) -> WatchedNode:
    return value.parents[0] if op_name(value) in EXPANSIONS and value.parents else value


def _is_averaged(value: WatchedNode, children: Children) -> bool:
    """Return whether all entries of a difference, squared or without a sign, are added up."""
    if op_name(value) in ELEMENTWISE:
        return _shape(value) == ()
    sizes = [child for child in children[value] if op_name(child) in SIZES]
    ends = [end for size in sizes for end in children[size]]
    return any(op_name(end) in TOTALS and _shape(end) == () for end in ends)


def _broadcast(value: WatchedNode) -> Symptom:
    ends = [_behind_expand(parent) for parent in value.parents]
    one, other = (_shape(end) for end in ends)
    n = max(one)
    return Symptom(
        "broadcast loss",
        f"{value.op}{place(value)}",
        f"shapes {one} and {other} were broadcast to ({n}, {n}): each prediction is compared with "
        "each target",
        "the shapes: take the axis of 1 off the prediction, or give the target one",
        [value],
        value.line,
    )
