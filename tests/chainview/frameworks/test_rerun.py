"""A function of PyTorch in double precision, and everything as it was afterwards."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from chainview.frameworks import diagnose, watch_torch
from chainview.frameworks._differences import Budget, Compared, NotComparedError
from chainview.frameworks._directions import compare
from tests.chainview.frameworks import corpus
from tests.chainview.frameworks.models import CASES, made
from tests.chainview.frameworks.test_torch import assert_same, everything, leaves_of


@pytest.mark.parametrize("name", [*CASES, "a wrong function"])
def test_diagnosing_leaves_everything_as_it_was(name):
    f, inputs, model = made(name) if name in CASES else corpus.WRONG["the wrong sign"]()
    for i, leaf in enumerate(leaves_of(inputs, model).values()):
        leaf.grad = torch.full_like(leaf, 3.0) if i % 2 else None
    run = watch_torch(f, *inputs, model=model)
    before = everything(model, inputs)
    grads = [p.grad for p in model.parameters()]
    diagnose(run)
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
    diagnose(watch_torch(f, *inputs, model=model))
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


REQUESTS = {
    "float": lambda x: x.float(),
    "to": lambda x: x.to(torch.float32),
    "to another": lambda x: x.to(torch.ones(1, dtype=torch.float32)),
    "type": lambda x: x.type(torch.FloatTensor),
    "type as": lambda x: x.type_as(torch.zeros(1, dtype=torch.float32)),
    "sum": lambda x: x.sum(0, dtype=torch.float32),
    "mean": lambda x: x.mean(0, dtype=torch.float32),
    "softmax": lambda x: x.softmax(-1, dtype=torch.float32),
    "cumsum": lambda x: x.cumsum(0, dtype=torch.float32),
    "ones": lambda x: x * torch.ones(3, dtype=torch.float32),
    "empty": lambda x: torch.empty(4, 3, dtype=torch.float32).copy_(x),
    "zeros like": lambda x: torch.zeros_like(x, dtype=torch.float32) + x,
    "arange": lambda x: x * torch.arange(3, dtype=torch.float32),
    "tensor": lambda x: x @ torch.tensor([[1.0], [2.0], [3.0]], dtype=torch.float32),
    "from numpy": lambda x: x @ torch.from_numpy(np.eye(3, dtype=np.float32)),
    "norm": lambda x: torch.linalg.vector_norm(x, dim=1, dtype=torch.float32),
    "complex": lambda x: (x.to(torch.complex64) * 2j).imag,
}


@pytest.mark.parametrize("name", REQUESTS)
def test_single_precision_that_is_asked_for_becomes_double(name):
    request = REQUESTS[name]
    x = torch.randn(4, 3, requires_grad=True)
    run = watch_torch(lambda x: request(x.sin()).square().sum(), x)
    assert run.rerun is not None
    found = compare(run.rerun, 2, Budget())
    assert isinstance(found, Compared), found
    assert {check.kind for check in found.leaves.values()} == {"right"}
    loss, (grad,) = run.rerun.gradients({})
    moved = x.detach().double()
    moved[0, 0] += 1e-9  # which single precision does not tell from nothing
    by = run.rerun.loss({0: moved.numpy()}) - loss
    assert by == pytest.approx(1e-9 * grad[0, 0], rel=1e-3, abs=1e-13)


def test_single_precision_that_stays_is_not_compared():
    f, inputs, model = corpus.HEALTHY["a workspace in single precision"]()
    run = watch_torch(f, *inputs, model=model)
    with pytest.raises(NotComparedError, match="single precision in copy_"):
        run.rerun.gradients({})
    assert "single precision" in diagnose(run).unchecked


def test_a_gradient_with_respect_to_complex_numbers():
    w = torch.randn(3, dtype=torch.complex64, requires_grad=True)
    run = watch_torch(lambda w: (w * w * (1 + 2j)).real.sum(), w)
    assert run.rerun is not None
    loss, (grad,) = run.rerun.gradients({})
    z = w.detach().to(torch.complex128).numpy()
    assert loss == pytest.approx((z * z * (1 + 2j)).real.sum(), rel=1e-12)
    right = np.conj(2 * z * (1 + 2j))
    np.testing.assert_allclose(grad, np.stack([right.real, right.imag], -1), rtol=1e-12)


def test_single_numbers_move_too():
    scale, shift = (torch.tensor(x, requires_grad=True) for x in (3.0, 0.0))
    found = diagnose(watch_torch(lambda x: (scale * x + shift).relu().sum(), torch.ones(4)))
    assert "all 2 leaves agree" in found.compared
    at_kink = diagnose(watch_torch(lambda x: (shift * x).relu().sum(), torch.ones(4)))
    assert "a kink here; at a point nearby they agree" in at_kink.unchecked
