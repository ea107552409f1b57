"""What was seen of one run of a framework: values, and the shares that they sent one another."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from chaingrad.draw.words import FEW, digits, listed, show, size_text
from chaingrad.frameworks._differences import Compared
from chaingrad.step.watch import Event, Message, Written

MOST_BOXES = 60
BY_DESIGN = "by design its gradient isn't the derivative"  # a note of a value


@dataclass(frozen=True)
class Summary:
    """What is kept of an array where arrays would take too much memory."""

    shape: tuple[int, ...]
    dtype: str
    norm: float
    largest: float  # of the absolute values
    is_finite: bool

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of entries."""
        return math.prod(self.shape)

    @property
    def rms(self) -> float:
        """The root of the mean of the squares."""
        return self.norm / math.sqrt(self.size) if self.size else 0.0


def summary(value: Any) -> Summary:
    """Sum up an array, or give a summary as it is.

    >>> summary(np.array([3.0, -4.0]))
    Summary(shape=(2,), dtype='float64', norm=5.0, largest=4.0, is_finite=True)
    """
    if isinstance(value, Summary):
        return value
    array = np.asarray(value)
    if not np.issubdtype(array.dtype, np.inexact):
        entries = array.astype(np.float64)
    else:
        entries = array if array.dtype.itemsize > 4 else array.astype(np.float64)
    with np.errstate(all="ignore"):
        size = np.abs(entries)
        norm = float(np.sqrt(np.sum(size * size)))
        largest = float(size.max(initial=0.0))
    return Summary(array.shape, str(array.dtype), norm, largest, bool(np.isfinite(size).all()))


def told(value: Any) -> str:
    """Show few entries as they are, and of many the shape, the norm and the largest entry.

    >>> print(told(np.ones((16, 4))))
    (16, 4)
    norm 8.0, largest 1.0
    """
    if value is None:
        return ""
    if not isinstance(value, Summary) and np.size(value) <= FEW:
        return show(value)
    facts = summary(value)
    return f"{facts.shape}\nnorm {digits(facts.norm)}, largest {digits(facts.largest)}"


def told_of(event: Event, number: Callable[[Any], Any]) -> Event:
    """The event with numbers in place of what stood for them during the run."""
    names = (
        ["value", "known"] if isinstance(event, Written) else ["above", "share", "known", "total"]
    )
    return replace(event, **{name: number(getattr(event, name)) for name in names})


def _in_a_line(value: Any) -> str:
    """A number, or the shape, the norm and the largest entry of an array."""
    facts = summary(value)
    return told(value if facts.ndim == 0 else facts).replace("\n", " ")


@dataclass(eq=False)
class Call:
    """One call of a module, or one named scope; the outermost is the function that was watched."""

    path: str = ""
    kind: str = ""  # the module's class
    outer: "Call | None" = None
    turn: int = 1  # which call of that module it is
    turns: int = 1

    @property
    def name(self) -> str:
        """The path, and which call of several."""
        name = self.path or self.kind
        return f"{name} (call {self.turn})" if self.turns > 1 else name

    @property
    def chain(self) -> "list[Call]":
        """The calls around it, the outermost first, and itself."""
        return [*(self.outer.chain if self.outer else ()), self]


@dataclass(eq=False)
class Value:
    """A node of a watched run: an operation and its result, or a leaf.

    Attributes:
        op: what the framework calls the operation, ``""`` for a leaf.
        data: an array, or a `Summary`; of an operation with several results the first that is used.
        grad: what reached it in the backward pass, or None.
        parents: what it was computed from.
        call: the module that was being called.
        kept: bytes that it keeps for the backward pass, and that nothing before it keeps.
        note: what is special about it, in words.
        inside: of a box that stands for several, those.
    """

    op: str = ""
    label: str = ""
    parents: "tuple[Value, ...]" = ()
    data: Any = None
    grad: Any = None
    requires_grad: bool = True
    is_parameter: bool = False
    is_input: bool = False
    call: Call = field(default_factory=Call)
    kept: int = 0
    note: str = ""
    inside: "tuple[Value, ...]" = ()

    @property
    def name(self) -> str:
        """The label, or the operation and the module in which it is."""
        if self.label:
            return self.label
        where = f" in {self.call.name}" if self.call.name else ""
        return f"{self.op or 'a leaf'}{where}"

    @property
    def texts(self) -> tuple[str, str]:
        """What a drawing says of the value and of its gradient."""
        kept = f"keeps {size_text(self.kept)}" if self.kept else ""
        return "\n".join(filter(None, [told(self.data), kept])), told(self.grad)

    def __repr__(self) -> str:
        return f"<{self.name}: {' '.join(told(self.data).split())}>"


@dataclass(frozen=True)
class Missed:
    """A parameter that no share reached, why, and where in the forward pass that is so."""

    name: str
    why: str
    where: str = ""


@dataclass(frozen=True, repr=False)
class Watched:
    """One run of a function, forward and backward.

    Attributes:
        engine: PyTorch or JAX.
        loss: the last value.
        values: all that the loss depends on, parents before children.
        events: the shares as they were sent, in their order; the first is the seed.
        missed: parameters that no share reached.
        complete: whether arrays are there, and not only their summaries.
        found: what stands for the framework's own things, by their identity.
        again: compares that many entries of gradients with differences while there is time, or says
            why it cannot.
        marks: what `diagnose` found at values, in words; drawings show it.
    """

    engine: str
    loss: Value
    values: Sequence[Value]
    events: Sequence[Event]
    missed: Sequence[Missed] = ()
    complete: bool = True
    found: dict[int, tuple[Any, Value]] = field(default_factory=dict)
    again: Callable[[int, Callable[[], bool]], Compared | str] | None = None
    marks: Mapping[Value, Sequence[str]] = field(default_factory=dict)

    @property
    def kept(self) -> int:
        """Bytes kept for the backward pass."""
        return sum(value.kept for value in self.values)

    @property
    def leaves(self) -> list[Value]:
        """The leaves that were sent a gradient."""
        return [v for v in self.values if not v.parents and v.requires_grad]

    def find(self, thing: Any) -> Value:
        """The value that stands for a tensor.

        Raises:
            KeyError: the loss does not depend on it.
        """
        for key in (thing, getattr(thing, "grad_fn", None)):
            if id(key) in self.found:
                return self.found[id(key)][1]
        raise KeyError(f"the loss does not depend on {thing!r:.60}, or not on this view of it")

    def folded(self, most: int = MOST_BOXES) -> "Watched":
        """The run in at most that many boxes: modules are opened level by level while they fit.

        Where a module has too many parts, those that follow one another share a box.
        """
        from chaingrad.frameworks._folding import fold

        return self if len(self.values) <= most else fold(self, "", most)

    def inside(self, within: str, most: int = MOST_BOXES) -> "Watched":
        """One module or named scope, in at most that many boxes.

        Args:
            within: its path, such as ``"encoder.layers.0"``; of several calls ``"cell (call 3)"``.
            most: boxes.

        Raises:
            KeyError: it was not called.
        """
        from chaingrad.frameworks._folding import fold

        return fold(self, within, most)

    def shares(self) -> dict[tuple[int, int], str]:
        """What was sent along each edge: by the child's identity and the operand's position."""
        sent = [event for event in self.events if isinstance(event, Message)]
        return {(id(m.child), m.position): _in_a_line(m.share) for m in sent}

    def __getitem__(self, label: str) -> Value:
        """The value with a label, such as the name of a parameter.

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
            f"{self.loss.name} = {' '.join(told(self.loss.data).split())}"
        )
        return text if self.complete else text + "; of arrays only shape, norm and largest entry"
