"""Functions with a backward of their own, beside the rules that they repeat."""

import copy
import pickle

import numpy as np
import pytest

from chaingrad import Node, check_gradients, custom_vjp, grad, hessian, no_grad, program, rules
from chainview import draw_graph


@custom_vjp
def smooth(a, *, beta=1.0):
    """Compute softplus, sharper for a larger beta."""
    return np.logaddexp(0.0, beta * a) / beta


@smooth.defvjp
def smooth_backward(g, out, a, *, beta=1.0):
    return g / (1 + np.exp(-beta * a))


@custom_vjp
def scaled(X, w):
    return X * w


@scaled.defvjp
def scaled_backward(g, out, X, w):
    return g * w, g * X


X = np.array([[0.3, -1.2, 0.7], [2.0, -0.4, 0.1]])


def test_it_computes_and_is_called_like_the_function():
    assert smooth(0.0) == np.log(2)
    np.testing.assert_array_equal(smooth(Node(X), beta=2.0).data, smooth(X, beta=2.0))
    assert smooth.__name__ == smooth(Node(1.0)).op == "smooth"
    assert "sharper" in smooth.__doc__
    with no_grad():
        assert not smooth(Node(X)).parents
    assert smooth_backward(1.0, 0.0, 0.0) == 0.5  # it stays a function


@pytest.mark.parametrize("x", [0.4, X, X.astype(np.float32)])
def test_its_derivatives_are_those_of_the_rule(x):
    for order in (lambda f: f, lambda f: lambda x: (grad(f)(x) ** 2).sum()):
        ours, theirs = (
            grad(order(lambda x, f=f: (f(x) ** 2).sum()))(x if np.ndim(x) else np.array(x))
            for f in (smooth, Node.softplus)
        )
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=2e-6)


def test_options_reach_the_backward():
    check_gradients(lambda x: smooth(x, beta=3.0).sum(), X, order=2)


def test_shares_are_summed_back_to_their_inputs():
    w = np.array([1.5, -0.5, 2.0])
    check_gradients(lambda X, w: (scaled(X, w) ** 2).sum(), X, w, order=2)
    node = Node(w)
    (scaled(X, node) * 2).sum().backward()
    np.testing.assert_allclose(node.grad, 2 * X.sum(axis=0))
    assert hessian(lambda w: (scaled(X, w) ** 2).sum())(w).shape == (3, 3)


def test_a_program_writes_it_down():
    def loss(X, w):
        return (smooth(scaled(X, w), beta=2.0) ** 2).sum()

    written, w = program(loss, argnums=(0, 1)), np.array([1.5, -0.5, 2.0])
    value, gradients = written(X, w)
    assert value == pytest.approx(loss(X, w), rel=1e-12)
    for ours, theirs in zip(gradients, grad(loss, argnums=(0, 1))(X, w), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    assert "logaddexp" in written.source
    assert "smooth" not in written.source


def test_a_straight_through_estimator():
    """What such a function is for: a backward that isn't the derivative."""

    @custom_vjp
    def rounded(x):
        return np.round(x)

    @rounded.defvjp
    def backward(g, out, x):
        return g

    np.testing.assert_array_equal(grad(lambda x: (rounded(x) * 3.0).sum())(X), np.full_like(X, 3.0))
    assert rules.RULES.keys().isdisjoint({"rounded", "smooth", "scaled"})
    assert "rounded" in draw_graph(rounded(Node(1.2))).alt


def test_what_is_missing_or_wrong_is_said():
    @custom_vjp
    def half(x):
        return x / 2

    assert half(3.0) == 1.5
    with pytest.raises(TypeError, match=r"half has no backward yet: write one below @half\.defvjp"):
        half(Node(3.0))

    half.defvjp(lambda g, out, x: (g, g))
    with pytest.raises(TypeError, match="half must return 1 shares, one for each input; it ret"):
        half(Node(3.0)).backward()
    half.defvjp(lambda g, out, x: None)
    with pytest.raises(TypeError, match=r"the VJP of half for .* must give a number"):
        half(Node(3.0)).backward()
    with pytest.raises(ValueError, match="rule named 'tanh' already"):
        custom_vjp(np.tanh)


def test_it_refuses_to_be_pickled():
    for kept in (smooth, smooth(Node(X), beta=2.0)):
        with pytest.raises(TypeError, match="smooth has a custom VJP and cannot be pickled"):
            pickle.dumps(kept)
    assert copy.deepcopy({"activation": smooth}) == {"activation": smooth}  # as of a function
