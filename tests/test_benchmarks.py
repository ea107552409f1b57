"""The harness; what it measures is no test."""

import pytest

from benchmarks.measure import Contender, interleaved, ratio
from benchmarks.scaling import build
from benchmarks.steps import array_steps, scalar_mlps


def test_every_contender_computes_the_same_gradients():
    contenders = array_steps((4, 5, 3, 6))  # compares them, and raises where they differ
    assert list(contenders) == ["chaingrad", "pytorch", "autograd", "jax", "numpy", "products"]
    both, alone = scalar_mlps(3, [4, 1])
    assert set(both) == set(alone) == {"chaingrad", "micrograd"}


def test_contenders_take_turns_and_prepare_outside_the_clock():
    calls = []
    contenders = {
        name: Contender(lambda x: calls.append(x), lambda name=name: name) for name in "ab"
    }
    times = interleaved(contenders, rounds=4, least=0.0)
    assert [len(times[name]) for name in "ab"] == [4, 4]
    assert calls[2:] == ["a", "b", "b", "a"] * 2


def test_the_ratio_is_that_of_each_round():
    assert ratio([1.0, 2.0, 9.0], [1.0, 4.0, 3.0]) == (0.75, 1.0, 2.0)
    assert ratio([2.0], [4.0]) == (0.5, 0.5, 0.5)


def test_random_graphs_have_two_edges_a_node():
    order = build(1000).sorted_graph()
    assert sum(len(node.parents) for node in order) == pytest.approx(1000, rel=0.05)
