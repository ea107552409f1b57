"""What *Forward and backward* shows, held to PyTorch, and its forward pass entered anywhere."""

import re

import numpy as np
import pytest
import torch

from chaingrad import Node
from chainlab.lessons.forward_and_backward import (
    LAMBDA,
    OPERANDS,
    W1,
    W2,
    WEIGHTS,
    X,
    Y,
    at,
    draw_network,
    passes,
    record,
)
from chainview.player.names import plain
from chainview.player.steps import BACKWARD
from tests.support import each

NETWORK = W1, W2, X, Y, LAMBDA
EQUATION = re.compile(r"[:½] ([−\d.·+() ²]+) = (−?[\d.]+)$")


def by_torch() -> dict[str, torch.Tensor]:
    """The variables of the page's network, by name, after PyTorch's backward pass."""
    v = {"W⁽¹⁾": W1, "W⁽²⁾": W2, "x": X, "y": Y}
    tensors = {name: torch.tensor(array, requires_grad=True) for name, array in v.items()}
    tensors["z"] = tensors["W⁽¹⁾"] @ tensors["x"]
    tensors["h"] = torch.relu(tensors["z"])
    tensors["o"] = tensors["W⁽²⁾"] @ tensors["h"]
    tensors["L"] = ((tensors["o"] - tensors["y"]) ** 2).sum() / 2
    tensors["s"] = LAMBDA / 2 * sum((tensors[name] ** 2).sum() for name in WEIGHTS)
    tensors["J"] = tensors["L"] + tensors["s"]
    for tensor in tensors.values():
        tensor.retain_grad()
    tensors["J"].backward()
    return tensors


def test_the_player_ends_with_the_values_and_gradients_that_pytorch_gives() -> None:
    shown = {(n, slot): text for step in passes().steps for n, slot, text in step.changes}
    tensors = by_torch()
    assert set(tensors) == set(OPERANDS)
    for name, tensor in tensors.items():
        for kind, array in (("data", tensor.detach()), ("grad", tensor.grad)):
            if kind == "grad" and name in ("x", "y"):
                assert not any(n == name and slot.startswith("grad") for n, slot in shown)
                continue
            for (i, j), value in np.ndenumerate(np.atleast_2d(array.numpy())):
                written = shown[name, f"{kind}{i}{j}"].replace("−", "-")
                assert float(written) == pytest.approx(value, rel=1e-3, abs=1e-9)
                assert not shown.get((name, f"hot{i}{j}"))  # nothing stands out at the end


def test_each_equation_in_the_players_words_is_true() -> None:
    found = [match for step in passes().steps if (match := EQUATION.search(plain(step.words)))]
    assert len(found) == 7
    for match in found:
        left, right = (text.replace("−", "-").replace("·", "*") for text in match.groups())
        assert eval(left.replace("²", "**2")) == pytest.approx(float(right), abs=1e-4), match[0]


def test_a_row_stands_out_forward_and_a_column_backward() -> None:
    read = {"Forward": set(), BACKWARD: set()}
    for step in passes().steps:
        read[step.phase] |= {
            (n, slot) for n, slot, text in step.changes if slot.startswith("hot") and text
        }
    assert {slot for n, slot in read["Forward"] if n == "W⁽²⁾"} == {"hot00", "hot01", "hot02"}
    assert read[BACKWARD] == {("W⁽²⁾", "hot00"), ("W⁽²⁾", "hot10")}


def test_the_drawing_has_a_square_for_each_variable() -> None:
    drawing = draw_network()
    assert drawing.fits
    for name in OPERANDS:
        assert name in drawing.source


@each("name", ["W1", "W2", "z", "h", "o", "L", "s"])
def test_the_forward_pass_can_be_entered_anywhere(name: str) -> None:
    root, weights = record(*NETWORK)
    values = {"x": X, "y": Y, "lam": LAMBDA, "W1": W1, "W2": W2}
    root.backward()
    nodes: dict[str | None, Node] = {node.label: node for node in root.sorted_graph()}
    nodes |= {"W1": weights[0], "W2": weights[1]}
    J = at(values, name)
    node = nodes[name]
    assert J(node.data) == pytest.approx(root.data)
    direction = np.full(node.shape, 1e-6)
    moved = (J(node.data + direction) - J(node.data - direction)) / 2e-6
    assert moved == pytest.approx(np.sum(node.grad), rel=1e-6)
