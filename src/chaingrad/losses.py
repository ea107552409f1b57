"""Losses: scalar nodes that say how far predictions are from their targets.

Each is a mean over all entries or examples, so that its size does not depend on how many there are.
"""

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from chaingrad import rules
from chaingrad._arguments import as_node, at_least_zero, node_list
from chaingrad._repeated import uniform_entry
from chaingrad._wording import describe
from chaingrad.node import Node
from chaingrad.rules import Rule, Value


def mse_loss(prediction: Any, target: Any) -> Node:
    """Compute the mean squared error, mean((prediction - target)²).

    Args:
        prediction: a node (or an array) of any shape.
        target: a number, an array or a node of the same shape.

    Raises:
        ValueError: the shapes differ. Broadcasting (n, 1) against (n,) would give n² differences.

    >>> mse_loss(Node(np.array([1.0, 2.0])), np.array([1.0, 4.0])).data
    2.0
    """
    node = as_node(prediction)
    target_shape = np.shape(rules.value(target))
    if node.shape != target_shape:
        raise ValueError(
            f"mse_loss: prediction {node.shape} and target {target_shape} must have one shape, or "
            "broadcasting would compare entries that do not belong together; reshape one of them"
        )
    difference: Node = node - target
    return (difference * difference).mean()


def log_softmax(logits: Any, axis: int = -1) -> Node:
    """Compute the logarithm of `softmax`, log p = z - log Σ exp(z), without overflow.

    The largest entry is taken off first :cite:`blanchard2021`. It is a constant for the derivative,
    which may be left out because the result does not depend on it.

    Args:
        logits: a node or an array.
        axis: along which the probabilities sum to 1.

    >>> log_softmax(np.array([1000.0, 1000.0])).data
    array([-0.69314718, -0.69314718])
    """
    node = as_node(logits)
    if node.ndim == 0:
        raise ValueError("softmax needs scores along an axis; got a single number")
    shifted: Node = node - np.max(node.data, axis=axis, keepdims=True)
    return shifted - shifted.logsumexp(axis=axis, keepdims=True)


def softmax(logits: Any, axis: int = -1) -> Node:
    """Compute p = exp(z) / Σ exp(z) along ``axis``, without overflow; see `log_softmax`.

    >>> softmax(np.array([0.0, 0.0, -np.inf])).data
    array([0.5, 0.5, 0. ])
    """
    return log_softmax(logits, axis).exp()


def cross_entropy(logits: Any, labels: Any) -> Node:
    """Compute the mean of -log p[label] over the examples, where p is the softmax of each row.

    Args:
        logits: a node (or an array) of shape (n, c): a score for each example and class.
        labels: n integers, the class of each example, from 0 to c - 1.

    Raises:
        ValueError: logits that are not (n, c), labels that are not (n,), or a label out of range.
        TypeError: labels that are not integers.

    >>> cross_entropy(np.array([[0.0, 0.0], [5.0, 5.0]]), [0, 1]).data
    0.6931471805599453
    """
    node = as_node(logits)
    labels = _checked_labels(labels, node.shape)
    return node.apply(_CROSS_ENTROPY, (node,), {"labels": labels.copy()})


def binary_cross_entropy_with_logits(logits: Any, labels: Any) -> Node:
    """Compute the mean of -y log p - (1 - y) log(1 - p), with p the logistic function of logits.

    Finite for logits of any size, as log(1 + exp(-z)) + (1 - y) z.

    Args:
        logits: a node (or an array) of any shape.
        labels: numbers from 0 to 1, of the same shape.

    Raises:
        ValueError: the shapes differ, or a label is not from 0 to 1.
        TypeError: the labels are a node that requires a gradient.

    >>> binary_cross_entropy_with_logits(np.array([0.0, 1e4, -1e4]), [1, 1, 0]).data
    0.23104906018664842
    """
    node = as_node(logits)
    if isinstance(labels, Node) and labels.requires_grad:
        raise TypeError(
            "binary_cross_entropy_with_logits: no gradient flows to the labels, here "
            f"{describe(labels)}; give labels.detach()"
        )
    target = rules.cast(rules.value(labels), dtype=node.dtype)
    if target.shape != node.shape:
        raise ValueError(
            f"binary_cross_entropy_with_logits: logits {node.shape} and labels {target.shape} must "
            "have one shape"
        )
    within, message = (target >= 0) & (target <= 1), "labels must be from 0 to 1"
    if rules.is_symbol(within):
        within.demand(f"binary_cross_entropy_with_logits: {message}")
    elif not np.all(within):
        raise ValueError(f"binary_cross_entropy_with_logits: {message}")
    return node.apply(_BINARY_CROSS_ENTROPY, (node,), {"labels": target.copy()})


def l2_penalty(parameters: Iterable[Node], weight_decay: float) -> Node:
    """Compute the penalty λ/2 Σ‖W‖², whose gradient with respect to each W is λW.

    Args:
        parameters: nodes; pass the weights alone if the biases are to go free.
        weight_decay: λ.

    Raises:
        ValueError: there are no parameters, or λ is negative.
        TypeError: a parameter is not a node.

    >>> l2_penalty([Node(3.0), Node(np.array([1.0, 2.0]))], 0.5).data
    3.5
    """
    squares = [W.squared_norm() for W in node_list(parameters)]
    return sum(squares[1:], squares[0]) * (0.5 * at_least_zero("weight_decay", weight_decay))


# --- parts --------------------------------------------------------------------------------------


def _checked_labels(labels: Any, shape: tuple[int, ...]) -> Any:
    if len(shape) != 2:
        raise ValueError(f"cross_entropy: logits must have a shape (n, c); got {shape}")
    labels = rules.value(labels)
    labels = labels if rules.is_symbol(labels) else np.asarray(labels)
    if labels.shape != shape[:1]:
        raise ValueError(
            f"cross_entropy: logits {shape} need labels of shape {shape[:1]}, one class for each "
            f"row; got {labels.shape}"
        )
    if labels.dtype.kind not in "iu":
        raise TypeError(f"cross_entropy: labels must be integers; got dtype {labels.dtype}")
    if rules.is_symbol(labels):
        within = (labels >= 0) & (labels < shape[1])
        within.demand(f"cross_entropy: labels must be from 0 to {shape[1] - 1}")
        return labels
    wrong = np.flatnonzero((labels < 0) | (labels >= shape[1]))
    if wrong.size:
        raise ValueError(
            f"cross_entropy: labels must be from 0 to {shape[1] - 1}; labels[{wrong[0]}] is "
            f"{labels[wrong[0]]}"
        )
    return labels


# --- rules -------------------------------------------------------------------------------------


class _SavingRule(Rule):
    """A rule whose forward pass saves arrays for the backward pass of the node that it makes.

    Attributes:
        saved: these arrays. They are those of one node, so it is the rule bound for that node that
            has them; its VJP uses them up.
    """

    __slots__ = ("saved",)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.saved: list[Any] = []

    def bind(self, options: dict[str, Any]) -> Rule:
        """Fix the options, and let both passes share what is saved."""
        bound: Any = super().bind(options)
        bound.compute = partial(bound.compute, saved=bound.saved)
        bound.vjps = tuple(vjp and partial(vjp, saved=bound.saved) for vjp in bound.vjps)
        return bound  # type: ignore[no-any-return]


def _cross_entropy(a: Any, labels: Any, saved: list[Any] | None = None) -> Any:
    shifted = a - a.max(axis=1, keepdims=True)  # no exponential overflows
    picked = rules.pick(shifted, (np.arange(len(labels)), labels))
    powers = np.exp(shifted) if rules.is_symbol(shifted) else np.exp(shifted, out=shifted)
    total = powers.sum(axis=1, keepdims=True)
    if saved is not None and not isinstance(a, rules.Traced):
        saved[:] = [(powers, total)]  # so that the backward pass takes no exponential again
    return np.mean(np.log(total[:, 0]) - picked)


def _cross_entropy_vjp(g: Value, out: Value, a: Value, labels: Any, saved: Any = None) -> Value:
    # (softmax(a) - 1 at the label) / n
    n = len(labels)
    rows = np.arange(n)
    if isinstance(a, rules.Traced) or isinstance(g, rules.Traced) or rules.is_symbol(labels):
        powers = rules.exp(a - rules.value(a).max(axis=1, keepdims=True, initial=-np.inf))
        softmax = powers / rules.sum_(powers, axis=1, keepdims=True)
        return rules.shared(g, n) * (softmax - (labels[:, None] == np.arange(rules.shape_of(a)[1])))
    try:
        share, total = saved.pop()  # of the first pass, which writes its share over them
    except (AttributeError, IndexError):
        again: list[Any] = []
        _cross_entropy(a, labels, again)
        share, total = again.pop()
    scale = rules.shared(uniform_entry(g), n)
    share *= (scale / total).astype(share.dtype, copy=False)
    share[rows, labels] -= scale
    return share


_CROSS_ENTROPY: Rule = rules.register(
    _SavingRule("cross_entropy", _cross_entropy, (_cross_entropy_vjp,))
)


def _binary_cross_entropy(a: Any, labels: Any) -> Any:
    # -y log p - (1 - y) log(1 - p) = log(1 + exp(-a)) + (1 - y) a
    return np.mean(np.maximum(-a, 0) + np.log1p(np.exp(-np.abs(a))) + (1.0 - labels) * a)


_BINARY_CROSS_ENTROPY: Rule = rules.rule(
    "binary_cross_entropy",
    _binary_cross_entropy,
    lambda g, out, a, labels: (
        rules.shared(g, max(np.size(labels), 1)) * (rules.sigmoid(a) - labels)
    ),
)
