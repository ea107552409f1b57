"""NumPy's functions of nodes beside NumPy's own, and their derivatives beside differences."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from chaingrad import Node, check_gradients, grad, hessian, program, value_and_grad
from chaingrad.arrays import _node
from tests.support import each

M = np.arange(24.0).reshape(2, 3, 4) ** 1.5 / 20
A, V = M[0], M[0, 0]
ORDER = np.argsort(-A, axis=1)

# Each of a node and of an array of shape (2, 3, 4).
CALLS = {
    "swapaxes": lambda m: np.swapaxes(m, 0, -1),
    "moveaxis": lambda m: np.moveaxis(m, (0, 1), (-1, 0)),
    "matrix_transpose": lambda m: np.matrix_transpose(m),
    "atleast_1d": lambda m: np.atleast_1d(m[0, 0, 0]),
    "atleast_2d": lambda m: np.atleast_2d(m[0, 0]),
    "atleast_3d of a vector": lambda m: np.atleast_3d(m[0, 0]),
    "atleast_3d of a matrix": lambda m: np.atleast_3d(m[0]),
    "flip": lambda m: np.flip(m),
    "flip along one": lambda m: np.flip(m, 1),
    "flip along two": lambda m: np.flip(m, (0, -1)),
    "fliplr": lambda m: np.fliplr(m),
    "flipud": lambda m: np.flipud(m),
    "roll": lambda m: np.roll(m, 5),
    "roll back": lambda m: np.roll(m, -2, 1),
    "roll along two": lambda m: np.roll(m, (1, 3), (0, 2)),
    "roll both by one": lambda m: np.roll(m, 1, (0, 2)),
    "take": lambda m: np.take(m, [3, 3, -1]),
    "take along one": lambda m: np.take(m, np.array([[0, 2], [1, 1]]), axis=1),
    "take one": lambda m: np.take(m, 1, axis=-1),
    "take_along_axis": lambda m: np.take_along_axis(m[0], ORDER, 1),
    "take_along_axis, flat": lambda m: np.take_along_axis(m, np.array([3, 3, 0]), None),
    "repeat": lambda m: np.repeat(m, 3),
    "repeat along one": lambda m: np.repeat(m, 2, axis=1),
    "repeat unevenly": lambda m: np.repeat(m, [0, 2, 1], axis=-2),
    "tile": lambda m: np.tile(m, 2),
    "tile along two": lambda m: np.tile(m, (2, 3)),
    "tile into more": lambda m: np.tile(m[0, 0], (2, 1, 2)),
    "pad": lambda m: np.pad(m, 1),
    "pad unevenly": lambda m: np.pad(m, ((0, 1), (2, 0), (1, 3))),
    "pad with numbers": lambda m: np.pad(m[0], (1, 2), constant_values=(0.5, 2.0)),
    "pad by axis": lambda m: np.pad(m, {1: (1, 2), -1: 1}),
    "pad, edge": lambda m: np.pad(m, 2, "edge"),
    "pad, reflect": lambda m: np.pad(m[0], ((1, 2), (2, 1)), mode="reflect"),
    "pad, symmetric": lambda m: np.pad(m[0], 2, "symmetric"),
    "pad, wrap": lambda m: np.pad(m[0], 2, "wrap"),
    "append": lambda m: np.append(m, 1.0),
    "append behind": lambda m: np.append(1.0, m),
    "append along one": lambda m: np.append(m, M[:1], axis=0),
    "hstack": lambda m: np.hstack([m, M[:, :1]]),
    "hstack of vectors": lambda m: np.hstack([m[0, 0], 1.0, V]),
    "vstack": lambda m: np.vstack([m[0], V]),
    "dstack": lambda m: np.dstack([m[0], A]),
    "column_stack": lambda m: np.column_stack([m[0], m[0, :, 0], A]),
    "split": lambda m: np.split(m, 2, axis=2)[1],
    "split at": lambda m: np.split(m, [1, 3, 7], -1)[1],
    "array_split": lambda m: np.array_split(m, 3, 2)[0],
    "hsplit": lambda m: np.hsplit(m, 3)[2],
    "vsplit": lambda m: np.vsplit(m, [1])[1],
    "diagonal": lambda m: np.diagonal(m, 1, 0, 2),
    "diagonal below": lambda m: np.diagonal(m[0], -1),
    "diag": lambda m: np.diag(m[0]),
    "diag of a vector": lambda m: np.diag(m[0, 0], -2),
    "trace": lambda m: np.trace(m),
    "trace above": lambda m: np.trace(m, 1, 1, 2),
    "tril": lambda m: np.tril(m, -1),
    "triu": lambda m: np.triu(m, 1),
    "tril of a vector": lambda m: np.tril(m[0, 0]),
    "inner": lambda m: np.inner(m, A),
    "inner on the right": lambda m: np.inner(A, m),
    "inner of numbers": lambda m: np.inner(m, 2.0),
    "vdot": lambda m: np.vdot(m[0], A),
    "vecdot": lambda m: np.vecdot(m, A),
    "dot": lambda m: np.dot(m[0], A.T),
    "outer": lambda m: np.outer(m[0], V),
    "tensordot": lambda m: np.tensordot(m, M.transpose(1, 2, 0), 2),
    "tensordot on axes": lambda m: np.tensordot(m, A, ([1, 2], [0, 1])),
    "tensordot of one axis": lambda m: np.tensordot(A, m, (0, 1)),
    "kron": lambda m: np.kron(m[0], A[:2]),
    "kron of a vector": lambda m: np.kron(V, m[0]),
    "diff": lambda m: np.diff(m),
    "diff twice": lambda m: np.diff(m, 2, axis=1),
    "diff never": lambda m: np.diff(m, 0),
    "cumprod": lambda m: np.cumprod(m),
    "cumprod along one": lambda m: np.cumprod(m, axis=-1),
    "ptp": lambda m: np.ptp(m, axis=1),
    "median": lambda m: np.median(m),
    "median along one": lambda m: np.median(m, axis=1, keepdims=True),
    "median along two": lambda m: np.median(m, axis=(0, 2)),
    "average": lambda m: np.average(m, 1),
    "average by weights": lambda m: np.average(m, axis=1, weights=[1.0, 2.0, 5.0]),
    "average, weighted all": lambda m: np.average(m, weights=M + 1.0),
    "average by a node": lambda m: np.average(A, weights=m[1]),
    "full_like": lambda m: np.full_like(m, m[0, 0, 1]),
    "linalg.vector_norm": lambda m: np.linalg.vector_norm(m, axis=1),
    "linalg.vector_norm, 1": lambda m: np.linalg.vector_norm(m, ord=1),
    "linalg.vector_norm, inf": lambda m: np.linalg.vector_norm(m, axis=2, ord=np.inf),
    "linalg.matrix_norm": lambda m: np.linalg.matrix_norm(m, keepdims=True),
}


@each("name", CALLS)
def test_values_are_numpys(name):
    wanted = CALLS[name](M)
    found = CALLS[name](Node(M))
    assert found.shape == np.shape(wanted)
    np.testing.assert_allclose(found.data, wanted, rtol=1e-14)


@each("name", CALLS)
def test_derivatives_are_those_of_differences(name):
    at = np.random.default_rng(1).permutation(M.ravel()).reshape(M.shape) + 0.5
    check_gradients(lambda m: CALLS[name](m) ** 2, at, order=2)  # so that none is linear


@each("name", CALLS)
def test_a_program_gives_the_same(name):
    def loss(m):
        found = CALLS[name](m)
        return (found * found).sum()

    value, gradient = program(loss)(M)
    expected = value_and_grad(loss)(M)
    np.testing.assert_allclose(value, expected[0], rtol=1e-13)
    np.testing.assert_allclose(gradient, expected[1], rtol=1e-12, atol=1e-13)


@each("dtype", [np.float16, np.float32])
@each("name", CALLS)
def test_dtypes_stay(name, dtype):
    m = Node((M / 4).astype(dtype))
    found = CALLS[name](m)
    wanted = CALLS[name](m.data).dtype
    if wanted == dtype:  # else another operand is of float64
        assert found.dtype == dtype
    found.sum().backward()
    assert m.grad.dtype == dtype


@given(
    array=arrays(float, array_shapes(max_dims=3, max_side=4), elements=st.sampled_from([0, 1, 2]))
)
def test_the_product_up_to_each_entry_has_its_gradient_where_factors_are_0(array):
    x, t = Node(array), torch.tensor(array, requires_grad=True)
    np.cumprod(x, axis=0).sum().backward()
    t.cumprod(0).sum().backward()
    np.testing.assert_allclose(x.grad, t.grad.numpy())


def test_a_median_of_a_nan_is_one():
    found = np.median(Node(np.array([[1.0, np.nan, 3.0], [4.0, 5.0, 6.0]])), axis=1)
    np.testing.assert_array_equal(found.data, [np.nan, 5.0])


@each(
    ("call", "error", "message"),
    [
        (lambda m: np.swapaxes(m, 0, 3), ValueError, "axis 3"),
        (lambda m: np.split(m, 3, 2), ValueError, "equal division"),
        (lambda m: np.pad(m, 1, "mean"), TypeError, "'mean' has no derivative here; constant"),
        (lambda m: np.matrix_transpose(m[0, 0]), ValueError, "needs two axes"),
        (lambda m: np.moveaxis(m, 0, (1, 2)), ValueError, "equally many"),
        (lambda m: np.vdot(m, V), ValueError, "24 and 4"),
        (lambda m: np.tensordot(m, A, 1), ValueError, "do not fit"),
        (lambda m: np.average(m, weights=np.zeros_like(M)), ZeroDivisionError, "add up to 0"),
        (lambda m: np.linalg.vector_norm(m, ord=3), TypeError, "1, 2 and inf"),
        (lambda m: np.linalg.matrix_norm(m, ord=2), TypeError, "only 'fro'"),
        (lambda m: np.take(m, m), TypeError, "losing its graph"),
        (lambda m: np.diag(m), ValueError, r"got shape \(2, 3, 4\)"),
        (lambda m: np.diff(m, -1), ValueError, "0 or more; got -1"),
        (lambda m: np.average(m[0], weights=V), TypeError, "along an axis that you name"),
        (lambda m: np.average(m, 1, weights=V), TypeError, r"\(4,\) do not fit \(2, 3, 4\)"),
    ],
)
def test_what_does_not_fit_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call(Node(M))


def test_nodes_have_numpys_methods():
    m = Node(M)
    for found, wanted in [
        (m.swapaxes(0, 1), M.swapaxes(0, 1)), (m.repeat(2, 1), M.repeat(2, 1)),
        (m.take([1, 1], 2), M.take([1, 1], 2)), (m.diagonal(), M.diagonal()),
        (m.trace(), M.trace()), (m.cumprod(1), M.cumprod(1)), (m.ravel(), M.ravel()), (m.mT, M.mT),
        (m[0].dot(A.T), A.dot(A.T)),
    ]:  # fmt: skip
        np.testing.assert_allclose(found.data, wanted)


def test_what_is_no_node_is_a_constant():
    assert not _node(V).requires_grad


# --- numbers, and arrays without entries --------------------------------------------------------

OF_A_NUMBER = [
    lambda x: x[None], lambda x: x[...], lambda x: x[()], lambda x: x[None, ..., None],
    lambda x: x[True], lambda x: x[False], lambda x: x[np.array(True)],
    lambda x: np.flip(x), lambda x: np.roll(x, 1), lambda x: np.tile(x, (2, 1)),
    lambda x: np.repeat(x, 3), lambda x: np.pad(x, 0), lambda x: np.stack([x, x]),
    lambda x: np.hstack([x, x]), lambda x: np.outer(x, x), lambda x: np.sort(x, axis=None),
    lambda x: np.squeeze(x), lambda x: np.median(x), lambda x: np.ptp(x), lambda x: np.var(x),
    *[lambda x, axis=axis: np.cumsum(x, axis=axis) for axis in (None, 0, -1)],
    *[lambda x, axis=axis: np.cumprod(x, axis=axis) for axis in (None, 0, -1)],
    *[lambda x, axis=axis: np.prod(x, axis=axis) for axis in (None, 0, -1, ())],
    *[lambda x, axis=axis: np.sum(x, axis=axis) for axis in (None, 0, -1, ())],
    *[lambda x, axis=axis: np.repeat(x, 3, axis=axis) for axis in (0, -1)],
    *[lambda x, axis=axis: np.take(x, [0, 0], axis=axis) for axis in (None, 0, -1)],
]  # fmt: skip


@each("data", [1.5, np.array(1.5), np.array(1.5, np.float32)])
@each("f", OF_A_NUMBER)
def test_a_number_is_taken_as_numpy_takes_it(f, data):
    x, expected = Node(data), f(np.asarray(data))
    found = f(x)
    assert found.shape == np.shape(expected)
    np.testing.assert_allclose(found.data, expected, rtol=1e-6)
    check_gradients(lambda x: f(x * x), 1.5, order=2)
    for create_graph in (False, True):
        x = Node(data)
        f(x * x).sum().backward(create_graph=create_graph)
        g = x.grad.data if create_graph else x.grad
        assert type(g) is type(data)
        assert np.result_type(g) == np.result_type(data)


@each("f", OF_A_NUMBER)
def test_a_program_takes_a_number_so_too(f):
    def total(x):
        return f(x * x).sum() * 2.0

    np.testing.assert_allclose(program(total)(1.5), value_and_grad(total)(1.5))


@each("data", [1.5, np.array(1.5)])
@each(
    "f",
    [lambda x: x[0], lambda x: x[:], lambda x: x.cumsum(axis=1), lambda x: x.cumprod(1),
     lambda x: x.prod(1), lambda x: x.take(0, 1), lambda x: x.repeat(2, -2)],
)  # fmt: skip
def test_a_number_has_no_further_axis(f, data):
    with pytest.raises(IndexError):  # NumPy's AxisError is one
        f(Node(data))


REDUCING = ["sum", "mean", "prod", "var", "std", "max", "min", "median", "ptp", "cumsum", "sort"]


@each("name", REDUCING)
@each(("shape", "axis"), [((0, 3), 1), ((3, 0), 0), ((2, 0, 3), 2)])
@pytest.mark.filterwarnings("error")
def test_of_no_rows_there_are_no_results(name, shape, axis):
    x, of_numpy = Node(np.ones(shape)), getattr(np, name)
    found = of_numpy(x, axis=axis)
    assert found.shape == of_numpy(np.ones(shape), axis=axis).shape
    found.sum().backward()
    assert x.grad.shape == shape


@pytest.mark.parametrize("ddof", [0, 1, 2])
def test_a_variance_needs_more_entries_than_ddof(ddof):
    with pytest.raises(ValueError, match=f"{ddof} entries are too few for ddof={ddof}"):
        np.var(Node(np.ones((3, ddof))), axis=1, ddof=ddof)
    assert np.var(Node(np.ones((0, 2))), axis=1, ddof=ddof).shape == (0,)


@each(
    "f",
    [
        np.linalg.norm, np.linalg.vector_norm, np.std, Node.norm, Node.std,
        lambda x: np.linalg.matrix_norm(x.reshape(100, -1)), lambda x: np.var(x / 10),
    ],
)  # fmt: skip
def test_squares_beyond_float16_are_summed_in_float32(f):
    """The norm of 5000 entries of some 20 is some 1414, and the sum of squares 2 million."""
    at = np.random.default_rng(0).normal(0.0, 20.0, 5000).astype(np.float16)
    at[0] = 300.0  # its square alone is too much
    found, expected = value_and_grad(f)(at), value_and_grad(f)(at.astype(float))
    for x, y in zip(found, expected, strict=True):
        assert x.dtype == np.float16
        np.testing.assert_allclose(x, y, rtol=2e-3, atol=1e-6)
    written = program(f)(at)
    np.testing.assert_allclose(written[0], expected[0], rtol=2e-3)
    np.testing.assert_allclose(written[1], expected[1], rtol=2e-3, atol=1e-6)


@pytest.mark.parametrize(
    ("f", "given_to"),
    [
        (lambda x, i: np.take(x, i), np.array([0, 2])),
        (lambda x, i: np.take_along_axis(x, i, axis=0), np.array([0, 2])),
        (lambda x, i: x.clip(i, 9.0), np.array([1, 5, 1])),
    ],
)
def test_arrays_that_are_given_may_change_after_the_call(f, given_to):
    gradients = []
    for later in (given_to, np.full_like(given_to, 1)):
        x, array = Node(np.array([2.0, 3.0, 4.0])), given_to.copy()
        total = f(x, array).sum()
        array[...] = later
        total.backward()
        gradients.append(x.grad)
    np.testing.assert_array_equal(*gradients)


def exact(factors):
    """The product, of fractions, as the nearest float."""
    whole = math.prod(map(Fraction, factors.tolist()), start=Fraction(1))
    try:
        return float(whole)
    except OverflowError:
        return math.inf if whole > 0 else -math.inf


def exact_slopes(x):
    return np.array([exact(np.delete(x, i)) for i in range(len(x))])


FACTORS = st.sampled_from([1e200, 1e-200, -1e150, 3e-160, 2.0, -0.5, 0.0])


@settings(max_examples=40)
@given(st.lists(FACTORS, min_size=1, max_size=6).map(np.array))
def test_products_of_large_and_small_factors_lose_nothing(x):
    with np.errstate(all="ignore"):
        value, gradient = value_and_grad(np.prod)(x)
        of_last = grad(lambda x: np.cumprod(x)[-1])(x)
        second = hessian(np.prod, x)
        again = hessian(lambda x: np.cumprod(x)[-1], x)
        plain = np.prod(x)
    if np.isfinite(plain):
        np.testing.assert_allclose(value, plain, rtol=1e-14)
    close = {"rtol": 1e-13, "atol": 1e-300}
    np.testing.assert_allclose(gradient, exact_slopes(x), **close)
    np.testing.assert_allclose(of_last, exact_slopes(x), **close)
    for i, j in np.ndindex(second.shape):
        right = 0.0 if i == j else exact(np.delete(x, [i, j]))
        for found in (second[i, j], again[i, j]):
            assert np.isnan(found) or math.isclose(found, right, rel_tol=1e-13, abs_tol=1e-300)


def test_products_along_an_axis_and_in_float32_lose_nothing():
    column = np.array([1e200, 1e-200, 1e200, 1e-200])
    x = np.stack([column, [1.0, 2.0, 0.0, 4.0], [0.0, 3.0, 0.0, 1.0]], axis=1)
    slopes = np.stack([exact_slopes(c) for c in x.T], axis=1)
    for axis, turned in ((0, x), (1, x.T), (-1, x.T)):
        for keepdims in (False, True):
            out = np.prod(Node(turned), axis=axis, keepdims=keepdims)
            np.testing.assert_allclose(out.data, np.prod(turned, axis=axis, keepdims=keepdims))
            found = grad(lambda a, k=keepdims, i=axis: np.prod(a, axis=i, keepdims=k).sum())(turned)
            np.testing.assert_allclose(found, slopes if axis == 0 else slopes.T, rtol=1e-14)
        grown = np.cumprod(Node(turned), axis=axis)
        np.testing.assert_allclose(grown.data, np.cumprod(turned, axis=axis), rtol=1e-14)
    small = np.array([1e30, 1e-30, 1e30, 1e-30], np.float32)
    for f in (np.prod, lambda x: np.cumprod(x)[-1]):
        found = grad(f)(small)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, [1e-30, 1e30, 1e-30, 1e30], rtol=1e-6)
    with np.errstate(invalid="ignore"):
        deeper = grad(lambda x: hessian(np.prod, x)[0, 1])(column)
    np.testing.assert_allclose(deeper, [0.0, 0.0, 1e-200, 1e200], rtol=1e-14)
