"""Smaller works beside PyTorch eager, the same expression on both sides; and ours beside our own.

Each takes value and gradients; values and gradients are compared before they are timed.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from benchmarks.measure import Contender
from chaingrad import Node, grad, losses, nn, no_grad

Work = tuple[str, float, dict[str, Contender]]


def _pair(name: str, bound: float, arrays: list[Any], ours: Any, theirs: Any = None) -> Work:
    """Make the work of one expression on nodes and on tensors, or of one expression for each."""
    nodes = [Node(a) for a in arrays]
    tensors: list[Any] = [torch.tensor(a, requires_grad=True) for a in arrays]

    def by_us(_: Any) -> Any:
        for node in nodes:
            node.grad = 0.0
        loss = ours(*nodes)
        loss.backward()
        return loss.data

    def by_torch(_: Any) -> Any:
        for tensor in tensors:
            tensor.grad = None
        loss = (theirs or ours)(*tensors)
        loss.backward()
        return loss

    np.testing.assert_allclose(by_us(None), by_torch(None).detach(), rtol=1e-3)
    for node, tensor in zip(nodes, tensors, strict=True):
        np.testing.assert_allclose(node.grad, tensor.grad, rtol=1e-3, atol=1e-5)
    return name, bound, {"chaingrad": Contender(by_us), "pytorch": Contender(by_torch)}


def works() -> Iterator[Work]:
    """Yield the name, the bound and the contenders of each work."""
    torch.set_num_threads(1)
    random = np.random.default_rng(0)

    def array(*shape: int) -> Any:
        return random.standard_normal(shape, dtype=np.float32)

    X, y = array(32, 64), (array(32) > 0).astype(np.float32)
    tX, ty = torch.tensor(X), torch.tensor(y)
    weights = [array(64, 64) / 8 for _ in range(5)]

    def layers(x: Any, ws: Any) -> Any:
        for w in ws:
            x = (x @ w).tanh()
        return x.sum()

    yield _pair("5 tanh layers 32 × 64", 0.55, weights,
                lambda *ws: layers(X, ws), lambda *ws: layers(tX, ws))  # fmt: skip
    yield _pair("logistic regression 32 × 64", 0.6, [array(64)],
                lambda w: losses.binary_cross_entropy_with_logits(X @ w, y),
                lambda w: binary_cross_entropy_with_logits(tX @ w, ty))  # fmt: skip
    labels = random.integers(0, 1000, 256)
    t_labels = torch.tensor(labels)
    yield _pair("cross-entropy 256 × 1000, fused", 1.3, [array(256, 1000)],
                lambda z: losses.cross_entropy(z, labels),
                lambda z: cross_entropy(z, t_labels))  # fmt: skip

    def chain(x: Any) -> Any:
        for _ in range(25):
            x = (x * 0.9).tanh()
        return x.sum()

    for size, bound in ((1, 0.1), (10**3, 0.5), (10**5, 1.3)):
        start: Any = array(size) if size > 1 else float(array())
        entries = f"{size:,} entries" if size > 1 else "1 number"
        yield _pair(f"chain of 50 on {entries}", bound, [start], chain)
    yield _pair("(w**3).sum(), 300 × 300", 1.3, [array(300, 300)], lambda w: (w**3).sum())
    yield _pair("sigmoid, 300 × 300", 1.3, [array(300, 300)], lambda w: w.sigmoid().sum())
    rows = random.choice(1000, 500, replace=False)
    t_rows = torch.tensor(rows)
    yield _pair("gather of 500 rows of 1000 × 300", 1.3, [array(1000, 300)],
                lambda w: w[rows].sum(), lambda w: w[t_rows].sum())  # fmt: skip


def our_own() -> Iterator[tuple[str, str, float | None, dict[str, Contender]]]:
    """Yield each comparison within the engine: work, other contender, bound and contenders."""
    net = nn.MLP(16, [16, 16, 1], activation="relu", rng=0)
    x = [Node(v) for v in np.random.default_rng(1).uniform(-1, 1, 16).tolist()]

    def value(_: Any) -> Any:
        with no_grad():
            return net(x)

    pair = {"chaingrad": Contender(value), "recording": Contender(lambda _: net(x))}
    yield "value under no_grad, MLP(16, [16, 16, 1])", "recording", 1.0, pair
    numbers = np.random.default_rng(2).uniform(-1, 1, 200).tolist()

    def polynomial(*points: Any) -> Any:
        total = points[0]
        for point in points[1:]:
            total = total * 0.9 + point * point
        return total

    gradient = grad(polynomial, argnums=range(200))
    pair = {
        "chaingrad": Contender(lambda _: gradient(*numbers)),
        "backward": Contender(lambda _: polynomial(*map(Node, numbers)).backward()),
    }
    yield "grad of a scalar graph of 200 leaves", "backward", None, pair
