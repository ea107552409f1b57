"""What *Five exercises* draws: its net's memory, on one device and over two; and a bias."""

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files
from types import SimpleNamespace
from typing import Any

import numpy as np

from chainlab.lessons.forward_and_backward import LAMBDA, OPERANDS, OPERATORS, W1, W2, WEIGHTS, X, Y
from chainview import Drawing, Figure, draw_graph

HERE = files(__package__)
INPUTS, OUTPUTS, ITEM = 784, 10, 4  # images of digits, in float32
SIZES = tuple(2**i for i in range(1, 13))  # of a batch
WIDTHS = tuple(2**i for i in range(5, 12))  # of the hidden layer
LIMITS = (1, 2, 4, 8, 16, 32, 64)  # of a device, in megabytes
STATES = {"SGD": 0, "momentum": 1, "Adam": 2}  # numbers that an optimizer keeps for a parameter
BATCH, HIDDEN, LIMIT, OPTIMIZER, CUT = 256, 256, 4, "Adam", "layers"
CUTS = {"layers": "between the layers", "units": "the hidden units", "batch": "the batch"}
KINDS = {  # of arrays, with what is told of them
    "parameters": "weights",
    "gradients": "their gradients",
    "state": "the optimizer’s numbers",
    "examples": "inputs and targets",
    "values": "computed values",
}
Bytes = dict[str, int]


def predicts(n: int, h: int, d: int = INPUTS, q: int = OUTPUTS, k: int = ITEM) -> Bytes:
    """Return the bytes of a prediction for a batch: at its peak, two arrays of values are there."""
    values = n * h + n * max(h, q)
    return {"parameters": k * h * (d + q), "examples": k * n * d, "values": k * values}


def trains(
    n: int, h: int, copies: int, d: int = INPUTS, q: int = OUTPUTS, k: int = ITEM
) -> dict[str, list[Bytes]]:
    """Return the bytes that training keeps between its passes: whole, and for each cut by device.

    Args:
        n: the examples of a batch.
        h: the hidden units.
        copies: the numbers that the optimizer keeps for each parameter.
        d, q: inputs and outputs.
        k: the bytes of a number.

    >>> sum(trains(256, 256, 2)["whole"][0].values())
    4337664
    """

    def device(weights: int, examples: int, values: int) -> Bytes:
        sizes = (weights, weights, copies * weights, examples, values)
        return {kind: k * size for kind, size in zip(KINDS, sizes, strict=True)}

    P, half, part = h * (d + q), h // 2, n // 2
    return {
        "whole": [device(P, n * (d + q), n * (h + q))],
        "layers": [device(h * d, n * d, n * h), device(q * h, n * q, n * (h + q))],
        "units": [
            device(half * (d + q), n * d, n * half),
            device((h - half) * (d + q), n * (d + q), n * (h - half + q)),
        ],
        "batch": [device(P, m * (d + q), m * (h + q)) for m in (part, n - part)],
    }


def crosses(n: int, h: int, d: int = INPUTS, q: int = OUTPUTS, k: int = ITEM) -> dict[str, int]:
    """Return the bytes that a step sends between two devices, there and back, for each cut."""
    return {"layers": 2 * k * n * h, "units": 2 * k * n * q, "batch": 2 * k * h * (d + q)}


def memory() -> Figure:
    """Show the memory of prediction and training, whose sizes one drags, and of two devices."""
    whole = trains(BATCH, HIDDEN, STATES[OPTIMIZER])
    rows = [("prediction", predicts(BATCH, HIDDEN)), ("training", whole["whole"][0])]
    rows += [(f"device {i + 1} of 2", part) for i, part in enumerate(whole[CUT])]
    scale = _scale(max(sum(row.values()) for _, row in rows), LIMIT)
    bars = "".join(_row(name, row, scale) for name, row in rows)
    legend = "".join(f'<li><i class="cg-{kind}"></i>{text}</li>' for kind, text in KINDS.items())
    sliders = "".join(
        f'<label class="cg-size">{name} <b>{choices[at]:,}</b><input type="range" min="0" '
        f'max="{len(choices) - 1}" value="{at}" aria-label="{name}" '
        f'aria-valuetext="{choices[at]:,}" autocomplete="off"></label>'
        for name, choices, at in (
            ("batch size", SIZES, SIZES.index(BATCH)),
            ("hidden units", WIDTHS, WIDTHS.index(HIDDEN)),
            ("megabytes of a device", LIMITS, LIMITS.index(LIMIT)),
        )
    )
    picks = "".join(
        f'<div class="cg-bar" role="group" aria-label="{label}"><span>{label}</span>'
        + "".join(
            f'<button type="button" data-pick="{key}" aria-pressed="{str(key == now).lower()}">'
            f"{text}</button>"
            for key, text in choices.items()
        )
        + "</div>"
        for label, choices, now in (
            ("Train with", {name: name for name in STATES}, OPTIMIZER),
            ("Cut", CUTS, CUT),
        )
    )
    words = _words(rows, crosses(BATCH, HIDDEN)[CUT])
    place = f"{100 * LIMIT * 1e6 / scale:.2f}%"
    inside = (
        f'<div class="cg-controls" hidden>{sliders}<div class="cg-picks">{picks}</div></div>'
        f'<ul class="cg-legend">{legend}</ul>'
        f'<div class="cg-rows" style="--limit:{place}">{bars}</div>'
        f'<p class="cg-words" role="status">{words}</p>'
    )
    data = {
        "inputs": INPUTS, "outputs": OUTPUTS, "item": ITEM, "states": STATES,
        "choices": [SIZES, WIDTHS, LIMITS], "optimizer": OPTIMIZER, "cut": CUT,
    }  # fmt: skip
    title = "The memory of a net with one hidden layer, for prediction and for training"
    sheets, script = [HERE / "exercises.css"], HERE / "exercises.bundle.js"
    alt = f"{title}, with a batch of {BATCH} and {HIDDEN} hidden units. {words}"
    return Figure(alt, data, inside, "memory", sheets, script, _title=title)


def draw_bias() -> Drawing:
    """Draw the network of *Forward and backward* with a bias in its hidden layer."""
    b = np.array([0.0, 0.0, 1.0])
    z = W1 @ X + b
    o = W2 @ np.maximum(z, 0)
    L, s = ((o - Y) ** 2).sum() / 2, LAMBDA / 2 * ((W1**2).sum() + (W2**2).sum())
    values = {"W⁽¹⁾": W1, "W⁽²⁾": W2, "x": X, "y": Y, "b": b, "W⁽¹⁾x": W1 @ X, "z": z}
    values |= {"h": np.maximum(z, 0), "o": o, "L": L, "s": s, "J": L + s}
    operands = {"W⁽¹⁾": (), "x": (), "W⁽¹⁾x": ("W⁽¹⁾", "x"), "b": ()} | OPERANDS
    operands["z"] = ("W⁽¹⁾x", "b")
    operators = OPERATORS | {"W⁽¹⁾x": "@", "z": "add"}
    drawn: dict[str, Any] = {}
    for name, parents in operands.items():
        drawn[name] = SimpleNamespace(
            data=values[name], grad=0.0, requires_grad=name not in "xy",
            label="" if name == "W⁽¹⁾x" else name, op=operators.get(name, ""),
            parents=tuple(drawn[parent] for parent in parents),
        )  # fmt: skip
    leaves = [drawn[name] for name in (*WEIGHTS, "b")]
    drawing = draw_graph(drawn["J"], style="shapes", parameters=leaves)
    return replace(drawing, source=re.sub('ranksep="[^"]*"', 'ranksep="0.2"', drawing.source))


def _scale(most: float, limit: float) -> float:
    """Return the bytes at the right end of the bars."""
    return 1e6 * math.pow(2, math.ceil(math.log2(1.06 * max(most, 1e6 * limit) / 1e6)))


def _written(size: float) -> str:
    return f"{size / 1e6:.2f}\N{NO-BREAK SPACE}MB"


def _row(name: str, row: Mapping[str, int], scale: float) -> str:
    total = sum(row.values())
    parts = "".join(
        f'<i class="cg-{kind}" style="width:{100 * row.get(kind, 0) / scale:.2f}%"></i>'
        for kind in KINDS
    )
    over = " cg-over" if total > LIMIT * 1e6 else ""
    return (
        f'<div class="cg-row{over}"><span>{name}</span><div class="cg-track">{parts}</div>'
        f"<b>{_written(total)}</b></div>"
    )


def _words(rows: list[tuple[str, Bytes]], crossing: int) -> str:
    predicted, trained, *devices = (sum(row.values()) for _, row in rows)
    sizes = " and ".join(_written(size) for size in devices)
    return (
        f"Prediction takes {_written(predicted)}; training takes {_written(trained)}, "
        f"{trained / predicted:.1f} times as much. Over two devices it’s {sizes}, and "
        f"{crossing / 1e6:.3f}\N{NO-BREAK SPACE}MB cross in each step."
    )
