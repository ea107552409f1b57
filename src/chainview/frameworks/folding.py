"""A watched run drawn by its modules: what is inside a call, or in a row, is one box."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

from chainview.frameworks.grouping import (
    Fragment,
    Given,
    Groups,
    Part,
    group,
    group_parents,
    ordered,
)
from chainview.frameworks.run import ModuleCall, WatchedNode
from chainview.player.watch import Event, Written


def fold(watched: Any, within: str, most: int) -> Any:
    """Fold a `Watched` run, or one call in it, into at most that many boxes."""
    top = _call(watched, within)
    inside = {v for v in watched.values if v.parents and top in v.call.chain}
    read = {parent for value in inside for parent in value.parents}
    values = [value for value in watched.values if value in inside or value in read]
    groups = group(values, inside, top, most)
    return _Boxes(watched, values, inside, groups).watched()


def _call(watched: Any, within: str) -> ModuleCall:
    run = [value for value in watched.values if value.parents]
    calls: dict[ModuleCall, None] = {call: None for value in run for call in value.call.chain}
    for call in calls:
        if within in (call.path, call.name) and (within or call.outer is None):
            return call
    known = ", ".join(dict.fromkeys(call.path for call in calls if call.path))
    raise KeyError(f"no module or scope {within!r} was called; there are {known}")


# --- the boxes ----------------------------------------------------------------------------------


class _Boxes:
    """Boxes in the place of values, with the shares between them."""

    def __init__(
        self,
        watched: Any,
        values: Sequence[WatchedNode],
        inside: set[WatchedNode],
        groups: Groups,
    ) -> None:
        self._watched, self._inside = watched, inside
        members: dict[Hashable, list[WatchedNode]] = defaultdict(list)
        for value in values:
            members[groups[value]].append(value)
        self._places: dict[tuple[WatchedNode, int], int] = {}
        self._outside = {parent for v in watched.values if v not in inside for parent in v.parents}
        self._outside.add(watched.loss)
        self._used = {p for v in inside for p in v.parents if groups[p] != groups[v]}
        self._boxes: dict[WatchedNode, WatchedNode] = {}
        self.values = [self._box(group, inner) for group, inner in members.items()]
        for box in self.values:
            box.parents = tuple(self._parents(box))

    def _box(self, group: Hashable, inner: Sequence[WatchedNode]) -> WatchedNode:
        if len(inner) > 1 or isinstance(group, Part | Fragment):
            box = self._several(group, inner)
        else:
            (only,) = inner
            label = only.label if only in self._inside or not only.parents else only.name
            box = replace(only, inside=(only,), label=label)
            if only not in self._inside:
                box.op = ""
        self._boxes.update(dict.fromkeys(inner, box))
        return box

    def _several(self, group: Hashable, inner: Sequence[WatchedNode]) -> WatchedNode:
        if isinstance(group, Given):
            return WatchedNode(
                label=_count(inner),
                requires_grad=any(v.requires_grad for v in inner),
                is_parameter=all(v.is_parameter for v in inner),
                is_input=all(v.is_input for v in inner),
                kept=sum(v.kept for v in inner),
                inside=tuple(inner),
            )
        operations = [v for v in inner if v in self._inside]
        results = [v for v in operations if v in self._used or v in self._outside]
        result = results[-1] if results else inner[-1]
        count = f"{len(operations)} operation{'s' * (len(operations) != 1)}"
        label, kind, call = _named(group)
        return WatchedNode(
            op=kind or count,
            label=label or result.label,
            data=result.data,
            grad=result.grad,
            requires_grad=any(v.requires_grad for v in operations),
            call=call,
            ran=result.ran,
            kept=sum(v.kept for v in inner),
            note=count,
            inside=tuple(inner),
        )

    def _parents(self, box: WatchedNode) -> list[WatchedNode]:
        """Return a parent for each share that comes in, then one for each box that is only read."""
        parents: list[WatchedNode] = []
        read: dict[WatchedNode, None] = {}
        for child in box.inside:
            for position, parent in enumerate(child.parents if child in self._inside else ()):
                source = self._boxes[parent]
                if source is not box and parent.requires_grad and child.requires_grad:
                    self._places[child, position] = len(parents)
                    parents.append(source)
                elif source is not box:
                    read[source] = None
        return parents + [source for source in read if source not in parents]

    def watched(self) -> Any:
        """Return the run, in boxes."""
        results = [v for v in self._watched.values if v in self._outside and v in self._inside]
        found = {
            key: (thing, self._boxes[value])
            for key, (thing, value) in self._watched.found.items()
            if value in self._boxes
        }
        return replace(
            self._watched,
            loss=self._boxes[results[-1]],
            values=ordered(group_parents(self.values, {box: box for box in self.values})),
            events=self._events(results),
            found=found,
            marks=self._marks(),
        )

    def _marks(self) -> dict[WatchedNode, Sequence[str]]:
        """Map each box to what is marked in it."""
        marks: dict[WatchedNode, dict[str, None]] = defaultdict(dict)
        for value, words in self._watched.marks.items():
            if value in self._boxes:
                marks[self._boxes[value]] |= dict.fromkeys(words)
        return {box: tuple(words) for box, words in marks.items()}

    def _events(self, results: Sequence[WatchedNode]) -> list[Event]:
        seeds: list[Event] = [
            Written(self._boxes[value], value.grad, None)
            for value in results
            if value is not self._watched.loss and value.grad is not None
        ]
        kept = (self._event(event) for event in self._watched.events)
        return [*seeds, *(event for event in kept if event is not None)]

    def _event(self, event: Event) -> Event | None:
        if isinstance(event, Written):
            node = self._boxes.get(event.node)
            return replace(event, node=node) if event.node in self._inside else None
        if event.child not in self._inside or event.parent not in self._boxes:
            return None
        child, parent = self._boxes[event.child], self._boxes[event.parent]
        if child is parent:
            return None
        place = self._places[event.child, event.position]
        return replace(event, child=child, parent=parent, position=place)


def _count(leaves: Sequence[WatchedNode]) -> str:
    """Say how many parameters a box holds, or inputs, or both.

    >>> _count([WatchedNode(is_parameter=True), WatchedNode()])
    '1 parameter, 1 input'
    """
    parameters = sum(leaf.is_parameter for leaf in leaves)
    counts = {"parameter": parameters, "input": len(leaves) - parameters}
    return ", ".join(f"{n} {what}{'s' * (n > 1)}" for what, n in counts.items() if n)


def _named(group: Hashable) -> tuple[str, str, ModuleCall]:
    """Return what a box is called, the kind of module that it is, and the call around it."""
    if isinstance(group, Fragment):
        name, kind, call = _named(group.whole)
        return f"{name} (part {group.number})", kind, call
    assert isinstance(group, Part)
    call = group.call.outer if group.is_call and group.call.outer else group.call
    is_said = group.kind == group.name.rpartition(".")[2]  # of a scope it's the name
    return group.name, "" if is_said else group.kind, call
