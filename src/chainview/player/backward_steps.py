"""The steps of the backward pass: each message, its sum, and what the leaves end with."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from chaingrad.messages import Message
from chainview.player.formula import in_brackets, share
from chainview.player.names import (
    EntryTable,
    NodeNames,
    amount,
    is_number,
    is_summary,
    named_entries,
    plain,
    sum_text,
)
from chainview.player.steps import BACKWARD, Step
from chainview.player.watch import Event, Written, written_by
from chainview.read.items import Item
from chainview.read.words import listed, unwrapped

LONGEST_SUM = 8  # terms
MOST_LEAVES, MOST_WRONG = 12, 6  # gradients, in a sentence


def backward_steps(
    events: Sequence[Event], names: NodeNames, truth: Mapping[str, Any] | None = None
) -> list[Step]:
    """Return a step for the root's gradient, then one for each message in the order sent.

    Args:
        events: what happened.
        names: of the nodes.
        truth: of another engine or order, the right gradient of each leaf for a seed of 1, by id.
    """
    mail = _MessageSteps(events, names)
    steps = [mail.written(e) if isinstance(e, Written) else mail.sent(e) for e in events]
    return [*steps, _outcome(events, names, truth or {})]


class _MessageSteps:
    """Which messages have come, of all that come along edges, and what they add up to."""

    def __init__(self, events: Sequence[Event], names: NodeNames) -> None:
        sent = [event for event in events if isinstance(event, Message)]
        edges = {(id(m.parent), id(m.child), m.position) for m in sent}
        self._names = names
        self._uses = Counter(parent for parent, *_ in edges)
        self._came = Counter[int]()
        self._sums: dict[int, list[str]] = {}

    def written(self, event: Written) -> Step:
        item = self._names.item(event.node)
        self._sums.pop(id(event.node), None)
        seed = item.is_root and np.any(event.value)
        if seed:  # a pass begins
            self._came.clear()
        start = "The backward pass starts at the root: " if seed else "Set by the code, not sent: "
        return Step(
            BACKWARD,
            f"{start}{self._names.adjoint(item)} = <b>{amount(event.value)}</b>",
            (item.id,),
            changes=((item.id, "grad", f"grad {amount(event.value)}"),),
        )

    def sent(self, message: Message) -> Step:
        self._came[id(message.parent)] += 1
        to, by = self._counts(message.parent), self._counts(message.child)
        arrival = _Arrival(message, self._names, *to, *by)
        terms = self._sums.setdefault(id(message.parent), [])
        _add(terms, arrival)
        return _message(arrival, terms)

    def _counts(self, node: Any) -> tuple[int, int]:
        return self._came[id(node)], self._uses[id(node)]


@dataclass(frozen=True)
class _Arrival:
    """A message, and how many its receiver and its sender have by then, of how many edges."""

    message: Message
    names: NodeNames
    count: int
    uses: int
    sender_count: int
    sender_uses: int

    @cached_property
    def child(self) -> Item:
        return self.names.item(self.message.child)

    @cached_property
    def parent(self) -> Item:
        return self.names.item(self.message.parent)

    @cached_property
    def share(self) -> str:
        return share(self.message, self.names)

    @cached_property
    def known(self) -> Any:
        """What was there; None if that was nothing, or zero."""
        known = self.message.known
        return known if known is not None and np.any(unwrapped(known)) else None

    @cached_property
    def adds(self) -> bool:
        """Whether the share was added to what was there."""
        if self.known is None or not self.names.foreign:
            return True
        sum = unwrapped(self.known + self.message.share)
        return np.allclose(sum, unwrapped(self.message.total), equal_nan=True)

    @property
    def addition(self) -> tuple[str, str]:
        """What stands in the receiver's box before, and while the share is added to it."""
        if self.known is None:
            return "", ""
        can_show = self.adds and is_number(self.known)
        adding = sum_text(self.known, self.message.share) if can_show else ""
        return f"grad {amount(self.known)}", adding

    @property
    def is_onto_old(self) -> bool:
        """Whether what was there was left by an earlier pass."""
        return self.known is not None and self.count == 1


# --- what we say of a message -------------------------------------------------------------------


def _equation(it: _Arrival) -> str:
    sign = "+=" if it.adds else "="
    return f"{it.names.adjoint(it.parent)} {sign} {it.share}, now {_now(it.message.total)}"


def _accumulation(it: _Arrival) -> str:
    if it.known is None:
        return ""
    number = amount(it.known) if is_number(it.known) else ""
    if not it.adds:
        return f": the {number} that was there is lost" if number else ": what was there is lost"
    share = in_brackets(amount(it.message.share))
    added = f" = {number} + {share}" if number else ", added to what was there"
    return added + ", where the first was left by an earlier pass" * it.is_onto_old


def _message_count(it: _Arrival) -> str:
    name = it.names.html(it.parent)
    if it.count > it.uses:
        return f" <small>(message {it.count} to {name}, over {it.uses} edges)</small>"
    many = it.uses > 1
    return f" <small>(message {it.count} of {it.uses} to {name})</small>" if many else ""


def _too_early(it: _Arrival) -> str:
    if not it.names.foreign or it.sender_count >= it.sender_uses:
        return ""
    has = f"{it.names.html(it.child)} has {it.sender_count} of its {it.sender_uses} messages"
    return f" <b>Too early</b>: {has}."


def _message(it: _Arrival, terms: Sequence[str]) -> Step:
    message, child, parent = it.message, it.child, it.parent
    known = message.local is not None
    carries = (amount(message.above), amount(message.local)) if known else ("", "")
    return Step(
        BACKWARD,
        f"{_equation(it)}{_accumulation(it)}{_message_count(it)}{_too_early(it)}",
        (parent.id, child.id),
        (parent.id, child.id, child.edge_number(message.position), *carries, it.addition),
        ((parent.id, "grad", f"grad {amount(message.total)}"),),
        (
            (f"The sum at {it.names.html(parent)}", _sum(terms, it)),
            *_entries(it),
            *it.names.full_labels([child, parent]),
        ),
        0 if it.known is None else 3 if it.is_onto_old else 2 if parent.is_leaf else 1,
    )


def _now(total: Any) -> str:
    if is_number(total):
        return f"<b>{amount(total)}</b>"
    summed_up = is_summary(total)
    norm = total.norm if summed_up else np.linalg.norm(np.asarray(unwrapped(total)))
    return f"<b>{amount(total)}</b> of norm {amount(float(norm))}"


def _entries(it: _Arrival) -> tuple[EntryTable, ...]:
    if it.message.local is not None:
        return ()
    names, message = it.names, it.message
    return named_entries([
        (names.adjoint(it.child), message.above),
        ("what is sent", message.share),
        (f"{names.adjoint(it.parent)} now", message.total),
    ])  # fmt: skip


def _add(terms: list[str], it: _Arrival) -> None:
    """Add a message to the terms of the sum at its receiver."""
    message = it.message
    if not it.adds:
        terms.clear()
    elif it.is_onto_old:
        terms[:] = [f"{amount(it.known)} left by an earlier pass"]
    if message.local is not None:
        terms.append(f"{in_brackets(amount(message.above))} × {in_brackets(amount(message.local))}")
    else:
        terms.append(amount(message.share) if is_number(message.total) else plain(it.share))


def _sum(terms: Sequence[str], it: _Arrival) -> str:
    """Write what a node was sent, and what it will be: 2.0 × 3.0 + 1.0 × 4.0 = 10.0."""
    shown = ["…"] * (len(terms) > LONGEST_SUM) + list(terms[-LONGEST_SUM:])
    missing = it.uses - it.count
    left = f", and {missing} more to come" if missing > 0 else ""
    return f"{' + '.join(shown)} = {plain(_now(it.message.total))}{left}"


# --- what the leaves end with -------------------------------------------------------------------


def _outcome(events: Sequence[Event], names: NodeNames, truth: Mapping[str, Any]) -> Step:
    """Compare the gradients that the leaves end with to the ones they should have."""
    ends = {id(node): (names.item(node), value) for node, value in map(written_by, events)}
    found = [(item, value) for item, value in ends.values() if item.is_leaf]
    due = _expected_gradients(events, names, truth)
    ours = dict.fromkeys(due, 0.0) | {item.id: value for item, value in found}
    wrong = [(names.item_by_id(id), x) for id, x in due.items() if not is_close(ours[id], x)][
        :MOST_WRONG
    ]
    told = [f"{names.adjoint(item)} = {_now(value)}" for item, value in found]
    right = [f"{names.derivative(item)} = {_now(value)}" for item, value in wrong]
    start = "The leaves end with" if names.foreign else "The leaves have their gradients:"
    verdict = " <b>Wrong</b>: one message along each edge, in topological order, gives "
    return Step(
        BACKWARD,
        f"{start} {listed(told, MOST_LEAVES)}." + (verdict + ", ".join(right) + ".") * bool(right),
        tuple(item.id for item, _ in found),
        entries=(
            *named_entries((names.adjoint(item), value) for item, value in found[:MOST_LEAVES]),
            *named_entries((f"{names.derivative(item)}, right", value) for item, value in wrong),
            *names.full_labels(item for item, _ in found),
        ),
    )


def is_close(found: Any, right: Any) -> bool:
    """Return whether a number or array is the right one, up to rounding."""
    found, right = unwrapped(found), unwrapped(right)
    return np.ndim(found) <= np.ndim(right) and np.allclose(
        found, right, rtol=1e-5, atol=1e-12, equal_nan=True
    )


def _expected_gradients(
    events: Sequence[Event], names: NodeNames, truth: Mapping[str, Any]
) -> dict[str, Any]:
    """Return each leaf's due: its gradient, once for each pass since it was last reset."""
    seeds = 0.0
    reset: dict[str, float] = {}
    for event in events:
        if isinstance(event, Written):
            item = names.item(event.node)
            if item.is_root and np.any(event.value):
                again = np.array_equal(event.known, event.value)
                seeds += float(unwrapped(event.value if again else event.value - event.known))
            elif item.is_leaf and not np.any(event.value):
                reset[item.id] = seeds
    if not seeds:
        return {}
    return {id: (seeds - reset.get(id, 0.0)) * gradient for id, gradient in truth.items()}
