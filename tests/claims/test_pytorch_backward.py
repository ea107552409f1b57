"""What *What `backward` does in PyTorch* says in general, tried on random graphs."""

import random
from typing import Any

import pytest
import torch

from tests.claims.pages import defined
from tests.support import each

SEEDS = range(20)


def page() -> dict[str, Any]:
    return defined("frameworks/pytorch-backward")


def graph(seed: int) -> tuple[list[torch.Tensor], torch.Tensor]:
    """Make leaves and a loss that uses values several times, also twice in one operation."""
    rng = random.Random(seed)
    leaves = [torch.tensor(rng.uniform(-1, 1), dtype=torch.float64) for _ in range(3)]
    for leaf in leaves:
        leaf.requires_grad_()
    values = list(leaves)
    for _ in range(12):
        a, b = rng.choice(values[-5:]), rng.choice(values)
        made = rng.choice([lambda a, b: a * b, lambda a, b: a + b, lambda a, b: a * a + b.tanh(),
                           lambda a, b: (a - b).sin()])  # fmt: skip
        values.append(made(a, b))
    return leaves, sum(values[1:], values[0])


@each("seed", SEEDS)
def test_reading_by_hand_gives_what_backward_gives(seed: int) -> None:
    leaves, loss = graph(seed)
    found = page()["backward_by_hand"](loss)
    loss.backward()
    for leaf in leaves:
        torch.testing.assert_close(found[leaf], leaf.grad)


@each("seed", SEEDS)
def test_each_function_runs_once_and_after_all_that_contribute(seed: int) -> None:
    _, loss = graph(seed)
    inputs_of, functions = page()["inputs_of"], page()["all_functions"](loss)
    order: list[Any] = []
    hooks = [f.register_prehook(lambda got, f=f: order.append(f)) for f in functions]
    loss.backward()
    for hook in hooks:
        hook.remove()
    assert len(order) == len(set(order)) == len(functions)
    place = {f: i for i, f in enumerate(order)}
    assert all(place[f] < place[g] for f in functions for g in inputs_of(f) if g)


@each("seed", SEEDS)
def test_a_second_call_fails_where_a_function_had_saved_something(seed: int) -> None:
    _, loss = graph(seed)
    loss.backward(retain_graph=True)
    loss.backward()
    with pytest.raises(RuntimeError, match="Saved intermediate values of the graph are freed"):
        loss.backward()
