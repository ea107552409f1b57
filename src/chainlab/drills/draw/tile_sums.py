"""Matrix expressions that are put together from tiles, and computed."""

import functools
import itertools
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

BAR = "\u0304"  # of an adjoint, behind its letter
CLOSE = 1e-9
ENTRIES, PLUS, MINUS = "⊙", "+", "−"
ROWS, COLUMNS, MEAN = "Σ rows", "Σ columns", "mean of rows"
REDUCED = {
    ROWS: lambda x: x.sum(axis=0),
    COLUMNS: lambda x: x.sum(axis=1),
    MEAN: lambda x: x.mean(axis=0),
}

Matrix = np.ndarray[Any, np.dtype[np.float64]]
Chain = tuple[tuple[str, bool], ...]  # names, and whether each is transposed


@dataclass(frozen=True)
class Term:
    """Matrix products, multiplied entry by entry, and what is made of that.

    Attributes:
        chains: the products.
        sign: 1 or −1.
        scale: a factor as it is written, or "".
        summed: over what the result is summed, a name in `REDUCED`, or "".
    """

    chains: tuple[Chain, ...]
    sign: int = 1
    scale: str = ""
    summed: str = ""

    def tiles(self) -> Iterator[str]:
        """Yield the term's tiles in the order in which we write them, without its sign."""
        yield from filter(None, (self.scale, self.summed))
        for i, chain in enumerate(self.chains):
            yield from [ENTRIES] * (i > 0)
            yield from (name + "ᵀ" * turned for name, turned in chain)

    def value(self, known: Mapping[str, Matrix]) -> Matrix:
        """Compute the term's entries; a vector is one row.

        Raises:
            ValueError: the shapes do not fit.
        """
        result: Any = None
        for chain in self.chains:
            product: Any = None
            for name, turned in chain:
                factor = known[name].T if turned else known[name]
                product = factor if product is None else product @ factor
            result = product if result is None else result * product
        if self.summed:
            result = REDUCED[self.summed](result).reshape(1, -1)
        return np.asarray(self.sign * float(Fraction(self.scale or 1)) * result)


@dataclass(frozen=True)
class Sum:
    """Terms, added up. It calculates, so that a line of NumPy gives its own formula in tiles."""

    terms: tuple[Term, ...]

    def __add__(self, other: "Sum") -> "Sum":
        return Sum(self.terms + other.terms)

    def __neg__(self) -> "Sum":
        return Sum(tuple(replace(term, sign=-term.sign) for term in self.terms))

    def __sub__(self, other: "Sum") -> "Sum":
        return self + -other

    def __rmul__(self, number: int) -> "Sum":
        return self._scaled(Fraction(number))

    def __truediv__(self, number: int) -> "Sum":
        return self._scaled(1 / Fraction(number))

    def _scaled(self, by: Fraction) -> "Sum":
        return Sum(tuple(replace(x, scale=str(Fraction(x.scale or 1) * by)) for x in self.terms))

    def __mul__(self, other: "Sum") -> "Sum":
        pairs = itertools.product(self.terms, other.terms)
        return Sum(tuple(_joined(s, t, s.chains + t.chains) for s, t in pairs))

    def __matmul__(self, other: "Sum") -> "Sum":
        pairs = itertools.product(self.terms, other.terms)
        return Sum(tuple(_joined(s, t, (s.chains[0] + t.chains[0],)) for s, t in pairs))

    @property
    def T(self) -> "Sum":  # noqa: N802
        turned = (replace(x, chains=tuple(map(flipped, x.chains))) for x in self.terms)
        return Sum(tuple(turned))

    def sum(self, axis: int) -> "Sum":
        return Sum(tuple(replace(term, summed=(ROWS, COLUMNS)[axis]) for term in self.terms))

    def copy(self) -> "Sum":
        return self

    def tiles(self) -> list[str]:
        """Return the tiles of the sum in the order in which we write them."""
        tiles: list[str] = []
        for i, term in enumerate(self.terms):
            tiles += [PLUS] * (i > 0 and term.sign > 0) + [MINUS] * (term.sign < 0)
            tiles += term.tiles()
        return tiles

    def value(self, known: Mapping[str, Matrix]) -> Matrix:
        """Compute the entries.

        Raises:
            ValueError: the shapes do not fit.
        """
        return functools.reduce(operator.add, (term.value(known) for term in self.terms))


def _joined(s: Term, t: Term, chains: tuple[Chain, ...]) -> Term:
    """Return products with the signs and factors of both terms."""
    if s.summed or t.summed or (s.scale and t.scale):
        raise ValueError("a product of sums has no tiles")
    return Term(chains, s.sign * t.sign, s.scale or t.scale)


def flipped(chain: Chain) -> Chain:
    """Return the transpose of a product."""
    return tuple((name, not turned) for name, turned in reversed(chain))


def plain(name: str) -> Sum:
    """Return a matrix by itself."""
    return Sum((Term((((name, False),),)),))


def distinct(matrices: Sequence[Matrix]) -> bool:
    """Return whether no two matrices are the same."""
    return not any(
        a.shape == b.shape and bool((abs(a - b) < CLOSE).all())
        for i, a in enumerate(matrices)
        for b in matrices[:i]
    )
