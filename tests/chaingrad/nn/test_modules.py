"""Modules: what they hold, what they compute (against PyTorch), and what they say when misused."""

import gc
import pickle
import subprocess
import sys
import weakref

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from chaingrad import Node, no_grad
from chaingrad.nn import (
    MLP,
    Dropout,
    Layer,
    Linear,
    Module,
    Neuron,
    Parameter,
    ReLU,
    Sequential,
    Sigmoid,
    Tanh,
)
from chainview import draw_graph
from tests.support import each

ACTIVATIONS = {"tanh": torch.tanh, "relu": torch.relu, "sigmoid": torch.sigmoid, None: lambda x: x}


def names(module):
    return [name for name, _ in module.named_parameters()]


# --- modules ------------------------------------------------------------------------------------


class Zoo(Module):
    """Parameters wherever they may be."""

    def __init__(self):
        self.b = Parameter(np.ones(2))
        self.a = Parameter(1.0)
        self.pair = (Parameter(2.0), [Parameter(3.0)])
        self.table = {"x": Parameter(4.0), 1: Linear(1, 1, bias=False, rng=0)}
        self.again = self.a
        self.constant = Node(5.0, requires_grad=False)
        self.inner = Linear(1, 1, rng=0)
        self.same = [self.inner, self.inner.weight]
        self.owner = self  # a module that refers to itself


def test_parameters_are_found_once_in_the_order_of_definition():
    zoo = Zoo()
    expected = ["b", "a", "pair.0", "pair.1.0", "table.x", "table.1.weight"]
    assert names(zoo) == [*expected, "inner.weight", "inner.bias"]
    assert [id(p) for p in zoo.parameters()] == [id(p) for _, p in zoo.named_parameters()]
    assert len(set(zoo.parameters())) == 8
    assert list(zoo.modules()) == [zoo, zoo.table[1], zoo.inner]


def test_zero_grad():
    zoo = Zoo()
    for p in zoo.parameters():
        p.grad = p.data
    zoo.zero_grad()
    assert [p.grad for p in zoo.parameters()] == [0.0] * 8


def test_train_and_eval_reach_every_module():
    model = Sequential(Linear(2, 2, rng=0), Sequential(Dropout(), Tanh()))
    assert all(module.training for module in model.modules())
    assert model.eval() is model
    assert not any(module.training for module in model.modules())
    assert model.train() is model
    assert all(module.training for module in model.modules())


def test_a_module_calls_forward():
    class Twice(Module):
        def forward(self, x, times=2):
            return x * times

    assert Twice()(3.0) == 6.0
    assert Twice()(3.0, times=3) == 9.0
    assert list(Twice().parameters()) == []
    with pytest.raises(NotImplementedError, match=r"Module has no forward\(\)"):
        Module()(1.0)


def test_repr_counts_numbers():
    assert repr(Linear(3, 2, rng=0)) == "<Linear with 8 parameters>"
    assert repr(Linear(1, 1, bias=False, rng=0)) == "<Linear with 1 parameter>"
    assert repr(MLP(16, [64, 64, 1], rng=0)) == "<MLP with 5,313 parameters>"


def test_a_parameter_is_a_leaf_whose_results_are_nodes():
    p = Parameter(2.0, label="p")
    assert repr(p) == "Parameter(2.0, label='p')"
    assert type(p * 2) is Node
    assert not hasattr(p, "__dict__")
    assert "1 parameter, 1 input and 1 operation" in draw_graph(p * Node(3.0)).alt


# --- saving and loading -------------------------------------------------------------------------


@pytest.mark.parametrize("make", [Zoo, lambda: MLP(2, [3, 1]), lambda: Sequential(Linear(2, 3))])
def test_state_makes_the_round_trip(make):
    one, other = make(), make()
    state = one.state_dict()
    assert list(state) == names(one)
    for p in one.parameters():
        p.data = p.data + 1.0
    other.load_state_dict(state)
    for (name, p), q in zip(other.named_parameters(), one.parameters(), strict=True):
        assert type(p.data) is type(q.data)
        np.testing.assert_allclose(p.data + 1.0, q.data)
        assert p.data is not state[name] or type(p.data) is float


def test_state_is_a_copy_both_ways():
    layer = Linear(2, 1, rng=0)
    state = layer.state_dict()
    state["weight"][:] = 7.0
    assert not (layer.weight.data == 7.0).any()
    layer.load_state_dict(state)
    state["weight"][:] = 8.0
    np.testing.assert_array_equal(layer.weight.data, 7.0)


def test_loading_keeps_the_dtype_and_takes_what_torch_saved():
    theirs = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    model = Sequential(Linear(3, 4, dtype=np.float64), Tanh(), Linear(4, 1, dtype=np.float64))
    model.load_state_dict({name: t.numpy() for name, t in theirs.state_dict().items()})
    assert {p.dtype for p in model.parameters()} == {np.dtype(np.float64)}
    x = np.random.default_rng(0).normal(size=(5, 3))
    expected = theirs.double()(torch.tensor(x)).detach()
    np.testing.assert_allclose(model(x).data, expected, rtol=1e-12)


def test_nothing_is_half_loaded():
    model = MLP(1, [1, 1], rng=0)
    good, first = model.state_dict(), names(model)[0]

    def refused(error, message, **changes):
        changed = {name: value for name, value in (good | changes).items() if value != "gone"}
        changed[first] = 9.0 if first in changed else None
        with pytest.raises(error, match=message):
            model.load_state_dict({k: v for k, v in changed.items() if v is not None})
        assert model.state_dict() == good

    last = names(model)[-1]
    refused(KeyError, f"MLP: missing: '{last}'", **{last: "gone"})
    refused(KeyError, "unexpected: 'spare'", spare=1.0)
    refused(KeyError, f"missing: '{last}'; unexpected: 'spare'", spare=1.0, **{last: "gone"})
    refused(ValueError, rf"'{last}' must have the shape \(\); got \(2,\)", **{last: [1.0, 2.0]})
    refused(TypeError, "a float", **{last: "text"})
    with pytest.raises(KeyError, match=" …"):
        model.load_state_dict({str(i): 0.0 for i in range(7)})


# --- on scalars ---------------------------------------------------------------------------------


@pytest.mark.parametrize("activation", ACTIVATIONS)
@given(seed=st.integers(0, 99), sizes=st.lists(st.integers(1, 4), min_size=1, max_size=3))
def test_mlp_is_that_of_torch(activation, seed, sizes):
    rng = np.random.default_rng(seed)
    model = MLP(3, sizes, activation, output_activation="sigmoid", rng=rng)
    x = rng.normal(size=3)
    tensors = [torch.tensor(p.data, dtype=torch.float64, requires_grad=True) for p in
               model.parameters()]  # fmt: skip
    t_x = torch.tensor(x, requires_grad=True)
    values = iter(tensors)
    out = t_x
    for i, n in enumerate(sizes):
        act = torch.sigmoid if i == len(sizes) - 1 else ACTIVATIONS[activation]
        rows = []
        for _ in range(n):
            weights = torch.stack([next(values) for _ in out])
            rows.append(act(weights @ out + next(values)))
        out = torch.stack(rows)
    leaves = [Node(v) for v in x.tolist()]
    ours = model(leaves)
    outputs = ours if isinstance(ours, list) else [ours]
    assert len(outputs) == sizes[-1]
    np.testing.assert_allclose([o.data for o in outputs], out.detach(), rtol=1e-12)
    sum(o * (i + 1) for i, o in enumerate(outputs)).backward()
    (out * torch.arange(1, sizes[-1] + 1)).sum().backward()
    for p, t in zip(model.parameters(), tensors, strict=True):
        np.testing.assert_allclose(p.grad, t.grad, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose([v.grad for v in leaves], t_x.grad, rtol=1e-10, atol=1e-13)


def test_one_product_and_one_sum_for_each_weight():
    model = MLP(3, [4, 2], rng=0)
    nodes = sum(model([1.0, 2.0, 3.0])).sorted_graph()
    ops = [node.op for node in nodes]
    assert ops.count("mul") == 3 * 4 + 4 * 2
    assert ops.count("tanh") == 4
    assert ops.count("add") == ops.count("mul") + 2  # and those of sum()
    inputs = [node for node in nodes if not node.parents and not isinstance(node, Parameter)]
    assert len(inputs) == 3 + 1  # one node for each number, whatever the number of neurons


def test_the_sum_starts_at_the_bias():
    neuron = Neuron(1, activation=None, rng=0)
    out = neuron([2.0])
    assert out.parents[0] is neuron.bias
    assert out.parents[1].parents[0] is neuron.weights[0]


def test_many_examples_at_once_in_arrays():
    model = MLP(2, [3, 1], rng=0)
    X = np.random.default_rng(0).normal(size=(5, 2))
    together = model([Node(X[:, 0]), Node(X[:, 1])])
    np.testing.assert_allclose(together.data, [model(row).data for row in X], rtol=1e-12)
    together.sum().backward()
    at_once = [p.grad for p in model.parameters()]
    model.zero_grad()
    sum(model(row) for row in X).backward()
    np.testing.assert_allclose(at_once, [p.grad for p in model.parameters()], rtol=1e-12)


@each(
    "inputs",
    [[1, 2], (1.0, 2.0), np.array([1, 2]), np.array([1, 2], np.float32), iter([1.0, 2.0]),
     [Node(1.0), 2], Node([1.0, 2.0])],
)  # fmt: skip
def test_inputs_of_every_kind(inputs):
    out = Neuron(2, rng=0)(inputs)
    assert type(out.data) is float
    assert out.data == Neuron(2, rng=0)([1.0, 2.0]).data


def test_initial_weights_come_from_the_generator():
    assert MLP(2, [3, 1], rng=7).state_dict() == MLP(2, [3, 1], rng=7).state_dict()
    generator = np.random.default_rng(7)
    one, two = MLP(2, [3, 1], rng=generator), MLP(2, [3, 1], rng=generator)
    assert one.state_dict() == MLP(2, [3, 1], rng=7).state_dict() != two.state_dict()
    assert MLP(2, [3, 1]).state_dict() != MLP(2, [3, 1]).state_dict()
    weights = [p.data for p in Layer(100, 50, rng=0).parameters()]
    assert 0.099 < max(weights) <= 0.1
    assert -0.1 <= min(weights) < -0.099
    assert abs(np.std(weights) - 0.1 / 3**0.5) < 0.002


@pytest.mark.parametrize("make", [lambda: Neuron(2, rng=0), lambda: MLP(2, [3, 1], rng=0)])
def test_wrong_inputs(make):
    model, kind = make(), type(make()).__name__
    with pytest.raises(ValueError, match=f"{kind} expected 2 inputs; got 3"):
        model([1.0, 2.0, 3.0])
    with pytest.raises(TypeError, match=f"{kind} expected 2 inputs in a sequence; got 1.0"):
        model(1.0)
    with pytest.raises(TypeError, match=r"one of shape \(3,\).*once for each example"):
        model(np.ones((2, 3)))
    with pytest.raises(TypeError, match="float"):
        model(["a", "b"])


def test_a_node_in_place_of_a_parameter_is_named():
    zoo = Zoo()
    zoo.table["y"] = [1.0, Node(1.0)]
    message = r"Zoo: self\.table\.y\.1 is a Node.*make it a chaingrad\.nn\.Parameter"
    with pytest.raises(TypeError, match=message):
        list(zoo.parameters())
    zoo.table["y"] = [Node(1.0) * 2]  # a result that is kept is no leaf
    assert len(list(zoo.parameters())) == 8


def test_a_model_is_freed_without_the_collector():
    model = Zoo()
    del model.owner
    weak = weakref.ref(model.inner.weight.data)
    gc.collect()
    gc.disable()
    try:
        model.zero_grad(), model.state_dict(), repr(model)
        del model
        assert weak() is None
    finally:
        gc.enable()


@each(
    ("make", "error", "message"),
    [
        (lambda: Neuron(2, "tanhh"), ValueError, "'tanhh'.*'tanh', 'relu', 'sigmoid', None"),
        (lambda: Neuron(2, Tanh()), ValueError, "unknown activation"),
        (lambda: Neuron(2, ["tanh"]), ValueError, "unknown activation"),
        (lambda: MLP(2, [1], output_activation="softmax"), ValueError, "'softmax'"),
        (lambda: MLP(2, []), ValueError, "ends with the output layer"),
        (lambda: MLP(2, [3, 0]), ValueError, "n_out must be 1 or more; got 0"),
        (lambda: Neuron(0), ValueError, "n_in must be 1 or more; got 0"),
        (lambda: Layer(1.5, 2), TypeError, "float"),
        (lambda: MLP(2, 3), ValueError, r"sizes must be a list .* \[n_out\]; got 3"),
        (lambda: MLP(2, [1], "gelu"), ValueError, "unknown activation 'gelu'"),
    ],
)
def test_what_cannot_be_built(make, error, message):
    with pytest.raises(error, match=message):
        make()


# --- on arrays ----------------------------------------------------------------------------------


@given(
    seed=st.integers(0, 99),
    lead=st.sampled_from([(), (1,), (4,), (2, 3)]),
    bias=st.booleans(),
)
def test_linear_is_that_of_torch(seed, lead, bias):
    rng = np.random.default_rng(seed)
    layer = Linear(3, 2, bias=bias, rng=rng)
    theirs = torch.nn.Linear(3, 2, bias=bias, dtype=torch.float64)
    theirs.load_state_dict({name: torch.tensor(v) for name, v in layer.state_dict().items()})
    x = Node(rng.normal(size=(*lead, 3)))
    t = torch.tensor(x.data, requires_grad=True)
    out, expected = layer(x), theirs(t)
    assert out.shape == tuple(expected.shape) == (*lead, 2)
    np.testing.assert_allclose(out.data, expected.detach(), rtol=1e-12)
    (out**2).sum().backward()
    (expected**2).sum().backward()
    np.testing.assert_allclose(x.grad, t.grad, rtol=1e-11)
    for p, q in zip(layer.parameters(), theirs.parameters(), strict=True):
        np.testing.assert_allclose(p.grad, q.grad, rtol=1e-11)


@pytest.mark.parametrize(
    ("module", "theirs"), [(Tanh(), torch.tanh), (ReLU(), torch.relu), (Sigmoid(), torch.sigmoid)]
)
def test_activations(module, theirs):
    x = np.linspace(-2, 2, 6).reshape(2, 3)
    expected = theirs(torch.tensor(x))
    np.testing.assert_allclose(module(x).data, expected, rtol=1e-14)
    np.testing.assert_allclose(module(Node(x)).data, expected, rtol=1e-14)


def test_sequential():
    parts = [Linear(2, 3, rng=0), Tanh(), Linear(3, 1, rng=1)]
    model = Sequential(*parts).eval()
    assert list(model) == parts
    assert len(model) == 3
    assert model[-1] is parts[2]
    assert names(model) == ["0.weight", "0.bias", "2.weight", "2.bias"]
    x = np.ones((4, 2))
    np.testing.assert_array_equal(model(x).data, parts[2](parts[0](x).tanh()).data)
    assert Sequential()(x) is x
    with pytest.raises(TypeError, match=r"part 1 must be a Module; got <class"):
        Sequential(Tanh(), Tanh)


def test_float32_everywhere():
    model = Sequential(
        Linear(2, 3, rng=0, dtype=np.float32), Dropout(0.5, rng=0), Linear(3, 1, dtype="float32")
    )
    out = (model(np.ones((4, 2), np.float32)) ** 2).mean()
    out.backward()
    assert out.dtype == np.float32
    assert {p.grad.dtype for p in model.parameters()} == {np.dtype(np.float32)}


def test_initial_weights_of_linear():
    n, m = 400, 200
    uniform = Linear(n, m, rng=0)
    for p in uniform.parameters():
        assert np.abs(p.data).max() <= 0.05
        assert abs(p.data.std() - 0.05 / 3**0.5) < 0.003
    glorot = Linear(n, m, rng=0, init="glorot")
    assert abs(glorot.weight.data.std() - (2 / (n + m)) ** 0.5) < 0.001
    he = Linear(n, m, rng=0, init="he")
    assert abs(he.weight.data.std() - (2 / n) ** 0.5) < 0.001
    for layer in (glorot, he):
        assert layer.weight.shape == (m, n)
        np.testing.assert_array_equal(layer.bias.data, 0.0)
    np.testing.assert_array_equal(uniform.weight.data, Linear(n, m, rng=0).weight.data)
    with pytest.raises(ValueError, match=r"'xavier'.*'uniform', 'glorot', 'he'"):
        Linear(2, 2, init="xavier")


def test_wrong_sizes():
    layer = Linear(3, 2, rng=0)
    with pytest.raises(ValueError, match=r"Linear\(3, 2\).*\(..., 3\); got \(3, 4\)"):
        layer(np.ones((3, 4)))
    with pytest.raises(ValueError, match=r"got \(\)"):
        layer(1.0)
    with pytest.raises(ValueError, match="n_out must be 1 or more; got 0"):
        Linear(3, 0)


def test_dropout_while_training():
    x = Node(np.ones((100, 100)))
    out = Dropout(0.2, rng=0)(x)
    kept = out.data != 0
    assert abs(kept.mean() - 0.8) < 0.02
    np.testing.assert_allclose(out.data[kept], 1.25)
    out.sum().backward()
    np.testing.assert_array_equal(x.grad, out.data)
    np.testing.assert_array_equal(Dropout(1.0)(x).data, 0.0)
    assert Dropout(0.0)(x) is x
    one = Dropout(0.5, rng=3)
    first, second = one(x).data, one(x).data
    assert (first != second).any()
    np.testing.assert_array_equal(first, Dropout(0.5, rng=3)(x).data)


def test_dropout_while_predicting():
    x = Node(np.ones(3))
    assert Dropout(0.9).eval()(x) is x
    for p in (-0.1, 1.1, float("nan")):
        with pytest.raises(ValueError, match="from 0 to 1"):
            Dropout(p)


def test_a_model_can_be_pickled():
    model = pickle.loads(pickle.dumps(MLP(2, [3, 1], rng=0)))
    assert model([1.0, 2.0]).data == MLP(2, [3, 1], rng=0)([1.0, 2.0]).data


def test_no_graph_under_no_grad():
    with no_grad():
        out = MLP(2, [2, 1], rng=0)([1.0, 2.0])
    assert out.parents == ()


def test_models_cost_nothing_until_they_are_imported():
    code = "import chaingrad, sys; print([m for m in sys.modules if m.startswith('chaingrad.')])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for name in ("nn", "optim", "losses"):
        assert f"'chaingrad.{name}'" not in out.stdout


def test_linear_takes_lists():
    layer = Linear(3, 2, rng=0)
    rows = [[1.0, 2.0, 3.0]]
    np.testing.assert_array_equal(layer(rows).data, layer(np.array(rows)).data)
    with pytest.raises(ValueError, match=r"expected an input of shape \(\.\.\., 3\); got \(1, 2\)"):
        layer([[1.0, 2.0]])
