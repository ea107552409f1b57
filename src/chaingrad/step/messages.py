"""The steps of a player: what each one says, marks and changes in the drawing."""

import html
import re
from collections import Counter
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from chaingrad.draw.items import Item, digits
from chaingrad.rules import UNKNOWN, facts_of
from chaingrad.step.watch import Event, Message, Written

MOST_ENTRIES = 6  # rows and columns that are shown of a matrix
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
    value = _data(value)
    if np.ndim(value) == 0:
        return digits(float(value)).replace("-", "−")
    return (
        f"({' × '.join(map(str, np.shape(value)))})"
        if np.ndim(value) > 1
        else (f"({np.shape(value)[0]},)")
    )


def _data(value: Any) -> Any:
    while hasattr(value, "parents"):
        value = value.data
    return value


def _is_number(value: Any) -> bool:
    return np.ndim(_data(value)) == 0


def entries_of(value: Any) -> str:
    """The entries of an array, a row to a line, and dots for those beyond the first few."""
    array = np.asarray(_data(value))
    rows = array.reshape(-1, array.shape[-1]) if array.ndim else array.reshape(1, 1)
    shown = [
        "  ".join(f"{digits(float(x)).replace('-', '−'):>9}" for x in row[:MOST_ENTRIES])
        + ("  …" if row.size > MOST_ENTRIES else "")
        for row in rows[:MOST_ENTRIES]
    ]
    return "\n".join([*shown, *(["        …"] if len(rows) > MOST_ENTRIES else [])])


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

    def text(self, item: Item) -> str:
        """The name as plain text."""
        if not item.label and item.op == "transpose":
            return self.text(self.parents(item)[0]) + "ᵀ"
        if not item.label and item.kind == "constant" and _is_number(item.node.data):
            return amount(item.node.data)
        return item.name

    def html(self, item: Item) -> str:
        """The name as HTML, with a number at its end as a subscript."""
        base, number, rest = re.fullmatch(r"(.*?)(\d*)(ᵀ*)", self.text(item), re.S).groups()  # type: ignore[union-attr]
        if re.fullmatch(r"[^\W\d_]_?", base) and number:
            return f"<i>{html.escape(base.rstrip('_'))}</i><sub>{number}</sub>{rest}"
        text = html.escape(base + number)
        return (f"<i>{text}</i>" if re.fullmatch(r"[^\W\d_]", text) else text) + rest

    def adjoint(self, item: Item) -> str:
        """∂ℓ/∂x, or what another engine takes for it, in the colour of global gradients."""
        name = self.html(item)
        words = f"{name}.grad" if self.foreign else f"∂{self.top}/∂{name}"
        return f'<span class="g">{words}</span>'

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
        sizes = [np.size(_data(x)) for x in (message.above, message.share)]
        return g if sizes[0] <= sizes[1] else f"{g}, summed over its copies"
    if known:
        operands = [names.html(parent) for parent in names.parents(child)]
        local = {"a": operands[0], "b": operands[-1], "y": names.html(child), "1": "1"}
        local["1/n"] = f"1/{np.size(_data(message.parent)) // np.size(_data(message.child))}"
        local["p"] = _slope_of_power(child, names)
        text = known.replace(">", "&gt;")
        for letter, name in local.items():
            text = text.replace(f"{{{letter}}}", f'<span class="l">{name}</span>')
        return text.replace("ᵀ</span>ᵀ", "</span>").replace("{g}", g)
    return f"{g} · {names.local(child, names.item(message.parent))}"


def _slope_of_power(child: Item, names: Names) -> str:
    """The derivative of a power with respect to its base: 2 x of x²."""
    base, *exponents = names.parents(child)
    if not (exponents and exponents[0].kind == "constant" and _is_number(exponents[0].node.data)):
        return names.local(child, base)
    power = float(_data(exponents[0].node))
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
            ),
        )
    ]
    return steps + [_forward(item, names) for item in items if not item.is_leaf]


def _shaped(value: Any) -> str:
    return amount(value) if _is_number(value) else f"array {amount(value)}"


def _computed(item: Item) -> Change:
    return (item.id, "data", f"data {amount(item.node.data)}")


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
        entries=tuple(_named_entries(names.html(i), i.node.data) for i in unique),
    )


def sort_steps(
    events: Sequence[tuple[str, Any]], item_of: Callable[[Any], Item], name: Callable[[Item], str]
) -> list[Step]:
    """The visits and pushes of a depth-first search; the list fills from its back."""
    sorted_ids = {item_of(node).id for event, node in events if event == "push"}
    length = len(sorted_ids)
    steps = []
    pushed: list[str] = []
    path: list[str] = []
    for event, node in events:
        item = item_of(node)
        who = f"<b>{name(item)}</b>"
        if event == "visit":
            came = f"a parent of {path[-1]}" if path else "the root"
            path.append(name(item))
            words = f"Visit {who}, {came}."
            changes: tuple[Change, ...] = ((item.id, "state", "visited"), (item.id, "number", "…"))
        else:
            path.pop()
            pushed.append(name(item))
            place = length + 1 - len(pushed)
            words = f"Push {who}: {_ready(item, sorted_ids)}. {_ending(pushed, length)}"
            changes = ((item.id, "state", "pushed"), (item.id, "number", f"#{place}"))
        steps.append(Step(SORT, words, (item.id,), changes=changes))
    return steps


def _ready(item: Item, sorted_ids: Set[str]) -> str:
    if not item.parents:
        return "it has no parents"
    if sorted_ids.isdisjoint(item.parents):
        return "its parents are leaves, which send nothing and are not sorted"
    return "its parents are done"


def _ending(pushed: Sequence[str], length: int) -> str:
    shown = [*reversed(pushed)][:10] + ["…"] * (len(pushed) > 10)
    if len(pushed) == length:
        return f"Sorted list: [{', '.join(shown)}]"
    return f"End of the sorted list: […, {', '.join(shown)}]"


def backward_steps(events: Sequence[Event], names: Names) -> list[Step]:
    """The root's gradient, and then each message in the order in which it was sent."""
    edges = {
        (id(event.parent), id(event.child), event.position)
        for event in events
        if isinstance(event, Message)
    }
    uses = Counter(parent for parent, *_ in edges)
    came: dict[int, int] = {}
    steps = []
    for event in events:
        if isinstance(event, Written):
            steps.append(_written(event, names))
            if names.item(event.node).is_root and np.any(event.value):  # a pass begins
                came.clear()
            continue
        count = came[id(event.parent)] = came.get(id(event.parent), 0) + 1
        steps.append(_message(event, names, count, uses[id(event.parent)]))
    return [*steps, _outcome(events, names)]


def _outcome(events: Sequence[Event], names: Names) -> Step:
    """The gradients that the leaves end with."""
    ends = [(e.parent, e.total) if isinstance(e, Message) else (e.node, e.value) for e in events]
    leaves = {id(node): (names.item(node), value) for node, value in ends}
    found = [(item, value) for item, value in leaves.values() if item.is_leaf]
    told = [f"{names.adjoint(item)} = {_now(value)}" for item, value in found[:12]]
    more = f" and {len(found) - 12} more" if len(found) > 12 else ""
    arrays = [(item, value) for item, value in found[:12] if not _is_number(value)]
    start = "The leaves end with" if names.foreign else "The leaves have their gradients:"
    return Step(
        BACKWARD,
        f"{start} {', '.join(told)}{more}.",
        tuple(item.id for item, _ in found),
        entries=tuple(_named_entries(names.adjoint(item), value) for item, value in arrays),
    )


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


def _message(message: Message, names: Names, count: int, uses: int) -> Step:
    child, parent = names.item(message.child), names.item(message.parent)
    known = message.known if message.known is not None and np.any(_data(message.known)) else None
    adds = known is None or np.allclose(
        _data(known + message.share), _data(message.total), equal_nan=True
    )
    share = _number_share(message, child, parent, names)
    label = ("", "")
    entries: tuple[Entries, ...] = ()
    if share:
        label = (amount(message.above), amount(message.local))
    else:
        share = _array_share(message, child, names)
        entries = _message_entries(message, child, parent, names)
    words = f"{names.adjoint(parent)} {'+=' if adds else '='} {share}, now {_now(message.total)}"
    stale = known is not None and count == 1
    if known is not None:
        words += _accumulation(known, message.share, adds)
    if stale and adds:
        words += ", where the first was left by an earlier pass"
    if count > uses:
        words += f" <small>(message {count} to {names.html(parent)}, over {uses} edges)</small>"
    elif uses > 1:
        words += f" <small>(message {count} of {uses} to {names.html(parent)})</small>"
    return Step(
        BACKWARD,
        words,
        (parent.id, child.id),
        (parent.id, child.id, child.parents[: message.position].count(parent.id), *label),
        ((parent.id, "grad", f"grad {amount(message.total)}"),),
        entries,
        0 if known is None else 3 if stale else 2 if parent.is_leaf else 1,
    )


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
    norm = float(np.linalg.norm(np.asarray(_data(total), float)))
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
