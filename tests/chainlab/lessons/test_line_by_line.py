"""The film of the engine's lines, held to PyTorch and to the lines themselves."""

import sys
from itertools import pairwise

import pytest
import torch

from chainlab.lessons.engine import Node
from chainlab.lessons.line_by_line import LINES, recorded, run_lines


def test_the_gradients_at_the_end_are_those_of_pytorch() -> None:
    stops, named = recorded()
    w, x, b, target = (
        torch.tensor(value, dtype=torch.float64, requires_grad=True)
        for value in (0.5, 1.5, -0.2, 0.2)
    )
    z = w * x + b
    z.retain_grad()
    ((z + torch.tanh(z) - target) ** 2).backward()
    for name, tensor in {"w": w, "x": x, "b": b, "target": target, "z": z}.items():
        assert stops[-1]["grads"][named[name]] == pytest.approx(tensor.grad.item(), rel=1e-12)


def test_each_line_has_done_what_its_stop_shows() -> None:
    stops, named = recorded()
    made = [stop for stop in stops if stop["part"] == "forward"]
    assert [stop["lit"] for stop in made] == [[n] for n in named.values() if n.parents]
    pushes = [stop for stop in stops if "node" in stop]
    assert len(pushes) == sum(len(node.parents) for node in named.values())
    for earlier, stop in pairwise(stops):
        changed = {n for n, grad in stop["grads"].items() if earlier["grads"].get(n, 0.0) != grad}
        if "node" in stop:
            assert LINES[stop["line"] - 1].strip() == "parent.grad += node.grad * local"
            (parent,) = stop["lit"]
            held = earlier["grads"][parent]
            assert stop["grads"][parent] == held + stop["node"].grad * stop["local"]
            assert changed == {parent}
        elif changed:
            assert LINES[stop["line"] - 1].strip() == "self.grad += 1.0"


def test_the_list_ends_with_children_before_parents_and_met_z_twice() -> None:
    stops, named = recorded()
    order = stops[-1]["order"]
    assert sorted(order) == sorted(named)
    for name, node in named.items():
        for parent in node.parents:
            (other,) = (key for key, value in named.items() if value is parent)
            assert order.index(name) < order.index(other)
    assert [stop["lit"] for stop in stops if stop.get("again")] == [[named["z"]]]


def test_another_trace_goes_on_and_the_engine_is_left_alone() -> None:
    def other(*_: object) -> None:
        return None

    before = sys.gettrace()
    sys.settrace(other)
    try:
        recorded.__wrapped__()
        assert sys.gettrace() is other
    finally:
        sys.settrace(before)
    x = Node(3.0)
    (x * x).backward()
    assert x.grad == 6.0


def test_without_scripts_the_whole_engine_and_the_last_gradients_stand() -> None:
    html = run_lines().html
    for part in ("class Node:", "def as_node(number):", "2.976", "4.464"):
        assert part in html
