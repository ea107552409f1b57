"""What an engine does while it sorts and differentiates a graph.

The engine of `chaingrad` says so itself, in `chaingrad.messages.messages`. Nodes of another engine
are watched through their attribute ``grad``: for the time of a run each write to it is noted. Every
gradient and class is put back, also when the run fails.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chaingrad.graph import toposort
from chaingrad.messages import Message, messages


@dataclass(frozen=True)
class Written:
    """A gradient that was set, and not sent: the root's 1, or a reset to 0."""

    node: Any
    value: Any
    known: Any = 0.0  # what it had before


Event = Message | Written


def written_by(event: Event) -> tuple[Any, Any]:
    """Return the node that an event wrote to, and the gradient that the node then had."""
    if isinstance(event, Message):
        return event.parent, event.total
    return event.node, event.value


def sort_events(root: Any) -> list[tuple[str, Any]]:
    """Return the visits and pushes of the engine's sort, which takes the last operand first.

    Only nodes with a rule take part: leaves send nothing, so the engine need not sort them.
    """
    events: list[tuple[str, Any]] = []

    def senders(node: Any) -> list[Any]:
        return [parent for parent in reversed(node.parents) if parent.rule is not None]

    toposort(root, senders, trace=lambda event, node: events.append((event, node)))
    return events


def backward_events(root: Any) -> list[Event]:
    """Return the seed and the messages of the engine's backward pass from ``root``."""
    return [Written(root, root.seed()), *messages(root)]


# --- other engines ------------------------------------------------------------------------------


def foreign_events(
    nodes: Sequence[Any],
    run: Callable[[], object],
    local_gradient: Callable[[Any, int], Any] | None = None,
) -> list[Event]:
    """Run another engine's backward pass, from gradients of 0.0, and record how it fills ``grad``.

    Who sent a share? The engine has just read the gradient of the sender, a child of the node that
    it writes to.
    """
    watch = _GradWatch(nodes, local_gradient)
    kinds = [type(node) for node in nodes]
    before = [node.grad for node in nodes]
    watched = {kind: _watching_class(kind, watch) for kind in set(kinds)}
    try:
        for node, kind in zip(nodes, kinds, strict=True):
            node.grad = 0.0
            # The pass goes through these very nodes, which closures hold: no copy would be asked.
            node.__class__ = watched[kind]
        run()
    finally:
        for node, kind, grad in zip(nodes, kinds, before, strict=True):
            node.__class__ = kind
            node.grad = grad
    return watch.events


class _GradWatch:
    def __init__(
        self, nodes: Sequence[Any], local_gradient: Callable[[Any, int], Any] | None
    ) -> None:
        self.events: list[Event] = []
        self._root = nodes[-1]
        self._local_gradient = local_gradient
        self._asking = False
        self._last_read: list[Any] = []
        self._sent: dict[tuple[int, int], int] = {}

    def read(self, node: Any) -> None:
        if not self._asking:
            self._last_read = [*self._last_read[-1:], node]

    def write(self, node: Any, known: Any, total: Any) -> None:
        if self._asking:
            return
        senders = [
            child
            for child in reversed(self._last_read)
            if any(parent is node for parent in child.parents)
        ]
        self._last_read = []
        if senders:
            self._send(senders[0], node, known, total)
        elif not np.array_equal(known, total) or (node is self._root and np.any(total)):
            self.events.append(Written(node, total, known))

    def _send(self, child: Any, parent: Any, known: Any, total: Any) -> None:
        places = [i for i, operand in enumerate(child.parents) if operand is parent]
        turn = self._sent.get((id(child), id(parent)), 0)
        self._sent[id(child), id(parent)] = turn + 1
        position = places[turn % len(places)]
        self._asking = True
        try:
            above = child.grad
            local = self._local_gradient(child, position) if self._local_gradient else None
        finally:
            self._asking = False
        share = total - known if local is None else above * local
        if not (np.allclose(known + share, total) or np.allclose(share, total)):
            share = total - known  # what the engine sent, whatever it should have been
        self.events.append(Message(child, parent, position, above, local, share, known, total))


def _watching_class(kind: type, watch: _GradWatch) -> type:
    """Return a subclass that reports each read and write of ``grad``."""
    slot: Any = getattr(kind, "grad", None)  # a descriptor, if the class has __slots__

    def get(node: Any) -> Any:
        watch.read(node)
        return slot.__get__(node) if hasattr(slot, "__get__") else vars(node)["grad"]

    def put(node: Any, value: Any) -> None:
        known = slot.__get__(node) if hasattr(slot, "__get__") else vars(node)["grad"]
        if hasattr(slot, "__set__"):
            slot.__set__(node, value)
        else:
            vars(node)["grad"] = value
        watch.write(node, known, value)

    return type(kind.__name__, (kind,), {"__slots__": (), "grad": property(get, put)})
