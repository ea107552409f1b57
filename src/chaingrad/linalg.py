"""NumPy's linear algebra on nodes, for a matrix or a stack of them.

Formulas :cite:`giles2008`: let S be the inverse of A. If A moves by dA, then S moves by -S dA S,
the solution x = S b by -S dA x, and the logarithm of det A by tr(S dA). With A = L Lᵀ, dL is L
times the lower triangle of L⁻¹ dA L⁻ᵀ, with half of its diagonal. A VJP transposes these.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from chaingrad import arrays, operations, rules
from chaingrad.rules import Rule, Value, rule, shape_of, value

swap = rules.swap_last


def _column(x: Value) -> Value:
    return rules.reshape(x, shape=(*shape_of(x), 1))


def _solve_left(g: Value, out: Value, a: Value, b: Value) -> Value:
    share = _solve_right(g, out, a, b)
    if len(shape_of(b)) == 1:
        share, out = _column(share), _column(out)
    return -(share @ swap(out))


def _solve_right(g: Value, out: Value, a: Value, b: Value) -> Value:
    if len(shape_of(b)) == 1:  # NumPy takes a vector for one only if it is no stack
        return rules.reshape(solve_(swap(a), _column(g)), shape=shape_of(g))
    return solve_(swap(a), g)


inv_: Rule = rule("inv", lambda a: np.linalg.inv(a), lambda g, out, a: -(swap(out) @ g @ swap(out)))
solve_: Rule = rule("solve", lambda a, b: np.linalg.solve(a, b), _solve_left, _solve_right)


def _in_each(g: Value) -> Value:
    """Repeat a number of each matrix over the matrix."""
    return rules.reshape(g, shape=(*shape_of(g), 1, 1))


det_: Rule = rule(
    "det", lambda a: np.linalg.det(a), lambda g, out, a: _in_each(g * out) * swap(inv_(a))
)
logdet_: Rule = rule(
    "logdet", lambda a: np.linalg.slogdet(a)[1], lambda g, out, a: _in_each(g) * swap(inv_(a))
)


def _cholesky_vjp(g: Value, out: Value, a: Value) -> Value:
    lower = arrays.tril(swap(out) @ arrays.tril(g))
    halved = lower * (1.0 - 0.5 * np.eye(shape_of(out)[-1], dtype=rules.float_dtype(value(out))))
    share = solve_(swap(out), swap(solve_(swap(out), swap(halved))))
    return 0.5 * (share + swap(share))


cholesky_: Rule = rule("cholesky", lambda a: np.linalg.cholesky(a), _cholesky_vjp)


class SlogdetResult(NamedTuple):
    """The sign of a determinant, which is data, and the logarithm of its size, a node."""

    sign: Any
    logabsdet: Any


# --- under NumPy's names ------------------------------------------------------------------------


def inv(a: Any) -> Any:
    """Invert each matrix.

    Raises:
        numpy.linalg.LinAlgError: it is singular.
    """
    return inv_(a)


def solve(a: Any, b: Any) -> Any:
    """Solve a x = b for each matrix a, for a vector or the columns of a matrix b."""
    return solve_(a, b)


def det(a: Any) -> Any:
    """Compute the determinant of each matrix; its derivative needs the inverse."""
    return det_(a)


def slogdet(a: Any) -> SlogdetResult:
    """Compute the sign and the logarithm of the size of each determinant."""
    return SlogdetResult(np.linalg.slogdet(value(a)).sign, logdet_(a))


def cholesky(a: Any) -> Any:
    """Factor each a = L Lᵀ, L lower triangular; the gradient is symmetric, as ``a`` has to be."""
    return cholesky_(a)


def matmul(x1: Any, x2: Any) -> Any:
    """Multiply matrices, as ``@`` does."""
    return x1 @ x2


def outer(x1: Any, x2: Any) -> Any:
    """Multiply each entry of one vector by each of another.

    Raises:
        ValueError: one of them is no vector.
    """
    if np.ndim(value(x1)) != 1 or np.ndim(value(x2)) != 1:
        raise ValueError("outer: two vectors are needed; np.outer takes arrays of other shapes")
    return operations.outer(x1, x2)


def trace(x: Any, *, offset: int = 0) -> Any:
    """Sum up a diagonal of each matrix."""
    return arrays.trace(x, offset, -2, -1)


def diagonal(x: Any, *, offset: int = 0) -> Any:
    """Return a diagonal of each matrix."""
    return arrays.diagonal(x, offset, -2, -1)


def vector_norm(x: Any, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """Compute the norm of vectors, by default of all entries as one.

    Raises:
        TypeError: ``ord`` is not 1, 2 or infinite.
    """
    if ord == 1:
        return x.abs().sum(axis=axis, keepdims=keepdims)
    if ord == math.inf:
        return x.abs().max(axis=axis, keepdims=keepdims)
    if ord != 2:
        raise TypeError(f"vector_norm: ord={ord!r} has no derivative here; 1, 2 and inf have")
    return operations.root_of_squares(x, axis, keepdims)


def matrix_norm(x: Any, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """Compute the root of the sum of squares of each matrix.

    Raises:
        TypeError: another ``ord`` than "fro".
    """
    if ord != "fro":
        raise TypeError(f"matrix_norm: ord={ord!r} has no derivative here; only 'fro' has")
    return operations.root_of_squares(x, (-2, -1), keepdims)


operations.FUNCTIONS |= {
    getattr(np.linalg, function.__name__): function
    for function in (
        inv, solve, det, slogdet, cholesky, matmul, outer, trace, diagonal, vector_norm, matrix_norm
    )
} | {
    np.linalg.matrix_transpose: arrays.matrix_transpose, np.linalg.tensordot: arrays.tensordot,
}  # fmt: skip
