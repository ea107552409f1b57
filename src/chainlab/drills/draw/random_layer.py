"""A dense layer with a loss, drawn from a seed; the gradients of all are about as long."""

from dataclasses import dataclass

import numpy as np

from chainlab.drills.draw.random_graph import random_constant

ROOT, LOG = "np.sqrt(R**2 + {})", "np.log(R**2 + {})"
PRODUCT, RATIO = "R * np.tanh({} * R)", "R**2 / (R**2 + {})"
# An activation goes with the penalties whose gradient makes up for what its own takes.
PENALTIES = {
    "np.tanh({} * Z)": (PRODUCT, RATIO),
    "Z / (1 + {} * Z**2)": (ROOT, LOG),
    "np.sin({} * Z)": (RATIO,),
    "np.exp(-{} * Z**2)": (PRODUCT,),
    "1 / (1 + np.exp(-{} * Z))": (ROOT, LOG),
    "np.log(1 + np.exp({} * Z))": (PRODUCT,),
    "np.sqrt(Z**2 + {})": (RATIO,),
}
SHAPES = range(3, 8)


@dataclass(frozen=True)
class RandomLayer:
    """A dense layer, a loss that compares its output with targets, and a penalty on its weights.

    Attributes:
        n, d, m: examples, inputs and outputs.
        source: the function `layer_loss(X, W, b, T)`.
    """

    n: int
    d: int
    m: int
    source: str


def random_layer(rng: np.random.Generator) -> RandomLayer:
    """Draw a layer with shapes, an activation, a loss and three constants of its own.

    Its source needs NumPy as ``np``, and runs on nodes as on arrays.
    """
    n, d, m = (int(size) for size in rng.choice(SHAPES, 3, replace=False))
    inside, outside, decay = (random_constant(rng) for _ in range(3))
    activation = str(rng.choice(list(PENALTIES)))
    penalty = str(rng.choice(PENALTIES[activation]))
    reduced = rng.choice([f"np.sum(P) / {n}", "np.mean(P)"])
    source = f"""\
def layer_loss(X, W, b, T):
    Z = X @ W.T + b
    H = {activation.format(inside)}
    R = H - T
    P = {penalty.format(outside)}
    return {reduced} + {decay} * np.sum(W**2)"""
    return RandomLayer(n, d, m, source)
