"""Arrays whose gradient comes in parts."""

import inspect

import numpy as np
import pytest

import chaingrad as cg

X = np.random.default_rng(0).normal(size=(4, 3))
V = np.random.default_rng(1).normal(size=6)
I = np.array([2, 0, 2])  # noqa: E741

FUNCTIONS = {
    "neighbours": (lambda v: ((v[1:] - v[:-1]) ** 2).sum(), V),
    "and the whole": (lambda v: ((v[1:] - v[:-1]) ** 2).sum() + v @ v, V),
    "entries": (lambda v: v[0] * v[1] + v[2] ** 2 - v[0] / v[5], V),
    "all entries": (lambda v: v[0] * v[1] + v[2] ** 2 - v[3] / v[5] * v[4], V),
    "rows": (lambda x: x[0] @ x[1] - (x[2] * x[3]).sum() + (x[1] ** 3).sum(), X),
    "rows and columns": (lambda x: x[0] @ x[1] + (x[:, 2] ** 2).sum() - x.sum() * x[3, 1], X),
    "repeated indices": (lambda x: (x[I] ** 2).sum() - (x[[1, 1]] ** 3).sum(), X),
    "a repeated index that takes away": (lambda x: -(x[I] ** 2).sum() - x[0].sum(), X),
    "from behind": (lambda v: v[-1] * v[5] + v[-2] * v[4], V),
    "overlapping slices": (lambda v: (v[0:4] ** 2).sum() - (v[2:6] ** 3).sum(), V),
    "what others read": (lambda v: (v[0:2] * v[2:4]).sum() * v[1] + v[0], V),
    "numbers again and again": (lambda x: x[0].sum() - 2.0 * x[2].sum() + x[0, 0] ** 2, X),
    "steps": (lambda v: (v[::2] * v[1::2]).sum() + (v[::-1] * V).sum(), V),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("f", "x"), FUNCTIONS.values(), ids=FUNCTIONS)
def test_parts_are_added_where_they_belong(f, x, dtype):
    written = cg.program(f)
    tolerance = 1e-5 if dtype == np.float32 else 1e-13
    for given in (x.astype(dtype), 2 * x[::-1].astype(dtype)):
        value, dx = written(given)
        expected, by_nodes = cg.value_and_grad(f)(given)
        np.testing.assert_allclose(value, expected, tolerance)
        np.testing.assert_allclose(dx, by_nodes, tolerance, tolerance)
        assert dx.dtype == dtype
        assert not np.shares_memory(dx, given)
    assert written.source.count("zeros") <= 1


def test_one_array_takes_all_parts():
    def smooth(v):
        return ((v[1:] - v[:-1]) ** 2).sum() + v @ v

    written = cg.program(smooth)
    written(V)
    assert written.source == inspect.cleandoc("""
        def smooth(v):
            z1 = v[1:] - v[:-1]  # (5,)
            value = z1 @ z1 + v @ v

            dv = 2 * v
            dv[1:] += 2 * z1
            dv[:-1] -= 2 * z1  # (6,)
            return value, dv
    """) + "\n"  # fmt: skip


def test_an_array_of_which_each_entry_is_known_is_written_as_one():
    def banana(v):
        return 100 * (v[1] - v[0] ** 2) ** 2 + (1 - v[0]) ** 2

    written = cg.program(banana)
    written(np.array([-1.0, 2.0]))
    assert "dv = np.array([-400 * (z1 * v[0]) - 2 * z2, 200 * z1])" in written.source


def test_a_part_is_taken_away_without_a_sign_of_its_own():
    written = cg.program(lambda z, y: (-z[np.arange(3), y] + np.log(np.exp(z).sum(1))).mean())
    written(X[:3], np.array([0, 2, 1]))
    assert "[np.arange(3), y] -= " in written.source
    assert "np.add.at" not in written.source


def test_a_name_of_its_own_stays_beside_a_larger_sum():
    def f(v):
        a = cg.Node(v.data * 1.0 if isinstance(v, cg.Node) else v, "a") + v
        a.label = "a"
        return (a[0] * a[1] + a[2]) * v[3]

    written = cg.program(f)
    written(V)
    assert " da = " in written.source
