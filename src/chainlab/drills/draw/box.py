"""A number to be filled in, and the mistakes that people make in it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from chainlab.mistakes import Mistake
from chainview.read.items import Item


@dataclass(frozen=True)
class Place:
    """Where a number is asked for.

    Attributes:
        item: the node in which it stands.
        slot: where it stands there.
        label: what is asked for, as HTML.
        says: what a screen reader is told of it.
        hint: how it is found, as HTML.
        name: of the number in the engine's graph, where that is not of the drawing.
        column: its place in a row, and how many stand there.
        part: of a long problem, which is judged part by part.
    """

    item: Item
    slot: str
    label: str
    says: str
    hint: str
    name: str = ""
    column: tuple[int, int] = (0, 1)
    part: str = ""


@dataclass(frozen=True)
class Box:
    """A place, the number that belongs there, and what gives the mistakes that people make."""

    place: Place
    right: float
    find: Callable[[], Iterable[Mistake[float]]]

    @cached_property
    def mistakes(self) -> tuple[Mistake[float], ...]:
        return tuple(self.find())
