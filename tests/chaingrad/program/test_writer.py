"""The text of programs: what stands where, and what becomes of it at other arguments."""

import itertools

import numpy as np
import pytest

from chaingrad import program


@pytest.mark.parametrize("of", [np.floor_divide, np.remainder])
def test_no_sign_passes_a_whole_quotient(of):
    def f(x, d):
        return (x * (d + of(-2.0 * d, 3))).sum()

    x, d = np.ones(2), np.array([3.0, 1.0])
    np.testing.assert_array_equal(program(f)(x, d)[1], d + of(-2.0 * d, 3))


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
