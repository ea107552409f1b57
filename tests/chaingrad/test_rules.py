"""Every rule against PyTorch in float64: values, gradients, gradients of gradients."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from hypothesis import given, note
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, mutually_broadcastable_shapes

from chaingrad import (
    Node,
    concatenate,
    einsum,
    erf,
    gelu,
    grad,
    logaddexp,
    losses,
    maximum,
    minimum,
    silu,
    stack,
    where,
)
from chaingrad._repeated import repeated_entry, uniform_entry
from chaingrad.backward import adjoints
from chaingrad.prices import RESULT
from chaingrad.rules import (
    RULES,
    Rule,
    rule,
    unbroadcast,
    value,
)
from tests.support import each


@dataclass
class Case:
    ours: Callable
    theirs: Callable
    low: float = -2.0
    high: float = 2.0


UNARY = {
    "neg": Case(lambda a: -a, lambda a: -a),
    "exp": Case(Node.exp, torch.exp),
    "log": Case(Node.log, torch.log, 0.1, 3.0),
    "sqrt": Case(Node.sqrt, torch.sqrt, 0.1, 3.0),
    "sin": Case(Node.sin, torch.sin),
    "cos": Case(Node.cos, torch.cos),
    "tanh": Case(Node.tanh, torch.tanh),
    "sigmoid": Case(Node.sigmoid, torch.sigmoid),
    "relu": Case(Node.relu, torch.relu),
    "abs": Case(Node.abs, torch.abs),
    "pow3": Case(lambda a: a**3, lambda a: a**3),
    "pow0": Case(lambda a: a**0 + a, lambda a: a**0 + a),
    "pow-1.5": Case(lambda a: a**-1.5, lambda a: a**-1.5, 0.3, 3.0),
    "2**a": Case(lambda a: 2**a, lambda a: 2**a),
    "1/a": Case(lambda a: 1 / a, lambda a: 1 / a, 0.3, 3.0),
    "1-a": Case(lambda a: 1 - a, lambda a: 1 - a),
    "alias": Case(lambda a: RULES["alias"](a), lambda a: a),
    "log1p": Case(Node.log1p, torch.log1p, -0.8, 3.0),
    "expm1": Case(Node.expm1, torch.expm1),
    "softplus": Case(Node.softplus, torch.nn.functional.softplus),
    "logsigmoid": Case(Node.logsigmoid, torch.nn.functional.logsigmoid),
    "clip": Case(lambda a: a.clip(-1, 0.5) * a, lambda a: a.clamp(-1, 0.5) * a),
    "tan": Case(np.tan, torch.tan, -1.2, 1.2),
    "sinh": Case(np.sinh, torch.sinh),
    "cosh": Case(np.cosh, torch.cosh),
    "arcsin": Case(np.arcsin, torch.arcsin, -0.9, 0.9),
    "arccos": Case(np.arccos, torch.arccos, -0.9, 0.9),
    "arctan": Case(np.arctan, torch.arctan),
    "arcsinh": Case(np.arcsinh, torch.arcsinh),
    "arccosh": Case(np.arccosh, torch.arccosh, 1.2, 3.0),
    "arctanh": Case(np.arctanh, torch.arctanh, -0.9, 0.9),
    "log2": Case(np.log2, torch.log2, 0.1, 3.0),
    "log10": Case(np.log10, torch.log10, 0.1, 3.0),
    "exp2": Case(np.exp2, torch.exp2),
    "erf": Case(erf, torch.erf),
    "gelu": Case(gelu, torch.nn.functional.gelu),
    "silu": Case(silu, torch.nn.functional.silu),
    "deg2rad": Case(np.deg2rad, torch.deg2rad),
    "degrees": Case(np.degrees, torch.rad2deg),
    "squared_norm": Case(Node.squared_norm, lambda a: (a**2).sum()),
}
BINARY = {
    "add": Case(lambda a, b: a + b, lambda a, b: a + b),
    "sub": Case(lambda a, b: a - b, lambda a, b: a - b),
    "mul": Case(lambda a, b: a * b, lambda a, b: a * b),
    "div": Case(lambda a, b: a / b, lambda a, b: a / b, 0.3, 3.0),
    "pow": Case(lambda a, b: a**b, lambda a, b: a**b, 0.3, 2.0),
    "logaddexp": Case(logaddexp, torch.logaddexp),
    "hypot": Case(np.hypot, torch.hypot),
    "arctan2": Case(np.arctan2, torch.arctan2),
    "fmax": Case(np.fmax, torch.fmax),
    "fmin": Case(np.fmin, torch.fmin),
    "maximum": Case(maximum, torch.maximum),
    "minimum": Case(minimum, torch.minimum),
    "where": Case(lambda a, b: where(a > 0, a * b, b), lambda a, b: torch.where(a > 0, a * b, b)),
}
REDUCTIONS = {
    "sum": Case(Node.sum, torch.sum),
    "mean": Case(Node.mean, torch.mean),
    "max": Case(Node.max, torch.amax),
    "min": Case(Node.min, torch.amin),
    "logsumexp": Case(Node.logsumexp, torch.logsumexp),
    "var": Case(Node.var, lambda a, dim, keepdim=False: a.var(dim, correction=0, keepdim=keepdim)),
    "norm": Case(Node.norm, lambda a, dim, keepdim=False: a.square().sum(dim, keepdim).sqrt()),
}
seeds = st.integers(0, 2**32 - 1)


def agree(ours, theirs, inputs, seed=0):
    """Compare f, uᵀ∂f and vᵀ∂(uᵀ∂f) of both, for random u and v, all inputs taking part."""
    random = np.random.default_rng(seed)
    nodes = [Node(x) for x in inputs]
    tensors = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in inputs]
    out, t_out = ours(*nodes), theirs(*tensors)
    assert out.shape == tuple(t_out.shape)
    np.testing.assert_allclose(out.data, t_out.detach(), rtol=1e-9, atol=1e-12)

    u = random.standard_normal(out.shape)
    plain = adjoints(out, out.seed(u), nodes)
    first = adjoints(out, out.seed(u, True), nodes, create_graph=True)
    t_first = torch.autograd.grad(t_out, tensors, torch.tensor(u), create_graph=True)
    for node, t in zip(nodes, t_first, strict=True):
        assert np.shape(plain[node]) == first[node].shape == node.shape
        np.testing.assert_allclose(plain[node], t.detach(), rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(first[node].data, t.detach(), rtol=1e-9, atol=1e-11)

    vs = [random.standard_normal(x.shape) for x in nodes]
    total = sum((first[n] * v).sum() for n, v in zip(nodes, vs, strict=True))
    t_total = sum((t * torch.tensor(v)).sum() for t, v in zip(t_first, vs, strict=True))
    second = adjoints(total, total.seed(), nodes) if total.requires_grad else {}
    if t_total.requires_grad:
        t_second = torch.autograd.grad(t_total, tensors, allow_unused=True)
    else:
        t_second = [None] * len(tensors)
    for node, t in zip(nodes, t_second, strict=True):
        expected = 0.0 if t is None else t.numpy(force=True)
        np.testing.assert_allclose(second.get(node, 0.0), expected, rtol=1e-8, atol=1e-9)


def uniform(case, shape, seed):
    return np.random.default_rng(seed).uniform(case.low, case.high, shape)


def named(cases):
    """Each case, whose name is told of the one that fails."""
    for name, case in cases.items():
        note(name)
        yield case


@given(shape=array_shapes(min_dims=0, max_dims=3, max_side=4), seed=seeds)
def test_unary(shape, seed):
    for case in named(UNARY):
        agree(case.ours, case.theirs, [uniform(case, shape, seed)], seed)


@given(shapes=mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3), seed=seeds)
def test_binary_with_broadcasting(shapes, seed):
    for case in named(BINARY):
        inputs = [uniform(case, shape, seed + i) for i, shape in enumerate(shapes.input_shapes)]
        agree(case.ours, case.theirs, inputs, seed)


@given(seed=seeds)
def test_floats_compute_as_arrays_do(seed):
    for count, cases in ((1, UNARY), (2, BINARY)):
        for case in named(cases):
            floats = uniform(case, count, seed).tolist()
            nodes, arrays = [Node(x) for x in floats], [Node(np.array([x])) for x in floats]
            for operands in (nodes, arrays):
                case.ours(*operands).backward()
            for node, array in zip(nodes, arrays, strict=True):
                assert type(node.grad) is float
                np.testing.assert_allclose(node.grad, array.grad[0], rtol=1e-13)


@given(data=st.data(), seed=seeds)
def test_reductions(data, seed):
    shape = data.draw(array_shapes(min_dims=1, max_dims=3, max_side=4))
    axes = st.sets(st.integers(-len(shape), len(shape) - 1), min_size=1)
    axis = data.draw(axes.filter(lambda s: len({i % len(shape) for i in s}) == len(s)).map(tuple))
    everything = tuple(range(len(shape)))
    keepdims = data.draw(st.booleans())
    for case in named(REDUCTIONS):
        x = uniform(case, shape, seed)
        agree(
            lambda a, f=case.ours: f(a, axis=axis, keepdims=keepdims),
            lambda a, f=case.theirs: f(a, dim=axis, keepdim=keepdims),
            [x],
            seed,
        )
        agree(case.ours, lambda a, f=case.theirs: f(a, dim=everything), [x], seed)


@st.composite
def matmul_shapes(draw):
    n, k, m = (draw(st.integers(1, 3)) for _ in range(3))
    stacks = draw(mutually_broadcastable_shapes(num_shapes=2, max_dims=2, max_side=3)).input_shapes
    left = draw(st.sampled_from([(k,), (*stacks[0], n, k)]))
    right = draw(st.sampled_from([(k,), (*stacks[1], k, m)]))
    return left, right


@given(shapes=matmul_shapes(), seed=seeds)
def test_matmul_of_vectors_matrices_and_stacks(shapes, seed):
    random = np.random.default_rng(seed)
    inputs = [random.standard_normal(shape) for shape in shapes]
    agree(lambda a, b: a @ b, torch.matmul, inputs, seed)


@given(seed=seeds)
def test_shapes_of_arrays(seed):
    random = np.random.default_rng(seed)
    x, y = random.standard_normal((2, 3, 4)), random.standard_normal((2, 1, 4))
    square = lambda f: lambda *a: f(*a) ** 2  # noqa: E731 (so that second derivatives exist)
    for ours, theirs in [
        (lambda a: a.reshape(4, -1), lambda a: a.reshape(4, -1)),
        (lambda a: a.reshape((6, 4)), lambda a: a.reshape(6, 4)),
        (lambda a: a.T, lambda a: a.permute(2, 1, 0)),
        (lambda a: a.transpose(1, 2, 0), lambda a: a.permute(1, 2, 0)),
        (lambda a: a.transpose(1, -1, 0), lambda a: a.permute(1, 2, 0)),
        (lambda a: a.transpose(0, -1, -2), lambda a: a.permute(0, 2, 1)),
        (lambda a: a.broadcast_to(5, 2, 3, 4), lambda a: a.broadcast_to(5, 2, 3, 4)),
        (lambda a: a[1], lambda a: a[1]),
        (lambda a: a[:, ::2, -1], lambda a: a[:, ::2, -1]),
        (lambda a: a[..., None, 0], lambda a: a[..., None, 0]),
        (lambda a: a[[0, 0, 1], [1, 1, 2]], lambda a: a[[0, 0, 1], [1, 1, 2]]),
        (lambda a: a[x > 0], lambda a: a[torch.tensor(x) > 0]),
    ]:
        agree(square(ours), square(theirs), [x], seed)
    for axis in (1, -2):
        agree(
            square(lambda a, b, axis=axis: concatenate([a, b, a], axis)),
            square(lambda a, b, axis=axis: torch.cat([a, b, a], axis)),
            [x, y],
            seed,
        )
    for axis in (0, 2, -1):
        agree(
            square(lambda a, b, axis=axis: stack([a, b], axis)),
            square(lambda a, b, axis=axis: torch.stack([a, b], axis)),
            [x, x + 1],
            seed,
        )


X = np.random.default_rng(5).uniform(0.3, 2.0, (2, 3, 4))
SQUARE = np.array([[1, 1], [0, 1]])
WITH_ZEROS = np.where(X > 1.6, 0.0, X)


@each(
    ("ours", "theirs", "inputs"),
    [
        (lambda a: a.prod(), lambda a: a.prod(), [X]),
        (lambda a: a.prod(1), lambda a: a.prod(1), [WITH_ZEROS]),
        (lambda a: a.prod((0, 2), True), lambda a: a.prod(2, True).prod(0, True), [WITH_ZEROS]),
        (lambda a: a.cumsum(1) ** 2, lambda a: a.cumsum(1) ** 2, [X]),
        (lambda a: a.cumsum() ** 2, lambda a: a.flatten().cumsum(0) ** 2, [X]),
        (lambda a: a.sort(1) * a, lambda a: a.sort(1).values * a, [X]),
        (lambda a: a.std(1, 1), lambda a: a.std(1), [X]),
        (lambda a: np.var(a, ddof=1), torch.var, [X]),
        (lambda a: a.flatten() ** 2, lambda a: a.flatten() ** 2, [X]),
        (lambda a: a[:1].squeeze() ** 2, lambda a: a[:1].squeeze() ** 2, [X]),
        (lambda a: a.expand_dims((0, 2)) ** 2, lambda a: a[None, :, None] ** 2, [X]),
        (lambda a: a[[0, 1, 0]] ** 2, lambda a: a[[0, 1, 0]] ** 2, [X]),
        (lambda a: a[[1, -2]] ** 2, lambda a: a[[1, -2]] ** 2, [X]),
        (lambda a: a[SQUARE] ** 2, lambda a: a[torch.tensor(SQUARE)] ** 2, [X]),
        *[
            (lambda *a, s=s: einsum(s, *a) ** 2, lambda *a, s=s: torch.einsum(s, *a) ** 2, xs)
            for s, xs in [
                ("ijk,lk->jil", [X, X[0]]),
                ("ijk->j", [X]),
                ("...k,k", [X, X[0, 0]]),
                ("i...,...j->ij", [X[:, 0], X[0].T]),
                ("ij,jk", [X[0, :, :1], X[0]]),
                ("ij,jk->k", [X[0], X[0, :1]]),
                ("ij,kj,j->i", [X[0, :, :1], X[0], X[0, 0, :1]]),
                ("ij,jk,k->", [X[0], X[0].T, X[0, :, 0]]),
                ("i,j->ij", [X[0, 0], X[1, 1]]),
                ("ij,kj->i", [X[0], X[1]]),
            ]
        ],
    ],
)  # fmt: skip
def test_what_one_reaches_for(ours, theirs, inputs):
    agree(ours, theirs, inputs, seed=1)


@pytest.mark.parametrize("of", [Node.norm, Node.std])
def test_the_slope_at_the_tip_of_a_norm_is_0(of):
    x = Node(np.zeros(3))
    of(x).backward()
    assert x.grad.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("f", [erf, gelu, silu])
def test_integers_are_taken_as_floats(f):
    for plain in ([0, 1], 1, np.array([True, False])):
        np.testing.assert_array_equal(f(np.array(plain)).data, f(Node(plain)).data)


def test_every_rule_is_compared():
    covered = {"sum", "mean", "max", "min", "logsumexp"} | (set(UNARY) | set(BINARY)) & set(RULES)
    covered |= {"pow", "matmul", "reshape", "transpose", "broadcast_to", "getitem", "scatter"}
    covered |= {"concatenate", "cast", "cumsum", "einsum"}  # cast: test_node.py, dtypes
    covered |= {"cross_entropy", "binary_cross_entropy"}  # test_losses.py
    covered |= OF_MATRICES  # test_linalg.py
    covered |= {*OF_TIPS, "product", "without_each", "up_to_each"}  # test_operations.py
    assert set(RULES) == covered


# --- kinks, limits and overflow -----------------------------------------------------------------


@each("as_array", [False, True])
@each(
    ("ours", "theirs", "at"),
    [
        (Node.relu, torch.relu, [0.0]),
        (Node.abs, torch.abs, [0.0]),
        (maximum, torch.maximum, [1.0, 1.0]),
        (minimum, torch.minimum, [1.0, 1.0]),
        (Node.sqrt, torch.sqrt, [0.0]),
        (Node.log, torch.log, [0.0]),
        (lambda a: a**0, lambda a: a**0, [0.0]),
        (lambda a: a**1, lambda a: a**1, [0.0]),
        (lambda a: a**0.5, lambda a: a**0.5, [0.0]),
        (lambda a: a**-1, lambda a: a**-1, [0.0]),
        (lambda a, b: a**b, torch.pow, [0.0, 0.0]),
        (lambda a, b: a**b, torch.pow, [0.0, 2.0]),
        (lambda a, b: a / b, lambda a, b: a / b, [1.0, 0.0]),
        (Node.exp, torch.exp, [1000.0]),
        (Node.sigmoid, torch.sigmoid, [-1000.0]),
        (Node.sigmoid, torch.sigmoid, [1000.0]),
        (Node.tanh, torch.tanh, [1000.0]),
        (Node.softplus, torch.nn.functional.softplus, [1000.0]),
        (Node.softplus, torch.nn.functional.softplus, [-1000.0]),
        (maximum, torch.maximum, [1.0, np.nan]),
        (minimum, torch.minimum, [np.nan, 1.0]),
        (lambda a: a**0.5, lambda a: a**0.5, [-np.inf]),
        (lambda a: a**3, lambda a: a**3, [-np.inf]),
        (lambda a: a.clip(0, 1), lambda a: a.clamp(0, 1), [0.0]),
        (lambda a: a.clip(0, 1), lambda a: a.clamp(0, 1), [1.0]),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_kinks_and_limits_are_those_of_pytorch(ours, theirs, at, as_array):
    nodes = [Node(np.array([x]) if as_array else x) for x in at]
    tensors = [torch.tensor([x], dtype=torch.float64, requires_grad=True) for x in at]
    out, t_out = ours(*nodes), theirs(*tensors)
    np.testing.assert_equal(np.reshape(out.data, 1), t_out.detach().numpy())
    out.backward()
    t_out.backward()
    for node, tensor in zip(nodes, tensors, strict=True):
        np.testing.assert_equal(np.reshape(node.grad, 1), tensor.grad.numpy())


def test_ties_of_max_share_equally_as_amax_does():
    data = np.array([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]])
    node, tensor = Node(data), torch.tensor(data, requires_grad=True)
    node.max(axis=1).sum().backward()
    torch.amax(tensor, dim=1).sum().backward()
    np.testing.assert_array_equal(node.grad, tensor.grad)


def test_logsumexp_neither_overflows_nor_loses_infinities():
    big = Node(np.array([1000.0, 1000.0]))
    assert big.logsumexp().data == pytest.approx(1000 + np.log(2))
    with np.errstate(divide="ignore"):
        assert Node(np.array([-np.inf, -np.inf])).logsumexp().data == -np.inf
    assert Node(np.array([-np.inf, 0.0])).logsumexp().data == 0.0


def test_gradients_of_logsumexp_sum_to_one_at_any_offset():
    x = Node(np.array([0.0, 1.0, 2.0], np.float32) + np.float32(1e6))
    x.logsumexp().backward()
    assert x.grad.sum() == pytest.approx(1.0, abs=1e-6)


@each("data", [np.nan, np.array([np.nan])])
@each("create_graph", [False, True])
def test_nan_passes_through_relu(data, create_graph):
    x = Node(data)
    y = x.relu()
    y.backward(create_graph=create_graph)
    assert np.isnan(y.data).all()
    assert np.isnan(value(x.grad)).all()


@each(
    ("subscripts", "shapes"),
    [("ij->i", [(2, 0)]), ("ij->j", [(0, 3)]), ("ij,kj->", [(0, 2), (3, 2)]),
     ("ij,jk->ik", [(2, 0), (0, 3)]), ("i,j->", [(0,), (3,)])],
)  # fmt: skip
def test_einsum_over_nothing_has_gradients(subscripts, shapes):
    arrays = [np.ones(shape) for shape in shapes]
    tensors = [torch.tensor(a, requires_grad=True) for a in arrays]
    expected = torch.autograd.grad(torch.einsum(subscripts, *tensors).sum(), tensors)
    nodes = [Node(a) for a in arrays]
    einsum(subscripts, *nodes).sum().backward()
    for node, t in zip(nodes, expected, strict=True):
        np.testing.assert_array_equal(node.grad, t.numpy())


def test_the_product_along_one_axis_of_an_empty_array():
    x = Node(np.ones((3, 0)))
    x.prod(axis=0).sum().backward()
    assert (x.prod(axis=0).shape, x.grad.shape) == ((0,), (3, 0))
    assert x.prod(axis=1).data.tolist() == [1.0, 1.0, 1.0]


def test_the_mean_of_nothing_has_an_empty_gradient():
    x = Node(np.zeros((0, 3)))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x.mean().backward()
    assert x.grad.shape == (0, 3)


def test_a_number_is_summed_over_its_only_axis_without_a_warning():
    x = Node(2.0)
    x.sum(axis=0).backward()
    assert x.grad == 1.0


@pytest.mark.parametrize("data", [np.zeros((0, 3)), np.ones((1, 1, 1))])
def test_shapes_that_cannot_be_broadcast(data):
    with pytest.raises(ValueError, match="broadcast"):
        Node(data).broadcast_to(2, 3)


@pytest.mark.parametrize("join", [maximum, minimum, lambda a, b: where(a > b, a, b)])
def test_integers_take_the_dtype_of_the_node_on_either_side(join):
    node, integers = Node(np.ones(2, np.float32)), np.arange(2)
    assert join(integers, node).dtype == join(node, integers).dtype == np.float32
    assert concatenate([integers, node]).dtype == np.float32


def test_where_of_numbers_is_a_number():
    assert type(where(True, Node(1.0), 2.0).data) is float


@each("shape", [(5, 2), (5,), (1, 2, 6), ()])
def test_a_share_of_the_wrong_shape_is_refused(shape):
    wrong = Rule("wrong", lambda a: a * 2, (lambda g, out, a: np.ones(shape)[()],))
    with pytest.raises(ValueError, match=r"does not fit an operand of shape \(2, 5\)"):
        wrong(Node(np.ones((2, 5)))).sum().backward()


# --- the table ----------------------------------------------------------------------------------


@given(
    shapes=mutually_broadcastable_shapes(num_shapes=1, base_shape=(2, 3, 4), max_dims=3),
)
def test_unbroadcast_is_the_transpose_of_broadcasting(shapes):
    random = np.random.default_rng(0)
    (shape,) = shapes.input_shapes
    x, g = random.standard_normal(shape), random.standard_normal(shapes.result_shape)
    back = unbroadcast(g, shape)
    assert np.shape(back) == shape
    # <broadcast(x), g> = <x, unbroadcast(g)>
    np.testing.assert_allclose(np.vdot(np.broadcast_to(x, g.shape), g), np.vdot(x, back))


def test_a_rule_computes_on_plain_data_and_records_on_nodes():
    assert RULES["mul"](2.0, 3.0) == 6.0
    node = RULES["mul"](Node(2.0), 3.0)
    assert isinstance(node, Node)
    assert node.op == "mul"


def test_a_name_is_taken_once():
    with pytest.raises(ValueError, match="rule named 'mul' already"):
        rule("mul", lambda a, b: a * b)


@pytest.mark.parametrize(("dtype", "rows"), [(np.uint8, 256), (np.int8, 128), (np.uint64, 300)])
def test_rows_are_gathered_by_integers_of_any_size(dtype, rows):
    table = Node(np.ones((rows, 2)))
    table[np.frombuffer(b"hello", np.uint8).astype(dtype)].sum().backward()
    counts = np.bincount(np.frombuffer(b"hello", np.uint8), minlength=rows)
    np.testing.assert_array_equal(table.grad, counts[:, None] * [1.0, 1.0])


@pytest.mark.parametrize(
    "mean",
    [
        lambda x: x.mean(),
        lambda x: losses.binary_cross_entropy_with_logits(x, np.ones(70_000)),
        lambda x: losses.cross_entropy(x.reshape(-1, 1) * [-1.0, 1.0], np.zeros(70_000, int)),
    ],
)
def test_a_mean_over_more_than_half_precision_counts(mean):
    """Gradients of some 1e-5, by a count that float16 cannot hold."""
    g, expected = (grad(mean)(np.zeros(70_000, dtype)) for dtype in (np.float16, np.float64))
    assert g.dtype == np.float16
    np.testing.assert_allclose(g[:3], expected[:3], rtol=5e-3)


# --- gradients that repeat one entry ------------------------------------------------------------


@each("dtype", [np.float16, np.float32, np.float64])
@each("shape", [(), (1, 1), (2, 3), (0, 3)])
def test_the_square_of_the_norm_written_twice(shape, dtype):
    x = np.full(shape, 1.5, dtype)
    one, two = Node(x), Node(x)
    one.squared_norm().backward()
    (two**2).sum().backward()
    for node in (one, two):
        assert np.shape(node.grad) == shape
        assert np.result_type(node.grad) == dtype
        np.testing.assert_array_equal(node.grad, 2 * x)


def test_a_gradient_held_in_bytes_is_not_taken_for_a_repeated_one():
    gradient = np.frombuffer(np.arange(3.0).tobytes())
    base, exponent = Node(np.array([1.0, 2.0, 3.0])), 2.0
    share = RULES["pow"].vjps[0](gradient, base.data**2, base.data, exponent)
    np.testing.assert_array_equal(share, [0.0, 4.0, 12.0])


# --- facts --------------------------------------------------------------------------------------

# Computed by LAPACK, which has no half precision.
OF_MATRICES = {"inv", "solve", "det", "cofactors", "cofactors_slope"}
OF_TIPS = {"tip", "steep", "no_slope"}
FLAT = {"condition": np.zeros((2, 3), bool)}
OPERANDS = {  # of each rule: inputs and options
    "where": ([(2, 3), (2, 3)], {"condition": np.array([True, False, True])}),
    "cast": ([(2, 3)], {"dtype": np.dtype(np.float64)}),
    "clip": ([(2, 3)], {"low": 0.5, "high": 1.5}),
    "max": ([(2, 3)], {"axis": 1, "keepdims": False}),
    "min": ([(2, 3)], {"axis": 1, "keepdims": False}),
    "mean": ([(2, 3)], {"axis": 1, "keepdims": False}),
    "logsumexp": ([(2, 3)], {"axis": 1, "keepdims": False}),
    "sum": ([(2, 3)], {"axis": 1, "keepdims": True}),
    "reshape": ([(2, 3)], {"shape": (3, 2)}),
    "broadcast_to": ([(2, 1)], {"shape": (2, 3)}),
    "transpose": ([(2, 3)], {"axes": (1, 0)}),
    "getitem": ([(2, 3)], {"index": (slice(None), [0, 0, 2])}),
    "scatter": ([(2, 2)], {"index": (slice(None), [0, 2]), "shape": (2, 3)}),
    "concatenate": ([(2, 3), (1, 3)], {"axis": 0}),
    "matmul": ([(2, 3), (3, 4)], {}),
    "cumsum": ([(2, 3)], {"axis": 1}),
    "cross_entropy": ([(2, 3)], {"labels": np.array([2, 0])}),
    "binary_cross_entropy": ([(2, 3)], {"labels": np.full((2, 3), 0.3)}),
    "einsum": ([(2, 3), (3, 4)], {"subscripts": "ij,jk->ik"}),
    **dict.fromkeys(OF_MATRICES, ([(2, 3, 3)], {})),
    "tip": ([(2, 3)], FLAT),
    "no_slope": ([(2, 3)], FLAT),
    "steep": ([(2, 3), (2, 3)], FLAT),
    "without_each": ([(3, 2)], {}),  # of two factors, the slope reads none
    "solve": ([(2, 3, 3), (3, 2)], {}),
    "cofactors_slope": ([(2, 3, 3), (2, 3, 3)], {}),
}


def operands(name):
    shapes, options = OPERANDS.get(name, ([(2, 3)] * len(RULES[name].vjps), {}))
    random = np.random.default_rng(3)
    case = UNARY.get(name, Case(abs, abs))
    low, high = max(0.3, case.low), min(2.0, case.high)
    inputs = [random.uniform(low, high, shape) for shape in shapes]
    if name in OF_MATRICES:
        inputs[0] = inputs[0] @ np.swapaxes(inputs[0], 1, 2)
    if name == "pow":
        inputs[0][0, 0] = 0.0  # where the exponent's sign decides
    bound = RULES[name].bind(options)
    return bound, inputs, bound.compute(*inputs)


def pulled(bound, g, out, inputs):
    return [np.asarray(s) for s in bound.pull(g, out, inputs, [True] * len(inputs))]


@each("name", RULES)
def test_a_vjp_reads_what_its_rule_says_and_nothing_else(name):
    bound, inputs, out = operands(name)
    if bound.price.reads is None:
        return  # it may read all
    g = np.random.default_rng(4).uniform(0.5, 1.0, np.shape(out))
    right = pulled(bound, g, out, inputs)
    for poisoned in range(-1, len(inputs)):
        read = [x if i != poisoned else np.full_like(x, np.nan) for i, x in enumerate(inputs)]
        result = np.full_like(out, np.nan) if poisoned == RESULT else out
        try:
            with np.errstate(all="ignore"):
                wrong = pulled(bound, g, result, read)
        except np.linalg.LinAlgError:  # LAPACK has read it
            wrong = [np.full_like(share, np.nan) for share in right]
        for position in range(len(inputs)):
            reads = (*bound.price.reads, *[()] * len(inputs))[position]
            same = np.array_equal(right[position], wrong[position], equal_nan=True)
            assert same == (poisoned not in reads), (name, position, poisoned)


@each("dtype", [np.float16, np.float32])
@each("name", sorted(set(RULES) - {"cast", "binary_cross_entropy"}))
def test_a_vjp_computes_in_the_dtype_of_its_gradient(name, dtype):
    """Also at ties; LAPACK has no half precision, and cross-entropy gets its labels cast."""
    bound, inputs, _ = operands(name)
    if dtype == np.float16 and name in OF_MATRICES:
        return
    inputs = [x.astype(dtype) for x in inputs]
    for x in inputs[1:]:
        if x.shape == inputs[0].shape:
            x[..., 0] = inputs[0][..., 0]
    out = bound.compute(*inputs)
    for share in pulled(bound, np.ones_like(out), out, inputs):
        assert share.dtype == dtype


@each("name", RULES)
def test_a_share_passes_memory_on_where_its_rule_says_so(name):
    bound, inputs, out = operands(name)
    g = np.random.default_rng(4).uniform(0.5, 1.0, np.shape(out))
    if name in ("mean", "cast"):
        return  # a mean repeats another entry, but takes no memory; a cast ends in another dtype
    for position, share in enumerate(bound.pull(g, out, inputs, [True] * len(inputs))):
        assert (position in bound.price.passes_on) == np.shares_memory(share, g)


@each("name", RULES)
def test_commuting_rules_do(name):
    bound, inputs, out = operands(name)
    if bound.facts.commutes:
        np.testing.assert_array_equal(bound.compute(*inputs[::-1]), out)


# --- rules from elsewhere -----------------------------------------------------------------------


@each("made", [None, "a", 1j, np.array(["a"]), [object()]])
def test_a_rule_that_computes_no_number_is_named(made):
    with pytest.raises(TypeError, match="rule odd must compute a float or an array"):
        Rule("odd", lambda a: made, (None,))(Node(1.0))


def test_a_rule_may_compute_integers_which_become_floats():
    x = Node(np.array([1.5, 2.5]))
    y = Rule("floor", lambda a: np.floor(a).astype(int), (lambda g, out, a: g * 0.0,))(x)
    assert y.dtype == np.float64


def test_a_rule_with_too_few_vjps_is_named():
    with pytest.raises(TypeError, match=r"rule half has 1 VJPs.*called with 2 inputs"):
        Rule("half", lambda a, b: a + b, (None,))(Node(1.0), Node(2.0))


@each("data", [1.0, np.ones(2)])
@each("share", [None, "a", [1.0]])
def test_a_vjp_that_gives_no_number_is_named(share, data):
    x = Node(data, "x")
    wrong = Rule("wrong", lambda a: a * 2, (lambda g, out, a: share,))
    with pytest.raises(TypeError, match="VJP of wrong for node 'x'"):
        wrong(x).sum().backward()
    assert x.grad == 0.0 if isinstance(data, float) else True


def test_an_array_that_repeats_one_entry_is_known_by_its_strides():
    assert uniform_entry(repeated_entry(np.array(2.5), (3, 4))) == 2.5
    assert uniform_entry(np.broadcast_to(2.5, (3, 4))) == 2.5
    assert uniform_entry(np.array(2.5)) == 2.5
    for other in (np.full(3, 2.5), np.broadcast_to([1.0, 2.0], (3, 2)), np.zeros((0, 3))):
        assert uniform_entry(other) is other
    empty = np.broadcast_to(np.array(1.0), (0, 3))
    assert uniform_entry(empty) is empty
