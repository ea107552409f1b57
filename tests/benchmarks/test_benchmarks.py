"""The harness; what it measures is no test."""

import gc

import numpy as np
import pytest

from benchmarks import compiled
from benchmarks.measure import Contender, interleaved, ratio, seconds
from benchmarks.scaling import (
    GRAPHS,
    count_edges,
    growth,
    measure,
    random_dag,
    scalar_mlp,
    slope,
    widths,
)
from benchmarks.steps import array_steps, scalar_mlps
from benchmarks.works import our_own, works
from tests.support import each


@pytest.fixture(autouse=True)
def apart() -> None:
    """Collections before each timing look at what the test has made, not at all that others did."""
    gc.freeze()


@pytest.mark.slow
def test_every_contender_computes_the_same_gradients():
    for fused in (False, True):
        contenders = array_steps((4, 5, 3, 6), fused)  # compares them; raises where they differ
        peers = ["pytorch", "autograd", "mygrad", "unguarded", "jax", "jax_eager"]
        peers += ["numpy", "numpy_out", "pytorch_by_hand"]
        written = ["program", "source"]
        products = ["products", "pytorch_products", "jax_products"]
        assert list(contenders) == ["chaingrad", *peers, *written, *products]
        for name in products[1:]:  # of the same arrays
            for a, b in zip(*(contenders[x].run(None) for x in ("products", name)), strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)
    both, alone = scalar_mlps(3, [4, 1])
    assert set(both) == set(alone) == {"chaingrad", "micrograd", "45 lines"}


@pytest.mark.slow
def test_contenders_take_turns_and_prepare_outside_the_clock():
    calls = []
    contenders = {
        name: Contender(lambda x: calls.append(x), lambda name=name: name) for name in "ab"
    }
    times = interleaved(contenders, rounds=4, least=0.0)
    assert [len(times[name]) for name in "ab"] == [4, 4]
    assert calls[4:] == ["a", "b", "b", "a"] * 2


def test_smaller_works_are_compared_before_they_are_timed():
    found = list(works())  # raises where values or gradients differ
    assert len({name for name, *_ in found}) == len(found) == 9
    for _, _, contenders in [*found, *((w, b, c) for w, _, b, c in our_own())]:
        assert "chaingrad" in contenders
        assert len(contenders) == 2


def test_a_compiled_chain_with_other_gradients_is_not_timed():
    rows = compiled.measure(compiled.fused, rounds=1, sizes=[(8, 8)])
    assert {row["chain"]: row["saved"] for row in rows} == {"by hand": 3, "compiled": 0, "fused": 0}
    with pytest.raises(AssertionError, match="the gradients differ"):
        compiled.measure(lambda x: x.tanh(), rounds=1, sizes=[(8, 8)])


def test_the_collector_is_on_or_off_and_then_on_again():
    seen = []
    contender = Contender(lambda _: seen.append(gc.isenabled()))
    for collector in (True, False):
        seconds(contender, 1, collector)
        assert gc.isenabled()
    assert seen == [True, False]


def test_the_ratio_is_that_of_each_round():
    assert ratio([1.0, 2.0, 9.0], [1.0, 4.0, 3.0]) == (0.75, 1.0, 2.0)
    assert ratio([2.0], [4.0]) == (0.5, 0.5, 0.5)


@each("name", GRAPHS)
@each("edges", [100, 1000, 10_000])
def test_graphs_have_about_the_edges_asked_for(name, edges):
    assert count_edges(GRAPHS[name](edges)()) == pytest.approx(edges, rel=0.15)


def test_values_of_random_graphs_stay_bounded():
    means = [node for node in random_dag(10_000)().sorted_graph() if node.op == "mul"]
    assert len(means) > 1000
    assert all(abs(node.data) <= 1 for node in means)


def test_every_weight_of_a_scalar_mlp_is_in_the_graph():
    root = scalar_mlp(10_000)()
    weights = sum(node.op == "mul" for node in root.sorted_graph())
    width = round((weights + 0.25) ** 0.5 / 2**0.5 - 0.25)
    assert weights == 2 * width**2 + width
    # a product and a sum a weight, two edges each, and one edge a ReLU
    assert count_edges(root) == 4 * weights + 2 * width


@pytest.mark.slow
@pytest.mark.parametrize("name", GRAPHS)
def test_every_phase_and_the_memory_are_measured_and_graphs_left_usable(name, monkeypatch):
    monkeypatch.setattr("benchmarks.scaling.BATCH", 1_000)
    measured = measure(GRAPHS[name], largest=3, most=2)
    assert len(measured["edges"]) == len(measured["nodes"]) == 2
    for phase in ("build", "sort", "backward", "free"):
        assert all(seconds > 0 for seconds in measured["phases"][phase]["seconds"])
    for held, nodes in zip(measured["memory"]["bytes"], measured["nodes"], strict=True):
        assert 50 < held / nodes < 500
    assert growth(measured) > 0


def test_the_slope_is_the_exponent():
    edges = [10, 90, 1000]
    assert slope(edges, [3 * e**1.5 for e in edges]) == pytest.approx(1.5)


@pytest.mark.walk
@pytest.mark.slow
def test_the_step_is_timed_beside_its_products_at_each_width():
    found = widths(rounds=2, sizes=(4, 8))
    assert found["sizes"] == [4, 8]
    assert all(first <= median <= third for first, median, third in found["ratio"])
    assert all(seconds > 0 for seconds in found["seconds"] + found["products_seconds"])
