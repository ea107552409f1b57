"""Every leaf that is differentiated counts; where no gradient reaches one, its cut is named."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from torch import nn

from chainview.frameworks import diagnose, watch_jax, watch_torch

torch.manual_seed(0)
X = torch.randn(4, 3)
body, head = nn.Linear(3, 3), nn.Linear(3, 1)
both = nn.ModuleDict({"body": body, "head": head})


def under_no_grad(x: Any) -> Any:
    with torch.no_grad():
        h = body(x).tanh()
    return head(h).sum()


def made_to_require(x: Any) -> Any:
    h = body(x).detach()
    h.requires_grad = True
    return head(h).sum()


def through_numpy(x: Any) -> Any:
    h = np.tanh(body(x).detach().numpy())
    return head(torch.from_numpy(h)).sum()


def in_a_list(x: Any) -> Any:
    return head(torch.tensor([[v.item() for v in row] for row in body(x)])).sum()


def unused(x: Any) -> Any:
    body(x).tanh()
    return head(x).sum()


CUTS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "detach": (lambda x: head(body(x).detach()).sum(), "is detached"),
    "data": (lambda x: head(body(x).data).sum(), "by .data"),
    "tensor": (lambda x: head(torch.tensor(body(x))).sum(), "by torch.tensor"),
    "NumPy and back": (lambda x: head(torch.tensor(body(x).detach().numpy())).sum(), "is detached"),
    "a function of NumPy": (through_numpy, "is detached, and nothing"),
    "made to require a gradient": (made_to_require, "is detached"),
    "Parameter": (lambda x: head(nn.Parameter(body(x))).sum(), "leads from Addmm"),
    "item": (in_a_list, "by .item()"),
    "no_grad": (under_no_grad, "under no_grad"),
    "whole numbers": (lambda x: head(body(x).long().float()).sum(), "a conversion"),
    "a comparison": (lambda x: head((body(x) > 0).float()).sum(), "compared"),
    "argmax": (lambda x: head(body(x).argmax(1, keepdim=True) * x).sum(), "argmax"),
    "unused": (unused, "leads from Tanh"),
}


@pytest.mark.parametrize("name", CUTS)
@pytest.mark.filterwarnings("ignore")
def test_the_cut_is_named_with_its_line(name: str) -> None:
    f, words = CUTS[name]
    found = diagnose(watch_torch(f, X, model=both))
    (cut,) = [symptom for symptom in found.symptoms if symptom.kind == "no gradient"]
    assert cut.where == "body.weight, body.bias"
    assert words in cut.seen
    assert cut.line is not None
    first = f.__code__.co_firstlineno
    assert first <= cut.line.number <= first + 4
    assert "no_grad" not in cut.seen or name == "no_grad"


def test_what_has_no_graph_at_all_is_told_where_it_was_cut() -> None:
    def loss(x: Any) -> Any:
        return torch.tensor(head(x).sum().item(), requires_grad=True)

    with pytest.raises(ValueError, match=r"head\.weight, head\.bias: read as Python numbers.*py:"):
        watch_torch(loss, X, model=both)


def test_a_leaf_is_named_by_the_variable_that_holds_it() -> None:
    layers = [torch.randn(3, 3, requires_grad=True) for _ in range(2)]

    scale = {"out": torch.ones(3, requires_grad=True)}

    def loss(x: Any) -> Any:
        for w in layers:
            x = (x @ w) * scale["out"]
        return x.sum()

    run = watch_torch(loss, X)
    assert {leaf.label for leaf in run.leaves} == {"layers[0]", "layers[1]", "scale['out']"}


class Listed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hidden = [nn.Linear(3, 3)]
        self.scale = torch.ones(1, requires_grad=True)
        self.out = nn.Linear(3, 1)

    def forward(self, x: Any) -> Any:
        return (self.out(self.hidden[0](x).tanh()) * self.scale).sum()


@pytest.mark.parametrize("is_given", [True, False])
def test_layers_in_a_plain_list_are_no_parameters_of_the_model(is_given: bool) -> None:
    model = Listed()
    run = watch_torch(lambda x: model(x), X, model=model if is_given else None)
    (found,) = diagnose(run).symptoms
    assert found.kind == "not a parameter"
    assert found.where == "hidden[0].weight, hidden[0].bias, scale"


def test_a_layer_that_forward_makes_anew_is_no_parameter_of_the_model() -> None:
    (found,) = diagnose(watch_torch(lambda x: nn.Linear(3, 1)(body(x)).sum(), X)).symptoms
    assert found.kind == "not a parameter"
    assert found.where == "linear.weight, linear.bias"
    assert "not in forward" in found.look


def test_parameters_of_another_model_are_no_fault() -> None:
    generator, critic = nn.Linear(3, 3), nn.Linear(3, 1)
    run = watch_torch(lambda x: critic(generator(x)).sum(), X, model=generator)
    assert not diagnose(run).symptoms


def test_frozen_parameters_are_known() -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1))
    model[0].requires_grad_(False)
    run = watch_torch(lambda x: model(x).sum(), X, model=model)
    assert run.frozen == ["0.weight", "0.bias"]
    assert not diagnose(run).symptoms


def test_a_state_that_is_kept_from_run_to_run() -> None:
    cell = nn.RNNCell(3, 3)
    kept = [torch.zeros(4, 3)]

    def loss(x: Any) -> Any:
        kept[0] = cell(x, kept[0])
        return kept[0].sum()

    loss(X)
    (found,) = diagnose(watch_torch(loss, X, model=cell)).symptoms
    assert found.kind == "stale graph"
    kept[0] = torch.zeros(4, 3)
    loss(X).backward()
    with pytest.raises(RuntimeError, match=r"test_cuts\.py:\d+ reads .* before the run"):
        watch_torch(loss, X, model=cell)


P = {"w": jnp.ones((3, 3)), "v": jnp.ones((3, 1))}
IN_JAX: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "stop_gradient": (lambda p, x: (jax.lax.stop_gradient(x @ p["w"]) @ p["v"]).sum(), "behind"),
    "unused": (lambda p, x: (x @ p["v"]).sum(), "read by no operation"),
    "argmax": (lambda p, x: ((jnp.argmax(x @ p["w"], 1) + 1) * (x @ p["v"])[:, 0]).sum(), "argmax"),
    "a comparison": (lambda p, x: ((x @ p["w"] > 0).astype(float) @ p["v"]).sum(), "gt makes"),
}


@pytest.mark.parametrize("name", IN_JAX)
def test_arguments_of_jax_that_no_gradient_reached(name: str) -> None:
    f, words = IN_JAX[name]
    run = watch_jax(f, P, jnp.ones((4, 3)))
    (missed,) = run.missed
    assert missed.name == "p['w']"
    assert words in missed.why
    assert (missed.line is None) == (name == "unused")
    assert [symptom.kind for symptom in diagnose(run).symptoms] == ["no gradient"]
