"""What *A neural network* draws: curves that add up, a training run, steps of several lengths."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from chainlab.lessons.engine import Node
from chainlab.lessons.net import MLP
from chainview import Figure, plots, replay
from chainview.figures.replay import COLORS

PLACES = np.linspace(-1.0, 1.0, 27)
SIZES, SEEDS = (1, 2, 4, 8), (0, 1, 2)
EVERY = 2  # of the steps that are in the film, so that the page stays light


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


def draw_steps(
    net: MLP, history: Sequence[Sequence[float]], steps: Sequence[int], x: Any, y: Any
) -> None:
    """Draw a net and what each hidden neuron adds, at some steps of a training run.

    Args:
        net: the net; its parameters are those of the last of these steps when this returns.
        history: all its parameters before each step and after the last.
        steps: which to draw.
        x, y: what it was trained on.
    """
    plot, panels = plots.axes(len(steps), width=168, height=180, sharey=True)
    for ax, step in zip(panels, steps, strict=True):
        load(net, history[step])
        whole, parts = curves(net)
        ax.plot(x, y, "o", color=plots.color("edge"), ms=2)
        for i, part in enumerate(parts):
            look = plots.color(COLORS[i % len(COLORS)])
            ax.plot(PLACES, part, color=look, linestyle="-")
            ax.annotate(f"  {i + 1}", (PLACES[-1], part[-1]), color=look, va="center")
        ax.plot(PLACES, whole, color=plots.color("ink"), linestyle="-", lw=2.8)
        ax.set(title=f"step {step}", xlim=(-1, 1.35), ylim=(-2, 1.6), xticks=(-1, 0, 1))
    ends = [f"{i + 1} goes from {part[0]:.2f} to {part[-1]:.2f}" for i, part in enumerate(parts)]
    plot.show(
        f"The net and what its {len(parts)} neurons add, at steps {', '.join(map(str, steps))}. "
        f"At the last, neuron {', '.join(ends)}."
    )


def measurements() -> tuple[Any, Any]:
    """Return the page's forty measurements: places, and what was measured there."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-1, 1, 40))
    return x, 2 * x**2 - 1 + 0.15 * rng.normal(size=40)


def film() -> Figure:
    """Show how nets with one hidden layer learn the page's measurements, from several starts."""
    x, y = measurements()

    def record(size: int, seed: int) -> tuple[dict[str, Any], Any]:
        net = MLP(1, [size, 1], np.random.default_rng(seed))
        states = list(descend(net, x, y))[::EVERY]
        w, b, v, c = (np.array(each) for each in zip(*states, strict=True))

        def added(places: Any) -> Any:  # shape (steps, neurons, places)
            return v[..., None] * np.tanh(w[..., None] * places + b[..., None])

        parts, answers = added(PLACES), added(x).sum(axis=1) + c[:, None]
        drawn = {"the net": parts.sum(axis=1) + c[:, None]}
        drawn |= {f"neuron {i + 1}": parts[:, i] for i in range(size)}
        return drawn, np.mean((answers - y) ** 2, axis=1)

    switches = {"neurons": SIZES, "seed": SEEDS}
    return replay(
        PLACES, record, switches, start=(4, 0), points=(x, y), every=EVERY, ylim=(-2.2, 1.8)
    )


def descend(net: MLP, x: Any, y: Any, steps: int = 400) -> Iterator[tuple[Any, Any, Any, Any]]:
    """Take the steps that the page's loop takes with a net of one hidden layer, with arrays.

    Args:
        net: where it starts; it stays as it is.
        x, y: what it learns.
        steps: how many.

    Yields:
        Before each step and after the last: the hidden neurons' weights and biases, their weights
        in the sum, and its bias.
    """
    size = len(net.layers[0].neurons)
    start = np.array([parameter.data for parameter in net.parameters()])
    w, b = start[: 2 * size].reshape(size, 2).T
    v, c = start[2 * size : -1], start[-1]
    rng = np.random.default_rng(1)
    for step in range(steps):
        yield w, b, v, c
        batch = rng.choice(len(x), size=4, replace=False)
        h = np.tanh(np.outer(x[batch], w) + b)
        error = (h @ v + c - y[batch]) * 2 / 4  # dloss/danswer
        back = np.outer(error, v) * (1 - h**2)
        rate = 0.2 * (1 - step / steps)
        w, b = w - rate * x[batch] @ back, b - rate * back.sum(axis=0)
        v, c = v - rate * error @ h, c - rate * error.sum()
    yield w, b, v, c


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
