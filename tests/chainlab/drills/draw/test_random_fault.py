"""Backward passes with a fault, drawn by a seed: one line is wrong, and two results."""

import ast
import itertools
import re

import numpy as np
import pytest

from chaingrad import vjp
from chainlab.drills.draw.random_fault import (
    FAULTS,
    PASS_LINES,
    _faulty_sources,
    backward_source,
    random_fault,
)
from chainlab.drills.draw.random_graph import random_graph


def run(source: str, name: str, *arguments: object) -> object:
    space: dict[str, object] = {"np": np}
    exec(source, space)
    return space[name](*arguments)  # type: ignore[operator]


def test_the_engine_writes_the_pass_of_each_graph() -> None:
    inputs = np.random.default_rng(0).normal(size=(6, 4))
    for seed in range(50):
        graph = random_graph(np.random.default_rng(seed))
        space: dict[str, object] = {}
        exec(graph.source("f"), space)
        _, pull = vjp(space["f"], *inputs[1:])  # type: ignore[arg-type]
        shares = run(backward_source(graph), "backward", *inputs)
        np.testing.assert_allclose(shares, pull(inputs[0]), rtol=1e-12)  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_fault_is_in_one_line_and_makes_just_two_adjoints_wrong() -> None:
    inputs = np.random.default_rng(1).normal(size=(6, 4))
    faulty = [random_fault(np.random.default_rng(seed), "mended") for seed in range(40)]
    for graph, source in faulty:
        right = backward_source(graph, "mended")
        pairs = list(itertools.zip_longest(right.splitlines(), source.splitlines()))
        assert sum(a != b for a, b in pairs) == 1
        assert len(pairs) == PASS_LINES
        adjoints, wrong = (np.array(run(text, "mended", *inputs)) for text in (right, source))
        assert sum(not np.allclose(a, b) for a, b in zip(adjoints, wrong, strict=True)) == 2


@pytest.mark.slow
def test_no_two_of_a_class_have_the_same_fault() -> None:
    """The constants alone tell them apart, whatever the graphs and the faults are."""
    rng = np.random.default_rng(0)
    drawn = [random_fault(rng) for _ in range(40)]
    assert not [source for _, source in drawn if re.search(r"\.\d{4}", source)]
    lines = [graph.lines[-1] for graph, _ in drawn]
    constants = [tuple(re.findall(r"0\.\d{3}", f"{x} {y}")) for _, x, _, y in lines]
    assert {len(pair) for pair in constants} == {2}
    assert len(set(constants)) == len(lines)


def test_all_kinds_of_faults_are_made() -> None:
    source = "def f(dz, a, b):\n    z1 = a * b\n\n    da = dz * b + dz\n    db = da * a - z1\n"
    for name, fault in FAULTS.items():
        changed = list(_faulty_sources(source, fault))
        assert changed, name
        assert all(ast.parse(text) for text in changed), name
