"""Matrix expressions that are put together from tiles: read, changed, and computed."""

import ast
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

    @property
    def transposed(self) -> "Term":
        """With the factors of each product the other way round."""
        return replace(self, chains=tuple(map(flipped, self.chains)))

    def tiles(self) -> Iterator[str]:
        """As it is written, but for its sign."""
        yield from filter(None, (self.scale, self.summed))
        for i, chain in enumerate(self.chains):
            yield from [ENTRIES] * (i > 0)
            yield from (name + "ᵀ" * turned for name, turned in chain)

    def value(self, known: Mapping[str, Matrix]) -> Matrix:
        """Its entries; a vector is one row.

        Raises:
            ValueError: the shapes do not fit.
        """
        found: Any = None
        for chain in self.chains:
            product: Any = None
            for name, turned in chain:
                factor = known[name].T if turned else known[name]
                product = factor if product is None else product @ factor
            found = product if found is None else found * product
        if self.summed:
            found = REDUCED[self.summed](found).reshape(1, -1)
        return np.asarray(self.sign * float(Fraction(self.scale or 1)) * found)


Sum = tuple[Term, ...]


def flipped(chain: Chain) -> Chain:
    """The transpose of a product."""
    return tuple((name, not turned) for name, turned in reversed(chain))


def tiles(terms: Sum) -> list[str]:
    """A sum as it is written."""
    found: list[str] = []
    for i, term in enumerate(terms):
        found += [PLUS] * (i > 0 and term.sign > 0) + [MINUS] * (term.sign < 0)
        found += term.tiles()
    return found


def value(terms: Sum, known: Mapping[str, Matrix]) -> Matrix:
    """The entries of a sum.

    Raises:
        ValueError: the shapes do not fit.
    """
    found = terms[0].value(known)
    for term in terms[1:]:
        found = found + term.value(known)
    return found


def read(text: str, names: Mapping[str, Sum]) -> Sum:
    """A formula in Python, as `chaingrad.program` writes it.

    Args:
        text: an expression of ``@ * / + −``, ``.T`` and ``.sum(axis=0)``.
        names: what its names stand for.
    """
    return _read(ast.parse(text, mode="eval").body, names)


def _read(node: ast.AST, names: Mapping[str, Sum]) -> Sum:
    match node:
        case ast.Name(id):
            return names[id]
        case ast.Attribute(inner, "T"):
            return tuple(term.transposed for term in _read(inner, names))
        case ast.Call(ast.Attribute(inner, "copy")):
            return _read(inner, names)
        case ast.Call(ast.Attribute(inner, "sum")):
            return tuple(replace(term, summed=ROWS) for term in _read(inner, names))
        case ast.UnaryOp(ast.USub(), inner):
            return _negative(_read(inner, names))
        case ast.BinOp(a, ast.Add(), b):
            return _read(a, names) + _read(b, names)
        case ast.BinOp(a, ast.Sub(), b):
            return _read(a, names) + _negative(_read(b, names))
        case ast.BinOp(ast.Constant(number), ast.Mult(), a):
            return _scaled(_read(a, names), Fraction(number))  # type: ignore[arg-type]
        case ast.BinOp(a, ast.Div(), ast.Constant(number)):
            return _scaled(_read(a, names), 1 / Fraction(number))  # type: ignore[arg-type]
        case ast.BinOp(a, ast.MatMult(), b):
            return tuple(_product(s, t) for s in _read(a, names) for t in _read(b, names))
        case ast.BinOp(a, ast.Mult(), b):
            return tuple(
                replace(_joined(s, t), chains=s.chains + t.chains)
                for s in _read(a, names)
                for t in _read(b, names)
            )
    raise ValueError(f"no tiles for {ast.unparse(node)}")


def _negative(terms: Sum) -> Sum:
    return tuple(replace(term, sign=-term.sign) for term in terms)


def _scaled(terms: Sum, by: Fraction) -> Sum:
    scale = [Fraction(term.scale or 1) * by for term in terms]
    return tuple(replace(term, scale=str(x)) for term, x in zip(terms, scale, strict=True))


def _joined(s: Term, t: Term) -> Term:
    """Signs and factors of both."""
    scale = "".join({s.scale, t.scale})
    if s.summed or t.summed or (s.scale and t.scale):
        raise ValueError("a product of sums has no tiles")
    return Term((), operator.mul(s.sign, t.sign), scale)


def _product(s: Term, t: Term) -> Term:
    [a], [b] = s.chains, t.chains
    return replace(_joined(s, t), chains=(a + b,))


def plain(name: str) -> Sum:
    """A matrix by itself."""
    return (Term((((name, False),),)),)


def distinct(found: Sequence[Matrix]) -> bool:
    """Whether no two matrices are the same."""
    return not any(
        a.shape == b.shape and bool((abs(a - b) < CLOSE).all())
        for i, a in enumerate(found)
        for b in found[:i]
    )
