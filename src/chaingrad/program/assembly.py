"""Sums of arrays that are zero but in one place: one array, into which each is written.

The gradient of x[i] is an array of zeros with one entry. Where a function reads many parts of x,
adding such arrays up takes a new array of the size of x for every part. A person makes one.
"""

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chaingrad.program.tape import Recorded

Term = tuple[int, Recorded]  # a sign, and what is added with it


@dataclass(frozen=True)
class Piece:
    """A part of an array and how many operands say where it lies.

    Attributes:
        index: with slots for these operands.
        parts: how many they are.
        sign: 1 to add it, -1 to subtract it.
    """

    index: Any
    parts: int
    sign: int


def assemble(
    values: Sequence[Recorded], outputs: Iterable[Recorded], whole: Container[Any]
) -> None:
    """Turn each sum with scattered terms into one operation, "assemble".

    Args:
        values: in the order in which they are computed.
        outputs: those that are given.
        whole: what keeps a name of its own, and so is no part of a larger sum.
    """
    uses = Counter(outputs)
    for x in values:
        uses.update(x.args)
    inner: set[Recorded] = set()
    for x in reversed(values):
        if x.op in ("add", "subtract") and x.shape and x not in inner:
            terms = _terms(x, uses, whole, inner)
            terms = [(sign, _scattered(y, uses)) for sign, y in terms]
            scattered = [(s, y) for s, y in terms if _is_piece(y, x, uses, whole)]
            dense = [(s, y) for s, y in terms if not _is_piece(y, x, uses, whole)]
            if scattered:
                _rewrite(x, dense, scattered)


def _terms(
    top: Recorded, uses: Counter[Recorded], whole: Container[Any], inner: set[Recorded]
) -> list[Term]:
    """List what a tree of sums adds up, each with its sign, however deep it is."""
    found: list[Term] = []
    stack: list[Term] = [(1, top)]
    while stack:
        sign, x = stack.pop()
        alike = x.shape == top.shape and x.dtype == top.dtype
        within = x is top or (uses[x] == 1 and alike and x not in whole)
        if x.op not in ("add", "subtract") or not within:
            found.append((sign, x))
            continue
        if x is not top:
            inner.add(x)
        left, right = x.args
        stack += [(-sign if x.op == "subtract" else sign, right), (sign, left)]
    return found


def _scattered(x: Recorded, uses: Counter[Recorded]) -> Recorded:
    """Return a constant of zeros but for one entry as that entry, put into its place."""
    if x.op != "constant" or not x.shape or np.count_nonzero(x.example) != 1:
        return x
    (place,) = np.argwhere(x.example).tolist()
    index = place[0] if len(place) == 1 else tuple(place)
    entry = x.example[tuple(place)]
    entry = float(entry) if x.dtype == np.float64 else entry
    options = (("index", index), ("shape", x.shape), ("dtype", x.dtype))
    piece = Recorded(x.tape, "scatter", (x.tape.constant(entry),), options, x.example)
    uses[piece] += 1
    return piece


def _is_piece(x: Recorded, top: Recorded, uses: Counter[Recorded], whole: Container[Any]) -> bool:
    return (
        x.op == "scatter"
        and uses[x] == 1
        and x not in whole
        and (x.shape, x.dtype) == (top.shape, top.dtype)
    )


def _rewrite(x: Recorded, dense: Sequence[Term], scattered: Sequence[Term]) -> None:
    """Let ``x`` be made of an array of its shape, if there is one, and of what goes into that."""
    base = sorted(dense, key=lambda term: (term[1].shape != x.shape, -term[0]))
    pieces = tuple(Piece(y.option("index"), len(y.args) - 1, sign) for sign, y in scattered)
    x.op = "assemble"
    x.options = (("base", tuple(sign for sign, _ in base)), ("pieces", pieces))
    x.args = (*(y for _, y in base), *(z for _, y in scattered for z in y.args))


def taken_apart(
    x: Recorded,
) -> tuple[list[Term], list[tuple[Piece, Recorded, Sequence[Recorded]]]]:
    """Return what an array begins with, and its pieces: what goes there, and the index's parts."""
    if x.op == "scatter":
        return [], [(Piece(x.option("index"), len(x.args) - 1, 1), x.args[0], x.args[1:])]
    signs, rest = x.option("base"), list(x.args)
    base = [(sign, rest.pop(0)) for sign in signs]
    pieces: list[tuple[Piece, Recorded, Sequence[Recorded]]] = []
    for piece in x.option("pieces"):
        a, *parts = rest[: 1 + piece.parts]
        del rest[: 1 + piece.parts]
        pieces.append((piece, a, parts))
    return base, pieces


def lie_apart(shape: tuple[int, ...], indices: Iterable[Any]) -> bool:
    """Return whether no two of these parts of an array share an entry."""
    taken = np.zeros(shape, np.uint8)
    for index in indices:
        if np.any(taken[index]):
            return False
        taken[index] = 1
    return True
