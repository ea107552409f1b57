"""What *A neural network* and its pages of the atlas say in general, tried on many cases."""

import itertools
from typing import Any

import numpy as np
import pytest
import torch

from chaingrad import Node as ArrayNode
from chaingrad import nn, optim
from chaingrad.losses import mse_loss
from chainlab.lessons.engine import Node
from chainlab.lessons.net import MLP
from tests.claims.pages import defined
from tests.support import each

SEEDS = range(20)
PLACES = np.linspace(-3, 3, 61)


def relu(a: Any) -> Any:
    return Node(max(a.data, 0.0), (a,), (float(a.data > 0),), "relu")


def descend(net: MLP, steps: int, rate: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        x = float(rng.uniform(-1, 1))
        net.zero_grad()
        ((net([Node(x)]) - (2 * x * x - 1)) ** 2).backward()
        for p in net.parameters():
            p.data -= rate * p.grad


def trained(seed: int, rate: float = 0.2) -> tuple[MLP, Any, Any, dict[str, Any]]:
    """Return the page's net from some start, trained on its points by its own loop."""
    page = defined("foundations/neural-network")
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-1, 1, 40))
    y = 2 * x**2 - 1 + 0.15 * rng.normal(size=40)
    page |= {"x": x, "y": y}
    net = MLP(1, [4, 1], np.random.default_rng(seed))
    page["history"] = page["train"](net, rate)
    return net, x, y, page


def test_the_net_uses_all_four_neurons_and_two_would_do() -> None:
    net, x, y, page = trained(0)
    answers, parts = page["curves"](net, x)
    loss = np.mean((answers - y) ** 2)
    assert 4.5 < np.mean((answers - parts[2] - parts[3] - y) ** 2) / loss < 5.5
    ramps = np.stack([parts[0], parts[1], np.ones(40)], axis=1)
    fit = np.linalg.lstsq(ramps, y, rcond=None)[0]
    assert np.mean((ramps @ fit - y) ** 2) < loss
    straight = [np.ptp(part - np.polyval(np.polyfit(x, part, 1), x)) for part in parts]
    assert max(straight[2:]) < 0.05 < 0.5 < min(straight[:2])


def test_the_ramps_of_neurons_2_and_1_get_steeper_and_the_sum_sags() -> None:
    net, _, _, page = trained(0)
    history = np.array(page["history"])
    sags = []
    for values in history[[0, 30, 100]]:
        for p, value in zip(net.parameters(), values, strict=True):
            p.data = value
        left, middle, right = page["curves"](net, [-1.0, 0.0, 1.0])[0]
        sags.append((left + right) / 2 - middle)
    assert abs(sags[0]) < 0.1 < sags[1] < 0.5 < 1 < sags[2]
    second, first = history[:, 2], history[:, 0]
    at = [0, 30, 100]
    assert (np.diff(abs(second[at])) > 0).all()
    assert (np.diff(abs(first[at])) > 0).all()
    assert np.argmax(abs(second) > 1.5) < np.argmax(abs(first) > 1.5)
    assert -history[100, 3] / second[100] < 0 < -history[100, 1] / first[100]  # left, right


@each("place", [-1.0, -0.5, 0.0, 0.3, 1.0])
def test_the_ramps_placed_by_hand_lie_close_to_the_parabola(place: float) -> None:
    ramps = 1.5 * np.tanh(-2 * place - 1.5) + 1.5 * np.tanh(2 * place - 1.5)
    assert abs(ramps + 1.7 - (2 * place**2 - 1)) < 0.15


@each("seed", SEEDS)
def test_shifting_the_best_output_bias_adds_the_square_of_the_shift(seed: int) -> None:
    rng = np.random.default_rng(seed)
    net = MLP(1, [int(rng.integers(1, 6)), 1], rng)
    bias = net.layers[-1].neurons[0].bias
    x, y = rng.uniform(-1, 1, 10).tolist(), rng.normal(size=10).tolist()

    def loss() -> Any:
        return sum(((net([u]) - v) ** 2 for u, v in zip(x, y, strict=True)), Node(0.0)) * 0.1

    bias.data -= np.mean([net([u]).data - v for u, v in zip(x, y, strict=True)])
    best, lowest = bias.data, loss().data
    for shift, rate in itertools.product((-1.3, 0.02, 1.0), (0.2, 0.8, 1.1)):
        bias.data = best + shift
        net.zero_grad()
        shifted = loss()
        shifted.backward()
        assert shifted.data - lowest == pytest.approx(shift**2)
        assert bias.grad == pytest.approx(2 * shift)
        after = bias.data - rate * bias.grad - best
        assert after == pytest.approx((1 - 2 * rate) * shift)
        assert (abs(after) > abs(shift)) == (rate > 1)


def test_a_rate_that_suits_the_bias_throws_the_net_out() -> None:
    rates = (0.02, 0.2, 0.7)
    runs = {}
    for rate in rates:
        net, _, _, page = trained(0, rate)
        runs[rate] = page["history"]
        if rate < 0.5:
            assert (page["loss_on"](net, range(40)).data > 0.3) == (rate == 0.02)
    assert [len(runs[rate]) - 1 for rate in rates] == [400, 400, 8]


def test_the_loss_of_the_trained_net_is_curved_three_times_as_much_as_for_its_bias() -> None:
    _, x, y, page = trained(0)
    inputs, targets = torch.tensor(x), torch.tensor(y)

    def squares(t: Any) -> Any:
        w, b, v, c = t[0:8:2], t[1:8:2], t[8:12], t[12]
        answers = torch.tanh(inputs[:, None] * w + b) @ v + c
        return ((answers - targets) ** 2).mean()

    at = torch.tensor(page["history"][-1], dtype=torch.float64)
    curved = torch.autograd.functional.hessian(squares, at)
    assert curved[12, 12].item() == pytest.approx(2)
    assert torch.linalg.eigvalsh(curved).max().item() == pytest.approx(6.4, abs=0.05)


@each("seed", range(5))
def test_a_dead_relu_stays_dead_in_the_loop_and_not_with_weight_decay(seed: int) -> None:
    for decay in (0.0, 0.1):
        net = MLP(1, [4, 1], np.random.default_rng(seed), relu)
        dead = net.layers[0].neurons[0]
        dead.weights[0].data, dead.bias.data = -3.0, 0.2
        before = [p.data for p in dead.parameters()]
        rng = np.random.default_rng(seed)
        woke = False
        for _ in range(200):
            x = float(rng.uniform(0.1, 1))  # the neuron's sum is below zero on all of these
            net.zero_grad()
            ((net([Node(x)]) - (2 * x * x - 1)) ** 2).backward()
            for p in net.parameters():
                weight = decay * (p.data if p is not dead.bias else 0.0)
                p.data -= 0.1 * (p.grad + weight)
            woke = woke or dead([Node(0.1)]).data > 0
        assert woke == (decay > 0)
        assert ([p.data for p in dead.parameters()] == before) == (decay == 0)


@each("activation", [Node.tanh, relu])
@each("sizes", [[4, 1], [8, 4, 1], [2, 3, 2, 1]])
def test_equal_neurons_stay_equal(sizes: list[int], activation: Any) -> None:
    for seed, start in itertools.product(range(3), (0.5, -0.2, 1.3)):
        net = MLP(1, sizes, np.random.default_rng(seed), activation)
        for p in net.parameters():
            p.data = start
        descend(net, 30, 0.05, seed)
        for layer in net.layers:
            kinds = {
                (*(w.data for w in neuron.weights), neuron.bias.data) for neuron in layer.neurons
            }
            assert len(kinds) == 1


@each("seed", SEEDS)
def test_one_odd_weight_makes_two_kinds_in_its_two_layers(seed: int) -> None:
    net = MLP(1, [8, 4, 1], np.random.default_rng(0))
    rng = np.random.default_rng(seed)
    start, odd = rng.uniform(0.2, 0.8), rng.uniform(0.05, 0.3)
    for p in net.parameters():
        p.data = start
    net.layers[1].neurons[0].weights[0].data += odd
    descend(net, 5, 0.05, seed)
    first, second, last = net.layers
    assert len({(n.weights[0].data, n.bias.data) for n in first.neurons}) == 2
    assert len({(*(w.data for w in n.weights), n.bias.data) for n in second.neurons}) == 2
    assert len(last.neurons) == 1


@each("seed", SEEDS)
def test_with_all_zeros_only_the_output_bias_moves(seed: int) -> None:
    rng = np.random.default_rng(seed)
    net = MLP(1, [int(rng.integers(1, 6)), int(rng.integers(1, 6)), 1], rng)
    for p in net.parameters():
        p.data = 0.0
    for _ in range(10):
        x, y = rng.normal(size=2).tolist()
        net.zero_grad()
        ((net([Node(x)]) - y) ** 2).backward()
        for p in net.parameters():
            p.data -= 0.1 * p.grad
        assert [p for p in net.parameters() if p.grad] == [net.parameters()[-1]]


@each("seed", SEEDS)
def test_a_net_of_positive_weights_only_rises(seed: int) -> None:
    net = MLP(1, [8, 4, 1], np.random.default_rng(seed))
    for p in net.parameters():
        p.data = 2 * abs(p.data)
    assert (np.diff([net([Node(float(x))]).data for x in PLACES]) > 0).all()


@each("hidden", [1, 2, 4, 7])
def test_a_net_of_relus_has_a_corner_for_each_neuron_at_most(hidden: int) -> None:
    places = np.linspace(-20, 20, 4001)
    for seed in range(5):
        net = MLP(1, [hidden, 1], np.random.default_rng(seed), relu)
        turns = np.diff([net([Node(float(x))]).data for x in places], n=2)
        corners = np.flatnonzero(abs(turns) > 1e-9)
        assert sum(np.diff(corners, prepend=-9) > 1) <= hidden


@pytest.mark.parametrize(("d", "sizes"), [(2, [16, 16, 1]), (1, [4, 1]), (3, [5, 2])], ids=str)
def test_a_net_has_four_arrows_a_weight_and_one_a_bend(d: int, sizes: list[int]) -> None:
    net = MLP(d, sizes, np.random.default_rng(0))
    found = net([Node(0.1 * i) for i in range(d)])
    graph: set[Any] = set()
    for answer in found if isinstance(found, list) else [found]:
        graph |= set(answer.sorted_graph())
    weights = sum(len(n.weights) for layer in net.layers for n in layer.neurons)
    biases, hidden = sum(sizes), sum(sizes[:-1])
    assert len(net.parameters()) == weights + biases
    assert len(graph) == d + weights + biases + 2 * weights + hidden
    assert sum(len(node.parents) for node in graph) == 4 * weights + hidden


@pytest.mark.parametrize("width", [16, 64])
def test_small_weights_shrink_adjoints_and_leave_weight_gradients_level(width: int) -> None:
    norms = defined("atlas/where-to-start")
    norms |= {"nn": nn, "Node": ArrayNode}
    norms["activations"] = {"tanh": ArrayNode.tanh, "ReLU": ArrayNode.relu}
    for seed, scale, activation in itertools.product(range(3), (0.35, 0.5), ("tanh", "ReLU")):
        found = norms["norms_by_layer"](12, scale, activation, seed, width=width)
        assert found["activations"][0] < 0.02 * found["activations"][-1]
        assert found["biases"][0] < 0.1 * found["biases"][-1]
        assert 0.1 < found["weights"][0] / found["weights"][-1] < 10


@pytest.mark.walk
@pytest.mark.slow
@each("seed", range(4))
def test_a_larger_batch_takes_fewer_updates_and_more_examples(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, 40)[:, None]
    y = 2 * x**2 - 1 + 0.15 * rng.normal(size=x.shape)
    target = 2 * np.mean((np.polyval(np.polyfit(x[:, 0], y[:, 0], 2), x) - y) ** 2)

    def updates(batch: int, rate: float) -> float:
        generator = np.random.default_rng(seed)
        first, second = nn.Linear(1, 8, rng=generator), nn.Linear(8, 4, rng=generator)
        model = nn.Sequential(first, nn.Tanh(), second, nn.Tanh(), nn.Linear(4, 1, rng=generator))
        optimizer = optim.SGD(model.parameters(), rate)
        for step in range(1500):
            if np.mean((model(x).data - y) ** 2) < target:
                return step
            chosen = generator.choice(40, batch, replace=False)
            optimizer.zero_grad()
            mse_loss(model(x[chosen]), y[chosen]).backward()
            optimizer.step()
        return np.inf

    one = min(updates(1, rate) for rate in (0.05, 0.1))
    all_forty = min(updates(40, rate) for rate in (0.1, 0.2, 0.3))
    assert all_forty < one < 40 * all_forty
