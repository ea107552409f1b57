"""The net library: the page's own lines, and what they compute."""

import re

import numpy as np
import pytest
import torch

from chainlab.lessons import net
from chainlab.lessons.engine import Node
from chainlab.lessons.net import MLP, Module, Parameter, find
from tests.support import ROOT, each
from tools.execute import Page

PAGE = ROOT / "chapters" / "foundations" / "neural-network.md"


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def test_the_page_shows_the_library_line_for_line() -> None:
    cells = [cell.source for cell in Page(ROOT, PAGE).code]
    library = re.compile(r"^class (Parameter|Neuron|Layer)\(", re.M)
    first = next(i for i, cell in enumerate(cells) if library.search(cell))
    shown = [cell for cell in cells if library.search(cell)]
    written = lines((ROOT / "src/chainlab/lessons/net.py").read_text().partition('"""\n')[2])
    imports = [line for line in written if line.startswith(("import ", "from "))]
    assert all(line in lines("\n".join(cells[:first])) for line in imports)
    assert lines("\n".join(shown)) == [line for line in written if line not in imports]
    assert 45 <= len(written) <= 55  # "fifty lines"
    assert net.__doc__


@each("sizes", [[1], [4, 1], [8, 4, 1], [3, 2]])
def test_answers_and_gradients_are_those_of_pytorch(sizes: list[int]) -> None:
    ours = MLP(2, sizes, np.random.default_rng(0))
    parts: list[torch.nn.Module] = []
    for layer in ours.layers:
        linear = torch.nn.Linear(len(layer.neurons[0].weights), len(layer.neurons)).double()
        for i, neuron in enumerate(layer.neurons):
            for j, weight in enumerate(neuron.weights):
                linear.weight.data[i, j] = weight.data
            linear.bias.data[i] = neuron.bias.data
        parts += [linear, torch.nn.Tanh()]
    theirs = torch.nn.Sequential(*parts[:-1])
    found = ours([0.3, -0.8])
    expected = theirs(torch.tensor([0.3, -0.8], dtype=torch.float64))
    answers = found if len(sizes) and sizes[-1] > 1 else [found]
    assert [answer.data for answer in answers] == pytest.approx(expected.tolist())
    sum(answers, Node(0.0)).backward()
    expected.sum().backward()
    for layer, linear in zip(ours.layers, parts[::2], strict=True):
        for i, neuron in enumerate(layer.neurons):
            slopes = [weight.grad for weight in neuron.weights]
            assert slopes == pytest.approx(linear.weight.grad[i].tolist())
            assert neuron.bias.grad == pytest.approx(linear.bias.grad[i].item())


def test_a_shared_parameter_is_found_twice_and_listed_once() -> None:
    module = Module()
    module.a = module.b = Parameter(1.0)
    module.other = [Node(2.0), "a name", [Parameter(3.0)]]
    assert [p.data for p in find(module)] == [1.0, 1.0, 3.0]
    assert [p.data for p in module.parameters()] == [1.0, 3.0]
    module.a.grad = 5.0
    module.zero_grad()
    assert module.a.grad == 0.0
