"""What *Break it* and the museum say in general, tried on random cases."""

import math
import random
from typing import Any

import numpy as np
import pytest

from chainlab.lessons.bug_museum import CHANGES, engines, neuron
from chainlab.lessons.engine import Node, slopes
from tests.claims.test_chain_rule import defined

SEEDS = range(30)
PAGE = "foundations/bug-museum"
TESTS = (
    "each_alone", "same_twice", "the_neuron", "turned_round", "two_passes", "two_losses",
    "training", "the_books",
)  # fmt: skip
OF_ADDING_UP = [change for change in CHANGES if change.kind == "bookkeeping"]


def function(seed: int, steps: int = 6) -> tuple[Any, list[float]]:
    """A function of three numbers, made of sums, differences, products, powers and tanh."""
    chance = random.Random(seed)
    plan = [(chance.randrange(6), *chance.choices(range(3 + k), k=2)) for k in range(steps)]

    def f(*leaves: Any) -> Any:
        nodes = [*leaves]
        for kind, i, j in plan:
            a, b = nodes[i], nodes[j]
            made = [a + b, a - b, a * b, a**2, a.tanh(), a * a]
            nodes.append(made[kind])
        return sum(nodes[4:], nodes[3])

    return f, [chance.uniform(-1, 1) for _ in range(3)]


def passed(engine: Any, seed: int) -> tuple[Any, list[Any], list[float]]:
    f, values = function(seed)
    leaves = [engine(value) for value in values]
    root = f(*leaves)
    root.backward()
    return root, leaves, slopes(f, values)


@pytest.mark.parametrize("change", CHANGES, ids=[change.name for change in CHANGES])
def test_no_change_crashes_or_moves_the_loss(change: Any) -> None:
    for seed in SEEDS:
        f, values = function(seed)
        root, leaves, _ = passed(engines()[change.name], seed)
        assert root.data == f(*map(Node, values)).data
        assert all(math.isfinite(leaf.grad) for leaf in leaves)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_right_engine_balances_and_is_right(seed: int) -> None:
    root, leaves, true = passed(Node, seed)
    assert defined(PAGE)["balanced"](root)
    assert [leaf.grad for leaf in leaves] == pytest.approx(true, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_right_rules_a_whole_record_and_balance_mean_right_gradients(seed: int) -> None:
    for change in OF_ADDING_UP:
        root, leaves, true = passed(engines()[change.name], seed)
        if defined(PAGE)["balanced"](root):
            assert [leaf.grad for leaf in leaves] == pytest.approx(true, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_wrong_rule_and_a_wrong_record_balance(seed: int) -> None:
    for change in CHANGES:
        if change not in OF_ADDING_UP:
            root, _, _ = passed(engines()[change.name], seed)
            assert defined(PAGE)["balanced"](root)


def test_the_tests_pass_the_right_engine_and_each_change_fails_one() -> None:
    tests = [defined(PAGE)[name] for name in TESTS]
    assert all(test(Node) for test in tests)
    for change in CHANGES:
        assert not all(test(engines()[change.name]) for test in tests), change.name


def test_a_small_step_goes_down_when_the_angle_is_less_than_90_degrees() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        w, b = rng.uniform(-1, 1, 2)
        true = np.array(slopes(neuron, (w, b)))
        wrong = rng.normal(size=2)
        cosine = wrong @ true / (np.linalg.norm(wrong) * np.linalg.norm(true))
        if abs(cosine) > 0.05:
            step = 1e-5 * wrong / np.linalg.norm(wrong)
            after = neuron(Node(w - step[0]), Node(b - step[1])).data
            assert (after < neuron(Node(w), Node(b)).data) == (cosine > 0)


@pytest.mark.parametrize("seed", SEEDS)
def test_where_every_number_is_used_once_a_single_pass_may_overwrite(seed: int) -> None:
    chance = random.Random(seed)
    engine = engines()["= for +="]

    def f(*leaves: Any) -> Any:
        top = leaves[0]
        for leaf, kind in zip(leaves[1:], kinds, strict=True):
            top = [top + leaf, top - leaf, top * leaf, (top + leaf).tanh()][kind]
        return top

    kinds = [chance.randrange(4) for _ in range(5)]
    values = [chance.uniform(-1, 1) for _ in range(6)]
    leaves = [engine(value) for value in values]
    f(*leaves).backward()
    assert [leaf.grad for leaf in leaves] == pytest.approx(slopes(f, values), rel=1e-5, abs=1e-6)


def test_the_first_pass_of_an_engine_that_clears_nothing_is_right() -> None:
    for name in ("nothing cleared", "all cleared"):
        for seed in SEEDS:
            _, leaves, true = passed(engines()[name], seed)
            assert [leaf.grad for leaf in leaves] == pytest.approx(true, rel=1e-5, abs=1e-6)
