"""What *The chain rule* and its pages of the atlas say in general, tried on random cases."""

import itertools
import math
import random
from typing import Any

import numpy as np
import pytest
import torch
from torch.autograd.functional import jacobian

from chainlab.lessons.engine import Node
from tests.claims.pages import defined
from tests.support import each

SEEDS = range(40)


def graph(seed: int, steps: int = 7) -> tuple[Any, list[Any]]:
    """A random graph of additions, products, powers and tanh, and its leaves."""
    chance = random.Random(seed)
    leaves = [Node(chance.uniform(-1, 1)) for _ in range(3)]
    nodes = [*leaves]
    for _ in range(steps):
        a, b = chance.choices(nodes, k=2)
        nodes.append(chance.choice([a + b, a - b, a * b, a**2, a.tanh(), a * a]))
    return sum(nodes[3:], nodes[2]), leaves


@each("seed", SEEDS)
def test_pull_and_push_add_up_the_same_terms(seed: int) -> None:
    root, _ = graph(seed)
    ways = defined("foundations/chain-rule")
    order = root.sorted_graph()
    root.backward()
    for way in ("pull", "push"):
        adjoints = ways[way](order)
        for node in order:
            assert adjoints[node] == pytest.approx(node.grad, rel=1e-9, abs=1e-12)


@each("seed", SEEDS)
def test_the_gradient_is_a_sum_over_paths(seed: int) -> None:
    root, leaves = graph(seed)
    paths = defined("atlas/forward-mode")["paths"]
    root.backward()
    for leaf in leaves:
        by_paths = sum(math.prod(path) for path in paths(root, leaf))
        assert leaf.grad == pytest.approx(by_paths, rel=1e-9, abs=1e-12)


@each("count", range(1, 11))
def test_each_diamond_doubles_the_paths_and_is_a_factor(count: int) -> None:
    chance = random.Random(count)
    slopes = [(chance.uniform(-2, 2), chance.uniform(-2, 2)) for _ in range(count)]
    x = y = Node(1.0)
    for a, b in slopes:
        y = a * y + b * y
    y.backward()
    paths = list(itertools.product(*slopes))
    assert len(paths) == 2**count
    assert x.grad == pytest.approx(sum(map(math.prod, paths)))
    assert x.grad == pytest.approx(math.prod(map(sum, slopes)))


@each("axes", [*itertools.product(range(4), repeat=2)])
def test_prod_gives_a_gradient_the_shape_of_its_variable(axes: tuple[int, int]) -> None:
    rng = np.random.default_rng(axes)
    x_shape, y_shape = (tuple(rng.integers(1, 4, size=count).tolist()) for count in axes)
    weights = torch.tensor(rng.normal(size=(*y_shape, *x_shape)))

    def f(x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(torch.tensordot(weights, x, dims=len(x_shape)))

    x = torch.tensor(rng.normal(size=x_shape), requires_grad=True)
    upstream = rng.normal(size=y_shape)
    (expected,) = torch.autograd.grad(f(x), x, grad_outputs=torch.tensor(upstream))
    prod = defined("foundations/chain-rule")["prod"]
    found = prod(np.asarray(upstream), jacobian(f, x.detach()).numpy())
    assert found.shape == x_shape
    assert np.allclose(found, expected)


@each("power", [-2.5, -1.0, 0.0, 0.5, 1.0, 2.0, 3.7])
def test_a_power_has_this_slope_for_any_positive_number(power: float) -> None:
    for a in np.linspace(0.1, 3, 30):
        tensor = torch.tensor(a, requires_grad=True)
        (tensor**power).backward()
        assert (Node(a) ** power).local_grads[0] == pytest.approx(tensor.grad.item())


@each(("inputs", "outputs"), [(1, 1), (2, 7), (7, 2), (5, 1), (1, 5)])
def test_a_pass_for_each_input_or_for_each_output(inputs: int, outputs: int) -> None:
    page = defined("atlas/forward-mode")
    page["rng"] = np.random.default_rng(0)
    one, forward, reverse = page["count"](inputs, outputs)
    assert (forward, reverse) == (inputs * one, outputs * one)


def test_newtons_loop_has_a_wrong_slope_only_where_it_makes_no_round() -> None:
    newton = defined("atlas/forward-mode")
    for a in [1.0, *np.geomspace(1e-3, 1e3, 300), *(1 + np.geomspace(1e-12, 1e-2, 50))]:
        root, rounds = newton["newton_sqrt"](newton["Dual"](float(a), 1.0))
        assert root.value == pytest.approx(math.sqrt(a))
        assert (rounds == 0) == (abs(a - 1) <= 1e-10)
        assert root.tangent == pytest.approx(0.5 / math.sqrt(a), rel=1e-4) or rounds == 0
