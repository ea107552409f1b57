"""A watched run drawn by its modules: what is inside a call, or in a row, is one box.

Below are the boxes; then which values share one; then groups of values as a graph without cycles.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from graphlib import TopologicalSorter
from itertools import pairwise, takewhile
from typing import Any, TypeVar

from chainview.frameworks.run import ModuleCall, WatchedNode, reached
from chainview.player.watch import Event, Written

LONGEST = 20  # boxes in a row, which fill two screens
FEW = 3  # boxes that read one leaf

Groups = dict[WatchedNode, Hashable]
Key = TypeVar("Key", bound=Hashable)


def fold(watched: Any, within: str, most: int) -> Any:
    """Fold a `Watched` run, or one call in it, into at most that many boxes.

    In a row there are at most a third of that, or 20. Calls are opened one by one, the largest
    first, those without calls in them last, while there is room. Leaves are in the box that alone
    reads them.
    """
    top = _call(watched, within)
    inside = {v for v in watched.values if v.parents and top in v.call.chain}
    read = {parent for value in inside for parent in value.parents}
    values = [value for value in watched.values if value in inside or value in read]
    root = _tree([value for value in values if value in inside], top)
    opening = _Opening(values, inside, root, most)
    opening.open()
    return _Boxes(watched, values, inside, opening.groups).watched()


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


# --- which values share a box ------------------------------------------------------------------


@dataclass(eq=False)
class Part:
    """What one box can stand for: a call, some of its parts in a row, or what has no gradient."""

    call: ModuleCall  # that it is, or that it is a part of
    name: str = ""
    kind: str = ""  # of a call the module's class
    is_call: bool = False
    members: "list[Part | WatchedNode]" = field(default_factory=list)
    values: list[WatchedNode] = field(default_factory=list)

    @property
    def has_modules(self) -> bool:
        """Whether calls are among its members."""
        return any(isinstance(member, Part) and member.is_call for member in self.members)

    @property
    def can_open(self) -> bool:
        """Whether there is more to see in it than one operation."""
        return len(self.values) > 1 or any(not parent.parents for parent in self.values[0].parents)

    def rows(self, count: int) -> "list[Part | WatchedNode]":
        """Put members that follow one another together, into at most that many rows."""
        size = -(-len(self.members) // count)
        starts = range(0, len(self.members), size)
        return [self._row(self.members[start : start + size]) for start in starts]

    def _row(self, members: "list[Part | WatchedNode]") -> "Part | WatchedNode":
        if len(members) == 1:
            return members[0]
        values = [value for member in members for value in _values(member)]
        names = [name for name in map(_name, members) if name] or [self.call.name]
        return Part(self.call, _span(names[0], names[-1]), members=members, values=values)


@dataclass(frozen=True)
class Fragment:
    """One of the pieces of a group that others had to come between."""

    whole: Hashable
    number: int


@dataclass(frozen=True)
class Given:
    """Leaves, and other values from outside, that the same few boxes read, or that many do."""

    readers: frozenset[Hashable]


def _tree(values: Iterable[WatchedNode], top: ModuleCall) -> Part:
    """Return the parts of a call: calls in it, values, and together those without a gradient."""
    parts = {top: Part(top, top.name, top.kind, is_call=True)}
    plain: dict[ModuleCall, Part] = {}
    for value in values:
        chain = value.call.chain
        chain = chain[chain.index(top) :]
        for outer, call in pairwise(chain):
            if call not in parts:
                parts[call] = Part(call, call.name, call.kind, is_call=True)
                parts[outer].members.append(parts[call])
        for call in chain:
            parts[call].values.append(value)
        own = parts[chain[-1]]
        if not value.requires_grad:
            call = chain[-1]
            if call not in plain:
                plain[call] = Part(call, call.name, "no gradient")
                own.members.append(plain[call])
            own = plain[call]
            own.values.append(value)
        own.members.append(value)
    return parts[top]


def _values(member: Part | WatchedNode) -> list[WatchedNode]:
    return member.values if isinstance(member, Part) else [member]


def _name(member: Part | WatchedNode) -> str:
    return member.label if isinstance(member, WatchedNode) else member.name * member.is_call


def _span(first: str, last: str) -> str:
    """Name a row by its ends, without the beginning that they share.

    >>> _span("encoder.layers.0", "encoder.layers.3")
    'encoder.layers.0 to 3'
    """
    if first == last:
        return first
    pairs = zip(first.split("."), last.split("."), strict=False)
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return f"{first} to {'.'.join(last.split('.')[shared:]) or last}"


# --- opening ------------------------------------------------------------------------------------


class _Opening:
    """Parts that are shown as a box each, and opened while there is room."""

    def __init__(
        self, values: Sequence[WatchedNode], inside: set[WatchedNode], root: Part, most: int
    ) -> None:
        self._values, self._inside, self._most = values, inside, most
        self._inner = [value for value in values if value in inside]
        self._shown: list[Part | WatchedNode] = [root]
        self.groups = self._grouped(self._shown)
        if _boxes_of(self.groups) > most:
            self.groups = dict.fromkeys(values, root)

    def open(self) -> None:
        """Open parts while there is room."""
        stuck: set[Part] = set()
        while part := self._next(stuck):
            if not self._replace(part, part.members) and not self._open_in_rows(part):
                stuck.add(part)

    def _next(self, stuck: set[Part]) -> Part | None:
        """Return the part to open: the largest, and none without calls while others are closed."""
        closed = [part for part in self._shown if isinstance(part, Part) and part.can_open]
        outer = [part for part in closed if part.has_modules] or closed
        return max(
            (part for part in outer if part not in stuck),
            key=lambda part: len(part.values),
            default=None,
        )

    def _open_in_rows(self, part: Part) -> bool:
        """Open a part that has too many members, if there would be few boxes without it."""
        boxes = _boxes_of(self.groups)
        if boxes > self._most // 2:
            return False
        room = min(self._most - boxes + 1, len(part.members))
        counts = [room >> i for i in range(room.bit_length() - 1)]  # all that are at least 2
        return any(self._replace(part, part.rows(count)) for count in counts)

    def _replace(self, part: Part, members: "list[Part | WatchedNode]") -> bool:
        """Show the members of a part in its place, if they fit."""
        least = sum(any(v.requires_grad for v in _values(member)) for member in members)
        if _boxes_of(self.groups) - 1 + least > self._most:
            return False
        place = self._shown.index(part)
        shown = [*self._shown[:place], *members, *self._shown[place + 1 :]]
        groups = self._grouped(shown)
        if _boxes_of(groups) > self._most or self._length(groups) > max(LONGEST, self._most // 3):
            return False
        self._shown, self.groups = shown, groups
        return True

    # --- groups of what is shown ------------------------------------------------------------------

    def _grouped(self, shown: Iterable[Part | WatchedNode]) -> Groups:
        own: Groups = {value: part for part in shown for value in _values(part)}
        groups = without_cycles(self._inner, own)
        readers = self._readers(groups)
        for value in self._values:
            if value not in self._inside:
                keys = list(readers[value])
                is_in = len(keys) == 1 and not value.parents and _is_compound(keys[0])
                few = keys if len(keys) <= FEW else ()
                groups[value] = keys[0] if is_in else Given(frozenset(few))
        return groups

    def _readers(self, groups: Groups) -> dict[WatchedNode, dict[Hashable, None]]:
        """Return the groups that read each value."""
        readers: dict[WatchedNode, dict[Hashable, None]] = defaultdict(dict)
        for value in self._inner:
            for parent in value.parents:
                readers[parent][groups[value]] = None
        return readers

    def _length(self, groups: Groups) -> int:
        """Return how many groups of operations the longest way goes through."""
        parents = group_parents(self._inner, {value: groups[value] for value in self._inner})
        lengths: dict[Hashable, int] = {}
        for key in ordered(parents):
            lengths[key] = 1 + max((lengths[parent] for parent in parents[key]), default=0)
        return max(lengths.values())


def _boxes_of(groups: Groups) -> int:
    return len(set(groups.values()))


def _is_compound(key: Hashable) -> bool:
    return isinstance(key, Part | Fragment)


# --- groups as a graph --------------------------------------------------------------------------


def group_parents(
    values: Iterable[WatchedNode], groups: Mapping[WatchedNode, Key]
) -> dict[Key, dict[Key, None]]:
    """Return the groups, each with those that it reads."""
    parents: dict[Key, dict[Key, None]] = {}
    for value in values:
        own = groups[value]
        read = parents.setdefault(own, {})
        for parent in value.parents:
            if parent in groups and groups[parent] != own:
                read[groups[parent]] = None
    return parents


def without_cycles(values: Sequence[WatchedNode], groups: Groups) -> Groups:
    """Split groups that need one another, so that none needs itself.

    In a cycle of groups a value counts how often a way to it goes from one group to another. Values
    of a group with different counts are pieces of it, and from piece to piece the counts grow.
    """
    read = group_parents(values, groups)
    before = {key: set(reached(key, read.__getitem__)) for key in read}
    counts: dict[WatchedNode, int] = {}
    for value in values:
        own = groups[value]
        near = [p for p in value.parents if p in groups and own in before[groups[p]]]
        counts[value] = max((counts[p] + (groups[p] != own) for p in near), default=0)
    several: dict[Hashable, dict[int, None]] = defaultdict(dict)
    for value, count in counts.items():
        several[groups[value]][count] = None
    return {
        value: Fragment(own, sorted(several[own]).index(counts[value]) + 1)
        if len(several[own]) > 1
        else own
        for value, own in groups.items()
    }


def ordered(parents: Mapping[Key, Iterable[Key]]) -> list[Key]:
    """Sort groups so that each comes after those it reads, and else in their own order."""
    place = {key: i for i, key in enumerate(parents)}
    sorter = TopologicalSorter(parents)
    sorter.prepare()
    ready: list[Key] = []
    order: list[Key] = []
    while sorter.is_active():
        ready = sorted([*ready, *sorter.get_ready()], key=place.__getitem__)
        order.append(ready.pop(0))
        sorter.done(order[-1])
    return order
