"""What a program takes, and what it refuses with words."""

import pickle
import threading

import numpy as np
import pytest
import torch

from chaingrad import hessian, jacobian, program, value_and_grad
from chaingrad.rules import TracingError

X = np.random.default_rng(0).standard_normal((4, 3))
W = np.array([0.5, -1.0, 2.0])


def iterated(x, count):
    for _ in range(count):
        x = np.sin(x) * x
    return x


def squares(x):
    return (x * x).sum()


@pytest.mark.parametrize("name", ["inv", "det"])
def test_matrix_functions_of_data_are_called(name):
    def loss(w, X):
        return (w * getattr(np.linalg, name)(X.T @ X)).sum()

    step = program(loss)
    for got, expected in zip(step(W, X), value_and_grad(loss)(W, X), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-12)
    assert f"np.linalg.{name}(X.T @ X)" in step.source


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (lambda X: np.unique(X), "np.unique is not written down: compute it outside"),
        (lambda X: np.linalg.eigh(X.T @ X)[0], "np.eigh is not written down"),
        (lambda X: X.std(axis=0), "np.std is not written down"),
        (lambda X: np.sum(X, where=X > 0), "np.sum with these arguments is not written down"),
        (lambda X: np.maximum.accumulate(X)[0], "np.maximum with accumulate"),
        (lambda X: X.sort(), r"cannot call sort\(\)"),
        (lambda X: np.eye(4)[X[0] > 0], "make a plain array of|select entries by a mask"),
        (lambda X: iterated(X, 300), "more than the 200 that a person reads. Write it on arrays"),
        (lambda X: iterated(X, 10_000), "more than the 200"),
        (lambda X: X * np.random.normal(), "draws random numbers"),  # noqa: NPY002
    ],
)
def test_what_cannot_be_written_down_is_refused(data, message):
    with pytest.raises(TracingError, match=message):
        program(lambda w, X: (w * data(X)).sum())(W, X)


def test_nodes_are_no_data():
    with pytest.raises(TypeError, match=r"np\.quantile of a node has no derivative"):
        program(lambda w: np.quantile(w, 0.5) * w.sum())(W)


@pytest.mark.parametrize(
    "numbers",
    [range(1, 4), [1, 2, 3], [1.0, 2.0, 3.0], torch.tensor([1.0, 2.0, 3.0]),
     np.arange(1.0, 4.0).view(np.memmap)],
)  # fmt: skip
def test_what_stands_for_an_array_is_one(numbers):
    step = program(squares)
    for _ in range(2):
        value, slope = step(numbers)
        assert value == 14.0
        assert slope.tolist() == [2.0, 4.0, 6.0]


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        (np.ma.masked_array([1.0, 2.0], [True, False]), r"x\.filled"),
        (iter([1.0, 2.0]), "used up by the first call"),
        ({"w": 1.0}, "an argument of its own"),
        ([np.ones(2), np.ones(3)], "an argument of its own"),
    ],
)
def test_what_stands_for_none_is_refused(numbers, message):
    with pytest.raises(TypeError, match=message):
        program(squares)(numbers)


@pytest.mark.parametrize("derivative", [hessian, jacobian])
def test_rows_of_unit_vectors_are_written(derivative):
    def f(x):
        return derivative(lambda x: (x**3).sum() if derivative is hessian else x**2, x)

    step = program(f, argnums=None)
    step(W)
    np.testing.assert_allclose(step(2 * W), f(2 * W), rtol=1e-12)


def test_a_slope_that_vanishes_does_not_warn():
    x = np.array([-800.0, 800.0])
    with np.errstate(over="raise"):
        value, slope = program(lambda v: np.logaddexp(v, 0.0).sum())(x)
    assert (value, slope.tolist()) == (800.0, [0.0, 1.0])


def test_no_entries_may_be_picked():
    assert program(lambda v: v[[]].sum() + v.sum())(W)[0] == W.sum()


def test_lists_of_whole_numbers_belong_to_the_program():
    step = program(lambda x, shape: (x.reshape(*shape)[0] ** 2).sum())
    assert step(np.arange(6.0), [2, 3])[0] == 5.0
    assert step(np.arange(6.0), [3, 2])[0] == 1.0


def test_a_program_may_be_pickled():
    step = pickle.loads(pickle.dumps(program(squares)))
    assert step(3.0) == (9.0, 6.0)


def test_random_numbers_of_another_thread_are_none_of_the_functions():
    is_done = threading.Event()

    def load():
        while not is_done.is_set():
            np.random.permutation(5)  # noqa: NPY002

    loader = threading.Thread(target=load)
    loader.start()
    try:
        for power in range(2, 12):
            assert program(lambda x, power: x**power)(1.0, power) == (1.0, power)
        with pytest.raises(TracingError, match="draws random numbers"):
            program(lambda x: x * np.random.normal())(1.0)  # noqa: NPY002
    finally:
        is_done.set()
        loader.join()


def test_values_have_the_names_of_variables():
    def loss(x):
        for _ in range(2):
            h = np.tanh(x)
            x = h * x
        return (x + h).sum()

    step = program(loss)
    step(W)
    names = [line.strip().split(" = ")[0] for line in step.source.splitlines() if " = " in line]
    assert {"h", "x1", "dh", "dx"} <= set(names)


def test_constants_show_their_value():
    step = program(lambda x: x[0] + np.exp(x[1]))
    step(W)
    assert "c1 = np.array([1.0, 0.0, 0.0])" in step.source
    weights = np.array([1.0, 2.0, 3.0])
    step = program(lambda x: (x * weights).sum() ** 2)
    assert "    c1 = np.array([1.0, 2.0, 3.0])\n" in step.trace(W).source
    assert "np.eye(3)" in program(lambda x: (x @ np.eye(3)).sum() ** 2).trace(W).source
