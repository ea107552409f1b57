"""NumPy's linear algebra on nodes, for a matrix or a stack of them.

Formulas :cite:`giles2008`: let S be the inverse of A. If A moves by dA, then S moves by -S dA S,
the solution x = S b by -S dA x, and the logarithm of det A by tr(S dA). With A = L Lᵀ, dL is L
times the lower triangle of L⁻¹ dA L⁻ᵀ, with half of its diagonal. A VJP transposes these.

The gradient of det A holds its cofactors: det A times S, transposed. Where there
is no inverse, or too large a one, they come from A = U diag(s) Vᵀ: det U det V times U diag(p) Vᵀ,
where each p is the product of the s but one. In the bases U and V the second derivative, too, is
that at a diagonal matrix: by the entries (i, i) and (j, j) the product of the s but these two, and
by (i, j) and (j, i) minus that. The third derivative is nan there.

With A = V diag(w) Vᵀ, dw is the diagonal of Vᵀ dA V, and dV is V times the rest of it, each entry
(i, j) over wⱼ - wᵢ. Where two eigenvalues are equal, up to rounding, any rotation of their vectors
is as good, and the derivative of the vectors is nan. With A = U diag(s) Vᵀ, the same holds for U
and V, by the eigenvalues s² of A Aᵀ and Aᵀ A. The values have rules of their own, so that their
gradient doesn't pass through the vectors: it exists where two of them are equal.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from chaingrad import arrays, operations, rules
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


def _logdet_vjp(g: Value, out: Value, a: Value) -> Value:
    singular = value(out) == -math.inf
    if rules.is_symbol(singular) or not np.any(singular):
        return _in_each(g) * swap(inv_(a))
    singular = np.broadcast_to(np.asarray(singular)[..., None, None], shape_of(a))
    regular = swap(inv_(rules.where(_eye(a), a, condition=singular)))
    infinite = rules.div(cofactors_(a), np.where(singular, 0.0, 1.0).astype(_eye(a).dtype))
    return _in_each(g) * rules.where(infinite, regular, condition=singular)


det_: Rule = rule("det", lambda a: np.linalg.det(a), _det_vjp)
logdet_: Rule = rule("logdet", lambda a: np.linalg.slogdet(a)[1], _logdet_vjp)


def _cholesky_vjp(g: Value, out: Value, a: Value) -> Value:
    lower = arrays.tril(swap(out) @ arrays.tril(g))
    halved = lower * (1.0 - 0.5 * np.eye(shape_of(out)[-1], dtype=rules.float_dtype(value(out))))
    share = solve_(swap(out), swap(solve_(swap(out), swap(halved))))
    return 0.5 * (share + swap(share))


cholesky_: Rule = rule("cholesky", lambda a: np.linalg.cholesky(a), _cholesky_vjp)


# --- eigenvalues and singular values ------------------------------------------------------------


def _row(x: Value) -> Value:
    return rules.reshape(x, shape=(*shape_of(x)[:-1], 1, shape_of(x)[-1]))


def _eye(x: Value) -> Any:
    return np.eye(shape_of(x)[-1], dtype=rules.float_dtype(value(x)))


def _over_gaps(w: Any) -> Any:
    """Compute 1/(wⱼ - wᵢ): 0 on the diagonal, nan where rounding may have made the difference."""
    eye = np.eye(w.shape[-1], dtype=rules.float_dtype(w))
    gaps = w[..., None, :] - w[..., :, None]
    largest = np.max(np.abs(w), axis=-1, keepdims=True, initial=0.0)[..., None]
    least = 4 * w.shape[-1] * float(np.finfo(eye.dtype).eps) * largest
    instead = np.where(eye > 0, 1.0, np.nan).astype(eye.dtype)
    return (1 - eye) / np.where(np.abs(gaps) > least, gaps, instead)


def _over_gaps_vjp(g: Value, out: Value, w: Value) -> Value:
    share = g * out * out
    return share.sum(axis=-1) - share.sum(axis=-2)


over_gaps_: Rule = rule("over_gaps", _over_gaps, _over_gaps_vjp)


def _eigenvalues_vjp(g: Value, out: Value, a: Value) -> Value:
    vectors = eigenvectors_(a)
    return vectors * _row(g) @ swap(vectors)


def _eigenvectors_vjp(g: Value, out: Value, a: Value) -> Value:
    inner = over_gaps_(eigenvalues_(a)) * (swap(out) @ g)
    return out @ (0.5 * (inner + swap(inner))) @ swap(out)


eigenvalues_: Rule = rule("eigvalsh", lambda a: np.linalg.eigvalsh(a), _eigenvalues_vjp)
eigenvectors_: Rule = rule("eigh", lambda a: np.linalg.eigh(a)[1], _eigenvectors_vjp)


def _both(a: Any) -> Any:
    """Compute the left singular vectors, and below them the right ones, as columns."""
    u, _, vh = np.linalg.svd(a, full_matrices=False)
    return np.concatenate([u, np.swapaxes(vh, -2, -1)], axis=-2)


def _singular_values_vjp(g: Value, out: Value, a: Value) -> Value:
    u, v = _parts(singular_vectors_(a), a)
    return u * _row(g) @ swap(v)


def _singular_vectors_vjp(g: Value, out: Value, a: Value) -> Value:
    (u, v), (of_u, of_v), s = _parts(out, a), _parts(g, a), singular_values_(a)
    over = over_gaps_(s) / (_row(s) + _column(s) + _eye(s))  # 1/(sⱼ² - sᵢ²)
    turn_u, turn_v = swap(u) @ of_u, swap(v) @ of_v
    inner = over * (turn_u - swap(turn_u)) * _row(s)
    share = u @ (inner + _column(s) * over * (turn_v - swap(turn_v))) @ swap(v)
    rows, columns = shape_of(a)[-2:]
    if rows > columns:  # u does not span all: it may leave its space
        share = share + (of_u - u @ turn_u) / _row(s) @ swap(v)
    if columns > rows:
        share = share + u @ swap((of_v - v @ turn_v) / _row(s))
    return share


def _parts(both: Value, a: Value) -> tuple[Value, Value]:
    rows = shape_of(a)[-2]
    return both[..., :rows, :], both[..., rows:, :]


singular_values_: Rule = rule(
    "svdvals", lambda a: np.linalg.svd(a, compute_uv=False), _singular_values_vjp
)
singular_vectors_: Rule = rule("svd", _both, _singular_vectors_vjp)


class EighResult(NamedTuple):
    """Eigenvalues (…, n), in ascending order, and eigenvectors (…, n, n), as columns."""

    eigenvalues: Any
    eigenvectors: Any


class SVDResult(NamedTuple):
    """A = U diag(S) Vh: U (…, m, k), S (…, k), descending, and Vh (…, k, n), k = min(m, n)."""

    U: Any
    S: Any
    Vh: Any


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
    """Compute the determinant of each matrix; its gradient holds the cofactors."""
    return det_(a)


def slogdet(a: Any) -> SlogdetResult:
    """Compute the sign and the logarithm of the size of each determinant.

    At a singular matrix the logarithm is -inf and its gradient isn't finite.
    """
    return SlogdetResult(np.linalg.slogdet(value(a)).sign, logdet_(a))


def cholesky(a: Any) -> Any:
    """Factor each a = L Lᵀ, L lower triangular; the gradient is symmetric, as ``a`` has to be."""
    return cholesky_(a)


def eigvalsh(a: Any, UPLO: str = "L") -> Any:
    """Compute the eigenvalues (…, n) of symmetric matrices (…, n, n), in ascending order.

    The gradient is symmetric, as ``a`` has to be. Where eigenvalues are equal, the slope of each by
    itself depends on the direction, and we take the one of the vectors that LAPACK chose; a
    symmetric function of them, such as their sum, has its gradient. Second derivatives are nan
    there.

    Args:
        a: matrices, of which one triangle is read.
        UPLO: which triangle: ``"L"``, the lower, or ``"U"``.

    >>> from chaingrad import Node
    >>> a = Node(np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> w = np.linalg.eigvalsh(a)
    >>> w[1].backward()
    >>> w.data.round(6).tolist(), a.grad.round(6).tolist()
    ([1.0, 3.0], [[0.5, 0.5], [0.5, 0.5]])
    """
    return eigenvalues_(_lower(a, UPLO))


def eigh(a: Any, UPLO: str = "L") -> EighResult:
    """Compute eigenvalues as `eigvalsh`, and the eigenvectors (…, n, n) as columns.

    The gradient through eigenvectors is nan where two eigenvalues are equal up to rounding. A loss
    must not depend on the signs of the vectors, which LAPACK chooses.
    """
    a = _lower(a, UPLO)
    return EighResult(eigenvalues_(a), eigenvectors_(a))


def _lower(a: Any, UPLO: str) -> Any:
    if UPLO.upper() not in ("L", "U"):
        raise ValueError(f"UPLO must be 'L' or 'U'; got {UPLO!r}")
    return swap(a) if UPLO.upper() == "U" else a


def svdvals(x: Any) -> Any:
    """Compute the singular values (…, k) of matrices (…, m, n), in descending order; k = min(m, n).

    Where some are equal, their slopes are those of `eigvalsh`. At 0, where the slope of a singular
    value has a kink, the gradient is one of those between its sides.
    """
    return singular_values_(x)


def svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    """Factor each matrix a (…, m, n) = U diag(S) Vh; ``full_matrices`` has to be False.

    The gradient through U and Vh is nan where two singular values are equal up to rounding, and
    not finite where one is 0 and the matrix isn't square. A loss must not depend on the signs of
    the vectors: u and v of one singular value may both be negated.

    Returns:
        U, S and Vh as `SVDResult`, or S alone if ``compute_uv`` is False.

    Raises:
        TypeError: ``full_matrices`` is left at True, whose further vectors are arbitrary and have
            no derivative, or ``hermitian`` is True.
    """
    if hermitian:
        raise TypeError("svd: hermitian=True has no derivative here; leave it out, or use eigh")
    if not compute_uv:
        return svdvals(a)
    if full_matrices:
        raise TypeError(
            "svd: full_matrices=True adds vectors that nothing determines, so they have no "
            "derivative; pass full_matrices=False"
        )
    both = singular_vectors_(a)
    u, v = _parts(both, a)
    return SVDResult(u, singular_values_(a), swap(v))


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
        inv, solve, det, slogdet, cholesky, eigh, eigvalsh, svd, svdvals,
        matmul, outer, trace, diagonal, vector_norm, matrix_norm,
    )
} | {
    np.linalg.matrix_transpose: arrays.matrix_transpose, np.linalg.tensordot: arrays.tensordot,
}  # fmt: skip
