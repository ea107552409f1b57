"""The ledger's predictions against what is measured."""

import gc
import tracemalloc

import jax.numpy as jnp
import numpy as np
import pytest
import torch
import torch.utils.checkpoint
from torch.utils.flop_counter import FlopCounterMode

from chaingrad import Node, checkpoint, concatenate, einsum, no_grad, where
from chaingrad.account import Ledger, saved_bytes
from chaingrad.facts import Facts
from chaingrad.losses import binary_cross_entropy_with_logits, cross_entropy, softmax
from chaingrad.prices import Price
from chaingrad.rules import Rule

DATA_OF_ARRAYS = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)
SIZES = [(20, 64, 10, 32), (50, 40, 5, 200)]


def mlp(d, h, q, n, dtype=np.float64):
    random = np.random.default_rng(0)

    def array(*shape):
        return random.standard_normal(shape).astype(dtype)

    parameters = [Node(array(h, d), "W1"), Node(array(h), "b"), Node(array(q, h), "W2")]
    X, Y = Node(array(n, d), "X", requires_grad=False), Node(array(n, q), "Y", requires_grad=False)
    return parameters, X, Y


def objective(parameters, X, Y, decay=0.01):
    W1, b, W2 = parameters
    error = (X @ W1.T + b).relu() @ W2.T - Y
    return (error**2).sum() / (2 * len(X)) + decay / 2 * ((W1**2).sum() + (W2**2).sum())


@pytest.fixture
def traced():
    gc.collect()
    tracemalloc.start()
    yield
    tracemalloc.stop()


def arrays_alive():
    traces = tracemalloc.take_snapshot().filter_traces([DATA_OF_ARRAYS]).traces
    return sum(trace.size for trace in traces)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", SIZES)
def test_bytes_of_values_are_those_measured(size, dtype, traced):
    inputs = mlp(*size, dtype)
    before = arrays_alive()
    loss = objective(*inputs)
    kept = arrays_alive() - before
    ledger = Ledger(loss)
    assert ledger.value_bytes == kept
    assert ledger.parameter_bytes == sum(p.data.nbytes for p in inputs[0])
    constants = sum(row.bytes for row in ledger.rows if row.role == "constant")
    assert ledger.input_bytes == inputs[1].data.nbytes + inputs[2].data.nbytes + constants


def test_needed_bytes_are_what_pytorch_saves():
    parameters, X, Y = mlp(20, 64, 10, 32)
    tensors = [torch.tensor(p.data, requires_grad=True) for p in parameters]
    saved = {}

    def pack(tensor):
        saved[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    W1, b, W2 = tensors
    own = {t.untyped_storage().data_ptr() for t in tensors}
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        data = torch.tensor(X.data)
        error = (data @ W1.T + b).relu() @ W2.T - torch.tensor(Y.data)
        loss = (error**2).sum() / 64 + 0.005 * ((W1**2).sum() + (W2**2).sum())
    own.add(data.untyped_storage().data_ptr())
    assert loss.requires_grad
    values = sum(size for pointer, size in saved.items() if pointer not in own)
    arrays = [row for row in Ledger(objective(parameters, X, Y)).rows if row.node.ndim]
    ours = sum(row.bytes for row in arrays if row.role == "value" and row.needed)
    scalars = 8 * 4  # the numbers that PyTorch saves for the divisions and the products
    assert 0 <= values - ours <= scalars


def test_what_the_backward_pass_of_an_unknown_rule_reads_is_all_there_is():
    cube = Rule("cube", lambda a: a**3, (lambda g, out, a: 3 * g * a * a,))
    x = Node(np.ones(4))
    assert Ledger(cube(x * 1.0).sum()).needed_bytes == 2 * 4 * 8


def test_numbers_that_the_backward_pass_reads_are_marked():
    """The rows of numbers, and those whose change changes a gradient."""
    functions = [lambda x: x**0.5, lambda x: x**2, lambda x: x.log(), lambda x: x.exp(),
                 lambda x: x * x.sin(), lambda x: x + x, lambda x: x / 3 - x]  # fmt: skip
    for f in functions:

        def gradient(changed=None, f=f):
            x = Node(2.0)
            order = f(x * 1.0).sorted_graph()
            if changed is not None:
                order[changed].data = 7.0
            order[0].backward()
            return x.grad, order

        right, order = gradient()
        marked = [row.needed for row in Ledger(order[0]).rows][::-1]
        assert marked == [gradient(i)[0] != right for i in range(len(order))]


def test_cross_entropy_keeps_its_exponentials_and_the_ledger_says_so(traced):
    W, X = Node(np.full((10, 4), 0.1)), np.ones((50, 4))
    before = arrays_alive()
    labels = np.arange(50) % 10
    loss = cross_entropy(X @ W.T, labels)
    kept = arrays_alive() - before
    ledger = Ledger(loss)
    powers, sums = 50 * 10 * 8, 50 * 8
    assert ledger.value_bytes + labels.nbytes == kept
    assert ledger.rows[-1].bytes == ledger.needed_bytes == powers + sums + labels.nbytes
    assert ledger.value_bytes == 2 * powers + sums + labels.nbytes
    logits = loss.parents[0]
    scores, logits.data = logits.data, np.full_like(logits.data, np.nan)
    loss.backward()  # the logits are not read again
    right, W.grad, logits.data = W.grad, 0.0, scores
    loss.backward()  # but by a second pass
    np.testing.assert_array_equal(W.grad, right)
    assert Ledger(loss).rows[-1].bytes == labels.nbytes
    with no_grad():
        assert Ledger(cross_entropy(scores, labels)).value_bytes == 0


KEEPING = {
    "where": lambda w: where(w.data > 0.5, w, 0.0),
    "sort": lambda w: np.sort(w, axis=1),
    "rows": lambda w: w[[3, 1, 1, 0]],
    "mask": lambda w: w[w.data > 0.5],
    "take": lambda w: np.take(w, np.array([1, 0, 1]), axis=1),
    "take along": lambda w: np.take_along_axis(w, np.argsort(w.data, axis=1), axis=1),
    "diag": np.diag,
    "pad": lambda w: np.pad(w, 2),
    "tril": np.tril,
    "median": lambda w: np.median(w, axis=1),
    "cross-entropy": lambda w: cross_entropy(w, np.arange(len(w.data)) % 3),
    "with logits": lambda w: binary_cross_entropy_with_logits(w, np.full(w.shape, 0.5)),
    "bounds": lambda w: w.clip(np.full(w.shape, 0.3), 0.6),
    "max": lambda w: w.max(axis=1),
    "softmax": lambda w: softmax(w),
    "std": lambda w: w.std(axis=0),
    "reshape": lambda w: w.T.reshape(-1) * 2.0,
    "solve": lambda w: np.linalg.solve(w @ w.T + np.eye(60), w),
    "einsum": lambda w: einsum("ij,kj->ik", w, w[:3]),
}


def entries(layout, dtype=np.float64):
    """A matrix in the order of memory of C or Fortran, or every other entry of a wider one."""
    x = np.random.default_rng(0).uniform(0.2, 0.8, (60, 120)).astype(dtype)
    return x[:, ::2] if layout == "strided" else np.array(x[:, :60], order=layout)


@pytest.mark.parametrize("layout", ["C", "F", "strided"])
@pytest.mark.parametrize("name", KEEPING)
def test_bytes_of_values_are_all_that_a_graph_keeps(name, layout, traced):
    node = Node(entries(layout, np.float32))
    before = arrays_alive()
    loss = KEEPING[name](node)
    kept = arrays_alive() - before
    ledger = Ledger(loss)
    constants = sum(row.bytes for row in ledger.rows if row.role in ("input", "constant"))
    assert ledger.value_bytes + constants == kept
    assert saved_bytes(KEEPING[name], node) == kept - getattr(loss.data, "nbytes", 0)


@pytest.mark.parametrize("name", KEEPING)
def test_a_backward_pass_reads_no_value_that_the_ledger_calls_free(name):
    """The values that aren't needed may be anything by then."""
    gradients = []
    for spoil in (False, True):
        leaf = Node(entries("C"))
        loss = (KEEPING[name](leaf * 1.0) * 2.0).sum()
        free = [row.node for row in Ledger(loss).rows if not row.needed and row.role == "value"]
        for node in free if spoil else ():
            node.data = np.full_like(node.data, np.nan) if node.ndim else np.nan
        with np.errstate(all="ignore"):
            loss.backward()
        gradients.append(leaf.grad)
    np.testing.assert_array_equal(*gradients)


def norm(h):
    apart = h - h.mean(axis=1, keepdims=True)
    return apart / ((apart * apart).mean(axis=1, keepdims=True) + 1e-5).sqrt()


def attention(h, W):
    q = h @ W.T
    return h + softmax(q @ q.T / 11.0, axis=1) @ q


LAYERS = {
    "tanh": lambda h, W: (h @ W.T).tanh(),
    "relu": lambda h, W: (h @ W.T).relu(),
    "silu": lambda h, W: (h @ W.T) * (h @ W.T).sigmoid(),
    "bias": lambda h, W: (h @ W.T + W[0]).relu(),
    "residual": lambda h, W: h + norm((h @ W.T).relu()),
    "attention": attention,
    "concatenated": lambda h, W: concatenate([h[:, :64], (h @ W[64:].T).tanh()], axis=1),
}


@pytest.mark.parametrize("release", [False, True])
@pytest.mark.parametrize(("depth", "n", "dtype"), [(3, 256, np.float64), (8, 512, np.float32)])
@pytest.mark.parametrize("name", LAYERS)
def test_the_peak_of_a_network_is_predicted_to_a_tenth(name, depth, n, dtype, release, traced):
    random = np.random.default_rng(0)
    X = Node(random.standard_normal((n, 128)).astype(dtype), requires_grad=False)
    Ws = [Node(random.standard_normal((128, 128)).astype(dtype) / 12) for _ in range(depth)]
    labels = np.arange(n) % 128

    def loss():
        h = X
        for W in Ws:
            h = LAYERS[name](h, W)
        return cross_entropy(h, labels)

    predicted = Ledger(loss()).training_peak(release)
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    loss().backward(release=release)
    measured = tracemalloc.get_traced_memory()[1] - before
    assert measured == pytest.approx(predicted, rel=0.1)


def test_the_gradient_of_a_transposed_leaf_is_there_twice():
    """A view as the pass ends, of which the leaf gets a copy."""
    W, X = Node(np.ones((100, 100))), Node(np.ones((1, 100)), requires_grad=False)
    peak = Ledger((X @ W.T).sum()).training_peak(release=True)
    assert peak == pytest.approx(2 * W.data.nbytes, rel=0.01)
    assert Ledger((X @ W).sum()).training_peak(release=True) < 1.1 * W.data.nbytes


def test_what_a_rule_does_not_say_is_refused_by_its_name():
    def cubed(**price):
        cube = Rule(
            "cube", lambda a: a**3, (lambda g, out, a: 3 * g * a * a,), Facts(), Price(**price)
        )
        return Ledger(cube(Node(np.ones(4))).sum())

    said = cubed(flops=lambda out, a: 2 * a.size, passes_on=())
    assert said.forward_flops["cube"] == 8
    assert said.training_peak() == 2 * 4 * 8
    for ask, fact in ((lambda x: x.forward_flops, "flops="), (Ledger.training_peak, "passes_on=")):
        with pytest.raises(TypeError, match=f"rule cube does not say.*{fact}"):
            ask(cubed())
    assert "unknown" in str(cubed())


def test_a_checkpoint_has_the_operations_of_its_function_and_no_peak():
    W, x = Node(np.ones((4, 4))), Node(np.ones((8, 4)))

    def inside(x):
        return (x @ W).tanh() @ W

    ledger, plain = (Ledger(f(x).sum()) for f in (lambda x: checkpoint(inside, x), inside))
    assert ledger.forward_flops.total() == plain.forward_flops.total()
    with pytest.raises(TypeError, match="rule checkpoint does not say"):
        ledger.training_peak()


def test_prediction_peak_is_predicted(traced):
    W = [Node(np.ones((300, 300))) for _ in range(4)]
    x = Node(np.ones((1000, 300)), requires_grad=False)

    def predict():
        return ((((x @ W[0].T).tanh() @ W[1].T).tanh() @ W[2].T).tanh() @ W[3].T).sum()

    predicted = Ledger(predict()).prediction_peak()
    assert predicted == 2 * x.data.nbytes
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    with no_grad():
        predict()
    measured = tracemalloc.get_traced_memory()[1] - before
    assert 1.0 <= measured / predicted <= 1.05


def test_matrix_flops_are_those_pytorch_counts():
    parameters, X, Y = mlp(20, 64, 10, 32)
    ledger = Ledger(objective(parameters, X, Y))
    tensors = [torch.tensor(p.data, requires_grad=True) for p in parameters]
    W1, b, W2 = tensors
    with FlopCounterMode(display=False) as forward:
        error = (torch.tensor(X.data) @ W1.T + b).relu() @ W2.T - torch.tensor(Y.data)
    with FlopCounterMode(display=False) as backward:
        (error**2).sum().backward()
    assert ledger.forward_flops["matmul"] == forward.get_total_flops() == 2 * 32 * 64 * (20 + 10)
    # without the input's gradient the first layer needs one product, the second two
    assert ledger.backward_flops["matmul"] == backward.get_total_flops()
    assert backward.get_total_flops() == 2 * 32 * 64 * (20 + 2 * 10)


def test_counting_leaves_gradients_alone():
    x = Node(np.ones(3))
    loss = (x * x).sum()
    ledger = Ledger(loss)
    assert ledger.backward_flops == {"mul": 6, "add": 3}
    assert (x.grad, loss.grad) == (0.0, 0.0)


def test_state_of_optimizers():
    ledger = Ledger(objective(*mlp(*SIZES[0])))
    p = ledger.parameter_bytes
    assert [ledger.state_bytes(o) for o in ("sgd", "momentum", "adam")] == [0, p, 2 * p]
    with pytest.raises(ValueError, match=r"unknown optimizer 'lion'.*adam"):
        ledger.state_bytes("lion")


def test_the_table_names_each_node():
    text = str(Ledger(objective(*mlp(*SIZES[0]))))
    assert "W1" in text
    assert "64×20" in text
    assert len(text.splitlines()) == 1 + len(objective(*mlp(*SIZES[0])).sorted_graph())


def test_an_array_of_its_own_counts_although_numpy_shows_it_as_a_view():
    x = Node(np.ones((100, 50)))
    mask, index = x.size, 10 * 8
    assert Ledger((where(x > 0, x, 0.0) * x).sum()).value_bytes == 2 * x.data.nbytes + mask
    assert Ledger(x.logsumexp(axis=1).sum()).value_bytes == 100 * 8
    assert Ledger(x[:, np.arange(10)].sum()).value_bytes == 100 * 10 * 8 + index
    assert Ledger(x[:, :10].sum()).value_bytes == Ledger(x.T.sum()).value_bytes == 0
    assert Ledger(Node(1.0).broadcast_to((9, 9)).sum()).value_bytes == 0


ENGINES = {
    "nodes": (Node, Node.tanh),
    "torch": (torch.tensor, torch.tanh),
    "jax": (jnp.asarray, jnp.tanh),
}


@pytest.mark.slow
@pytest.mark.parametrize(("depth", "width", "batch"), [(1, 8, 4), (3, 8, 16), (4, 16, 2)])
@pytest.mark.parametrize("engine", ENGINES)
def test_what_each_engine_keeps_of_tanh_layers(engine, depth, width, batch):
    """PyTorch an array a layer, nodes two; JAX two, one more and transposed weights."""
    make, tanh = ENGINES[engine]
    rng = np.random.default_rng(0)
    Ws = [make(rng.standard_normal((width, width), dtype=np.float32)) for _ in range(depth)]
    X = rng.standard_normal((batch, width), dtype=np.float32)
    X = Node(X, requires_grad=False) if engine == "nodes" else make(X)
    if engine == "torch":
        Ws = [W.requires_grad_() for W in Ws]

    def loss(Ws):
        H = X
        for W in Ws:
            H = tanh(H @ W.T)
        return H.squared_norm() if engine == "nodes" else (H**2).sum()

    activation, weight = 4 * batch * width, 4 * width * width
    expected = {
        "nodes": 2 * depth * activation,
        "torch": depth * activation,
        "jax": (2 * depth + 1) * activation + (depth - 1) * weight,
    }
    assert saved_bytes(loss, Ws, given=[X]) == expected[engine]


def test_arguments_of_no_engine_are_named():
    with pytest.raises(TypeError, match="got ndarray"):
        saved_bytes(np.sum, np.ones(3))


def test_a_checkpoint_keeps_its_inputs_alone():
    W, x = torch.ones(4, 4, requires_grad=True), torch.ones(8, 4)

    def inside(x):
        return (x @ W.T).tanh() @ W.T

    def checkpointed(W):
        return torch.utils.checkpoint.checkpoint(inside, x, use_reentrant=False).tanh().sum()

    assert saved_bytes(checkpointed, W, given=[x]) == 4 * 8 * 4
    assert saved_bytes(lambda W: inside(x).tanh().sum(), W, given=[x]) == 2 * 4 * 8 * 4
