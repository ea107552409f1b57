"""Bars of what each layer of a watched run keeps."""

import pytest
import torch
from torch import nn

from chaingrad.account import saved_by_layer, saved_bytes
from chainview import draw_kept
from chainview.frameworks import watch_torch


def block():
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 4), nn.Sigmoid())


def watched(blocks):
    model = nn.Sequential(*(block() for _ in range(blocks)))
    x = torch.randn(5, 4)
    run = watch_torch(lambda x: model(x).square().sum(), x, model=model)
    return run, saved_bytes(lambda x: model(x).square().sum(), x, given=model.parameters())


def texts(plot):
    (figure,) = plot.figures
    (ax,) = figure.axes
    return [label.get_text() for label in ax.get_yticklabels()], [p.get_width() for p in ax.patches]


def test_layers_add_up_to_what_is_measured():
    run, measured = watched(2)
    kept = saved_by_layer(run)
    assert kept == {
        **{f"{b}.{m}": 0 for b in "01" for m in "02"},
        "0.1": 5 * 8 * 4,
        "0.3": 5 * 4 * 4,
        "1.1": 5 * 8 * 4,
        "1.3": 5 * 4 * 4,
        "(no module)": 0,
    }
    assert list(kept)[:4] == ["0.0", "0.1", "0.2", "0.3"]
    assert sum(kept.values()) == run.kept == measured
    assert saved_by_layer(run, 1) == {"0": measured // 2, "1": measured // 2, "(no module)": 0}


def test_bars_are_those_of_the_layers_that_keep_something():
    run, measured = watched(2)
    plot = draw_kept(run)
    assert texts(plot) == (["0.1", "0.3", "1.1", "1.3"], [160, 80, 160, 80])
    assert plot.alt == (
        f"Bars: bytes kept by layer, {measured} B in all. 0.1 160 B, 0.3 80 B, 1.1 160 B, 1.3 80 B."
    )
    assert "480 B in all" in plot.svg()


def test_a_deep_model_has_a_bar_for_each_outer_module():
    run, _ = watched(20)
    assert texts(draw_kept(run))[0] == [str(i) for i in range(20)]
    assert len(texts(draw_kept(run, depth=2))[0]) == 40


def test_where_nothing_is_kept_there_is_nothing_to_draw():
    w = torch.ones(3, requires_grad=True)
    with pytest.raises(ValueError, match="nothing is kept"):
        draw_kept(watch_torch(lambda: w.sum()))
