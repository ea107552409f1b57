"""Bars of what each layer of a watched run keeps."""

from functools import partial

import jax.numpy as jnp
import numpy as np
import pytest
import torch
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text
from torch import nn
from torch.utils.checkpoint import checkpoint

from chaingrad.account import saved_bytes
from chainview import draw_kept, saved_by_layer
from chainview.frameworks import watch_jax, watch_torch


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


class Nested(nn.Module):
    """Modules with long paths."""

    def __init__(self, depth):
        super().__init__()
        inner = Nested(depth - 1) if depth else nn.Linear(40, 40)
        self.attention = nn.ModuleDict({f"of_the_layer_{depth}": inner})
        self.activation = nn.Tanh()

    def forward(self, x):
        (inner,) = self.attention.values()
        return self.activation(inner(x))


def test_long_names_leave_room_and_all_words_are_in_the_picture():
    model = Nested(3)
    run = watch_torch(lambda x: model(x).square().sum(), torch.randn(50, 40), model=model)
    plot = draw_kept(run)
    (figure,) = plot.figures
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    words = [text for text in figure.findobj(Text) if text.get_text()]
    boxes = [text.get_window_extent(canvas.get_renderer()) for text in words]
    assert all(box.x0 >= 0 and box.x1 <= figure.bbox.width for box in boxes)
    names = texts(plot)[0]
    assert len(set(names)) == len(names) == 4


@pytest.mark.parametrize("nested", [False, True])
def test_a_checkpoint_keeps_what_it_is_given(nested):
    first, blocks = nn.Linear(6, 4), nn.ModuleList(block() for _ in range(3))

    def loss(x):
        h = first(x)
        for inner in blocks:
            f = partial(checkpoint, inner, use_reentrant=False) if nested else inner
            h = checkpoint(f, h, use_reentrant=False)
        return h.square().sum()

    x = torch.randn(5, 6, requires_grad=True)
    model = nn.ModuleList([first, *blocks])
    run = watch_torch(loss, x, model=model)
    by_hand = 5 * 4 * 4 * (3 + 1)  # what each checkpoint is given, and what is squared
    assert run.kept == saved_bytes(loss, x, given=model.parameters()) == by_hand


def test_what_a_checkpoint_keeps_is_told_of_its_first_operation():
    first, inner = nn.Linear(6, 4), block()
    x = torch.randn(5, 6)
    run = watch_torch(
        lambda x: checkpoint(inner, first(x), use_reentrant=False).sum(),
        x,
        model=nn.ModuleList([first, inner]),
    )
    assert {name: count for name, count in saved_by_layer(run).items() if count} == {"1.0": 80}


def test_memory_that_nobody_has_written_to_is_drawn_as_zeros():
    def loss(x):
        out = torch.empty(1000)
        out[0] = x.sum()
        return out[:1].sum()

    torch.full((1000,), 7e33)  # which such memory often holds afterwards
    run = watch_torch(loss, torch.ones(3, requires_grad=True))
    assert max(np.abs(value.data).max() for value in run.values) == 3.0


def test_numbers_may_be_the_arguments_in_jax():
    f = lambda w, x: jnp.tanh(w * x) * w  # noqa: E731
    assert saved_bytes(f, 3.0, 0.5) == watch_jax(f, 3.0, 0.5).kept == 8
