"""What a watched run is made of: values, the calls that they belong to, and summaries."""

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from chainview.player.watch import Event, Written
from chainview.read.lines import Line
from chainview.read.words import FEW, digits, show, size_text


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
    """Sum up an array, or return a summary unchanged.

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


def format_value(value: Any) -> str:
    """Show few entries as they are, and of many the shape, the norm and the largest entry.

    >>> print(format_value(np.ones((16, 4))))
    (16, 4)
    norm 8.0, largest 1.0
    """
    if value is None:
        return ""
    if not isinstance(value, Summary) and np.size(value) <= FEW:
        return show(value)
    facts = summary(value)
    return f"{facts.shape}\nnorm {digits(facts.norm)}, largest {digits(facts.largest)}"


def resolve_event(event: Event, number: Callable[[Any], Any]) -> Event:
    """Return the event with numbers in place of what stood for them during the run."""
    names = (
        ["value", "known"] if isinstance(event, Written) else ["above", "share", "known", "total"]
    )
    return replace(event, **{name: number(getattr(event, name)) for name in names})


def format_on_one_line(value: Any) -> str:
    """Write a number, or the shape, the norm and the largest entry of an array."""
    facts = summary(value)
    return format_value(value if facts.ndim == 0 else facts).replace("\n", " ")


@dataclass(eq=False)
class ModuleCall:
    """One call of a module, or one named scope; the outermost is the function that was watched."""

    path: str = ""
    kind: str = ""  # the module's class
    outer: "ModuleCall | None" = None
    turn: int = 1  # which call of that module it is
    turns: int = 1

    @property
    def name(self) -> str:
        """The path, and which call of several."""
        name = self.path or self.kind
        return f"{name} (call {self.turn})" if self.turns > 1 else name

    @property
    def chain(self) -> "list[ModuleCall]":
        """The calls around it, the outermost first, and itself."""
        return [*(self.outer.chain if self.outer else ()), self]


@dataclass(eq=False)
class WatchedNode:
    """A node of a watched run: an operation and its result, or a leaf.

    Attributes:
        op: what the framework calls the operation, ``""`` for a leaf.
        data: an array, or a `Summary`; of an operation with several results the first that is used.
        grad: what reached it in the backward pass, or None.
        parents: what it was computed from.
        call: the module that was being called.
        ran: a number that grows from operation to operation; a leaf has that of its first reader.
        line: the line of the reader's code that ran it, or None.
        kept: bytes that it keeps for the backward pass, and that nothing before it keeps.
        note: what is special about it, in words.
        inside: of a box that stands for several, those.
    """

    op: str = ""
    label: str = ""
    parents: "tuple[WatchedNode, ...]" = ()
    data: Any = None
    grad: Any = None
    requires_grad: bool = True
    is_parameter: bool = False
    is_input: bool = False
    call: ModuleCall = field(default_factory=ModuleCall)
    ran: int = 0
    line: Line | None = None
    kept: int = 0
    note: str = ""
    inside: "tuple[WatchedNode, ...]" = ()

    @property
    def name(self) -> str:
        """The label, or the operation and the module in which it is."""
        if self.label:
            return self.label
        where = f" in {self.call.name}" if self.call.name else ""
        return f"{self.op or 'a leaf'}{where}"

    @property
    def texts(self) -> tuple[str, str]:
        """What a drawing says about the value and about its gradient."""
        kept = f"keeps {size_text(self.kept)}" if self.kept else ""
        gradient = format_value(self.grad)
        if np.size(self.grad) > FEW and np.shape(self.grad) == np.shape(self.data):
            gradient = gradient.partition("\n")[2]  # the shape has been said
        return "\n".join(filter(None, [format_value(self.data), kept])), gradient

    def __repr__(self) -> str:
        return f"<{self.name}: {' '.join(format_value(self.data).split())}>"


Thing = TypeVar("Thing", bound=Hashable)


def in_run_order(
    things: Sequence[Thing],
    parents: Callable[[Thing], Iterable[Thing]],
    ran: Callable[[Thing], int],
) -> list[Thing]:
    """Sort things by when they ran, each still after its parents; a leaf before its first reader.

    Args:
        things: parents before children.
        parents: what each was computed from.
        ran: when each operation ran; of leaves it isn't asked.
    """
    turns: dict[Thing, int] = {}
    read: dict[Thing, int] = {}
    for thing in things:
        own = list(parents(thing))
        if own:
            turns[thing] = max([ran(thing), *(turns[p] for p in own if p in turns)])
            for leaf in own:
                read[leaf] = min(turns[thing], read.get(leaf, turns[thing]))
    return sorted(things, key=lambda thing: turns.get(thing, read.get(thing, 0)))


def reached(start: Thing, near: Callable[[Thing], Iterable[Thing]]) -> list[Thing]:
    """Return a thing and what is reached from it, step by step."""
    found, todo = {start: None}, [start]
    while todo:
        new = [other for other in near(todo.pop()) if other not in found]
        found |= dict.fromkeys(new)
        todo += new
    return list(found)


UNREAD = "read by no operation"


@dataclass(frozen=True)
class Missed:
    """A parameter that no share reached, why, and the module and line where that is so."""

    name: str
    why: str
    where: str = ""
    line: Line | None = None
