"""Graphs drawn by a seed are right, equally hard, and no two alike."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from chaingrad import Node
from chainlab.drills.draw.random_graph import (
    DEPTH,
    LARGEST,
    LEAVES,
    MISTAKES,
    RandomGraph,
    random_graph,
)

CLASS = 1000


@pytest.fixture(scope="module")
def graphs() -> list[RandomGraph]:
    return [random_graph(np.random.default_rng(seed)) for seed in range(CLASS)]


@pytest.mark.slow
def test_the_adjoints_are_the_engine_s(graphs: list[RandomGraph]) -> None:
    for graph in graphs[:200]:
        leaves = [Node(float(value)) for value in graph.leaves.values()]
        space: dict[str, Callable[..., Node]] = {}
        exec(graph.source("f"), space)
        root = space["f"](*leaves)
        root.backward()
        adjoints = graph.adjoints()
        assert [leaf.grad for leaf in leaves] == [adjoints[name] for name in graph.leaves]
        assert root.data == graph.values["z"]


@pytest.mark.slow
def test_all_graphs_are_equally_hard(graphs: list[RandomGraph]) -> None:
    shapes = set()
    for graph in graphs:
        depth = dict.fromkeys(graph.leaves, 0)
        for name, x, _, y in graph.lines:
            depth[name] = 1 + max(depth[x], depth[y])
        uses = Counter(operand for _, x, _, y in graph.lines for operand in (x, y))
        shared = sorted(name in LEAVES for name, count in uses.items() if count == 2)
        signs = "".join(sorted(sign for _, _, sign, _ in graph.lines))
        shapes.add((signs, depth["z"], max(uses.values()), tuple(shared), len(uses)))
    assert shapes == {("***++-", DEPTH, 2, (False, True), 10)}


def test_all_backward_passes_take_as_much_work(graphs: list[RandomGraph]) -> None:
    """Counted here by following every message from the root to the leaves."""
    counts = set()
    for graph in graphs:
        values, adjoints = graph.values, graph.adjoints()
        lines = {name: (x, sign, y) for name, x, sign, y in graph.lines}
        products = sum(
            abs(adjoints[name]) > 1 and abs(values[factor]) > 1
            for name, (x, sign, y) in lines.items()
            if sign == "*"
            for factor in (x, y)
        )
        units = [name for name, adjoint in adjoints.items() if abs(adjoint) == 1]
        largest = max(map(abs, [*values.values(), *adjoints.values()]))
        counts.add((products, tuple(units), leaves_reached("z", lines), largest in LARGEST))
    assert counts == {(4, ("z",), 8, True)}


def leaves_reached(name: str, lines: dict[str, tuple[str, str, str]]) -> int:
    if name not in lines:
        return 1
    x, _, y = lines[name]
    return leaves_reached(x, lines) + leaves_reached(y, lines)


def test_numbers_are_small_and_tell_the_leaves_apart(graphs: list[RandomGraph]) -> None:
    for graph in graphs:
        adjoints = graph.adjoints()
        numbers = [*adjoints.values(), *graph.values.values()]
        assert all(isinstance(n, int) and 0 < abs(n) <= 99 for n in numbers)
        assert len({adjoints[name] for name in LEAVES}) == len(LEAVES)


def test_each_usual_mistake_gives_adjoints_of_its_own(graphs: list[RandomGraph]) -> None:
    for graph in graphs:
        results = [graph.adjoints(), *(adjoints(graph) for adjoints in MISTAKES.values())]
        leaves = {tuple(result[name] for name in LEAVES) for result in results}
        assert len(leaves) == len(results), graph


def test_no_two_of_a_class_have_the_same_adjoints(graphs: list[RandomGraph]) -> None:
    assert len({graph.form for graph in graphs}) >= CLASS - 2
    adjoints = {tuple(graph.adjoints()[name] for name in LEAVES) for graph in graphs}
    assert len(adjoints) == CLASS


def test_the_form_of_a_graph_knows_no_names() -> None:
    one = RandomGraph({"a": 2, "b": 3}, (("u", "a", "*", "b"), ("v", "u", "-", "a")))
    other = RandomGraph({"a": 3, "b": 2}, (("u", "a", "*", "b"), ("v", "u", "-", "b")))
    turned = RandomGraph({"a": 2, "b": 3}, (("u", "b", "*", "a"), ("v", "a", "-", "u")))
    assert one.form == other.form != turned.form
