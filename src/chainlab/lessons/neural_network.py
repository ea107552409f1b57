"""What *A neural network* draws: curves that add up, a training run, steps of several lengths."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from chainlab.lessons.engine import Node
from chainlab.lessons.net import MLP
from chainview import Figure, plots, replay

PLACES = np.linspace(-1.0, 1.0, 27)


def draw_sum(x: Sequence[float], y: Sequence[float], parts: Mapping[str, Any], whole: Any) -> None:
    """Draw measurements, curves, and heavily the sum of the curves."""
    plot, ax = plots.axes(height=260)
    ax.plot(x, y, "o", color=plots.color("muted"), ms=3, label="measurements")
    ax.plot(x, whole, **plots.LINES[0], lw=2.8, label="their sum, and 1.7")
    for (name, part), look in zip(parts.items(), plots.LINES[1:], strict=False):
        ax.plot(x, part, **look, label=name)
    ax.set(xlabel="x", ylabel="y")
    ax.figure.legend(loc="outside lower center", ncols=2)
    ends = ", ".join(
        f"{name} goes from {part[0]:.2f} to {part[-1]:.2f}" for name, part in parts.items()
    )
    plot.show(
        f"{len(x)} measurements over x from -1 to 1, which lie along a parabola. Of the thin "
        f"curves, {ends}. The heavy one, their sum, runs through the measurements."
    )


def curves(net: MLP, places: Any = PLACES) -> tuple[Any, Any]:
    """Return what a net answers at some places, and what each of its last hidden neurons adds.

    Returns:
        Shapes (places,) and (neurons, places).
    """
    (last,) = net.layers[-1].neurons
    added = []
    for place in places:
        inputs: Any = [Node(float(place))]
        for layer in net.layers[:-1]:
            inputs = layer(inputs)
        added.append([w.data * h.data for w, h in zip(last.weights, inputs, strict=True)])
    parts = np.array(added).T
    return parts.sum(axis=0) + last.bias.data, parts


def losses(net: MLP, history: Sequence[Sequence[float]], x: Any, y: Any) -> Any:
    """Return the mean squared error over all measurements for each list of parameters."""
    found = []
    for values in history:
        load(net, values)
        answers, _ = curves(net, x)
        found.append(np.mean((answers - np.asarray(y)) ** 2))
    return np.array(found)


def load(net: MLP, values: Sequence[float]) -> None:
    """Give the parameters of a net these values."""
    for parameter, value in zip(net.parameters(), values, strict=True):
        parameter.data = value


def watch(net: MLP, history: Sequence[Sequence[float]], x: Any, y: Any) -> Figure:
    """Show a training run of a net with one hidden layer, with a slider over its steps.

    Args:
        net: the net; its parameters are what they were when this returns.
        history: all its parameters before each step and after the last.
        x, y: what it was trained on.
    """
    before = [parameter.data for parameter in net.parameters()]
    whole, parts = [], []
    for values in history:
        load(net, values)
        answers, added = curves(net)
        whole.append(answers)
        parts.append(added)
    loss = losses(net, history, x, y)
    load(net, before)
    each = np.array(parts)  # (steps, neurons, places)
    hidden, count = np.array(history), each.shape[1]
    drawn = {"net": np.array(whole)}
    drawn |= {f"neuron {i + 1}": each[:, i] for i in range(count)}
    return replay(
        PLACES,
        drawn,
        {"loss": loss},
        numbers={
            "w": hidden[:, 0 : 2 * count : 2],
            "b": hidden[:, 1 : 2 * count : 2],
            "v": hidden[:, 2 * count : 3 * count],
            "c": hidden[:, 3 * count :],
        },
        columns=list(drawn)[1:],
        points=(x, y),
    )


def draw_rates(net: MLP, runs: Mapping[float, Sequence[Sequence[float]]], x: Any, y: Any) -> None:
    """Draw the loss over all measurements in several training runs, by their learning rates."""
    plot, ax = plots.axes(height=260)
    told = []
    for (rate, history), look in zip(runs.items(), plots.LINES, strict=False):
        loss = losses(net, history, x, y)
        ax.semilogy(loss, **look, label=f"rate {rate:g}")
        told.append(
            f"with {rate:g} it goes from {loss[0]:.2g} to {loss[-1]:.2g} in {len(loss) - 1} steps"
        )
    ax.set(xlabel="step", ylabel="loss", ylim=(0.01, 100))
    ax.figure.legend(loc="outside lower center", ncols=3)
    plot.show(f"The loss against the step, for {len(runs)} learning rates: {'; '.join(told)}.")
