"""Probabilities of classes as losses take them: how to see what they are, and what to say."""

from typing import Any

import numpy as np

from chainview.frameworks.run import Summary, WatchedNode
from chainview.frameworks.symptom import Symptom, op_name, place

TITLES = {"div": "softmax", "log": "log_softmax", "logistic": "sigmoid", "logaddexp": "log_sigmoid"}
CLOSE = 0.05  # also in bfloat16


def over_the_batch(logs: WatchedNode, loss: WatchedNode, data: Any, axis: int) -> Symptom:
    """Say that log-probabilities don't belong to the classes along an axis."""
    return Symptom(
        "softmax over the batch",
        f"{logs.op}{place(logs)}",
        f"the probabilities of the classes don't add up to 1: the first row's come to "
        f"{_sums(data, axis).flat[0]:.4g}",
        f"the axis of the softmax: {axis} for rows of classes",
        [logs, loss],
        logs.line,
    )


def two_softmaxes(first: WatchedNode, second: WatchedNode) -> Symptom:
    """Say that a loss takes a softmax of probabilities."""
    return Symptom(
        "two softmaxes",
        f"{_title(first)}{place(first)}, and {_title(second)} after it",
        "the loss takes the softmax of probabilities: a row of them can't come near to certain",
        "the first one: cross_entropy takes logits, without a softmax",
        [first, second],
        first.line,
    )


def two_sigmoids(first: WatchedNode, loss: WatchedNode) -> Symptom:
    """Say that a loss takes a sigmoid of a probability."""
    return Symptom(
        "two sigmoids",
        f"{_title(first)}{place(first)}, and {_title(loss)} after it",
        "the loss takes the sigmoid of a probability: what it makes of it lies between 0.5 and "
        "0.7311, so no example can come near to certain",
        "the first one: a loss of logits takes them without a sigmoid",
        [first, loss],
        first.line,
    )


def no_logarithm(softmax: WatchedNode, loss: WatchedNode) -> Symptom:
    """Say that a loss of log-probabilities is given probabilities."""
    return Symptom(
        "no logarithm",
        f"{softmax.op}{place(softmax)}, and {loss.op} after it",
        "the loss takes log-probabilities and is given probabilities: it's bounded, and an example "
        "that is wrong and certain is sent next to nothing",
        "log_softmax in place of softmax, or cross_entropy of logits",
        [softmax, loss],
        softmax.line,
    )


def _title(value: WatchedNode) -> str:
    """Name an operation of JAX by the function that it ends."""
    return TITLES.get(op_name(value), value.op)


def has_rows(x: Any) -> bool:
    """Return whether an array that was kept has two axes or more, and entries."""
    return not isinstance(x, Summary) and len(np.shape(x)) > 1 and np.size(x) > 0


def is_over_another_axis(logs: Any, axis: int) -> bool:
    """Return whether log-probabilities come to 1 along some axis, and not along this one."""
    others = [other for other in range(np.ndim(logs)) if other != axis]
    return not _are_one(_sums(logs, axis)) and any(_are_one(_sums(logs, x)) for x in others)


def are_probabilities(x: Any, axis: int) -> bool:
    """Return whether entries are at least 0 and come to 1 along an axis, in several rows."""
    return has_rows(x) and bool((np.asarray(x) >= 0).all()) and _are_one(np.asarray(x).sum(axis))


def _sums(logs: Any, axis: int) -> Any:
    return np.exp(np.asarray(logs, float)).sum(axis)


def _are_one(sums: Any) -> bool:
    return bool(abs(sums - 1).max() < CLOSE)
