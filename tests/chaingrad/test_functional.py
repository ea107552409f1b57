"""Derivatives of functions, against JAX."""

import collections
import gc

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from chaingrad import (
    Node,
    check_gradients,
    detect_anomaly,
    grad,
    hessian,
    hvp,
    jacobian,
    jvp,
    no_grad,
    value_and_grad,
    vjp,
)
from chaingrad.backward import adjoints
from tests.support import each

W = np.random.default_rng(0).standard_normal((4, 3))
X = np.random.default_rng(1).standard_normal((5, 3))


@pytest.fixture(autouse=True)
def _double_precision():
    with jax.enable_x64(True):
        yield


def ours(W, X):
    return (X @ W.T).tanh() ** 2 + 1


def theirs(W, X):
    return jnp.tanh(X @ W.T) ** 2 + 1


def our_loss(W, X):
    return ours(W, X).mean()


def their_loss(W, X):
    return theirs(W, X).mean()


def same(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


@each("argnums", [0, 1, -1, (0, 1), (1,)])
def test_value_and_grad(argnums):
    value, gradient = value_and_grad(our_loss, argnums)(W, X)
    their_argnums = 1 if argnums == -1 else argnums
    their_value, their_gradient = jax.value_and_grad(their_loss, their_argnums)(W, X)
    same(value, their_value)
    if isinstance(argnums, int):
        gradient, their_gradient = (gradient,), (their_gradient,)
    for g, t in zip(gradient, their_gradient, strict=True):
        same(g, t)


def test_vjp_and_jvp():
    u = np.random.default_rng(2).standard_normal((5, 4))
    dW, dX = np.random.default_rng(3).standard_normal((2, 4, 3))[0], X * 0.3
    out, pull = vjp(ours, W, X)
    their_out, their_pull = jax.vjp(theirs, W, X)
    same(out, their_out)
    for _ in range(2):  # pulling does not use the graph up
        for g, t in zip(pull(u), their_pull(u), strict=True):
            same(g, t)
    for o, t in zip(jvp(ours, (W, X), (dW, dX)), jax.jvp(theirs, (W, X), (dW, dX)), strict=True):
        same(o, t)


@pytest.mark.parametrize("wrong", [1.0, np.ones(2), Node(np.ones((4, 5)))])
def test_a_cotangent_of_another_shape_is_refused(wrong):
    for f in (ours, lambda W, X: Node(np.zeros((5, 4)))):  # of which one depends on nothing
        _, pull = vjp(f, W, X)
        with pytest.raises(ValueError, match=r"vjp: pull takes the value's shape, \(5, 4\); got"):
            pull(wrong)


@pytest.mark.slow
def test_hvp_and_hessian():
    v = np.ones_like(W)
    their_hessian = jax.hessian(their_loss)(W, X)
    full = hessian(lambda W: our_loss(W, X), W)
    assert full.shape == (4, 3, 4, 3)
    same(full, their_hessian)
    same(hvp(lambda W: our_loss(W, X), W, v), np.einsum("ijkl,kl->ij", their_hessian, v))
    assert hessian(lambda x: x**3, 2.0) == 12.0


def test_nested_derivatives():
    fourth = jax.grad(jax.grad(jax.grad(jax.grad(lambda x: jnp.sin(x) * x**2))))(1.3)
    same(grad(grad(grad(grad(lambda x: x.sin() * x**2))))(1.3), fourth)


def test_an_inner_derivative_is_not_confused_with_an_outer_one():
    assert grad(lambda x: x * grad(lambda y: x + y)(x))(2.0) == 1.0
    assert grad(lambda x: grad(lambda y: x * y**2)(x) * x)(2.0) == 24.0  # (2x³)'


def test_an_inner_derivative_may_read_what_the_outer_one_is_taken_by():
    """As in a gradient penalty, where the inner variable is plain data."""
    penalty = lambda W: (grad(lambda x: our_loss(W, x))(X) ** 2).sum()  # noqa: E731
    theirs = jax.grad(lambda W: (jax.grad(lambda x: their_loss(W, x))(X) ** 2).sum())
    same(grad(penalty)(W), theirs(W))
    assert grad(lambda x: x * grad(lambda y: x * y * y)(1.0))(3.0) == 12.0
    assert grad(lambda x: x * vjp(lambda y: x * y * y, 1.0)[1](1.0)[0])(3.0) == 12.0
    assert grad(lambda x: x * jvp(lambda y: x * y * y, [1.0], [1.0])[1])(3.0) == 12.0
    assert grad(lambda x: x * hvp(lambda y: x * y**3, 1.0, 1.0))(3.0) == 36.0
    assert grad(lambda x: value_and_grad(lambda y: x * y)(2.0)[0])(3.0) == 2.0
    at = np.array([1.0, 2.0])
    inner = lambda x: hessian(lambda y: (x * y**3).sum(), at).sum()  # noqa: E731
    assert grad(inner)(3.0) == 18.0
    with pytest.raises(ZeroDivisionError):
        grad(lambda x: x * (1 // 0))(1.0)
    assert grad(lambda y: y * y)(3.0) == 6.0  # a number again, after an error too


def test_the_hessian_at_a_node_is_a_node():
    x = Node(np.array([1.0, 2.0]))
    full = hessian(lambda y: (y**3).sum(), x)
    assert full.data.tolist() == [[6.0, 0.0], [0.0, 12.0]]
    full.sum().backward()
    assert x.grad.tolist() == [6.0, 6.0]


def test_derivatives_within_no_grad():
    with no_grad():
        assert grad(lambda x: x * x)(2.0) == 4.0
        assert hessian(lambda x: x * x, 2.0) == 2.0
        assert jvp(lambda x: x * x, [2.0], [1.0]) == (4.0, 4.0)
        assert vjp(lambda x: x * x, 2.0)[1](1.0) == (4.0,)
    constant = no_grad()(lambda x: x * x)
    assert grad(lambda x: x + constant(x))(2.0) == 1.0


def test_within_no_grad_a_derivative_is_a_constant():
    x = Node(2.0)
    with no_grad():
        slope = grad(lambda t: t**3)(x)
        out, pull = vjp(lambda t: t**3, x)
        results = [slope, out, *pull(1.0), *jvp(lambda t: t**3, [x], [1.0])]
    assert [node.data for node in results] == [12.0, 8.0, 12.0, 8.0, 12.0]
    assert not any(node.requires_grad for node in results)
    constant = no_grad()(grad(lambda t: t**3))
    assert grad(lambda x: x * constant(x))(2.0) == 12.0


def test_a_derivative_leaves_the_history_of_its_point_alone():
    x = Node(2.0) * 3.0
    x.backward(release=True)
    assert grad(lambda t: t * t)(x).data == 12.0
    with detect_anomaly(), np.errstate(all="ignore"):
        root = Node(np.array([0.0])).sqrt()  # whose slope is infinite
        assert grad(lambda t: (t * t + t).sum())(root).data.tolist() == [1.0]


def test_a_graph_that_was_freed_is_not_taken_for_a_constant():
    kept = []

    def f(x):
        kept.append(x * x)
        return kept[0].sin() + x

    _, pull = vjp(f, 2.0)
    kept[0].backward(release=True)
    with pytest.raises(ValueError, match="freed"):
        pull(1.0)
    out, pull = vjp(lambda x: x * x, Node(2.0))
    out.backward(release=True)
    with pytest.raises(ValueError, match="freed"):
        pull(1.0)


def test_wanted_nodes_of_which_one_depends_on_another():
    c = Node(1.0)
    b = c.sin()
    a = b * 3.0
    found = adjoints(b * a, 1.0, [a, b, c])
    assert found[a] == b.data
    assert found[c] == pytest.approx(6 * np.sin(1.0) * np.cos(1.0))
    assert set(adjoints(b * a, 1.0, [a])) == {a}


def test_a_point_that_is_another_points_operand():
    x = Node(2.0)
    assert [g.data for g in vjp(lambda x, y: x * y, x, x * 3)[1](1.0)] == [6.0, 2.0]


def test_the_product_depends_on_the_vector_too():
    x, v = np.array([1.0, 2.0]), Node(np.array([1.0, 0.0]))
    product = hvp(lambda x: (x**3).sum(), x, v)
    product.sum().backward()
    assert (product.data.tolist(), v.grad.tolist()) == ([6.0, 0.0], [6.0, 12.0])
    constant = v.detach()
    assert isinstance(hvp(lambda x: (x**3).sum(), x, constant), np.ndarray)
    assert isinstance(jvp(lambda x: x**3, [x], [constant])[1], np.ndarray)


def test_lists_are_arrays():
    cube = lambda x: (x**3).sum()  # noqa: E731
    assert hvp(cube, [1.0, 2.0], [1.0, 0.0]).tolist() == [6.0, 0.0]
    assert jvp(cube, [[1.0, 2.0]], [np.array([1.0, 0.0])]) == (9.0, 3.0)
    assert grad(cube, argnums=np.int64(0))([1.0, 2.0]).tolist() == [3.0, 12.0]


def test_jvp_of_grad_is_hvp():
    x, v = np.array([0.3, -0.2]), np.array([1.0, 2.0])
    f = lambda x: (x.exp() * x).sum()  # noqa: E731
    same(jvp(grad(f), (x,), (v,))[1], hvp(f, x, v))


def test_a_constant_node_is_a_point_like_any_other():
    x = Node(3.0, requires_grad=False)
    assert grad(lambda y: y * y)(x) == 6.0
    assert jvp(lambda y: y * y, [x], [1.0]) == (9.0, 6.0)
    assert hvp(lambda y: y**3, x, 1.0) == hessian(lambda y: y**3, x) == 18.0


def test_keywords_go_to_the_function():
    assert grad(lambda x, f, args: f * x + args)(2.0, f=3.0, args=1.0) == 3.0


def test_jvp_of_nodes_gives_nodes():
    x = Node(3.0)
    out, tangent = jvp(lambda y: y**3, [x], [1.0])
    assert (out.data, tangent.data) == (27.0, 27.0)
    tangent.backward()
    assert x.grad == 18.0


def test_no_grad_attribute_is_touched_and_no_cycle_left():
    w = Node(np.ones(3))
    inside = []

    def f(x):
        inside.append((x * w).tanh())
        return inside[0].sum()

    value_and_grad(f)(np.ones(3))
    assert inside[0].grad == 0.0
    assert w.grad == 0.0
    gc.collect()
    gc.disable()
    try:
        grad(grad(lambda x: x**3))(2.0)
        hessian(lambda x: (x**3).sum(), np.ones(3))
        inside.clear()
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_gradients_are_the_callers_own():
    first, second = grad(lambda a, b: (a + b).sum(), argnums=(0, 1))(np.ones(2), np.ones(2))
    first *= 5
    assert second.tolist() == [1.0, 1.0]


def test_an_argument_without_influence_has_gradient_zero():
    assert grad(lambda x: Node(3.0))(1.0) == 0.0
    assert grad(lambda x, y: y * 2, argnums=0)(np.ones(2), Node(1.0)).tolist() == [0.0, 0.0]
    assert jvp(lambda x: Node(3.0, requires_grad=False), [1.0], [1.0]) == (3.0, 0.0)


@each(
    ("call", "error", "message"),
    [
        (lambda: grad(lambda x: x * 2)(np.ones(3)), ValueError, r"\(3,\): reduce"),
        (lambda: grad(lambda x: x.data)(1.0), TypeError, "must give a node"),
        (lambda: grad(lambda x: x, argnums=1)(1.0), ValueError, "argument 1"),
        (lambda: grad(lambda x: x, argnums="x")(1.0), TypeError, "argnums must be a position"),
        (lambda: grad(lambda x: x)("a"), TypeError, "str"),
        (lambda: jvp(lambda x: x, [1.0], []), ValueError, "as many tangents"),
        (lambda: jvp(lambda x: x, [1.0], [np.ones(2)]), ValueError, "tangent 0"),
        (lambda: hvp(lambda x: x, 1.0, np.ones(2)), ValueError, "v must have the shape"),
        (lambda: vjp(lambda x: x * 2, np.ones(2))[1](np.ones(3)), ValueError, r"\(2,\)"),
        (
            lambda: hvp(lambda x: (x**3).sum(), [1.0, 2.0], [5.0]),
            ValueError,
            r"\(2,\) of the point",
        ),
        (lambda: hvp(sum_of_products, {"a": 1.0}, {"b": 1.0}), ValueError, r"v must have the keys"),
        (lambda: hvp(sum_of_products, [1.0, V], [V]), ValueError, "v must have 2 members"),
        (lambda: jvp(lambda p: p["a"], [{"a": 1.0}], [2.0]), ValueError, "tangent 0 must have the"),
        (lambda: grad(lambda x: x, argnums=()), ValueError, "names no argument"),
        (lambda: grad(lambda x: x)(x=1.0), ValueError, "by name: give it by its position"),
    ],
)
def test_misuse_is_explained(call, error, message):
    with pytest.raises(error, match=message):
        call()


# --- several arrays in one argument -------------------------------------------------------------

TREE = {"W": np.array([[1.0, 2.0], [3.0, 4.0]]), "more": [2.0, (np.array([0.5, -1.0]),)]}


def of_tree(p):
    scale, (b,) = p["more"]
    return ((p["W"] @ b).tanh() * scale).sum() + (b * b).sum() * scale**2


def of_parts(W, scale, b):
    return of_tree({"W": W, "more": [scale, (b,)]})


def test_an_argument_may_be_a_container():
    W, scale, b = TREE["W"], 2.0, TREE["more"][1][0]
    by_W, by_scale, by_b = grad(of_parts, argnums=(0, 1, 2))(W, scale, b)
    value, g = value_and_grad(of_tree)(TREE)
    assert value == of_parts(Node(W), scale, Node(b)).data
    assert list(g) == ["W", "more"]
    assert isinstance(g["more"][1], tuple)
    np.testing.assert_array_equal(g["W"], by_W)
    assert g["more"][0] == by_scale
    np.testing.assert_array_equal(g["more"][1][0], by_b)
    _, pull = vjp(of_tree, TREE)
    np.testing.assert_array_equal(pull(1.0)[0]["W"], by_W)
    along = {"W": np.ones((2, 2)), "more": [0.5, (np.array([1.0, 2.0]),)]}
    product = hvp(of_tree, TREE, along)
    step = 1e-6
    ends = [
        grad(of_parts, argnums=(0, 1, 2))(
            W + s * along["W"], scale + s * 0.5, b + s * np.array([1.0, 2.0])
        )
        for s in (step, -step)
    ]
    products = product["W"], product["more"][0], product["more"][1][0]
    for got, (right, left) in zip(products, zip(*ends, strict=True), strict=True):
        np.testing.assert_allclose(got, (right - left) / (2 * step), rtol=1e-6)
    with pytest.raises(ValueError, match="hvp: v must have the shape"):
        hvp(of_tree, TREE, {"W": np.ones(2), "more": [0.5, (np.ones(2),)]})


def sum_of_products(p):
    return p["a"] ** 2 * p["b"]


V = np.array([1.0, 2.0])


def test_directions_are_matched_by_key():
    x = {"a": 1.0, "b": 2.0}
    assert hvp(sum_of_products, x, {"b": 1.0, "a": 0.0}) == {"a": 2.0, "b": 0.0}
    assert jvp(sum_of_products, [x], [{"b": 1.0, "a": 0.0}]) == (2.0, 1.0)


def changing(p):
    p["W"] = p["W"] * 2
    return of_tree({"W": p.pop("W"), "more": [p["more"].pop(0), *p["more"]]})


def changing_twin(p):
    return of_tree({"W": p["W"] * 2, "more": p["more"]})


@each(
    "derivative",
    [
        lambda f: grad(f)(TREE),
        lambda f: value_and_grad(f)(TREE),
        lambda f: vjp(f, TREE)[1](1.0),
        lambda f: jvp(f, [TREE], [TREE]),
        lambda f: hvp(f, TREE, TREE),
        lambda f: jacobian(f, TREE),
        lambda f: hessian(f, TREE),
    ],
)
def test_a_function_may_change_the_container_that_it_is_given(derivative):
    assert str(derivative(changing)) == str(derivative(changing_twin))
    assert TREE["more"][0] == 2.0


@pytest.mark.slow
def test_every_derivative_takes_containers_as_jax_does():
    def theirs(p):
        scale, (b,) = p["more"]
        return (jnp.tanh(p["W"] @ b) * scale).sum() + (b * b).sum() * scale**2

    def array_of(p):
        return p["W"] @ p["more"][1][0] * p["more"][0]

    pairs = [
        (jvp(of_tree, [TREE], [TREE]), jax.jvp(theirs, [TREE], [TREE])),
        (jacobian(array_of, TREE), jax.jacobian(array_of)(TREE)),
        (jacobian(of_tree)(TREE), jax.jacobian(theirs)(TREE)),
        (hessian(of_tree)(TREE), jax.hessian(theirs)(TREE)),
    ]
    for got, wanted in pairs:
        leaves, structure = jax.tree.flatten(got)
        assert structure == jax.tree.structure(wanted)
        for a, b in zip(leaves, jax.tree.leaves(wanted), strict=True):
            assert np.shape(a) == np.shape(b)
            same(a, b)
    assert check_gradients(of_tree, TREE, order=2) < 1
    with pytest.raises(AssertionError, match=r"by argument 1 is wrong"):
        check_gradients(lambda p: (p["W"] * p["more"][0].data).sum() * p["more"][0], TREE)


def our_cube(x):
    return (x**3).sum()


def test_matrices_of_derivatives_in_both_forms():
    np.testing.assert_array_equal(hessian(our_cube)(V), hessian(our_cube, V))
    np.testing.assert_array_equal(jacobian(our_cube)(V), jacobian(our_cube, V))
    assert jacobian(lambda x: x[:0], V).shape == (0, 2)


def test_what_is_an_array_and_what_a_container():
    Point = collections.namedtuple("Point", "w b")
    assert grad(lambda p: p.w * p.b)(Point(2.0, 3.0)) == Point(3.0, 2.0)
    assert grad(lambda ps: ps[0].w * ps[1].b)((Point(2.0, 3.0), Point(4.0, 5.0))) == (
        Point(5.0, 0.0), Point(0.0, 2.0),
    )  # fmt: skip
    g = grad(lambda p: (p[0] * p[1]).sum())(((1.0, 2.0), 3.0))
    assert isinstance(g, tuple)
    assert (g[0].tolist(), g[1]) == ([3.0, 3.0], 3.0)
    assert grad(lambda m: (m @ m).sum())([[1.0, 2.0], [3.0, 4.0]]).shape == (2, 2)


def test_a_list_of_numbers_is_an_array():
    assert grad(lambda x: x[0] * x[1])([2.0, 3.0]).tolist() == [3.0, 2.0]
    assert grad(lambda p: p[0] * p[1])([2.0, np.array(3.0)]) == [3.0, 2.0]


def test_more_than_the_value_may_be_given():
    def f(x):
        return (x * x).sum(), {"double": x * 2}

    (value, more), g = value_and_grad(f, has_aux=True)(np.array([1.0, 2.0]))
    assert (value, more["double"].tolist(), g.tolist()) == (5.0, [2.0, 4.0], [2.0, 4.0])
    g, more = grad(f, has_aux=True)(np.array([1.0, 2.0]))
    assert isinstance(more["double"], np.ndarray)
    with pytest.raises(TypeError, match=r"has_aux.*\(node, more\)"):
        grad(lambda x: x, has_aux=True)(1.0)


def test_the_jacobian_is_the_matrix_of_first_derivatives():
    W = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    x = np.array([0.1, -0.2])
    slope = 1 - np.tanh(W @ x) ** 2
    np.testing.assert_allclose(jacobian(lambda x: (W @ x).tanh(), x), slope[:, None] * W)
    assert jacobian(lambda x: x**2, 3.0) == 6.0
    assert jacobian(lambda x: x.sum(axis=0), np.ones((2, 3))).shape == (3, 2, 3)
    second = grad(lambda x: jacobian(lambda y: y**3, x).sum())(np.array([1.0, 2.0]))
    np.testing.assert_allclose(second, [6.0, 12.0])


@each(
    ("call", "message"),
    [
        (lambda: grad(3.0), "grad takes a function"),
        (lambda: grad(lambda x: x, 2.0), r"grad\(f, 0\)\(x\)"),
        (lambda: jvp(lambda x: x, 3.0, 1.0), "primals must be a list"),
        (lambda: jvp(lambda x: x, [3.0], 1.0), "tangents must be a list"),
    ],
)
def test_calls_of_the_wrong_kind(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_leaves_beside_the_arguments():
    w, b = Node(np.array([1.0, 2.0]), "w"), Node(3.0, "b")

    def f(x):
        return (w * x).sum() * b

    value, gradients = value_and_grad(f, by=[b, w])(4.0)
    assert value == 36.0
    assert gradients[0] == 12.0
    np.testing.assert_array_equal(gradients[1], [12.0, 12.0])
    assert w.grad == b.grad == 0.0
    # nested: the derivative by x of what the derivative by b is
    assert grad(lambda x: value_and_grad(f, by=[b])(x)[1][0])(4.0) == 3.0
