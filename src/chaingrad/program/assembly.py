"""Sums of arrays that are zero but in one place: one array, into which each is written.

The gradient of x[i] is an array of zeros with one entry. Where a function reads many parts of x,
adding such arrays up takes a new array of the size of x for every part. A person makes one.
"""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

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
            terms = list(_terms(x, x, uses, whole, inner))
            scattered = [(s, y) for s, y in terms if _is_piece(y, x, uses, whole)]
            dense = [(s, y) for s, y in terms if not _is_piece(y, x, uses, whole)]
            if scattered:
                _rewrite(x, dense, scattered)


def _terms(
    x: Recorded, top: Recorded, uses: Counter[Recorded], whole: Container[Any], inner: set[Recorded]
) -> Iterator[Term]:
    """Yield what a tree of sums adds up, each with its sign."""
    signs = (1, -1) if x.op == "subtract" else (1, 1)
    for sign, y in zip(signs, x.args, strict=True):
        alike = y.shape == top.shape and y.dtype == top.dtype and y.region == top.region
        if y.op in ("add", "subtract") and uses[y] == 1 and alike and y not in whole:
            inner.add(y)
            yield from ((sign * s, z) for s, z in _terms(y, top, uses, whole, inner))
        else:
            yield sign, y


def _is_piece(x: Recorded, top: Recorded, uses: Counter[Recorded], whole: Container[Any]) -> bool:
    return (
        x.op == "scatter"
        and uses[x] == 1
        and x not in whole
        and (x.shape, x.dtype, x.region) == (top.shape, top.dtype, top.region)
    )


def _rewrite(x: Recorded, dense: Sequence[Term], scattered: Sequence[Term]) -> None:
    """Let ``x`` be made of an array of its shape, if there is one, and of what goes into that."""
    base = sorted(dense, key=lambda term: (term[1].shape != x.shape, -term[0]))
    pieces = tuple(Piece(y.option("index"), len(y.args) - 1, sign) for sign, y in scattered)
    x.op = "assemble"
    x.options = (("base", tuple(sign for sign, _ in base)), ("pieces", pieces))
    x.args = (*(y for _, y in base), *(z for _, y in scattered for z in y.args))
