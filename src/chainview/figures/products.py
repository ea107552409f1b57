"""The gradients of a product of two matrices, and what each of their entries is made of."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from chaingrad.functional import vjp
from chaingrad.node import Node
from chainview.figures.figure import Figure
from chainview.figures.lookup import escaped, lookup
from chainview.player.names import brief, plain

MOST = 12  # rows and columns of a matrix that a page can show


def transposes(product: Node) -> Figure:
    """Show what each entry of the gradients of a product of two matrices is made of.

    Point at an entry: the row or column of either factor that makes it lights up, and the sum runs.

    Args:
        product: a node such as ``X @ W.T`` or ``X @ W``, after a backward pass that has reached it.
            Shown are its gradient and what this product sends to its two factors. Their labels name
            them.

    Returns:
        A figure, which shows itself in a notebook or on a page.

    Raises:
        TypeError: ``product`` is not a product of two matrices.
        ValueError: it has no gradient yet, or a matrix has more than 12 rows or columns.

    >>> X, W = Node(np.array([[1.0, 2.0], [0.0, -1.0], [3.0, 1.0]]), "X"), Node(np.eye(2), "W")
    >>> Z = X @ W.T
    >>> Z.label = "Z"
    >>> Z.sum().backward()
    >>> print(transposes(Z).alt)
    dW = dZᵀ X, dX = dZ W. dW_11 takes column 1 of dZ and column 1 of X: 1·1 + 1·0 + 1·3 = 4
    """
    if getattr(product, "op", "") != "matmul" or product.data.ndim != 2:
        raise TypeError(f"transposes takes a product of two matrices, as X @ W.T, not {product!r}")
    if np.shape(product.grad) != product.data.shape:
        raise ValueError("transposes: the product has no gradient yet; run a backward pass first")
    first, second = product.parents
    left, right = _factor(first, 0, "A"), _factor(second, 2, "B")
    top = _Factor(f"d{product.label or 'C'}", 1, np.asarray(product.grad))
    if max(*left.matrix.shape, *right.matrix.shape) > MOST:
        raise ValueError(f"transposes: a matrix has more than {MOST} rows or columns: show fewer")
    _, pull = vjp(
        lambda a, b: (a.T if left.flipped else a) @ (b.T if right.flipped else b),
        left.matrix, right.matrix,
    )  # fmt: skip
    of_left, of_right = pull(top.matrix)
    return _figure(
        [left, top, right],
        [
            _gradient(right, of_right, left.transposed(), top),
            _gradient(left, of_left, top, right.transposed()),
        ],
    )


@dataclass(frozen=True)
class _Factor:
    """A matrix, its place among the matrices shown, and whether a product takes it transposed."""

    name: str
    place: int
    matrix: Any
    flipped: bool = False

    def transposed(self) -> "_Factor":
        return replace(self, flipped=not self.flipped)

    @property
    def array(self) -> Any:
        return self.matrix.T if self.flipped else self.matrix

    @property
    def text(self) -> str:
        return self.name + "ᵀ" * self.flipped

    def line(self, at: int, down: bool) -> str:
        return f"{'column' if down else 'row'} {at + 1} of {escaped(self.name)}"


@dataclass(frozen=True)
class _Gradient:
    """The gradient with respect to a matrix, and the two factors that it is the product of."""

    name: str
    matrix: Any
    left: _Factor
    right: _Factor

    @property
    def text(self) -> str:
        return f"{self.name} = {self.left.text} {self.right.text}"

    def entry(self, row: int, column: int) -> str:
        comma = "," * (max(self.matrix.shape) > 9)
        return f"{escaped(self.name)}<sub>{row + 1}{comma}{column + 1}</sub>"

    def description(self, row: int, column: int) -> str:
        """Write what an entry is made of, in HTML."""
        first = self.left.line(row, down=self.left.flipped)
        second = self.right.line(column, down=not self.right.flipped)
        pairs = zip(self.left.array[row], self.right.array[:, column], strict=True)
        terms = ["+ " * (i > 0) + "·".join(map(_bracketed, pair)) for i, pair in enumerate(pairs)]
        parts = [*terms, f"= <b>{brief(self.matrix[row, column])}</b>"]
        sums = " ".join(f'<span style="--n:{i}">{part}</span>' for i, part in enumerate(parts))
        return f"{self.entry(row, column)} takes {first} and {second}: {sums}"

    def contributing_cells(self, row: int, column: int) -> Iterator[tuple[int, int, int, int]]:
        """Yield the cells that make an entry: which term, which matrix, row and column."""
        for i in range(self.left.array.shape[1]):
            yield i, self.left.place, *((i, row) if self.left.flipped else (row, i))
            yield i, self.right.place, *((column, i) if self.right.flipped else (i, column))


def _factor(operand: Node, place: int, name: str) -> _Factor:
    """Return an operand of the product, with the matrix that it transposes, if it's a transpose."""
    if operand.op == "transpose" and np.array_equal(operand.data, operand.parents[0].data.T):
        (matrix,) = operand.parents
        return _Factor(matrix.label or name, place, matrix.data, flipped=True)
    return _Factor(operand.label or name, place, operand.data)


def _gradient(of: _Factor, matrix: Any, left: _Factor, right: _Factor) -> _Gradient:
    """Return the gradient of a factor; if the factor is a transpose, by (A B)ᵀ = Bᵀ Aᵀ."""
    if of.flipped:
        left, right = right.transposed(), left.transposed()
    return _Gradient(f"d{of.name}", matrix, left, right)


def _bracketed(value: float) -> str:
    return f"({brief(value)})" if value < 0 else brief(value)


def _figure(given: Sequence[_Factor], found: Sequence[_Gradient]) -> Figure:
    start = found[0]
    lit = {tuple(cell): i for i, *cell in start.contributing_cells(0, 0)}
    tables = [_matrix_table(factor, lit) for factor in given]
    tables += [_button_table(gradient, gradient is start) for gradient in found]
    body = (
        f'<div class="cg-matrices">{"".join(tables)}</div>'
        f'<p class="cg-words" aria-live="polite">{start.description(0, 0)}</p>'
    )
    data = [
        [
            len(given) + i,
            gradient.left.array.shape[1],
            [gradient.left.place, int(gradient.left.flipped)],
            [gradient.right.place, int(not gradient.right.flipped)],
            [[gradient.description(*entry) for entry in row] for row in _entries(gradient)],
        ]
        for i, gradient in enumerate(found)
    ]
    formulas = ", ".join(gradient.text for gradient in found)
    return lookup(f"{formulas}. {plain(start.description(0, 0))}", data, "transposes", body)


def _entries(gradient: _Gradient) -> list[list[tuple[int, int]]]:
    rows, columns = gradient.matrix.shape
    return [[(row, column) for column in range(columns)] for row in range(rows)]


def _matrix_table(factor: _Factor, lit: Mapping[tuple[int, ...], int]) -> str:
    """Write a matrix as a table, with the lit cells marked."""

    def cell(row: int, column: int) -> str:
        term = lit.get((factor.place, row, column))
        look = "" if term is None else f' class="cg-lit" style="--n:{term}"'
        return f"<td{look}>{brief(factor.matrix[row, column])}</td>"

    return _table(factor.name, factor.matrix, cell, gradient=factor.place == 1)


def _button_table(gradient: _Gradient, chosen: bool) -> str:
    """Write a matrix as a table of buttons; the Tab key reaches the first of them."""

    def cell(row: int, column: int) -> str:
        first = (row, column) == (0, 0)
        value = brief(gradient.matrix[row, column])
        pressed = str(chosen and first).lower()
        label = f"{gradient.name}, row {row + 1}, column {column + 1}: {value}"
        return (
            f'<td><button type="button" aria-pressed="{pressed}" tabindex="{first - 1}" '
            f'aria-label="{escaped(label)}">{value}</button></td>'
        )

    return _table(gradient.text, gradient.matrix, cell, gradient=True)


def _table(title: str, matrix: Any, cell: Callable[[int, int], str], gradient: bool) -> str:
    rows, columns = matrix.shape
    lines = (f"<tr>{''.join(cell(r, c) for c in range(columns))}</tr>" for r in range(rows))
    kind = "cg-matrix cg-back" if gradient else "cg-matrix"
    size = f"({rows} × {columns})"
    return (
        f'<table class="{kind}"><caption>{escaped(title)} {size}</caption>{"".join(lines)}</table>'
    )
