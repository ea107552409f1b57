"""Verdicts of differences, of functions in NumPy whose gradients are known."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainview.frameworks._differences import Budget, LeafCheck, Rerun, complexes, reals
from chainview.frameworks._directions import compare
from chainview.frameworks._point import Point


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


def kinds(f: Callable[..., Any], gradients: Callable[..., Any], *leaves: Any) -> list[str]:
    """The verdict on each entry of each leaf."""
    function = Known(f, gradients, *leaves)
    point = Point(function, Budget())
    sizes = [leaf.size for leaf in function.leaves]
    return [point.check_entry(n, flat).kind for n, size in enumerate(sizes) for flat in range(size)]


def checks(f: Callable[..., Any], gradients: Callable[..., Any], *leaves: Any) -> list[LeafCheck]:
    """What is found out about each leaf."""
    found = compare(Known(f, gradients, *leaves), 2, Budget())
    assert not isinstance(found, str), found
    return list(found.leaves.values())


def leaf_kinds(f: Callable[..., Any], gradients: Callable[..., Any], *leaves: Any) -> list[str]:
    return [check.kind for check in checks(f, gradients, *leaves)]


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
    is_wrong = kind in ("wrong", "flat")
    assert (leaf_kinds(f, gradient, [at])[0] in ("wrong", "flat")) == is_wrong


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
    assert not {"wrong", "flat"} & set(leaf_kinds(f, gradient, at))


@given(st.lists(st.floats(0.1, 3), min_size=2, max_size=6), st.floats(0.02, 3))
def test_a_factor_is_found_wherever_there_is_no_kink(at, more):
    found = leaf_kinds(lambda x: (x * np.sin(x)).sum(), lambda x: (1 + more) * derivative(x), at)
    assert found == ["wrong"]


def derivative(x: Any) -> Any:
    return np.sin(x) + x * np.cos(x)


# --- all leaves at once -------------------------------------------------------------------------


class Layers:
    """A network of tanh layers in NumPy, 30 leaves of sizes from 1 to 4096, and its gradients.

    ``spoil`` changes the gradients.
    """

    def __init__(self, seed: int, spoil: Callable[[list[Any]], None] = lambda grads: None) -> None:
        generator = np.random.default_rng(seed)
        widths = [64, 64, *generator.integers(1, 20, 13), 1]
        shapes = pairwise(widths)
        self.leaves = []
        for rows, columns in shapes:
            scale = generator.uniform(1.0, 1.6)
            self.leaves += [
                generator.standard_normal((rows, columns)) * scale / rows**0.5,
                generator.standard_normal(columns) * 0.1,
            ]
        self.x = generator.standard_normal((8, 64))
        self.spoil = spoil

    def loss(self, *leaves: Any) -> Any:
        h = self.x
        for w, b in zip(leaves[::2], leaves[1::2], strict=True):
            h = np.tanh(h @ w + b)
        return np.square(h - 1).sum()

    def gradients(self, *leaves: Any) -> tuple[Any, ...]:
        kept = [self.x]
        for w, b in zip(leaves[::2], leaves[1::2], strict=True):
            kept.append(np.tanh(kept[-1] @ w + b))
        grads, g = [], 2 * (kept[-1] - 1)
        for w, x, y in zip(leaves[-2::-2], kept[-2::-1], kept[:0:-1], strict=True):
            g = g * (1 - y**2)
            grads = [x.T @ g, g.sum(0), *grads]
            g = g @ w.T
        self.spoil(grads)
        return tuple(grads)

    def kinds(self) -> list[str]:
        return leaf_kinds(self.loss, self.gradients, *self.leaves)


def scaled(number: int, by: float) -> Callable[[list[Any]], None]:
    def spoil(grads: list[Any]) -> None:
        grads[number] = grads[number] * by

    return spoil


def one_entry(grads: list[Any]) -> None:
    grads[0][7, 9] += 3 * np.abs(grads[0]).mean()


@pytest.mark.parametrize("seed", range(3))
def test_right_gradients_of_many_leaves_agree_in_ten_runs(seed):
    layers = Layers(seed)
    function = Known(layers.loss, layers.gradients, *layers.leaves)
    found = compare(function, 2, Budget())
    assert {check.kind for check in found.leaves.values()} <= {"right", "faint"}
    assert (len(found.leaves), found.runs, function.runs) == (30, 10, 9)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("number", [0, 1, 14, 29])
@pytest.mark.parametrize("by", [1.01, -1.0, 0.0])
def test_a_wrong_leaf_among_thirty_is_found(seed, number, by):
    found = Layers(seed, scaled(number, by)).kinds()
    assert [n for n, kind in enumerate(found) if kind == "wrong"] == [number]
    assert {kind for n, kind in enumerate(found) if n != number} <= {"right", "faint"}


@pytest.mark.parametrize("seed", range(3))
def test_a_wrong_entry_among_thousands_is_found(seed):
    found = Layers(seed, one_entry).kinds()
    assert [n for n, kind in enumerate(found) if kind == "wrong"] == [0]


def test_the_witness_is_the_wrong_entry():
    wrong = np.zeros((64, 64))
    wrong[7, 9] = 1.0
    at = np.random.default_rng(0).standard_normal((64, 64))
    (check,) = checks(lambda x: (x**2).sum() / 2, lambda x: x + wrong, at)
    assert check.entry is not None
    assert (check.entry.place, check.kind) == ("(7, 9)", "wrong")
    assert check.entry.difference == pytest.approx(at[7, 9], rel=1e-6)


def test_a_gradient_that_rounding_hides_is_no_more_than_faint():
    at = np.ones(3), np.ones(3)
    f = lambda a, b: (a**2).sum() + 1e-15 * (b**3).sum()  # noqa: E731
    assert leaf_kinds(f, lambda a, b: (2 * a, 3e-15 * b**2), *at) == ["right", "faint"]
    assert leaf_kinds(f, lambda a, b: (2 * a, 9e-15 * b**2), *at) == ["right", "faint"]
    assert leaf_kinds(f, lambda a, b: (2 * a, 0 * b), *at) == ["right", "right"]


def test_errors_of_several_leaves_do_not_cancel():
    at = np.ones(4), np.ones(4)
    f = lambda a, b: a.sum() + b.sum()  # noqa: E731
    found = leaf_kinds(f, lambda a, b: (1.1 * np.ones(4), 0.9 * np.ones(4)), *at)
    assert found == ["wrong", "wrong"]


def test_of_a_kink_it_is_said_what_differences_say_nearby():
    gradient = lambda x: 1.0 * (x > 0)  # noqa: E731
    (check,) = checks(lambda x: relu(x).sum(), gradient, [0.0, 1.0])
    assert (check.kind, check.nearby) == ("kink", "right")
    (check,) = checks(lambda x: relu(x).sum(), lambda x: 3 * gradient(x), [0.0, 1.0])
    assert check.kind == "wrong"


@given(st.integers(0, 99))
def test_a_wrong_gradient_that_there_is_no_time_to_confirm_is_no_verdict(runs):
    function = Known(
        lambda x, y: (x**2).sum() + y.sum(), lambda x, y: (3 * x, 0 * y + 1), [2.0], [1.0]
    )
    budget = Budget(0.5, clock=iter([*[0.0] * (runs + 4), *[1.0] * 999]).__next__)
    found = compare(function, 2, budget)
    if isinstance(found, str):
        assert runs < 2
        return
    assert found.runs <= runs + 4
    assert found.leaves["leaf 0"].kind in ("no time", "wrong")
    assert found.leaves["leaf 1"].kind in ("no time", "right")
    assert found.leaves["leaf 0"].kind == "no time" or runs > 15


def test_what_takes_long_is_announced_and_what_takes_too_long_not_begun():
    told: list[str] = []
    now = 0.0

    def slow(x: Any) -> Any:
        nonlocal now
        now += 2.0
        return x.sum()

    function = Known(slow, np.ones_like, [2.0])
    found = compare(function, 2, Budget(60.0, told.append, lambda: now))
    assert not isinstance(found, str)
    assert len(told) == 1
    assert "22 s" in told[0]  # 8 runs and the time of 3
    assert now == 20.0
    found = compare(function, 2, Budget(10.0, told.append, lambda: now))
    assert isinstance(found, str)
    assert now == 22.0
    compare(Known(lambda x: x.sum(), np.ones_like, [2.0]), 2, Budget(60.0, told.append))
    assert len(told) == 1


def test_a_function_with_a_state_is_not_compared():
    runs: list[int] = []

    def growing(x: Any) -> Any:
        runs.append(1)
        return (x**2).sum() * (1 + 1e-6 * len(runs))

    assert isinstance(compare(Known(growing, lambda x: 2 * x, [2.0]), 2, Budget()), str)
    assert len(runs) == 2

    runs.clear()

    def late(x: Any) -> Any:
        runs.append(1)
        return (x**2).sum() + max(len(runs) - 3, 0)

    assert isinstance(compare(Known(late, lambda x: 2 * x, [2.0]), 2, Budget()), str)


def test_a_loss_that_is_not_finite_is_not_compared():
    assert isinstance(compare(Known(lambda x: np.inf, np.ones_like, [2.0]), 2, Budget()), str)


def test_complex_numbers_are_pairs():
    z = np.array([[1 + 2j, 3 - 1j]])
    pairs = reals(z)
    assert pairs.shape == (1, 2, 2)
    assert pairs.dtype == np.float64
    assert np.array_equal(complexes(pairs, True), z)
    x = np.ones((2, 3))
    assert reals(x) is x
    assert complexes(x, False) is x
