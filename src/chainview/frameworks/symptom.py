"""One thing that is wrong with a watched run, or may be meant, and words that all judges share."""

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any, Literal, get_args

import numpy as np

from chaingrad.messages import Message
from chainview.frameworks.run import Summary, WatchedNode, summary
from chainview.frameworks.watched import Watched
from chainview.read.lines import Line
from chainview.read.words import digits

WIDTH = 88

SymptomKind = Literal[
    "not finite",
    "zero",
    "vanishing",
    "exploding",
    "dead units",
    "wrong gradient",
    "no gradient",
    "not a parameter",
    "stale graph",
]
RemarkKind = Literal[
    "cut", "hook", "not reached", "scaled gradient", "sends nothing", "straight through"
]


@dataclass(frozen=True)
class Symptom:
    """One thing that is wrong: what, where it begins, what was seen, and where to look.

    A remark is the same of what may be meant. ``values`` are the run's values that it concerns,
    without parameters on which the loss does not depend.
    """

    kind: SymptomKind | RemarkKind
    where: str
    seen: str
    look: str
    values: Sequence[WatchedNode] = ()
    line: Line | None = None  # of the reader's code

    @property
    def is_remark(self) -> bool:
        """Whether it may be meant."""
        return self.kind in get_args(RemarkKind)

    def __str__(self) -> str:
        where = f"{self.where} ({self.line})" if self.line else self.where
        rows = {"where": where, "code": self.line.text if self.line else ""}
        rows |= {"seen": self.seen, "look at": self.look}
        lines = [
            f"  {name:8} {text}" if name == "code" else hanging(f"  {name:8} ", text, 11)
            for name, text in rows.items()
            if text
        ]
        title = f"Remark: {self.kind}" if self.is_remark else self.kind.capitalize()
        return "\n".join([title, *lines])


def hanging(name: str, text: str, indent: int) -> str:
    """Write a text after its name, in lines of at most `WIDTH` unless a word is longer."""
    return fill(
        text,
        WIDTH,
        initial_indent=name,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def messages(watched: Watched) -> list[Message]:
    """Return the shares that were sent, in their order."""
    return [event for event in watched.events if isinstance(event, Message)]


def place(value: WatchedNode) -> str:
    """Write in which module a value is."""
    return f" in {value.call.name}" if value.call.name else ""


def op_name(value: WatchedNode) -> str:
    """Return an operation's name without what tells engines apart, such as ``maskedfill``."""
    return value.op.partition(" ")[0].lower().replace("_", "")


def value_range(x: Any) -> str:
    """Write few entries, or the shape and the largest entry, or the entries that aren't finite."""
    if x is None:
        return "something unknown"
    facts = summary(x)
    if not isinstance(x, Summary) and facts.size <= 6:
        entries = [abs(entry) if np.iscomplexobj(entry) else entry for entry in np.ravel(x)]
        return ", ".join(digits(float(entry)) for entry in entries).join("[]")
    if isinstance(x, Summary) or facts.is_finite:
        return f"{facts.shape}, largest {digits(facts.largest)}"
    return f"{facts.shape}, {_bad_entries(np.asarray(x))}"


def _bad_entries(x: Any) -> str:
    """Count the entries of each kind that isn't finite, with the place of the first."""
    x = x if np.issubdtype(x.dtype, np.inexact) else x.astype(np.float64)
    size = np.abs(x) if np.iscomplexobj(x) else x
    kinds = {"nan": np.isnan(size), "inf": size == np.inf, "-inf": size == -np.inf}
    parts = []
    for name, mask in kinds.items():
        if count := int(mask.sum()):
            first = tuple(map(int, np.argwhere(mask)[0]))
            parts.append(f"{name} at {first}" + (f" and {count - 1} more" if count > 1 else ""))
    return ", ".join(parts)


VIEWS = ("view", "reshape", "unsafeview", "t", "transpose", "permute", "squeeze", "unsqueeze",
         "clone", "tocopy", "alias", "convertelementtype", "broadcastindim", "expand")  # fmt: skip


def behind_views(value: WatchedNode) -> WatchedNode:
    """Return what a value is a view or a copy of."""
    while op_name(value) in VIEWS and value.parents:
        value = value.parents[0]
    return value
