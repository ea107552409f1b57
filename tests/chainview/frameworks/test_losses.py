"""Losses that ask for something else than was meant, and those that look like them."""

import jax
import jax.numpy as jnp
import pytest
import torch
from torch import nn
from torch.nn import functional

from chainview.frameworks import diagnose, watch_jax, watch_torch

ROWS, LABELS, TARGETS = 6, torch.arange(6) % 3, torch.arange(6.0)
HALVES = (TARGETS % 2)[:, None]


def told(loss, outputs, dtype=torch.float32):
    torch.manual_seed(0)
    model, x = nn.Linear(4, outputs).to(dtype), torch.randn(ROWS, 4, dtype=dtype)
    found = diagnose(watch_torch(lambda x: loss(model(x)), x, model=model), directions=0)
    return [symptom.kind for symptom in found.symptoms]


@pytest.mark.parametrize(
    "loss",
    [
        lambda z: functional.cross_entropy(z.softmax(1), LABELS),
        lambda z: functional.cross_entropy(
            z.softmax(1).view(2, 3, 3).transpose(1, 2), LABELS.view(2, 3)
        ),
    ],
)
def test_softmax_of_probabilities(loss):
    assert told(loss, 3) == ["two softmaxes"]


@pytest.mark.parametrize(
    "loss",
    [
        lambda z: functional.nll_loss(z.log_softmax(0), LABELS),
        lambda z: functional.nll_loss(z.view(2, 3, 3).log_softmax(2), LABELS.view(2, 3)),
    ],
)
def test_softmax_over_another_axis_than_the_classes(loss):
    assert told(loss, 3) == ["softmax over the batch"]


@pytest.mark.parametrize(
    "loss",
    [
        lambda z: functional.cross_entropy(z, LABELS),
        lambda z: functional.cross_entropy(z.log_softmax(1), LABELS),  # the same as once
        lambda z: functional.cross_entropy(z, z.detach().softmax(1)),
        lambda z: functional.cross_entropy(z[0], LABELS[0]),
        lambda z: functional.cross_entropy(z.view(2, 3, 3).transpose(1, 2), LABELS.view(2, 3)),
        lambda z: (z.softmax(0).T @ z).square().mean(),  # slots that compete for rows
        lambda z: functional.nll_loss(z.log_softmax(1), LABELS, torch.tensor([0.5, 1.0, 2.0])),
    ],
)
def test_classes_as_they_should_be(loss):
    assert told(loss, 3) == []


@pytest.mark.parametrize(
    ("loss", "outputs", "kind"),
    [
        (lambda z: functional.nll_loss(z.softmax(1), LABELS), 3, "no logarithm"),
        (lambda z: functional.binary_cross_entropy_with_logits(z.sigmoid(), HALVES), 1,
         "two sigmoids"),
        (lambda z: functional.binary_cross_entropy_with_logits(z[:, 0].sigmoid(), HALVES[:, 0]), 1,
         "two sigmoids"),
    ],
)  # fmt: skip
def test_probabilities_where_a_loss_takes_others(loss, outputs, kind):
    assert told(loss, outputs) == [kind]


@pytest.mark.parametrize(
    ("loss", "outputs"),
    [
        (lambda z: functional.nll_loss(-z.square(), LABELS), 3),
        (lambda z: functional.binary_cross_entropy_with_logits(z, HALVES), 1),
        (lambda z: functional.binary_cross_entropy(z.sigmoid(), HALVES), 1),
        (lambda z: functional.binary_cross_entropy_with_logits(z * z.sigmoid(), HALVES), 1),
    ],
)
def test_what_looks_like_probabilities(loss, outputs):
    assert told(loss, outputs) == []


X, W = jax.random.normal(jax.random.key(0), (5, 4)), jax.random.normal(jax.random.key(1), (4, 3))
Y, ROW = jnp.arange(5) % 3, jnp.arange(5)


def integer_labels(logits, labels):
    """As Optax writes it."""
    logits -= jax.lax.stop_gradient(jnp.max(logits, axis=-1, keepdims=True))
    return jnp.log(jnp.exp(logits).sum(-1)) - jnp.take_along_axis(logits, labels[:, None], -1)[:, 0]


def of_pair(x, label):
    return -jax.nn.log_softmax(jax.nn.softmax(x))[label]


def told_in_jax(loss):
    found = diagnose(watch_jax(lambda w: loss(X @ w), W), directions=0)
    return [symptom.kind for symptom in found.symptoms]


@pytest.mark.parametrize(
    ("loss", "kind"),
    [
        (lambda z: -jax.nn.log_softmax(jax.nn.softmax(z))[ROW, Y].mean(), "two softmaxes"),
        (lambda z: integer_labels(jax.nn.softmax(z), Y).mean(), "two softmaxes"),
        (lambda z: jax.nn.logsumexp(jax.nn.softmax(z), axis=-1).mean(), "two softmaxes"),
        (lambda z: jax.vmap(of_pair)(z, Y).mean(), "two softmaxes"),
        (lambda z: -jax.nn.log_softmax(z, axis=0)[ROW, Y].mean(), "softmax over the batch"),
        (lambda z: -jnp.take_along_axis(jax.nn.log_softmax(z, axis=0), Y[:, None], 1).mean(),
         "softmax over the batch"),
        (lambda z: -(jax.nn.log_softmax(z, axis=0) * jax.nn.one_hot(Y, 3)).sum(),
         "softmax over the batch"),
        (lambda z: -jax.nn.log_sigmoid(jax.nn.sigmoid(z)).mean(), "two sigmoids"),
        (lambda z: jnp.abs(ROW - z[:, :1]).sum(), "broadcast loss"),
        (lambda z: jnp.square(z[:, :1] - ROW).mean(), "broadcast loss"),
    ],
)  # fmt: skip
def test_losses_in_primitives_of_jax(loss, kind):
    assert told_in_jax(loss) == [kind]


@pytest.mark.parametrize(
    "loss",
    [
        lambda z: -jax.nn.log_softmax(z)[ROW, Y].mean(),
        lambda z: -jax.nn.log_softmax(z.T, axis=0)[Y, ROW].mean(),
        lambda z: -(jax.nn.log_softmax(z.T, axis=0) * jax.nn.one_hot(Y, 3).T).sum(),
        lambda z: -jax.nn.log_softmax(z[:3])[ROW[:3], Y[:3]].mean(),  # as many rows as classes
        lambda z: -jax.nn.log_softmax(z @ z.T, axis=0)[ROW, ROW].mean(),
        lambda z: integer_labels(z, Y).mean(),
        lambda z: -(jax.nn.softmax(X[:, :3]) * jax.nn.log_softmax(z)).sum(1).mean(),
        lambda z: (jax.nn.softmax(z) * jax.nn.log_softmax(z)).sum(1).mean(),
        lambda z: jnp.log(1 + jnp.exp(jax.nn.softmax(z) @ X[:3])).sum(),
        lambda z: (jax.nn.softplus(jax.nn.sigmoid(z)) @ X[:3]).sum(),  # a layer, and no loss
        lambda z: jnp.square(z[:, :1] - ROW[None, :]).mean(),
        lambda z: jnp.square(z[:, 0] - ROW).mean(),
    ],
)
def test_primitives_of_jax_as_they_should_be(loss):
    assert told_in_jax(loss) == []


def test_rounding_of_bfloat16_is_no_other_axis():
    assert told(lambda z: functional.cross_entropy(z, LABELS), 3, torch.bfloat16) == []


@pytest.mark.filterwarnings("ignore:Using a target size")
@pytest.mark.parametrize(
    "measure",
    [
        functional.mse_loss,
        functional.l1_loss,
        functional.smooth_l1_loss,
        functional.huber_loss,
        lambda z, y: (z - y).square().sum(),
        lambda z, y: (y - z).abs().mean(),
        lambda z, y: ((z - y) * (z - y)).mean(),
    ],
)
def test_column_against_a_row(measure):
    assert told(lambda z: measure(z, TARGETS), 1) == ["broadcast loss"]
    assert told(lambda z: measure(z[:, 0], TARGETS), 1) == []
    assert told(lambda z: measure(z, TARGETS[:, None]), 1) == []


@pytest.mark.parametrize(
    "loss",
    [
        lambda z: (z - z[:, 0]).square().mean() + z.sum(),  # of pairs
        lambda z: (z - TARGETS).square().min(1).values.mean(),  # to the nearest
        lambda z: (-(z - TARGETS).square()).exp().sum(),
        lambda z: (z[:1] - TARGETS[:1]).square().mean(),
    ],
)
def test_columns_and_rows_that_are_meant(loss):
    assert told(loss, 1) == []


def test_bias_that_cancels_in_pairs_is_no_zero():
    assert told(lambda z: (z - z[:, 0]).square().mean(), 1) == []
