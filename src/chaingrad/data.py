"""Data small enough to come with the package, so that they are there in live cells, too."""

from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["batches", "digits", "moons"]


def digits() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Load 1,797 handwritten digits: pixels (1797, 64) from 0 to 1, and labels (1797,) from 0 to 9.

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


def moons(n: int, rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Draw ``n`` points (n, 2) near two interlocking half circles, and their labels (n,).

    Points with label 0 lie on the upper half of the unit circle, those with label 1 on a lower
    half around (1, 1/2), and all are off by normal noise of 0.1. The labels alternate, so that any
    stretch of the points has as many of one as of the other.

    >>> points, labels = moons(100, np.random.default_rng(0))
    >>> points.shape, labels[:4].tolist()
    ((100, 2), [0, 1, 0, 1])

    Raises:
        ValueError: ``n`` is below 0.
    """
    labels = np.arange(n, dtype=np.int64) % 2
    angles, side = rng.uniform(0.0, np.pi, n), 1.0 - 2.0 * labels
    circles = np.stack([np.cos(angles), np.sin(angles)], axis=1) * side[:, None]
    centres = labels[:, None] * np.array([1.0, 0.5])
    return circles + centres + rng.normal(0.0, 0.1, (n, 2)), labels


def batches(
    X: NDArray[Any], y: NDArray[Any], n: int, rng: np.random.Generator
) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Yield each example once, in an order that ``rng`` draws, ``n`` at a time.

    Args:
        X: examples, one a row (N, …).
        y: what belongs to each of them (N, …).
        n: the size of a batch; the last one has what is left.
        rng: draws the order. The next epoch's call with the same ``rng`` draws another.

    Raises:
        ValueError: ``n`` is below 1, or ``X`` and ``y`` are not equally long.

    >>> X, y = np.arange(10.0).reshape(5, 2), np.arange(5)
    >>> for rows, labels in batches(X, y, 2, np.random.default_rng(0)):
    ...     print(rows.shape, labels)
    (2, 2) [2 4]
    (2, 2) [3 0]
    (1, 2) [1]
    """
    if n < 1:
        raise ValueError(f"batches: a batch needs 1 example or more; got n={n!r}")
    if len(X) != len(y):
        raise ValueError(f"batches: X has {len(X)} examples and y has {len(y)}; they must be equal")
    order = rng.permutation(len(X))
    return ((X[at], y[at]) for at in (order[i : i + n] for i in range(0, len(X), n)))
