"""What the words call a node, and how they write numbers and the entries of arrays."""

import html
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from chainview.read.items import Item
from chainview.read.words import digits, one_line, printable, shortened, unwrapped

MOST_ENTRIES = 6  # rows and columns that are shown of a matrix
LONGEST_NAME = 24  # characters, in a sentence

EntryTable = tuple[str, str]  # what they are, in HTML, and the numbers


def amount(value: Any) -> str:
    """Write a number by four digits with a minus sign, and an array by its shape."""
    value = unwrapped(value)
    if value is None:
        return "unknown"
    shape = np.shape(value)
    if not shape:
        text = f"{value:.4g}" if np.iscomplexobj(value) else digits(float(value))
        return text.replace("-", "−")
    return f"({shape[0]},)" if len(shape) == 1 else f"({' × '.join(map(str, shape))})"


def brief(value: float) -> str:
    """Write a number by four digits with a minus sign, and a whole one without a point.

    Zeros at the end say that it was rounded.

    >>> brief(-0.2), brief(1.50019), brief(1.0), brief(0.55), brief(19.0036)
    ('−0.2', '1.500', '1', '0.55', '19.00')
    """
    exact = f"{value + 0.0:.12g}"
    text = exact if len(exact) < 5 else f"{value:#.4g}".rstrip(".")
    return text.replace("-", "−")


def sum_text(known: Any, share: Any) -> str:
    """Write a number and what is added to it, as it stands in a box.

    >>> sum_text(2.001, 1.5), sum_text(1.0, -2.0)
    ('2.001 + 1.5', '1.0 − 2.0')
    """
    text = amount(share)
    return f"{amount(known)} − {text[1:]}" if text.startswith("−") else f"{amount(known)} + {text}"


def is_number(value: Any) -> bool:
    """Return whether a value is a number, and not an array with axes."""
    return np.ndim(unwrapped(value)) == 0


def is_summary(value: Any) -> bool:
    """Return whether we know only an array's norm, as in a large run of a framework."""
    return hasattr(value, "norm")


def entries_of(value: Any) -> str:
    """Write the entries of an array, a row to a line, and dots for those beyond the first few.

    A zero has no sign there: which sign it gets depends on the order of multiplication.
    """
    array = np.asarray(unwrapped(value))
    rows = array.reshape(-1, array.shape[-1]) if array.ndim else array.reshape(1, 1)
    shown = [
        "  ".join(f"{amount(x + 0.0):>9}" for x in row[:MOST_ENTRIES])
        + "  …" * (row.size > MOST_ENTRIES)
        for row in rows[:MOST_ENTRIES]
    ]
    return "\n".join(shown + ["        …"] * (len(rows) > MOST_ENTRIES))


def named_entries(named: Iterable[tuple[str, Any]]) -> tuple[EntryTable, ...]:
    """Return the entries of those values that are arrays, under their names and shapes."""
    return tuple(
        (f"{name} {amount(x)}", entries_of(x))
        for name, x in named
        if not is_number(x) and not is_summary(x) and np.size(unwrapped(x))
    )


def data_text(item: Item) -> str:
    """Write what the box of a node says about its value."""
    value = amount(item.node.data)
    return value if is_plain_number(item) else f"data {value}"


def is_plain_number(item: Item) -> bool:
    """Return whether an item is a number that stands for itself."""
    return item.kind == "constant" and not item.label and is_number(item.node.data)


def plain(words: str) -> str:
    """Write words without their markup: a subscript as _1, a power as ^2."""
    words = re.sub(r"<su([bp])>(.*?)</su[bp]>", lambda m: "_^"[m[1] == "p"] + m[2], words)
    return html.unescape(re.sub(r"<[^>]*>", "", words))


def index_text(index: tuple[int, ...]) -> str:
    """Write an index as it stands behind a name; for a number, nothing."""
    return f"[{', '.join(map(str, index))}]" if index else ""


class NodeNames:
    """What the words call each node: its label, Wᵀ for a transpose, or v with its number."""

    def __init__(self, items: Sequence[Item], foreign: bool = False) -> None:
        self.foreign = foreign  # another engine's, whose numbers may be wrong
        self._items = {item.id: item for item in items}
        self._by_node = {id(item.node): item for item in items}
        full = [self.full_name(item) for item in items]
        short = shortened(full, lambda name: len(name) <= LONGEST_NAME)
        self._short = dict(zip(self._items, short, strict=True))
        self.top = self.html(items[-1])

    def item(self, node: Any) -> Item:
        """Return the item of a node."""
        return self._by_node[id(node)]

    def parents(self, item: Item) -> list[Item]:
        """Return the operands, in order."""
        return [self._items[parent] for parent in item.parents]

    def full_name(self, item: Item) -> str:
        """Return the name as plain text on one line, however long."""
        label = one_line(str(item.label))
        if not label and item.op == "transpose":
            return self.full_name(self.parents(item)[0]) + "ᵀ"
        return amount(item.node.data) if is_plain_number(item) else label or "v" + item.id[1:]

    def text(self, item: Item) -> str:
        """Return the name as plain text, short enough for a sentence."""
        return self._short[item.id]

    def full_labels(self, items: Iterable[Item]) -> tuple[EntryTable, ...]:
        """Return the labels of those items whose short names leave something out."""
        labels = [(item, str(item.label or "")) for item in items]
        return tuple(
            (f"{self.html(item)} in full", "\n".join(map(printable, label.splitlines())))
            for item, label in labels
            if self.text(item) != label and one_line(label)
        )

    def html(self, item: Item) -> str:
        """Return the name as HTML, with a number at its end as a subscript."""
        base, number, rest = re.fullmatch(r"(.*?)(\d*)(ᵀ*)", self.text(item), re.S).groups()  # type: ignore[union-attr]
        if re.fullmatch(r"[^\W\d_]_?", base) and number:
            return f"<i>{html.escape(base.rstrip('_'))}</i><sub>{number}</sub>{rest}"
        text = html.escape(base + number)
        if any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in base):
            text = f"<bdi>{text}</bdi>"  # otherwise the formula around it would run backwards
        return (f"<i>{text}</i>" if re.fullmatch(r"[^\W\d_]", text) else text) + rest

    def item_by_id(self, id: str) -> Item:
        """Return the item with an id."""
        return self._items[id]

    def adjoint(self, item: Item) -> str:
        """Write ∂ℓ/∂x, or what another engine takes for it, in the colour of global gradients."""
        if self.foreign:
            return f'<span class="g">{self.html(item)}.grad</span>'
        return self.derivative(item)

    def derivative(self, item: Item, index: tuple[int, ...] = ()) -> str:
        """Write ∂ℓ/∂x, or the derivative by an entry of x, in the colour of global gradients."""
        return f'<span class="g">∂{self.top}/∂{self.html(item)}{index_text(index)}</span>'

    def local(self, child: Item, parent: Item) -> str:
        """Write ∂z/∂x, in the colour of local gradients."""
        return f'<span class="l">∂{self.html(child)}/∂{self.html(parent)}</span>'
