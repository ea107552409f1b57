"""Values come in the order in which they ran, each with the line of the reader's code."""

import inspect
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch
from torch import nn

from chainview import saved_by_layer
from chainview.frameworks import watch_jax, watch_torch
from chainview.read.lines import Line, first_line

HERE = __file__


def line_of(text: str) -> Line:
    """The line of this file that ends with a comment."""
    lines = Path(HERE).read_text().splitlines()
    (number,) = [i for i, line in enumerate(lines, 1) if line.endswith(f"# {text}")]
    return Line(HERE, number)


def check_order(run: Any) -> None:
    place = {value: i for i, value in enumerate(run.values)}
    for value in run.values:
        assert all(place[parent] < place[value] for parent in value.parents)
    turns = [value.ran for value in run.values if value.parents]
    assert turns == sorted(turns)


class Branches(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(3, 3), nn.Linear(3, 3)

    def forward(self, x: Any) -> Any:
        a = self.first(x).tanh()  # the first branch
        b = self.second(x)  # the second branch
        return (b + a).sum()


def test_branches_come_in_the_order_in_which_they_ran_and_not_in_which_they_are_added():
    model = Branches()
    run = watch_torch(model, torch.randn(2, 3), model=model)
    check_order(run)
    assert list(saved_by_layer(run))[:2] == ["first", "Branches"]
    assert [run[f"{name}.weight"].line for name in ("first", "second")] == [
        line_of("the first branch"),
        line_of("the second branch"),
    ]
    tanh = next(value for value in run.values if value.op == "Tanh")
    assert tanh.line == line_of("the first branch")
    names = [value.name for value in run.folded(6).values]
    assert names == ["x", "first", "Tanh in Branches", "second", "Add in Branches", "loss"]


def test_steps_of_a_scan_are_numbered_in_time_whatever_the_loss_asks_first():
    def loss(p: Any, xs: Any) -> Any:
        def step(h: Any, x: Any) -> Any:
            return jnp.tanh(h @ p["w"] + x @ p["u"]), None  # a step

        h, _ = jax.lax.scan(step, jnp.zeros(3), xs)
        return h.sum()

    run = watch_jax(loss, {"w": jnp.eye(3) / 2, "u": jnp.eye(3)}, jnp.ones((6, 3)))
    check_order(run)
    steps = [value for value in run.values if value.op == "tanh"]
    assert [value.call.turn for value in steps] == [1, 2, 3, 4, 5, 6]
    assert {value.line for value in steps} == {line_of("a step")}
    sizes = [np.linalg.norm(value.grad) for value in steps]
    assert sizes == sorted(sizes)  # the gradient shrinks on its way to the first step
    rows = [value.name for value in run.values if value.op == "dot_general"]
    assert rows == [f"dot_general in step (call {i})" for i in range(1, 7) for _ in range(2)]


def test_a_function_of_jax_that_was_traced_before_has_the_line_of_this_call():
    jax.nn.softplus(jnp.ones((5, 2)))
    w = jnp.ones((5, 2))
    first = watch_jax(lambda w: jax.nn.softplus(w).sum(), w)
    again = watch_jax(lambda w: jax.nn.softplus(w).sum(), w)  # again
    here = line_of("again")
    assert {value.line for value in again.values} == {here}
    assert here not in {value.line for value in first.values}


def test_whose_frame_it_is():
    library, engine = inspect.getsourcefile(np.linalg), inspect.getsourcefile(nn.Linear)
    assert library is not None
    assert engine is not None
    assert first_line([(engine, 1), (library, 2), (HERE, 3)]) == Line(HERE, 3)
    assert first_line([(engine, 1), (library, 2)]) == Line(library, 2)
    assert first_line([(engine, 1)]) is None
    assert first_line([("<frozen runpy>", 1), ("<stdin>", 2)]) == Line("<stdin>", 2)
