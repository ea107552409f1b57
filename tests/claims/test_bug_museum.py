"""What *Break it* and the museum say in general, tried on random cases."""

import itertools
import math
import random
from typing import Any

import numpy as np
import pytest

from chainlab.lessons.bug_museum import CHANGES, broken, engines, neuron
from chainlab.lessons.engine import Node, slopes
from tests.claims.test_chain_rule import defined
from tests.support import each

SEEDS = range(30)
PAGE = "foundations/bug-museum"
TESTS = (
    "each_alone", "same_twice", "the_neuron", "swapped_sum", "two_passes", "two_losses",
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


@each("change", CHANGES)
def test_no_change_crashes_or_moves_the_loss(change: Any) -> None:
    for seed in SEEDS:
        f, values = function(seed)
        root, leaves, _ = passed(engines()[change.name], seed)
        assert root.data == f(*map(Node, values)).data
        assert all(math.isfinite(leaf.grad) for leaf in leaves)


@each("seed", SEEDS)
def test_the_right_engine_balances_and_is_right(seed: int) -> None:
    root, leaves, true = passed(Node, seed)
    assert defined(PAGE)["balanced"](root)
    assert [leaf.grad for leaf in leaves] == pytest.approx(true, rel=1e-5, abs=1e-6)


@each("seed", SEEDS)
def test_right_rules_a_whole_record_and_balance_mean_right_gradients(seed: int) -> None:
    for change in OF_ADDING_UP:
        root, leaves, true = passed(engines()[change.name], seed)
        if defined(PAGE)["balanced"](root):
            assert [leaf.grad for leaf in leaves] == pytest.approx(true, rel=1e-5, abs=1e-6)


@each("seed", SEEDS)
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


@each("seed", SEEDS)
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


def both(f: Any, w: float, b: float) -> tuple[Any, Any]:
    """The gradients of the right engine, and of the one that overwrites."""
    gradients = defined(PAGE)["gradients"]
    found = [gradients(engine, f, w, b) for engine in (Node, engines()["= for +="])]
    return np.array(found[0]), np.array(found[1])


def test_what_overwrites_has_the_neurons_direction_and_is_shorter() -> None:
    rng = np.random.default_rng(0)
    for w, b in rng.uniform(-1, 1, (200, 2)):
        right, wrong = both(neuron, w, b)
        assert right[0] == pytest.approx(1.5 * right[1])
        assert wrong == pytest.approx(wrong @ right / (right @ right) * right)
        assert 0 < wrong @ right < right @ right


def test_a_second_use_of_w_turns_its_gradient_by_23_degrees_and_the_loss_falls() -> None:
    page = defined(PAGE)
    right, wrong = both(page["with_square"], 0.5, -0.2)
    assert wrong[0] == pytest.approx(2 * 0.5)
    cosine = right @ wrong / np.linalg.norm(right) / np.linalg.norm(wrong)
    assert round(math.degrees(math.acos(cosine))) == 23
    losses = page["train"](engines()["= for +="], page["with_square"])
    assert losses[:6] == sorted(losses[:6], reverse=True)


def test_differences_are_off_by_less_than_a_billionth_in_the_tests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page, off = defined(PAGE), []

    def note(engine: Any, f: Any, *values: float) -> bool:
        pairs = zip(page["gradients"](engine, f, *values), slopes(f, values), strict=True)
        off.extend(abs(found - true) for found, true in pairs)
        return True

    tests = [page[name] for name in ("each_alone", "same_twice", "the_neuron", "swapped_sum")]
    monkeypatch.setitem(tests[0].__globals__, "agrees", note)  # where the tests look it up
    for engine in engines().values():
        for test in tests:
            test(engine)
    assert len(off) == 11 * (8 + 1 + 2 + 2)
    assert all(each < 1e-9 or each > 0.05 for each in off)


def test_an_engine_that_does_not_wait_is_right_on_one_order_of_the_sum() -> None:
    page, engine = defined(PAGE), engines()["listed too soon"]
    assert page["the_neuron"](engine)
    assert not page["swapped_sum"](engine)
    orders = [
        [node.op for node in f(Node(0.5), Node(-0.2)).sorted_graph()]
        for f in (page["neuron"], page["swapped"])
    ]
    assert orders[0] == orders[1]  # the right engine waits, so it makes no difference
    orders = [
        [node.op for node in f(engine(0.5), engine(-0.2)).sorted_graph() if node.op]
        for f in (page["neuron"], page["swapped"])
    ]
    assert orders[0] != orders[1]


def steps_of(name: str, steps: int = 20) -> list[tuple[float, float, Any]]:
    """`w` and `b` of each step of a training, and the gradient."""
    found, (w, b) = [], (0.5, -0.2)
    for _ in range(steps):
        gradient = np.array(defined(PAGE)["gradients"](engines()[name], neuron, w, b))
        found.append((w, b, gradient))
        w, b = w - 0.05 * gradient[0], b - 0.05 * gradient[1]
    return found


def test_without_upstream_every_step_is_the_same_and_the_loss_falls_then_rises() -> None:
    steps = steps_of("no upstream")
    assert all(gradient == pytest.approx([1.5, 1]) for _, _, gradient in steps)
    losses = defined(PAGE)["train"](engines()["no upstream"])
    lowest = losses.index(min(losses))
    assert lowest == 3
    sums = [w * 1.5 + b for w, b, _ in steps]
    assert np.diff(sums) == pytest.approx(-0.1625)
    assert 0.1 + math.tanh(0.1) == pytest.approx(0.2, abs=1e-3)  # the bottom
    assert losses[: lowest + 1] == sorted(losses[: lowest + 1], reverse=True)
    assert losses[lowest:] == sorted(losses[lowest:])


def test_nodes_sent_twice_make_steps_twice_as_long_that_jump_over_the_bottom() -> None:
    steps = steps_of("no visited")
    for w, b, gradient in steps:
        right = np.array(slopes(neuron, (w, b)))
        assert 1.7 < np.linalg.norm(gradient) / np.linalg.norm(right) < 2.2
    sides = [w * 1.5 + b + math.tanh(w * 1.5 + b) > 0.2 for w, b, _ in steps]
    assert all(one != other for one, other in itertools.pairwise(sides))


@pytest.mark.parametrize(
    ("old", "new", "f", "right"),
    [
        ("= __add__, __mul__", "= __add__, __add__", lambda a: 2 * a, 2.0),
        ("as_node(other) - self", "self - as_node(other)", lambda a: 1 - a, -1.0),
    ],
)
def test_a_wrong_value_is_hidden_from_differences_through_the_same_engine(
    old: str, new: str, f: Any, right: float
) -> None:
    engine, nudge = broken(old, new), 1e-5
    own = (f(engine(0.7 + nudge)).data - f(engine(0.7 - nudge)).data) / (2 * nudge)
    (found,) = defined(PAGE)["gradients"](engine, f, 0.7)
    assert found == pytest.approx(own) == pytest.approx(1)
    assert slopes(f, [0.7]) == pytest.approx([right])
    assert f(engine(0.7)).data != f(0.7)


def test_what_takes_equal_values_for_one_node_loses_products_and_spares_leaves() -> None:
    engine = broken(
        "elif node not in visited:", "elif node.data not in [other.data for other in visited]:"
    )
    for value in (-0.7, 0.3, 0.7):
        a, c = engine(value), engine(value)
        root = a * 2 + c * 3
        root.backward()
        assert len({a, c} & set(root.sorted_graph())) == 1
        assert (a.grad, c.grad) == (2.0, 3.0)
        assert defined(PAGE)["balanced"](root)
        a, c = engine(value), engine(value)
        root = a * a + c * c
        root.backward()
        assert sorted(abs(leaf.grad) for leaf in (a, c)) == pytest.approx([0, 2 * abs(value)])
        assert not defined(PAGE)["balanced"](root)


@each("seed", SEEDS)
def test_the_books_are_those_of_a_first_pass(seed: int) -> None:
    root, leaves, _ = passed(Node, seed)
    root.backward()
    used = [leaf for leaf in leaves if abs(leaf.grad) > 1e-6]
    assert defined(PAGE)["balanced"](root) == (not used)
