"""A layer that is skipped at random isn't called unused, and one that is never read still is."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from chainview.frameworks import diagnose, watch_torch
from chainview.frameworks._chance import REASON

DRAWS: dict[str, Callable[[], Any]] = {
    "PyTorch": lambda: torch.rand([]),
    "Python": random.random,
    "NumPy": np.random.random_sample,
}
KEPT = {f"layers.{k}.{name}" for k in range(4) for name in ("weight", "bias")}


class Skipping(nn.Module):
    """Residual layers that are left out at random, or multiplied by 0."""

    def __init__(self, draw: Callable[[], Any], is_scaled: bool = False) -> None:
        super().__init__()
        self.draw, self.is_scaled = draw, is_scaled
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(4))
        self.head = nn.Linear(4, 1)

    def forward(self, x: Any) -> Any:
        for layer in self.layers:
            is_kept = not self.training or bool(self.draw() < 0.5)
            if is_kept or self.is_scaled:
                x = x + torch.tanh(layer(x)) * float(is_kept)
        return self.head(x).square().mean()


def seed_all(seed: int) -> None:
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002


@pytest.mark.parametrize("is_scaled", [False, True])
@pytest.mark.parametrize("draw", DRAWS)
def test_layers_skipped_at_random_are_not_examined(draw: str, is_scaled: bool) -> None:
    seed_all(0)
    model, x = Skipping(DRAWS[draw], is_scaled), torch.randn(5, 4)
    seed_all(1)
    states = torch.get_rng_state(), random.getstate(), str(np.random.get_state())  # noqa: NPY002
    found = diagnose(watch_torch(model, x, model=model))
    skipped = {name for name, why in found.unexamined.items() if why == REASON}
    assert skipped
    assert skipped < KEPT
    assert not found.symptoms
    assert not found.is_sound
    after = torch.get_rng_state(), random.getstate(), str(np.random.get_state())  # noqa: NPY002
    assert torch.equal(states[0], after[0])
    assert states[1:] == after[1:]
    assert all(p.grad is None and p.dtype == torch.float32 for p in model.parameters())


def test_nothing_is_skipped_when_the_model_is_evaluated() -> None:
    model = Skipping(DRAWS["PyTorch"]).eval()
    assert diagnose(watch_torch(model, torch.randn(5, 4), model=model)).is_sound


def test_layers_that_nothing_reads_are_found_beside_random_numbers() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(), nn.Linear(8, 1))
    model.extra = nn.Linear(2, 2)

    def loss(x: Any) -> Any:
        return model[2](model[1](model[0](x))).square().mean()

    found = diagnose(watch_torch(loss, torch.randn(5, 4), model=model))
    assert [symptom.kind for symptom in found.symptoms] == ["no gradient"]
    assert found.symptoms[0].where == "extra.weight, extra.bias"


def test_a_layer_that_is_saturated_whatever_is_drawn_gets_zeros() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 3), nn.Dropout(), nn.Linear(3, 1))
    found = diagnose(watch_torch(lambda x: (model(x) - 1e3).relu().sum(), torch.randn(5, 4)))
    assert {symptom.kind for symptom in found.symptoms} == {"zero", "dead units"}


def test_other_draws_leave_the_buffers_as_they_were() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), Skipping(DRAWS["PyTorch"]))
    torch.manual_seed(1)
    before = {name: x.clone() for name, x in model.state_dict().items()}
    found = diagnose(watch_torch(model, torch.randn(5, 4), model=model), directions=0)
    assert REASON in found.unexamined.values()
    for name, x in model.state_dict().items():
        assert torch.equal(x, before[name])


def test_a_function_that_fails_under_another_seed_is_judged_by_its_own_run() -> None:
    torch.manual_seed(0)
    model, first = nn.ModuleList([nn.Linear(4, 1), nn.Linear(4, 1)]), torch.rand([]).item()
    torch.manual_seed(0)
    [nn.Linear(4, 1), nn.Linear(4, 1)]  # to draw the same number again

    def loss(x: Any) -> Any:
        if torch.rand([]).item() != first:
            raise ArithmeticError("another number")
        return model[0](x).square().mean()

    found = diagnose(watch_torch(loss, torch.ones(5, 4), model=model), directions=0)
    assert [symptom.where for symptom in found.symptoms] == ["1.weight, 1.bias"]
