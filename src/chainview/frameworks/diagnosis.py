"""What is wrong with a watched run, in words."""

import math
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from chaingrad.account import layer_of, saved_by_layer
from chainview.frameworks._differences import Budget, Compared, EntryCheck
from chainview.frameworks._directions import compare
from chainview.frameworks._finite import not_finite
from chainview.frameworks._sizes import sizes
from chainview.frameworks._units import dead_units
from chainview.frameworks._zeros import zeros
from chainview.frameworks.run import BY_DESIGN, Missed, Summary, WatchedNode, leaf_names, summary
from chainview.frameworks.symptom import Symptom, messages
from chainview.frameworks.watched import Watched
from chainview.player.watch import Written
from chainview.read.words import digits, listed, size_text

SECONDS = 60.0  # for differences
AGREE = ("right", "faint")  # what differences say
MODULE_HOOK = "BackwardHookFunction"  # PyTorch wraps it around a module with such a hook


@dataclass(frozen=True)
class LayerSummary:
    """A module, or what is in none: what it holds, keeps and gets."""

    name: str
    parameter_bytes: int
    kept: int
    gradient: float  # the root mean square over its parameters


@dataclass(frozen=True, repr=False)
class Diagnosis:
    """What was found, in words when printed.

    Attributes:
        run: the run, with its values marked where something was found: ``draw_graph(found.run)``.
        symptoms: the worst first.
        layers: in the order in which they ran.
        compared: which gradients agree with differences, or nothing.
        unchecked: which gradients were not compared with differences, and why, or nothing.
        unexamined: the leaves whose gradients we couldn't judge, each with the reason.
    """

    run: Watched
    symptoms: Sequence[Symptom]
    layers: Sequence[LayerSummary]
    compared: str = ""
    unchecked: str = ""
    unexamined: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_sound(self) -> bool:
        """Whether there is no symptom, and every leaf's gradient was examined."""
        return not self.symptoms and not self.unexamined

    @property
    def _head(self) -> str:
        """What was found, and in how many leaves."""
        count, leaves = len(self.symptoms), len(_reached(self.run))
        examined = leaves - len(self.unexamined)
        word = "leaf" if leaves == 1 else "leaves"
        if count:
            return (
                f"{count} symptom{'s' * (count > 1)} found; {examined} of {leaves} {word} examined"
            )
        if not self.unexamined:
            return f"no symptom in {leaves} {word}, all examined"
        if examined:
            return f"no symptom in the {examined} of {leaves} {word} that were examined"
        return f"no symptom, but 0 of {leaves} {word} examined in full"

    def table(self) -> str:
        """Write a table of layers: bytes of parameters, bytes kept, and the gradient's RMS."""
        lines = [f"{'layer':32} {'parameters':>12} {'kept':>10} {'gradient':>10}"]
        for layer in self.layers:
            gradient = digits(layer.gradient) if layer.parameter_bytes else ""
            lines.append(
                f"{layer.name:32} {size_text(layer.parameter_bytes):>12} "
                f"{size_text(layer.kept):>10} {gradient:>10}"
            )
        return "\n".join(lines)

    def __str__(self) -> str:
        parts = [f"{self.run}\n{self._head}", *map(str, self.symptoms)]
        if self.compared:
            parts.append(f"Compared with differences: {self.compared}")
        if self.unchecked:
            parts.append(f"Not compared with differences: {self.unchecked}")
        if self.run.frozen:
            parts.append(f"Frozen: {listed(self.run.frozen, 6)}")
        return "\n\n".join(parts)

    __repr__ = __str__


def diagnose(
    watched: Watched,
    *,
    vanishing: float = 1e-4,
    exploding: float = 1e4,
    dead: float = 0.25,
    directions: int = 2,
    seconds: float = SECONDS,
) -> Diagnosis:
    """Say what is wrong with a run, and where it begins.

    Look for the number that isn't finite and that came first; for leaves whose gradient is 0, and
    the operation after which it is, unless the factor that makes it 0 learns; for gradients that
    vanish or explode along the trunk, from the last layers to the first, or through repeated calls;
    for leaves that no gradient reached, and why; for leaves that a module doesn't count among its
    parameters; for graphs of earlier runs; for units that are 0 for the whole batch; and for
    gradients that disagree with differences. What is differentiated counts: in PyTorch what
    requires a gradient, in JAX the arguments in ``argnums``.

    For the differences we run the function again, in double precision, with its generators reset,
    and put everything back as the first run does. All leaves move at once along a random direction,
    in which each of them counts. If the loss changes as the gradients say, they agree; with two
    directions that takes 10 runs, one of them with its backward pass. Otherwise we look for the
    leaf and for an entry of its gradient, which takes more runs. A gradient is called wrong only
    where one-sided differences of two steps by one entry agree with one another and not with it,
    there and at a point nearby. The result leaves out and names what we can't decide: kinks, losses
    computed in single precision, functions with a state, gradients that a hook changed.

    Args:
        watched: a run.
        vanishing: gradients vanish if those of all of the first layers' weights are below this part
            of the last layers', in root mean squares over entries; over calls, if what arrives at
            the first is lost in single precision beside what arrives at the last.
        exploding: they explode if the norm of what arrives at each of the first layers is above
            this multiple of what arrives at the last.
        dead: the part of a layer's units that may be 0 for the whole batch, where the batch is far
            from switching them on.
        directions: random directions along which gradients are compared with differences; with
            0 none are.
        seconds: the processor time that the comparison may take. It begins only if that's likely
            to be enough for all directions, and says so on standard error if it's more than a few
            seconds. A run of the function that has begun isn't interrupted.

    >>> import torch
    >>> from chainview.frameworks import watch_torch
    >>> w = torch.tensor([0.0, 1.0], requires_grad=True)
    >>> print(diagnose(watch_torch(lambda: w.sqrt().sum())))  # doctest: +ELLIPSIS
    PyTorch: 3 values, 2 shares, 8 B kept for the backward pass; loss = 1.0
    1 symptom found; 0 of 1 leaf examined
    <BLANKLINE>
    Not finite
      where    a share that Sqrt sends to w (...:1)
      code     print(diagnose(watch_torch(lambda: w.sqrt().sum())))...
      seen     [inf, 0.5], from [1.0, 1.0]
      look at  the operation's derivative at its operand, such as that of a root at 0
    <BLANKLINE>
    Not compared with differences: a number isn't finite
    """
    symptoms = list(not_finite(watched))
    judged = _left_out(watched, "a number isn't finite")
    if not symptoms:
        symptoms += zeros(watched)
        symptoms += sizes(watched, vanishing, exploding)
        symptoms += dead_units(watched, dead)
        judged = _differences(watched, directions, seconds)
        symptoms += judged.wrong
    symptoms += [*_missed(watched), *_unregistered(watched), *_stale(watched)]
    marks: dict[WatchedNode, dict[str, None]] = defaultdict(dict)
    for symptom in symptoms:
        for value in symptom.values:
            marks[value][symptom.kind] = None
    marked = replace(watched, marks={value: tuple(kinds) for value, kinds in marks.items()})
    return Diagnosis(
        marked, symptoms, _table(watched), judged.compared, judged.left_out, judged.unexamined
    )


def _reached(watched: Watched) -> list[str]:
    """Name the leaves with entries that were sent a gradient."""
    leaves = leaf_names(watched.leaves)
    return [name for name, x in leaves.items() if x.grad is not None and summary(x.data).size]


# --- gradients against differences --------------------------------------------------------------


@dataclass(frozen=True)
class _Judged:
    """What differences say of a run's gradients, in words."""

    wrong: Sequence[Symptom] = ()
    compared: str = ""
    left_out: str = ""
    unexamined: Mapping[str, str] = field(default_factory=dict)


def _left_out(watched: Watched, reason: str) -> _Judged:
    """Leave all leaves out, for one reason."""
    return _Judged(left_out=reason, unexamined=dict.fromkeys(_reached(watched), reason))


def _differences(watched: Watched, directions: int, seconds: float) -> _Judged:
    """Compare the gradients of all leaves with differences."""
    if not directions:
        return _left_out(watched, "all leaves (directions=0)")
    if watched.rerun is None:
        return _left_out(watched, "the function can't be run again")
    found = compare(watched.rerun, directions, Budget(seconds, tell=_tell))
    if isinstance(found, str):
        return _left_out(watched, found)
    leaves = leaf_names(watched.leaves)
    wrong = {
        leaves[name]: (name, check.entry)
        for name, check in found.leaves.items()
        if check.entry is not None and name in leaves
    }
    right = {
        leaves[name]
        for name, check in found.leaves.items()
        if check.kind in AGREE and name in leaves
    }
    excuses = _known_reasons(watched, {leaf: entry for leaf, (_, entry) in wrong.items()})
    guilty = {leaf: row for leaf, row in wrong.items() if leaf not in excuses}
    unclear = _unclear(found, seconds)
    for leaf, reason in excuses.items():
        unclear[reason].append(wrong[leaf][0])
    left_out = [f"{listed(names, 6)} ({reason})" for reason, names in unclear.items()]
    unexamined = {
        name: reason
        for reason, names in unclear.items()
        for name in names
        if name in _reached(watched) and found.leaves[name].nearby not in AGREE
    }
    symptoms = _wrong_gradients(watched, guilty, right)
    return _Judged(symptoms, _agreeing(found), "; ".join(left_out), unexamined)


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _wrong_gradients(
    watched: Watched,
    wrong: Mapping[WatchedNode, tuple[str, EntryCheck]],
    right: set[WatchedNode],
) -> list[Symptom]:
    if not wrong:
        return []
    name, first = next(iter(wrong.values()))
    own = _suspect_functions(watched, set(wrong), right)
    functions = listed(sorted({value.op for value in own}), 3)
    return [
        Symptom(
            "wrong gradient",
            listed([name for name, _ in wrong.values()], 6),
            f"the gradient is {digits(first.gradient)} at {first.place} of {name}, the "
            f"difference {digits(first.difference)}",
            f"the backward of {functions}: it isn't the derivative of its forward (by design, that "
            "is so in a straight-through estimator)"
            if own
            else "the derivatives on its way to the loss",
            [*own, *wrong],
            own[0].line if own else None,
        )
    ]


def _agreeing(found: Compared) -> str:
    """Say how many leaves agree with differences, and how far that goes."""
    kinds = [check.kind for check in found.leaves.values()]
    agree, count = kinds.count("right") + kinds.count("faint"), len(kinds)
    if not agree:
        return ""
    leaves = f"all {count} leaves" if agree == count else f"{agree} of {count} leaves"
    text = "the one leaf agrees" if count == 1 else f"{leaves} agree"
    text += f" along {found.directions} random direction{'s' * (found.directions > 1)}"
    faint = [name for name, check in found.leaves.items() if check.kind == "faint"]
    if faint:
        text += f"; of {listed(faint, 3)} gradient and difference are both 0 up to rounding"
    return f"{text} ({found.runs} runs of the function)"


def _unclear(found: Compared, seconds: float) -> dict[str, list[str]]:
    """Return the leaves about which differences tell us nothing, by the reason."""
    reasons: dict[str, list[str]] = defaultdict(list)
    for name, check in found.leaves.items():
        if check.kind == "no time":
            reason = f"the other leaves took all of the {seconds:g} s that seconds= allows"
        elif check.kind == "kink":
            reason = "a kink here"
        elif check.kind == "rough":
            reason = "differences disagree: the loss is too rough here, or computed too roughly"
        else:
            continue
        is_right = check.nearby in AGREE
        reasons[reason + "; at a point nearby they agree" * is_right].append(name)
    return reasons


def _known_reasons(
    watched: Watched, wrong: Mapping[WatchedNode, EntryCheck]
) -> dict[WatchedNode, str]:
    """Explain, where we know it, why a leaf's gradient isn't meant to be the derivative."""
    cut, hooked = _detached_leaves(watched), _hooked(watched)
    by_design = {value for value in watched.values if value.note.startswith(BY_DESIGN)}
    own = {value for value in watched.values if _is_custom_function(value)}
    through = _came_through(watched, hooked | by_design | own)
    excuses = {}
    for leaf, entry in wrong.items():
        way = [value for value in watched.values if value is leaf or value in through[leaf]]
        hooks = [value.name for value in way if value in hooked]
        designs = [value for value in way if value in by_design]
        if leaf in cut:
            excuses[leaf] = "a detached copy, too, leads to the loss"
        elif hooks:
            excuses[leaf] = f"a hook changes the gradient of {listed(hooks, 3)}"
        elif designs:
            excuses[leaf] = f"{designs[0].name}: {designs[0].note}"
        elif entry.kind == "flat" and (functions := [v for v in way if v in own]):
            excuses[leaf] = (
                f"the loss doesn't move with it, and the backward of {functions[0].op} isn't the "
                "derivative of its forward: by design in a straight-through estimator"
            )
    return excuses


def _hooked(watched: Watched) -> set[WatchedNode]:
    """Return the values whose gradient a hook changed, of a tensor or of a module."""
    hooked = {event.node for event in watched.events[1:] if isinstance(event, Written)}
    for message in messages(watched):
        if message.child.op == MODULE_HOOK and not _same(message.share, message.above):
            hooked.add(message.child)
    return hooked


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, Summary) or isinstance(other, Summary):
        return summary(one) == summary(other)
    return np.array_equal(one, other, equal_nan=True)


def _is_custom_function(value: WatchedNode) -> bool:
    """Return whether a value is a function that the reader wrote."""
    return value.note.startswith("one function") and value.op != MODULE_HOOK


def _detached_leaves(watched: Watched) -> set[WatchedNode]:
    """Return the leaves that a number depends on without passing a gradient back."""
    behind: set[WatchedNode] = set()
    for value in reversed(watched.values):  # children before parents
        is_cut = not value.requires_grad and "float" in str(getattr(value.data, "dtype", ""))
        if value in behind or is_cut:
            behind.update(value.parents)
    return {value for value in behind if not value.parents}


def _came_through(
    watched: Watched, chosen: set[WatchedNode]
) -> dict[WatchedNode, set[WatchedNode]]:
    """Map each value to the chosen ones, other than itself, that its gradient comes through."""
    through: dict[WatchedNode, set[WatchedNode]] = defaultdict(set)
    for value in reversed(watched.values):  # children before parents
        for parent in value.parents:
            through[parent] |= through[value] | ({value} & chosen)
    return through


def _suspect_functions(
    watched: Watched, wrong: set[WatchedNode], right: set[WatchedNode]
) -> list[WatchedNode]:
    """Return the reader's functions that wrong gradients came through, and right ones didn't."""
    through = _came_through(watched, set(filter(_is_custom_function, watched.values)))
    suspects: set[WatchedNode] = set()
    cleared: set[WatchedNode] = set()
    for value in watched.values:
        if value in wrong:
            suspects |= through[value]
        elif value in right:
            cleared |= through[value]
    between = suspects - cleared or suspects
    return [value for value in watched.values if value in between]


# --- parameters without a gradient --------------------------------------------------------------


def _missed(watched: Watched) -> Iterator[Symptom]:
    by_reason: dict[str, list[Missed]] = defaultdict(list)
    for missed in watched.missed:
        by_reason[missed.why].append(missed)
    for why, all_missed in by_reason.items():
        place = _common([missed.where for missed in all_missed])
        look = f"the forward pass of {place}" if place else "the forward pass"
        names = [missed.name for missed in all_missed]
        there = [value for value in watched.values if value.label in names]
        line = all_missed[0].line
        yield Symptom("no gradient", listed(names, 6), why, look, there, line)


def _common(paths: Sequence[str]) -> str:
    """Return the innermost module around several."""
    common = []
    for parts in zip(*(path.split(".") for path in paths), strict=False):
        if len(set(parts)) > 1:
            break
        common.append(parts[0])
    return ".".join(common)


def _unregistered(watched: Watched) -> Iterator[Symptom]:
    """Yield what takes a gradient and no optimizer will find among a module's parameters."""
    values = [value for value in watched.unregistered if value.grad is not None]
    if values:
        yield Symptom(
            "not a parameter",
            listed([value.name for value in values], 6),
            "takes a gradient, but is no parameter of the model: an optimizer built from "
            "model.parameters() doesn't move it",
            "where the module sets it: nn.ModuleList or nn.ModuleDict for modules in a list or a "
            "dictionary, nn.Parameter for a tensor",
            values,
            values[0].line,
        )


def _stale(watched: Watched) -> Iterator[Symptom]:
    for value in watched.earlier[:1]:
        yield Symptom(
            "stale graph",
            f"{value.name}, which was computed before the run",
            "its gradient goes on into the graph of an earlier run",
            "what is kept from run to run, such as a hidden state or a sum of losses: detach it",
            [value],
            value.line,
        )


# --- by layer -----------------------------------------------------------------------------------


def _table(watched: Watched) -> list[LayerSummary]:
    """Return the innermost modules, each with what its calls keep and its parameters' gradient."""
    parameters: dict[str, list[WatchedNode]] = defaultdict(list)
    for value in watched.values:
        if value.is_parameter:
            parameters[layer_of(value)].append(value)
    layers = []
    for name, kept in saved_by_layer(watched).items():
        own = parameters[name]
        facts = [summary(v.grad) for v in own if v.grad is not None]
        count = sum(x.size for x in facts)
        square = sum(x.norm**2 for x in facts)
        held = sum(_bytes(v.data) for v in own)
        layers.append(LayerSummary(name, held, kept, math.sqrt(square / count) if count else 0.0))
    return layers


def _bytes(x: Any) -> int:
    if isinstance(x, Summary):
        return x.size * (2 if "16" in x.dtype else 8 if "64" in x.dtype else 4)
    return int(getattr(x, "nbytes", 0))
