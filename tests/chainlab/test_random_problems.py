"""Problems drawn by a seed are right, equally hard, and no two alike."""

import ast
import itertools
import re
from collections import Counter

import numpy as np
import pytest

from chaingrad import Node, grad, program, vjp
from chainlab.random_problems import (
    DEPTH,
    FAULTS,
    LARGEST,
    LEAVES,
    MISTAKES,
    PASS_LINES,
    RandomGraph,
    WrongPass,
    backward_source,
    random_fault,
    random_graph,
    random_layer,
)

CLASS = 1000


@pytest.fixture(scope="module")
def graphs() -> list[RandomGraph]:
    return [random_graph(np.random.default_rng(seed)) for seed in range(CLASS)]


def run(source: str, name: str, *arguments: object) -> object:
    space: dict[str, object] = {"np": np}
    exec(source, space)
    return space[name](*arguments)  # type: ignore[operator]


@pytest.mark.slow
def test_the_adjoints_are_the_engine_s(graphs: list[RandomGraph]) -> None:
    for graph in graphs[:200]:
        leaves = [Node(float(value)) for value in graph.leaves.values()]
        root = run(graph.source("f"), "f", *leaves)
        assert isinstance(root, Node)
        root.backward()
        found = graph.adjoints()
        assert [leaf.grad for leaf in leaves] == [found[name] for name in graph.leaves]
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
        passes = [WrongPass(), *MISTAKES.values()]
        found = [tuple(graph.adjoints(each)[name] for name in LEAVES) for each in passes]
        assert len(set(found)) == len(passes), graph


def test_no_two_of_a_class_have_the_same_adjoints(graphs: list[RandomGraph]) -> None:
    assert len({graph.form for graph in graphs}) >= CLASS - 2
    adjoints = {tuple(graph.adjoints()[name] for name in LEAVES) for graph in graphs}
    assert len(adjoints) == CLASS


def test_a_seed_gives_one_problem() -> None:
    for draw in (random_graph, random_layer, random_fault):
        assert draw(np.random.default_rng(5)) == draw(np.random.default_rng(5))


def test_the_form_of_a_graph_knows_no_names() -> None:
    one = RandomGraph({"a": 2, "b": 3}, (("u", "a", "*", "b"), ("v", "u", "-", "a")))
    other = RandomGraph({"a": 3, "b": 2}, (("u", "a", "*", "b"), ("v", "u", "-", "b")))
    turned = RandomGraph({"a": 2, "b": 3}, (("u", "b", "*", "a"), ("v", "a", "-", "u")))
    assert one.form == other.form != turned.form


def test_the_engine_writes_the_pass_of_each_graph(graphs: list[RandomGraph]) -> None:
    inputs = np.random.default_rng(0).normal(size=(6, 4))
    for graph in graphs[:50]:
        space: dict[str, object] = {}
        exec(graph.source("f"), space)
        _, pull = vjp(space["f"], *inputs[1:])  # type: ignore[arg-type]
        found = run(backward_source(graph), "backward", *inputs)
        np.testing.assert_allclose(found, pull(inputs[0]), rtol=1e-12)  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_fault_is_in_one_line_and_makes_just_two_adjoints_wrong() -> None:
    inputs = np.random.default_rng(1).normal(size=(6, 4))
    faulty = [random_fault(np.random.default_rng(seed), "mended") for seed in range(40)]
    for graph, source in faulty:
        right = backward_source(graph, "mended")
        pairs = list(itertools.zip_longest(right.splitlines(), source.splitlines()))
        assert sum(a != b for a, b in pairs) == 1
        assert len(pairs) == PASS_LINES
        wanted, found = (np.array(run(text, "mended", *inputs)) for text in (right, source))
        assert sum(not np.allclose(a, b) for a, b in zip(wanted, found, strict=True)) == 2
    assert len({source for _, source in faulty}) == len(faulty)


@pytest.mark.slow
def test_no_two_of_a_class_have_the_same_fault() -> None:
    """The constants alone tell them apart, whatever the graphs and the faults are."""
    rng = np.random.default_rng(0)
    drawn = [random_fault(rng) for _ in range(40)]
    assert not [source for _, source in drawn if re.search(r"\.\d{4}", source)]
    found = [graph.lines[-1] for graph, _ in drawn]
    constants = [tuple(re.findall(r"0\.\d{3}", f"{x} {y}")) for _, x, _, y in found]
    assert {len(pair) for pair in constants} == {2}
    assert len(set(constants)) == len(found)


def test_all_kinds_of_faults_are_drawn() -> None:
    graph = random_graph(np.random.default_rng(0))
    for fault in FAULTS.values():
        text = "def f(dz, a, b):\n    z1 = a * b\n\n    da = dz * b + dz\n    db = da * a - z1\n"
        changed = [ast.parse(source) for source in _all(text, fault)]
        assert changed, fault
    assert graph.lines


def _all(source: str, fault: object) -> list[str]:
    from chainlab.random_problems import _faulty_sources

    return list(_faulty_sources(source, fault))  # type: ignore[arg-type]


def test_layers_differ_and_the_engine_differentiates_them() -> None:
    layers = [random_layer(np.random.default_rng(seed)) for seed in range(CLASS)]
    assert len(set(layers)) == CLASS
    assert len({layer.source.count("\n") for layer in layers}) == 1
    kinds = {
        layer.source.translate(str.maketrans("", "", "0123456789.")): layer for layer in layers
    }
    assert len(kinds) == 20
    operators = set()
    rng = np.random.default_rng(0)
    for layer in kinds.values():
        n, d, m = layer.n, layer.d, layer.m
        assert len({n, d, m}) == 3  # a transpose in the wrong place does not fit
        X, W, b, T = (rng.normal(size=shape) for shape in [(n, d), (m, d), (m,), (n, m)])
        space: dict[str, object] = {"np": np}
        exec(layer.source, space)
        loss = space["layer_loss"]
        found = grad(loss, argnums=(0, 1, 2))(X, W, b, T)  # type: ignore[arg-type]
        moved = W.astype(complex)
        moved[0, 0] += 1e-20j
        slope = loss(X, moved, b, T).imag / 1e-20  # type: ignore[operator]
        assert slope == pytest.approx(found[1][0, 0], rel=1e-9)
        assert all(np.abs(adjoint).max() > 1e-6 for adjoint in found)
        step = program(loss, argnums=(0, 1, 2))  # type: ignore[arg-type]
        step(X, W, b, T)
        operators.add(operators_in(step.source))
    assert max(operators) - min(operators) <= 3


def operators_in(source: str) -> int:
    kinds = (ast.BinOp, ast.UnaryOp, ast.Call)
    return sum(isinstance(node, kinds) for node in ast.walk(ast.parse(source)))
