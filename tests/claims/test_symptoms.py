"""What *Symptoms* says in general, tried on more than its own examples."""

from typing import Any

import pytest
import torch
from torch import nn

from tests.claims.pages import defined
from tests.support import each

PAGE = "reference/symptoms"


@each("seed", range(5))
def test_two_opposed_losses_need_a_detach_and_not_their_sum(seed: int) -> None:
    torch.manual_seed(seed)
    generator = nn.Linear(2, 3)
    discriminator = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    noise = torch.randn(5, 2)
    score = discriminator(generator(noise)).mean()
    (score - score).backward(retain_graph=True)
    assert not generator.weight.grad.any()
    generator.zero_grad()
    score.backward()
    with pytest.raises(RuntimeError, match="a second time"):
        (-score).backward()
    generator.zero_grad()
    fake = generator(noise)
    discriminator(fake.detach()).mean().backward()
    assert generator.weight.grad is None
    (-discriminator(fake).mean()).backward()
    assert generator.weight.grad.any()


@each("activation", [nn.ReLU, nn.Tanh, nn.GELU, nn.Sigmoid])
def test_with_all_zeros_the_last_bias_alone_has_a_gradient_if_zero_gives_zero(
    activation: Any,
) -> None:
    model = nn.Sequential(nn.Linear(3, 4), activation(), nn.Linear(4, 2))
    with torch.no_grad():
        for p in model.parameters():
            p.zero_()
    (model(torch.randn(6, 3)) - 1).pow(2).mean().backward()
    found = [name for name, p in model.named_parameters() if p.grad.any()]
    assert found == ["2.weight"] * (activation is nn.Sigmoid) + ["2.bias"]


@each("pack", [lambda x: x, lambda x: (x, x + 1), lambda x: [(x,)], lambda x: {"out": x}])
def test_the_hook_looks_into_tuples_lists_and_dicts(
    pack: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    class First(nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            return pack(x.log())

    class Second(nn.Module):
        def forward(self, x: Any) -> Any:
            return x

    model = nn.Sequential(First(), Second())
    for part in model.modules():
        part.register_forward_hook(defined(PAGE)["watch"])
    model(torch.ones(2))
    assert not capsys.readouterr().out
    model(-torch.ones(2))
    assert capsys.readouterr().out.startswith("not finite after First")


def test_an_lstm_with_a_nan_weight_is_named_first(capsys: pytest.CaptureFixture[str]) -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.read, self.head = nn.LSTM(3, 4), nn.Linear(4, 1)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.head(self.read(x)[0])

    model = Net()
    model.read.weight_ih_l0.data[0, 0] = torch.nan
    for part in model.modules():
        part.register_forward_hook(defined(PAGE)["watch"])
    model(torch.randn(2, 5, 3))
    assert capsys.readouterr().out.startswith("not finite after LSTM")


def test_two_infinite_slopes_of_opposite_signs_make_nan() -> None:
    x = torch.zeros(1, requires_grad=True)
    (x.sqrt() - x.sqrt()).sum().backward()
    assert x.grad.isnan().all()


@each("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_a_clamp_keeps_arccos_finite_in_float32_and_not_in_shorter_floats(dtype: Any) -> None:
    x = torch.tensor([1.0, -1.0, 0.5], dtype=dtype, requires_grad=True)
    x.clamp(-1 + 1e-6, 1 - 1e-6).acos().sum().backward()
    assert bool(x.grad.isfinite().all()) == (dtype in (torch.float32, torch.float64))
    if x.grad.isfinite().all():
        assert not x.grad[:2].any()


def test_writing_into_a_leaf_has_a_message_of_its_own_and_a_copy_may_be_written() -> None:
    def write(x: torch.Tensor) -> None:
        x[0] = 1

    for act in (write, nn.ReLU(inplace=True), lambda x: x.add_(1)):
        with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
            act(torch.ones(3, requires_grad=True))
        act(torch.ones(3, requires_grad=True).clone())


def test_to_where_a_tensor_is_already_returns_the_leaf() -> None:
    x = torch.ones(3, requires_grad=True)
    assert x.to("cpu") is x
    assert not x.to("meta").is_leaf


def test_a_traced_truth_value_fails_inside_scan_and_cond_and_not_under_grad() -> None:
    import jax
    import jax.numpy as jnp

    def bent(x: Any) -> Any:
        return x if x > 0 else -x

    assert jax.grad(bent)(-2.0) == -1.0
    for act in (
        lambda: jax.jit(bent)(1.0),
        lambda: jax.vmap(bent)(jnp.ones(2)),
        lambda: jax.lax.scan(lambda c, x: (c, bent(x)), 0.0, jnp.ones(2)),
        lambda: jax.lax.cond(True, bent, bent, 1.0),
    ):
        with pytest.raises(jax.errors.TracerBoolConversionError):
            act()
