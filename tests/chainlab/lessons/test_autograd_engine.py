"""What *An autograd engine* and its pages of the atlas draw."""

import numpy as np
import pytest

from chainlab.lessons.autograd_engine import draw_pass, play_pass
from chainlab.lessons.checking_a_gradient import draw_errors, draw_rounding
from chainlab.lessons.engine import Node
from chainlab.lessons.sharing_weights import draw_two_examples
from chainview.plots import Plot


def bend() -> dict[str, Node]:
    w, x, b = map(Node, (0.5, 1.5, -0.2))
    p = w * x
    z = p + b
    h = z * z
    return {"w": w, "x": x, "b": b, "p": p, "z": z, "h": h, "out": z + h}


def test_the_drawing_says_what_came_along_each_arrow() -> None:
    named = bend()
    named["out"].backward()
    drawing = draw_pass(named)
    assert drawing.fits
    for words in (
        "z gets 1 from out",
        "z gets 0.55 from h; z gets 0.55 from h",
        "w gets 3.15 from p",
    ):
        assert words in drawing.alt


def test_the_player_plays_the_pass_under_the_names() -> None:
    named = bend()
    player = play_pass(named["out"], named)
    assert "from w, x, b to out" in str(player)
    assert "z.grad +=" in player.html
    assert named["w"].grad == 0.0


def test_two_examples_bring_a_share_each() -> None:
    drawing = draw_two_examples(0.5, [1.5, -1.0], [0.05, 0.5])
    assert drawing.fits
    for words in ("w gets 2.1 from p1", "w gets 2 from p2", "e1 gets 1.4 from e1²"):
        assert words in drawing.alt


def test_plots_are_told_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(Plot, "show", lambda plot, alt: told.append(alt))
    draw_errors([1e-6, 1e-3], {"central": [1e-10, 1e-6], "one-sided": [1e-6, 1e-3]})
    draw_rounding(np.array([0.1, 10.0]), np.array([1e-6, 1e-6]), 1e-4)
    assert "form a V" in told[0]
    assert "The cloud is level" in told[1]
