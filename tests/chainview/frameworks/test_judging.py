"""Symptoms name the operation at which they begin, and designs are none."""

import math
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import pytest
import torch
from torch import nn
from torch.nn import functional

from chainview.frameworks import Diagnosis, diagnose, watch_jax, watch_torch


def examined(f: Callable[..., Any], *inputs: Any, model: Any = None) -> Diagnosis:
    torch.manual_seed(0)
    return diagnose(watch_torch(f, *inputs, model=model))


def kinds(found: Diagnosis) -> list[str]:
    return [symptom.kind for symptom in found.symptoms]


def batch(*shape: int) -> Any:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


# --- gradients that are 0 -----------------------------------------------------------------------

SMALL = nn.Linear(3, 1)
nn.init.constant_(SMALL.weight, 1.5)  # a result that rounds to 0 would have another slope of 0
AT_ZERO: dict[str, tuple[Callable[[Any], Any], str, str]] = {
    "round": (lambda x: SMALL(x).round().square().sum(), "Round", "slope 0"),
    "sign": (lambda x: SMALL(x).sign().sum(), "Sign", "slope 0"),
    "softmax": (lambda x: SMALL(x).softmax(1).square().sum(), "Softmax", "a single entry"),
    "clamp": (lambda x: SMALL(x).clamp(50, 60).sum(), "Clamp", "outside of its bounds"),
    "relu": (lambda x: (SMALL(x) - 100).relu().sum(), "Relu", "none of its operands is above 0"),
    "sigmoid": (lambda x: (SMALL(x) + 200).sigmoid().sum(), "Sigmoid", "saturated"),
    "a factor": (lambda x: (SMALL(x) * torch.zeros(1)).sum(), "Mul", "a factor that is 0"),
}


@pytest.mark.parametrize("name", AT_ZERO)
def test_the_first_operation_whose_share_is_zero_is_named(name: str) -> None:
    f, op, reason = AT_ZERO[name]
    found = examined(f, batch(4, 3), model=SMALL)
    (zero,) = [symptom for symptom in found.symptoms if symptom.kind == "zero"]
    assert zero.where == f"weight, bias; first in {op}"
    assert reason in zero.look
    assert zero.line is not None
    assert zero.line.number == f.__code__.co_firstlineno


def test_what_reads_a_dead_layer_is_sent_zeros_by_that_layer() -> None:
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Flatten(), nn.Linear(8, 1))
    nn.init.constant_(model[0].bias, -20.0)
    found = examined(lambda x: (model(x) - 1).square().mean(), batch(5, 4), model=model)
    zero, dead = found.symptoms
    assert zero.where == "0.weight, 0.bias, 3.weight; first in Relu in 1"
    assert dead.kind == "dead units"


# --- gradients that vanish or explode -----------------------------------------------------------


def test_a_small_branch_on_a_healthy_trunk_is_no_vanishing_gradient() -> None:
    layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(4)])
    branch, out = nn.Linear(8, 8), nn.Linear(8, 1)

    def loss(x: Any) -> Any:
        for layer in layers:
            x = x + layer(x).tanh() + 1e-7 * branch(x).tanh()
        return out(x).square().mean()

    model = nn.ModuleList([*layers, branch, out])
    assert not examined(loss, batch(8, 8), model=model).symptoms


def test_a_second_head_with_a_small_weight_is_no_exploding_gradient() -> None:
    body, head, aside = nn.Linear(8, 8), nn.Linear(8, 1), nn.Linear(8, 1)

    def loss(x: Any) -> Any:
        h = body(x).tanh()
        return head(h).square().mean() + 1e-6 * aside(h).square().mean()

    model = nn.ModuleList([body, head, aside])
    assert not examined(loss, batch(8, 8), model=model).symptoms


def test_activations_that_grow_are_an_exploding_gradient_though_weights_get_alike() -> None:
    layers = [jnp.eye(4) * 5 for _ in range(12)]

    def loss(layers: Any, x: Any) -> Any:
        for w in layers:
            x = x @ w
        return x.sum()

    (found,) = diagnose(watch_jax(loss, layers, jnp.ones((2, 4)))).symptoms
    assert found.kind == "exploding"
    assert found.where.endswith("back to layers[0]")


class Scaled(nn.Module):
    """Layers whose results are scaled, entry by entry, before 1 is added."""

    def __init__(self, factors: list[float], learn: bool) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(6, 6) for _ in range(len(factors) + 1))
        self.factors = nn.ParameterList(
            nn.Parameter(torch.full((6,), x), requires_grad=learn) for x in factors
        )

    def forward(self, x: Any) -> Any:
        for layer, factor in zip(self.layers, self.factors, strict=False):
            x = 1 + layer(x).tanh() * factor
        return self.layers[-1](x)


@pytest.mark.parametrize(
    ("factors", "learn", "said"),
    [
        ([1e-8], True, []),
        ([1e-8], False, ["vanishing"]),
        ([0.03] * 8, True, ["vanishing"]),
    ],
)
def test_one_small_factor_that_learns_is_a_design(
    factors: list[float], learn: bool, said: list[str]
) -> None:
    torch.manual_seed(0)
    model = Scaled(factors, learn)
    found = examined(lambda x: (model(x) - 1).square().mean(), batch(9, 6), model=model)
    assert [kind for kind in kinds(found) if kind != "zero"] == said


def test_a_gradient_that_vanishes_through_time() -> None:
    cell, out = nn.RNNCell(3, 8), nn.Linear(8, 1)
    nn.init.orthogonal_(cell.weight_hh).data.mul_(0.5)
    steps = batch(40, 5, 3)

    def last(x: Any) -> Any:
        h = torch.zeros(5, 8)
        for row in x:
            h = cell(row, h)
        return out(h).square().mean()

    def each(x: Any) -> Any:
        h, total = torch.zeros(5, 8), torch.zeros(())
        for row in x:
            h = cell(row, h)
            total = total + out(h).square().mean()
        return total

    model = nn.ModuleList([cell, out])
    assert not examined(last, steps[:20], model=model).symptoms  # what is usual
    (found,) = examined(last, steps, model=model).symptoms
    assert found.kind == "vanishing"
    assert found.where.startswith("0, from call")
    assert not examined(each, steps, model=model).symptoms


def test_calls_that_don_t_follow_one_another_are_not_compared() -> None:
    encoder = nn.Linear(4, 4)

    def loss(x: Any) -> Any:
        return sum(10.0 ** -(2 * i) * encoder(x).tanh().sum() for i in range(6))

    assert not examined(loss, batch(5, 4), model=encoder).symptoms


# --- numbers that are none ----------------------------------------------------------------------


def test_the_cause_is_the_infinity_that_came_before_the_nan() -> None:
    layer = nn.Linear(4, 4)

    def loss(x: Any) -> Any:
        big = (layer(x) * 100).exp().exp()
        return (big - big).sum()

    (found,) = examined(loss, batch(5, 4), model=layer).symptoms
    assert found.where == "the result of Exp"


def test_a_parameter_with_an_infinite_entry_is_named_with_the_entry() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4), nn.Linear(4, 2))
    model[1].weight.data[3] = math.inf
    y = torch.zeros(5, dtype=torch.long)
    found = examined(lambda x: functional.cross_entropy(model(x), y), batch(5, 4), model=model)
    assert found.symptoms[0].values[0].label == "1.weight"
    assert "inf" in found.symptoms[0].seen


@pytest.mark.parametrize("is_hidden", [False, True])
def test_a_row_that_is_masked_as_a_whole_is_said_to_be_one(is_hidden: bool) -> None:
    layer = nn.Linear(4, 4)
    mask = torch.tensor([[False, False, True, True], [True] * 4, [False] * 4])

    def loss(x: Any) -> Any:
        weights = layer(x).masked_fill(mask, -math.inf).softmax(1)
        out = weights @ layer(torch.ones(4, 4))
        return out[[0, 2]].square().sum() if is_hidden else out.square().sum()

    (found,) = examined(loss, batch(3, 4), model=layer).symptoms
    assert found.where == "the result of Softmax"
    assert "(1,)" in found.look
    assert "masked as a whole" in found.look
    assert ("selection" in found.seen) == is_hidden


def test_half_precision_that_overflows_is_told_its_largest_number() -> None:
    layer = nn.Linear(4, 4).half()
    layer.weight.data *= 3000
    found = examined(lambda x: layer(x).pow(2).float().log_softmax(1).sum(), batch(5, 4).half() * 9)
    assert found.symptoms[0].where == "the result of Pow"
    assert "65504" in found.symptoms[0].look


# --- units --------------------------------------------------------------------------------------


def test_few_examples_that_switch_no_unit_on_are_no_dead_units() -> None:
    model = nn.Sequential(nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 16))
    for seed in range(40):
        torch.manual_seed(seed)
        model[0].reset_parameters()
        run = watch_torch(lambda x: model(x).sum(), torch.randn(4, 16), model=model)
        assert "dead units" not in kinds(diagnose(run))


def test_dead_units_of_a_maximum_in_jax() -> None:
    def loss(w: Any, x: Any) -> Any:
        return (jnp.maximum(x @ w - 100.0, 0.0) + (x @ w)).sum()

    found = diagnose(watch_jax(loss, jnp.ones((3, 4)), jnp.ones((8, 3))))
    assert kinds(found) == ["dead units"]


def almost_equal(*shape: int, ulps: int) -> Any:
    """Rows of equal entries, but for one column and one row that are some last digits off."""
    x = torch.full(shape, 0.3)
    step = ulps * (torch.nextafter(x, x + 1) - x)
    x[:, 0] += step[:, 0]
    x[0] += step[0]
    return x


@pytest.mark.parametrize("ulps", [0, 1])
@pytest.mark.parametrize("norm", [nn.BatchNorm1d, nn.LayerNorm])
def test_a_normalization_of_equal_entries_is_found_whatever_rounding_leaves(
    norm: type[nn.Module], ulps: int
) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(norm(6), nn.Linear(6, 1))
    x = almost_equal(4, 6, ulps=ulps)
    found = examined(lambda x: (model(x) - batch(4, 1)).square().sum(), x, model=model)
    (zero,) = [symptom for symptom in found.symptoms if symptom.kind == "zero"]
    assert zero.where.startswith("0.weight; first in")
    assert "equal" in zero.look


@pytest.mark.parametrize("norm", [nn.BatchNorm1d, nn.LayerNorm])
def test_a_normalization_of_entries_that_differ_little_is_none(norm: type[nn.Module]) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(norm(6), nn.Linear(6, 1))
    x = 100 + 0.01 * batch(4, 6)
    found = examined(lambda x: (model(x) - batch(4, 1)).square().sum(), x, model=model)
    assert "zero" not in kinds(found)


def test_equal_rows_are_fine_where_the_statistics_are_those_of_another_batch() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.BatchNorm1d(6), nn.Linear(6, 1))
    model(batch(40, 6))
    model.eval()
    x = almost_equal(4, 6, ulps=0)
    found = examined(lambda x: (model(x) - batch(4, 1)).square().sum(), x, model=model)
    assert "zero" not in kinds(found)


def test_a_state_lost_through_time_is_not_blamed_on_a_stack_of_outputs() -> None:
    torch.manual_seed(0)
    model = nn.RNN(3, 8)
    with torch.no_grad():
        model.weight_hh_l0.mul_(0.1)
    start = torch.randn(1, 2, 8, requires_grad=True)
    found = examined(
        lambda x, start: model(x, start)[0][-1].square().sum(), batch(60, 2, 3), start, model=model
    )
    (zero,) = [symptom for symptom in found.symptoms if symptom.kind == "zero"]
    assert zero.where == "start; first in Addmm in RNN"
    assert "too small" in zero.look
