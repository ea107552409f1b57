"""Gradients beside central differences."""

import numpy as np
import pytest

from chaingrad import Node, check_gradients
from chaingrad.rules import Rule, value
from tests.support import each

W = np.random.default_rng(0).standard_normal((4, 3))
X = np.random.default_rng(1).standard_normal((5, 3))


def ours(W, X):
    return (X @ W.T).tanh() ** 2 + 1


def our_loss(W, X):
    return ours(W, X).sum()


wrong_sine = Rule("wrong sine", np.sin, (lambda g, out, a: g * 0.999,))
wrong_later = Rule("wrong later", lambda a: a**2, (lambda g, out, a: g * 2 * value(a),))


def test_check_gradients_accepts_what_is_right():
    assert check_gradients(ours, W, X) <= 1
    assert check_gradients(our_loss, W, X, order=2) <= 1


def test_check_gradients_names_the_first_wrong_entry():
    with pytest.raises(
        AssertionError, match=r"derivative by argument 1 at index \(0,\).*differences"
    ):
        check_gradients(lambda a, b: (a * wrong_sine(b)).sum(), np.ones(2), np.array([0.5, 0.1]))
    with pytest.raises(AssertionError, match="argument 0 is wrong"):
        check_gradients(wrong_sine, 0.5)


def test_second_order_catches_a_rule_that_drops_its_graph():
    check_gradients(wrong_later, 0.5)
    with pytest.raises(AssertionError, match="second derivative"):
        check_gradients(wrong_later, 0.5, order=2)


def test_check_gradients_sees_nan():
    with pytest.raises(AssertionError):
        check_gradients(lambda x: x.log(), -1.0)


@each(
    ("call", "error", "message"),
    [
        (lambda: check_gradients(lambda x: x, 1.0, order=3), ValueError, "order"),
        (lambda: check_gradients(lambda x: x.relu(), 0.0), AssertionError, "move the point"),
        (lambda: check_gradients(lambda: Node(1.0)), ValueError, "arguments"),
        (lambda: check_gradients(lambda x: x.sum(), np.zeros(0)), ValueError, "arguments"),
    ],
)
def test_misuse_is_explained(call, error, message):
    with pytest.raises(error, match=message):
        call()
