"""Gradients that vanish or explode on their way to the first layers, or to the first calls."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from chaingrad.messages import Message
from chainview.frameworks._trunk import Layer, layers_of
from chainview.frameworks.run import WatchedNode, summary
from chainview.frameworks.symptom import Symptom, behind_views, messages, op_name
from chainview.frameworks.watched import Watched
from chainview.read.words import digits, listed

FEWEST_CALLS = 4
# What the first call adds to the gradient of the weights is then lost in single precision. That it
# adds less than the last is usual in a recurrent net, and no fault.
LOST = 2.0**-24


def sizes(watched: Watched, vanishing: float, exploding: float) -> Iterator[Symptom]:
    """Judge the gradient along the trunk: through depth, and through repeated calls.

    It vanishes only if it does so at all of the first layers' weights. Small gradients in between
    tell nothing: those of branches which start near 0 are meant to be small. Nor does what a
    small factor that learns leaves of it, as CaiT's do; one that is 0 is no symptom either.
    """
    layers = layers_of(watched)
    found = [
        *_vanishing(layers, vanishing, _scaled_down(watched)),
        *_exploding(layers, exploding),
        *_over_calls(watched, min(vanishing, LOST), exploding),
    ]
    yield from found
    for symptom in _over_steps(watched, min(vanishing, LOST), exploding):
        if not any(symptom.kind == x.kind and {*symptom.values} & {*x.values} for x in found):
            yield symptom


def _rms(leaf: WatchedNode) -> float:
    return summary(leaf.grad).rms if leaf.grad is not None else 0.0


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


def _vanishing(
    layers: Sequence[Layer], limit: float, left: Mapping[WatchedNode, float]
) -> Iterator[Symptom]:
    """Compare the first layers' weights with the last layers' by their gradients' entries."""
    order = dict.fromkeys(
        w for layer in layers for w in layer.weights if summary(w.data).ndim > 1 and _rms(w)
    )
    first_read: dict[WatchedNode, Layer] = {}
    for layer in layers:
        for weight in layer.weights:
            first_read.setdefault(weight, layer)
    starts = [weight for weight in order if first_read[weight].is_first]
    ends = {weight for layer in layers if layer.is_last for weight in layer.weights}
    last = max((weight for weight in order if weight in ends), key=_rms, default=None)
    if last is None or not starts:
        return
    if any(_rms(w) >= limit * _rms(last) * left[w] for w in starts):
        return
    small: list[WatchedNode] = []
    for weight in order:
        if _rms(weight) >= limit * _rms(last):
            break
        small.append(weight)
    begins, least = small[-1], min(small, key=_rms)
    where = begins.name
    if small[1:]:
        where += f", and {len(small) - 1} more before it, back to {small[0].name}"
    yield Symptom(
        "vanishing",
        where,
        f"root mean square {digits(_rms(begins))}, {digits(_rms(begins) / _rms(last))} of "
        f"{last.name}'s {digits(_rms(last))}; {digits(_rms(least))} at {least.name}",
        "saturated units, and the scale of the weights",
        small[::-1],
        begins.line,
    )


def _norm(value: WatchedNode) -> float:
    norm = summary(value.grad).norm if value.grad is not None else 0.0
    return norm if math.isfinite(norm) else 0.0


def _exploding(layers: Sequence[Layer], limit: float) -> Iterator[Symptom]:
    """Compare what arrives at the first layers' results with what arrives at the last's."""
    starts = [layer for layer in layers if layer.is_first]
    last = max((layer for layer in layers if layer.is_last), default=None, key=_arrives)
    if last is None or not _arrives(last) or not starts:
        return
    if any(_arrives(layer) <= limit * _arrives(last) for layer in starts):
        return
    beyond = [layer for layer in layers if _arrives(layer) > limit * _arrives(last)]
    weights = list(dict.fromkeys(map(_main, beyond)))
    begins, most = beyond[-1], max(beyond, key=_arrives)
    where = _main(begins).name
    if weights[1:]:
        where += f", and {len(weights) - 1} more before it, back to {weights[0].name}"
    yield Symptom(
        "exploding",
        where,
        f"the gradient of the layer's result has the norm {digits(_arrives(begins))}, "
        f"{digits(_arrives(begins) / _arrives(last))} times that of the last layer's; "
        f"{digits(_arrives(most))} at {_main(most).name}",
        "the scale of the weights, a missing normalization",
        weights[::-1],
        begins.value.line,
    )


def _main(layer: Layer) -> WatchedNode:
    return max(layer.weights, key=lambda weight: summary(weight.data).ndim)


def _arrives(layer: Layer) -> float:
    return _norm(layer.value)


# --- through time -------------------------------------------------------------------------------


def _over_calls(watched: Watched, vanishing: float, exploding: float) -> Iterator[Symptom]:
    """Compare the gradient at each call of a module with that at its last call."""
    results: dict[str, dict[int, WatchedNode]] = defaultdict(dict)
    for value in watched.values:
        call = value.call
        if call.turns > 1 and value.grad is not None and value.parents:
            results[call.path or call.kind][call.turn] = value
    for path, last_of in results.items():
        turns = sorted((turn for turn, value in last_of.items() if _norm(value)), reverse=True)
        if len(turns) < FEWEST_CALLS or not _follow(last_of, turns):
            continue
        norms = {turn: _norm(last_of[turn]) for turn in turns}
        last, first = norms[turns[0]], norms[turns[-1]]
        beyond = [turn for turn in turns if norms[turn] > exploding * last]
        below = [turn for turn in turns if norms[turn] < vanishing * last]
        growth = (first / last) ** (1 / (len(turns) - 1))
        seen = (
            f"norm of the gradient {digits(last)} at the last call, {digits(first)} at the first: "
            f"times {digits(growth)} a call"
        )
        if beyond:
            where = f"{path}, from call {beyond[0]} of {len(turns)} back to the first"
            look = "the largest singular value of the recurrent weights; clip gradients"
            values = [last_of[turn] for turn in beyond]
            yield Symptom("exploding", where, seen, look, values, values[0].line)
        elif below and first < vanishing * last:
            where = f"{path}, from call {below[0]} of {len(turns)} back to the first"
            look = "the recurrent weights: nothing is learned from what came first"
            faint = _faint(watched, vanishing)
            if faint:
                where += f", and {listed([leaf.name for leaf in faint], 6)}"
            values = [*(last_of[turn] for turn in below), *faint]
            yield Symptom("vanishing", where, seen, look, values, values[0].line)


def _faint(watched: Watched, limit: float) -> list[WatchedNode]:
    largest = max(map(_rms, watched.leaves), default=0.0)
    return [leaf for leaf in watched.leaves if 0 < _rms(leaf) < limit * largest]


def _follow(last_of: dict[int, WatchedNode], turns: Sequence[int]) -> bool:
    """Return whether the last call was computed from the first."""
    first = last_of[turns[-1]]
    found = {last_of[turns[0]]}
    todo = list(found)
    while todo:
        for parent in todo.pop().parents:
            if parent is first:
                return True
            if parent not in found and parent.ran >= first.ran:
                found.add(parent)
                todo.append(parent)
    return False


def _over_steps(watched: Watched, vanishing: float, exploding: float) -> Iterator[Symptom]:
    """Compare the gradient at each step of what a recurrent layer reads in one call.

    PyTorch may run all steps as one operation, inside of which there is nothing to see.
    """
    layers = watched.rerun.through_time() if watched.rerun else {}
    for name, norms in layers.items():
        steps = [k for k, norm in enumerate(norms, 1) if 0 < norm < math.inf]
        if len(steps) < FEWEST_CALLS:
            continue
        first, last = norms[steps[0] - 1], norms[steps[-1] - 1]
        growth = (first / last) ** (1 / (len(steps) - 1))
        seen = (
            f"norm of the gradient {digits(last)} at step {steps[-1]} of what it reads, "
            f"{digits(first)} at step {steps[0]}: times {digits(growth)} a step back"
        )
        weights = [v for v in watched.values if v.label.startswith(f"{_path(name)}.")]
        if first > exploding * last:
            k = max(k for k in steps if norms[k - 1] > exploding * last)
            look = "the largest singular value of the recurrent weights; clip gradients"
            yield Symptom("exploding", _from_step(name, k, norms), seen, look, weights)
        elif first < vanishing * last:
            k = max(k for k in steps if norms[k - 1] < vanishing * last)
            look = (
                "the steps that the loss reads: nothing is learned from what came first. A loss at "
                "every step, shorter sequences, or a forget gate that starts open help"
            )
            yield Symptom("vanishing", _from_step(name, k, norms), seen, look, weights)


def _path(name: str) -> str:
    return name.partition(" (call")[0]


def _from_step(name: str, k: int, norms: Sequence[float]) -> str:
    return f"{name}, from step {k} of {len(norms)} back to the first"
