"""The data that come with the package are those of scikit-learn."""

import numpy as np
from sklearn.datasets import load_digits

from chaingrad.data import digits


def test_digits_are_scikit_learns() -> None:
    pixels, labels = digits()
    theirs = load_digits()
    assert np.array_equal(pixels, theirs.data / 16)
    assert np.array_equal(labels, theirs.target)


def test_every_call_gives_arrays_of_its_own() -> None:
    pixels, _ = digits()
    pixels[:] = 0
    assert digits()[0].any()
