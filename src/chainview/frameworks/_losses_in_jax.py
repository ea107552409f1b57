"""Losses of classes in JAX, which has no operation for them: they're read off its primitives."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from chainview.frameworks._class_losses import (
    are_probabilities,
    has_rows,
    is_over_another_axis,
    over_the_batch,
    two_sigmoids,
    two_softmaxes,
)
from chainview.frameworks.run import Summary, WatchedNode
from chainview.frameworks.symptom import Symptom, behind_views, op_name
from chainview.frameworks.watched import Watched

LAYERS = ("dotgeneral", "convgeneraldilated")  # where they come after, it isn't the loss


def losses_in_jax(watched: Watched) -> Iterator[Symptom]:
    """Yield losses of two softmaxes or sigmoids, and log-probabilities over another axis."""
    judged: set[WatchedNode] = set()
    for value in _after_the_last_layer(watched):
        before = _softmax_below(value) or _sigmoid_below(value)
        if before and before not in judged:
            judged.add(before)
            says = two_sigmoids if op_name(before) == "logistic" else two_softmaxes
            yield says(before, value)
        logs, axis = _read_by_class(value)
        if not logs or axis is None or logs in judged:
            continue
        if is_over_another_axis(logs.data, axis):
            judged.add(logs)
            yield over_the_batch(logs, value, logs.data, axis)


def _after_the_last_layer(watched: Watched) -> Iterator[WatchedNode]:
    """Yield the values from which no product of matrices leads on to the loss."""
    inside: set[WatchedNode] = set()
    for value in reversed(watched.values):  # children before parents
        if value in inside or op_name(value) in LAYERS:
            inside.update(value.parents)
    return (value for value in watched.values if value not in inside and value.requires_grad)


def _softmax_below(value: WatchedNode) -> WatchedNode | None:
    """Return the softmax whose result's exponentials are added up under a logarithm."""
    terms = _terms(value) if op_name(value) == "log" else None
    before = _unshifted(terms) if terms else None
    return before if before and _is_softmax(before) else None


def _terms(log: WatchedNode) -> WatchedNode | None:
    """Return u of log(sum(exp(u)))."""
    total = behind_views(log.parents[0])
    while op_name(total) == "abs":
        total = behind_views(total.parents[0])
    if op_name(total) != "reducesum" or op_name(total.parents[0]) != "exp":
        return None
    return total.parents[0].parents[0]


def _unshifted(value: WatchedNode) -> WatchedNode:
    """Return what a maximum, which takes no gradient, was subtracted from."""
    while op_name(value) == "sub" and not behind_views(value.parents[1]).requires_grad:
        value = value.parents[0]
    return behind_views(value)


def _is_softmax(value: WatchedNode) -> bool:
    """Return whether a value is exp(z) divided by its sum over one axis."""
    if op_name(value) != "div" or op_name(value.parents[0]) != "exp":
        return False
    total = behind_views(value.parents[1])
    if op_name(total) != "reducesum" or total.parents[0] is not value.parents[0]:
        return False
    axes = range(np.ndim(value.data)) if has_rows(value.data) else ()
    return any(are_probabilities(value.data, axis) for axis in axes)


def _sigmoid_below(value: WatchedNode) -> WatchedNode | None:
    """Return the sigmoid under log(1 + exp(±z)), which JAX computes as log(exp(±z) + exp(0))."""
    if op_name(value) != "logaddexp":
        return None
    operand, other = value.parents
    while op_name(operand) == "neg":
        operand = behind_views(operand.parents[0])
    is_zero = not isinstance(other.data, Summary) and not np.any(other.data)
    return operand if is_zero and op_name(operand) == "logistic" else None


def _read_by_class(value: WatchedNode) -> tuple[WatchedNode | None, int | None]:
    """Return log-probabilities in rows that a value reads one class of, and the classes' axis."""
    if op_name(value) == "gather":
        return _logs(value.parents[0]), _gathered_axis(value)
    if op_name(value) == "mul":
        for one, other in (value.parents, value.parents[::-1]):
            if not other.requires_grad and _logs(one):
                return _logs(one), _axis_of_one_hot(other.data)
    return None, None


def _logs(value: WatchedNode) -> WatchedNode | None:
    """Return a value if it is u - log(sum(exp(u))), in rows."""
    value = behind_views(value)
    if op_name(value) != "sub" or np.ndim(value.data) != 2 or not has_rows(value.data):
        return None
    log = behind_views(value.parents[1])
    is_of_it = op_name(log) == "log" and _terms(log) is value.parents[0]
    return value if is_of_it else None


def _gathered_axis(gather: WatchedNode) -> int | None:
    """Return the axis along which a gather takes one entry of each row, if that can be seen."""
    logs, places = gather.parents[:2]
    shape, taken = np.shape(logs.data), np.shape(gather.data)
    if len(shape) != 2 or isinstance(places.data, Summary) or shape[0] == shape[1]:
        return _indexed_axis(places.data, shape)
    if taken in ((shape[0],), (shape[0], 1)):
        return 1
    return 0 if taken in ((shape[1],), (1, shape[1])) else None


def _indexed_axis(places: Any, shape: tuple[int, ...]) -> int | None:
    """Return the axis beside the one whose indices count up, of pairs of indices."""
    if isinstance(places, Summary) or np.shape(places) != (shape[0], 2):
        return None
    counts = [np.array_equal(places[:, k], np.arange(shape[0])) for k in (0, 1)]
    return counts.index(True) ^ 1 if sum(counts) == 1 else None


def _axis_of_one_hot(x: Any) -> int | None:
    """Return the one axis along which each row has a single 1 among zeros, if there is one."""
    if not has_rows(x) or np.ndim(x) != 2 or not np.isin(x, (0, 1)).all():
        return None
    axes = [axis for axis in (0, 1) if (np.asarray(x).sum(axis) == 1).all()]
    return axes[0] if len(axes) == 1 else None
