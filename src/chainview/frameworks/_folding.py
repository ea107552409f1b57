"""A watched run drawn by its modules: what is inside a call, or in a row, is one box."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Generic, TypeVar

from chaingrad.graph import CycleError, toposort
from chainview.frameworks.run import ModuleCall, Run, WatchedNode, in_run_order
from chainview.player.watch import Event, Written

Groups = dict[WatchedNode, Hashable]
Noted = TypeVar("Noted", bound=Run)


def fold(watched: Noted, within: str, most: int) -> Noted:
    """Fold the run, or one call in it, into at most that many boxes."""
    top = _call(watched, within)
    inside = {v for v in watched.values if v.parents and top in v.call.chain}
    read = {parent for value in inside for parent in value.parents}
    values = [value for value in watched.values if value in inside or value in read]
    groups = _groups(values, inside, top, most)
    return _Boxes(watched, values, inside, groups).watched()


def _call(watched: Run, within: str) -> ModuleCall:
    run = [value for value in watched.values if value.parents]
    calls = {call: None for value in run for call in value.call.chain}
    for call in calls:
        if within in (call.path, call.name) and (within or call.outer is None):
            return call
    known = ", ".join(dict.fromkeys(call.path for call in calls if call.path))
    raise KeyError(f"no module or scope {within!r} was called; there are {known}")


# --- which values share a box -------------------------------------------------------------------


def _groups(
    values: Sequence[WatchedNode], inside: set[WatchedNode], top: ModuleCall, most: int
) -> Groups:
    """Open calls level by level while there is room; if even the first doesn't fit, share boxes."""
    opened = {top}
    groups = _by_call(values, inside, top, opened)
    if len(set(groups.values())) > most:
        return _in_rows(values, inside, groups, most)
    while True:
        closed = {group for group in groups.values() if isinstance(group, ModuleCall)}
        finer = _by_call(values, inside, top, opened | closed)
        if not closed or len(set(finer.values())) > most:
            return groups
        opened |= closed
        groups = finer


def _by_call(
    values: Sequence[WatchedNode],
    inside: set[WatchedNode],
    top: ModuleCall,
    opened: set[ModuleCall],
) -> Groups:
    def group(value: WatchedNode) -> Hashable:
        chain = value.call.chain
        within = chain[chain.index(top) + 1 :]
        return next((call for call in within if call not in opened), value)

    return _with_leaves(values, inside, {value: group(value) for value in inside})


def _with_leaves(values: Sequence[WatchedNode], inside: set[WatchedNode], groups: Groups) -> Groups:
    """Put each leaf that only one box reads into that box; inputs keep a box of their own."""
    readers: dict[WatchedNode, set[Hashable]] = defaultdict(set)
    for value in inside:
        for parent in value.parents:
            readers[parent].add(groups[value])
    found = dict(groups)
    for value in values:
        if value not in inside:
            (only, *others) = readers[value] or {value}
            is_inner = not value.parents and not others and not isinstance(only, WatchedNode)
            found[value] = only if is_inner and not value.is_input else value
    return found


def _in_rows(
    values: Sequence[WatchedNode], inside: set[WatchedNode], groups: Groups, most: int
) -> Groups:
    """Put consecutive values together, as many as it takes."""
    order = _sorted(values, {value: groups[value] for value in inside})
    place = {group: i for i, group in enumerate(order)}
    size = 2
    while True:
        rows: Groups = {value: ("row", place[groups[value]] // size) for value in inside}
        found = _with_leaves(values, inside, rows)
        if len(set(found.values())) <= most or size > len(order):
            return found
        size += 1


def _sorted(values: Sequence[WatchedNode], groups: Groups) -> list[Hashable]:
    """Sort the groups so that each comes after those it reads."""
    parents: dict[Hashable, dict[Hashable, None]] = {group: {} for group in groups.values()}
    for value in values:
        for parent in value.parents if value in groups else ():
            if parent in groups and groups[parent] != groups[value]:
                parents[groups[value]][groups[parent]] = None
    ran = {groups[value]: value.ran for value in values if value in groups}
    root: Hashable = object()
    parents[root] = dict.fromkeys(groups.values())
    try:
        order = toposort(root, parents)[:0:-1]
        return in_run_order(order, parents.__getitem__, ran.__getitem__)
    except CycleError:  # PyTorch made a view again: each value is its own group
        groups.update({value: value for value in groups})
        return [value for value in values if value in groups]


# --- the boxes ----------------------------------------------------------------------------------


class _Boxes(Generic[Noted]):
    """Boxes in the place of values, with the shares between them."""

    def __init__(
        self,
        watched: Noted,
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
        last = inner[-1]
        if len(inner) == 1 and not isinstance(group, ModuleCall):
            label = last.label if last in self._inside or not last.parents else last.name
            box = replace(last, inside=(last,), label=label)
            if last not in self._inside:
                box.op = ""
        else:
            results = [v for v in inner if v in self._used or v in self._outside]
            result = results[-1] if results else last
            operations = [v for v in inner if v.parents]
            box = WatchedNode(
                op=group.kind if isinstance(group, ModuleCall) else f"{len(operations)} operations",
                label=group.name if isinstance(group, ModuleCall) else result.label,
                data=result.data,
                grad=result.grad,
                requires_grad=any(v.requires_grad for v in operations),
                call=group.outer if isinstance(group, ModuleCall) and group.outer else last.call,
                ran=last.ran,
                line=inner[0].line,
                kept=sum(v.kept for v in inner),
                note=f"{len(operations)} operations",
                inside=tuple(inner),
            )
        self._boxes.update(dict.fromkeys(inner, box))
        return box

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

    def watched(self) -> Noted:
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
            values=self._order(),
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

    def _order(self) -> list[WatchedNode]:
        groups: Groups = {value: value for value in self.values}
        return [value for value in _sorted(self.values, groups) if isinstance(value, WatchedNode)]

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
