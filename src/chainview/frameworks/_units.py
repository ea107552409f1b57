"""Silent units: those of a ReLU that no example of the batch comes near to switching on."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from chainview.frameworks.run import Summary, WatchedNode
from chainview.frameworks.symptom import Symptom, op_name
from chainview.frameworks.watched import Watched

RELUS = ("relu", "hardtanh", "relu6", "clampmin", "max", "maximum")
FAR = 3.0  # standard deviations below 0 that the largest entry lies
FEWEST = 4  # entries that tell how far a unit's numbers spread
MANY = 64  # entries which are all 0 are no chance


def dead_units(watched: Watched, dead: float) -> Iterator[Symptom]:
    """Yield layers of which a part of the units is silent, in each call of the layer."""
    layers: dict[Any, list[WatchedNode]] = defaultdict(list)
    names: dict[Any, str] = {}
    for value in watched.values:
        if _is_relu(value):
            repeated = value.call.turns > 1
            key = (value.call.path, value.call.kind) if repeated else value
            layers[key].append(value)
            layer = f"{value.op} in {value.call.path or value.call.kind}"
            names[key] = layer if repeated else value.name
    for key, values in layers.items():
        found = _silent(values)
        if found is not None and found.sum() > dead * found.size:
            yield Symptom(
                "dead units",
                names[key],
                f"{int(found.sum())} of {found.size} units are 0 for the whole batch",
                "biases far below 0, a learning rate that was too large",
                values,
                values[0].line,
            )


def _is_relu(value: WatchedNode) -> bool:
    if op_name(value) not in RELUS or not value.requires_grad:
        return False
    is_array = not isinstance(value.data, Summary | None) and np.ndim(value.data) > 1
    if op_name(value) in ("max", "maximum"):
        is_array &= any(np.size(p.data) == 1 and not np.any(p.data) for p in value.parents)
    return bool(is_array)


def _silent(values: Sequence[WatchedNode]) -> Any:
    """Return which units are silent in all calls, or None if their shapes differ."""
    before = [next(p.data for p in value.parents if p.requires_grad) for value in values]
    if len({np.shape(x) for x in before}) > 1 or any(isinstance(x, Summary) for x in before):
        return None
    axis = _axis(values[0])
    rows = [np.moveaxis(np.asarray(x), axis, 0).reshape(np.shape(x)[axis], -1) for x in before]
    entries = np.concatenate(rows, axis=1)
    if not entries.size:
        return None
    largest, spread = entries.max(axis=1), entries.std(axis=1)
    usual = np.maximum(spread, np.median(spread))
    is_far = (largest < -FAR * usual) & (entries.shape[1] >= FEWEST)
    return (largest < 0) & (is_far | (entries.shape[1] >= MANY))


def _axis(value: WatchedNode) -> int:
    """Return the axis of units: the channels after a convolution, else the last."""
    ndim = np.ndim(value.data)
    if ndim > 3:
        return 1
    node: WatchedNode | None = value
    for _ in range(4):  # there may be a normalization between
        if node is not None and "conv" in op_name(node):
            return ndim - 2
        node = next((p for p in node.parents if p.parents), None) if node is not None else None
    return ndim - 1
