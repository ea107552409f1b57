"""What *Forward and backward* and its pages of the atlas say in general, tried on random cases."""

from typing import Any

import numpy as np
import pytest
import torch

from chaingrad import Node
from chaingrad.account import Ledger
from chainlab.lessons.forward_and_backward import at, record
from tests.claims.pages import defined
from tests.support import each

SEEDS = range(30)
PAGE = "mlp/forward-and-backward"


def network(seed: int) -> tuple[Any, ...]:
    """W1, W2, x, y and lam of a random network, none of whose units is near its kink."""
    rng = np.random.default_rng(seed)
    d, h, q = rng.integers(1, 6, 3)
    while True:
        W1, W2 = rng.normal(size=(h, d)), rng.normal(size=(q, h))
        x, y = rng.normal(size=d), rng.normal(size=q)
        if abs(W1 @ x).min() > 1e-2:
            return W1, W2, x, y, rng.uniform(0, 0.5)


def gradients(*network: Any) -> tuple[Any, Any]:
    found: tuple[Any, Any] = defined(PAGE)["gradients"](*network)
    return found


@each("seed", SEEDS)
def test_the_written_pass_and_the_record_agree_with_pytorch(seed: int) -> None:
    W1, W2, x, y, lam = network(seed)
    tensors = [torch.tensor(array, requires_grad=True) for array in (W1, W2)]
    objective = defined(PAGE)["objective"]
    J = objective(*tensors, torch.tensor(x), torch.tensor(y), lam, torch.relu)
    J.backward()
    root, weights = record(W1, W2, x, y, lam)
    root.backward()
    assert root.data == pytest.approx(J.item())
    for tensor, node, ours in zip(tensors, weights, gradients(W1, W2, x, y, lam), strict=True):
        np.testing.assert_allclose(ours, tensor.grad, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(node.grad, tensor.grad, rtol=1e-9, atol=1e-12)


@each("seed", SEEDS)
def test_a_unit_that_is_off_gets_the_penalty_alone(seed: int) -> None:
    W1, W2, x, y, lam = network(seed)
    dW1, dW2 = gradients(W1, W2, x, y, lam)
    off = W1 @ x < 0
    np.testing.assert_array_equal(dW1[off], lam * W1[off])
    np.testing.assert_array_equal(dW2[:, off], lam * W2[:, off])


@each("seed", SEEDS)
def test_plain_descent_does_not_wake_a_unit_that_is_off_for_every_example(seed: int) -> None:
    rng = np.random.default_rng(seed)
    W1, W2, _, _, lam = network(seed)
    W1[0] = -abs(W1[0]) - 1e-3
    X, Y = abs(rng.normal(size=(5, W1.shape[1]))), rng.normal(size=(5, len(W2)))
    rate = rng.uniform(0.01, 0.1)
    for _ in range(100):
        both = [gradients(W1, W2, x, y, lam) for x, y in zip(X, Y, strict=True)]
        dW1, dW2 = (np.mean(found, axis=0) for found in zip(*both, strict=True))
        W1, W2 = W1 - rate * dW1, W2 - rate * dW2
        assert (X @ W1[0] < 0).all()


@each("seed", SEEDS)
def test_no_formula_but_that_of_the_second_weights_reads_h(seed: int) -> None:
    W1, W2, x, y, lam = network(seed)
    z = W1 @ x
    do = W2 @ np.maximum(z, 0) - y
    without_h = W2.T @ do
    np.testing.assert_allclose(
        np.outer(np.where(z > 0, without_h, 0), x) + lam * W1, gradients(W1, W2, x, y, lam)[0]
    )


@each("seed", SEEDS)
def test_weighing_the_loss_weighs_what_the_output_gets(seed: int) -> None:
    W1, W2, x, y, lam = network(seed)
    o = W2 @ np.maximum(W1 @ x, 0)
    values = {"W1": W1, "W2": W2, "x": x, "y": y, "lam": lam, "o": o}
    (found,) = defined(PAGE)["differences"](at(values, "o", weight=3.0), [o.copy()])
    np.testing.assert_allclose(found, 3 * (o - y), atol=1e-6)


@each("seed", SEEDS)
def test_the_engine_keeps_the_hidden_values_and_the_error(seed: int) -> None:
    root, _ = record(*network(seed))
    kept = {row.node.label or row.node.op for row in Ledger(root).rows if row.needed}
    assert kept & {"z", "h", "o", "L", "s", "J", "sub"} == {"h", "sub"}


@each("seed", SEEDS)
def test_a_step_fades_the_difference_of_two_squared_norms(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, d, h, q = rng.integers(1, 6, 4)
    shapes = (h, d), (q, h), (n, d), (n, q)
    A, B, X, Y = (rng.normal(size=shape) for shape in shapes)
    rate, lam = rng.uniform(0, 0.5, 2)
    of_batch = defined("atlas/training-on-digits")["gradients"]
    imbalance = defined("atlas/training-on-digits")["imbalance"]
    dA, dB = of_batch(A, B, X, Y, 0.0)
    decay = 1 - rate * lam
    after = imbalance(decay * A - rate * dA, decay * B - rate * dB)
    expected = decay**2 * imbalance(A, B) + rate**2 * imbalance(dA, dB)
    np.testing.assert_allclose(after, expected, rtol=1e-9, atol=1e-9 * abs(expected).max())


@pytest.mark.parametrize("name", ["tanh", "sigmoid", "relu"])
def test_a_slope_of_the_output_saves_an_array(name: str) -> None:
    z = Node(np.linspace(-1, 1, 5)) * 1.0
    h = getattr(z, name)()
    rows = {row.node: row.needed for row in Ledger((h * Node(np.ones(5))).sum()).rows}
    assert rows[h]
    assert not rows[z]
