"""What *The chain rule* draws, held to PyTorch."""

import math

import pytest
import torch

from chainlab.lessons.chain_rule import (
    AT,
    PATTERNS,
    SLOPES,
    draw_neuron,
    draw_pull_and_push,
    four_patterns,
    moved,
)
from chainview.player.names import brief
from tests.support import each


@each("nudge", [-1.0, -1e-3, 1e-5, 0.6, 1.0])
def test_a_nudge_moves_what_it_moves_in_pytorch(nudge: float) -> None:
    def steps(w: torch.Tensor) -> list[torch.Tensor]:
        p = w * 1.5
        return [w, p, p - 0.2, torch.tanh(p - 0.2)]

    w = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    before, after = steps(w), steps(w.detach() + nudge)
    assert [number.item() for number in before] == pytest.approx(AT)
    assert [(new - old).item() for old, new in zip(before, after, strict=True)] == pytest.approx(
        moved(nudge)
    )
    before[-1].backward()
    assert w.grad is not None
    assert math.prod(SLOPES) == pytest.approx(w.grad.item())


def test_the_drawing_has_the_adjoints() -> None:
    drawing = draw_neuron()
    assert drawing.fits
    for words in ("w = 0.5 (gradient 4.464)", "b = −0.2 (gradient 2.976)"):
        assert words in drawing.alt


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
