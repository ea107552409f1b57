"""PyTorch's passes, watched: shares that sum to ``.grad`` to the bit, and nothing left behind."""

import random
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from chaingrad.messages import Message
from chainview.frameworks import watch_torch
from chainview.frameworks.run import Summary, summary
from chainview.player.watch import Written, written_by
from tests.chainview.frameworks.models import CASES, made


def leaves_of(inputs: Any, model: nn.Module) -> dict[str, Any]:
    trained = dict(model.named_parameters())
    return trained | {f"input {i}": x for i, x in enumerate(inputs) if x.requires_grad}


def bits(tensor: Any) -> Any:
    tensor = tensor.detach()
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()


@pytest.mark.parametrize("name", CASES)
def test_shares_add_up_to_the_gradient_of_each_leaf_to_the_bit(name):
    f, inputs, model = made(name)
    watched = watch_torch(f, *inputs, model=model)
    loss = f(*inputs)
    loss.backward()
    np.testing.assert_array_equal(watched.loss.data, bits(loss))
    for leaf in leaves_of(inputs, model).values():
        value = watched.find(leaf)
        np.testing.assert_array_equal(value.grad, bits(leaf.grad))
        shares = [e.share for e in watched.events if isinstance(e, Message) and e.parent is value]
        total = shares[0]
        for share in shares[1:]:
            total = total + share
        np.testing.assert_array_equal(total, bits(leaf.grad))
    assert not watched.missed


# Modules whose result is changed in place, or computed again.
CHANGED = {"cnn": {"1"}, "in place": {""}, "checkpoint": {"0"}}


@pytest.mark.parametrize("name", sorted(CASES))
def test_shares_add_up_to_the_gradient_of_what_is_between(name):
    f, inputs, model = made(name)
    results: dict[tuple[str, int], Any] = {}

    def keep(path: str, result: Any) -> None:
        if isinstance(result, torch.Tensor) and path not in CHANGED.get(name, ()):
            if result.requires_grad and result.grad_fn is not None:
                result.retain_grad()
            results[path, sum(known == path for known, _ in results)] = result

    for path, module in model.named_modules():
        module.register_forward_hook(lambda _, args, out, path=path: keep(path, out))
    watched = watch_torch(f, *inputs)
    ours = {key: watched.find(tensor) for key, tensor in results.items()}
    results.clear()
    f(*inputs).backward()
    totals = {id(e.parent): e.total for e in watched.events if isinstance(e, Message)}
    assert set(ours) == set(results)
    assert ours or name in ("in place", "fused rnn")
    for key, value in ours.items():
        np.testing.assert_array_equal(value.data, bits(results[key]))
        np.testing.assert_array_equal(value.grad, bits(results[key].grad))
        np.testing.assert_array_equal(totals[id(value)], bits(results[key].grad))


# --- what is left behind: nothing ---------------------------------------------------------------


def everything(model: nn.Module, inputs: Any) -> list[Any]:
    """What a run could change, copied."""
    tensors = [*model.parameters(), *model.buffers(), *inputs]
    grads = [None if t.grad is None else t.grad.clone() for t in tensors]
    hooks = [
        (len(m._forward_hooks), len(m._forward_pre_hooks), len(m._backward_hooks))
        for m in model.modules()
    ]
    everywhere = torch.nn.modules.module
    hooks.append((len(everywhere._global_forward_hooks), len(everywhere._global_forward_pre_hooks)))
    hooks += [(t._backward_hooks, t.requires_grad, t.data_ptr(), id(t)) for t in tensors]
    states = [torch.get_rng_state(), torch.tensor(np.random.get_state()[1].astype(int))]  # noqa: NPY002
    return [[t.detach().clone() for t in tensors], grads, hooks, states, random.getstate()]


def assert_same(one: Any, other: Any) -> None:
    if isinstance(one, torch.Tensor):
        assert torch.equal(one, other)
    elif isinstance(one, list | tuple):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            assert_same(a, b)
    else:
        assert one == other


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("name", sorted(CASES))
def test_everything_is_as_before(name, fails):
    f, inputs, model = made(name)
    for i, leaf in enumerate(leaves_of(inputs, model).values()):
        leaf.grad = torch.full_like(leaf, 3.0) if i % 2 else None

    def disturbing(*inputs: Any) -> Any:
        np.random.rand(), random.random()  # noqa: NPY002
        loss = f(*inputs)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(1.0) if fails else None
        if fails:
            raise KeyError("on the way")
        return loss

    before = everything(model, inputs)
    if fails:
        with pytest.raises(KeyError, match="on the way"):
            watch_torch(disturbing, *inputs)
    else:
        watch_torch(disturbing, *inputs)
    assert_same(everything(model, inputs), before)


def test_what_fails_in_the_backward_pass_leaves_nothing_either():
    f, inputs, model = made("cnn")
    model[0].weight.register_hook(lambda grad: 1 / 0)
    model[0].weight.grad = torch.ones_like(model[0].weight)
    before = everything(model, inputs)
    with pytest.raises(ZeroDivisionError):
        watch_torch(f, *inputs)
    assert_same(everything(model, inputs), before)


def test_gradients_that_the_function_clears_are_put_back():
    f, inputs, model = made("mlp")
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    f(*inputs).backward()
    before = everything(model, inputs)

    def clearing(x: Any) -> Any:
        optimizer.zero_grad()
        return f(x) + 0 * model[0].weight.sum()

    watch_torch(clearing, *inputs)
    assert_same(everything(model, inputs), before)


def test_replaced_buffers_and_generators_are_put_back():
    class Counting(nn.Linear):
        def __init__(self) -> None:
            super().__init__(2, 2)
            self.register_buffer("count", torch.zeros(()))

        def forward(self, x: Any) -> Any:
            self.count = self.count + 1
            self.weight.data = self.weight.data * 2
            return super().forward(x) + torch.randn(2, generator=generator)

    generator = torch.Generator().manual_seed(5)
    state = generator.get_state()
    layers = [Counting()]  # not to be found in the function
    weight, count = layers[0].weight.clone(), layers[0].count
    watch_torch(lambda x: layers[0](x).sum(), torch.ones(2))
    assert torch.equal(layers[0].weight, weight)
    assert layers[0].count is count
    assert torch.equal(generator.get_state(), state)


def test_parameters_given_by_functional_call_stay_where_they_were():
    model = nn.Linear(3, 1)
    own = dict(model.named_parameters())
    given = {name: p.detach().clone().requires_grad_() for name, p in own.items()}
    watched = watch_torch(
        lambda x: torch.func.functional_call(model, given, (x,)).sum(), torch.ones(3)
    )
    assert dict(model.named_parameters()) == own
    assert watched["weight"] is watched.find(given["weight"])


def test_inputs_that_are_changed_in_place_are_put_back():
    x = torch.ones(3)
    w = torch.ones(3, requires_grad=True)
    watched = watch_torch(lambda x: (w * x.mul_(2.0)).sum(), x)
    assert x.tolist() == [1.0, 1.0, 1.0]
    assert watched.find(w).grad.tolist() == [2.0, 2.0, 2.0]


# --- what is noted ------------------------------------------------------------------------------


def test_data_are_those_of_the_moment():
    w = torch.tensor([1.0, -2.0], requires_grad=True)

    def loss() -> Any:
        h = w * 3
        seen.append(h.detach().clone())
        h.add_(1.0)
        return (h * h).sum()

    seen: list[Any] = []
    watched = watch_torch(loss)
    times, plus = (next(v for v in watched.values if v.op == op) for op in ("Mul", "Add"))
    assert times.data.tolist() == seen[0].tolist() == [3.0, -6.0]
    assert plus.data.tolist() == [4.0, -5.0]


def test_data_are_those_before_the_operation_that_changes_them():
    f, inputs, _ = made("cnn")
    watched = watch_torch(f, *inputs)
    assert not watched["1.running_mean"].data.any()
    assert (watched["1.running_var"].data == 1.0).all()
    grown = torch.zeros(2)
    w = torch.ones(2, requires_grad=True)
    total = watch_torch(lambda: (w * grown.add_(5.0)).sum()).find(w)
    assert total.grad.tolist() == [5.0, 5.0]


def test_parents_are_the_operands_also_those_without_a_gradient():
    w = torch.ones(4, 2, requires_grad=True)
    watched = watch_torch(
        lambda x, mask: ((x @ w) * (mask > 0)).sum(), torch.ones(3, 4), torch.ones(3, 2)
    )
    product = next(v for v in watched.values if v.op == "Mul")
    assert [p.op for p in product.parents] == ["Mm", "gt"]
    assert not product.parents[1].requires_grad
    assert [p.label for p in product.parents[0].parents] == ["x", "w"]
    assert product.parents[1].parents[0].label == "mask"


def test_memory_that_nobody_has_written_to_is_not_shown():
    watched = watch_torch(*made("cnn")[:1], *made("cnn")[1])
    assert not [v for v in watched.values if v.op.startswith("empty") or v.data is None]
    assert "1.running_mean" in [v.label for v in watched.values]


def test_modules_are_found_as_they_are_called():
    f, inputs, model = made("rnn")
    watched = watch_torch(f, *inputs)
    calls = {v.call.name for v in watched.values}
    assert {"cell (call 1)", "cell (call 20)", "head"} <= calls
    assert {v.label for v in watched.leaves} == set(dict(model.named_parameters()))
    assert watched["cell.weight_hh"].is_parameter


def test_what_is_one_function_is_one_box_that_says_so():
    f, inputs, _ = made("custom function")
    assert [v.op for v in watch_torch(f, *inputs).values if "one function" in v.note] == ["Cube"]
    f, inputs, _ = made("in place")
    assert any("change of a part" in v.note for v in watch_torch(f, *inputs).values)


def test_a_compiled_module_runs_as_it_is_written():
    _, inputs, model = made("mlp")
    compiled = torch.compile(model, backend="eager")
    watched = watch_torch(lambda x: compiled(x).sum(), *inputs)
    assert "Tanh" in [v.op for v in watched.values]


def test_a_hook_that_changes_a_gradient_is_told_from_a_share():
    w = torch.tensor(2.0, requires_grad=True)

    def loss() -> Any:
        h = w * 3
        h.register_hook(lambda grad: grad * 10)
        return h * h

    watched = watch_torch(loss)
    changed = [e for e in watched.events[1:] if isinstance(e, Written)]
    assert [(e.node.op, float(e.known), float(e.value)) for e in changed] == [("Mul", 12.0, 120.0)]
    assert watched.find(w).grad == 360.0


def test_a_hook_of_a_leaf_is_told_from_a_share_too():
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    w.register_hook(lambda grad: grad * 10)
    watched = watch_torch(lambda w: (w * w).sum(), w)
    (changed,) = [e for e in watched.events[1:] if isinstance(e, Written)]
    assert changed.node is watched["w"]
    assert (changed.known.tolist(), changed.value.tolist()) == ([2.0, 4.0], [20.0, 40.0])
    assert watched["w"].grad.tolist() == [20.0, 40.0]
    assert "3 shares" in str(watched)


class Slices(torch.autograd.Function):
    """Writes its result slice by slice, and reads a slice of it back."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        result = torch.empty(3, *x.shape)
        first, second = result[0], result[1]
        first.copy_(x)
        second.copy_(first * 2)
        result[2] = second + first
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad[0] + 2 * grad[1] + 3 * grad[2]


def test_a_function_may_write_its_result_in_slices():
    layer, x = nn.Linear(3, 2), torch.randn(4, 3)
    loss = lambda x: Slices.apply(layer(x)).square().sum()  # noqa: E731
    watched = watch_torch(loss, x)
    loss(x).backward()
    np.testing.assert_array_equal(watched["weight"].grad, bits(layer.weight.grad))
    (function,) = [value for value in watched.values if value.op == "Slices"]
    assert function.data.shape == (3, 4, 2)
    assert {p.op for p in function.parents} == {"Addmm"}


def test_kept_bytes_are_those_that_pytorch_saves():
    from chaingrad.account import saved_bytes

    for name in ("mlp", "rnn", "weight tying", "views", "custom function"):
        f, inputs, model = made(name)
        given = [*model.parameters()]
        assert watch_torch(f, *inputs).kept == pytest.approx(
            saved_bytes(f, *inputs, given=given),
            abs=256,  # labels, and numbers of tokens
        )


def test_above_a_number_of_bytes_only_summaries_are_kept():
    f, inputs, _ = made("transformer")
    whole, summed = watch_torch(f, *inputs), watch_torch(f, *inputs, most=1000)
    assert whole.complete
    assert not summed.complete
    assert "norm" in str(summed)
    assert len(whole.events) == len(summed.events)
    for one, other in zip(whole.events, summed.events, strict=True):
        one, other = (written_by(event)[1] for event in (one, other))
        assert one.shape == other.shape
        facts = summary(one), summary(other)
        assert facts[0].norm == pytest.approx(facts[1].norm, rel=1e-6)
        assert facts[0].largest == pytest.approx(facts[1].largest)
    assert any(isinstance(written_by(event)[1], Summary) for event in summed.events)


def test_gradients_within_the_function_are_part_of_the_graph():
    w = torch.tensor(3.0, requires_grad=True)

    def penalty(x: Any) -> Any:
        (slope,) = torch.autograd.grad((w * x**3).sum(), x, create_graph=True)
        return (slope**2).sum()

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    watched = watch_torch(penalty, x)
    penalty(x).backward()
    np.testing.assert_array_equal(watched.find(x).grad, x.grad)
    np.testing.assert_array_equal(watched.find(w).grad, w.grad)


def test_half_of_a_batch_by_vmap():
    w = torch.ones(3, requires_grad=True)
    watched = watch_torch(
        lambda x: torch.func.vmap(lambda r: (r * w).sum())(x).sum(), torch.ones(4, 3)
    )
    assert watched.find(w).grad.tolist() == [4.0, 4.0, 4.0]


# --- parameters that no share reached -----------------------------------------------------------


class Lost(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.used, self.unused, self.cut, self.silent, self.whole, self.aside = (
            nn.Linear(3, 3, bias=False) for _ in range(6)
        )

    def forward(self, x: Any) -> Any:
        h = torch.relu(self.used(x)) + self.cut(x).detach()
        with torch.no_grad():
            silent = self.silent(x)
        self.aside(x)
        return h + silent + self.whole(x).argmax(dim=1, keepdim=True)


def test_parameters_without_a_gradient_and_why():
    model = Lost()
    watched = watch_torch(lambda x: model(x).sum(), torch.randn(2, 3), model=model)
    assert {m.name: (m.why, m.where) for m in watched.missed} == {
        "unused.weight": ("read by no operation", ""),
        "cut.weight": ("the result is detached", "Lost"),
        "silent.weight": ("used under no_grad", "silent"),
        "whole.weight": ("argmax makes whole numbers or truth values", "Lost"),
        "aside.weight": (
            "nothing that PyTorch recorded leads from Mm, which it went into, to the loss",
            "aside",
        ),
    }


def test_a_target_network_is_missed_only_where_no_model_is_named():
    online, target = nn.Linear(3, 2), nn.Linear(3, 2)

    def loss(now: Any, then: Any) -> Any:
        with torch.no_grad():
            wanted = target(then).amax(1)
        return (online(now)[:, 0] - wanted).square().mean()

    x = torch.randn(4, 3), torch.randn(4, 3)
    assert not watch_torch(loss, *x, model=online).missed
    missed = watch_torch(loss, *x).missed
    assert {m.why for m in missed} == {"used under no_grad"}
    assert len(missed) == 2


@pytest.mark.filterwarnings("ignore:`torch.jit")
def test_a_scripted_module():
    model = torch.jit.script(nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 1)))
    x = torch.randn(5, 4)
    watched = watch_torch(lambda x: model(x).square().mean(), x, model=model)
    model(x).square().mean().backward()
    for name, parameter in model.named_parameters():
        np.testing.assert_array_equal(watched[name].grad, parameter.grad)


# --- what is refused ----------------------------------------------------------------------------


def test_losses_that_are_none_are_refused():
    w = torch.ones(2, requires_grad=True)
    with pytest.raises(ValueError, match=r"shape \(2,\).*mean"):
        watch_torch(lambda: w * 2)
    with pytest.raises(TypeError, match=r"gave tuple.*give the loss alone"):
        watch_torch(lambda: (w.sum(), {"accuracy": 0.5}))
    with pytest.raises(TypeError, match="gave float"):
        watch_torch(lambda: (w * 2).sum().item())
    with pytest.raises(ValueError, match=r"w: the result is detached \(test_record_torch\.py"):
        watch_torch(lambda: w.detach().sum())


def test_inputs_with_a_history_are_refused():
    x = torch.ones(2, requires_grad=True) * 2
    with pytest.raises(ValueError, match="batch\\['x'\\] was computed before the run, by Mul"):
        watch_torch(lambda batch: batch["x"].sum(), {"x": x})


@pytest.mark.parametrize("model_known", [True, False])
def test_hooks_that_may_step_an_optimizer_and_lazy_modules_are_refused(model_known):
    _, inputs, model = made("mlp")
    holder = [model]  # not to be found in the function
    known = {"model": model} if model_known else {}
    hook = model[2].weight.register_post_accumulate_grad_hook(lambda p: None)
    with pytest.raises(RuntimeError, match=r"2\.weight has a post-accumulate hook"):
        watch_torch(lambda x: holder[0](x).sum(), *inputs, **known)
    hook.remove()
    lazy = [nn.Sequential(nn.LazyLinear(2))]
    known = {"model": lazy[0]} if model_known else {}
    with pytest.raises(RuntimeError, match=r"0\.weight has no shape yet.*run the model once"):
        watch_torch(lambda x: lazy[0](x).sum(), *inputs, **known)
    assert isinstance(lazy[0][0].weight, nn.UninitializedParameter)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize("layout", [torch.strided, torch.jagged])
def test_nested_tensors_are_refused(layout):
    rows = torch.nested.nested_tensor([torch.ones(2, 4), torch.ones(3, 4)], layout=layout)
    layer = nn.Linear(4, 3)
    with pytest.raises(TypeError, match="cannot watch a nested tensor"):
        watch_torch(lambda rows: layer(rows).to_padded_tensor(0.0).sum(), rows, model=layer)


@pytest.mark.filterwarnings("ignore:`torch.jit")
@pytest.mark.parametrize("transform", [torch.func.grad, torch.func.jacfwd, torch.func.jacrev])
def test_derivatives_inside_are_refused_with_what_to_do(transform):
    w = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"torch\.func\.grad.*watch the function inside"):
        watch_torch(lambda: transform(lambda v: (v**3).sum())(w).sum())
    assert w.grad is None


def test_a_reentrant_checkpoint_is_refused_with_what_to_do():
    layer = nn.Linear(3, 3)
    f = partial(checkpoint, layer, use_reentrant=True)
    with pytest.raises(RuntimeError, match="give checkpoint use_reentrant=False"):
        watch_torch(lambda x: f(x).sum(), torch.ones(2, 3, requires_grad=True), model=layer)


def test_what_is_computed_already_is_refused_with_what_to_give():
    w = torch.ones(2, requires_grad=True)
    with pytest.raises(TypeError, match=r"got Tensor; .*give lambda: criterion"):
        watch_torch(w.sum())


def test_a_step_of_training_is_refused_and_undone():
    _, inputs, model = made("mlp")
    optimizer = torch.optim.SGD(model.parameters(), 0.1)

    def step(x: Any) -> Any:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    before = everything(model, inputs)
    with pytest.raises(RuntimeError, match=r"a backward pass of its own.*leave out backward"):
        watch_torch(step, *inputs)
    assert_same(everything(model, inputs), before)


@pytest.mark.parametrize("learns", [False, True])
def test_a_batch_norm_has_its_operands_in_their_order(learns: bool) -> None:
    model = nn.BatchNorm1d(3)
    x = torch.randn(4, 3, requires_grad=learns)
    run = watch_torch(lambda x: model(x).square().sum(), x, model=model)
    (norm,) = [value for value in run.values if value.op.startswith("NativeBatchNorm")]
    names = [parent.name for parent in norm.parents]
    assert names == ["x", "weight", "bias", "running_mean", "running_var"]
