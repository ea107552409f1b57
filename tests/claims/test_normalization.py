"""What *Normalization* says in general, tried on random cases."""

from typing import Any

import numpy as np
import torch

from tests.claims.pages import defined
from tests.support import each

SEEDS = range(20)


def page() -> dict[str, Any]:
    return defined("mlp/normalization")


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
def test_a_row_ten_times_as_large_gets_a_tenth(seed: int) -> None:
    x, d = np.random.default_rng(seed).normal(size=(2, 3, 6))
    found = [
        page()["normalize_backward"](d, *page()["normalize"](size * x, eps=0.0)) for size in (1, 10)
    ]
    np.testing.assert_allclose(10 * found[1], found[0], rtol=1e-9, atol=1e-12)
