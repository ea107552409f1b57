"""Checkpoints: the same gradients as without, from fewer values kept."""

import copy
import functools
import gc
import pickle
import threading
import tracemalloc
import weakref

import numpy as np
import pytest

import chaingrad
from chaingrad import (
    Node,
    checkpoint,
    detect_anomaly,
    grad,
    hessian,
    hvp,
    no_grad,
    value_and_grad,
    vjp,
)
from chaingrad.account import Ledger
from chaingrad.nn import Dropout, Linear, Parameter, Sequential, Tanh
from tests.support import each

DATA_OF_ARRAYS = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)


def arrays_alive():
    traces = tracemalloc.take_snapshot().filter_traces([DATA_OF_ARRAYS]).traces
    return sum(trace.size for trace in traces)


def plainly(f, *args, **kwargs):
    return f(*args, **kwargs)


def some(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def both(compute, *leaves, **options):
    """The gradients of the leaves without and with checkpoints."""
    gradients = []
    for run in (plainly, checkpoint):
        for leaf in leaves:
            leaf.grad = 0.0
        compute(run).backward(**options)
        gradients.append([leaf.grad for leaf in leaves])
    return gradients


def assert_same(plain, ours):
    for expected, got in zip(plain, ours, strict=True):
        assert np.shape(got) == np.shape(expected)
        # Shares are added in another order, so the last digits may differ.
        rtol = 1e-5 if np.result_type(got) == np.float32 else 1e-12
        np.testing.assert_allclose(got, expected, rtol, rtol)


@each("release", [False, True])
@each("dtype", [np.float32, np.float64])
def test_gradients_of_several_inputs(release, dtype):
    a, b = Node(some(4, 3).astype(dtype)), Node(some(3).astype(dtype))

    def segment(a, b, power):
        return (a * b + b.exp()).tanh() ** power

    def loss(run):
        return (run(segment, a.sin(), b, power=2) * a).sum()

    plain, ours = both(loss, a, b, release=release)
    assert_same(plain, ours)
    assert ours[0].dtype == ours[1].dtype == dtype


def test_scalars_give_floats():
    x, w = Node(0.3), Node(2.0)
    plain, ours = both(lambda run: run(lambda x: (x * w).exp() * x, x) + x, x, w)
    assert ours == pytest.approx(plain, rel=1e-12)
    assert all(type(g) is float for g in ours)


def test_parameters_and_interior_nodes_closed_over():
    model = Sequential(Linear(3, 5, rng=0), Tanh(), Linear(5, 3, rng=1), Tanh())
    x = Node(some(6, 3))

    def loss(run):
        scale = (x * x).sum().sqrt()  # computed outside, read inside and out
        hidden = run(lambda x: model(x) * scale, x)
        return (run(model, hidden) * scale).sum()

    leaves = [x, *model.parameters()]
    assert_same(*both(loss, *leaves))


def test_leaves_accumulate_and_a_second_pass_gives_the_same():
    w, x = Parameter(some(3, 3)), Node(some(3))
    y = checkpoint(lambda x: (w @ x).tanh(), x).sum()
    y.backward()
    once = w.grad.copy(), x.grad.copy()
    y.backward()
    np.testing.assert_array_equal(w.grad, 2 * once[0])
    np.testing.assert_array_equal(x.grad, 2 * once[1])


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_nested(depth):
    w = Parameter(some(3, 3) / 2)

    def layers(run, x, depth):
        if depth == 0:
            return (x @ w).tanh()
        return run(layers, run, run(layers, run, x, depth - 1), depth - 1)

    x = Node(some(4, 3))
    assert_same(*both(lambda run: layers(run, x.exp(), depth).sum(), w, x))


@pytest.mark.parametrize("nested", [False, True])
def test_derivatives_of_any_order(nested):
    w = Node(0.7)

    def segment(x):
        inner = checkpoint(lambda: (x * w).sin()) if nested else (x * w).sin()
        return inner * x * x

    def f(x):
        return checkpoint(segment, x).exp().sum()

    def plain(x):
        return ((x * w).sin() * x * x).exp().sum()

    x, v = some(3), some(3, seed=1)
    np.testing.assert_allclose(chaingrad.hvp(f, x, v), chaingrad.hvp(plain, x, v), rtol=1e-12)
    np.testing.assert_allclose(chaingrad.hessian(f, x), chaingrad.hessian(plain, x), rtol=1e-12)
    for mine, theirs in zip(
        chaingrad.jvp(f, [x], [v]), chaingrad.jvp(plain, [x], [v]), strict=True
    ):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)
    chaingrad.check_gradients(f, x, order=2)
    third = chaingrad.grad(lambda x: chaingrad.grad(chaingrad.grad(f))(x))
    third_plain = chaingrad.grad(lambda x: chaingrad.grad(chaingrad.grad(plain))(x))
    np.testing.assert_allclose(third(0.4), third_plain(0.4), rtol=1e-12)


def test_second_derivatives_through_backward_reach_what_is_closed_over():
    gradients = []
    for run in (plainly, checkpoint):
        w, x = Node(0.7), Node(0.4)
        run(lambda x, w=w: (x * w).sin() * x, x).backward(create_graph=True)
        slope, w.grad, x.grad = x.grad, 0.0, 0.0
        slope.backward()
        gradients.append((w.grad, x.grad))
    assert gradients[0] == pytest.approx(gradients[1])


def test_keeps_the_result_alone():
    model = Sequential(*[layer for i in range(6) for layer in (Linear(40, 40, rng=i), Tanh())])
    x = Node(some(100, 40), requires_grad=False)
    gc.collect()
    tracemalloc.start()
    before = arrays_alive()
    out = checkpoint(model, x)
    kept = arrays_alive() - before
    plain = model(x)
    kept_plain = arrays_alive() - before - kept
    tracemalloc.stop()
    assert kept == out.data.nbytes
    assert kept_plain == 6 * 3 * out.data.nbytes == Ledger(plain).value_bytes
    assert set(out.parents) == set(model.parameters())


@pytest.mark.parametrize("release", [False, True])
def test_the_graph_is_freed_without_the_cyclic_collector(release):
    x = Node(some(5))

    class Held:
        """Something that the function refers to."""

    held = Held()
    gone = weakref.ref(held)
    y = checkpoint(lambda x, held: x.exp(), x, held).sum()
    del held
    gc.collect()
    gc.disable()
    try:
        y.backward(release=release)
        if not release:
            assert gone()
            del y
        assert gone() is None
    finally:
        gc.enable()


def test_within_no_grad_and_constants_alone_there_is_no_checkpoint():
    x = Node(2.0)
    with no_grad():
        assert not checkpoint(lambda x: x * x, x).requires_grad
    assert checkpoint(lambda x: x * x, Node(2.0, requires_grad=False)).parents == ()
    assert checkpoint(lambda x: x, x) is x


def test_backward_within_no_grad():
    x = Node(2.0)
    y = checkpoint(lambda x: x * x, x)
    with no_grad():
        y.backward()
        assert not (x * x).requires_grad
    assert x.grad == 4.0


def test_an_input_that_is_read_but_does_not_matter_gets_zeros():
    x, idle = Node(some(3)), Node(some(2))

    def segment():
        idle.exp()
        return x * 2

    checkpoint(segment).sum().backward()
    np.testing.assert_array_equal(idle.grad, np.zeros(2))
    np.testing.assert_array_equal(x.grad, np.full(3, 2.0))


def test_an_input_frozen_between_the_passes_gets_nothing():
    a, b = Node(2.0), Node(3.0)
    y = checkpoint(lambda: a * b + a)
    a.requires_grad = False
    y.backward()
    assert (a.grad, b.grad) == (0.0, 2.0)
    a.requires_grad = True
    y.backward()
    assert (a.grad, b.grad) == (4.0, 4.0)


def test_each_pass_calls_the_function_once():
    calls = []

    def segment(a, b, c):
        calls.append(1)
        return a * b * c

    y = checkpoint(segment, Node(1.0), Node(2.0), Node(3.0))
    assert len(calls) == 1
    y.backward()
    assert len(calls) == 2


def test_fresh_random_numbers_are_refused():
    dropout, x = Dropout(0.5, rng=0), Node(some(50))
    y = checkpoint(dropout, x).sum()
    with pytest.raises(ValueError, match="gave other numbers when the backward pass called it"):
        y.backward()
    mask = Node(np.random.default_rng(0).random(50) < 0.5, requires_grad=False)
    checkpoint(lambda x: x * mask, x).sum().backward()  # and the failed pass left no marks
    np.testing.assert_array_equal(x.grad, mask.data)


@pytest.mark.parametrize("change", ["value", "shape"])
def test_a_change_between_the_passes_is_refused(change):
    w, x = Parameter(some(3)), Node(some(3))
    y = checkpoint(lambda x: x * w, x).sum()
    w.data = w.data + 0.1 if change == "value" else some(2, 3)
    with pytest.raises(ValueError, match="<lambda> gave other numbers"):
        y.backward()


def test_not_a_number_is_the_same_number_again():
    x = Node(np.array([-1.0, 1.0]))
    with np.errstate(invalid="ignore"):
        checkpoint(Node.log, x).sum().backward()
    np.testing.assert_array_equal(x.grad, [-1.0, 1.0])


@pytest.mark.parametrize("odd", [np.nan, np.inf])
def test_a_node_from_which_no_gradient_is_taken_gets_zero_whatever_it_holds(odd):
    x, y = Node(2.0), Node(odd)
    checkpoint(lambda x, y: x * 3.0 + (y * 1.0).detach(), x, y).backward()
    assert (x.grad, y.grad) == (3.0, 0.0)


@pytest.mark.parametrize("odd", [np.nan, np.inf])
def test_a_change_is_refused_beside_an_entry_that_is_no_number(odd):
    w, x = Parameter(some(3)), Node(np.array([odd, 1.0, 2.0]))
    y = checkpoint(lambda x: x * w, x).sum()
    w.data = w.data + 0.1
    with pytest.raises(ValueError, match="gave other numbers"):
        y.backward()


@pytest.mark.parametrize("odd", [np.nan, np.inf])
def test_rounding_is_no_change_beside_an_entry_that_is_no_number(odd):
    x, roundings = Node(np.array([odd, 1.0, 2.0])), iter([1.0, 1.0 + 1e-12])
    y = checkpoint(lambda x: x * next(roundings), x)
    y.backward(np.ones(3))
    np.testing.assert_allclose(x.grad, np.ones(3))


def test_the_comparison_of_the_two_runs_takes_no_arrays():
    x = Node(np.ones(10**6))
    y = checkpoint(Node.exp, x)
    one = np.ones(10**6)
    tracemalloc.start()
    y.backward(one)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3.5 * one.nbytes


def test_only_nodes_are_results():
    with pytest.raises(TypeError, match=r"must give a node; it gave tuple"):
        checkpoint(lambda x: (x, x), Node(1.0))


def test_anomalies_are_seen_within():
    x = Node(-1.0, "x")
    with detect_anomaly(), pytest.raises(chaingrad.AnomalyError, match="log of node 'x'"):
        checkpoint(lambda x: x.log(), x)
    with detect_anomaly():
        checkpoint(lambda x: x.exp(), x).backward()
        checkpoint(lambda x: x.exp() * x, Node(np.ones(2))).sum().backward()


def test_threads_share_leaves():
    w = Parameter(some(20, 20) / 5)
    xs = [some(8, 20, seed=i) for i in range(16)]

    def loss(x):
        return checkpoint(lambda: (Node(x, requires_grad=False) @ w).tanh() @ w).sum()

    threads = [threading.Thread(target=lambda x=x: loss(x).backward()) for x in xs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    together, w.grad = w.grad, 0.0
    for x in xs:
        loss(x).backward()
    np.testing.assert_allclose(together, w.grad, rtol=1e-12)


def test_a_recording_elsewhere_is_not_disturbed_by_another_thread():
    """Modes hold for a thread: the forward pass of a checkpoint does not pause others."""
    x, inside, done = Node(2.0), threading.Event(), threading.Event()

    def segment():
        inside.set()
        done.wait(10)
        return x * x

    thread = threading.Thread(target=lambda: checkpoint(segment))
    thread.start()
    assert inside.wait(10)
    assert (x * 3).requires_grad
    done.set()
    thread.join()


@pytest.mark.slow
def test_a_deep_chain_of_checkpoints():
    x = Node(1.0)
    y = x
    for _ in range(20_000):
        y = checkpoint(lambda y: y * 1.0001 + 0.0, y)
    y.backward()
    assert x.grad == pytest.approx(1.0001**20_000)


def test_derivatives_within_a_checkpoint():
    """The step of gradient descent on another function, differentiated."""
    inner = lambda x: x - 0.1 * grad(lambda y: y**4)(x)  # noqa: E731
    x, twin = Node(0.5), Node(0.5)
    checkpoint(inner, x).backward()
    inner(twin).backward()
    assert x.grad == twin.grad == 1 - 1.2 * 0.5**2


def test_second_derivatives_with_a_derivative_within_a_checkpoint():
    """The inner pass runs within the outer one, over some of its nodes."""
    inner = lambda x: grad(lambda t: t**3)(x) * x  # noqa: E731
    assert grad(grad(lambda x: checkpoint(inner, x)))(2.0) == grad(grad(inner))(2.0) == 36.0
    assert hvp(lambda x: checkpoint(inner, x * 3), 2.0, 1.0) == 972.0
    x = Node(2.0)
    y = x * 3
    checkpoint(inner, y).backward()
    assert x.grad == 972.0


def test_a_derivative_within_a_checkpoint_may_read_a_node_of_the_outer_graph():
    w = Node(2.0)
    x = w * 3

    def number() -> float:
        total = vjp(lambda t: (t * x).sum(), np.ones(2))[1](1.0)[0].sum()
        return total.data if isinstance(total, Node) else total

    checkpoint(lambda z: z * z * number(), x).backward()
    assert w.grad == 432.0


def test_a_checkpoint_within_a_derivative_stays_within_it():
    f = lambda w: w * grad(lambda x: w * x * x)(2.0)  # noqa: E731
    assert grad(lambda w: checkpoint(f, w))(3.0) == grad(f)(3.0) == 24.0


def test_passes_that_want_different_inputs():
    """What one pass did not ask for must not be taken by the next."""

    def loss(w, run):
        value, slope = value_and_grad(lambda x: run(lambda x, w: (x * w).sin(), x, w))(0.7)
        return value * value + slope

    for derivative in (grad, lambda f: functools.partial(hessian, f)):
        ours = derivative(lambda w: loss(w, checkpoint))(0.4)
        assert ours == pytest.approx(derivative(lambda w: loss(w, plainly))(0.4))


def test_a_derivative_by_a_result_within_a_checkpoint():
    x, twin = Node(np.array([0.3, 0.5])), Node(np.array([0.3, 0.5]))
    slope = grad(lambda z: z.sin().sum())
    checkpoint(lambda x: slope(x * 2.0), x).sum().backward()
    slope(twin * 2.0).sum().backward()
    np.testing.assert_allclose(x.grad, twin.grad)
    assert x.grad.all()


def test_a_node_that_a_derivative_hands_on_is_read():
    X = np.array([0.3, 0.5])
    f = lambda w: checkpoint(lambda: (vjp(lambda z: w, X)[0] * 2).sum())  # noqa: E731
    assert grad(f)(X).tolist() == [2.0, 2.0]
    f = lambda w: checkpoint(lambda w: vjp(lambda z: z + 1, X)[1](w)[0].sum(), w)  # noqa: E731
    assert grad(f)(X).tolist() == [1.0, 1.0]


def test_a_pull_within_a_pass_over_the_same_nodes():
    def gradients(run):
        x, u = Node(np.array([1.0, 2.0])), Node(np.array([0.3, 0.5]))
        out, pull = vjp(lambda x: x.sin() * x, x)
        ((out * out).sum() + run(lambda u: (pull(u)[0] * u).sum(), u)).backward()
        return x.grad, u.grad

    for ours, theirs in zip(gradients(checkpoint), gradients(plainly), strict=True):
        np.testing.assert_allclose(ours, theirs)


def test_a_checkpoint_of_a_derivative_keeps_the_outer_node_alone():
    x = Node(2.0)
    y = checkpoint(lambda x: grad(lambda t: t**3)(x), x)
    assert (y.op, y.parents) == ("checkpoint", (x,))


def test_copy_and_pickle():
    x = Node(2.0)
    y = checkpoint(lambda x: x * x, x)
    twin = copy.deepcopy(y)
    twin.backward()
    assert (twin.parents[0].grad, x.grad) == (4.0, 0.0)
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(y)


def test_halves_of_halves_hold_a_logarithm_of_the_values():
    """Checkpoints within checkpoints free what the pass has left :cite:`griewank1992`."""
    depth, w, x = 64, Parameter(some(16, 16) / 4), Node(some(1000, 16), requires_grad=False)

    def halves(x, layers):
        if layers == 1:
            return (x @ w).tanh()
        return halves(checkpoint(halves, x, layers // 2), layers - layers // 2)

    def step(run):
        gc.collect()
        tracemalloc.start()
        run().sum().backward(release=True)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return peak / x.data.nbytes, w.grad

    plain_peak, plain = step(lambda: functools.reduce(lambda h, _: (h @ w).tanh(), range(depth), x))
    w.grad = 0.0
    peak, ours = step(lambda: halves(x, depth))
    assert plain_peak > 2 * depth
    assert peak < 4 * np.log2(depth)
    np.testing.assert_allclose(ours, plain, rtol=1e-10)
