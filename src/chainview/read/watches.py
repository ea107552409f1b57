"""Runs of a framework that `chainview.frameworks` watched, read for a drawing."""

from collections.abc import Iterable, Sequence
from typing import Any, TypeGuard

from chainview.read.items import NodeFacts
from chainview.read.nodes import Nodes


def is_watched(thing: Any) -> TypeGuard[Any]:
    """Return whether a thing is a watched run."""
    return hasattr(thing, "folded")


class WatchedRuns(Nodes):
    """Reads the values of a watched run; drawings show their shapes and sizes."""

    def __init__(self, parameters: Iterable[Any] = ()) -> None:
        super().__init__(parameters)
        self._marks: dict[Any, Sequence[str]] = {}

    def can_read(self, thing: Any) -> bool:
        return is_watched(thing) or hasattr(thing, "texts")

    def roots(self, thing: Any, caller: str) -> Sequence[Any]:
        self._marks.update(thing.marks)
        return [thing.loss]

    def facts(self, thing: Any) -> NodeFacts:
        facts = super().facts(thing)
        if thing.op:  # a box may hold all that its operations read
            facts = facts._replace(kind="operation", op=thing.op)
        data, grad = thing.texts
        marks = tuple(self._marks.get(thing, ()))
        return facts._replace(data=data, grad=grad or None, marks=marks)
