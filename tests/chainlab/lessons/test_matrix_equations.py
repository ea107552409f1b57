"""What *A batch, and softmax* draws."""

import numpy as np

from chainlab.lessons.matrix_equations import draw_pulls, draw_sums, numerical


def test_the_sums_are_of_whole_numbers_and_right() -> None:
    figure = draw_sums()
    assert "dW_11 takes column 1 of dZ and column 1 of X: 2·2 + (−1)·3" in figure.alt


def test_the_pulls_are_told_with_their_numbers(shown: list[str]) -> None:
    labels = np.arange(10)
    before, after = np.full((10, 10), 0.1), np.zeros((10, 10))
    before[labels, labels] = -0.9
    after[labels, labels] = -np.arange(10) / 10
    draw_pulls(before, after, labels)
    assert "the right class has -0.90 on average" in shown[0]
    assert shown[0].endswith("0.00, -0.10, -0.20, -0.30, -0.40, -0.90, -0.80, -0.70.")


def test_differences_leave_the_array_as_it_was() -> None:
    array = np.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(numerical(lambda: (array**2).sum(), array), 2 * array, atol=1e-6)
    np.testing.assert_array_equal(array, np.arange(6.0).reshape(2, 3))
