"""What a node promises: values, gradients, memory, threads and messages."""

import contextlib
import copy
import gc
import operator
import pickle
import subprocess
import sys
import threading
import tracemalloc
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaingrad import Node, concatenate, no_grad, stack, where
from chaingrad.backward import children_first
from chaingrad.messages import local_gradients
from chaingrad.nn import Parameter
from chaingrad.optim import SGD
from chaingrad.rules import Rule


@contextlib.contextmanager
def collector_off():
    """Memory is freed by reference counts alone."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


# --- values -------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [3, True, np.int8(3), np.float64(3.0), 3.0])
def test_numbers_are_held_as_python_floats(data):
    assert type(Node(data).data) is float


def test_floating_arrays_are_held_as_they_are():
    for dtype in (np.float16, np.float32, np.float64):
        data = np.ones((2, 3), dtype)
        assert Node(data).data is data
    assert Node(np.float32(1.5)).data.dtype == np.float32


@pytest.mark.parametrize("data", [[1, 2], np.arange(3), np.array([True, False]), ((1.0,), (2.0,))])
def test_integers_booleans_and_lists_become_float64_arrays(data):
    assert Node(data).data.dtype == np.float64
    np.testing.assert_array_equal(Node(data).data, data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("a", "str 'a'"),
        (None, "NoneType"),
        (1j, "real and imaginary parts apart"),
        (np.array(["a"]), "dtype <U1"),
        (np.array([object()]), "dtype object"),
        ([1, [2]], "no array"),
        (Node(1.0), "a node already"),
        ([Node(1.0)], "chaingrad.stack"),
    ],
)
def test_what_is_not_numeric_is_refused(data, message):
    with pytest.raises(TypeError, match=message):
        Node(data)


# --- dtypes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_dtype_is_kept_through_values_and_gradients(dtype):
    W, b = Node(np.full((4, 3), 0.5, dtype)), Node(np.ones(4, dtype))
    X = np.ones((5, 3), dtype)
    loss = (((X @ W.T + b).relu() * 2 + 1) ** 2).mean() * 0.5 + (W * np.arange(3)).sum()
    assert loss.dtype == dtype
    loss.backward()
    for node in loss.sorted_graph():
        if node.requires_grad and not isinstance(node.data, float):
            assert isinstance(node.grad, np.ndarray)
            assert node.grad.dtype == node.data.dtype == dtype
            assert node.grad.shape == node.data.shape


def test_python_numbers_integer_and_boolean_arrays_do_not_widen():
    x = Node(np.ones(3, np.float32))
    for result in (x + 1, 2.0 * x, x**2, x / 3, x * np.arange(3), x * np.array([True] * 3)):
        assert result.dtype == np.float32


def test_mixed_dtypes_give_each_leaf_a_gradient_of_its_own_dtype():
    single, double = Node(np.ones(3, np.float32)), Node(np.ones(3))
    (single * double).sum().backward()
    assert (single.grad.dtype, double.grad.dtype) == (np.float32, np.float64)
    (single.astype(np.float64) * double).sum().backward(create_graph=True)
    assert single.grad.dtype == np.float32
    with pytest.raises(TypeError, match="dtype cannot be int"):
        single.astype(int)


def test_zero_dimensional_arrays_get_zero_dimensional_gradients():
    x = Node(np.array(3.0))
    (x * x + x).backward()
    assert isinstance(x.grad, np.ndarray)
    assert x.grad.shape == ()
    assert x.grad == 7.0


@given(shape=st.sampled_from([(0,), (3, 0), (0, 2)]))
def test_zero_size_arrays(shape):
    x = Node(np.ones(shape))
    loss = (x * 2).sum() + 1.0
    loss.backward()
    assert loss.data == 1.0
    assert x.grad.shape == shape


# --- operands -----------------------------------------------------------------------------------


def test_numbers_arrays_and_lists_on_either_side():
    x = Node(np.array([1.0, 2.0]))
    a = np.array([3.0, 4.0])
    for result, expected in [
        (a + x, [4, 6]),
        (a - x, [2, 2]),
        (a * x, [3, 8]),
        (a / x, [3, 2]),
        (a**x, [3, 16]),
        (a @ x, 11),
        (x @ a, 11),
        ([3, 4] - x, [2, 2]),
        (np.float64(5) - x, [4, 3]),
        (2 - x, [1, 0]),
        (+x, [1, 2]),
        (-x, [-1, -2]),
        (abs(-x), [1, 2]),
    ]:
        assert isinstance(result, Node)
        np.testing.assert_array_equal(result.data, expected)


def test_operands_that_are_not_numeric_get_pythons_own_error():
    for operation in (lambda x: x + "a", lambda x: None * x, lambda x: x @ {}):
        with pytest.raises(TypeError, match="unsupported operand"):
            operation(Node(1.0))


@pytest.mark.parametrize("data", [1.0, np.array([1.0])])
def test_a_comparison_can_be_negated(data):
    x = Node(data)
    for truth in (x > 0, x >= 0, x > 0, x < 2.0, x <= Node(2.0)):
        assert truth
        assert not ~truth


def test_comparisons_give_plain_booleans_and_equality_is_identity():
    x, y = Node(np.array([1.0, 2.0])), Node(np.array([2.0, 2.0]))
    assert (x < y).tolist() == [True, False]
    assert (x >= 2).tolist() == [False, True]
    assert [Node(1.0) <= Node(1.0), Node(1.0) > 1] == [True, False]
    assert x != Node(x.data)
    assert len({x, y, x}) == 2
    for compare in (
        lambda: x == 1.0, lambda: x != np.ones(2), lambda: np.ones(2) == x, lambda: x == [1.0, 2.0],
        lambda: x != (1.0, 2.0),
    ):  # fmt: skip
        with pytest.raises(TypeError, match="compare"):
            compare()


def test_len_iteration_and_item():
    x = Node(np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert len(x) == 2
    sum(row.sum() * (i + 1) for i, row in enumerate(x)).backward()
    assert x.grad.tolist() == [[1, 1], [2, 2]]
    assert x[1, 0].item() == Node(np.array([3.0])).item() == 3.0
    for misuse in (lambda: len(Node(1.0)), lambda: list(Node(1.0))):
        with pytest.raises(TypeError, match="scalar"):
            misuse()
    with pytest.raises(ValueError, match="has 4"):
        x.item()


def test_truth_is_that_of_the_only_entry():
    assert Node(2.0)
    assert not Node(np.zeros((1, 1)))
    with pytest.raises(ValueError, match="no truth value"):
        bool(Node(np.ones(2)))


def test_repr_tells_value_label_and_operation():
    assert repr(Node(2.0)) == "Node(2.0)"
    assert repr(Node(2.0, "x") * 3) == "Node(6.0, op='mul')"
    assert repr(Node(1.5, "c", requires_grad=False)) == "Node(1.5, label='c', requires_grad=False)"
    assert repr(Node(np.array([1.0, 2.0]))) == "Node([1., 2.])"


# --- the backward pass --------------------------------------------------------------------------


def test_leaves_accumulate_and_interior_gradients_are_fresh():
    x = Node(3.0)
    square = x * x
    cube = square * x
    for call in (1, 2):
        cube.backward()
        assert x.grad == 27.0 * call
        assert (square.grad, cube.grad) == (3.0, 1.0)


def test_a_root_that_is_a_leaf_accumulates():
    x = Node(3.0)
    x.backward()
    x.backward(5.0)
    assert x.grad == 6.0


def test_nodes_that_the_root_does_not_depend_on_keep_zero():
    x, unused = Node(1.0), Node(2.0)
    other = x * unused
    (x * 3).backward()
    assert (unused.grad, other.grad) == (0.0, 0.0)


def test_constants_get_no_gradient_and_cost_no_work(monkeypatch):
    X, W = Node(np.ones((5, 3)), requires_grad=False), Node(np.ones((3, 2)))
    product = X @ W
    calls = []
    left, right = product.rule.vjps
    monkeypatch.setattr(
        product.rule,
        "vjps",
        (
            lambda *a: calls.append("left") or left(*a),
            lambda *a: calls.append("right") or right(*a),
        ),
    )
    product.sum().backward()
    assert calls == ["right"]
    assert X.grad == 0.0


def test_results_of_constants_are_constants():
    result = Node(2.0, requires_grad=False) * 3
    assert not result.requires_grad
    assert result.parents == ()
    with pytest.raises(TypeError, match="requires a gradient"):
        result.backward()


def test_gradients_of_leaves_share_no_memory():
    a, b, c = (Node(np.ones(3)) for _ in range(3))
    (a + b + c.reshape(3)).sum().backward()
    a.grad *= 10
    b.grad += 1
    assert (a.grad[0], b.grad[0], c.grad[0]) == (10, 2, 1)
    seed = np.ones(3)
    d = Node(np.ones(3))
    (d + 0).backward(seed)
    d.grad *= 5
    assert seed.tolist() == [1, 1, 1]


def test_gradient_argument_is_the_vector_of_the_product():
    x = Node(np.array([1.0, 2.0]))
    (x**2).backward(np.array([0.5, 2.0]))
    assert x.grad.tolist() == [1.0, 8.0]
    (x**2).backward([1, 1])
    assert x.grad.tolist() == [3.0, 12.0]


def test_gradient_may_be_left_out_for_one_entry():
    x = Node(np.array([[2.0]]))
    (x * x).backward()
    assert x.grad.tolist() == [[4.0]]


def test_backward_of_many_entries_needs_a_gradient_of_their_shape():
    y = Node(np.ones((2, 3)), "W") * 2
    y.label = "y"
    with pytest.raises(ValueError, match=r"node 'y' of shape \(2, 3\) is not a scalar.*gradient="):
        y.backward()
    for wrong in (np.ones(3), 1.0, np.ones((3, 2))):
        with pytest.raises(ValueError, match=r"must have the shape \(2, 3\)"):
            y.backward(wrong)
    with pytest.raises(TypeError, match="str"):
        y.backward("up")


def test_a_failed_backward_leaves_the_graph_usable():
    x = Node(2.0)
    y = x * x

    def fail(*args):
        raise RuntimeError("interrupted")

    broken = Rule("broken", lambda a: a, (fail,))(y)
    with pytest.raises(RuntimeError, match="interrupted"):
        broken.backward()
    assert x.grad == 0.0
    y.backward()
    assert x.grad == 4.0


@pytest.mark.parametrize("data", [2.0, np.array(2.0), np.array(2.0, np.float32), np.ones(2)])
@pytest.mark.parametrize(
    "f", [lambda x: x * x * 3.0 + x.exp(), lambda x: x[...] * x, lambda x: x.reshape(-1)[0] + x]
)
def test_under_create_graph_gradients_are_of_the_kind_of_the_data(f, data):
    x, y = Node(data), Node(data)
    f(x).sum().backward(create_graph=True)
    f(y).sum().backward()
    assert type(x.grad.data) is type(y.grad) is type(data)
    np.testing.assert_array_equal(x.grad.data, y.grad)
    assert x.grad.dtype == x.dtype


@pytest.mark.parametrize("f", [lambda x: x * x, lambda x: x.exp(), lambda x: x**3 + x])
@pytest.mark.parametrize("create_graph", [False, True])
def test_gradients_keep_the_order_of_bytes(f, create_graph):
    x = Node(np.array([1.0, 2.0], ">f4"))
    f(x).sum().backward(create_graph=create_graph)
    assert x.grad.dtype.str == ">f4"


@pytest.mark.parametrize("data", [2.0, np.array(2.0), np.ones(2), np.ones(2, np.float32)])
@pytest.mark.parametrize("of", [lambda g: g * (2 + 1j), lambda g: np.asarray(g * (2 + 1j))])
def test_a_vjp_that_gives_complex_numbers_is_refused(of, data):
    x = Node(data)
    turning = Rule("turning", lambda a: 2.0 * a, [lambda g, out, a: of(g)])
    with pytest.raises(TypeError, match=r"the VJP of turning .* complex"):
        turning(x).sum().backward()
    assert type(x.grad) is float
    assert x.grad == 0.0


def test_create_graph_makes_gradients_that_can_be_differentiated():
    x = Node(2.0)
    (x**4).backward(create_graph=True)
    first = x.grad
    assert isinstance(first, Node)
    assert first.data == 32.0
    x.grad = 0.0
    first.backward()
    assert x.grad == 48.0


def test_detach_stops_the_gradient():
    x = Node(3.0)
    (x * x.detach()).backward()
    assert x.grad == 3.0


# --- order, size and memory ---------------------------------------------------------------------


@given(st.data())
def test_the_engines_own_sort_gives_a_valid_order(data):
    nodes = [Node(1.0), Node(2.0)]
    for _ in range(data.draw(st.integers(1, 25))):
        i, j = (data.draw(st.integers(0, len(nodes) - 1)) for _ in range(2))
        nodes.append(nodes[i] * nodes[j])
    order = children_first(nodes[-1])
    position = {node: i for i, node in enumerate(order)}
    for node in order:
        assert all(position[node] < position.get(parent, len(order)) for parent in node.parents)
    assert len(order) == len(set(order))
    assert set(order) == {node for node in nodes[-1].sorted_graph() if node.parents}


@pytest.mark.slow
def test_a_million_operations_without_recursion_and_freed_at_once():
    with collector_off():
        x = Node(1.0)
        y = x
        for _ in range(1_000_000):
            y = -y
        end = weak_label(y.parents[0])
        assert len(y.sorted_graph()) == 1_000_001
        y.backward()
        assert x.grad == 1.0
        del y
        assert end() is None


def weak_label(node):
    """Label ``node``; a weak reference to the label, which lives as long as the node."""

    class Label(str):
        __slots__ = ("__weakref__",)

    node.label = Label("mine")
    return weakref.ref(node.label)


def test_dropping_the_root_frees_the_graph_without_the_cyclic_collector():
    with collector_off():
        W = Node(np.ones((3, 3)))
        loss = (
            (np.ones((2, 3)) @ W.T).tanh().logsumexp(axis=1) + concatenate([W[0], W[1]])[0]
        ).sum()
        held = [weakref.ref(node.data) for node in loss.sorted_graph()
                if isinstance(node.data, np.ndarray) and node is not W]  # fmt: skip
        loss.backward()
        del loss
        assert [ref() for ref in held] == [None] * len(held)
        assert gc.collect() == 0


def test_huge_fan_in_and_fan_out():
    x = Node(1.0)
    y = stack([x] * 2000).sum()
    for _ in range(2000):
        y = y + x
    y.backward()
    assert x.grad == 4000.0


def test_release_frees_interior_values_as_the_pass_leaves_them():
    x = Node(np.ones(4))
    hidden = x * 2
    loss = (hidden * hidden).sum()
    value = loss.data
    loss.backward(release=True)
    assert x.grad.tolist() == [8.0] * 4
    assert loss.data == value
    assert hidden.data is None
    with pytest.raises(ValueError, match="release"):
        loss.backward()
    with pytest.raises(ValueError, match="freed"):
        hidden + 1
    with pytest.raises(ValueError, match="create_graph"):
        (x * x).sum().backward(create_graph=True, release=True)


def test_what_was_released_stays_so_in_a_pickle():
    x = Node(2.0)
    y = x * x
    y.backward(release=True)
    twin = pickle.loads(pickle.dumps(y))
    assert twin.data == 4.0
    with pytest.raises(ValueError, match="freed"):
        twin.backward()


def test_release_peaks_lower():
    def peak(release):
        x = Node(np.ones(100_000))
        y = x
        for _ in range(20):
            y = y.sin()
        loss = y.sum()
        tracemalloc.start()
        loss.backward(release=release)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    assert peak(release=True) < 0.3 * peak(release=False)


# --- copies and pickles -------------------------------------------------------------------------


def duplicates(thing):
    yield copy.deepcopy(thing)
    for protocol in (2, pickle.HIGHEST_PROTOCOL):
        yield pickle.loads(pickle.dumps(thing, protocol))


def test_copies_and_pickles_compute_the_same_and_share_nothing():
    W = Parameter(np.array([[1.0, 2.0], [3.0, 4.0]]), "W")
    loss = (concatenate([W[0], W.T[1]]).sum() * where(W > 2, W, 0.5).mean()).tanh() + W.max()
    loss.backward()
    gradient = W.grad.copy()
    for twin in duplicates(loss):
        (leaf,) = (node for node in twin.sorted_graph() if node.label == "W")
        assert isinstance(leaf, Parameter)
        assert twin.data == loss.data
        np.testing.assert_array_equal(leaf.grad, gradient)
        twin.backward()
        np.testing.assert_array_equal(leaf.grad, 2 * gradient)
        leaf.data[:] = 0
        np.testing.assert_array_equal(W.grad, gradient)
    assert W.data[0, 0] == 1.0


def test_duplicates_of_several_losses_share_their_leaves():
    x = Node(3.0, "x")
    for again, square in duplicates([x, x * x]):
        assert square.parents == (again, again)


def test_a_rule_that_the_table_does_not_know_cannot_be_pickled():
    for name in ("mine", "exp"):
        y = Rule(name, lambda a: 2 * a, (lambda g, out, a: 2 * g,))(Node(1.0))
        with pytest.raises(TypeError, match=f"rule {name} cannot be pickled.*enter it"):
            pickle.dumps(y)


@pytest.mark.slow
def test_a_long_graph_is_copied_and_pickled_without_recursion():
    y = Node(1.0)
    for _ in range(100_000):
        y = -y
    for twin in (copy.deepcopy(y), pickle.loads(pickle.dumps(y))):
        assert twin.data == y.data
        assert len(twin.sorted_graph()) == 100_001


# --- threads ------------------------------------------------------------------------------------


def test_threads_that_share_leaves_add_up():
    w = Node(np.ones(50))
    rounds, threads = 40, 8
    barrier = threading.Barrier(threads)

    def work(scale):
        barrier.wait()
        for _ in range(rounds):
            y = w
            for _ in range(5):
                y = y * scale
            y.sum().backward()

    old = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        workers = [threading.Thread(target=work, args=(k + 1,)) for k in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    finally:
        sys.setswitchinterval(old)
    assert w.grad.tolist() == [rounds * sum((k + 1) ** 5 for k in range(threads))] * 50


# --- messages -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (lambda W, b: W + b, r"add.*node 'W' of shape \(4, 3\) and node 'b' of shape \(2,\)"),
        (lambda W, b: W @ b, r"matmul.*'W' of shape \(4, 3\).*inner sizes"),
        (lambda W, b: Node(2.0) @ W, r"matmul.*of shape \(\)"),
        (lambda W, b: W.reshape(5, 5), r"reshape\(shape=\(5, 5\)\).*'W'.*number of entries"),
        (lambda W, b: concatenate([W, b]), r"concatenate.*'W'.*'b'"),
        (lambda W, b: where(W > 0, W, b), r"where.*'W'.*'b'.*broadcast"),
        (lambda W, b: W.broadcast_to(7, 7), r"broadcast_to.*'W'"),
    ],
)
def test_shapes_that_do_not_fit_are_named(operation, message):
    with pytest.raises(ValueError, match=message):
        operation(Node(np.ones((4, 3)), "W"), Node(np.ones(2), "b"))


def test_wrong_indices_are_named():
    with pytest.raises(IndexError, match=r"getitem.*'W'"):
        Node(np.ones((4, 3)), "W")[9]
    with pytest.raises((TypeError, IndexError), match=r"getitem.*'s'"):
        Node(1.0, "s")[0]


def test_a_gradient_of_none_is_a_gradient_of_zero():
    a, b, W = Node(2.0), Node(3.0), Node(np.ones(2))
    a.grad = b.grad = W.grad = None
    (a * b * W.sum()).backward()
    assert (a.grad, b.grad, W.grad.tolist()) == (6.0, 4.0, [6.0, 6.0])


def test_an_interior_node_may_be_frozen():
    x = Node(2.0)
    y = x * 3.0
    y.requires_grad = False
    (y * x).backward()
    assert (x.grad, y.grad) == (6.0, 0.0)


def test_the_operand_of_a_function_may_be_frozen():
    x = Node(2.0)
    a = x * 3.0
    y, z = x.exp(), a.exp()
    x.requires_grad = a.requires_grad = False
    y.backward()
    z.backward()
    assert (x.grad, a.grad) == (0.0, 0.0)


def test_the_graph_of_a_gradient_is_made_within_no_grad_too():
    x = Node(3.0)
    y = x**3
    with no_grad():
        y.backward(create_graph=True)
        assert not (x * x).requires_grad
    slope, x.grad = x.grad, 0.0
    slope.backward()
    assert x.grad == 18.0


def test_an_index_changed_after_its_use_does_not_matter():
    x, index = Node(np.zeros(3)), np.array([0, 1])
    y = x[index]
    index[:] = 2
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0, 0.0]


def test_a_gradient_with_a_graph_cannot_be_pickled():
    x = Node(3.0, "x")
    (x * x).backward(create_graph=True)
    with pytest.raises(TypeError, match=r"'x' of shape .* its grad is a node"):
        pickle.dumps(x)


def test_a_mask_is_refused():
    with pytest.raises(TypeError, match="mask"):
        Node(np.ma.masked_equal([1.0, 2.0], 2.0))


def test_nothing_to_join_is_an_error():
    for join in (concatenate, stack):
        with pytest.raises(ValueError, match="at least one"):
            join([])


def test_what_cannot_be_stacked_is_named():
    x = Node(np.zeros(3))
    assert stack([x, x], axis=-2).shape == (2, 3)
    for axis in (2, -3):
        with pytest.raises(ValueError, match=f"stack: axis must be .* 0 to 1; got {axis}"):
            stack([x, x], axis=axis)
    with pytest.raises(ValueError, match=r"stack: all must have one shape; got \(3,\), \(\)"):
        stack([x, 1.0])


def test_integers_take_the_dtype_of_the_nodes_that_they_are_joined_to():
    x = Node(np.ones(2, np.float32))
    for join in (concatenate, stack):
        assert join([np.array([1, 2]), x]).dtype == np.float32
    assert stack([Node(np.float32(1.0)), 1]).dtype == np.float32


# --- local gradients and import -----------------------------------------------------------------


def test_local_gradients_of_scalars():
    a, b = Node(2.0), Node(3.0)
    assert local_gradients(a**b) == [(a, 12.0), (b, pytest.approx(8 * np.log(2)))]
    assert local_gradients(a * a) == [(a, 2.0), (a, 2.0)]
    (parent, local), (constant, none) = local_gradients(a + 1)
    assert (parent, local, constant.data, none) == (a, 1.0, 1.0, None)
    assert local_gradients(a) == []
    W = Node(np.ones(3))
    assert local_gradients(W.sum()) == [(W, None)]


def test_import_needs_numpy_alone():
    code = (
        "import sys, chaingrad; "
        "print([m for m in ('graphviz', 'pygraphviz', 'torch', 'jax', 'IPython', 'matplotlib', "
        "'numpy.f2py') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_data_that_are_no_array_are_named():
    v = Node(np.ones(3), label="v")
    v.data = [1, 2, 3]
    with pytest.raises(TypeError, match=r"mul: the data of node 'v' .* list \[1, 2, 3\], which"):
        v * 2


@pytest.mark.parametrize(
    "use",
    [lambda w: w * 2, lambda w: 2 - w, lambda w: w @ np.ones(3), Node.tanh, Node.sum, Node.max,
     lambda w: w[0], lambda w: concatenate([w])],
)  # fmt: skip
def test_data_that_are_a_node_are_named(use):
    w = Node(np.ones(3), "w")
    w.data = w - 0.1
    with pytest.raises(
        TypeError, match=r"data of node 'w' were set to a node.*w\.data = w\.data - "
    ):
        use(w)


INTEGERS = [np.array([200, 3, 1], np.uint8), np.array([-2, 3, 1]), np.array([1, 0, 1]) > 0]


@pytest.mark.parametrize("integers", INTEGERS, ids=["uint8", "int64", "bool"])
@pytest.mark.parametrize(
    "f",
    [lambda w: w * 0.3, lambda w: w * w, lambda w: w**3.0, Node.sin, lambda w: -w, Node.sum,
     lambda w: w.logsumexp() * 2, lambda w: w.T, lambda w: w[0] * w[1], lambda w: w * w[1] / 7,
     lambda w: w @ np.array([1, 2, 3]), lambda w: w + np.ones(3, np.float32)],
)  # fmt: skip
def test_data_set_to_integers_are_differentiated_as_floats(f, integers):
    w, twin = Node(np.ones(3)), Node(integers)
    w.data = integers
    results = []
    for x in (w, twin):
        out = f(x)
        out.sum().backward()
        results.append((out.data, x.grad, x.dtype, np.asarray(x.grad).dtype))
    for got, right in zip(*results, strict=True):
        np.testing.assert_array_equal(got, right)
    optimizer = SGD([w], 0.5)
    optimizer.step()
    np.testing.assert_array_equal(w.data, integers - 0.5 * twin.grad)


def test_a_number_set_to_an_integer_is_a_float():
    x = Node(2.0)
    x.data = 3
    (x * x).backward()
    assert (type((x * x).data), x.grad) == (float, 6.0)


def test_a_gradient_that_does_not_fit_what_was_there_is_refused():
    w = Node(np.ones(3), "w")
    w.grad = np.ones((3, 1))
    with pytest.raises(ValueError, match=r"grad of shape \(3, 1\) was there.*shape \(3,\) cannot"):
        (w * w).sum().backward()
    assert w.grad.shape == (3, 1)


def test_what_pytorch_keeps_a_graph_by_is_answered():
    with pytest.raises(TypeError, match=r"leave retain_graph out.*release=True"):
        Node(1.0).backward(retain_graph=True)


@pytest.mark.parametrize("data", [2.0, np.array([2.0, 3.0])])
@pytest.mark.parametrize("step", ["isub", "iadd", "imul", "itruediv"])
def test_a_step_that_would_lose_a_parameter_is_refused(data, step):
    w, total = Parameter(data, label="w"), Node(data)
    sign = {"isub": "-=", "iadd": r"\+=", "imul": r"\*=", "itruediv": "/="}[step]
    with pytest.raises(TypeError, match=rf"{sign} would .* node 'w' of shape .* w\.data -= "):
        getattr(operator, step)(w, 0.1)
    plain = getattr(operator, step[1:])
    assert np.all(getattr(operator, step)(total, 0.1).data == plain(data, 0.1))
    assert np.all(w.data == data)
    x = Node(data)
    x.backward(np.ones_like(data))
    with no_grad(), pytest.raises(TypeError, match="a leaf"):
        x -= 0.1 * x.grad


def test_subtracting_in_place_makes_a_new_node():
    first = x = Node(5.0)
    x -= 3
    x -= first
    assert (x.data, first.data, x.op) == (-3.0, 5.0, "sub")
    with pytest.raises(TypeError, match="unsupported operand"):
        x -= "a"
    constant = Node(1.0, requires_grad=False)
    with no_grad():
        constant -= 1.0
    assert constant.data == 0.0
