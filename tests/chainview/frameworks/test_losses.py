"""Losses of PyTorch that ask for something else than was meant, and those that look like them."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from chainview.frameworks import diagnose, watch_torch

ROWS, LABELS, TARGETS = 6, torch.arange(6) % 3, torch.arange(6.0)


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
