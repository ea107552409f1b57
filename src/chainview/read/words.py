"""What is said of nodes and of whole graphs: numbers by four digits, tooltips, alt text."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from numbers import Real
from typing import Any

from chainview.read.items import Item
from chainview.read.terms import word

FEW = 6  # an array of up to this many entries shows them
LONGEST = 600  # characters of alt text


def printable(text: str) -> str:
    """Replace control characters, which no picture can show, by spaces."""
    return "".join(c if c.isprintable() else " " for c in text)


def unwrapped(value: Any) -> Any:
    """Return a value, or the value that a node holds: a gradient can be a node, too."""
    while hasattr(value, "parents"):
        value = value.data
    return value


def show(value: Any) -> str:
    """Show a number by four significant digits, an array by its shape and, if few, its entries.

    The entries stand on lines of their own, one for each row of a matrix.

    >>> import numpy as np
    >>> show(2.0), show(0.123456), show(np.zeros((3, 4)))
    ('2.0', '0.1235', '(3, 4)')
    >>> print(show(np.array([[1.0, 2.0], [3.0, 4.0]])))
    (2, 2)
    [[1.0, 2.0],
     [3.0, 4.0]]
    """
    value = unwrapped(value)
    shape = tuple(getattr(value, "shape", ()))
    if math.prod(shape) > FEW:
        return str(shape)
    entries = _entries(value.tolist() if hasattr(value, "tolist") else value)
    return f"{shape}\n{entries}".replace("], ", "],\n ") if shape else entries


def _entries(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_entries, value)) + "]"
    return digits(value)


def digits(value: Any) -> str:
    """Write a number with four significant digits, and a whole one as Python does.

    A zero has no sign: which one it gets depends on the order of multiplication.

    >>> digits(2.0), digits(1.99999), digits(-0.2), digits(-0.0)
    ('2.0', '2.000', '−0.2', '0.0')
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        return "" if value is None else str(value)
    entry = float(value) + 0.0
    text = f"{entry:.4g}"
    if text.lstrip("-").isdigit():
        text = text + ".0" if entry.is_integer() else f"{entry:#.4g}".rstrip(".")
    return text.replace("-", "−")


def size_text(count: int) -> str:
    """Write a number of bytes.

    >>> size_text(900), size_text(12_300), size_text(4_560_000)
    ('900 B', '12.3 kB', '4.56 MB')
    """
    for unit, power in (("GB", 9), ("MB", 6), ("kB", 3)):
        if count >= 10**power:
            return f"{count / 10**power:.3g} {unit}"
    return f"{count} B"


def number(value: Any) -> float | None:
    """Return a number or an array without axes as a float, and None for anything else."""
    value = unwrapped(value)
    is_number = isinstance(value, int | float) or getattr(value, "shape", None) == ()
    return float(value) if is_number else None


def is_zero(value: Any) -> bool:
    """Return whether a gradient is what it was before any backward pass: None or zero."""
    value = unwrapped(value)
    zero: Any = value is None or value == 0
    return bool(zero.all() if hasattr(zero, "all") else zero)


def title(item: Item) -> str:
    """Sum a node up in a tooltip: ``c, ×: data 6.0, grad 2.0``."""
    who = ", ".join(filter(None, [item.label, word(item)]))
    facts = [*item.marks, *([f"{item.value_kind} {item.value}"] if item.value else [])]
    facts += [f"grad {item.gradient}"] if item.gradient and item.reached else []
    return one_line(f"{who}: {', '.join(facts)}" if facts else who)


def describe(
    what: str, items: Sequence[Item], values: bool, gradients: bool, flows: Iterable[str] = ()
) -> str:
    """Say in a few sentences what a drawing of a graph shows."""

    def told(chosen: Iterable[Item]) -> list[str]:
        return [_describe_item(item, values, gradients) for item in chosen]

    sentences = [
        f"{what} with {_counts(items)}",
        _list("Root", "Roots", told(item for item in items if item.is_root), 3),
        _list("Marked", "Marked", [_marked(item) for item in items if item.marks], 6),
        _list("Leaf", "Leaves", told(i for i in items if i.is_leaf and i.kind != "constant"), 6),
        _list("Edges", "Edges", list(filter(None, flows)), 6),
    ]
    return truncate(". ".join(filter(None, sentences)) + ".")


def _describe_item(item: Item, value: bool, gradient: bool) -> str:
    text = item.name
    if value and item.value:
        shaped = "type" if item.is_typed else "shape" if item.value.startswith("(") else ""
        text += (f" of {shaped} " if shaped else " = ") + item.value
    notes = [word(item)] if item.op else []
    notes += [f"gradient {item.gradient}"] if gradient and item.gradient else []
    return f"{text} ({', '.join(notes)})" if notes else text


def _marked(item: Item) -> str:
    who = " ".join(filter(None, [item.label, item.op and word(item)])) or item.name
    return f"{who} ({', '.join(item.marks)})"


def _counts(items: Iterable[Item]) -> str:
    """Say how many nodes there are of each kind: ``2 parameters, 1 input and 3 operations``."""
    found = Counter(item.kind for item in items)
    kinds = [
        kind for kind in ("parameter", "input", "leaf", "constant", "operation") if found[kind]
    ]
    counts = [
        f"{found[k]} {k if found[k] == 1 else 'leaves' if k == 'leaf' else k + 's'}" for k in kinds
    ]
    return joined(counts)


def _list(one: str, several: str, words: Sequence[str], most: int) -> str:
    return f"{several if len(words) > 1 else one}: {listed(words, most)}" if words else ""


def shortened(names: Sequence[str], fits: Callable[[str], bool]) -> list[str]:
    """Leave out a part of each name that doesn't fit, so that as many differ as can.

    It's the end of words, and the beginning of paths, if that will do.

    >>> shortened(["model.layers.10.norm", "model.layers.11.norm"], lambda name: len(name) <= 12)
    ['…ers.10.norm', '…ers.11.norm']
    """
    heads = [1.0, 2 / 3, 1 / 2, 1 / 3, 0.0]
    if not any(" " in name for name in names if not fits(name)):
        heads.reverse()
    cuts = [[_cut(name, fits, head) for name in names] for head in heads]
    return max(cuts, key=lambda cut: len(set(cut)))


def _cut(name: str, fits: Callable[[str], bool], head: float) -> str:
    """Keep so much of the beginning of a name, and of its end, that it fits."""
    if fits(name):
        return name
    for left in range(len(name) - 1, 0, -1):
        start = round(left * head)
        short = f"{name[:start].rstrip()}…{name[len(name) - left + start :].lstrip()}"
        if fits(short):
            return short
    return "…"


def listed(words: Sequence[str], most: int) -> str:
    """List the first few: ``a, b and 3 more``."""
    shown = ", ".join(words[:most])
    return shown if len(words) <= most else f"{shown} and {len(words) - most} more"


def joined(words: Sequence[str]) -> str:
    """Join all as a sentence does: ``a, b and c``."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def truncate(text: str) -> str:
    """Keep alt text to a length that someone can listen to."""
    text = one_line(text)
    if len(text) <= LONGEST:
        return text
    return text[: LONGEST - 1].rpartition(" ")[0].rstrip(",.;") + "…"


def one_line(text: str) -> str:
    """Return a text without line breaks, control characters and runs of spaces."""
    return " ".join(printable(text).split())
