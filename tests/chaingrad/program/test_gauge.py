"""Maxima that drop out of what a function gives, and maxima that don't."""

import numpy as np
import pytest

import chaingrad as cg
from chaingrad.program import gauge

ROWS = np.random.default_rng(0).normal(size=(4, 3))
OTHER = np.random.default_rng(1).normal(size=(4, 3))
LABELS = np.array([2, 0, 1, 1])
W = np.random.default_rng(2).normal(size=(3, 3))


def softmax(x, axis=1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def logsumexp(x):
    m = x.max(axis=1)
    return np.log(np.exp(x - m[:, None]).sum(axis=1)) + m


def attention(x):
    scores = x @ x.T
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return ((e @ x) / e.sum(axis=1)[:, None] * OTHER).sum()


FREE = {
    "softmax": lambda x: (softmax(x) * OTHER).sum(),
    "softmax of columns": lambda x: (softmax(x, 0) * OTHER).sum(),
    "one maximum of all": lambda x: (np.exp(x - x.max()) / np.exp(x - x.max()).sum() * OTHER).sum(),
    "logsumexp": lambda x: (logsumexp(x) ** 2).sum(),
    "cross-entropy": lambda x: -np.log(softmax(x))[np.arange(4), LABELS].mean(),
    "picked from what is shifted": lambda x: (
        np.log(np.exp(x - x.max(1, keepdims=True)).sum(1))
        - (x - x.max(1, keepdims=True))[np.arange(4), LABELS]
    ).mean(),
    "scaled rows in a product": attention,
    "shifted by a minimum": lambda x: (np.log(np.exp(x - x.min()).sum()) + x.min()) ** 2,
    "twice the maximum": lambda x: (2.0 * x.max() - x.max() / 0.5) * x.sum() + (x * x).sum(),
    "within a checkpoint": lambda x: (cg.checkpoint(softmax, x) * OTHER).sum(),
    "with and without its axis": lambda x: (
        np.log(np.exp(x - x.max(axis=1, keepdims=True)).sum(axis=1)) + x.max(axis=-1) - x[:, 0]
    ).sum(),
    "negated": lambda x: (np.exp(-(x.max() - x)).sum() * np.exp(0 - (-x.max()))) + x.sum(),
    "turned": lambda x: (softmax(x).T * OTHER.T).sum(),
    "columns and new axes": lambda x: (softmax(x)[:, None, 1:] * OTHER[:, None, 1:]).sum(),
    "the mean of exponentials": lambda x: (
        np.log(np.exp(x - x.max(1, keepdims=True)).mean(1, keepdims=True))
        + x.max(1, keepdims=True)
    ).sum(),
}  # fmt: skip

BOUND = {
    "of rows and of columns": lambda x: (
        np.log(np.exp(x[:3] - x[:3].max(axis=1, keepdims=True)).sum(axis=1)) + x[:3].max(axis=0)
    ).sum(),
    "itself": lambda x: x.max(axis=1).sum(),
    "not added again": lambda x: np.log(np.exp(x - x.max()).sum()),
    "rows that mix": lambda x: (
        np.exp(x - x.max(1, keepdims=True)) / np.exp(x - x.max(1, keepdims=True)).sum(0)
    ).sum(axis=1)[1],
    "a sum of what is shifted": lambda x: (x - x.max(1, keepdims=True)).sum(),
    "another power": lambda x: np.exp(x.max() - x).sum() * np.exp(x.max()),
    "a factor that is an argument": lambda x: (np.exp((x - x.max()) * x.max())).sum(),
    "columns beside rows": lambda x: (
        np.exp(x[:3] - x[:3].max(1, keepdims=True)) * np.exp(x[:3].max(1, keepdims=True).T)
    ).sum(),
    "turned entries": lambda x: (np.exp(x[::-1] - x.max(1, keepdims=True))[::-1] * np.exp(
        x.max(1, keepdims=True))).sum(),
    "kept from the graph": lambda x: (
        np.log(np.exp(x - x.detach().max()).sum()) + x.max() if isinstance(x, cg.Node) else x
    ),
    "the maximum of what is shifted": lambda x: (
        (x - x.max(1, keepdims=True)).max(1) + x[:, 0]
    ).sum(),
    "what no rule follows": lambda x: np.tanh(x - x.max()).sum(),
}  # fmt: skip


def compare(f):
    written = cg.program(f)
    for x in (ROWS, OTHER, np.round(ROWS)):  # the last with ties
        value, dx = written(x)
        expected, by_nodes = cg.value_and_grad(f)(x)
        np.testing.assert_allclose(value, expected, 1e-12)
        np.testing.assert_allclose(dx, by_nodes, 1e-12, 1e-14)
    return written.source


@pytest.mark.parametrize("f", FREE.values(), ids=FREE)
def test_no_share_goes_through_a_maximum_that_drops_out(f):
    assert "==" not in compare(f)


@pytest.mark.parametrize("f", BOUND.values(), ids=BOUND)
def test_a_maximum_that_counts_sends_its_share(f):
    assert "==" in compare(f)


def test_the_derivative_of_a_derivative_is_found_for_its_own_root():
    """The maximum drops out of the inner function, and not out of the outer."""

    def f(x):
        inner = cg.grad(lambda y: (softmax(y) * OTHER).sum())(x)
        return (inner * inner).sum() * x.max()

    assert "==" in compare(f)


def test_each_operation_that_is_followed_is_a_rule():
    assert {*gauge._OF_ONE, *gauge._OF_TWO} <= set(cg.rules.RULES)


def test_an_entry_picked_by_a_label_is_shifted_as_all_are():
    def f(z, t):
        s = z - z.max()
        return np.log(np.exp(s).sum()) - s[t]

    written = cg.program(f)
    for label in (0, 2):
        for got, expected in zip(
            written(ROWS[0], np.array(label)), cg.value_and_grad(f)(ROWS[0], np.array(label)),
            strict=True,
        ):  # fmt: skip
            np.testing.assert_allclose(got, expected, 1e-12)
    assert "==" not in written.source
