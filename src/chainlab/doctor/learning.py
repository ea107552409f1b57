"""Milestone 6: a net that learns the two moons, then the digits, by the reader's own engine.

``train(x, labels, weights, rate, steps)`` is to come with the engine, in its file. It makes leaves
of the weights, ``[W1, b1, W2, b2]``, and takes steps of gradient descent on the mean cross-entropy
of the net relu(x W1 + b1) W2 + b2, each on all of x. It returns the losses, one before each step,
and the weights after the last. Nothing in it is drawn by chance, so that every number is known.
"""

import functools
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chaingrad import losses
from chaingrad.data import digits, moons
from chaingrad.node import Node
from chainlab.doctor.probe import NotThereError, Observation, Probes

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Task:
    """What a net is to learn: inputs (n, d), labels (n,), its weights at first, rate and steps."""

    x: FloatArray
    labels: NDArray[np.int64]
    weights: list[FloatArray]
    rate: float
    steps: int

    def arguments(self) -> tuple[Any, ...]:
        """Return the arguments of ``train``, as copies."""
        weights = [w.copy() for w in self.weights]
        return self.x.copy(), self.labels.copy(), weights, self.rate, self.steps


def task(name: str, seed: int = 0) -> Task:
    """Return the task with this name: "moons", the two moons, or "digits"."""
    rng = np.random.default_rng(seed)
    if name == "moons":
        x, labels = moons(200, rng)
        return Task(x, labels, _weights(rng, 2, 16, 2), rate=0.5, steps=60)
    pixels, labels = digits()
    return Task(pixels[:600], labels[:600], _weights(rng, 64, 32, 10), rate=0.5, steps=30)


def _weights(rng: np.random.Generator, *sizes: int) -> list[FloatArray]:
    found: list[FloatArray] = []
    for m, n in itertools.pairwise(sizes):
        found += [rng.normal(size=(m, n)) * np.sqrt(2 / m), np.zeros(n)]
    return found


def train(
    x: FloatArray, labels: NDArray[np.int64], weights: list[FloatArray], rate: float, steps: int
) -> tuple[list[float], list[FloatArray]]:
    """Train the net with this package's engine; return the right losses and weights."""
    W1, b1, W2, b2 = (Node(w) for w in weights)
    found = []
    for _ in range(steps):
        loss = losses.cross_entropy((Node(x) @ W1 + b1).relu() @ W2 + b2, labels)
        for leaf in (W1, b1, W2, b2):
            leaf.grad = None
        loss.backward()
        found.append(float(loss.data))
        for leaf in (W1, b1, W2, b2):
            leaf.data = leaf.data - rate * leaf.grad
    return found, [np.asarray(leaf.data) for leaf in (W1, b1, W2, b2)]


@functools.cache
def _right(name: str) -> tuple[list[float], list[FloatArray]]:
    return train(*task(name).arguments())


def _learns(engine: Any, name: str) -> Iterator[Observation]:
    if engine.train is None:
        raise NotThereError("no function train(x, labels, weights, rate, steps) beside the engine")
    right, right_weights = _right(name)
    found, weights = engine.train(*task(name).arguments())
    yield "the number of losses", len(found), len(right)
    for k in (0, 1, len(right) - 1):
        yield f"loss {k + 1}", found[k], right[k]
    for which, w, wanted in zip(("W1", "b1", "W2", "b2"), weights, right_weights, strict=True):
        yield f"{which} after the last step", getattr(w, "data", w), wanted


_LOOK = (
    "train: the loss is a mean, the gradients are cleared before each pass, every step subtracts "
    "rate times the gradient from the data, and losses are taken before the steps"
)
LEARNING = Probes()
LEARNING.milestone = 6
for _name, _needs in (("moons", ()), ("digits", ("train on the moons",))):
    LEARNING.program(
        f"train on the {_name}", "the net does not learn as it should", _LOOK,
        functools.partial(_learns, name=_name), *_needs, required=True,
        right=functools.partial(lambda name: f"a last loss of {_right(name)[0][-1]:.6g}", _name)
    )  # fmt: skip
