"""A function of PyTorch in double precision, and everything as it was afterwards."""

from typing import Any

import pytest
import torch
from torch import nn

from chaingrad.frameworks import diagnose, watch_torch
from tests.chaingrad.frameworks.models import CASES, made
from tests.chaingrad.frameworks.test_torch import assert_same, everything, leaves_of


@pytest.mark.parametrize("name", CASES)
def test_diagnosing_leaves_everything_as_it_was(name):
    f, inputs, model = made(name)
    for i, leaf in enumerate(leaves_of(inputs, model).values()):
        leaf.grad = torch.full_like(leaf, 3.0) if i % 2 else None
    run = watch_torch(f, *inputs, model=model)
    before = everything(model, inputs)
    grads = [p.grad for p in model.parameters()]
    diagnose(run, samples=4)
    assert_same(everything(model, inputs), before)
    assert all(now is p.grad for now, p in zip(grads, model.parameters(), strict=True))


@pytest.mark.parametrize("name", ["mlp", "cnn", "weight tying", "in place", "checkpoint"])
def test_a_loss_of_before_runs_its_backward_pass_after(name):
    f, inputs, model = made(name)
    torch.manual_seed(1)
    f(*inputs).backward()
    right = [p.grad for p in model.parameters()]
    model.zero_grad()
    torch.manual_seed(1)
    loss = f(*inputs)
    diagnose(watch_torch(f, *inputs, model=model), samples=4)
    loss.backward()
    assert_same([p.grad for p in model.parameters()], right)
    model.zero_grad()
    torch.manual_seed(1)
    f(*inputs).backward()  # and a new one has its gradients, too
    assert_same([p.grad for p in model.parameters()], right)


def test_what_the_function_fails_at_is_undone_in_double_precision_too():
    layer = nn.Linear(3, 2)

    def loss(x: Any) -> Any:
        with torch.no_grad():
            layer.bias.add_(1.0)
        if layer.weight.dtype == torch.float64:
            raise KeyError("on the way")
        return layer(x).sum()

    x = torch.randn(4, 3)
    before = everything(layer, [x])
    found = diagnose(watch_torch(loss, x))
    assert "KeyError" in found.unchecked
    assert_same(everything(layer, [x]), before)
