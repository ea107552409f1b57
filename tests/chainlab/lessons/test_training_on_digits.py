"""What *Training on digits* draws."""

import numpy as np

from chainlab.lessons.training_on_digits import draw_losses, draw_weights


def test_the_losses_are_told_with_their_numbers(shown: list[str]) -> None:
    lams, seeds = (0.0, 0.1, 1.0), (0, 1)
    rows = {lam: [[0, 1.0, 0.1, 1.0, 0.1], [100, lam / 2, 0.9, 1 - lam, 0.8]] for lam in lams}
    runs = {(lam, s): (None, None, np.array(rows[lam])) for lam in lams for s in seeds}
    draw_losses(runs, lams, seeds)
    (alt,) = shown
    assert "with λ = 0.1 they end at 0.050 and 0.900" in alt
    assert "0.000, 0.050, 0.500 in training, 1.000, 0.900, 0.000 in the test" in alt


def test_the_weights_are_told_by_their_size(shown: list[str]) -> None:
    draw_weights({"start": np.full((4, 64), 0.5), "end": np.full((4, 64), 0.25)}, units=3)
    assert "2 rows of 3 images" in shown[0]
    assert "start: 0.500, end: 0.250" in shown[0]
