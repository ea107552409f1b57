"""What *Today's layers* says in general, tried on random cases."""

from typing import Any

import numpy as np
import torch

from tests.claims.pages import defined
from tests.support import each

SEEDS = range(20)


def page() -> dict[str, Any]:
    return defined("mlp/layers-of-today")


@each("seed", SEEDS)
def test_a_convolution_goes_back_by_its_own_loop(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, c, out, k = rng.integers(1, 5, 4)
    X, W = rng.normal(size=(n, c, k + 3, k + 1)), rng.normal(size=(out, c, k, k))
    Y = page()["conv"](X, W)
    dY = rng.normal(size=Y.shape)
    leaves = [torch.tensor(array, requires_grad=True) for array in (X, W)]
    expected = torch.nn.functional.conv2d(*leaves)
    expected.backward(torch.tensor(dY))
    np.testing.assert_allclose(Y, expected.detach(), rtol=1e-9, atol=1e-12)
    for found, leaf in zip(page()["conv_backward"](dY, X, W), leaves, strict=True):
        assert leaf.grad is not None
        np.testing.assert_allclose(found, leaf.grad, rtol=1e-9, atol=1e-12)


@each("seed", SEEDS)
@each("causal", [False, True])
def test_attention_goes_back_with_and_without_a_mask(seed: int, causal: bool) -> None:
    rng = np.random.default_rng(seed)
    n, d, size = rng.integers(1, 6, 3)
    Q, K = rng.normal(size=(2, n, d))
    V, dO = rng.normal(size=(2, n, size))
    leaves = [torch.tensor(array, requires_grad=True) for array in (Q, K, V)]
    f = torch.nn.functional.scaled_dot_product_attention
    f(*leaves, is_causal=causal).backward(torch.tensor(dO))
    out, P = page()["attention"](Q, K, V, causal)
    ways = [page()["attention_backward"](dO, Q, K, V, P)]
    if not causal:
        L = np.log(np.exp(Q @ K.T / np.sqrt(d)).sum(1, keepdims=True))
        ways.append(page()["in_blocks"](dO, Q, K, V, out, L))
    for way in ways:
        for found, leaf in zip(way, leaves, strict=True):
            assert leaf.grad is not None
            np.testing.assert_allclose(found, leaf.grad, rtol=1e-9, atol=1e-12)


@each("seed", SEEDS)
def test_the_cell_of_an_lstm_is_that_of_pytorch(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, h, c, dh, later = rng.normal(size=(5, 1, 4))
    cell = torch.nn.LSTMCell(4, 4, dtype=torch.float64)
    c_t = torch.tensor(c, requires_grad=True)
    new_h, new_c = cell(torch.tensor(x), (torch.tensor(h), c_t))
    ((new_h * torch.tensor(dh)).sum() + (new_c * torch.tensor(later)).sum()).backward()
    z = (
        torch.tensor(x) @ cell.weight_ih.T
        + cell.bias_ih
        + torch.tensor(h) @ cell.weight_hh.T
        + cell.bias_hh
    )
    split = z.detach().numpy().reshape(4, 4)
    dz, dc = defined("atlas/layers-by-hand")["cell_backward"](dh[0], later[0], split, c[0])
    assert c_t.grad is not None
    np.testing.assert_allclose(dc, c_t.grad[0], rtol=1e-9, atol=1e-12)
    assert cell.bias_ih.grad is not None
    np.testing.assert_allclose(dz.ravel(), cell.bias_ih.grad, rtol=1e-9, atol=1e-12)
