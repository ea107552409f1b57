"""The text of programs: what stands where, and what becomes of it at other arguments."""

import itertools

import numpy as np
import pytest

from chaingrad import program, value_and_grad

SCALARS = {
    "a penalty": lambda p: (p[0] - 1) ** 2 + 10 * np.where(p[0] < 0, p[0] ** 2, 0.0),
    "two choices": lambda p: (
        np.where(p[0] > 0, p[1] * p[0], 0.0) + np.where(p[2] > 0, p[1] * p[2], 0.0)
    ),
    "a choice taken away": lambda p: p[1] ** 2 - np.where(p[0] > 0, p[1], -p[2]) * p[1],
    "a choice first": lambda p: np.where(p[0] > p[1], -p[1], p[2]) - p[0] * p[1],
    "a choice of rows": lambda p: sum(np.where(p[i] > 0, p[i], -(p[i] ** 2)) for i in range(3)),
}


@pytest.mark.parametrize("f", SCALARS.values(), ids=SCALARS)
def test_choices_are_right_on_each_side(f):
    step = program(f)
    for signs in itertools.product([1.0, -1.0], repeat=3):
        p = np.array(signs) * [0.5, 1.5, 2.5]
        value, gradient = step(p)
        expected, by_nodes = value_and_grad(f)(p)
        assert value == pytest.approx(expected, rel=1e-14)
        np.testing.assert_allclose(gradient, by_nodes, rtol=1e-14)


@pytest.mark.parametrize("of", [np.floor_divide, np.remainder])
def test_no_sign_passes_a_whole_quotient(of):
    def f(x, d):
        return (x * (d + of(-2.0 * d, 3))).sum()

    x, d = np.ones(2), np.array([3.0, 1.0])
    np.testing.assert_array_equal(program(f)(x, d)[1], d + of(-2.0 * d, 3))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: sum(x[t] * x[t] for t in range(8)),
        lambda x: sum(x[t] + x[t] * x[t] for t in range(8)) + x[0],
    ],
)
@pytest.mark.parametrize("shape", [8, (8, 2)])
def test_an_entry_that_each_step_reads_twice(f, shape):
    x = np.random.default_rng(0).normal(size=shape)

    def g(x):
        return np.sum(f(x))

    np.testing.assert_allclose(program(g)(x)[1], value_and_grad(g)(x)[1], rtol=1e-13)


CONSTANT = np.arange(3.0)
SHARING = {
    "one": lambda a, b: (a + b).sum(),
    "none": lambda a, b: (a * a).sum(),
    "nothing": lambda a, b: a[0] * 0.0,
    "a constant": lambda a, b: (a * CONSTANT + b * CONSTANT).sum(),
    "one gradient": lambda a, b: ((a + b) ** 2).sum(),
    "rows": lambda a, b: a[0] + b[0] + (a[1:] + b[1:]).sum(),
    "each other": lambda a, b: a @ b,
}


@pytest.mark.parametrize("f", SHARING.values(), ids=SHARING)
def test_each_result_has_its_own_memory(f):
    a, b = np.ones(3), np.ones(3)
    step = program(f, argnums=(0, 1))
    results = [g for _ in range(3) for g in step(a, b)[1]]
    for one, other in itertools.combinations([*results, a, b, CONSTANT], 2):
        assert not np.shares_memory(one, other)


@pytest.mark.parametrize("a", [1.0, -1.0])
def test_each_branch_keeps_float32(a):
    step = program(lambda p, a: (p * np.where(a > 0, a, 0.0)).sum())
    gradient = step(np.ones(3, np.float32), a)[1]
    assert gradient.dtype == np.float32
    np.testing.assert_array_equal(gradient, np.full(3, max(a, 0.0)))
