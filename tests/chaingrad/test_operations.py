"""Functions of nodes, NumPy's own among them, and what would lose a graph without a word."""

import functools
import math
import re
import warnings

import numpy as np
import pytest

import chaingrad
from chaingrad import AnomalyError, Node, detect_anomaly, grad, hessian, no_grad, program
from chaingrad.rules import RULES, rule, value
from tests.support import each

V = np.array([0.5, 1.5, 2.5])
M = np.arange(6.0).reshape(2, 3) + 0.5

ON_A_VECTOR = [
    np.exp, np.log, np.sqrt, np.square, np.sin, np.cos, np.tanh, np.log1p, np.expm1, np.abs,
    np.negative, np.positive, np.reciprocal, np.sum, np.mean, np.max, np.min, np.var, np.std,
    np.prod, np.cumsum, np.sort, np.ravel, np.linalg.norm,
    lambda v: np.maximum(v, 1.0), lambda v: np.minimum(1.0, v), lambda v: np.logaddexp(v, V),
    lambda v: np.where(V > 1, v, 0.0), lambda v: np.where(v > 1, V, v),
    lambda v: np.concatenate([V, v]), lambda v: np.stack([v, V], axis=1),
    lambda v: np.reshape(v, (3, 1)), lambda v: np.expand_dims(v, 0), lambda v: np.outer(V, v),
    lambda v: np.dot(M, v), lambda v: np.matmul(M, v), lambda v: np.einsum("ij,j->i", M, v),
    lambda v: np.clip(v, 1, 2), lambda v: np.broadcast_to(v, (2, 3)), lambda v: np.power(v, 3.0),
    lambda v: V + v, lambda v: V - v, lambda v: V * v, lambda v: V / v, lambda v: V**v,
    lambda v: M @ v, lambda v: np.float32(2) * v, lambda v: np.float64(2) - v,
]  # fmt: skip


@each("f", ON_A_VECTOR)
def test_a_function_gives_a_node_with_numpys_value(f):
    node = f(Node(V))
    assert isinstance(node, Node)
    assert node.requires_grad
    np.testing.assert_allclose(node.data, f(V), rtol=1e-15)
    slope = grad(lambda v: np.sum(f(v)))(V)
    assert isinstance(slope, np.ndarray)
    grad(lambda v: np.sum(grad(lambda u: np.sum(f(u)))(v) ** 2))(V)


@each(
    "f",
    [
        lambda m: np.sum(m, axis=0), lambda m: np.mean(m, 1), lambda m: np.max(m, axis=1),
        lambda m: np.transpose(m), lambda m: np.squeeze(m[:1]), lambda m: np.var(m, 0, ddof=1),
        lambda m: np.std(m, axis=1, keepdims=True), lambda m: np.cumsum(m, axis=1),
        lambda m: np.linalg.norm(m, axis=1), lambda m: V @ m.T,
        lambda m: np.dot([1.0, 2.0], m), lambda m: np.dot(m, [1, 2, 3]), lambda m: np.dot(2, m),
        lambda m: np.dot(((1, 0), (0, 1)), m), lambda m: np.linalg.norm(m, "fro"),
        lambda m: np.linalg.norm(m[0], 2), lambda m: np.linalg.norm(m, 2, 1, True),
        lambda m: np.clip(m, a_min=1, a_max=2), lambda m: np.clip(m, min=1),
        lambda m: m.clip(max=2), lambda m: np.clip(m, None, 2),
        lambda m: np.reshape(m, shape=(3, 2)),
        lambda m: np.reshape(m, -1), lambda m: np.transpose(m, axes=(1, 0)),
        lambda m: np.transpose(m, None), lambda m: np.amax(m, 1), lambda m: np.amin(m),
        lambda m: np.argmax(m, axis=1, keepdims=True), lambda m: np.argmin(m),
        lambda m: np.sum(m, 0, None, None, True), lambda m: np.var(m, 0, None, None, 1),
        lambda m: np.prod(m, 0, None), lambda m: np.sort(m, axis=None), lambda m: np.ravel(m, "C"),
        lambda m: np.sort(m, 0), lambda m: np.max(m, 0, None, True),
        lambda m: np.zeros_like(m, int), lambda m: np.full_like(m, 2), lambda m: np.ones_like(m),
    ],
)  # fmt: skip
def test_options_are_numpys(f):
    np.testing.assert_allclose(value(f(Node(M))), f(M), rtol=1e-15)


@each(
    ("f", "message"),
    [
        (lambda m: np.linalg.norm(m, 1), r"ord=1 has no derivative.*np\.abs\(x\)\.sum"),
        (lambda m: np.linalg.norm(m[0], 0), "ord=0 has no derivative"),
        (lambda m: m.norm(2), "ord=2 has no derivative.*name an axis, axis="),
        (lambda m: np.var(m, 0, float), "np.var of a node with dtype="),
        (lambda m: np.sum(m, initial=1.0), "np.sum of a node with initial="),
        (lambda m: np.sort(m, kind="stable"), "np.sort of a node with kind="),
        (lambda m: np.concatenate([m, m], 0, None), "np.concatenate of a node: too many"),
        (lambda m: np.concatenate([m, m], dtype=float), "np.concatenate of a node with dtype="),
        (lambda m: chaingrad.concatenate(m, m), r"as a list, concatenate\(\[x, y\]\)"),
        (lambda m: chaingrad.stack(m[0, 0], m[0, 0]), r"as a list, stack\(\[x, y\]\)"),
        (lambda m: np.diff(m, prepend=0.0), "np.diff of a node: got an unexpected keyword"),
    ],
)
def test_an_option_without_a_derivative_is_refused(f, message):
    with pytest.raises(TypeError, match=message):
        f(Node(M))


def test_an_axis_is_named_once():
    with pytest.raises(ValueError, match="repeated axis"):
        Node(M).prod((0, 0))


@each("name", ["linalg.svd", "linalg.cholesky", "fft.fft", "unwrap"])
def test_a_function_without_a_derivative_has_its_full_name(name):
    function = functools.reduce(getattr, name.split("."), np)
    with pytest.raises(TypeError, match=re.escape(f"np.{name} of a node")):
        function(Node(np.eye(3)))


UFUNCS = [name for name in RULES if isinstance(getattr(np, name, None), np.ufunc)]


@each("name", UFUNCS)
def test_a_rule_serves_numpys_function_of_its_name(name):
    function = getattr(np, name)
    at = {"matmul": np.ones((3, 3)), "arccosh": V + 2}
    operands = [at.get(name, V / 4 if name.startswith("arc") else V)] * function.nin
    node = function(Node(operands[0]), *operands[1:])
    assert node.op == name
    np.testing.assert_allclose(node.data, function(*operands), rtol=1e-15)


def test_so_does_a_rule_that_a_reader_makes(monkeypatch):
    with pytest.raises(TypeError, match=r"no derivative here\. Write it"):
        np.cbrt(Node(2.0))
    monkeypatch.setattr("chaingrad.rules.RULES", RULES.copy())
    rule("cbrt", np.cbrt, lambda g, out, a: g / (3.0 * out * out))
    assert grad(np.cbrt)(8.0) == pytest.approx(1 / 12)


TWINS = {
    "maximum": [(V, 1.0), (1.0, V[::-1].copy())],
    "minimum": [(V, 1.0)],
    "logaddexp": [(V, V[::-1].copy())],
    "where": [(V > 1, V, 0.5), (V, 1.0, 2.0)],
    "concatenate": [([V, V],), ([V, M],), ([M, M], 1), ([V, M], None), ([1.0, V],), ([V], 0.5)],
    "stack": [([V, V],), ([V, V], 1), ([V, V], -1), ([V, V], 2), ([V, M],), ([V, V], None)],
    "einsum": [("i,i->", V, V), ("ij,j->i", M, V), ("ii->i", M)],
}


def nodes_in(x):
    if isinstance(x, list):
        return [nodes_in(entry) for entry in x]
    return Node(x) if isinstance(x, np.ndarray) and x.dtype == float else x


def outcome(function, args):
    """The value of a call and the gradients of its nodes, or its error."""
    args = [nodes_in(arg) for arg in args]
    try:
        out = function(*args)
    except (TypeError, ValueError) as error:
        return type(error), str(error)
    if out.requires_grad:
        out.sum().backward()
    flat = [x for arg in args for x in (arg if isinstance(arg, list) else [arg])]
    return repr(out), [np.array(x.grad).tolist() for x in flat if isinstance(x, Node)]


@each(("name", "args"), [(n, a) for n, calls in TWINS.items() for a in calls])
def test_a_function_is_the_same_under_both_names(name, args):
    ours = outcome(getattr(chaingrad, name), args)
    assert ours == outcome(getattr(np, name), args)
    if ours[0] not in (TypeError, ValueError):
        np.testing.assert_allclose(
            getattr(chaingrad, name)(*map(nodes_in, args)).data, getattr(np, name)(*args)
        )


def test_questions_about_values_have_plain_answers():
    v = Node(V)
    assert np.array_equal(V, v)
    assert np.array_equal(v, V)
    assert not np.array_equal(v, V + 1)
    assert np.array_equiv(V, v)
    assert np.allclose(v, V)
    assert (np.ones(3) < v).tolist() == [False, True, True]
    assert np.isfinite(v).all()
    assert np.argmax(v) == v.argmax() == 2
    assert np.argmin(v) == v.argmin() == 0
    assert np.shape(v) == (3,)


@each(
    ("call", "message"),
    [
        (lambda v: np.cbrt(v), r"np\.cbrt of a node has no derivative"),
        (lambda v: np.round(v), r"no derivative here\. Write it.*rule of your own"),
        (lambda v: np.quantile(v, 0.5), r"np\.quantile of a node"),
        (lambda v: np.add.reduce(v), r"np\.add\.reduce"),
        (lambda v: np.sum(v, dtype=np.float32), "dtype="),
        (lambda v: np.add(v, 1.0, out=np.zeros(3)), r"a = a \+ x"),
        (lambda v: np.exp(v, where=V > 1), "where="),
        (lambda v: np.sum(v, 0, False, 1, 2, 3, 4, 5), "sum"),
        (lambda v: np.asarray(v), r"use node\.data"),
        (lambda v: np.array([v, v]), r"use node\.data"),
        (lambda v: np.add.at(np.zeros(3), [0], v), "write a node|no derivative|np.add"),
    ],
)
def test_what_has_no_rule_is_refused_by_name(call, message):
    with pytest.raises(TypeError, match=message):
        call(Node(V))


def test_an_array_is_not_changed_by_a_node():
    array = np.zeros(3)
    with pytest.raises(TypeError, match=r"a = a \+ x instead of a \+= x"):
        array += Node(V)
    with pytest.raises(TypeError, match="entry by entry"):
        Node(V)[0] = 1.0


# --- plain numbers ------------------------------------------------------------------------------


def assigned(x):
    array = np.zeros(2)
    array[0] = x
    return x * array[0]


LOSING = [
    lambda x: math.exp(x) * x, lambda x: math.sqrt(x) * x, lambda x: float(x) * x,
    lambda x: int(x) * x, lambda x: round(x) * x, lambda x: np.float64(x) * x, assigned,
]  # fmt: skip


@each("f", LOSING)
def test_what_loses_the_graph_within_a_derivative_raises(f):
    with pytest.raises((TypeError, ValueError)) as caught:
        grad(f)(2.0)
    messages = f"{caught.value} {caught.value.__cause__}"
    assert "no gradient flows" in messages or "losing its graph" in messages


@each("f", LOSING[:5])
def test_detect_anomaly_catches_it_under_backward(f):
    x = Node(2.0, "x")
    with detect_anomaly(), pytest.raises(AnomalyError, match=r"'x'.*no gradient flows"):
        f(x)


@each("f", LOSING[:5])
def test_elsewhere_it_warns_once_a_place(f):
    x = Node(2.0, "x")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for label in "xyz":
            x.label = label
            f(x)
        with no_grad():
            f(x)
        x.item(), f"{x:.2f}", str(x), x > 1
    assert [(w.filename, w.category) for w in caught] == [(__file__, UserWarning)]
    with pytest.raises(TypeError) as refused:
        grad(f)(2.0)
    said = str(refused.value).partition(" gives ")[2]
    assert said
    assert str(caught[0].message).endswith(said)


def test_the_value_alone_may_be_asked_for():
    assert grad(lambda x: x * x.item())(3.0) == 3.0
    x = Node(2.5, requires_grad=False)
    assert (float(x), int(x), round(x), round(x, 1), math.floor(x)) == (2.5, 2, 2, 2.5, 2)

    def f(x):
        with no_grad():
            assert float(x) == 3.0
        assert float(Node(1.0, requires_grad=False)) == 1.0
        return x * x

    assert grad(f)(3.0) == 6.0


def test_nodes_are_formatted_as_their_values():
    x, v = Node(2.0), Node(np.array([1.0, 2.5]))
    assert f"{x:.3f} {x:>6.1f}|{v:.2f}" == "2.000    2.0|[1.00 2.50]"
    assert f"{x}" == "Node(2.0)"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda x: np.einsum(x, [0, 1], [1]),
            'say which indices first, as in einsum\\("ij,jk->ik"',
        ),
        (lambda x: np.einsum(M, [0, 1], x, [0, 1], []), "say which indices first"),
        (lambda x: pow(x, 2, 3), r"Node.__pow__\(\) takes 2 positional arguments"),
    ],
)
def test_forms_of_a_call_that_nodes_do_not_take(call, message):
    with pytest.raises(TypeError, match=message):
        call(Node(M))


TIPS = {
    "norm": lambda x: np.linalg.norm(x) ** 2,
    "norms of rows": lambda x: (np.linalg.norm(x.reshape(2, 2), axis=1) ** 2).sum(),
    "Frobenius": lambda x: np.linalg.norm(x.reshape(2, 2)) ** 2,
    "matrix_norm": lambda x: np.linalg.matrix_norm(x.reshape(2, 2)) ** 2,
    "vector_norm": lambda x: np.linalg.vector_norm(x, keepdims=True).sum() ** 4,
    "norm itself": lambda x: np.linalg.norm(x),
    "std": lambda x: np.std(x) ** 2,
    "hypot": lambda x: (np.hypot(x[:2], x[2:]) ** 2).sum(),
    "hypot with a constant": lambda x: (np.hypot(x, np.zeros(4)) ** 2).sum(),
    "half precision": lambda x: np.linalg.norm(x.astype(np.float16)) ** 2,
    "single precision": lambda x: np.linalg.norm(x.astype(np.float32)) ** 2,
}


@each("name", TIPS)
def test_a_slope_chosen_at_a_tip_has_no_derivative(name):
    f, zero = TIPS[name], np.zeros(4)
    np.testing.assert_array_equal(grad(f)(zero), 0)
    assert np.isnan(np.diag(hessian(f, zero))).all()
    third = grad(lambda x: grad(lambda x: grad(f)(x) @ np.ones(4))(x) @ np.ones(4))
    assert np.isnan(third(zero)).all()
    _, slope = program(lambda x: grad(f)(x).sum())(zero)
    assert np.isnan(slope).all()


def test_a_tip_leaves_what_is_beside_it_alone():
    at = np.array([0.0, 0.0, 3.0, 4.0])
    for f in (TIPS["norms of rows"], lambda x: (np.hypot(x[::2], x[1::2]) ** 2).sum()):
        np.testing.assert_allclose(hessian(f, at)[2:, 2:], 2 * np.eye(2), atol=1e-15)
    for f in (np.abs, lambda x: np.maximum(x, 0.0), lambda x: x.relu()):  # corners stay flat
        assert hessian(lambda x, f=f: f(x).sum(), at).tolist() == np.zeros((4, 4)).tolist()


@each(("at", "right"), [
    ((0.0, 2.0), [[2, 0], [0, 0]]), ((0.0, 1.0), None), ((0.0, 0.5), None), ((0.0, 0.0), None),
])  # fmt: skip
def test_a_power_of_0_has_no_wrong_second_derivative(at, right):
    with np.errstate(all="ignore"):
        found = hessian(lambda x: x[0] ** x[1], np.array(at))
    expected = np.full((2, 2), np.nan) if right is None else right
    np.testing.assert_array_equal(found, expected)
