"""Layers of deep networks beside PyTorch's: results, gradients, and what they keep."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from chaingrad import Node, check_gradients, nn, program, value_and_grad
from chaingrad.rules import TracingError
from tests.support import each

RNG = np.random.default_rng(0)


def as_theirs(ours, theirs):
    """Give a module of PyTorch the parameters of ours."""
    state = theirs.state_dict()
    found = {name: torch.tensor(x) for name, x in ours.state_dict().items()}
    theirs.load_state_dict({**state, **found})
    return theirs.double()


def assert_same(ours, theirs, *inputs, call=lambda module, *x: module(*x)):
    """Compare results and all gradients, with a random gradient from above."""
    theirs = as_theirs(ours, theirs.double())
    nodes = [Node(x) for x in inputs]
    tensors = [torch.tensor(x, requires_grad=True) for x in inputs]
    out, expected = ours(*nodes), call(theirs, *tensors)
    np.testing.assert_allclose(out.data, expected.detach(), rtol=1e-9, atol=1e-12)
    g = np.random.default_rng(1).standard_normal(out.shape)
    for parameter in ours.parameters():
        parameter.grad = 0.0
    out.backward(g)
    expected.backward(torch.tensor(g))
    for node, tensor in zip(nodes, tensors, strict=True):
        np.testing.assert_allclose(node.grad, tensor.grad, rtol=1e-8, atol=1e-11)
    of_theirs = dict(theirs.named_parameters())
    for name, parameter in ours.named_parameters():
        wanted = of_theirs[name].grad
        np.testing.assert_allclose(parameter.grad, wanted, rtol=1e-8, atol=1e-11, err_msg=name)


def randomized(module):
    for parameter in module.parameters():
        parameter.data = np.random.default_rng(2).standard_normal(parameter.shape)
    return module


@given(rows=st.integers(1, 3), size=st.integers(2, 5))
def test_layer_norm(rows, size):
    x = np.random.default_rng(rows).standard_normal((rows, 2, size))
    assert_same(randomized(nn.LayerNorm(size)), torch.nn.LayerNorm(size), x)


@given(n=st.integers(2, 4), size=st.integers(1, 3))
def test_batch_norm_of_rows(n, size):
    x = np.random.default_rng(n).standard_normal((n, size))
    assert_same(randomized(nn.BatchNorm(size)), torch.nn.BatchNorm1d(size), x)


@given(n=st.integers(1, 3), channels=st.integers(1, 3), side=st.integers(2, 3))
def test_batch_norm_of_images(n, channels, side):
    x = np.random.default_rng(n).standard_normal((n, channels, side, side))
    assert_same(randomized(nn.BatchNorm(channels)), torch.nn.BatchNorm2d(channels), x)


def test_running_means_are_pytorchs_and_serve_after_eval():
    ours = randomized(nn.BatchNorm(3, momentum=0.3))
    theirs = as_theirs(ours, torch.nn.BatchNorm1d(3, momentum=0.3).double())
    for seed in range(4):
        x = np.random.default_rng(seed).standard_normal((5, 3)) + seed
        ours(x)
        theirs(torch.tensor(x))
    np.testing.assert_allclose(ours.running_mean, theirs.running_mean)
    np.testing.assert_allclose(ours.running_var, theirs.running_var)
    x = RNG.standard_normal((1, 3))
    np.testing.assert_allclose(ours.eval()(x).data, theirs.eval()(torch.tensor(x)).detach())


def test_running_means_belong_to_the_state():
    model = nn.Sequential(nn.Linear(2, 3, rng=0), nn.BatchNorm(3))
    model(RNG.standard_normal((6, 2)))
    state = model.state_dict()
    assert [*state][-2:] == ["1.running_mean", "1.running_var"]
    twin = nn.Sequential(nn.Linear(2, 3, rng=1), nn.BatchNorm(3))
    twin.load_state_dict(state)
    x = RNG.standard_normal((2, 2))
    np.testing.assert_array_equal(twin.eval()(x).data, model.eval()(x).data)
    model[1].running_mean += 1.0
    assert not np.array_equal(model[1].running_mean, twin[1].running_mean)
    del state["1.running_var"]
    with pytest.raises(KeyError, match=r"missing: '1\.running_var'"):
        twin.load_state_dict(state)


@given(
    n=st.integers(1, 2), n_in=st.integers(1, 2), n_out=st.integers(1, 3), size=st.integers(1, 3),
    stride=st.integers(1, 3), padding=st.integers(0, 2), height=st.integers(3, 5),
    width=st.integers(3, 5), bias=st.booleans(),
)  # fmt: skip
def test_convolution(n, n_in, n_out, size, stride, padding, height, width, bias):
    options = {"stride": stride, "padding": padding, "bias": bias}
    x = np.random.default_rng(height).standard_normal((n, n_in, height, width))
    ours = nn.Conv2d(n_in, n_out, size, rng=width, **options)
    assert_same(ours, torch.nn.Conv2d(n_in, n_out, size, **options), x)


@given(n=st.integers(1, 2), length=st.integers(1, 4), other=st.integers(1, 4),
       heads=st.sampled_from([1, 2, 3]), bias=st.booleans())  # fmt: skip
def test_attention(n, length, other, heads, bias):
    random = np.random.default_rng(length)
    ours = randomized(nn.MultiheadAttention(6, heads, bias=bias))
    theirs = torch.nn.MultiheadAttention(6, heads, bias=bias, batch_first=True)
    q, k, v = (random.standard_normal((n, m, 6)) for m in (length, other, other))
    assert_same(ours, theirs, q, k, v, call=lambda module, *x: module(*x)[0])


def test_causal_attention_sees_what_came_before():
    ours = randomized(nn.MultiheadAttention(4, 2))
    theirs = as_theirs(ours, torch.nn.MultiheadAttention(4, 2, batch_first=True).double())
    x = RNG.standard_normal((2, 5, 4))
    mask = ~torch.ones(5, 5).tril().bool()
    expected, _ = theirs(*[torch.tensor(x)] * 3, attn_mask=mask)
    found = ours(x, causal=True)
    np.testing.assert_allclose(found.data, expected.detach(), rtol=1e-9)
    later = x.copy()
    later[:, 3:] += 1.0
    np.testing.assert_array_equal(ours(later, causal=True).data[:, :3], found.data[:, :3])


def test_an_embedding_adds_up_what_comes_back_to_a_row():
    ours = nn.Embedding(4, 2, rng=0)
    theirs = as_theirs(ours, torch.nn.Embedding(4, 2))
    picked = np.array([[0, 3, 0], [1, 0, 3]])
    ours(picked).sum().backward()
    theirs(torch.tensor(picked)).sum().backward()
    np.testing.assert_array_equal(ours.weight.grad, theirs.weight.grad)
    assert ours.weight.grad[:, 0].tolist() == [3.0, 1.0, 0.0, 2.0]


def test_a_program_of_an_embedding_looks_at_each_index():
    table = nn.Embedding(4, 2, rng=0)
    step = program(lambda w, i: (w * table(i)).sum())
    for picked in ([0, 3], [2, 2]):
        i = np.array(picked)
        assert step(1.5, i) == pytest.approx(
            value_and_grad(lambda w, i=i: (w * table(i)).sum())(1.5)
        )
    with pytest.raises(ValueError, match="from 0 to 3"):
        step(1.5, np.array([0, 4]))


def test_activations():
    for ours, theirs in [(nn.GELU(), torch.nn.GELU()), (nn.SiLU(), torch.nn.SiLU())]:
        assert_same(ours, theirs, RNG.standard_normal((3, 2)))


LAYERS = {
    "LayerNorm": (nn.LayerNorm(4), (3, 4)),
    "BatchNorm": (nn.BatchNorm(4).eval(), (3, 4)),
    "Conv2d": (nn.Conv2d(2, 3, 2, padding=1, rng=0), (1, 2, 3, 3)),
    "MultiheadAttention": (nn.MultiheadAttention(4, 2, rng=0), (2, 3, 4)),
    "GELU": (nn.GELU(), (3, 4)),
}


@each("name", LAYERS)
def test_second_derivatives_by_differences(name):
    layer, shape = LAYERS[name]
    check_gradients(
        lambda x: layer(x) ** 2, np.random.default_rng(3).standard_normal(shape), order=2
    )


@each("name", LAYERS)
def test_a_program_gives_the_same(name):
    layer, shape = LAYERS[name]
    x = np.random.default_rng(4).standard_normal(shape)

    def loss(x):
        return (layer(x) ** 2).sum()

    (value, gradient), expected = program(loss)(x), value_and_grad(loss)(x)
    np.testing.assert_allclose(value, expected[0], rtol=1e-12)
    np.testing.assert_allclose(gradient, expected[1], rtol=1e-10, atol=1e-12)


def test_a_program_refuses_running_means_that_would_stand_still():
    layer = nn.BatchNorm(2)
    with pytest.raises(TracingError, match=r"call eval\(\) first"):
        program(lambda x: layer(x).sum())(np.ones((3, 2)))


@each("name", LAYERS)
def test_float32_stays(name):
    made = {
        "LayerNorm": nn.LayerNorm(4, dtype=np.float32),
        "BatchNorm": nn.BatchNorm(4, dtype=np.float32),
        "Conv2d": nn.Conv2d(2, 3, 2, dtype=np.float32),
        "MultiheadAttention": nn.MultiheadAttention(4, 2, dtype=np.float32),
        "GELU": nn.GELU(),
    }[name]
    x = Node(RNG.standard_normal(LAYERS[name][1]).astype(np.float32))
    out = made(x)
    out.sum().backward()
    assert {out.dtype, x.grad.dtype, *[p.grad.dtype for p in made.parameters()]} == {
        np.dtype(np.float32)
    }


@each(
    ("call", "error", "message"),
    [
        (lambda: nn.LayerNorm(0), ValueError, "size must be 1 or more"),
        (lambda: nn.LayerNorm(3)(np.ones((2, 4))), ValueError, r"\(\.\.\., 3\); got \(2, 4\)"),
        (lambda: nn.BatchNorm(3)(np.ones((2, 4))), ValueError, r"\(n, 3, \.\.\.\); got \(2, 4\)"),
        (lambda: nn.BatchNorm(3)(np.ones((1, 3))), ValueError, "no spread to divide by"),
        (lambda: nn.Conv2d(1, 1, 3, padding=-1), ValueError, "padding must be 0 or more"),
        (lambda: nn.Conv2d(1, 1, 3)(np.ones((1, 1, 2, 5))), ValueError, "at least 3; got"),
        (lambda: nn.Conv2d(2, 1, 1)(np.ones((1, 1, 2, 5))), ValueError, r"\(n, 2, height, width\)"),
        (lambda: nn.MultiheadAttention(5, 2), ValueError, "multiple of heads; got 5 and 2"),
        (lambda: nn.MultiheadAttention(4, 2)(np.ones((1, 2, 3))), ValueError, r"\(\.\.\., 4\)"),
        (lambda: nn.MultiheadAttention(4, 2)(np.ones((2, 4))), ValueError, "size.*as many keys"),
        (lambda: nn.MultiheadAttention(4, 2)(*map(np.ones, [(1, 2, 4), (1, 3, 4), (1, 2, 4)])),
         ValueError, r"as many keys as values; got \(1, 2, 4\), \(1, 3, 4\)"),
        (lambda: nn.Conv2d(1, 1, (3, 3)), TypeError, r"size must be a whole number; got tuple"),
        (lambda: nn.Embedding(2, 2)([0.5]), TypeError, "expected integers; got float64"),
        (lambda: nn.Embedding(2, 2)([2]), IndexError, "from 0 to 1; got 2"),
        (lambda: nn.Embedding(2, 2)([0, -1]), IndexError, "from 0 to 1; got -1"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()
