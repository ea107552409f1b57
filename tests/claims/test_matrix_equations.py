"""What *A batch, and softmax* and its pages of the atlas say in general, tried on random cases."""

from typing import Any

import numpy as np
import pytest
import torch

from chainlab.lessons.matrix_equations import numerical
from tests.claims.pages import defined
from tests.support import each

SEEDS = range(20)
BY_HAND = "atlas/layers-by-hand"
SOFTMAX = "atlas/softmax-in-floating-point"


def layer(seed: int) -> tuple[Any, ...]:
    """X, W, b and the adjoint of Z, of sizes that all differ or all agree."""
    rng = np.random.default_rng(seed)
    n, d, h = (4, 4, 4) if seed % 4 == 0 else rng.permutation(range(2, 9))[:3]
    shapes = (n, d), (h, d), (h,), (n, h)
    return tuple(rng.normal(size=shape) for shape in shapes)


@each("seed", SEEDS)
def test_what_all_examples_share_is_summed_over_them(seed: int) -> None:
    X, W, b, dZ = layer(seed)

    def scalar() -> Any:
        return np.sum(dZ * (X @ W.T + b))

    for formula, array in ((dZ @ W, X), (dZ.T @ X, W), (dZ.sum(axis=0), b)):
        np.testing.assert_allclose(formula, numerical(scalar, array), atol=1e-6)
    np.testing.assert_allclose(dZ.T @ X, sum(map(np.outer, dZ, X)), rtol=1e-9, atol=1e-12)


@each("seed", SEEDS)
def test_a_transpose_too_many_fits_where_all_sizes_agree(seed: int) -> None:
    S, V = np.random.default_rng(seed).normal(size=(2, 4, 4))
    for guess in (S @ V.T, S.T @ V, V @ S):
        assert guess.shape == (S @ V).shape
        assert abs(guess - S @ V).max() > 0.1


@pytest.mark.parametrize("repeats", [2, 3, 7])
def test_the_mean_does_not_change_when_a_batch_is_repeated(repeats: int) -> None:
    rng = np.random.default_rng(repeats)
    logits, labels = rng.normal(size=(5, 4)), rng.integers(0, 4, 5)
    loss = defined(SOFTMAX)["softmax_cross_entropy"]
    once, dO = loss(logits, labels)
    again, dO_again = loss(np.tile(logits, (repeats, 1)), np.tile(labels, repeats))
    assert again == pytest.approx(once)
    np.testing.assert_allclose(dO_again[:5] * repeats, dO, rtol=1e-12)


@each("seed", SEEDS)
def test_the_pull_on_the_logits_is_bounded_and_adds_up_to_zero(seed: int) -> None:
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(6, 5)) * 10 ** rng.uniform(-2, 3)
    labels = rng.integers(0, 5, 6)
    _, dO = defined(SOFTMAX)["softmax_cross_entropy"](logits, labels)
    pull = dO * len(logits)
    assert (abs(pull) <= 1).all()
    np.testing.assert_allclose(pull.sum(axis=1), 0, atol=1e-12)
    t = torch.tensor(logits, requires_grad=True)
    torch.nn.functional.cross_entropy(t, torch.tensor(labels)).backward()
    assert t.grad is not None
    np.testing.assert_allclose(dO, t.grad, rtol=1e-9, atol=1e-15)


@each("seed", SEEDS)
@each("dtype", [np.float32, np.float64])
def test_the_shifted_form_is_finite_and_right_at_any_offset(seed: int, dtype: Any) -> None:
    rng = np.random.default_rng(seed)
    o = (rng.normal(size=7) + rng.choice([-1, 1]) * 10 ** rng.uniform(0, 4)).astype(dtype)
    with np.errstate(under="ignore"):
        found = defined(SOFTMAX)["lse"](o)
    expected = torch.logsumexp(torch.tensor(o, dtype=torch.float64), 0).item()
    assert found == pytest.approx(expected, rel=8 * np.finfo(dtype).eps)


@each("seed", SEEDS)
def test_one_rule_gives_the_gradients_of_a_product(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m, k, n = rng.integers(1, 6, 3)
    A, B, dC = rng.normal(size=(m, k)), rng.normal(size=(k, n)), rng.normal(size=(m, n))
    for formula, array in ((dC @ B.T, A), (A.T @ dC, B)):
        np.testing.assert_allclose(
            formula, numerical(lambda: np.sum(dC * (A @ B)), array), atol=1e-6
        )


@each("seed", SEEDS)
def test_a_stack_of_layers_by_hand_has_the_gradients_of_pytorch(seed: int) -> None:
    page, rng = defined(BY_HAND), np.random.default_rng(seed)
    kinds = {"relu": torch.relu, "tanh": torch.tanh, "sigmoid": torch.sigmoid}
    slopes = {
        "relu": (lambda Z: np.maximum(Z, 0), lambda H: H > 0),
        "tanh": (np.tanh, lambda H: 1 - H**2),
        "sigmoid": (lambda Z: 1 / (1 + np.exp(-Z)), lambda H: H * (1 - H)),
    }
    page["activations"] = slopes
    chosen = rng.choice(list(kinds), size=rng.integers(1, 5)).tolist()
    sizes = rng.integers(1, 6, len(chosen) + 1)
    net = [page["Dense"](a, b, k, rng) for a, b, k in zip(sizes, sizes[1:], chosen, strict=False)]
    X, dO = rng.normal(size=(4, sizes[0])), rng.normal(size=(4, sizes[-1]))
    out = page["forward"](net, X)
    page["backward"](net, dO)
    tensors = [[torch.tensor(p, requires_grad=True) for p in (x.W, x.b)] for x in net]
    t = torch.tensor(X)
    for (W, b), kind in zip(tensors, chosen, strict=True):
        t = kinds[kind](t @ W.T + b)
    t.backward(torch.tensor(dO))
    np.testing.assert_allclose(out, t.detach(), rtol=1e-12)
    for (W, b), layer in zip(tensors, net, strict=True):
        assert W.grad is not None
        assert b.grad is not None
        np.testing.assert_allclose(layer.dW, W.grad, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(layer.db, b.grad, rtol=1e-9, atol=1e-12)
