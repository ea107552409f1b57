"""What *Time and FLOPs* draws: the matrix products of a training step, layer by layer."""

import html
import time
import timeit
from collections.abc import Callable, Iterator
from importlib.resources import files
from itertools import pairwise
from statistics import median
from typing import NamedTuple

import numpy as np

from chaingrad import Node
from chainview import Figure, plots

HERE = files(__package__)
INPUTS, OUTPUTS = 784, 10
LAYERS = 8  # at most
EXAMPLES, WIDTH, DEPTH = 64, 256, 3  # at first
SIZES = tuple(2**k for k in range(4, 13))  # of a hidden layer
BATCHES = tuple(2**k for k in range(13))
UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1, ""))


class Products(NamedTuple):
    """FLOPs of a dense layer's products: forward, for its weights, and for its input."""

    forward: int
    weights: int
    inputs: int


def products(n: int, width: int, depth: int, *, input_gradient: bool = False) -> list[Products]:
    """Return the FLOPs of the matrix products of a training step, for each dense layer.

    >>> products(64, 256, 2)[1]
    Products(forward=327680, weights=327680, inputs=327680)
    """
    sizes = [INPUTS, *[width] * (depth - 1), OUTPUTS]
    steps = []
    for layer, (fan_in, fan_out) in enumerate(pairwise(sizes)):
        one = 2 * n * fan_in * fan_out
        steps.append(Products(one, one, one if layer or input_gradient else 0))
    return steps


def count() -> Figure:
    """Show the products of a step as bars, and let readers change the network.

    >>> print(count())  # doctest: +ELLIPSIS
    <Figure: The matrix products of a training step... Forward 34.4 M, backward 43.1 M, ...
    """
    step = products(EXAMPLES, WIDTH, DEPTH)
    title = "The matrix products of a training step, layer by layer, in FLOPs"
    words = _words(step)
    controls = "".join((
        _slider("n", "examples", BATCHES, EXAMPLES),
        _slider("width", "hidden units", SIZES, WIDTH),
        _slider("depth", "layers", range(1, LAYERS + 1), DEPTH),
    ))  # fmt: skip
    heads = "".join(f'<th scope="col">{text}</th>' for text in ("layer", *_HEADS))
    rows = "".join("".join(_row(i, layer, _largest(step))) for i, layer in enumerate(step))
    inside = (
        f'<div class="cg-controls" hidden>{controls}<label class="cg-wish">'
        '<input type="checkbox" autocomplete="off"> gradient of the inputs, too</label></div>'
        f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
        f'<p class="cg-words" role="status">{words}</p>'
    )
    data = {"inputs": INPUTS, "outputs": OUTPUTS, "batches": BATCHES, "sizes": SIZES}
    script, sheets = HERE / "time_and_flops.bundle.js", [HERE / "time_and_flops.css"]
    told = words.replace("<b>", "").replace("</b>", "")
    return Figure(f"{title}. {told}", data, inside, "flops", sheets, script, _title=title)


_HEADS = ("forward", "back, for the weights", "back, for the layer before")


def _largest(step: list[Products]) -> int:
    return max(layer.forward for layer in step)


def _slider(name: str, text: str, values: tuple[int, ...] | range, value: int) -> str:
    return (
        f'<label>{text} <b>{value}</b><input type="range" name="{name}" min="0" '
        f'max="{len(values) - 1}" value="{values.index(value)}" aria-valuetext="{value}" '
        'autocomplete="off"></label>'
    )


def _row(i: int, layer: Products, largest: int) -> Iterator[str]:
    yield f'<tr><th scope="row">{i + 1}</th>'
    for flops in layer:
        share = 100 * flops / largest
        text = written(flops) if flops else "not needed"
        yield f'<td><i style="width:{share:.2f}%"></i><span>{html.escape(text)}</span></td>'
    yield "</tr>"


def written(flops: float) -> str:
    """Write a number of FLOPs with three digits.

    >>> written(25_690_112), written(640), written(999_999)
    ('25.7 M', '640', '1.00 M')
    """
    number = float(f"{flops:.3g}")
    for unit, letter in UNITS:
        if number >= unit:
            digits = f"{number / unit:#.3g}".rstrip(".")
            return f"{digits} {letter}".strip()
    return "0"


def _words(step: list[Products]) -> str:
    forward = sum(layer.forward for layer in step)
    backward = sum(layer.weights + layer.inputs for layer in step)
    return (
        f"Forward <b>{written(forward)}</b>, backward <b>{written(backward)}</b>, "
        f"which is <b>{backward / forward:.2f}</b> times as much."
    )


# --- steps against the clock --------------------------------------------------------------------

TIMED = (16, 64, 256, 512)  # batch, inputs, units and outputs of a step


def overhead() -> None:
    """Plot how many times as long as its bare products a step of our engine takes, by its size."""
    ratios = [step_over_products(size) for size in TIMED]
    plot, ax = plots.axes()
    ax.plot(TIMED, ratios, **plots.POINTS[0])
    ax.axhline(1, color=plots.color("muted"), ls=":")
    ax.set(xscale="log", yscale="log", ylabel="step / bare products")
    ax.set(xlabel="examples = inputs = units = outputs")
    ax.set_xticks(TIMED, list(map(str, TIMED)))
    ax.set_yticks([1, 2, 5, 10], ["1", "2", "5", "10"])
    ax.minorticks_off()
    told = ", ".join(f"{ratio:.1f} at {size}" for size, ratio in zip(TIMED, ratios, strict=True))
    plot.show(
        "The time of a training step over that of its bare matrix products, against the size of "
        f"the matrices, on logarithmic axes. It falls towards 1: {told}."
    )


def step_over_products(size: int, turns: int = 9) -> float:
    """Return the median, over several turns, of a step's processor time over its products'."""
    rng = np.random.default_rng(0)
    X, W1, W2 = rng.standard_normal((3, size, size), dtype=np.float32) / size**0.5
    weights = Node(W1), Node(W2)

    def step() -> None:
        for node in weights:
            node.grad = 0.0
        (((X @ weights[0].T).relu() @ weights[1].T).squared_norm() / (2 * size)).backward()

    def bare() -> None:
        H = X @ W1.T
        out = H @ W2.T
        _ = out.T @ H, (out @ W2).T @ X

    step()
    bare()
    return median(_seconds(step) / _seconds(bare) for _ in range(turns))


def _seconds(work: Callable[[], None]) -> float:
    """Return the processor time of a call, of as many as take some milliseconds."""
    timer = timeit.Timer(work, timer=time.process_time)
    number, spent = 1, timer.timeit(1)
    while spent < 0.004:
        number *= 2
        spent = timer.timeit(number)
    return spent / number
