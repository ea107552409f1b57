"""Each symptom is provoked by a model made for it; sound models have none."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from torch import nn

from chainview import draw_gradient_flow, draw_graph
from chainview.draw.palette import LIGHT
from chainview.frameworks import diagnose, watch_jax, watch_torch
from chainview.frameworks._differences import Budget, Compared
from chainview.frameworks._directions import compare
from chainview.frameworks.symptom import WIDTH, Symptom
from tests.chainview.frameworks import corpus
from tests.chainview.frameworks.models import CASES, made
from tests.chainview.frameworks.test_jax import made as made_in_jax
from tests.chainview.frameworks.test_torch import Lost, assert_same, everything
from tests.support import sampled


@pytest.mark.slow
@pytest.mark.parametrize("name", sampled(sorted(CASES), "mlp", "attention", "autocast"))
def test_sound_models_have_no_symptom_before_and_after_100_steps(name):
    f, inputs, model = made(name)
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    before = everything(model, inputs)
    found = diagnose(watch_torch(f, *inputs, model=model))
    assert_same(everything(model, inputs), before)
    assert not found.symptoms, found
    assert found.is_sound == (name != "autocast")
    assert bool(found.unchecked) == (name == "autocast")  # half precision is not compared
    for _ in range(100):
        optimizer.zero_grad()
        f(*inputs).backward()
        optimizer.step()
    found = diagnose(watch_torch(f, *inputs, model=model))
    assert not found.symptoms, found


@pytest.mark.slow
@pytest.mark.parametrize("name", sampled(["mlp", "rnn", "attention"], "mlp"))
def test_sound_functions_of_jax_have_none(name):
    f, p, x = made_in_jax(name)
    found = diagnose(watch_jax(f, p, x))
    assert found.is_sound, found
    assert not found.unchecked


def kinds(found: Any) -> list[str]:
    return [symptom.kind for symptom in found.symptoms]


def test_the_first_operation_that_gives_no_number():
    model = nn.Linear(3, 3)

    def loss(x: Any) -> Any:
        h = (model(x) * 0 - 1.0).log()
        return (h * 2).exp().mean()

    found = diagnose(watch_torch(loss, torch.randn(2, 3)))
    assert kinds(found) == ["not finite"]
    assert found.symptoms[0].where == "the result of Log"
    assert "from Sub of [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0]" in found.symptoms[0].seen


@pytest.mark.parametrize("fault", [math.nan, math.inf])
def test_what_is_given_and_no_number_is_no_operations_fault(fault: float):
    model, x = nn.Linear(4, 1), torch.randn(5, 4)
    x[2, 1] = fault
    (symptom,) = diagnose(watch_torch(lambda x: model(x).pow(2).mean(), x)).symptoms
    assert symptom.kind == "not finite"
    assert symptom.values[0].name == "x"
    assert "input" in symptom.where
    assert symptom.where.endswith("x")
    assert "logarithm" not in symptom.look


def test_the_first_share_that_is_infinite():
    w = torch.tensor([0.0, 1.0], requires_grad=True)
    found = diagnose(watch_torch(lambda: ((w * 3).sqrt() * 2).sum()))
    assert kinds(found) == ["not finite"]
    assert found.symptoms[0].where == "a share that Sqrt sends to Mul"


def test_an_infinite_mask_does_no_harm():
    mask = torch.full((3, 3), -torch.inf).triu(1)
    w = torch.randn(3, 3, requires_grad=True)
    assert diagnose(watch_torch(lambda: ((w + mask).softmax(1) ** 2).sum())).is_sound


def test_an_infinite_share_that_a_mask_takes_away_does_no_harm():
    w = torch.tensor([-1.0, 2.0], requires_grad=True)
    run = watch_torch(lambda w: w.relu().sqrt().sum(), w)
    assert any(not np.isfinite(event.share).all() for event in run.events[1:])
    assert np.isfinite(run["w"].grad).all()
    assert diagnose(run, directions=0).symptoms == []


def deep(scale: float, act: type[nn.Module]) -> Any:
    torch.manual_seed(0)
    model = nn.Sequential(*(m for _ in range(12) for m in (nn.Linear(16, 16), act())))
    for module in model:
        if isinstance(module, nn.Linear):
            module.weight.data *= scale
    return watch_torch(lambda x: model(x).square().mean(), torch.randn(8, 16), model=model)


def test_a_vanishing_gradient_and_where_it_begins():
    found = diagnose(deep(1.0, nn.Sigmoid))
    assert kinds(found) == ["vanishing"]
    run = deep(1.0, nn.Sigmoid)
    sizes = {i: np.linalg.norm(run[f"{i}.weight"].grad) for i in range(0, 24, 2)}
    begins = max(i for i in sizes if sizes[i] < 1e-4 * sizes[22])
    where = f"{begins}.weight, and {begins // 2} more before it, back to 0.weight"
    assert found.symptoms[0].where == where
    assert diagnose(run, vanishing=1e-12).is_sound


def test_an_exploding_gradient():
    class Forgetful(nn.Module):
        def forward(self, x: Any) -> Any:
            return (x - x.detach()) * 20 + x.detach() / 20

    found = diagnose(deep(1.0, Forgetful), directions=0)
    assert kinds(found) == ["exploding"]
    assert "and" in found.symptoms[0].where


def test_shares_that_cancel_are_no_gradient_that_is_zero():
    critic = nn.Linear(3, 1)
    real, false = torch.randn(4, 3), torch.randn(4, 3)
    run = watch_torch(lambda x, y: critic(x).mean() - critic(y).mean(), real, false)
    assert not run["bias"].grad.any()
    assert diagnose(run).is_sound


def test_an_rnn_whose_gradient_explodes_and_where():
    torch.manual_seed(0)
    cell = nn.RNNCell(2, 8, nonlinearity="relu")
    cell.weight_hh.data = 4 * torch.eye(8)

    def loss(x: Any) -> Any:
        h = torch.zeros(3, 8)
        for row in x:
            h = cell(row, h)
        return (h / 4.0**20).mean()

    found = diagnose(watch_torch(loss, torch.rand(20, 3, 2)), directions=0)
    assert kinds(found) == ["exploding"]
    assert found.symptoms[0].where.startswith("RNNCell, from call 1")
    assert "times 3.9" in found.symptoms[0].seen


def test_parameters_that_nothing_reached():
    model = Lost()
    found = diagnose(watch_torch(lambda x: model(x).sum(), torch.randn(4, 3), model=model))
    assert kinds(found)[-5:] == ["no gradient"] * 5
    cut = next(symptom for symptom in found.symptoms if symptom.where == "cut.weight")
    assert (cut.seen, cut.look) == ("the result is detached", "the forward pass of Lost")


def test_units_that_are_dead_on_this_batch():
    model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
    model[0].bias.data[:6] = -100.0
    run = watch_torch(lambda x: model(x).sum(), torch.randn(5, 3))
    found = diagnose(run)
    assert kinds(found) == ["dead units"]
    assert "6 of 8 units" in found.symptoms[0].seen
    assert diagnose(run, dead=0.8).is_sound


def test_what_is_found_is_marked_in_drawings_and_the_run_itself_is_not():
    torch.manual_seed(0)
    body = nn.Linear(3, 4)

    def distance(x: Any) -> Any:
        e = body(x)
        return (e[:, None] - e).square().sum(-1).sqrt().mean()

    run = watch_torch(distance, torch.randn(5, 3), model=body)
    found = diagnose(run, directions=0)
    assert kinds(found) == ["not finite"]
    (root,) = found.symptoms[0].values
    assert found.run.marks == {root: ("not finite",)}
    assert root.op == "Sqrt"
    assert not run.marks
    for style in ("box", "shapes"):
        drawing = draw_graph(found.run, style=style)
        assert drawing.source.count(LIGHT["visited-line"]) == 1
        assert "Marked: Sqrt (not finite)." in drawing.alt
        assert "not finite" in " ".join(drawing.titles.values())
        assert "Marked" not in draw_graph(run, style=style).alt
    assert "<B>! not finite</B>" in draw_graph(found.run).source
    assert "Sqrt !" in draw_graph(found.run, style="shapes").source
    assert "! not finite" in draw_gradient_flow(found.run).source


def test_a_box_has_the_marks_of_what_is_in_it():
    found = diagnose(deep(1.0, nn.Sigmoid), directions=0)
    (symptom,) = found.symptoms
    marked = {value.label for value in found.run.marks}
    assert marked == {value.label for value in symptom.values}
    assert symptom.where.partition(",")[0] in marked
    boxes = found.run.folded(40)
    inside = [{value.label for value in box.inside or [box]} for box in boxes.marks]
    assert marked <= set().union(*inside)
    assert all(labels & marked for labels in inside)
    assert set(boxes.marks.values()) == {("vanishing",)}
    assert "! vanishing" in draw_graph(boxes).source


def test_marks_of_each_kind_are_at_what_they_are_said_of():
    model = Lost()
    found = diagnose(watch_torch(lambda x: model(x).sum(), torch.randn(4, 3), model=model))
    lost = {value.label for value, words in found.run.marks.items() if "no gradient" in words}
    assert lost == {"cut.weight", "silent.weight", "whole.weight"}  # the loss reads no others
    layer = nn.Linear(3, 8)
    layer.bias.data[:6] = -100.0
    found = diagnose(watch_torch(lambda x: layer(x).relu().sum(), torch.randn(5, 3)))
    assert [value.op for value in found.run.marks] == ["Relu"]
    before, after = nn.Linear(3, 4), nn.Linear(4, 1)
    run = watch_torch(lambda x: after(Wrong.apply(before(x))).sum(), torch.randn(5, 3))
    assert "Wrong" in {value.op for value in diagnose(run).run.marks}


class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x.tanh()

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (x,) = ctx.saved_tensors
        return grad * (1 - x.tanh())  # should be 1 - tanh²


def test_a_function_whose_backward_is_wrong():
    torch.manual_seed(0)
    before, after = nn.Linear(3, 4), nn.Linear(4, 1)
    model = nn.ModuleList([before, after])
    found = diagnose(
        watch_torch(lambda x: after(Wrong.apply(before(x))).sum(), torch.randn(5, 3), model=model)
    )
    assert kinds(found) == ["wrong gradient"]
    assert found.symptoms[0].where == "0.weight, 0.bias"
    assert found.symptoms[0].look.startswith("the backward of Wrong:")


class Squared(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return 2 * grad * ctx.saved_tensors[0]


def test_functions_between_the_same_parameters_are_all_named():
    torch.manual_seed(0)
    before, after = nn.Linear(3, 4), nn.Linear(4, 1)
    wrong_first = watch_torch(
        lambda x: after(Squared.apply(Wrong.apply(before(x)))).sum(),
        torch.randn(5, 3),
        model=nn.ModuleList([before, after]),
    )
    assert diagnose(wrong_first).symptoms[0].look.startswith("the backward of Squared, Wrong:")


def test_a_wrong_rule_in_jax():
    @jax.custom_vjp
    def wrong(x: Any) -> Any:
        return jnp.tanh(x)

    wrong.defvjp(lambda x: (jnp.tanh(x), x), lambda x, g: (g * (1 - jnp.tanh(x)),))
    found = diagnose(watch_jax(lambda w, v: (wrong(w) * v).sum(), jnp.ones(3), jnp.ones(3)))
    assert kinds(found) == ["wrong gradient"]
    assert found.symptoms[0].look.startswith("the backward of wrong (custom_vjp_call):")


def test_tensors_that_the_function_refers_to_are_doubled_too():
    x, layer = torch.randn(3, 2), nn.Linear(2, 2)
    found = diagnose(watch_torch(lambda: layer(x).square().sum()))
    assert found.is_sound
    assert not found.unchecked
    assert x.dtype == layer.weight.dtype == torch.float32


def test_a_backward_pass_within_the_function_is_not_added():
    layer = nn.Linear(2, 2)

    def loss(x: Any) -> Any:
        total = layer(x).square().sum()
        total.backward(retain_graph=True)
        return total

    assert diagnose(watch_torch(loss, torch.randn(3, 2))).is_sound
    assert layer.weight.grad is None


IN_TORCH = sorted(corpus.HEALTHY)
SLOWEST = "gamma samples"  # which JAX compiles for long
IN_JAX = [
    pytest.param(name, marks=pytest.mark.full) if name == SLOWEST else name
    for name in sorted(corpus.HEALTHY_IN_JAX)
]


def watched(name: str) -> Any:
    """The run of a case of the corpus, and what it could change."""
    cases = corpus.HEALTHY | corpus.WRONG | corpus.HEALTHY_IN_JAX | corpus.WRONG_IN_JAX
    f, inputs, model = cases[name]()
    is_torch = name in corpus.HEALTHY or name in corpus.WRONG
    return watch_torch(f, *inputs, model=model) if is_torch else watch_jax(f, *inputs)


@pytest.mark.slow
@pytest.mark.parametrize("name", IN_TORCH)
def test_no_right_gradient_is_called_wrong(name):
    assert "wrong gradient" not in kinds(diagnose(watched(name)))


@pytest.mark.slow
@pytest.mark.parametrize("name", sampled(IN_JAX, *list(IN_JAX)[:3]))
def test_no_right_gradient_of_jax_is_called_wrong(name):
    assert not diagnose(watched(name)).symptoms


# What is compared in full, what is found to be a kink, and what is not compared at all; the rest
# is rough in places, or meant to be no derivative.
IN_FULL = [
    "a causal language model",
    "a causal language model with checkpoints",
    "sums and constants in single precision",
    "complex parameters",
    "a recurrence that explodes",
    "an attention that drops weights",
    "a spectral norm",
]
IN_FULL_IN_JAX = [
    "padding rows",
    "single precision that is asked for",
    "rules of their own in single precision",
    "complex arrays",
]
AT_KINKS = [
    "relu at 0 of zero biases and padding rows",
    "relu of zeros in two layers",
    "relus at 0 whose corners cancel",
    "max pool of equal pixels",
    "a hinge at its corner",
    "the median of ties",
    "sorted ties",
    "a residual block that starts as the identity",
    "kinks",
]
NOT_AT_ALL = [
    "a workspace in single precision",
    "a module with a cache and a counter",
    "a list that grows",
    "numbers of a generator of its own",
    "precision that is reduced",
    "a callback with numbers of its own",
]


def leaves_by_kind(run: Any) -> dict[str, set[str]]:
    """The kinds that differences find, each with its leaves."""
    compared = compare(run.rerun, 2, Budget())
    assert isinstance(compared, Compared), compared
    found: dict[str, set[str]] = {}
    for name, check in compared.leaves.items():
        found.setdefault(check.kind, set()).add(name)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", sampled([*IN_FULL, *IN_FULL_IN_JAX], *list(IN_FULL)[:3]))
def test_what_can_be_compared_is(name):
    run = watched(name)
    compared = compare(run.rerun, 2, Budget())
    assert {check.kind for check in compared.leaves.values()} == {"right"}
    assert compared.runs == 10
    assert len(compared.leaves) == len(run.leaves)
    assert not diagnose(run).unchecked


@pytest.mark.slow
@pytest.mark.parametrize("name", AT_KINKS)
def test_a_kink_is_named_with_its_leaf_and_nearby_the_gradient_is_right(name):
    run = watched(name)
    compared = compare(run.rerun, 2, Budget())
    unclear = {n: c.nearby for n, c in compared.leaves.items() if c.kind in ("kink", "rough")}
    assert unclear
    assert set(unclear.values()) <= {"right", "faint"}
    assert {check.kind for check in compared.leaves.values()} <= {"right", "kink", "rough"}
    assert next(iter(unclear)) in diagnose(run).unchecked


def test_only_leaves_before_a_kink_stay_undecided():
    found = leaves_by_kind(watched("relu at 0 of zero biases and padding rows"))
    assert found == {"kink": {"0.bias"}, "right": {"0.weight", "2.weight", "2.bias"}}


@pytest.mark.slow
@pytest.mark.parametrize("name", NOT_AT_ALL)
def test_what_cannot_be_compared_says_why(name):
    run = watched(name)
    assert isinstance(compare(run.rerun, 2, Budget()), str)
    found = diagnose(run)
    assert found.unchecked
    assert not found.compared
    assert found.unchecked in " ".join(str(found).split())


def test_hooks_that_change_a_gradient_are_named():
    for name, place in {
        "a hook that clips": "Tanh in 1",
        "a hook of a parameter that clips": "weight",
        "a hook of a module that scales": "in 1",
    }.items():
        found = diagnose(watched(name))
        assert "a hook changes the gradient" in found.unchecked
        assert place in found.unchecked


def test_a_hook_that_only_looks_excuses_nothing():
    f, inputs, model = corpus.WRONG["the wrong sign"]()
    model[0].weight.register_hook(lambda grad: None)
    model[0].register_full_backward_hook(lambda module, given, sent: None)
    found = diagnose(watch_torch(f, inputs[0].requires_grad_(), model=model))
    assert "wrong gradient" in kinds(found)


@pytest.mark.parametrize("name", sorted(corpus.WRONG))
def test_every_wrong_gradient_is_found(name):
    found = diagnose(watched(name))
    (wrong,) = [symptom for symptom in found.symptoms if symptom.kind == "wrong gradient"]
    assert ("Function" in wrong.look) == (not name.startswith("memory"))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(corpus.WRONG_IN_JAX))
def test_every_wrong_gradient_of_jax_is_found(name):
    found = diagnose(watched(name))
    assert kinds(found) == ["wrong gradient"]
    assert "wrong" in found.symptoms[0].look


def test_without_time_or_directions_nothing_is_compared_and_that_is_said():
    runs: list[int] = []
    layer = nn.Linear(3, 2)

    def loss(x: Any) -> Any:
        runs.append(1)
        return layer(x).square().sum()

    run = watch_torch(loss, torch.randn(4, 3))
    assert "seconds=0" in diagnose(run, seconds=0.0).unchecked
    assert "directions=0" in diagnose(run, directions=0).unchecked
    assert len(runs) == 1  # the one that was watched
    found = diagnose(run, directions=1)
    assert (len(runs), found.unchecked) == (1 + 6, "")
    assert "all 2 leaves agree along 1 random direction (6 runs" in " ".join(str(found).split())


def test_leaves_without_a_name_are_compared_too():
    """A function's own weights, as in a notebook, where they are global."""
    weights = torch.randn(3, 2, requires_grad=True), torch.randn(2, requires_grad=True)
    wrong = corpus.function(lambda x: x**3, lambda x, g: g * 2 * x * x)

    def loss(x: Any) -> Any:
        return (wrong(x @ weights[0]) * weights[1]).sum()

    found = diagnose(watch_torch(loss, torch.randn(4, 3)))
    assert kinds(found) == ["wrong gradient"]
    assert found.symptoms[0].where == "weights[0]"
    assert "1 of 2 leaves agree" in found.compared
    assert [value.data.shape for value in found.run.marks if not value.parents] == [(3, 2)]


def test_layers_in_a_plain_list_are_compared_too():
    layers = [nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Linear(4, 1)]

    def loss(x: Any) -> Any:
        for layer in layers:
            x = layer(x)
        return x.square().sum()

    found = diagnose(watch_torch(loss, torch.randn(5, 4)))
    assert "all 6 leaves agree" in found.compared


def test_what_is_detached_on_purpose_is_no_wrong_gradient():
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    v = torch.tensor([1.0, 2.0], requires_grad=True)
    found = diagnose(watch_torch(lambda w, v: (w * w.detach() * v).sum(), w, v))
    assert not found.symptoms
    assert list(found.unexamined) == ["w"]
    assert found.unchecked == "w (a detached copy, too, leads to the loss)"


def test_units_of_a_recurrent_net_are_dead_if_they_are_so_in_each_call():
    torch.manual_seed(0)
    cell = nn.RNNCell(2, 8, nonlinearity="relu")

    def loss(x: Any) -> Any:
        h = torch.zeros(3, 8)
        for row in x:
            h = cell(row, h)
        return h.sum()

    x = torch.randn(6, 3, 2)
    assert diagnose(watch_torch(loss, x), directions=0).symptoms == []
    cell.bias_hh.data[:7] = -100.0
    cell.bias_hh.data[7] = 5.0
    found = diagnose(watch_torch(loss, x), directions=0)
    assert [s.seen for s in found.symptoms if s.kind == "dead units"] == [
        "7 of 8 units are 0 for the whole batch"
    ]


def test_what_cannot_run_in_double_precision_is_said():
    def single(x: Any) -> Any:
        assert x.dtype == torch.float32, "single precision alone"
        return (x * 2).sum()

    found = diagnose(watch_torch(single, torch.ones(3, requires_grad=True)))
    assert not found.symptoms
    assert not found.is_sound
    assert "AssertionError: single precision alone" in " ".join(str(found).split())


def test_the_table_of_layers():
    f, inputs, model = made("mlp")
    run = watch_torch(f, *inputs, model=model)
    table = {layer.name: layer for layer in diagnose(run, directions=0).layers}
    assert table["0"].parameter_bytes == 4 * (8 * 4 + 8)
    assert table["1"].kept == 4 * 16 * 8  # tanh keeps its result
    assert sum(layer.kept for layer in table.values()) == run.kept
    square = sum(float(p.grad.square().sum()) for p in grads(f, inputs, model[2]))
    assert table["2"].gradient == pytest.approx((square / 27) ** 0.5, rel=1e-5)
    assert "512 B" in diagnose(run, directions=0).table()


def grads(f: Any, inputs: Any, module: nn.Module) -> list[Any]:
    f(*inputs).backward()
    return list(module.parameters())


def test_lines_end_before_they_scroll():
    text = "a long reason of short words " * 20
    symptom = Symptom("zero", text, text, text)
    lines = str(symptom).splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert " ".join(" ".join(lines).split()).count(text.strip()) == 3
