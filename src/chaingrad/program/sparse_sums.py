"""Sums of arrays that are zero but in one place: one array, into which each is written.

The gradient of x[i] is an array of zeros with one entry. Where a function reads many parts of x,
adding such arrays up takes a new array of the size of x for every part. A person makes one.
"""

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from typing import Any

from chaingrad.program.tape import Recorded

Term = tuple[int, Recorded]  # a sign, and what is added with it


def assemble(
    values: Sequence[Recorded], outputs: Iterable[Recorded], whole: Container[Any]
) -> None:
    """Turn each sum with scattered terms into one operation, "assemble", and these into "part"s.

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
        if x.op not in ("add", "subtract") or not x.shape or x in inner:
            continue
        terms = _terms(x, uses, whole, inner)
        for _, y in terms:
            if y.op == "scatter" and uses[y] == 1 and y not in whole and _are_alike(x, y):
                y.op = "part"
        if any(y.op == "part" for _, y in terms):
            terms.sort(key=lambda term: _rank(term[0], term[1], x))
            x.op, x.args = "assemble", tuple(y for _, y in terms)
            x.options = (("signs", tuple(sign for sign, _ in terms)),)


def _terms(
    top: Recorded, uses: Counter[Recorded], whole: Container[Any], inner: set[Recorded]
) -> list[Term]:
    """List what a tree of sums adds up, each with its sign, however deep it is."""
    found: list[Term] = []
    stack: list[Term] = [(1, top)]
    while stack:
        sign, x = stack.pop()
        within = x is top or (uses[x] == 1 and _are_alike(x, top) and x not in whole)
        if x.op not in ("add", "subtract") or not within:
            found.append((sign, x))
            continue
        if x is not top:
            inner.add(x)
        left, right = x.args
        stack += [(-sign if x.op == "subtract" else sign, right), (sign, left)]
    return found


def _rank(sign: int, y: Recorded, whole: Recorded) -> tuple[bool, bool, int]:
    """Return what puts an array to begin with before numbers, and parts behind."""
    is_part = y.op == "part"
    return is_part, y.shape != whole.shape, 0 if is_part else -sign


def _are_alike(x: Recorded, y: Recorded) -> bool:
    return (x.shape, x.dtype) == (y.shape, y.dtype)


def taken_apart(x: Recorded) -> tuple[list[Term], list[Term]]:
    """Return what an array begins with, and its parts."""
    if x.op == "scatter":
        return [], [(1, x)]
    terms = list(zip(x.option("signs"), x.args, strict=True))
    base = [(sign, y) for sign, y in terms if y.op != "part"]
    return base, terms[len(base) :]
