"""The reader's engine, held to PyTorch's."""

import inspect
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from chainlab.lessons import engine
from chainlab.lessons.engine import Node, slopes
from tests.support import ROOT
from tools.execute import Page

NUMBERS = st.floats(-2.0, 2.0)


def neuron(w, x, b, target, tanh):
    z = 3 - (w * x + b) * 2
    out = z + tanh(z)
    return (out - target) ** 2 + 0.1 * w**2 - (1 - b) ** 3


@given(st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS))
def test_gradients_are_those_of_pytorch(values: tuple[float, ...]) -> None:
    ours = [Node(value) for value in values]
    theirs = [torch.tensor(value, dtype=torch.float64, requires_grad=True) for value in values]
    loss = neuron(*ours, Node.tanh)
    loss.backward()
    expected = neuron(*theirs, torch.tanh)
    expected.backward()
    assert loss.data == pytest.approx(expected.item(), rel=1e-12, abs=1e-12)
    for node, tensor in zip(ours, theirs, strict=True):
        assert node.grad == pytest.approx(tensor.grad.item(), rel=1e-9, abs=1e-9)


def test_leaves_add_up_and_what_lies_between_does_not() -> None:
    x = Node(2.0)
    u = x * x
    y = u * x
    y.backward()
    y.backward()
    assert (x.grad, u.grad) == (24.0, 2.0)


def test_a_chain_may_be_longer_than_python_recurses() -> None:
    x = y = Node(1.0)
    for _ in range(10_000):
        y = y + x
    y.backward()
    assert x.grad == 10_001.0


@given(st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS))
def test_differences_come_close_to_the_gradients(values: tuple[float, ...]) -> None:
    def of(*nodes):
        return neuron(*nodes, Node.tanh)

    nodes = [Node(value) for value in values]
    of(*nodes).backward()
    for node, slope in zip(nodes, slopes(of, values), strict=True):
        assert slope == pytest.approx(node.grad, rel=1e-6, abs=1e-5)


def test_the_page_shows_it_line_for_line() -> None:
    shown = Page(ROOT, ROOT / "chapters" / "foundations" / "autograd-engine.md").code
    _, _, source = Path(inspect.getfile(engine)).read_text().partition('"""\n\n')
    whole, slope, rest = source.partition("\n\n\ndef slopes")
    sources = [cell.source for cell in shown]
    assert whole in sources
    assert any(source.startswith(f"{slope}{rest}".strip()) for source in sources)
