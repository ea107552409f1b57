"""What *A neural network* draws is what its net computes."""

import numpy as np
import pytest

from chainlab.lessons.engine import Node
from chainlab.lessons.net import MLP
from chainlab.lessons.neural_network import (
    PLACES,
    curves,
    descend,
    draw_rates,
    draw_steps,
    draw_sum,
    film,
    losses,
    measurements,
)
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


def test_the_film_takes_the_steps_of_the_engine(net: MLP) -> None:
    x, y = measurements()
    states = list(descend(net, x, y, steps=5))
    rng = np.random.default_rng(1)
    for step, (w, b, v, c) in enumerate(states):
        values = [*np.stack([w, b], axis=1).ravel(), *v, c]
        assert values == pytest.approx([p.data for p in net.parameters()], rel=1e-9)
        net.zero_grad()
        batch = rng.choice(40, size=4, replace=False)
        loss = sum((net([Node(x[i])]) - y[i]) ** 2 for i in batch) * 0.25
        loss.backward()
        for p in net.parameters():
            p.data -= 0.2 * (1 - step / 5) * p.grad


def test_the_film_has_a_run_for_each_size_and_seed() -> None:
    shown = film()
    data = shown.data
    assert [len(run) for run in data["runs"]] == [3] * 3 + [4] * 3 + [6] * 3 + [10] * 3
    x, y = measurements()
    *_, (w, b, v, c) = descend(MLP(1, [4, 1], np.random.default_rng(0)), x, y)
    loss = np.mean((np.tanh(np.outer(x, w) + b) @ v + c - y) ** 2)
    assert data["measured"][6][-1] == brief(loss) == "0.03087"
    assert len(shown.html) < 750_000


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
    draw_steps(net, history(net), [0, 3], X, Y)
    _, parts = curves(net)
    assert f"neuron 1 goes from {parts[0, 0]:.2f} to {parts[0, -1]:.2f}, 2 goes" in told[2]
