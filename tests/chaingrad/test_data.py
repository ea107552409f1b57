"""The data that come with the package are those of scikit-learn."""

import numpy as np
import pytest

from chaingrad.data import batches, digits, moons


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


@pytest.mark.parametrize(("count", "n", "sizes"), [(7, 3, [3, 3, 1]), (6, 3, [3, 3]), (2, 5, [2])])
def test_batches_have_each_example_once_with_what_belongs_to_it(count, n, sizes) -> None:
    X, y = np.arange(3.0 * count).reshape(count, 3), 10 * np.arange(count)
    rng = np.random.default_rng(0)
    epochs = [list(batches(X, y, n, rng)) for _ in range(3)]
    for epoch in epochs:
        assert [len(rows) for rows, _ in epoch] == sizes
        assert all((10 * rows[:, 0] == 3 * labels).all() for rows, labels in epoch)
        assert sorted(np.concatenate([labels for _, labels in epoch])) == y.tolist()
    orders = {tuple(np.concatenate([labels for _, labels in epoch])) for epoch in epochs}
    assert len(orders) > 1 or count == 2


def test_batches_refuse_what_does_not_fit_at_once() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="3 examples and y has 2"):
        batches(np.ones((3, 1)), np.ones(2), 1, rng)
    with pytest.raises(ValueError, match="got n=0"):
        batches(np.ones((3, 1)), np.ones(3), 0, rng)
    assert list(batches(np.ones((0, 1)), np.ones(0), 4, rng)) == []
