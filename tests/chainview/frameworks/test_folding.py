"""Watched runs in few boxes, drawn, played."""

import re
import xml.etree.ElementTree as ET

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from torch import nn

from chaingrad.messages import Message
from chainview import draw_gradient_flow, draw_graph, play
from chainview.frameworks import watch_jax, watch_torch
from chainview.player.watch import Written
from tests.chainview.frameworks.models import CASES, made


def run_of(name):
    f, inputs, model = made(name)
    return watch_torch(f, *inputs, model=model)


@pytest.mark.parametrize("most", [5, 12])
@pytest.mark.parametrize("name", sorted(CASES))
def test_boxes_are_sent_what_the_values_in_them_are(name, most):
    run = run_of(name)
    boxes = run.folded(most)
    box_of = {inner: box for box in boxes.values for inner in box.inside or (box,)}
    assert set(box_of) == set(run.values)
    sent = [
        (box_of[e.child], box_of[e.parent], e.share)
        for e in run.events
        if isinstance(e, Message) and box_of[e.child] is not box_of[e.parent]
    ]
    ours = [(e.child, e.parent, e.share) for e in boxes.events if isinstance(e, Message)]
    assert len(ours) == len(sent)
    assert [[*map(id, one)] for one in ours] == [[*map(id, one)] for one in sent]
    for event in boxes.events:
        if isinstance(event, Message):
            assert event.child.parents[event.position] is event.parent
    assert sum(box.kept for box in boxes.values) == run.kept
    assert boxes.loss.data is run.loss.data


def test_a_module_is_opened_by_its_path():
    run = run_of("rnn")
    third = run.inside("cell (call 3)")
    assert third.loss.op == "Tanh"
    assert isinstance(third.events[0], Written)
    np.testing.assert_array_equal(third.events[0].value, third.loss.grad)
    assert {v.label for v in third.values} >= {"cell.weight_ih", "cell.weight_hh"}
    with pytest.raises(KeyError, match=r"'cel' was called; there are .*cell"):
        run.inside("cel")


def test_parameters_are_in_the_module_that_alone_reads_them():
    boxes = run_of("transformer").folded(20)
    linear = next(v for v in boxes.values if v.label == "linear1")
    assert linear.op == "Linear"
    assert {"linear1.weight", "linear1.bias"} <= {v.label for v in linear.inside}
    assert "linear1.weight" not in {v.label for v in boxes.values}


@pytest.mark.parametrize("draw", [draw_graph, draw_gradient_flow])
def test_runs_are_drawn(draw):
    drawing = draw(run_of("mlp"))
    assert "Root: loss = 1.138" in drawing.alt
    for part in ("0.weight", "norm 1.561, largest 0.4777", "keeps 512 B"):
        assert part in drawing.source


def test_a_box_that_holds_all_it_reads_is_no_leaf():
    embed, head = nn.Sequential(nn.Embedding(5, 4), nn.Tanh()), nn.Linear(4, 2)
    model = nn.ModuleList([embed, head])
    run = watch_torch(lambda: head(embed(torch.arange(5))).sum(), model=model).folded(4)
    boxes = [box for box in run.values if box.op and not box.parents]
    assert boxes
    assert "leaf" not in draw_graph(run).source
    assert play(run).html


def test_the_flow_shows_each_share():
    run = run_of("mlp")
    source = draw_gradient_flow(run).source
    shares = [e.share for e in run.events if isinstance(e, Message)]
    assert source.count("↑ ") == len(shares)
    assert f"norm {np.linalg.norm(shares[0]):.4g}" in source


def test_runs_of_jax_are_drawn_and_played():
    run = watch_jax(lambda w, x: jnp.tanh(x @ w).sum(), jnp.ones((3, 2)), jnp.ones((4, 3)))
    assert "dot_general" in draw_graph(run).source
    steps = play(run).steps
    assert sum(step.edge is not None for step in steps) == len(run.events) - 1


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(CASES))
@pytest.mark.parametrize("most", [1000, 2**28])
def test_runs_are_played_as_they_were(name, most):
    f, inputs, _ = made(name)
    run = watch_torch(f, *inputs, most=most)
    player = play(run)
    told = [step.edge[:2] for step in player.steps if step.edge]
    assert len(told) == sum(isinstance(e, Message) for e in run.folded().events)
    assert "lost" not in " ".join(step.words for step in player.steps)
    assert player.html.startswith("<")


def test_empty_arrays_are_played():
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    player = play(watch_torch(lambda a: torch.cat([a, a[:0]]).square().sum(), a))
    assert player.html


def test_names_are_not_cut_to_what_they_share():
    model = nn.Module()
    model.encoder = nn.Module()
    model.encoder.attention_layers = nn.Sequential(*(nn.Linear(2, 2) for _ in range(3)))
    f = model.encoder.attention_layers
    player = play(watch_torch(lambda x: f(x).sum(), torch.ones(1, 2), model=model))
    picture = ET.tostring(player._pictures[0], encoding="unicode")
    names = re.findall(r'class="cg-name">([^<]*…[^<]*)<', picture)
    assert len(names) == 6
    assert len(set(names)) == 6


def test_complex_numbers_are_played():
    z = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    player = play(watch_torch(lambda z: (z.sum() * z[0]).abs(), z))
    assert any("4+1j" in step.words for step in player.steps)
    assert player.html


def test_a_run_cannot_be_played_another_way():
    with pytest.raises(TypeError, match="a watched run has run"):
        play(run_of("mlp"), backward=lambda: None)


@pytest.mark.slow
def test_names_are_those_of_scopes_and_functions():
    def f(w, x):
        with jax.named_scope("encoder"):
            for _ in range(30):
                x = jnp.tanh(x @ w)
        return jax.nn.softmax(x).mean()

    boxes = watch_jax(f, jnp.eye(3), jnp.ones((2, 3))).folded(20)
    assert "encoder" in {v.label for v in boxes.values}


@pytest.mark.slow
def test_a_deep_model_is_read_without_recursion():
    model = nn.Sequential(*(nn.Tanh() for _ in range(3000)))
    x = torch.ones(2, requires_grad=True)
    assert len(watch_torch(lambda x: model(x).sum(), x).folded().values) <= 60
