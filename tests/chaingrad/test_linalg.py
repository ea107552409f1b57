"""Linear algebra of nodes beside NumPy's values and PyTorch's derivatives of both orders."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from chaingrad import Node, check_gradients, grad, hessian, program, value_and_grad
from tests.chaingrad.test_rules import agree, seeds


def matrices(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape) + 3 * np.eye(*shape[-2:])


OF_ONE = {
    "inv": (np.linalg.inv, torch.linalg.inv),
    "det": (np.linalg.det, torch.linalg.det),
}
stacks = st.sampled_from([(), (1,), (2,), (2, 1)])


@pytest.mark.parametrize("name", OF_ONE)
@given(order=st.integers(1, 3), before=stacks, seed=seeds)
def test_of_one_matrix(name, order, before, seed):
    agree(*OF_ONE[name], [matrices(seed, *before, order, order)], seed)


def solved(a, b):
    """What PyTorch solves; it takes a stack of columns for vectors where NumPy sees a matrix."""
    stack = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return torch.linalg.solve(a.expand(*stack, *a.shape[-2:]), b.expand(*stack, *b.shape[-2:]))


@given(order=st.integers(1, 3), left=stacks, right=stacks, columns=st.integers(1, 2), seed=seeds)
def test_solve_for_matrices(order, left, right, columns, seed):
    a = matrices(seed, *left, order, order)
    b = np.random.default_rng(seed + 1).standard_normal((*right, order, columns))
    agree(np.linalg.solve, solved, [a, b], seed)


@given(order=st.integers(1, 3), before=stacks, seed=seeds)
def test_solve_for_a_vector(order, before, seed):
    """NumPy takes a right-hand side for a vector if it has one axis, PyTorch by the shapes."""
    a = matrices(seed, *before, order, order)
    b = np.random.default_rng(seed + 1).standard_normal(order)
    agree(np.linalg.solve, lambda a, b: solved(a, b[:, None])[..., 0], [a, b], seed)


@pytest.mark.parametrize("name", OF_ONE)
def test_by_differences_to_second_order(name):
    check_gradients(OF_ONE[name][0], matrices(1, 2, 3, 3), order=2)


@pytest.mark.parametrize("name", [*OF_ONE, "solve"])
def test_a_program_gives_the_same(name):
    b = np.random.default_rng(2).standard_normal((3, 2))
    f = OF_ONE[name][0] if name != "solve" else lambda a: np.linalg.solve(a, b)

    def loss(a):
        found = f(a)
        return (found * found).sum()

    a = matrices(3, 3, 3)
    value, gradient = program(loss)(a)
    expected = value_and_grad(loss)(a)
    np.testing.assert_allclose(value, expected[0], rtol=1e-12)
    np.testing.assert_allclose(gradient, expected[1], rtol=1e-11)


def test_floats_keep_their_dtype():
    a = Node(matrices(4, 3, 3).astype(np.float32))
    for f in (np.linalg.inv, np.linalg.det, lambda a: np.linalg.solve(a, np.ones(3))):
        a.grad = 0.0
        f(a).sum().backward()
        assert a.grad.dtype == np.float32


def without(a, rows, columns):
    return np.delete(np.delete(a, rows, 0), columns, 1)


def minors(a):
    """The gradient of a determinant, as Laplace has it."""
    places = range(len(a))
    return np.array([
        [(-1) ** (i + j) * np.linalg.det(without(a, i, j)) for j in places] for i in places
    ])  # fmt: skip


def minors_of_minors(a):
    n = len(a)
    found = np.zeros((n,) * 4)
    for i, j, k, m in np.ndindex(found.shape):
        if i != k and j != m:
            sign = (-1) ** (i + j + k - (k > i) + m - (m > j))
            found[i, j, k, m] = sign * np.linalg.det(without(a, [i, k], [j, m]))
    return found


def of_rank(rank, order, random):
    left, right = random.integers(-3, 4, (order, rank)), random.integers(-3, 4, (rank, order))
    return left @ right * 1.0


@settings(max_examples=30)
@given(order=st.integers(1, 4), lost=st.integers(0, 3), seed=seeds)
def test_a_determinant_has_its_cofactors_at_every_rank(order, lost, seed):
    a = of_rank(max(order - lost, 0), order, np.random.default_rng(seed))
    near = {"rtol": 1e-6, "atol": 1e-12 * max(1, np.abs(a).max()) ** order}
    np.testing.assert_allclose(grad(np.linalg.det)(a), minors(a), **near)
    np.testing.assert_allclose(hessian(np.linalg.det, a), minors_of_minors(a), **near)
    as_float32 = grad(np.linalg.det)(a.astype(np.float32))
    assert as_float32.dtype == np.float32
    largest = max(1, np.abs(a).max()) ** order
    np.testing.assert_allclose(as_float32, minors(a), rtol=1e-2, atol=1e-5 * largest)


def test_a_singular_matrix_leaves_the_others_of_its_stack_alone():
    stack = np.stack([np.ones((3, 3)), np.diag([2.0, 1.0, 0.0]), matrices(1, 3, 3)])
    weights = np.array([1.0, 2.0, 3.0])
    gradient = grad(lambda a: np.linalg.det(a) @ weights)(stack)
    for share, weight, a in zip(gradient, weights, stack, strict=True):
        np.testing.assert_allclose(share, weight * minors(a), atol=1e-14)
    stack[0, 0, 0] = np.nan
    with np.errstate(all="ignore"):
        gradient = grad(lambda a: np.linalg.det(a) @ weights)(stack)
    assert np.isnan(gradient[0]).all()
    np.testing.assert_allclose(gradient[1], 2 * minors(stack[1]), atol=1e-14)


def test_a_larger_singular_matrix_has_its_cofactors():
    for rank in (3, 4, 5):
        a = of_rank(rank, 6, np.random.default_rng(rank))
        np.testing.assert_allclose(grad(np.linalg.det)(a), minors(a), rtol=1e-9, atol=1e-7)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_a_determinant_that_floats_cannot_hold_has_a_gradient(scale):
    with np.errstate(all="ignore"):
        gradient = grad(np.linalg.det)(scale * np.array([[2.0, 1.0], [1.0, 2.0]]))
    np.testing.assert_allclose(gradient / scale, [[2, -1], [-1, 2]])


def test_a_nearly_singular_determinant_keeps_its_second_derivative():
    a = np.arange(1.0, 10.0).reshape(3, 3)  # of rank 2, but for rounding
    for by in (0.0, 1e-13, 1e-9):
        moved = a + by * np.diag([0, 0, 1])
        np.testing.assert_allclose(grad(np.linalg.det)(moved), minors(moved), atol=1e-12)
        second = hessian(np.linalg.det, moved)
        np.testing.assert_allclose(second, minors_of_minors(moved), atol=1e-6)
    third = grad(lambda a: grad(lambda a: (grad(np.linalg.det)(a) * a).sum())(a)[0, 0])(a)
    assert np.isnan(third).all()


def test_a_singular_matrix_has_no_inverse():
    a = Node(np.ones((2, 2)))
    for f in (np.linalg.inv, lambda a: np.linalg.solve(a, np.ones(2))):
        with pytest.raises(np.linalg.LinAlgError, match=r"Singular.*square matrices that"):
            f(a)
    with pytest.raises(np.linalg.LinAlgError, match="square"):
        np.linalg.inv(Node(np.ones((2, 3))))


def test_a_gaussian_process_learns_its_length():
    """As Gaussians are fitted: by the gradient of the log-likelihood, as PyTorch has it."""
    x, y = np.linspace(0, 1, 6), np.sin(6 * np.linspace(0, 1, 6))

    def loss(library, length, eye):
        apart = (library.as_tensor(x)[:, None] - library.as_tensor(x)) / length
        k = library.exp(-0.5 * apart**2) + 0.1 * eye
        return 0.5 * library.as_tensor(y) @ library.linalg.solve(k, library.as_tensor(y)) + (
            0.5 * library.log(library.linalg.det(k))
        )

    class Numpy:
        as_tensor, exp, log, linalg = staticmethod(np.asarray), np.exp, np.log, np.linalg

    ours, theirs = Node(0.3), torch.tensor(0.3, dtype=torch.float64, requires_grad=True)
    loss(Numpy, ours, np.eye(6)).backward()
    loss(torch, theirs, torch.eye(6, dtype=torch.float64)).backward()
    assert ours.grad == pytest.approx(theirs.grad.item(), rel=1e-9)
