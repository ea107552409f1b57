"""Runs of a framework that `chaingrad.frameworks` watched, read for a drawing."""

from collections.abc import Iterable, Sequence
from typing import Any

from chaingrad.draw.items import Facts
from chaingrad.draw.nodes import Nodes


def is_watched(thing: Any) -> bool:
    """Tell a watched run."""
    return hasattr(thing, "folded")


def folded(run: Any) -> Any:
    """A watched run with few enough boxes for a drawing."""
    return run.folded()


def shares(run: Any) -> dict[tuple[int, int], str]:
    """What was sent along each edge of a watched run, in words."""
    found: dict[tuple[int, int], str] = run.shares()
    return found


class Watches(Nodes):
    """Reads the values of a watched run, of which drawings show shapes and sizes."""

    def __init__(self, parameters: Iterable[Any] = ()) -> None:
        super().__init__(parameters)
        self._marks: dict[Any, Sequence[str]] = {}

    def starts(self, thing: Any, caller: str) -> Sequence[Any]:
        self._marks.update(thing.marks)
        return [thing.loss]

    def facts(self, thing: Any) -> Facts:
        facts = super().facts(thing)
        data, grad = thing.texts
        marks = tuple(self._marks.get(thing, ()))
        return facts._replace(data=data, grad=grad or None, marks=marks)
