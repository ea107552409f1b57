"""What *Computational graphs* says in general, tried on random graphs and sizes."""

import itertools
import math
import random
from typing import Any

import pytest

from chainlab.lessons import engine
from tests.claims.pages import defined
from tests.support import each

SEEDS = range(40)


def page() -> dict[str, Any]:
    return defined("foundations/computational-graph")


def made(seed: int, steps: int = 8) -> tuple[list[Any], Any]:
    """Return the page's nodes of a random graph in the order they were made, and the engine's root.

    The last node is the root. Some of the others lead nowhere.
    """
    chance = random.Random(seed)
    values = [chance.uniform(0.2, 1) for _ in range(3)]
    ours, theirs = [*map(page()["Node"], values)], [*map(engine.Node, values)]
    for _ in range(steps):
        i, j = chance.choices(range(len(ours)), k=2)
        step = chance.choice(
            [
                lambda a, b: a + b,
                lambda a, b: a - b,
                lambda a, b: a * b,
                lambda a, b: a**2,
                lambda a, b: a.tanh(),
                lambda a, b: a * a,
            ]
        )
        ours.append(step(ours[i], ours[j]))
        theirs.append(step(theirs[i], theirs[j]))
    theirs[-1].backward()
    wanted = set(theirs[-1].sorted_graph())
    for node, other in zip(ours, theirs, strict=True):
        node.expected = other.grad if other in wanted else 0.0
    return ours, theirs[-1]


def sweep(order: list[Any]) -> None:
    order[0].grad = 1.0
    for node in order:
        for i, parent in enumerate(node.parents):
            parent.grad += node.grad * page()["local_gradient"](node, i)


def right(nodes: list[Any]) -> None:
    for node in nodes:
        assert node.grad == pytest.approx(node.expected, rel=1e-4, abs=1e-4)


@each("seed", SEEDS)
def test_the_record_read_backward_is_an_order_that_works(seed: int) -> None:
    nodes, _ = made(seed)
    sweep(nodes[::-1])
    right(nodes)


@each("seed", SEEDS)
def test_the_search_lists_what_the_root_depends_on_after_its_parents(seed: int) -> None:
    nodes, root = made(seed)
    page()["name_of"] = dict.fromkeys(nodes, "")
    listed: list[Any] = []
    page()["search"](nodes[-1], set(), listed)
    assert len(listed) == len(root.sorted_graph())
    for i, node in enumerate(listed):
        assert all(parent in listed[:i] for parent in node.parents)
    sweep(listed[::-1])
    right(nodes)


@each("seed", SEEDS)
def test_one_sweep_passes_each_arrow_once_and_finds_all_gradients(seed: int) -> None:
    nodes, root = made(seed)
    order = root.sorted_graph()
    listed = page()["backward"](nodes[-1])
    assert len(listed) == len(set(listed)) == len(order)
    right(nodes)


@each("seed", SEEDS)
def test_passing_on_only_the_news_is_right_in_any_graph(seed: int) -> None:
    nodes, _ = made(seed)
    page()["pass_news"](nodes[-1])
    right(nodes)


def test_any_order_with_children_first_gives_the_same() -> None:
    names = ("w", "x", "b", "p", "z", "h", "out", "error", "loss")
    found = set()
    for tail in itertools.permutations(("p", "b", "w", "x", "target")):
        if tail.index("p") > min(tail.index("w"), tail.index("x")):
            continue
        values = zip(("w", "x", "b", "target"), (0.5, 1.5, -0.2, 0.2), strict=True)
        n = {name: page()["Node"](value) for name, value in values}
        n["p"] = n["w"] * n["x"]
        n["z"] = n["p"] + n["b"]
        n["h"] = n["z"].tanh()
        n["out"] = n["z"] + n["h"]
        n["error"] = n["out"] - n["target"]
        n["loss"] = n["error"] ** 2
        sweep([n[name] for name in ("loss", "error", "out", "h", "z", *tail)])
        found.add(tuple(round(n[name].grad, 6) for name in names))
    assert len(found) == 1


@each("k", range(1, 13))
def test_each_neuron_on_top_doubles_the_messages(k: int) -> None:
    top = page()["stack"](k)[1]
    assert page()["messages"](top) == 5 * (2**k - 1)
    listed = page()["backward"](top)
    assert len(listed) == 4 * k + 1
    assert sum(len(node.parents) for node in listed) == 5 * k


@each(("k", "skip"), [*itertools.product(range(1, 13), (False, True))])
def test_a_skip_adds_a_factor_of_one_at_each_neuron(k: int, skip: bool) -> None:
    bottom, top = page()["stack"](k, skip)
    page()["backward"](top)
    value, slope = 0.5, 1.0
    for _ in range(k):
        bend = math.tanh(0.2 * value)
        factor = 0.2 * (1 - bend**2)
        assert factor <= 0.2
        slope *= factor + skip
        value = bend + value * skip
    assert bottom.grad == pytest.approx(slope, rel=1e-4)


def test_the_sweep_goes_back_through_five_thousand_nodes_in_a_row() -> None:
    first = node = page()["Node"](0.5)
    for _ in range(5000):
        node = node + 0.0
    page()["backward"](node)
    assert first.grad == pytest.approx(1.0, rel=1e-3)


def test_plain_numbers_may_stand_on_either_side() -> None:
    def compute(w: Any) -> Any:
        return (1 - w) * 2 + 3 * -w + w / 2 + 2 / w + (1 + w) / w

    node = page()["Node"](0.7)
    result = compute(node)
    page()["backward"](result)
    assert result.data == pytest.approx(compute(0.7))
    assert node.grad == pytest.approx((compute(0.7 + 1e-6) - compute(0.7 - 1e-6)) / 2e-6, rel=1e-4)


@each(("d", "h"), [*itertools.product((1, 2, 5, 9), (1, 3, 4))])
def test_a_dense_layer_has_four_arrows_a_weight_and_one_a_unit(d: int, h: int) -> None:
    assert page()["layer_arrows"](d, h) == h * (4 * d + 1)
