"""What *Forward and backward* draws, held to PyTorch, and its forward pass entered anywhere."""

import numpy as np
import pytest
import torch

from chainlab.lessons.forward_and_backward import OPERATORS, WEIGHTS, at, draw_network, record
from tests.support import each

NETWORK = (
    np.array([[0.5, 0.0], [0.2, 0.8], [-0.6, 0.1]]),
    np.array([[0.8, -0.4, 0.5], [0.2, 0.5, -0.3]]),
    np.array([1.5, 1.0]),
    np.array([1.0, 0.0]),
    0.1,
)


def test_the_record_has_the_gradients_that_pytorch_gives() -> None:
    root, weights = record(*NETWORK)
    root.backward()
    W1, W2, x, y = (torch.tensor(array, requires_grad=True) for array in NETWORK[:4])
    error = W2 @ torch.relu(W1 @ x) - y
    J = (error**2).sum() / 2 + 0.1 / 2 * ((W1**2).sum() + (W2**2).sum())
    J.backward()
    assert root.data == pytest.approx(J.item())
    for node, tensor in zip(weights, (W1, W2), strict=True):
        np.testing.assert_allclose(node.grad, tensor.grad, rtol=1e-12)


@pytest.mark.parametrize("back", [False, True])
def test_the_drawing_has_a_square_for_each_variable(back: bool) -> None:
    drawing = draw_network(*NETWORK, back=back)
    assert drawing.fits
    for name in (*OPERATORS, *WEIGHTS, "x", "y"):
        assert name in drawing.source
    assert ("gradient" in drawing.alt) == back


@each("name", ["W1", "W2", "z", "h", "o", "L", "s"])
def test_the_forward_pass_can_be_entered_anywhere(name: str) -> None:
    root, weights = record(*NETWORK)
    W1, W2, x, y, lam = NETWORK
    values = {"x": x, "y": y, "lam": lam, "W1": W1, "W2": W2}
    root.backward()
    nodes = {node.label: node for node in root.sorted_graph()}
    nodes |= {"W1": weights[0], "W2": weights[1]}
    J = at(values, name)
    node = nodes[name]
    assert J(node.data) == pytest.approx(root.data)
    direction = np.full(node.shape, 1e-6)
    moved = (J(node.data + direction) - J(node.data - direction)) / 2e-6
    assert moved == pytest.approx(np.sum(node.grad), rel=1e-6)
