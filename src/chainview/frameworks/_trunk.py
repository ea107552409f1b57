"""The trunk of a run: where weights meet data, from the first layers to the last."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from chainview.frameworks.run import WatchedNode, summary
from chainview.frameworks.watched import Watched


@dataclass(frozen=True)
class Layer:
    """An operation in which weights meet data, and whether other such operations lie around it."""

    value: WatchedNode
    weights: tuple[WatchedNode, ...]  # leaves
    is_first: bool
    is_last: bool


def layers_of(watched: Watched) -> list[Layer]:
    """Return a run's layers, in the order in which they ran."""
    weights = _weights_alone(watched)
    met = {
        value: tuple(dict.fromkeys(leaf for p in value.parents for leaf in weights.get(p, ())))
        for value in watched.values
        if value.parents and value not in weights
    }
    layers = [v for v, own in met.items() if any(summary(w.data).ndim > 1 for w in own)]
    layers = layers or [value for value, own in met.items() if own]  # no matrix among them
    below = _reached(watched.values, layers, {v: list(v.parents) for v in met})
    children: dict[WatchedNode, list[WatchedNode]] = defaultdict(list)
    for value in met:
        for parent in value.parents:
            children[parent].append(value)
    above = _reached(watched.values[::-1], layers, children)
    return [Layer(v, met[v], v not in below, v not in above) for v in layers]


def _weights_alone(watched: Watched) -> dict[WatchedNode, tuple[WatchedNode, ...]]:
    """Map what was computed from weights and from no data to the leaves that those are."""
    found: dict[WatchedNode, tuple[WatchedNode, ...]] = {}
    data = _data(watched)
    for value in watched.values:
        if not value.parents:
            if value not in data:
                found[value] = (value,) if value.requires_grad else ()
        elif all(parent in found for parent in value.parents):
            found[value] = tuple(dict.fromkeys(x for p in value.parents for x in found[p]))
    return found


def _data(watched: Watched) -> set[WatchedNode]:
    """Return the leaves that are data: arrays that aren't learned, or else the first leaf."""
    leaves = [value for value in watched.values if not value.parents]
    arrays = {leaf for leaf in leaves if getattr(leaf.data, "size", 1) > 1}
    data = {leaf for leaf in arrays if not leaf.requires_grad}
    if any(leaf.is_parameter for leaf in leaves):
        data |= {leaf for leaf in arrays if leaf.is_input and not leaf.is_parameter}
    return data or set(leaves[:1])


def _reached(
    values: Sequence[WatchedNode],
    starts: Sequence[WatchedNode],
    near: dict[WatchedNode, list[WatchedNode]],
) -> set[WatchedNode]:
    """Return the values that one of the starts, other than itself, comes before in that order."""
    begun = set(starts)
    reached: set[WatchedNode] = set()
    for value in values:
        if any(other in begun or other in reached for other in near.get(value, ())):
            reached.add(value)
    return reached
