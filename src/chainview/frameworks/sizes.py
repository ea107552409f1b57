"""Gradients that vanish or explode on their way to the first layers, or to the first calls."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from chaingrad.messages import Message
from chainview.frameworks.run import WatchedNode, reached, summary
from chainview.frameworks.symptom import Symptom, behind_views, messages, op_name
from chainview.frameworks.watched import Watched
from chainview.read.words import digits, listed

FEWEST_CALLS = 4
# What the first call adds to the gradient of the weights is then lost in single precision. That it
# adds less than the last is usual in a recurrent net, and no fault.
LOST = 2.0**-24
VANISHING, EXPLODING = 1e-4, 1e4  # times what the last layers get


def sizes(watched: Watched) -> Iterator[Symptom]:
    """Judge the gradient along the trunk: through depth, and through repeated calls.

    It vanishes only if it does so at all of the first layers' weights. Small gradients in between
    tell nothing: those of branches which start near 0 are meant to be small. Nor does what a
    small factor that learns leaves of it, as CaiT's do; one that is 0 is no symptom either.
    """
    layers = _layers(watched)
    yield from _vanishing(layers, _scaled_down(watched))
    yield from _exploding(layers)
    yield from _over_calls(watched)


def _rms(leaf: WatchedNode) -> float:
    return summary(leaf.grad).rms if leaf.grad is not None else 0.0


def _norm(value: WatchedNode) -> float:
    norm = summary(value.grad).norm if value.grad is not None else 0.0
    return norm if math.isfinite(norm) else 0.0


# --- the trunk: where weights meet data, from the first layers to the last ----------------------


@dataclass(frozen=True)
class _Layer:
    """An operation in which weights meet data, and whether other such operations lie around it."""

    value: WatchedNode
    weights: tuple[WatchedNode, ...]  # leaves
    is_first: bool
    is_last: bool

    @property
    def main(self) -> WatchedNode:
        """The weight with the most axes."""
        return max(self.weights, key=lambda weight: summary(weight.data).ndim)


def _layers(watched: Watched) -> list[_Layer]:
    """Return a run's layers, in the order in which they ran."""
    weights = _weights_alone(watched)
    met = {
        value: tuple(dict.fromkeys(leaf for p in value.parents for leaf in weights.get(p, ())))
        for value in watched.values
        if value.parents and value not in weights
    }
    layers = [v for v, own in met.items() if any(summary(w.data).ndim > 1 for w in own)]
    layers = layers or [value for value, own in met.items() if own]  # no matrix among them
    children: dict[WatchedNode, list[WatchedNode]] = defaultdict(list)
    for value in met:
        for parent in value.parents:
            children[parent].append(value)
    below = _beyond(watched.values, layers, {v: v.parents for v in met})
    above = _beyond(watched.values[::-1], layers, children)
    return [_Layer(v, met[v], v not in below, v not in above) for v in layers]


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


def _beyond(
    values: Sequence[WatchedNode],
    starts: Iterable[WatchedNode],
    near: Mapping[WatchedNode, Sequence[WatchedNode]],
) -> set[WatchedNode]:
    """Return the values that one of the starts, other than itself, comes before in that order."""
    begun, reached = set(starts), set[WatchedNode]()
    for value in values:
        if any(other in begun or other in reached for other in near.get(value, ())):
            reached.add(value)
    return reached


# --- through depth ------------------------------------------------------------------------------


def _scaled_down(watched: Watched) -> dict[WatchedNode, float]:
    """Return, of each value, the smallest factor that learns on a gradient's way there, at most 1.

    Of several paths, that of the largest. One small factor is a design; many in a row, of which
    each takes its part, aren't.
    """
    sent: dict[WatchedNode, list[Message]] = defaultdict(list)
    for message in messages(watched):
        if message.share is not None and summary(message.share).largest:
            sent[message.child].append(message)
    left: dict[WatchedNode, float] = defaultdict(float)
    left[watched.values[-1]] = 1.0
    for child in reversed(watched.values):
        for message in sent[child]:
            others = [p for i, p in enumerate(child.parents) if i != message.position]
            factors = [
                p for p in map(behind_views, others) if op_name(child) == "mul" and _learns(p)
            ]
            by = summary(factors[0].data).rms if factors else 1.0
            left[message.parent] = max(left[message.parent], min(by, left[child]))
    return left


def _learns(value: WatchedNode) -> bool:
    return not value.parents and value.requires_grad and _rms(value) > 0


def _back_to(names: Sequence[str]) -> str:
    """Name the weight at which something begins, and how far back it goes."""
    begins = names[-1]
    count = len(names) - 1
    return f"{begins}, and {count} more before it, back to {names[0]}" if count else begins


def _vanishing(layers: Sequence[_Layer], left: Mapping[WatchedNode, float]) -> Iterator[Symptom]:
    """Compare the first layers' weights with the last layers' by their gradients' entries."""
    first_read: dict[WatchedNode, _Layer] = {}
    for layer in layers:
        for weight in layer.weights:
            if summary(weight.data).ndim > 1 and _rms(weight):
                first_read.setdefault(weight, layer)
    starts = [weight for weight, layer in first_read.items() if layer.is_first]
    ends = {weight for layer in layers if layer.is_last for weight in layer.weights}
    last = max((weight for weight in first_read if weight in ends), key=_rms, default=None)
    if last is None or not starts:
        return
    if any(_rms(w) >= VANISHING * _rms(last) * left[w] for w in starts):
        return
    small: list[WatchedNode] = []
    for weight in first_read:
        if _rms(weight) >= VANISHING * _rms(last):
            break
        small.append(weight)
    begins, least = small[-1], min(small, key=_rms)
    yield Symptom(
        "vanishing",
        _back_to([weight.name for weight in small]),
        f"root mean square {digits(_rms(begins))}, {digits(_rms(begins) / _rms(last))} of "
        f"{last.name}'s {digits(_rms(last))}; {digits(_rms(least))} at {least.name}",
        "saturated units, and the scale of the weights",
        small[::-1],
        begins.line,
    )


def _exploding(layers: Sequence[_Layer]) -> Iterator[Symptom]:
    """Compare what arrives at the first layers' results with what arrives at the last's."""
    norms = {layer: _norm(layer.value) for layer in layers}
    last = max((norms[layer] for layer in layers if layer.is_last), default=0.0)
    starts = [norms[layer] for layer in layers if layer.is_first]
    if not last or not starts or min(starts) <= EXPLODING * last:
        return
    beyond = [layer for layer in layers if norms[layer] > EXPLODING * last]
    weights = list(dict.fromkeys(layer.main for layer in beyond))
    begins, most = beyond[-1], max(beyond, key=norms.__getitem__)
    yield Symptom(
        "exploding",
        _back_to([weight.name for weight in weights]),
        f"the gradient of the layer's result has the norm {digits(norms[begins])}, "
        f"{digits(norms[begins] / last)} times that of the last layer's; "
        f"{digits(norms[most])} at {most.main.name}",
        "the scale of the weights, a missing normalization",
        weights[::-1],
        begins.value.line,
    )


# --- through time -------------------------------------------------------------------------------


def _over_calls(watched: Watched) -> Iterator[Symptom]:
    """Compare the gradient at each call of a module with that at its last call."""
    results: dict[str, dict[int, WatchedNode]] = defaultdict(dict)
    for value in watched.values:
        call = value.call
        if call.turns > 1 and value.grad is not None and value.parents:
            results[call.path or call.kind][call.turn] = value
    for path, last_of in results.items():
        norms = {turn: _norm(last_of[turn]) for turn in sorted(last_of, reverse=True)}
        norms = {turn: norm for turn, norm in norms.items() if norm}
        turns = list(norms)
        if len(turns) < FEWEST_CALLS:
            continue
        start = last_of[turns[-1]]
        if start not in reached(last_of[turns[0]], partial(_back_to_call, start)):
            continue  # the calls don't follow one another
        last, first = norms[turns[0]], norms[turns[-1]]
        growth = (first / last) ** (1 / (len(turns) - 1))
        seen = (
            f"norm of the gradient {digits(last)} at the last call, {digits(first)} at the first: "
            f"times {digits(growth)} a call"
        )
        beyond = [turn for turn in turns if norms[turn] > EXPLODING * last]
        below = [turn for turn in turns if norms[turn] < LOST * last]
        back = f"{path}, from call {{}} of {turns[0]} back to the first"
        if beyond:
            look = "the largest singular value of the recurrent weights; clip gradients"
            values = [last_of[turn] for turn in beyond]
            where = back.format(beyond[0])
            yield Symptom("exploding", where, seen, look, values, values[0].line)
        elif below and first < LOST * last:
            look = "the recurrent weights: nothing is learned from what came first"
            largest = max(map(_rms, watched.leaves), default=0.0)
            faint = [leaf for leaf in watched.leaves if 0 < _rms(leaf) < LOST * largest]
            values = [*(last_of[turn] for turn in below), *faint]
            where = back.format(below[0])
            where += f", and {listed([leaf.name for leaf in faint], 6)}" if faint else ""
            yield Symptom("vanishing", where, seen, look, values, values[0].line)


def _back_to_call(first: WatchedNode, value: WatchedNode) -> list[WatchedNode]:
    return [parent for parent in value.parents if parent.ran >= first.ran]
