"""What *A neural network* draws is what its net computes."""

import numpy as np
import pytest

from chainlab.lessons.engine import Node
from chainlab.lessons.net import MLP
from chainlab.lessons.neural_network import PLACES, curves, draw_rates, draw_sum, losses, watch
from chainview.player.names import brief
from chainview.plots import Plot

X, Y = [-1.0, 0.0, 1.0], [1.0, -1.0, 1.0]


def history(net: MLP, steps: int = 4) -> list[list[float]]:
    rng = np.random.default_rng(1)
    return [rng.normal(size=len(net.parameters())).tolist() for _ in range(steps)]


@pytest.fixture
def net() -> MLP:
    return MLP(1, [3, 1], np.random.default_rng(0))


def test_curves_add_up_to_the_net(net: MLP) -> None:
    whole, parts = curves(net)
    assert parts.shape == (3, len(PLACES))
    assert whole == pytest.approx([net([Node(place)]).data for place in PLACES])
    bias = net.layers[-1].neurons[0].bias.data
    assert whole == pytest.approx(parts.sum(axis=0) + bias)


def test_a_run_is_shown_with_its_own_numbers_and_the_net_stays_as_it_is(net: MLP) -> None:
    before = [p.data for p in net.parameters()]
    run = history(net)
    figure = watch(net, run, X, Y)
    assert [p.data for p in net.parameters()] == before
    loss = losses(net, run, X, Y)
    assert figure.data["words"][2] == f"step 2 of 3. loss: {brief(loss[2])}."
    for numbers, values in zip(figure.data["numbers"], run, strict=True):
        weights, biases = values[0:6:2], values[1:6:2]
        shown = [*weights, *biases, *values[6:9], values[9]]
        assert numbers == pytest.approx(np.array(shown) * 100, abs=0.51)


def test_losses_are_means_of_squares(net: MLP) -> None:
    run = [[0.0] * len(net.parameters())]
    assert losses(net, run, X, Y) == pytest.approx([1.0])


def test_plots_tell_their_numbers(net: MLP, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(Plot, "show", lambda plot, alt: told.append(alt))
    draw_sum(X, Y, {"falls": np.array([1.0, 0.0, -1.0])}, np.zeros(3))
    draw_rates(net, {0.5: history(net)}, X, Y)
    assert "falls goes from 1.00 to -1.00" in told[0]
    assert "with 0.5 it goes from" in told[1]
    assert "in 3 steps" in told[1]
