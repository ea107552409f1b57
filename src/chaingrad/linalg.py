"""NumPy's linear algebra on nodes, for a matrix or a stack of them.

Formulas :cite:`giles2008`: let S be the inverse of A. If A moves by dA, then S moves by -S dA S,
the solution x = S b by -S dA x, and det A by det A tr(S dA). A VJP transposes these.

So the gradient of det A holds its cofactors: det A times S, transposed. Where there is no inverse,
or too large a one, they come from A = U diag(s) Vᵀ: det U det V times U diag(p) Vᵀ, where each p is
the product of the s but one. In the bases U and V the second derivative, too, is that at a diagonal
matrix: by the entries (i, i) and (j, j) the product of the s but these two, and by (i, j) and
(j, i) minus that. The third derivative is nan there.
"""

import math
from typing import Any

import numpy as np

from chaingrad import operations, rules
from chaingrad._products import without_both, without_each
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


def _det_vjp(g: Value, out: Value, a: Value) -> Value:
    if _by_inverse(g, value(out), a):
        return _in_each(g * out) * swap(inv_(a))
    return _in_each(g) * cofactors_(a)


def _by_inverse(g: Value, det: Any, a: Value) -> bool:
    """Return whether each determinant times the inverse gives the cofactors.

    If they are to be differentiated, the inverse mustn't be so large that products of two of its
    entries, which cancel, leave less than half of the digits.
    """
    if rules.is_symbol(det):
        return True
    limits = np.finfo(rules.float_dtype(det))
    if not np.all((np.abs(det) >= limits.tiny) & (np.abs(det) < np.inf)):
        return False
    recorded = isinstance(g, rules.Traced) or isinstance(a, rules.Traced)
    return not recorded or not np.any(np.linalg.cond(value(a)) > float(limits.eps) ** -0.5)


def _factored(a: Any) -> tuple[Any, Any, Any, Any]:
    """Compute U, the singular values along the first axis, Vᵀ, and det U det V.

    LAPACK refuses a whole stack for an entry that isn't finite; here its matrix alone gets nan.
    """
    finite = np.isfinite(a).all(axis=(-2, -1), keepdims=True)
    u, s, vh = np.linalg.svd(np.where(finite, a, 0.0).astype(rules.float_dtype(a)))
    sign = np.rint(np.linalg.det(u) * np.linalg.det(vh))[..., None, None]
    return u, np.moveaxis(s, -1, 0), vh, np.where(finite, sign, np.nan).astype(u.dtype)


def _cofactors(a: Any) -> Any:
    u, s, vh, sign = _factored(a)
    others = np.moveaxis(without_each(s), 0, -1).astype(u.dtype)
    return sign * (u * others[..., None, :]) @ vh


def _cofactors_slope(g: Any, a: Any) -> Any:
    u, s, vh, sign = _factored(a)
    others = np.moveaxis(without_both(s), (0, 1), (-2, -1)).astype(u.dtype)
    turned = np.swapaxes(u, -2, -1) @ g @ np.swapaxes(vh, -2, -1)
    on_diagonal = others @ np.diagonal(turned, axis1=-2, axis2=-1)[..., None]
    inner = on_diagonal * np.eye(a.shape[-1], dtype=u.dtype) - others * np.swapaxes(turned, -2, -1)
    return sign * u @ inner @ vh


cofactors_: Rule = rule("cofactors", _cofactors, lambda g, out, a: cofactors_slope_(g, a))
cofactors_slope_: Rule = rule(
    "cofactors_slope",
    _cofactors_slope,
    lambda g, out, of, a: cofactors_slope_(g, a),
    lambda g, out, of, a: rules.no_slope(a, condition=np.ones(shape_of(a), bool)),
)


det_: Rule = rule("det", lambda a: np.linalg.det(a), _det_vjp)
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
    """Compute the determinant of each matrix; its gradient holds the cofactors."""
    return det_(a)


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
    for function in (inv, solve, det, vector_norm, matrix_norm)
}
