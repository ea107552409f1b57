"""Peak memory of the array step against the ledger's own prediction."""

import gc
import tracemalloc
from typing import Any

import numpy as np

from benchmarks.steps import DECAY
from chaingrad import Node
from chaingrad.account import Ledger

SIZE = (784, 1024, 10, 512)
BOUND = 1.1


def peaks() -> dict[str, Any]:
    d, h, q, n = SIZE
    random = np.random.default_rng(0)
    W1, W2, X, Y = (
        Node(random.standard_normal(shape, dtype=np.float32), requires_grad=grad)
        for shape, grad in (((h, d), True), ((q, h), True), ((n, d), False), ((n, q), False))
    )

    def objective() -> Node:
        error = (X @ W1.T).relu() @ W2.T - Y
        return (error**2).sum() / (2 * n) + DECAY / 2 * ((W1**2).sum() + (W2**2).sum())

    predicted = Ledger(objective()).training_peak()
    gc.collect()
    tracemalloc.start()
    objective().backward()
    measured = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return {
        "work": f"peak memory of step {SIZE}",
        "peer": "ledger",
        "ratio": measured / predicted,
        "quartiles": [measured / predicted] * 2,
        "bound": BOUND,
        "bytes": measured,
        "predicted_bytes": predicted,
    }
