"""What is wrong with a watched run, in words."""

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from chainview.frameworks.custom_rules import RuleCheck, check
from chainview.frameworks.kept import layer_of, saved_by_layer
from chainview.frameworks.origin import not_finite
from chainview.frameworks.run import UNREAD, Missed, Summary, WatchedNode, summary
from chainview.frameworks.sizes import sizes
from chainview.frameworks.symptom import RemarkKind, Symptom, SymptomKind, hanging, messages
from chainview.frameworks.watched import Watched
from chainview.frameworks.zeros import dead_units, zeros
from chainview.player.watch import Written
from chainview.read.lines import Line
from chainview.read.words import digits, listed, size_text

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
        symptoms: faults, the worst first.
        remarks: what may be meant, such as a copy that was detached.
        layers: in the order in which they ran.
        compared: how many calls of functions with a backward of their own were compared.
        unexamined: those that couldn't be compared, each with the reason.
    """

    run: Watched
    symptoms: Sequence[Symptom]
    remarks: Sequence[Symptom]
    layers: Sequence[LayerSummary]
    compared: int = 0
    unexamined: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_sound(self) -> bool:
        """Whether there is no symptom; what `diagnose` doesn't look for may still be there."""
        return not self.symptoms

    @property
    def _head(self) -> str:
        """What was found, and what was looked at."""
        leaves = len({*self.run.leaves, *(missed.name for missed in self.run.missed)})
        leaves -= sum(leaf.label in {m.name for m in self.run.missed} for leaf in self.run.leaves)
        found = f"{len(self.symptoms) or 'no'} symptom{'s' * (len(self.symptoms) > 1)}"
        found += f" in {leaves} {'leaf' if leaves == 1 else 'leaves'}"
        if self.compared:
            found += f" and {self.compared} custom backward{'s' * (self.compared > 1)}"
        remarks = len(self.remarks)
        return found + (f"; {remarks} remark{'s' * (remarks > 1)}" if remarks else "")

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
        left_out = [f"{name} ({reason})" for name, reason in self.unexamined.items()]
        told = {
            "Not compared with differences": "; ".join(left_out),
            "Frozen": listed(self.run.frozen, 6),
        }
        parts = [f"{self.run}\n{self._head}", *map(str, [*self.symptoms, *self.remarks])]
        parts += [hanging(f"{what}: ", text, 2) for what, text in told.items() if text]
        return "\n\n".join(parts)

    __repr__ = __str__


def diagnose(watched: Watched) -> Diagnosis:
    """Say what is wrong with a run, and where it begins.

    Look for the number that isn't finite and that came first; for leaves whose gradient is 0, and
    the operation after which it is, unless the factor that makes it 0 learns; for gradients that
    vanish or explode along the trunk, from the last layers to the first, or through repeated calls;
    for leaves that no gradient reached, and why; for leaves that a module doesn't count among its
    parameters; for graphs of earlier runs; and for units that are 0 for the whole batch. What is
    differentiated counts: in PyTorch what requires a gradient, in JAX the arguments in ``argnums``.

    A gradient can be wrong where somebody wrote a backward: an ``autograd.Function``, a
    ``custom_vjp`` or ``custom_jvp``. Each call of one is compared with differences, alone, on the
    inputs that the run gave it, and called wrong only where one-sided differences agree with one
    another and not with it. Your function itself isn't run again. A gradient is also wrong where a
    result is written to behind PyTorch's back, as by ``.data``.

    What may be meant is a remark: a value cut off, as by ``detach`` or ``.item()``; a gradient that
    passes straight through where the derivative is 0, or is reversed or scaled; a hook that changes
    one; a layer that nothing read while others of its list ran, as an expert without rows.

    Gradients vanish if those of all of the first layers' weights are below a ten-thousandth of the
    last layers', in root mean squares over entries; over calls, if what arrives at the first is
    lost in single precision beside what arrives at the last. They explode if the norm of what
    arrives at each of the first layers is above ten thousand times what arrives at the last. Units
    are dead if more than a quarter of a layer's are 0, and the batch is far from switching them on.

    >>> import torch
    >>> from chainview.frameworks import watch_torch
    >>> w = torch.tensor([0.0, 1.0], requires_grad=True)
    >>> print(diagnose(watch_torch(lambda: w.sqrt().sum())))  # doctest: +ELLIPSIS
    PyTorch: 3 values, 2 shares, 8 B kept for the backward pass; loss = 1.0
    1 symptom in 1 leaf
    <BLANKLINE>
    Not finite
      where    a share that Sqrt sends to w (...:1)
      code     print(diagnose(watch_torch(lambda: w.sqrt().sum())))...
      seen     [inf, 0.5], from [1.0, 1.0]
      look at  the operation's derivative at its operand, such as that of a root at 0
    """
    found = list(not_finite(watched))
    checks: dict[WatchedNode, RuleCheck] = {}
    if not found:
        found += [*zeros(watched), *sizes(watched)]
        found += dead_units(watched)
        checks = {
            value: check(rule, [operand.name for operand in _operands(value)])
            for value, rule in watched.rules.items()
        }
    found += [*_rules(watched, checks), *_rewritten(watched), *_missed(watched)]
    found += [*_unregistered(watched), *_stale(watched), *_cuts(watched), *_hooks(watched)]
    symptoms = [symptom for symptom in found if not symptom.is_remark]
    marks: dict[WatchedNode, dict[str, None]] = defaultdict(dict)
    for symptom in symptoms:
        for value in symptom.values:
            marks[value][symptom.kind] = None
    unseen = RuleCheck("unclear", "a number isn't finite")
    left_out = {value: checks.get(value, unseen) for value in watched.rules}
    left_out = {value: found for value, found in left_out.items() if found.kind == "unclear"}
    return Diagnosis(
        replace(watched, marks={value: tuple(kinds) for value, kinds in marks.items()}),
        symptoms,
        [remark for remark in found if remark.is_remark],
        _table(watched),
        len(watched.rules) - len(left_out),
        {value.name: found.seen for value, found in left_out.items()},
    )


# --- wrong gradients ----------------------------------------------------------------------------

WRITTEN: dict[str, tuple[SymptomKind | RemarkKind, str]] = {  # what a custom rule's check says
    "wrong": ("wrong gradient", "it isn't the derivative of its forward"),
    "scaled": ("scaled gradient", "is that meant, as in gradient reversal?"),
    "straight through": ("straight through", "is that meant, as in a straight-through estimator?"),
    "silent": ("sends nothing", "is it meant to return None?"),
}
ROUNDINGS = ("round", "sign", "floor", "ceil", "trunc")


def _operands(value: WatchedNode) -> list[WatchedNode]:
    return [parent for parent in value.parents if parent.requires_grad]


def _rules(watched: Watched, checks: Mapping[WatchedNode, RuleCheck]) -> Iterator[Symptom]:
    """Yield what differences say of functions with a backward of their own, each once."""
    by_rule: dict[tuple[str, str], list[WatchedNode]] = defaultdict(list)
    for value, found in checks.items():
        if found.kind in WRITTEN:
            by_rule[watched.rules[value].name, found.kind].append(value)
    for (name, kind), boxes in by_rule.items():
        says, look = WRITTEN[kind]
        ends = [p for box in boxes for i in checks[box].operands for p in _operands(box)[i : i + 1]]
        look = f"the backward of {name}: {look}"
        yield _through(watched, boxes, ends, says, checks[boxes[0]].seen, look, boxes[0].line)


def _rewritten(watched: Watched) -> Iterator[Symptom]:
    """Yield results that were written to after they had been computed, unknown to their graph."""
    for value, by, line in watched.rewritten:
        seen = f"{by} writes to the result of {value.name}, and its gradient doesn't know of it"
        look = "the line that writes: a new tensor in its place is recorded"
        kind: SymptomKind | RemarkKind = "wrong gradient"
        if by.startswith(ROUNDINGS):
            kind = "straight through"
        yield _through(watched, [value], [value], kind, seen, look, line)


def _through(
    watched: Watched,
    boxes: Sequence[WatchedNode],
    ends: Sequence[WatchedNode],
    kind: SymptomKind | RemarkKind,
    seen: str,
    look: str,
    line: Line | None,
) -> Symptom:
    """Say something of the leaves whose gradients come through some values."""
    below = set(ends)
    for value in reversed(watched.values):  # children before parents
        if value in below and value.requires_grad:
            below.update(value.parents)
    leaves = [leaf for leaf in watched.leaves if leaf in below]
    where = listed([leaf.name for leaf in leaves], 6)
    return Symptom(kind, where, seen, look, [*boxes, *leaves], line)


# --- gradients that end, or change on their way -------------------------------------------------


def _cuts(watched: Watched) -> Iterator[Symptom]:
    by_reason: dict[str, dict[str, Line | None]] = defaultdict(dict)
    for why, where, line in watched.cuts:
        if any(x.line == line and x.why.startswith(why) for x in watched.missed):
            continue  # a finding says it
        by_reason[why][f"{where or 'the function'}{f' ({line})' if line else ''}"] = line
    for why, places in by_reason.items():
        look = "what is computed from it counts as a constant: is that meant?"
        where, line = next(iter(places.items()))
        if len(places) > 1:
            where, line = listed(list(places), 4), None
        yield Symptom("cut", where.partition(" (")[0] if line else where, why, look, (), line)


def _hooks(watched: Watched) -> Iterator[Symptom]:
    """Yield the values whose gradient a hook changed, of a tensor or of a module."""
    changed = [
        (event.node, event.known, event.value)
        for event in watched.events[1:]
        if isinstance(event, Written)
    ]
    for m in messages(watched):
        if m.child.op == MODULE_HOOK and not _are_equal(m.share, m.above):
            changed.append((m.child, m.above, m.share))
    for value, before, after in changed:
        norms = [digits(summary(x).norm) for x in (before, after)]
        seen = f"a hook changes the gradient: its norm is {norms[0]} before it, {norms[1]} after"
        yield Symptom("hook", value.name, seen, "the hook: is that meant?", [value], value.line)


def _are_equal(one: Any, other: Any) -> bool:
    if isinstance(one, Summary) or isinstance(other, Summary):
        return summary(one) == summary(other)
    return np.array_equal(one, other, equal_nan=True)


def _missed(watched: Watched) -> Iterator[Symptom]:
    read = {_in_a_list(value.label) for value in watched.values} - {""}
    by_reason: dict[tuple[str, bool], list[Missed]] = defaultdict(list)
    for missed in watched.missed:
        is_skipped = missed.why == UNREAD and _in_a_list(missed.name) in read
        by_reason[missed.why, is_skipped].append(missed)
    for (why, is_skipped), all_missed in by_reason.items():
        paths = {missed.where for missed in all_missed}
        path = paths.pop() if len(paths) == 1 else ""
        look = f"the forward pass of {path}" if path else "the forward pass"
        if is_skipped:
            look = "others of its list ran: is it skipped at random, or an expert without rows?"
        names = [missed.name for missed in all_missed]
        there = [value for value in watched.values if value.label in names]
        kind: SymptomKind | RemarkKind = "not reached" if is_skipped else "no gradient"
        yield Symptom(kind, listed(names, 6), why, look, there, all_missed[0].line)


def _in_a_list(path: str) -> str:
    """Write a parameter's path without the places in lists of modules, if it's in one.

    >>> _in_a_list("net.layers.3.weight")
    'net.layers.*.weight'
    """
    return re.sub(r"\.\d+\.", ".*.", path) if re.search(r"\.\d+\.", path) else ""


def _unregistered(watched: Watched) -> Iterator[Symptom]:
    """Yield what takes a gradient and no optimizer will find among a module's parameters."""
    values = [value for value in watched.unregistered if value.grad is not None]
    if values:
        yield Symptom(
            "not a parameter",
            listed([value.name for value in values], 6),
            "takes a gradient, but is no parameter of the model: an optimizer built from "
            "model.parameters() doesn't move it",
            "where the module sets it: in __init__, not in forward; nn.ModuleList or nn.ModuleDict "
            "for modules in a list or a dictionary, nn.Parameter for a tensor",
            values,
            values[0].line,
        )


def _stale(watched: Watched) -> Iterator[Symptom]:
    for value in watched.earlier[:1]:
        yield Symptom(
            "stale graph",
            f"{value.name}, which was computed before the run",
            "its gradient goes on into the graph of an earlier run",
            "what is kept from run to run, such as a hidden state or a sum of losses: detach it; "
            "what should learn has to be a leaf, such as an nn.Parameter",
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
