"""Verdicts of differences, of functions in NumPy whose gradients are known."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainview.frameworks._differences import (
    NotComparedError,
    Rerun,
    compare,
    complexes,
    reals,
)


class Known(Rerun):
    """A function of some leaves, with what it gives for its gradients."""

    is_low = False

    def __init__(self, f: Callable[..., Any], gradients: Callable[..., Any], *leaves: Any) -> None:
        self.f, self.of = f, gradients
        self.leaves = [np.array(leaf, np.float64) for leaf in leaves]
        self.names = [f"leaf {i}" for i in range(len(leaves))]
        self.is_complex = [False] * len(leaves)
        self.runs = 0

    def values(self) -> list[Any]:
        return self.leaves

    def loss(self, moved: Any) -> float:
        self.runs += 1
        return float(self.f(*[moved.get(i, leaf) for i, leaf in enumerate(self.leaves)]))

    def gradients(self, moved: Any) -> tuple[float, list[Any]]:
        given = [moved.get(i, leaf) for i, leaf in enumerate(self.leaves)]
        found = self.of(*given)
        return float(self.f(*given)), list(found) if isinstance(found, tuple) else [found]


def always() -> bool:
    return True


def kinds(f: Callable[..., Any], gradients: Callable[..., Any], *leaves: Any) -> list[str]:
    found = compare(Known(f, gradients, *leaves), 24, always)
    assert len(found.verdicts) == found.planned
    return [verdict.kind for verdict in found.verdicts]


def relu(x: Any) -> Any:
    return np.maximum(x, 0.0)


def in_single(x: Any) -> Any:
    return np.sum(np.float32(5.0) + np.sin(x).astype(np.float32), dtype=np.float32)


@pytest.mark.parametrize(
    ("kind", "f", "gradient", "at"),
    [
        ("right", lambda x: (x**3).sum(), lambda x: 3 * x**2, 0.7),
        ("right", lambda x: (x**3).sum(), lambda x: 3 * x**2, 1e5),
        ("right", lambda x: 1e-30 * np.exp(x).sum(), lambda x: 1e-30 * np.exp(x), 2.0),
        ("wrong", lambda x: (x**3).sum(), lambda x: 2 * x**2, 0.7),
        ("wrong", lambda x: (x**3).sum(), lambda x: 3.03 * x**2, 0.7),
        ("wrong", lambda x: (x**3).sum(), lambda x: 0 * x, 1e5),
        ("wrong", lambda x: 1e6 + (x**3).sum(), lambda x: -3 * x**2, 0.7),
        ("wrong", lambda x: relu(x).sum() + (x**2).sum(), lambda x: 2 * x, 1.0),
        ("flat", lambda x: np.round(x).sum(), np.ones_like, 0.7),
        ("kink", lambda x: relu(x).sum(), np.zeros_like, 0.0),
        ("kink", lambda x: relu(x).sum(), np.ones_like, 0.0),
        (
            "kink",
            lambda x: 2 * np.abs(x).sum() + x.sum(),
            lambda x: 1 + 2 * np.sign(x + 1e-300),
            0.0,
        ),
        ("kink", lambda x: (relu(x) - relu(-x)).sum(), lambda x: 1.0 * (x != 0), 0.0),
        ("right", lambda x: relu(x).sum(), lambda x: 1.0 * (x > 0), 5e-7),
        ("rough", lambda x: relu(x).sum(), lambda x: 1.0 * (x > 0), 2e-8),
        ("rough", lambda x: np.sign(x).sum(), np.ones_like, 0.0),
        ("rough", in_single, np.cos, 0.7),
        ("rough", lambda x: np.float32(1000 + np.sin(x).sum()), np.cos, 0.7),
        ("rough", lambda x: 1e12 + x.sum(), np.ones_like, 0.7),
        ("rough", lambda x: np.log(np.where(x > 0, x, np.nan)).sum(), lambda x: 1 / x, 5e-8),
        ("rough", lambda x: np.sin(1e9 * x).sum(), lambda x: np.cos(1e9 * x), 0.7),
        ("rough", lambda x: x.sum(), lambda x: np.nan * x, 0.7),
    ],
)
def test_a_verdict(kind, f, gradient, at):
    assert kinds(f, gradient, [at]) == [kind]


@given(
    st.lists(st.sampled_from([0.0, 0.0, -1.5, 0.3, 1e-7, -1e-6, 40.0]), min_size=1, max_size=6),
    st.lists(st.floats(-3, 3), min_size=6, max_size=6),
    st.sampled_from([0.0, 0.5, 1.0]),
)
def test_no_gradient_of_a_function_with_kinks_is_called_wrong(at, weights, at_kink):
    a = np.array(weights[: len(at)])

    def f(x: Any) -> Any:
        return (a * relu(x) - a[::-1] * relu(-x) + 0.1 * a * x**2).sum()

    def gradient(x: Any) -> Any:
        upper = np.where(x == 0, at_kink, x > 0)
        lower = np.where(x == 0, at_kink, x < 0)
        return a * upper + a[::-1] * lower + 0.2 * a * x

    assert not {"wrong", "flat"} & set(kinds(f, gradient, at))


@given(st.lists(st.floats(0.1, 3), min_size=2, max_size=6), st.floats(0.02, 3))
def test_a_factor_is_found_wherever_there_is_no_kink(at, more):
    found = kinds(lambda x: (x * np.sin(x)).sum(), lambda x: (1 + more) * derivative(x), at)
    largest = derivative(np.array(at))
    assert found[0] == "wrong", largest


def derivative(x: Any) -> Any:
    return np.sin(x) + x * np.cos(x)


def test_of_each_leaf_the_largest_entry_is_compared_first():
    at = [[0.1, 3.0, 0.2], [5.0], [0.3, 0.2, 0.1, 7.0]]
    f = lambda *leaves: sum((x**2).sum() for x in leaves)  # noqa: E731
    function = Known(f, lambda *leaves: tuple(2 * x for x in leaves), *at)
    found = compare(function, 9, always)
    first = [(verdict.name, verdict.place) for verdict in found.verdicts[:3]]
    assert first == [("leaf 0", "(1,)"), ("leaf 1", "(0,)"), ("leaf 2", "(3,)")]
    assert len({(v.name, v.place) for v in found.verdicts}) == len(found.verdicts) == found.planned
    few = compare(function, 2, always)
    assert (len(few.verdicts), few.leaves) == (2, 3)


@pytest.mark.parametrize("runs", [0, 1, 2, 3, 6, 7, 40])
def test_entries_are_compared_while_there_is_time_between_runs(runs):
    function = Known(lambda x: (x**2).sum(), lambda x: 2 * x, np.arange(1.0, 200.0))
    found = compare(function, 12, iter([True] * runs + [False] * 30).__next__)
    assert function.runs == min(runs, 1 + 2 * found.planned)
    assert len(found.verdicts) == min(max(runs - 1, 0) // 2, found.planned)


def test_a_wrong_gradient_that_there_is_no_time_to_confirm_is_no_verdict():
    for runs in range(1, 13):
        function = Known(lambda x: (x**2).sum(), lambda x: 3 * x, [2.0])
        found = compare(function, 1, iter([True] * runs + [False] * 9).__next__)
        assert not found.verdicts
    assert [v.kind for v in compare(function, 1, always).verdicts] == ["wrong"]


def test_a_function_with_a_state_is_not_compared():
    runs: list[int] = []

    def growing(x: Any) -> Any:
        runs.append(1)
        return (x**2).sum() * (1 + 1e-6 * len(runs))

    with pytest.raises(NotComparedError):
        compare(Known(growing, lambda x: 2 * x, [2.0]), 4, always)
    assert len(runs) == 2

    runs.clear()

    def late(x: Any) -> Any:
        runs.append(1)
        return (x**2).sum() + max(len(runs) - 3, 0)

    with pytest.raises(NotComparedError):
        compare(Known(late, lambda x: 2 * x, [2.0]), 4, always)


def test_a_loss_that_is_not_finite_is_not_compared():
    with pytest.raises(NotComparedError):
        compare(Known(lambda x: np.inf, np.ones_like, [2.0]), 4, always)


def test_complex_numbers_are_pairs():
    z = np.array([[1 + 2j, 3 - 1j]])
    pairs = reals(z)
    assert pairs.shape == (1, 2, 2)
    assert pairs.dtype == np.float64
    assert np.array_equal(complexes(pairs, True), z)
    x = np.ones((2, 3))
    assert reals(x) is x
    assert complexes(x, False) is x
