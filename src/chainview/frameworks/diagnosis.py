"""What is wrong with a watched run, in words."""

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from chaingrad.account import layer_of, saved_by_layer
from chainview.frameworks._agreement import agreement, left_out, reached
from chainview.frameworks._chance import REASON, left_to_chance, without
from chainview.frameworks._finite import not_finite
from chainview.frameworks._losses import losses
from chainview.frameworks._sizes import sizes
from chainview.frameworks._units import dead_units
from chainview.frameworks._zeros import zeros
from chainview.frameworks.run import Missed, Summary, WatchedNode, summary
from chainview.frameworks.symptom import Symptom, hanging
from chainview.frameworks.watched import Watched
from chainview.read.words import digits, listed, size_text

SECONDS = 60.0  # for differences


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
        count = len(self.symptoms)
        leaves = len({*reached(self.run), *self.unexamined})
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
        said = {
            "Compared with differences": self.compared,
            "Not compared with differences": self.unchecked,
            "Frozen": listed(self.run.frozen, 6),
        }
        parts = [f"{self.run}\n{self._head}", *map(str, self.symptoms)]
        parts += [hanging(f"{what}: ", text, 2) for what, text in said.items() if text]
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
    there and at a point nearby. Where a leaf has no gradient and the function draws random numbers,
    it runs under up to 12 other seeds, so that a layer that is skipped at random isn't called
    unused. The result leaves out and names what we can't decide: kinks, losses
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
    judged, by_chance = left_out(watched, "a number isn't finite"), list[str]()
    if not symptoms:
        still = list(zeros(watched))
        by_chance = left_to_chance(watched, still)
        symptoms += without(watched, still, by_chance)
        symptoms += sizes(watched, vanishing, exploding)
        symptoms += dead_units(watched, dead)
        judged = agreement(watched, directions, seconds)
        symptoms += judged.wrong
    symptoms += losses(watched)
    symptoms += [*_missed(watched, by_chance), *_unregistered(watched), *_stale(watched)]
    marks: dict[WatchedNode, dict[str, None]] = defaultdict(dict)
    for symptom in symptoms:
        for value in symptom.values:
            marks[value][symptom.kind] = None
    marked = replace(watched, marks={value: tuple(kinds) for value, kinds in marks.items()})
    chance = f"{listed(by_chance, 6)} ({REASON})" if by_chance else ""
    return Diagnosis(
        marked,
        symptoms,
        _table(watched),
        judged.compared,
        "; ".join(filter(None, [judged.left_out, chance])),
        {**judged.unexamined, **dict.fromkeys(by_chance, REASON)},
    )


# --- parameters without a gradient --------------------------------------------------------------


def _missed(watched: Watched, by_chance: Collection[str]) -> Iterator[Symptom]:
    by_reason: dict[str, list[Missed]] = defaultdict(list)
    for missed in (missed for missed in watched.missed if missed.name not in by_chance):
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
