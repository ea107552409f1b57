"""A run of a framework as a graph: what can be asked of it, and drawings of its parts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from chaingrad.messages import Message
from chainview.frameworks.custom_rules import CustomRule
from chainview.frameworks.folding import fold
from chainview.frameworks.run import Missed, WatchedNode, format_on_one_line, format_value
from chainview.player.watch import Event
from chainview.read.lines import Line
from chainview.read.words import listed, size_text

MOST_BOXES = 60


@dataclass(frozen=True, repr=False)
class Watched:
    """One run of a function, forward and backward.

    Attributes:
        engine: PyTorch or JAX.
        loss: the last value.
        values: all that the loss depends on, in the order in which it ran, parents before children.
        events: the shares as they were sent, in their order; the first is the seed.
        missed: parameters that no share reached.
        unregistered: leaves that a module of PyTorch holds and doesn't count among its parameters.
        earlier: what was computed before the run, and leads the gradient on into an earlier graph.
        frozen: parameters that don't require a gradient.
        complete: whether arrays are there, and not only their summaries.
        found: what stands for the framework's own things, by their identity.
        cuts: where a value that takes a gradient goes on without it: why, the module, the line.
        rewritten: values that were written to and no gradient was recorded, by what, and the line.
        rules: derivatives that somebody wrote, by the values that they're of.
        marks: what `diagnose` found at values, in words; drawings show it.
    """

    engine: str
    loss: WatchedNode
    values: Sequence[WatchedNode]
    events: Sequence[Event]
    missed: Sequence[Missed] = ()
    unregistered: Sequence[WatchedNode] = ()
    earlier: Sequence[WatchedNode] = ()
    frozen: Sequence[str] = ()
    complete: bool = True
    found: Mapping[int, tuple[Any, WatchedNode]] = field(default_factory=dict)
    cuts: Sequence[tuple[str, str, Line | None]] = ()
    rewritten: Sequence[tuple[WatchedNode, str, Line | None]] = ()
    rules: Mapping[WatchedNode, CustomRule] = field(default_factory=dict)
    marks: Mapping[WatchedNode, Sequence[str]] = field(default_factory=dict)

    @property
    def kept(self) -> int:
        """Bytes kept for the backward pass."""
        return sum(value.kept for value in self.values)

    @property
    def leaves(self) -> list[WatchedNode]:
        """The leaves that were sent a gradient."""
        return [v for v in self.values if not v.parents and v.requires_grad]

    def find(self, thing: Any) -> WatchedNode:
        """Return the value that stands for a tensor.

        Raises:
            KeyError: the loss does not depend on it.
        """
        for key in (thing, getattr(thing, "grad_fn", None)):
            if id(key) in self.found:
                return self.found[id(key)][1]
        raise KeyError(f"the loss does not depend on {thing!r:.60}, or not on this view of it")

    def folded(self, most: int = MOST_BOXES) -> "Watched":
        """Fold the run into at most that many boxes, opening the largest modules while they fit.

        No way through the boxes is longer than 20, or than a third of ``most``. Parameters are in
        the box that alone reads them. Where a module has too many parts, those that follow one
        another share a box. A run of at most so many values as boxes stays whole.
        """
        return self if len(self.values) <= most else fold(self, "", most)

    def inside(self, within: str, most: int = MOST_BOXES) -> "Watched":
        """Fold one module or named scope into at most that many boxes.

        Args:
            within: its path, such as ``"encoder.layers.0"``; of several calls ``"cell (call 3)"``.
            most: boxes.

        Raises:
            KeyError: it was not called.
        """
        part: Watched = fold(self, within, most)
        return part

    def shares(self) -> dict[tuple[int, int], str]:
        """Return what each edge was sent: by the child's identity and the operand's position."""
        sent = [event for event in self.events if isinstance(event, Message)]
        return {(id(m.child), m.position): format_on_one_line(m.share) for m in sent}

    def __getitem__(self, label: str) -> WatchedNode:
        """Return the value with a label, such as the name of a parameter.

        Raises:
            KeyError: there is none.
        """
        for value in self.values:
            if value.label == label:
                return value
        known = listed([value.label for value in self.values if value.label], 12)
        raise KeyError(f"no value is labelled {label!r}; there are {known}")

    def __repr__(self) -> str:
        return f"<Watched: {self}>"

    def __str__(self) -> str:
        shares = sum(isinstance(event, Message) for event in self.events)
        kept = f", {size_text(self.kept)} kept for the backward pass" if self.kept else ""
        text = (
            f"{self.engine}: {len(self.values):,} values, {shares:,} shares{kept}; "
            f"{self.loss.name} = {' '.join(format_value(self.loss.data).split())}"
        )
        return text if self.complete else text + "; of arrays only shape, norm and largest entry"
