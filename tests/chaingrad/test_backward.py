"""The pass: adjoints against a pass by the book, messages, and passes that fail."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaingrad import Node, checkpoint, concatenate, grad
from chaingrad.backward import adjoints, children_first
from chaingrad.messages import messages
from chaingrad.nn import MLP
from chaingrad.rules import Rule
from tests.chaingrad.test_fuzz import grow

seeds = st.integers(0, 2**32 - 1)


def by_the_book(root):
    """The adjoints of all nodes by the definition, x̄ = Σ c̄ ∂c/∂x, on sorted nodes."""
    adjoint = {root: root.seed()}
    for node in children_first(root):
        inputs = [parent.data for parent in node.parents]
        needed = [parent.requires_grad for parent in node.parents]
        for parent, share in zip(
            node.parents, node.rule.pull(adjoint[node], node.data, inputs, needed), strict=True
        ):
            if parent.requires_grad:
                axes = np.ndim(share) - parent.ndim
                share = np.sum(share, axis=tuple(range(axes)))
                ones = tuple(i for i, n in enumerate(parent.shape) if n == 1 != share.shape[i])
                adjoint[parent] = adjoint.get(parent, 0.0) + share.sum(axis=ones, keepdims=True)
    return adjoint


def numbers(seed):
    """A scalar network with a penalty, whose weights have several children."""
    random = np.random.default_rng(seed)
    model = MLP(3, [4, 4, 1], rng=random)
    x = [Node(v) for v in random.uniform(-1, 1, 3).tolist()]
    return (model(x) - 1.0) ** 2 + sum(w * w for w in model.parameters())


def arrays(seed):
    return grow(np.random.default_rng(seed))[1]


@pytest.mark.parametrize("draw", [arrays, numbers])
@given(seed=seeds)
def test_the_pass_gives_the_sums_of_the_definition(draw, seed):
    root = draw(seed)
    expected = by_the_book(root)
    root.backward()
    for node, g in expected.items():
        assert type(node.grad) is type(node.data)
        np.testing.assert_allclose(node.grad, g, rtol=1e-12, atol=1e-14)
    some = [node for node in expected if node.rule is None][::2]
    for node, g in adjoints(root, root.seed(), some, independent=True).items():
        assert type(g) is type(node.data)
        np.testing.assert_allclose(g, expected[node], rtol=1e-12, atol=1e-14)


@given(seed=seeds)
def test_nodes_are_left_in_the_order_that_is_listed(seed):
    root = arrays(seed)
    assert list(dict.fromkeys(m.child for m in messages(root))) == children_first(root)


@given(seed=seeds)
def test_messages_add_up_to_the_gradients_of_the_pass(seed):
    _, root, *_ = grow(np.random.default_rng(seed))
    sums, sent = {root: root.seed()}, []
    for m in messages(root):
        assert m.parent is m.child.parents[m.position]
        assert m.above is sums[m.child]  # it has all its shares
        assert m.known is sums.get(m.parent)
        sums[m.parent] = m.total
        sent.append((m.child, m.position))
        if m.local is not None:
            assert m.share == pytest.approx(m.above * m.local, rel=1e-12, abs=1e-14, nan_ok=True)
    before = [leaf.grad for leaf in sums]
    assert before == [0.0] * len(before)  # nothing is stored
    root.backward()
    for node, total in sums.items():
        np.testing.assert_allclose(node.grad, total, rtol=1e-12, atol=1e-14)
    edges = [(x, i) for x in sums for i, p in enumerate(x.parents) if p.requires_grad]
    assert len(sent) == len(edges)
    assert set(sent) == set(edges)


def test_messages_say_a_local_gradient_only_where_it_is_a_number():
    x, W = Node(3.0, "x"), Node(np.array([1.0, 2.0]), "W")
    c = Node(5.0, requires_grad=False)
    found = [(m.child.op, m.position, m.local) for m in messages((W * x).sum() * c)]
    assert found == [("mul", 0, 5.0), ("sum", 0, None), ("mul", 0, None), ("mul", 1, None)]
    assert [m.local for m in messages(x * c)] == [5.0]
    assert list(messages(x)) == []


@pytest.mark.parametrize(("root", "says"), [
    (3.0, "expects a node; got"),
    (Node(1.0, requires_grad=False), "does not depend on any node that requires a gradient"),
])  # fmt: skip
def test_messages_refuse_what_has_none(root, says):
    with pytest.raises(TypeError, match=says):
        next(messages(root))


@pytest.mark.parametrize("independent", [False, True])
def test_several_wanted_nodes_get_their_total_derivatives(independent):
    w, v = Node(3.0), Node(5.0)
    m = 2 * w
    h = 3 * m
    loss = h * h + w * v
    everything = adjoints(loss, 1.0, [w, m, h, v])
    assert everything == {w: 6 * 36.0 + 5.0, m: 108.0, h: 36.0, v: 3.0}
    assert adjoints(loss, 1.0, [w, v], independent=independent) == {w: 221.0, v: 3.0}
    assert adjoints(loss, 1.0, [h, v], independent=independent) == {h: 36.0, v: 3.0}
    assert adjoints(h, 1.0, [v], independent=independent) == {}


# --- passes that fail ---------------------------------------------------------------------------


def stop(g, out, a):
    raise KeyboardInterrupt


def grown(number, broken):
    """A graph whose pass is stopped on its way, after leaves on both sides have had shares."""
    a, b, c = (Node(number(k)) for k in (1.0, 2.0, 3.0))
    stopper = Rule("stopper", lambda x: x * 1.0, (stop,)) if broken else (lambda x: x * 1.0)
    loss = (a * 3 + stopper(b * 2) * c + a.exp() + concatenate([a, c]).sum()
            if number is not float else a * 3 + stopper(b * 2) * c + a.exp())  # fmt: skip
    return (a, b, c), loss if number is float else loss.sum()


@pytest.mark.parametrize("number", [float, lambda k: np.full(3, k)], ids=["numbers", "arrays"])
@pytest.mark.parametrize("way", [{}, {"create_graph": True}], ids=["plain", "recorded"])
def test_a_pass_that_is_interrupted_changes_no_gradient(number, way):
    _, loss = grown(number, broken=True)
    for node in loss.sorted_graph():
        node.grad = 7.0
    with pytest.raises(KeyboardInterrupt):
        loss.backward(**way)
    assert all(type(node.grad) is float and node.grad == 7.0 for node in loss.sorted_graph())
    if number is float:
        again, right = grown(number, broken=False)
        for node in again:
            node.grad = 7.0
        right.backward()
        assert again[0].grad == pytest.approx(7 + 3 + np.exp(1.0))


def test_an_interrupted_derivative_does_not_bar_the_next():
    def f(x):
        return Rule("stopper", lambda a: a * 1.0, (stop,))(x * 2) * y

    y = Node(3.0)
    with pytest.raises(KeyboardInterrupt):
        grad(f)(1.0)
    (y * y).backward()
    assert y.grad == 6.0


def test_a_pass_within_a_pass():
    inner = Node(2.0)

    def vjp(g, out, a):
        (inner * inner * 3.0).backward()
        return g * grad(lambda t: t**2 * inner)(a)

    x = Node(5.0)
    (Rule("outer", lambda a: a * a * 2.0, (vjp,))(x) * inner).backward()
    assert x.grad == 2 * 10.0 * 2.0
    assert inner.grad == 12.0 + 50.0


def test_a_checkpoint_on_numbers():
    x, w = Node(0.5), Node(2.0)
    y = checkpoint(lambda x: (x * w).tanh() * w, x) + x
    y.backward()
    plain_x, plain_w = Node(0.5), Node(2.0)
    ((plain_x * plain_w).tanh() * plain_w + plain_x).backward()
    assert (x.grad, w.grad) == pytest.approx((plain_x.grad, plain_w.grad))
