"""The steps of a player: what each one says, marks and changes in the drawing."""

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from chaingrad.draw.dot import printable
from chaingrad.draw.items import Item
from chaingrad.draw.words import digits, one_line, unwrapped
from chaingrad.rules import UNKNOWN, facts_of
from chaingrad.step.watch import Event, Message, Written

MOST_ENTRIES = 6  # rows and columns that are shown of a matrix
LONGEST_NAME = 24  # characters, in a sentence
LONGEST_LIST = 24  # names, in a sentence
LONGEST_SUM = 8  # terms
FORWARD, SORT, BACKWARD = "Forward", "Sort", "Backward"

Change = tuple[str, str, str]  # node, slot, text; slots: data, grad, number, and the node's state
Entries = tuple[str, str]  # what they are, in HTML, and the numbers


@dataclass(frozen=True)
class Step:
    """One step; ``edge`` is the parent, the child, which of their edges, and what it carries."""

    phase: str
    words: str
    nodes: tuple[str, ...] = ()
    edge: tuple[str, str, int, str, str] | None = None
    changes: tuple[Change, ...] = ()
    entries: tuple[Entries, ...] = ()
    accumulates: int = 0  # more, the more it tells: 1 at any node, 2 at a leaf, 3 onto a stale one


# --- words --------------------------------------------------------------------------------------


def amount(value: Any) -> str:
    """A number by four digits with a minus sign, an array by its shape."""
    value = unwrapped(value)
    if np.ndim(value) == 0:
        return digits(float(value)).replace("-", "−")
    return (
        f"({' × '.join(map(str, np.shape(value)))})"
        if np.ndim(value) > 1
        else (f"({np.shape(value)[0]},)")
    )


def _is_number(value: Any) -> bool:
    return np.ndim(unwrapped(value)) == 0


def entries_of(value: Any) -> str:
    """The entries of an array, a row to a line, and dots for those beyond the first few."""
    array = np.asarray(unwrapped(value))
    rows = array.reshape(-1, array.shape[-1]) if array.ndim else array.reshape(1, 1)
    shown = [
        "  ".join(f"{digits(float(x)).replace('-', '−'):>9}" for x in row[:MOST_ENTRIES])
        + ("  …" if row.size > MOST_ENTRIES else "")
        for row in rows[:MOST_ENTRIES]
    ]
    return "\n".join([*shown, *(["        …"] if len(rows) > MOST_ENTRIES else [])])


def is_bare(item: Item) -> bool:
    """Whether an item is a number that stands for itself."""
    return item.kind == "constant" and not item.label and _is_number(item.node.data)


def plain(words: str) -> str:
    """Words without their markup: a subscript as _1, a power as ^2."""
    words = re.sub(r"<su([bp])>(.*?)</su[bp]>", lambda m: "_^"[m[1] == "p"] + m[2], words)
    return html.unescape(re.sub(r"<[^>]*>", "", words))


class Names:
    """What the words call each node: its label, Wᵀ for a transpose, or v with its number."""

    def __init__(self, items: Sequence[Item], foreign: bool = False) -> None:
        self.foreign = foreign  # another engine's, whose numbers may be wrong
        self._items = {item.id: item for item in items}
        self._by_node = {id(item.node): item for item in items}
        self.top = self.html(items[-1])

    def item(self, node: Any) -> Item:
        """The item of a node."""
        return self._by_node[id(node)]

    def parents(self, item: Item) -> list[Item]:
        """The operands, in order."""
        return [self._items[parent] for parent in item.parents]

    def whole(self, item: Item) -> str:
        """The name as plain text on one line, however long."""
        label = one_line(str(item.label))
        if not label and item.op == "transpose":
            return self.whole(self.parents(item)[0]) + "ᵀ"
        return amount(item.node.data) if is_bare(item) else label or "v" + item.id[1:]

    def text(self, item: Item) -> str:
        """The name as plain text, short enough for a sentence."""
        name = self.whole(item)
        return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1].rstrip() + "…"

    def in_full(self, items: Iterable[Item]) -> tuple[Entries, ...]:
        """The labels of those items whose names do not show all of theirs."""
        labels = [(item, str(item.label or "")) for item in items]
        return tuple(
            (f"{self.html(item)} in full", "\n".join(map(printable, label.splitlines())))
            for item, label in labels
            if self.text(item) != label and one_line(label)
        )

    def html(self, item: Item) -> str:
        """The name as HTML, with a number at its end as a subscript."""
        base, number, rest = re.fullmatch(r"(.*?)(\d*)(ᵀ*)", self.text(item), re.S).groups()  # type: ignore[union-attr]
        if re.fullmatch(r"[^\W\d_]_?", base) and number:
            return f"<i>{html.escape(base.rstrip('_'))}</i><sub>{number}</sub>{rest}"
        text = html.escape(base + number)
        if any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in base):
            text = f"<bdi>{text}</bdi>"  # or the formula around it would be read backwards
        return (f"<i>{text}</i>" if re.fullmatch(r"[^\W\d_]", text) else text) + rest

    def by_id(self, id: str) -> Item:
        """The item with an id."""
        return self._items[id]

    def adjoint(self, item: Item) -> str:
        """∂ℓ/∂x, or what another engine takes for it, in the colour of global gradients."""
        if self.foreign:
            return f'<span class="g">{self.html(item)}.grad</span>'
        return self.derivative(item)

    def derivative(self, item: Item) -> str:
        """∂ℓ/∂x, in the colour of global gradients."""
        return f'<span class="g">∂{self.top}/∂{self.html(item)}</span>'

    def local(self, child: Item, parent: Item) -> str:
        """∂z/∂x, in the colour of local gradients."""
        return f'<span class="l">∂{self.html(child)}/∂{self.html(parent)}</span>'


def formula(item: Item, names: Sequence[str], scalars: bool = True) -> str:
    """The operation of a node as a formula in its operands."""
    options = getattr(getattr(item.node, "_rule", None), "options", {})
    more = [
        f"{key} = {_option(x)}" for key, x in options.items() if x is not None and x is not False
    ]
    written = facts_of(item.op).formula
    if written and not more and f"{{{len(names)}" not in written:
        text = written.format(*map(_Operand, names))
        return text.replace("⊙", "×") if scalars else text
    return f"{html.escape(item.op)}({', '.join([*names, *more])})"


class _Operand(str):
    """An operand in a formula, in brackets where it needs them; see `chaingrad.rules.Facts`."""

    def __format__(self, place: str) -> str:
        if place == "e":
            return self.removesuffix(".0")
        return _base(self) if place == "b" else _negative(self) if place == "f" else str(self)


def _base(text: str) -> str:
    """What a power is taken of; W⁽¹⁾ and Xᵀ have something up there already."""
    return f"({text})" if re.search("^−|[⁰-ⁿᵀ]$", text) else text


def _option(value: Any) -> str:
    text = f"array of shape {np.shape(value)}" if np.ndim(value) else str(value)
    return html.escape(text if len(text) <= 24 else text[:23] + "…")


def _array_share(message: Message, child: Item, names: Names) -> str:
    """The formula of a share between arrays; a rule from elsewhere has none."""
    g = names.adjoint(child)
    rule = getattr(message.child, "_rule", None)
    facts = rule.facts if rule else UNKNOWN
    known = "".join(facts.shares[message.position : message.position + 1])
    if rule and rule.vjps and rule.vjps[message.position] is None:
        sizes = [np.size(unwrapped(x)) for x in (message.above, message.share)]
        return g if sizes[0] <= sizes[1] else f"{g}, summed over its copies"
    if known:
        operands = [names.html(parent) for parent in names.parents(child)]
        local = {"a": operands[0], "b": operands[-1], "y": names.html(child), "1": "1"}
        local["1/n"] = (
            f"1/{np.size(unwrapped(message.parent)) // np.size(unwrapped(message.child))}"
        )
        local["p"] = _slope_of_power(child, names)
        written = {key: f'<span class="l">{name}</span>' for key, name in local.items()} | {"g": g}
        text = re.sub(r"\{([^{}]+)\}", lambda m: written[m[1]], known.replace(">", "&gt;"))
        return text.replace("ᵀ</span>ᵀ", "</span>")
    return f"{g} · {names.local(child, names.item(message.parent))}"


def _slope_of_power(child: Item, names: Names) -> str:
    """The derivative of a power with respect to its base: 2 x of x²."""
    base, *exponents = names.parents(child)
    if not (exponents and exponents[0].kind == "constant" and _is_number(exponents[0].node.data)):
        return names.local(child, base)
    power = float(unwrapped(exponents[0].node))
    above, below = (f"{_Operand(amount(x)):e}" for x in (power, power - 1))
    name = names.html(base)
    return f"{above} {name}" if power == 2 else f"{above} {_base(name)}<sup>{below}</sup>"


# --- steps --------------------------------------------------------------------------------------


def forward_steps(items: Sequence[Item], names: Names) -> list[Step]:
    """The leaves at once, and then each operation in the order of creation."""
    leaves = [item for item in items if item.is_leaf]
    told = [item for item in leaves if names.text(item) != amount(item.node.data)]
    words = ", ".join(f"{names.html(i)} = {_shaped(i.node.data)}" for i in told[:8])
    more = f" and {len(told) - 8} more" if len(told) > 8 else ""
    steps = [
        Step(
            FORWARD,
            f"Leaves have their values: {words}{more}." if told else "Leaves have their values.",
            tuple(item.id for item in leaves),
            changes=tuple(_computed(item) for item in leaves),
            entries=tuple(
                _named_entries(names.html(i), i.node.data)
                for i in told[:8]
                if not _is_number(i.node.data)
            )
            + names.in_full(leaves),
        )
    ]
    return steps + [_forward(item, names) for item in items if not item.is_leaf]


def _shaped(value: Any) -> str:
    return amount(value) if _is_number(value) else f"array {amount(value)}"


def _computed(item: Item) -> Change:
    return (item.id, "data", data_text(item))


def data_text(item: Item) -> str:
    """What the box of a node says of its value."""
    value = amount(item.node.data)
    return value if is_bare(item) else f"data {value}"


def _named_entries(name: str, value: Any) -> Entries:
    return (f"{name} {amount(value)}", entries_of(value))


def _forward(item: Item, names: Names) -> Step:
    parents = names.parents(item)
    scalars = all(_is_number(i.node.data) for i in [item, *parents])
    either = any(_is_number(parent.node.data) for parent in parents)
    name = names.html(item)
    text = formula(item, [names.html(parent) for parent in parents], either)
    words = f"<b>{name}</b> = {text}" if text != name else f"<b>{text}</b>"
    if item.op == "pow" and not scalars:
        words += " entry by entry"
    if scalars:
        numbers = [amount(parent.node.data) for parent in parents]
        words += f" = {formula(item, numbers)} = <b>{amount(item.node.data)}</b>"
    elif _is_number(item.node.data):
        words += f" = <b>{amount(item.node.data)}</b>"
    else:
        words += f", of shape <b>{amount(item.node.data)}</b>"
    shown = [i for i in [*parents, item] if not _is_number(i.node.data)]
    unique = {i.id: i for i in shown}.values()
    return Step(
        FORWARD,
        words,
        (item.id,),
        changes=(_computed(item), (item.id, "state", "")),
        entries=tuple(_named_entries(names.html(i), i.node.data) for i in unique)
        + names.in_full({i.id: i for i in [*parents, item]}.values()),
    )


def sort_steps(
    events: Sequence[tuple[str, Any]], item_of: Callable[[Any], Item], names: Names
) -> list[Step]:
    """The visits and pushes of a depth-first search; the list fills from its back."""
    sorted_ids = {item_of(node).id for event, node in events if event == "push"}
    length = len(sorted_ids)
    steps = []
    pushed: list[str] = []
    path: list[str] = []
    for event, node in events:
        item = item_of(node)
        name = names.html(item)
        entries = names.in_full([item])
        if event == "visit":
            came = f"a parent of {path[-1]}" if path else "the root"
            path.append(name)
            words = f"Visit <b>{name}</b>, {came}."
            changes: tuple[Change, ...] = ((item.id, "state", "visited"), (item.id, "number", "…"))
        else:
            path.pop()
            pushed.append(name)
            place = length + 1 - len(pushed)
            words = f"Push <b>{name}</b>: {_ready(item, sorted_ids)}. {_ending(pushed, length)}"
            known = ", ".join(map(plain, reversed(pushed)))
            entries += (("The sorted list", known if len(pushed) == length else f"…, {known}"),)
            changes = ((item.id, "state", "pushed"), (item.id, "number", f"#{place}"))
        steps.append(Step(SORT, words, (item.id,), changes=changes, entries=entries))
    return steps


def _ready(item: Item, sorted_ids: Set[str]) -> str:
    if not item.parents:
        return "it has no parents"
    if sorted_ids.isdisjoint(item.parents):
        return "its parents are leaves, which send nothing and are not sorted"
    return "its parents are done"


def _ending(pushed: Sequence[str], length: int) -> str:
    most = LONGEST_LIST if len(pushed) == length else 6
    shown = [*reversed(pushed)][:most] + ["…"] * (len(pushed) > most)
    if len(pushed) == length:
        return f"Sorted list: [{', '.join(shown)}]"
    return f"End of the sorted list: […, {', '.join(shown)}]"


def backward_steps(
    events: Sequence[Event], names: Names, truth: Mapping[str, Any] | None = None
) -> list[Step]:
    """The root's gradient, and then each message in the order in which it was sent.

    Args:
        events: what happened.
        names: of the nodes.
        truth: of another engine or order, the right gradient of each leaf for a seed of 1, by id.
    """
    edges = {
        (id(event.parent), id(event.child), event.position)
        for event in events
        if isinstance(event, Message)
    }
    uses = Counter(parent for parent, *_ in edges)
    came: Counter[int] = Counter()
    sums: dict[int, list[str]] = {}
    steps = []
    for event in events:
        if isinstance(event, Written):
            steps.append(_written(event, names))
            sums.pop(id(event.node), None)
            if names.item(event.node).is_root and np.any(event.value):  # a pass begins
                came.clear()
            continue
        came[id(event.parent)] += 1
        counts = (came[id(event.parent)], uses[id(event.parent)])
        sender = (came[id(event.child)], uses[id(event.child)])
        terms = sums.setdefault(id(event.parent), [])
        steps.append(_message(event, names, counts, sender, terms))
    return [*steps, _outcome(events, names, truth or {})]


def _outcome(events: Sequence[Event], names: Names, truth: Mapping[str, Any]) -> Step:
    """The gradients that the leaves end with, and those that they should have."""
    ends = [(e.parent, e.total) if isinstance(e, Message) else (e.node, e.value) for e in events]
    leaves = {id(node): (names.item(node), value) for node, value in ends}
    found = [(item, value) for item, value in leaves.values() if item.is_leaf]
    told = [f"{names.adjoint(item)} = {_now(value)}" for item, value in found[:12]]
    more = f" and {len(found) - 12} more" if len(found) > 12 else ""
    arrays = [(item, value) for item, value in found[:12] if not _is_number(value)]
    start = "The leaves end with" if names.foreign else "The leaves have their gradients:"
    entries = tuple(_named_entries(names.adjoint(item), value) for item, value in arrays)
    words = f"{start} {', '.join(told)}{more}."
    ours = {item.id: value for item, value in found}
    due = _due(events, names, truth)
    right = {id: x for id, x in due.items() if not _close(ours.get(id, 0.0), x)}
    if right:
        items = [names.by_id(id) for id in right]
        rights = [f"{names.derivative(i)} = {_now(right[i.id])}" for i in items[:6]]
        words += (
            f" <b>Wrong</b>: one message along each edge, in topological order, gives "
            f"{', '.join(rights)}."
        )
        entries += tuple(
            _named_entries(f"{names.derivative(i)}, right", right[i.id])
            for i in items[:6]
            if not _is_number(right[i.id])
        )
    return Step(
        BACKWARD,
        words,
        tuple(item.id for item, _ in found),
        entries=entries + names.in_full(item for item, _ in found),
    )


def _close(found: Any, right: Any) -> bool:
    found, right = unwrapped(found), unwrapped(right)
    return np.ndim(found) <= np.ndim(right) and np.allclose(
        found, right, rtol=1e-5, atol=1e-12, equal_nan=True
    )


def _due(events: Sequence[Event], names: Names, truth: Mapping[str, Any]) -> dict[str, Any]:
    """What each leaf should end with: its gradient, for each pass since it was last reset."""
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


def _written(event: Written, names: Names) -> Step:
    item = names.item(event.node)
    seed = item.is_root and np.any(event.value)
    start = "The backward pass starts at the root: " if seed else "Set by the code, not sent: "
    return Step(
        BACKWARD,
        f"{start}{names.adjoint(item)} = <b>{amount(event.value)}</b>",
        (item.id,),
        changes=((item.id, "grad", f"grad {amount(event.value)}"),),
    )


def _message(
    message: Message,
    names: Names,
    counts: tuple[int, int],
    sender: tuple[int, int],
    terms: list[str],
) -> Step:
    """One message; how many its receiver and its sender have of all of theirs, and their sum."""
    child, parent = names.item(message.child), names.item(message.parent)
    known = (
        message.known if message.known is not None and np.any(unwrapped(message.known)) else None
    )
    adds = known is None or np.allclose(
        unwrapped(known + message.share), unwrapped(message.total), equal_nan=True
    )
    share = _number_share(message, child, parent, names)
    label = ("", "")
    entries: tuple[Entries, ...] = ()
    if share:
        label = (amount(message.above), amount(message.local))
        term = f"{_negative(label[0])} × {_negative(label[1])}"
    else:
        share = _array_share(message, child, names)
        entries = _message_entries(message, child, parent, names)
        term = plain(share) if not _is_number(message.total) else amount(message.share)
    count, uses = counts
    words = f"{names.adjoint(parent)} {'+=' if adds else '='} {share}, now {_now(message.total)}"
    stale = known is not None and count == 1
    if known is not None:
        words += _accumulation(known, message.share, adds)
    if stale and adds:
        words += ", where the first was left by an earlier pass"
        terms[:] = [f"{amount(known)} left by an earlier pass"]
    if count > uses:
        words += f" <small>(message {count} to {names.html(parent)}, over {uses} edges)</small>"
    elif uses > 1:
        words += f" <small>(message {count} of {uses} to {names.html(parent)})</small>"
    if names.foreign and sender[0] < sender[1]:
        words += (
            f" <b>Too early</b>: {names.html(child)} has {sender[0]} of its {sender[1]} messages."
        )
    if not adds:
        terms.clear()
    terms.append(term)
    return Step(
        BACKWARD,
        words,
        (parent.id, child.id),
        (parent.id, child.id, child.parents[: message.position].count(parent.id), *label),
        ((parent.id, "grad", f"grad {amount(message.total)}"),),
        (
            (f"The sum at {names.html(parent)}", _sum(terms, message.total, uses - count)),
            *entries,
            *names.in_full([child, parent]),
        ),
        0 if known is None else 3 if stale else 2 if parent.is_leaf else 1,
    )


def _sum(terms: Sequence[str], total: Any, missing: int) -> str:
    """What a node was sent, and what it will be: 2.0 × 3.0 + 1.0 × 4.0 = 10.0."""
    shown = ["…"] * (len(terms) > LONGEST_SUM) + list(terms[-LONGEST_SUM:])
    left = f", and {missing} more to come" if missing > 0 else ""
    return f"{' + '.join(shown)} = {plain(_now(total))}{left}"


def _number_share(message: Message, child: Item, parent: Item, names: Names) -> str:
    if message.local is None:
        return ""
    above, local = (_negative(amount(x)) for x in (message.above, message.local))
    return (
        f"{names.adjoint(child)} · {names.local(child, parent)} = "
        f'<span class="g">{above}</span> × <span class="l">{local}</span> = {amount(message.share)}'
    )


def _now(total: Any) -> str:
    if _is_number(total):
        return f"<b>{amount(total)}</b>"
    norm = float(np.linalg.norm(np.asarray(unwrapped(total), float)))
    return f"<b>{amount(total)}</b> of norm {amount(norm)}"


def _accumulation(known: Any, share: Any, adds: bool) -> str:
    if not _is_number(known):
        return ", added to what was there" if adds else ": what was there is lost"
    if adds:
        return f" = {amount(known)} + {_negative(amount(share))}"
    return f": the {amount(known)} that was there is lost"


def _message_entries(
    message: Message, child: Item, parent: Item, names: Names
) -> tuple[Entries, ...]:
    shown = [
        (names.adjoint(child), message.above),
        ("what is sent", message.share),
        (f"{names.adjoint(parent)} now", message.total),
    ]
    return tuple(_named_entries(name, x) for name, x in shown if not _is_number(x))


def _negative(text: str) -> str:
    return f"({text})" if text.startswith("−") else text
