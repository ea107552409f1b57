"""Functions of NumPy on data, which a program calls as they stand."""

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from chaingrad import Node, program, value_and_grad
from chaingrad.rules import TracingError

X = np.random.default_rng(0).standard_normal((4, 3))
Y = np.array([0, 2, 1, 1])
W = np.array([0.5, -1.0, 2.0])

# Each of a matrix X and integers y gives what the weights are multiplied by; all are plain data.
ON_DATA = [
    lambda X, y: X.std(axis=0), lambda X, y: X.var(), lambda X, y: np.std(X),
    lambda X, y: np.var(X, 1)[:3], lambda X, y: np.linalg.norm(X),
    lambda X, y: np.diff(X, axis=0)[0], lambda X, y: np.tril(X)[-1], lambda X, y: np.diag(X),
    lambda X, y: np.roll(X, 1, axis=1)[0], lambda X, y: np.pad(X, 1)[1, 1:-1],
    lambda X, y: np.median(X, axis=0), lambda X, y: np.percentile(X, 30),
    lambda X, y: np.flip(X)[0], lambda X, y: np.quantile(X, [0.1, 0.5, 0.9]),
    lambda X, y: np.cumprod(X, axis=0)[1], lambda X, y: X.clip(-0.5, 0.5)[0],
    lambda X, y: X.dot(X[0])[:3], lambda X, y: X.flatten()[:3], lambda X, y: np.round(X, 1)[2],
    lambda X, y: np.hstack([X, X])[0, 2:5], lambda X, y: np.vstack([X, X])[5],
    lambda X, y: np.column_stack([X[:, 0], X])[1, 1:], lambda X, y: np.stack([X, X])[1, 2],
    lambda X, y: np.repeat(X[0], 2)[:3], lambda X, y: np.tile(X[0], 2)[1:4],
    lambda X, y: np.meshgrid(X[0], X[1])[1][0], lambda X, y: np.cov(X.T)[0],
    lambda X, y: np.corrcoef(X.T)[1], lambda X, y: np.linalg.inv(X.T @ X)[0],
    lambda X, y: np.linalg.solve(X.T @ X, X[0]), lambda X, y: np.linalg.eigh(X.T @ X)[1][0],
    lambda X, y: np.linalg.eigh(X.T @ X).eigenvalues, lambda X, y: np.linalg.slogdet(X.T @ X)[1],
    lambda X, y: np.linalg.svd(X, compute_uv=False),
    lambda X, y: np.average(X, axis=0, weights=[1.0, 2.0, 3.0, 4.0]),
    lambda X, y: X.argmax(axis=0), lambda X, y: np.ptp(X, axis=0),
    lambda X, y: np.nan_to_num(X)[0], lambda X, y: np.logical_and(X > 0, X < 1)[0],
    lambda X, y: np.full_like(X, 0.5)[0], lambda X, y: X.swapaxes(0, 1)[:, 0],
    lambda X, y: np.searchsorted(np.sort(X[:, 0]), X[:3, 1]),
    lambda X, y: np.digitize(X[0], [-1.0, 0.0, 1.0]), lambda X, y: np.take(X, [1, 2, 0]),
    lambda X, y: X.take([1, 0], axis=0)[0], lambda X, y: np.tensordot(X, X, 2),
    lambda X, y: np.take_along_axis(X, np.argsort(X, axis=1), 1)[0],
    lambda X, y: np.inner(X[0], X)[:3], lambda X, y: np.kron(X[0], X[1])[:3],
    lambda X, y: np.fft.rfft(X[:, 0]).real[:3], lambda X, y: np.abs(np.fft.fft(X[0])),
    lambda X, y: np.convolve(X[0], [0.5, 0.5], "same"),
    lambda X, y: np.interp(X[0], [-1, 1], [0, 2]), lambda X, y: np.trapezoid(X, axis=0),
    lambda X, y: np.select([X > 0, X < -1], [X, -X], 0.5)[0],
    lambda X, y: np.maximum.accumulate(X)[2], lambda X, y: np.add.outer(X[0], X[1])[0],
    lambda X, y: np.sum(X, where=X > 0), lambda X, y: np.sum(X, 0, np.float64),
    lambda X, y: np.array_split(X, 2)[1][0], lambda X, y: np.split(X, 2)[0][1],
    lambda X, y: np.moveaxis(X, 0, 1)[:, 1], lambda X, y: (y[:3, None] == np.arange(3))[1] * 1.0,
    lambda X, y: sliding_window_view(X[:, 0], 2)[:3, 0], lambda X, y: np.count_nonzero(X > 0),
    lambda X, y: np.atleast_2d(X[0])[0], lambda X, y: np.trace(X), lambda X, y: X.round(1)[0],
    lambda X, y: np.broadcast_arrays(X, X[0])[1][0], lambda X, y: X.copy()[0],
    lambda X, y: np.histogram(X, 3, (-2, 2))[0], lambda X, y: np.cumsum(X, dtype=np.float64)[:3],
]  # fmt: skip


def assert_equal(f, *args):
    step = program(f)
    got, expected = step(*args), value_and_grad(f)(*args)
    for a, b in zip(got, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    return step


@pytest.mark.parametrize("data", ON_DATA)
def test_a_function_of_data_is_called_as_it_stands(data):
    def loss(w, X, y):
        return (w * data(X, y)).sum()

    step = assert_equal(loss, W, X, Y)
    again = np.random.default_rng(1).standard_normal((4, 3))
    got, expected = step(W, again, Y), value_and_grad(loss)(W, again, Y)
    for a, b in zip(got, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_it_reads_as_it_was_written():
    def loss(w, X):
        return (w * np.quantile(X, [0.1, 0.5, 0.9], axis=0)[1]).sum()

    step = assert_equal(loss, W, X)
    assert "np.quantile(X, [0.1, 0.5, 0.9], axis=0)[1]" in step.source


def test_a_function_with_several_results_is_called_for_each():
    def loss(w, X):
        values, vectors = np.linalg.eigh(X.T @ X)
        return (w * (vectors @ values)).sum()

    step = assert_equal(loss, W, X)
    assert step.source.count("np.linalg.eigh(") == 2


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (lambda X: np.unique(X), "the shape of what np.unique gives depends on values"),
        (lambda X: np.where(X > 0)[0], "the shape of what np.where gives depends on values"),
        (lambda X: np.nonzero(X)[0], "np.nonzero gives depends on values"),
        (lambda X: np.repeat(X, np.argsort(X[0]), axis=1), "np.repeat gives depends on values"),
        (lambda X: np.empty_like(X), "np.empty_like is not written down"),
        (lambda X: np.shares_memory(X, X), "np.shares_memory is not written down"),
        (lambda X: X.sort(), r"cannot call sort\(\) on a traced value"),
        (lambda X: X.fill(0.0), r"cannot call fill\(\) on"),
        (lambda X: np.apply_along_axis(np.sum, 0, X), "apply_along_axis|plain array"),
        (lambda X: np.eye(4)[X[0] > 0], r"One-hot rows are \(y\[:, None\] == np.arange\(k\)\)"),
    ],
)
def test_what_cannot_be_written_down_is_refused(data, message):
    with pytest.raises(TracingError, match=message):
        program(lambda w, X: (w * data(X)).sum())(W, X)


def test_a_traced_value_has_no_more_names_than_an_array():
    seen = []

    def loss(w, X):
        seen.append([hasattr(X, name) for name in ("std", "numpy", "backward", "T")])
        return (w * X[0]).sum()

    program(loss)(W, X)
    assert seen[0] == [True, False, False, True]


def test_no_result_shows_the_memory_of_another():
    def loss(w, X):
        shown = np.swapaxes(X, 0, 1), np.diagonal(X), np.broadcast_arrays(X, X[0])[0]
        return (w * X).sum(), shown

    given = X.copy()
    (_, results), gradient = program(loss, has_aux=True)(W, given)
    for i, a in enumerate(results):
        assert not any(np.shares_memory(a, b) for b in (given, gradient, *results[:i]))
        a += 1.0  # it may be written to


def test_nodes_are_no_data():
    with pytest.raises(TypeError, match=r"np\.quantile of a node has no derivative"):
        program(lambda w: np.quantile(w, 0.5) * w.sum())(W)
    assert isinstance(np.median(Node(W)), Node)
