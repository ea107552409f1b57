"""A diagnosis says which leaves it examined, and isn't sound where it left some out."""

from typing import Any

import torch
from torch import nn

from chainview.frameworks import diagnose, watch_torch


def head(found: Any) -> str:
    return str(found).splitlines()[1]


def run_of(model: nn.Module, rows: int = 5) -> Any:
    x = torch.randn(rows, 3, generator=torch.Generator().manual_seed(0))
    return watch_torch(lambda x: model(x).square().mean(), x, model=model)


def test_a_model_is_sound_only_if_every_leaf_was_examined() -> None:
    run = run_of(nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)))
    found = diagnose(run)
    assert found.is_sound
    assert head(found) == "no symptom in 4 leaves, all examined"
    quick = diagnose(run, directions=0)
    assert not quick.symptoms
    assert not quick.is_sound
    assert set(quick.unexamined) == {"0.weight", "0.bias", "2.weight", "2.bias"}
    assert head(quick) == "no symptom, but 0 of 4 leaves examined in full"


def test_what_a_hook_changes_is_named_and_not_counted() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    model[0].weight.register_hook(lambda grad: grad / 2)
    found = diagnose(run_of(model))
    assert list(found.unexamined) == ["0.weight"]
    assert "hook" in found.unexamined["0.weight"]
    assert head(found) == "no symptom in the 3 of 4 leaves that were examined"


def test_half_precision_is_no_clean_bill() -> None:
    layer = nn.Linear(3, 1).half()
    found = diagnose(watch_torch(lambda x: layer(x).float().sum(), torch.ones(4, 3).half()))
    assert not found.symptoms
    assert not found.is_sound
    assert "half precision" in found.unexamined["weight"]


def test_symptoms_come_with_what_was_examined() -> None:
    w = torch.tensor([0.0, 1.0], requires_grad=True)
    found = diagnose(watch_torch(lambda: w.sqrt().sum()))
    assert head(found) == "1 symptom found; 0 of 1 leaf examined"
    assert "isn't finite" in found.unexamined["w"]


def test_frozen_parameters_are_told() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    model[0].requires_grad_(False)
    found = diagnose(run_of(model))
    assert found.is_sound
    assert "Frozen: 0.weight, 0.bias" in str(found)
