"""What *Layers of today* draws."""

import numpy as np

from chainlab.lessons.layers_of_today import draw_norm, draw_uses


def test_the_uses_are_told(shown: list[str]) -> None:
    draw_uses()
    assert "row 1 of the table goes to the places 0 and 2 of (1, 3, 1, 0)" in shown[0]
    assert "weight 0 of the filter goes to all 4 results" in shown[0]


def test_the_norm_is_told_with_its_numbers(shown: list[str]) -> None:
    draw_norm(np.array([1.0, -1.0]), np.array([0.5, 0.25]), np.array([-0.0, 0.0]))
    assert "row 1.00, -1.00; what arrives 0.50, 0.25; what goes on 0.00, 0.00." in shown[0]
