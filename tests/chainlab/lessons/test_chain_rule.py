"""What *The chain rule* draws, held to PyTorch."""

from itertools import pairwise

import pytest
import torch

from chainlab.lessons.chain_rule import (
    PATTERNS,
    draw_neuron,
    draw_nudge,
    draw_pull_and_push,
    four_patterns,
    neuron,
    nudged,
)
from chainview.player.names import brief
from chainview.plots import Plot


def test_the_neuron_has_the_gradients_that_pytorch_gives() -> None:
    nodes = neuron()
    leaves = {name: torch.tensor(nodes[name].data, dtype=torch.float64) for name in "wxb"}
    for leaf in leaves.values():
        leaf.requires_grad_()
    z = leaves["w"] * leaves["x"] + leaves["b"]
    loss = (z + torch.tanh(z) - nodes["target"].data) ** 2
    loss.backward()
    assert nodes["loss"].data == pytest.approx(loss.item())
    for name, leaf in leaves.items():
        assert nodes[name].grad == pytest.approx(leaf.grad.item())


def test_the_drawing_says_what_comes_back_along_each_arrow() -> None:
    drawing = draw_neuron()
    assert drawing.fits
    for words in ("w gets 4.464 from p", "z gets 1.275 from h", "z gets 1.701 from out"):
        assert words in drawing.alt
    assert "target" not in drawing.alt


def test_a_nudge_is_multiplied_by_the_slopes() -> None:
    moves = [move for _, _, move in nudged()]
    nodes = neuron()
    slopes = [nodes["x"].data, 1.0, 1 - nodes["h"].data ** 2]
    for (last, move), slope in zip(pairwise(moves), slopes, strict=True):
        assert move / last == pytest.approx(slope, rel=1e-3)


def test_the_nudge_is_told_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(Plot, "show", lambda plot, alt: told.append(alt))
    draw_nudge()
    assert "h by 0.001123" in told[0]


def test_the_diamonds_have_their_four_slopes() -> None:
    drawing = draw_pull_and_push()
    assert drawing.fits
    for slope in "αβγδ":
        assert drawing.source.count(f"× {slope}") == 2  # once in each drawing
    assert drawing.source.count("1 · δ") == 1  # only who pulls has it already


@pytest.mark.parametrize("name", PATTERNS)
def test_patterns_have_the_slopes_that_pytorch_gives(name: str) -> None:
    a, b = (torch.tensor(number, requires_grad=True) for number in (3.0, 5.0))
    value = {"sum": a + b, "product": a * b, "maximum": torch.maximum(a, b)}[name]
    value.backward()
    assert PATTERNS[name] == (value.item(), a.grad.item(), b.grad.item())
    drawing = four_patterns()
    assert drawing.fits
    assert f"a gets {brief(2 * a.grad.item())} from the {name}" in drawing.alt
