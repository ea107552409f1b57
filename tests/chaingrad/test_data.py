"""The data that come with the package are those of scikit-learn."""

import numpy as np
import pytest

from chaingrad.data import digits, moons


@pytest.mark.slow
def test_digits_are_scikit_learns() -> None:
    from sklearn.datasets import load_digits  # it takes a second, and one worker is enough

    pixels, labels = digits()
    theirs = load_digits()
    assert np.array_equal(pixels, theirs.data / 16)
    assert np.array_equal(labels, theirs.target)


def test_every_call_gives_arrays_of_its_own() -> None:
    pixels, _ = digits()
    pixels[:] = 0
    assert digits()[0].any()


def test_moons_are_two_half_circles_that_a_line_does_not_part() -> None:
    points, labels = moons(2000, np.random.default_rng(3))
    assert points.shape == (2000, 2)
    assert np.bincount(labels).tolist() == [1000, 1000]
    centres = np.where(labels[:, None] == 0, [0.0, 0.0], [1.0, 0.5])
    distances = np.linalg.norm(points - centres, axis=1)
    assert abs(distances.mean() - 1) < 0.01
    assert 0.09 < distances.std() < 0.11
    inputs = np.column_stack([points, np.ones(len(points))])
    line = np.linalg.lstsq(inputs, 2.0 * labels - 1, rcond=None)[0]
    assert 0.8 < np.mean((inputs @ line > 0) == labels) < 0.95
    again, _ = moons(2000, np.random.default_rng(3))
    assert np.array_equal(points, again)
