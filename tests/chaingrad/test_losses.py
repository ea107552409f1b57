"""Losses against PyTorch in float64, and at sizes where a naive formula overflows."""

import pickle

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from chaingrad import Node, check_gradients, grad, losses
from chaingrad.losses import cross_entropy, l2_penalty, log_softmax, mse_loss, softmax
from chaingrad.nn import MLP, Linear
from chaingrad.rules import RULES
from tests.support import each

scores = arrays(
    np.float64, st.tuples(st.integers(1, 5), st.integers(1, 4)), elements=st.floats(-30, 30)
)


def same_with_gradient(ours, theirs, data, rtol=1e-10):
    """Compare value and gradient, contracted with a fixed vector, of a function of one array."""
    node, tensor = Node(data), torch.tensor(data, requires_grad=True)
    out, expected = ours(node), theirs(tensor)
    assert out.shape == tuple(expected.shape)
    np.testing.assert_allclose(out.data, expected.detach(), rtol=rtol, atol=1e-14)
    u = np.linspace(-1, 1, out.size).reshape(out.shape) + 0.5
    out.backward(u if out.ndim else float(u))
    expected.backward(torch.tensor(u))
    np.testing.assert_allclose(node.grad, tensor.grad, rtol=rtol, atol=1e-14)


@given(z=scores, axis=st.sampled_from([0, 1, -1]))
def test_softmax_and_its_logarithm(z, axis):
    same_with_gradient(lambda z: softmax(z, axis), lambda t: torch.softmax(t, axis), z)
    same_with_gradient(lambda z: log_softmax(z, axis), lambda t: torch.log_softmax(t, axis), z)


@given(z=scores, data=st.data())
def test_cross_entropy(z, data):
    n, c = z.shape
    labels = np.array(data.draw(st.lists(st.integers(0, c - 1), min_size=n, max_size=n)))
    theirs = lambda t: torch.nn.functional.cross_entropy(t, torch.tensor(labels))  # noqa: E731
    same_with_gradient(lambda z: cross_entropy(z, labels), theirs, z)


@given(a=scores, seed=st.integers(0, 99))
def test_mean_squared_error(a, seed):
    b = np.random.default_rng(seed).normal(size=a.shape)
    theirs = lambda t: torch.nn.functional.mse_loss(t, torch.tensor(b))  # noqa: E731
    same_with_gradient(lambda a: mse_loss(a, b), theirs, a)


def test_second_derivatives():
    z, labels = np.random.default_rng(0).normal(size=(3, 4)), [0, 3, 1]
    assert check_gradients(lambda z: cross_entropy(z, labels), z, order=2) <= 1
    assert check_gradients(softmax, z, order=2) <= 1
    assert check_gradients(lambda z: mse_loss(z, np.ones((3, 4))), z, order=2) <= 1
    assert check_gradients(lambda z: l2_penalty([z], 0.3), z, order=2) <= 1


@pytest.mark.parametrize("size", [1e3, 1e6, 1e300])
def test_huge_logits(size):
    z = np.array([[size, 0.0, -size], [size, size, -size]])
    same_with_gradient(softmax, lambda t: torch.softmax(t, 1), z)
    theirs = lambda t: torch.nn.functional.cross_entropy(t, torch.tensor([0, 1]))  # noqa: E731
    same_with_gradient(lambda z: cross_entropy(z, [0, 1]), theirs, z)


def test_a_large_offset_costs_no_digits():
    z = np.array([[3.0, 1.0, 0.0]], np.float32)
    expected = torch.nn.functional.cross_entropy(torch.tensor(z + 4096), torch.tensor([0]))
    loss = cross_entropy(z + 4096, [0])
    assert loss.dtype == np.float32
    np.testing.assert_allclose(loss.data, expected, rtol=1e-6)


def test_excluded_classes():
    node = Node(np.array([[1.0, -np.inf, 2.0]]))
    loss = cross_entropy(node, [0])
    loss.backward()
    np.testing.assert_allclose(node.grad[0, 1], 0.0)
    np.testing.assert_allclose(loss.data, np.log1p(np.exp(1.0)))


def test_of_scalars():
    model = MLP(1, [3, 1], rng=0)
    loss = mse_loss(model([2.0]), 1.0)
    assert type(loss.data) is float
    loss.backward()
    assert all(type(p.grad) is float for p in model.parameters())


def test_l2_penalty():
    model = Linear(3, 2, rng=0)
    penalty = l2_penalty([model.weight, model.bias, Node(2.0)], 0.1)
    squares = (model.weight.data**2).sum() + (model.bias.data**2).sum() + 4.0
    np.testing.assert_allclose(penalty.data, 0.05 * squares)
    penalty.backward()
    np.testing.assert_allclose(model.weight.grad, 0.1 * model.weight.data)
    assert l2_penalty(model.parameters(), 0.0).data == 0.0


# --- errors -------------------------------------------------------------------------------------


def test_labels_that_would_take_a_gradient_are_refused():
    labels = Node(np.array([0.3, 0.4]), "y")
    with pytest.raises(TypeError, match=r"no gradient flows to the labels.*'y'.*labels\.detach"):
        losses.binary_cross_entropy_with_logits(np.ones(2), labels)
    with pytest.raises(TypeError, match="no gradient flows to the labels"):
        grad(lambda y: losses.binary_cross_entropy_with_logits(Node(np.ones(2)), y))(np.ones(2))
    assert losses.binary_cross_entropy_with_logits(Node(np.ones(2)), labels.detach()).ndim == 0


def test_a_target_may_be_a_list():
    assert mse_loss(Node(np.array([1.0, 2.0])), [1.0, 4.0]).data == 2.0


def test_shapes_that_would_broadcast_are_refused():
    with pytest.raises(ValueError, match=r"prediction \(5, 1\) and target \(5,\).*one shape"):
        mse_loss(Node(np.ones((5, 1))), np.ones(5))
    with pytest.raises(ValueError, match=r"\(5,\) and target \(\)"):
        mse_loss(Node(np.ones(5)), 1.0)
    with pytest.raises(ValueError, match="along an axis"):
        softmax(Node(1.0))


@each(
    ("shape", "labels", "error", "message"),
    [
        ((3,), [0], ValueError, r"shape \(n, c\); got \(3,\)"),
        ((2, 3), [0], ValueError, r"labels of shape \(2,\).*got \(1,\)"),
        ((2, 3), [[0], [1]], ValueError, r"got \(2, 1\)"),
        ((2, 3), [0.0, 1.0], TypeError, "integers; got dtype float64"),
        ((2, 3), [True, False], TypeError, "integers; got dtype bool"),
        ((2, 3), [0, 3], ValueError, r"from 0 to 2; labels\[1\] is 3"),
        ((2, 3), [-1, 0], ValueError, r"from 0 to 2; labels\[0\] is -1"),
    ],
)
def test_labels(shape, labels, error, message):
    with pytest.raises(error, match=message):
        cross_entropy(np.zeros(shape), labels)


def test_penalty_of_nothing():
    with pytest.raises(ValueError, match="no parameters"):
        l2_penalty([], 0.1)
    with pytest.raises(ValueError, match="weight_decay must be 0 or more; got -1"):
        l2_penalty([Node(1.0)], -1)
    with pytest.raises(TypeError, match=r"pass \[node\]"):
        l2_penalty(Node(np.ones(3)), 0.1)


def test_binary_cross_entropy_is_that_of_torch_and_finite():
    z = np.array([[0.3, -2.0, 1e4], [-1e4, 40.0, -40.0]])
    y = np.array([[1.0, 0.3, 0.0], [1.0, 1.0, 0.0]])
    ours, theirs = Node(z), torch.tensor(z, requires_grad=True)
    loss = losses.binary_cross_entropy_with_logits(ours, y)
    expected = torch.nn.functional.binary_cross_entropy_with_logits(theirs, torch.tensor(y))
    loss.backward()
    expected.backward()
    np.testing.assert_allclose(loss.data, expected.item(), rtol=1e-12)
    np.testing.assert_allclose(ours.grad, theirs.grad, rtol=1e-9, atol=1e-15)
    check_gradients(lambda z: losses.binary_cross_entropy_with_logits(z, y), z / 1e4, order=2)
    for labels, message in ((y[0], "one shape"), (y * 2, "from 0 to 1")):
        with pytest.raises(ValueError, match=message):
            losses.binary_cross_entropy_with_logits(ours, labels)


def test_cross_entropy_keeps_its_saved_arrays_out_of_its_options():
    logits = Node(np.zeros((2, 3)))
    loss = cross_entropy(logits, [0, 2])
    assert set(loss.rule.options) == {"labels"}
    again = pickle.loads(pickle.dumps(loss))
    again.backward()
    loss.backward()
    (left,) = again.parents
    np.testing.assert_array_equal(left.grad, logits.grad)
    assert loss.rule.saved == RULES["cross_entropy"].saved == []
