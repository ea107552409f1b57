"""Backwards that somebody wrote: the wrong ones are named, the right and the meant ones aren't."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from torch import nn

from chainview.frameworks import Diagnosis, diagnose, watch_jax, watch_torch


def function(forward: Any, backward: Any) -> Any:
    """An autograd.Function of one operand, by its result and what it multiplies by."""

    class Custom(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x.clone())
            return forward(x)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return backward(ctx.saved_tensors[0], grad)

    return Custom.apply


def examined(forward: Any, backward: Any) -> Diagnosis:
    """Diagnose a function between two layers, the first of which is at a kink for one example."""
    torch.manual_seed(0)
    f, model = function(forward, backward), nn.ModuleList([nn.Linear(3, 4), nn.Linear(4, 2)])
    nn.init.zeros_(model[0].bias)
    x = torch.randn(4, 3)
    x[3] = 0.0
    run = watch_torch(lambda x: model[1](f(model[0](x))).square().sum(), x, model=model)
    return diagnose(run)


WRONG: dict[str, tuple[Any, Any]] = {
    "a cube times 2 x²": (lambda x: x**3, lambda x, g: g * 2 * x * x),
    "a tanh without the square": (torch.tanh, lambda x, g: g * (1 - x.tanh())),
    "the wrong sign": (torch.cos, lambda x, g: g * x.sin()),
    "one in a hundred too large": (torch.exp, lambda x, g: g * x.exp() * 1.01),
    "a relu that lets all through": (torch.relu, lambda x, g: g),
    "a forgotten factor": (lambda x: 3 * x, lambda x, g: g),
    "a softmax without its sum": (lambda x: x.softmax(-1), lambda x, g: g * x.softmax(-1)),
    "transposed": (lambda x: x @ x.t(), lambda x, g: g @ x),
    "zeros": (torch.sigmoid, lambda x, g: torch.zeros_like(g)),
    "one entry alone": (
        lambda x: x * x,
        lambda x, g: 2 * g * x * (1 + (torch.arange(x.numel()) == 7).reshape(x.shape)),
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_backward_is_named_with_its_leaves_and_an_entry(name: str) -> None:
    found = examined(*WRONG[name])
    (symptom,) = [each for each in found.symptoms if each.kind == "wrong gradient"]
    assert symptom.where == "0.weight, 0.bias"
    assert "backward of Custom" in symptom.look
    assert "of Addmm in 0" in symptom.seen
    assert [value.op for value in symptom.values][:1] == ["Custom"]
    assert name != "one entry alone" or "at (1, 3)" in symptom.seen


RIGHT: dict[str, tuple[Any, Any]] = {
    "a square": (lambda x: x * x, lambda x, g: 2 * g * x),
    "a relu at its kink": (torch.relu, lambda x, g: g * (x > 0)),
    "a maximum of ties": (lambda x: x.amax(1), lambda x, g: g[:, None] * (x == x.amax(1, True))),
    "written in place": (lambda x: x.clone().mul_(3), lambda x, g: 3 * g),
    "with random numbers": (lambda x: x * torch.rand(4, 4).mul_(0).add_(2), lambda x, g: 2 * g),
    "single precision within": (lambda x: (x.float() * 2).to(x.dtype), lambda x, g: 2 * g),
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_backward_is_compared_and_said_to_be(name: str) -> None:
    found = examined(*RIGHT[name])
    assert (found.compared, found.unexamined) == (1, {})
    assert not found.remarks
    assert "wrong gradient" not in [symptom.kind for symptom in found.symptoms]


MEANT: dict[str, tuple[Any, Any, str]] = {
    "reversed": (lambda x: x.view_as(x), lambda x, g: -0.5 * g, "scaled gradient"),
    "stopped": (lambda x: x.view_as(x), lambda x, g: 0 * g, "scaled gradient"),
    "rounded": (torch.round, lambda x, g: g, "straight through"),
    "a sign, clipped": (torch.sign, lambda x, g: g * (x.abs() < 1), "straight through"),
    "sent nothing": (lambda x: 2 * x, lambda x, g: None, "sends nothing"),
}


@pytest.mark.parametrize("name", MEANT)
def test_what_may_be_meant_is_a_remark(name: str) -> None:
    forward, backward, kind = MEANT[name]
    found = examined(forward, backward)
    assert kind in [remark.kind for remark in found.remarks]
    assert "wrong gradient" not in [symptom.kind for symptom in found.symptoms]


def test_what_differences_cannot_tell_is_left_out_with_the_reason() -> None:
    found = examined(lambda x: x * np.random.rand(), lambda x, g: g)  # noqa: NPY002
    assert found.is_sound
    assert found.compared == 0
    assert "another result" in found.unexamined["Custom"]
    assert "Not compared with differences: Custom" in str(found)


def test_operands_are_judged_each_by_itself() -> None:
    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, name: str, y: Any) -> Any:
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            x, y = ctx.saved_tensors
            return grad * y, None, grad * (x + 1)

    a, b = (torch.randn(3, requires_grad=True) for _ in range(2))
    (symptom,) = diagnose(watch_torch(lambda: Product.apply(a, "a name", b).sum())).symptoms
    assert symptom.where == "b"


def test_complex_numbers_are_left_out_with_the_reason() -> None:
    z = torch.randn(3, dtype=torch.complex64, requires_grad=True)
    f = function(lambda z: z * z, lambda z, g: g * 2 * z.conj())
    found = diagnose(watch_torch(lambda z: f(z).abs().sum(), z))
    assert found.is_sound
    assert "complex" in found.unexamined["Custom"]


def test_a_wrong_backward_is_named_below_what_is_detached() -> None:
    torch.manual_seed(0)
    layer, f = nn.Linear(3, 4), function(torch.tanh, lambda x, g: g)

    def loss(x: Any) -> Any:
        z = f(layer(x))
        return (z - z.amax(1, keepdim=True).detach()).exp().sum()

    found = diagnose(watch_torch(loss, torch.randn(5, 3), model=layer))
    assert [symptom.kind for symptom in found.symptoms] == ["wrong gradient"]
    assert [remark.kind for remark in found.remarks] == ["cut"]


def test_the_function_itself_is_not_run_again() -> None:
    runs: list[int] = []
    f = function(torch.tanh, lambda x, g: g)

    def loss(w: Any) -> Any:
        runs.append(1)
        return f(w).sum()

    run = watch_torch(loss, torch.randn(3, requires_grad=True))
    diagnose(run)
    assert len(runs) == 1


def test_what_was_not_kept_is_not_compared() -> None:
    f, w = function(torch.tanh, lambda x, g: g), torch.randn(40, requires_grad=True)
    found = diagnose(watch_torch(lambda: f(w).sum(), most=10))
    assert "most=" in found.unexamined["Custom"]


def test_where_a_number_is_not_finite_rules_are_left_out_and_that_is_said() -> None:
    f, w = function(torch.tanh, lambda x, g: g), torch.zeros(2, requires_grad=True)
    found = diagnose(watch_torch(lambda: f(w.sqrt()).sum()))
    assert [symptom.kind for symptom in found.symptoms] == ["not finite"]
    assert (found.compared, found.unexamined) == (0, {"Custom": "a number isn't finite"})


@pytest.mark.parametrize("by", ["data", "no_grad"])
def test_a_result_that_is_written_to_unrecorded_is_a_wrong_gradient(by: str) -> None:
    layer = nn.Linear(3, 4)

    def loss(x: Any) -> Any:
        h = layer(x) + 1.0
        if by == "data":
            h.data.mul_(3.0)
        else:
            with torch.no_grad():
                h[h < 0.5] = 0.0
        return (2 * h).square().sum()

    found = diagnose(watch_torch(loss, torch.randn(5, 3), model=layer))
    (symptom,) = [each for each in found.symptoms if each.kind == "wrong gradient"]
    assert symptom.where == "weight, bias"
    assert "result of Add" in symptom.seen
    assert symptom.line is not None
    assert symptom.line.number > loss.__code__.co_firstlineno + 1


def test_a_result_that_is_rounded_unrecorded_goes_straight_through() -> None:
    w = torch.randn(3, requires_grad=True)

    def loss() -> Any:
        h = w * 3
        h.data.round_()
        return h.square().sum()

    found = diagnose(watch_torch(loss))
    assert found.is_sound
    assert [remark.kind for remark in found.remarks] == ["straight through"]


# --- in JAX -------------------------------------------------------------------------------------


def vjp(forward: Callable[[Any], Any], backward: Callable[[Any, Any], Any]) -> Any:
    custom = jax.custom_vjp(forward)
    custom.defvjp(lambda x: (forward(x), x), lambda x, g: (backward(x, g),))
    return custom


def jvp(forward: Callable[[Any], Any], slope: Callable[[Any], Any]) -> Any:
    custom = jax.custom_jvp(forward)
    custom.defjvp(lambda x, t: (forward(x[0]), t[0] * slope(x[0])))
    return custom


IN_JAX: dict[str, tuple[Any, str]] = {
    "a wrong pullback": (vjp(jnp.tanh, lambda x, g: g * (1 - jnp.tanh(x))), "wrong gradient"),
    "a wrong rule of tangents": (jvp(jnp.square, lambda x: x), "wrong gradient"),
    "a right pullback": (vjp(jnp.tanh, lambda x, g: g * (1 - jnp.tanh(x) ** 2)), ""),
    "a right rule of tangents": (jvp(jnp.square, lambda x: 2 * x), ""),
    "JAX's own": (jax.nn.relu, ""),
    "rounded": (vjp(lambda x: jnp.round(x), lambda x, g: g), "straight through"),
    "reversed": (vjp(lambda x: x, lambda x, g: -g), "scaled gradient"),
    "complex": (vjp(lambda x: (x * (1 + 2j)).real * x, lambda x, g: 2 * g * x), ""),
}


@pytest.mark.parametrize("name", IN_JAX)
def test_rules_of_jax(name: str) -> None:
    f, kind = IN_JAX[name]
    w, x = jnp.asarray(np.random.default_rng(0).standard_normal((2, 3, 4)), jnp.float32)
    found = diagnose(watch_jax(lambda w, x: (f(w * x) * x).sum(), w, x))
    said = [symptom.kind for symptom in [*found.symptoms, *found.remarks]]
    assert said == [kind] * bool(kind)
    assert found.compared == (name != "JAX's own")


def test_a_wrong_rule_below_a_softmax_and_in_the_steps_of_a_scan() -> None:
    wrong = IN_JAX["a wrong pullback"][0]

    def loss(w: Any) -> Any:
        step = lambda h, _: (wrong(h @ w), None)  # noqa: E731
        return -jax.nn.log_softmax(jax.lax.scan(step, jnp.ones(4), None, length=4)[0])[0]

    w = jnp.asarray(np.random.default_rng(0).standard_normal((4, 4)), jnp.float32)
    found = diagnose(watch_jax(loss, w))
    assert [symptom.kind for symptom in found.symptoms] == ["wrong gradient"]
    assert (found.compared, found.remarks) == (4, [])
