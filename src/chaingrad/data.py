"""A data set small enough to come with the package, so that it is there in live cells, too."""

from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

__all__ = ["digits"]


def digits() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """1,797 handwritten digits: pixels (1797, 64) from 0 to 1, and labels (1797,) from 0 to 9.

    Each row is an image of 8 × 8 pixels, its rows one after the other. They are the test images of
    Alpaydin and Kaynak, *Optical recognition of handwritten digits* (UCI Machine Learning
    Repository, 1998, doi:10.24432/C50P49, CC BY 4.0), which scikit-learn carries as
    ``load_digits``, divided by 16.

    >>> pixels, labels = digits()
    >>> pixels.shape, float(pixels.max()), labels[:5].tolist()
    ((1797, 64), 1.0, [0, 1, 2, 3, 4])
    """
    with (files("chaingrad") / "digits.npz").open("rb") as file, np.load(file) as stored:
        return stored["pixels"] / 16, stored["labels"].astype(np.int64)
