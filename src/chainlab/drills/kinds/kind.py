"""What a problem is, and what every kind of problem can do."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from chainlab.drills.draw.series import Series
from chainview.player.picture import NOTHING, Look

Written = tuple[str, str, str]  # a node, a slot in it, and the text that stands there
Step = tuple[str, str, Sequence[str], Any, Sequence[Written]]  # phase, words, nodes, edge, changes

LEVELS = (1, 2, 3)
NUMBERS = "Write −3, 1/3, 0.5 or 0,5."


@dataclass(frozen=True)
class Problem:
    """A graph with numbers, and what is asked of it.

    Attributes:
        kind: what is asked; see ``KINDS``.
        level: from 1 to 3.
        seed: its number in the series of the level.
        number: which graph of the level it is.
        entry: all that a page reads of it: what stands in the nodes, what is asked, what is right,
            the mistakes, and the steps.
        leaves: the values that were drawn for the leaves of the graph, or its sizes.
        names: what nodes are called here, where that is drawn, too.
        known: matrices, by name, where there are some.
    """

    kind: str
    level: int
    seed: int
    number: int
    entry: Mapping[str, Any]
    leaves: Sequence[float] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    known: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its address on the page."""
        return f"{self.kind}-{self.level}-{self.seed}"

    @property
    def right(self) -> list[float]:
        """The numbers that belong into its boxes."""
        return [box["right"] for box in self.entry.get("boxes", ())]


class Kind(ABC):
    """A kind of problem.

    Attributes:
        name: what its problems are called in addresses.
        title: what it is called.
        sheet: how it is answered: "boxes", "messages", "order", "tiles", "keep" or "typed".
        carried: the widest texts above and below an edge of the drawing.
    """

    name: str
    title: str
    sheet = "boxes"
    carried = NOTHING

    @abstractmethod
    def asks(self, level: int) -> str:
        """Say what the reader is to do, as HTML."""

    @abstractmethod
    def forms(self, level: int) -> Sequence[str]:
        """Return the graphs of a level, as texts."""

    @abstractmethod
    def draw(self, level: int, dice: Series) -> Problem:
        """Draw a problem."""

    @abstractmethod
    def looks(self, text: str) -> Sequence[Look]:
        """Return the nodes of a graph's drawing, with room for what is asked."""
