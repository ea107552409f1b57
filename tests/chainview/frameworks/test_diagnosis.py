"""Each symptom is provoked by a model made for it; sound models have none."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from chainview import draw_gradient_flow, draw_graph
from chainview.draw.palette import LIGHT
from chainview.frameworks import diagnose, watch_jax, watch_torch
from chainview.frameworks.symptom import WIDTH, Symptom
from tests.chainview.frameworks.models import CASES, made
from tests.chainview.frameworks.test_record_jax import made as made_in_jax
from tests.chainview.frameworks.test_record_torch import Lost, assert_same, everything
from tests.support import sampled


@pytest.mark.slow
@pytest.mark.parametrize("name", sampled(sorted(CASES), "mlp", "in place"))
def test_sound_models_have_no_symptom_before_and_after_100_steps(name):
    f, inputs, model = made(name)
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    before = everything(model, inputs)
    found = diagnose(watch_torch(f, *inputs, model=model))
    assert_same(everything(model, inputs), before)
    assert found.is_sound, found
    for _ in range(100):
        optimizer.zero_grad()
        f(*inputs).backward()
        optimizer.step()
    assert diagnose(watch_torch(f, *inputs, model=model)).is_sound


@pytest.mark.slow
@pytest.mark.parametrize("name", sampled(["mlp", "rnn", "attention"], "mlp"))
def test_sound_functions_of_jax_have_none(name):
    f, p, x = made_in_jax(name)
    found = diagnose(watch_jax(f, p, x))
    assert found.is_sound, found
    assert not found.remarks


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
    assert "from Sub of [−1.0, −1.0, −1.0, −1.0, −1.0, −1.0]" in found.symptoms[0].seen


@pytest.mark.parametrize("fault", [math.nan, math.inf])
def test_what_is_given_and_no_number_is_no_operations_fault(fault: float):
    model, x = nn.Linear(4, 1), torch.randn(5, 4)
    x[2, 1] = fault
    (symptom,) = diagnose(watch_torch(lambda x: model(x).pow(2).mean(), x)).symptoms
    assert symptom.kind == "not finite"
    assert symptom.values[0].name == "x"
    assert "input" in symptom.where
    assert symptom.where.endswith("x")
    assert f"{fault} at (2, 1)" in symptom.seen
    assert "logarithm" not in symptom.look


def test_an_infinite_share_that_a_mask_takes_away_does_no_harm():
    w = torch.tensor([-1.0, 2.0], requires_grad=True)
    run = watch_torch(lambda w: w.relu().sqrt().sum(), w)
    assert any(not np.isfinite(event.share).all() for event in run.events[1:])
    assert np.isfinite(run["w"].grad).all()
    assert diagnose(run).symptoms == []


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

    found = diagnose(watch_torch(loss, torch.rand(20, 3, 2)))
    assert kinds(found) == ["exploding"]
    assert found.symptoms[0].where.startswith("RNNCell, from call 1")
    assert "times 3.9" in found.symptoms[0].seen


def test_units_that_are_dead_on_this_batch():
    model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
    model[0].bias.data[:6] = -100.0
    run = watch_torch(lambda x: model(x).sum(), torch.randn(5, 3))
    found = diagnose(run)
    assert kinds(found) == ["dead units"]
    assert "6 of 8 units" in found.symptoms[0].seen


def test_what_is_found_is_marked_in_drawings_and_the_run_itself_is_not():
    torch.manual_seed(0)
    body = nn.Linear(3, 4)

    def distance(x: Any) -> Any:
        e = body(x)
        return (e[:, None] - e).square().sum(-1).sqrt().mean()

    run = watch_torch(distance, torch.randn(5, 3), model=body)
    found = diagnose(run)
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
    found = diagnose(deep(1.0, nn.Sigmoid))
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
    cut = next(symptom for symptom in found.symptoms if symptom.where == "cut.weight")
    assert (cut.seen, cut.look) == ("the result is detached", "the forward pass of Lost")
    layer = nn.Linear(3, 8)
    layer.bias.data[:6] = -100.0
    found = diagnose(watch_torch(lambda x: layer(x).relu().sum(), torch.randn(5, 3)))
    assert [value.op for value in found.run.marks] == ["Relu"]


def test_units_of_a_recurrent_net_are_dead_if_they_are_so_in_each_call():
    torch.manual_seed(0)
    cell = nn.RNNCell(2, 8, nonlinearity="relu")

    def loss(x: Any) -> Any:
        h = torch.zeros(3, 8)
        for row in x:
            h = cell(row, h)
        return h.sum()

    x = torch.randn(6, 3, 2)
    assert diagnose(watch_torch(loss, x)).symptoms == []
    cell.bias_hh.data[:7] = -100.0
    cell.bias_hh.data[7] = 5.0
    found = diagnose(watch_torch(loss, x))
    assert [s.seen for s in found.symptoms if s.kind == "dead units"] == [
        "7 of 8 units are 0 for the whole batch"
    ]


def test_the_table_of_layers():
    f, inputs, model = made("mlp")
    run = watch_torch(f, *inputs, model=model)
    table = {layer.name: layer for layer in diagnose(run).layers}
    assert table["0"].parameter_bytes == 4 * (8 * 4 + 8)
    assert table["1"].kept == 4 * 16 * 8  # tanh keeps its result
    assert sum(layer.kept for layer in table.values()) == run.kept
    square = sum(float(p.grad.square().sum()) for p in grads(f, inputs, model[2]))
    assert table["2"].gradient == pytest.approx((square / 27) ** 0.5, rel=1e-5)
    assert "512 B" in diagnose(run).table()


def grads(f: Any, inputs: Any, module: nn.Module) -> list[Any]:
    f(*inputs).backward()
    return list(module.parameters())


def test_lines_end_before_they_scroll():
    text = "a long reason of short words " * 20
    symptom = Symptom("zero", text, text, text)
    lines = str(symptom).splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert " ".join(" ".join(lines).split()).count(text.strip()) == 3
