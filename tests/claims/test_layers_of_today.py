"""What *Layers of today* says in general, tried on random cases."""

from typing import Any

import numpy as np
import torch

from tests.claims.pages import defined
from tests.support import each

SEEDS = range(20)


def page() -> dict[str, Any]:
    return defined("mlp/layers-of-today")


@each("seed", SEEDS)
@each("axis", [0, 1])
def test_a_normalization_removes_two_directions(seed: int, axis: int) -> None:
    rng = np.random.default_rng(seed)
    x, d = rng.normal(size=(2, 4, 5)) * 10 ** rng.uniform(-1, 3)
    x_hat, sigma = page()["normalize"](x, axis, eps=0.0)
    dx = page()["normalize_backward"](d, x_hat, sigma, axis)
    scale = abs(dx).max()
    np.testing.assert_allclose(dx.sum(axis=axis) / scale, 0, atol=1e-12)
    np.testing.assert_allclose((dx * x_hat).sum(axis=axis) / scale, 0, atol=1e-12)
    rest = rng.normal(size=x.shape)  # other directions come through, divided by sigma
    rest -= rest.mean(axis=axis, keepdims=True)
    rest -= x_hat * (rest * x_hat).mean(axis=axis, keepdims=True)
    through = page()["normalize_backward"](rest, x_hat, sigma, axis)
    np.testing.assert_allclose(through, rest / sigma, rtol=1e-9, atol=1e-12 * abs(through).max())


@each("seed", SEEDS)
@each("eps", [1e-5, 0.5])
def test_the_formula_is_exact_with_any_eps(seed: int, eps: float) -> None:
    rng = np.random.default_rng(seed)
    x, d = rng.normal(size=(2, 3, 6))
    x_hat, sigma = page()["normalize"](x, eps=eps)
    t = torch.tensor(x, requires_grad=True)
    torch.nn.functional.layer_norm(t, (6,), eps=eps).backward(torch.tensor(d))
    assert t.grad is not None
    found = page()["normalize_backward"](d, x_hat, sigma)
    np.testing.assert_allclose(found, t.grad, rtol=1e-9, atol=1e-12)
    t = torch.tensor(x, requires_grad=True)
    torch.nn.functional.rms_norm(t, (6,), eps=eps).backward(torch.tensor(d))
    assert t.grad is not None
    found = page()["rms_norm_backward"](d, x, eps)
    np.testing.assert_allclose(found, t.grad, rtol=1e-9, atol=1e-12)


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
    dz, dc = page()["cell_backward"](dh[0], later[0], split, c[0])
    assert c_t.grad is not None
    np.testing.assert_allclose(dc, c_t.grad[0], rtol=1e-9, atol=1e-12)
    assert cell.bias_ih.grad is not None
    np.testing.assert_allclose(dz.ravel(), cell.bias_ih.grad, rtol=1e-9, atol=1e-12)
