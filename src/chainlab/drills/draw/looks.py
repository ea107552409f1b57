"""How the nodes of problems are drawn: what stands in them, and room for what is asked."""

import re
from collections.abc import Iterable, Sequence

from chainview.player.formula import formula
from chainview.player.names import plain
from chainview.player.picture import Look
from chainview.read.items import Item

POWERS = "⁰¹²³⁴⁵⁶⁷⁸⁹"

Lines = tuple[tuple[str, ...], ...]  # of slots, as a `Look` has them


def look(item: Item, title: str, note: str, lines: Lines, *widest: str) -> Look:
    """Return a node in the colour of its kind."""
    return Look(item, title, note, lines, widest, item.color)


def formula_in(item: Item, operands: Sequence[str]) -> str:
    """Write an operation in its box, with its operands in their order: = a − b."""
    text = re.sub(r"<sup>(\d)</sup>", lambda m: POWERS[int(m[1])], formula(item, operands))
    return f"= {plain(text)}"


def room(given: Iterable[str], asked: Iterable[str]) -> Lines:
    """Return a line for each given number, and room of two lines for each number to fill in."""
    return (*((slot,) for slot in given), *(line for slot in asked for line in ((slot,), ())))


def shape(sizes: Sequence[str]) -> str:
    """Return a shape as Python writes it.

    >>> shape(["3", "n"]), shape(["n"])
    ('(3, n)', '(n,)')
    """
    return f"({', '.join(sizes)}{',' * (len(sizes) == 1)})"
