"""The ledger's predictions against what is measured."""

import gc
import operator
import sys
import tracemalloc

import jax.numpy as jnp
import numpy as np
import pytest
import torch
import torch.utils.checkpoint
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from chaingrad import Node, checkpoint, concatenate, einsum, no_grad, where
from chaingrad.account import Ledger, flops, saved_bytes
from chaingrad.facts import no_flops
from chaingrad.losses import cross_entropy
from chaingrad.rules import RULES, Rule

DATA_OF_ARRAYS = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)
# NumPy's reuse of temporary arrays, which decides some peaks, is the same on every Linux.
CLOSE = 1.03 if sys.platform == "linux" else 1.3
OBJECTS = 6000  # bytes of nodes and other Python objects in a small graph, about
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


@pytest.mark.parametrize("release", [False, True])
def test_peak_of_cross_entropy_is_predicted(release, traced):
    W, X = Node(np.full((100, 30), 0.1)), np.ones((2000, 30))
    labels = np.arange(2000) % 100

    def build():
        return cross_entropy(X @ W.T, labels) * 2.0

    predicted = Ledger(build()).training_peak(release)
    measured = backward_peak(build, [W], release)
    assert 1 / CLOSE <= (measured - labels.nbytes) / predicted <= CLOSE


def test_no_operations_on_nothing():
    assert flops(Node(np.zeros((0, 3))).squared_norm()) == 0


def backward_peak(build, leaves, release):
    for leaf in leaves:
        leaf.grad = 0.0
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    build().backward(release=release)
    return tracemalloc.get_traced_memory()[1] - before


@pytest.mark.parametrize("release", [False, True])
@pytest.mark.parametrize("n", [32, 256, 2048])
def test_training_peak_is_predicted(n, release, traced):
    inputs = mlp(784, 256, 10, n, np.float32)
    predicted = Ledger(objective(*inputs)).training_peak(release)
    measured = backward_peak(lambda: objective(*inputs), inputs[0], release)
    assert 1 / CLOSE <= measured / predicted <= CLOSE


@pytest.mark.parametrize(
    "f",
    [
        lambda w, x: w**2,
        lambda w, x: w**3,
        lambda w, x: (w - x) ** 3,
        lambda w, x: (w * x) ** 2 * w,
        lambda w, x: (w * x) ** 3 * w,
        lambda w, x: w.squared_norm() * w,
        lambda w, x: w * w,
        lambda w, x: (w - x) ** 2,
        lambda w, x: w * x + w,
        lambda w, x: x / w,
        lambda w, x: w.relu(),
        lambda w, x: w.tanh(),
        lambda w, x: w.sigmoid(),
        lambda w, x: w.sqrt(),
        lambda w, x: w.sin().cos(),
        lambda w, x: w.logsumexp(axis=1),
        lambda w, x: concatenate([w, w * x]),
        lambda w, x: w.T + 1,
    ],
)
@pytest.mark.parametrize("shape", [(150, 100), (1000, 500)])
def test_peak_of_an_operation_is_predicted(f, shape, traced):
    w = Node(np.linspace(1, 2, shape[0] * shape[1]).reshape(shape))
    x = Node(np.ones(shape), requires_grad=False)

    def build():
        return f(w, x).sum()

    predicted = Ledger(build()).training_peak()
    measured = backward_peak(build, [w], release=False)
    assert 1 / CLOSE <= (measured - OBJECTS) / predicted <= CLOSE


@pytest.mark.parametrize(
    ("known", "ask", "fact"),
    [
        ({}, lambda ledger: ledger.forward_flops, "flops="),
        ({}, Ledger.prediction_peak, "working="),
        ({"working": lambda node: 0}, Ledger.training_peak, "scratch="),
    ],
)
def test_what_a_rule_does_not_say_is_refused_by_its_name(known, ask, fact):
    cube = Rule("cube", lambda a: a**3, (lambda g, out, a: 3 * g * a * a,), **known)
    ledger = Ledger(cube(Node(np.ones(4))).sum())
    with pytest.raises(TypeError, match=f"rule cube does not say.*{fact}"):
        ask(ledger)
    assert "unknown" in str(ledger)


def test_a_rule_may_bring_its_facts_along():
    facts = {"flops": lambda out, a: 2 * a.size, "scratch": ((2, 1),), "working": lambda node: 0}
    cube = Rule("cube", lambda a: a**3, (lambda g, out, a: 3 * g * a * a,), **facts)
    ledger = Ledger(cube(Node(np.ones(4))).sum())
    assert ledger.forward_flops["cube"] == 8
    assert ledger.training_peak() == 4 * 8 * 4
    assert ledger.prediction_peak() == 4 * 8


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


def test_flops_of_small_operations():
    a = Node(np.ones((3, 4)))
    assert [flops(x) for x in (a + 1, a.sum(), a.mean(axis=0), a.exp(), a.T, a[0], a)] == [
        12, 11, 12, 12, 0, 0, 0,
    ]  # fmt: skip
    assert flops(a.logsumexp(axis=1)) == 3 * 12 + 3
    assert flops(concatenate([a, a])) == 0
    assert flops(a @ np.ones(4)) == 24


class Counted:
    """A number that counts what is computed with it: a function such as exp is one operation."""

    total = 0

    def __init__(self, x):
        self.x = x

    def _of(self, other, function):
        Counted.total += 1
        return Counted(function(self.x, getattr(other, "x", other)))

    def conjugate(self):
        return self

    def __abs__(self):
        return Counted(abs(self.x))

    def __neg__(self):
        return self._of(0, lambda a, _: -a)


for _name in ("add", "sub", "mul", "truediv", "pow"):
    _function = getattr(operator, _name)
    setattr(Counted, f"__{_name}__", lambda a, b, f=_function: a._of(b, f))
    setattr(Counted, f"__r{_name}__", lambda a, b, f=_function: a._of(b, lambda x, y: f(y, x)))
for _name in ("lt", "le", "gt", "ge"):
    _function = getattr(operator, _name)
    setattr(Counted, f"__{_name}__", lambda a, b, f=_function: f(a.x, getattr(b, "x", b)))
for _name in ("exp", "log", "sqrt", "sin", "cos", "tanh", "log1p", "expm1"):
    _function = getattr(np, _name)
    setattr(Counted, _name, lambda a, f=_function: a._of(0, lambda x, _: f(x)))


def made_by(name, shapes, options):
    nodes = [Node(np.full(shape, 0.5)) for shape in shapes]
    return nodes[0].apply(RULES[name], nodes, options)


def numbers(shape):
    array = np.empty(shape, object)
    for index in np.ndindex(shape):
        array[index] = Counted(0.5)
    return array


def counted(name, shapes, options):
    inputs = [numbers(shape) for shape in shapes]
    Counted.total = 0
    RULES[name].bind(options, len(inputs)).compute(*inputs)
    return Counted.total


sizes = st.integers(0, 4)
A_FUNCTION = {"sigmoid", "logaddexp", "erf", "hypot", "arctan2"}  # one operation an entry
A_FUNCTION |= {"tan", "sinh", "cosh", "arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh",
               "log2", "log10", "exp2"}  # fmt: skip
OF_MATRICES = {"inv", "solve", "det"}
OF_MATRICES |= {"cofactors", "cofactors_slope", "product", "without_each", "up_to_each"}
BY_FORMULA = {"matmul", "einsum", "logsumexp", "scatter", *OF_MATRICES}  # below
UNCOUNTED = {"alias", "cast", "clip", "where", "relu", "maximum", "minimum", "max", "min",
             "reshape", "broadcast_to", "transpose", "getitem", "concatenate", "abs", "tip",
             "steep", "no_slope"}  # fmt: skip


def options_of(name, shape, axis, keepdims, ones=np.ones):
    if name == "cumsum":
        return {"axis": axis or 0}
    if name in ("sum", "mean"):
        return {"axis": axis, "keepdims": keepdims}
    labels = {"cross_entropy": np.zeros(shape[0], int), "binary_cross_entropy": ones(shape)}
    return {"labels": labels[name]} if name in labels else {}


@pytest.mark.parametrize("name", sorted(set(RULES) - A_FUNCTION - BY_FORMULA - UNCOUNTED))
@settings(max_examples=10)
@given(shape=st.tuples(st.integers(1, 4), st.integers(1, 4)),
       axis=st.sampled_from([None, 0, 1, -1]), keepdims=st.booleans())  # fmt: skip
def test_flops_are_those_that_numbers_count(name, shape, axis, keepdims):
    shapes, given_to = [shape] * len(RULES[name].vjps), (name, shape, axis, keepdims)
    node = made_by(name, shapes, options_of(*given_to))
    assert flops(node) == counted(name, shapes, options_of(*given_to, numbers))


@pytest.mark.parametrize("name", sorted(UNCOUNTED))
def test_moving_comparing_and_choosing_is_no_operation(name):
    assert RULES[name].facts.flops is no_flops


@pytest.mark.parametrize("name", sorted(A_FUNCTION))
def test_a_function_is_one_operation_an_entry(name):
    shapes = [(2, 3)] * len(RULES[name].vjps)
    with np.errstate(invalid="ignore"):
        assert flops(made_by(name, shapes, {})) == 6


@pytest.mark.parametrize(
    ("name", "count"),  # of a matrix of order 12, of a hundred: the leading terms
    [("inv", 8 * 12**3 // 3), ("det", 12**3 * 2 // 3), ("solve", 12**3 * 2 // 3 + 2 * 12**2 * 5)],
)  # fmt: skip
def test_flops_of_matrices(name, count):
    inputs = [np.tile(2.0 * np.eye(12), (100, 1, 1)), np.ones((12, 5))][: 1 + (name == "solve")]
    node = RULES[name](*map(Node, inputs))
    assert flops(node) == 100 * count


@given(rows=st.integers(1, 4), columns=st.integers(1, 4))
def test_flops_of_logsumexp(rows, columns):
    """Of each entry a difference, an exponential and a sum, of each row a logarithm and a sum."""
    node = made_by("logsumexp", [(rows, columns)], {"axis": 1, "keepdims": False})
    assert flops(node) == rows * (2 * columns + (columns - 1) + 2)


@given(entries=st.lists(st.integers(0, 2), max_size=6))
def test_flops_of_a_scatter_are_its_additions(entries):
    index = np.array(entries, int)
    options = {"index": index, "shape": (3,)}
    assert flops(made_by("scatter", [(len(entries),)], options)) == len(entries) - len({*entries})


def loops(subscripts, operands):
    """An einsum in loops over all indices, and how many products and additions they take."""
    left, result = subscripts.split("->")
    terms = left.split(",")
    size = {c: n for term, x in zip(terms, operands, strict=True)
            for c, n in zip(term, x.shape, strict=True)}  # fmt: skip
    out, count = np.zeros([size[c] for c in result]), 0
    for index in np.ndindex(*size.values()):
        at = dict(zip(size, index, strict=True))
        product, *others = (
            x[tuple(at[c] for c in t)] for t, x in zip(terms, operands, strict=True)
        )
        for factor in others:
            product *= factor
            count += 1
        place = tuple(at[c] for c in result)
        count += len(result) < len(size)
        out[place] += product
    return out, count


EINSUMS = ["ij,jk->ik", "bij,bjk->bik", "ij,kj->ik", "i,i->", "ij,j->i", "i,j->ij", "ij,ij->ij",
           "ij,ij->", "ij,ij->j", "ij,k->k", "ij,jk,kl->il", "i,i,i->", "i,j,k->ijk"]  # fmt: skip


@pytest.mark.parametrize("subscripts", EINSUMS)
@settings(max_examples=10)
@given(chosen=st.fixed_dictionaries(dict.fromkeys("bijkl", sizes)))
def test_flops_of_einsum_are_those_of_its_loops(subscripts, chosen):
    terms = subscripts.partition("->")[0].split(",")
    arrays = [np.full([chosen[c] for c in term], 0.5) for term in terms]
    out = einsum(subscripts, *map(Node, arrays))
    expected, count = loops(subscripts, arrays)
    np.testing.assert_allclose(out.data, expected)
    assert flops(out) == count


@pytest.mark.parametrize(
    ("subscripts", "other"),
    [
        ("ij->i", lambda x: x.sum(axis=1)),
        ("ij->", lambda x: x.sum()),
        ("ij->ji", lambda x: x.T),
        ("ij,jk->ik", lambda x: x @ np.ones((5, 6))),
        ("ij,j->i", lambda x: x @ np.ones(5)),
        ("ij,ij->ij", lambda x: x * np.ones((4, 5))),
        ("...j,jk->...k", lambda x: x @ np.ones((5, 6))),
        ("ij,jk", lambda x: x @ np.ones((5, 6))),
    ],
)
def test_flops_of_einsum_are_those_of_what_does_the_same(subscripts, other):
    x = Node(np.ones((4, 5)))
    shapes = {"jk": (5, 6), "j": (5,), "ij": (4, 5)}
    others = [np.ones(shapes[t]) for t in subscripts.partition("->")[0].split(",")[1:]]
    assert flops(einsum(subscripts, x, *others)) == flops(other(x))


@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [("ij,jk->ik", [(4, 5), (5, 6)]), ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]),
     ("bhqd,bhkd->bhqk", [(2, 3, 4, 5), (2, 3, 6, 5)])],
)  # fmt: skip
def test_flops_of_einsum_are_those_pytorch_counts(subscripts, shapes):
    tensors = [torch.ones(shape, requires_grad=True) for shape in shapes]
    with FlopCounterMode(display=False) as forward:
        total = torch.einsum(subscripts, *tensors)
    with FlopCounterMode(display=False) as backward:
        total.sum().backward()
    ledger = Ledger(einsum(subscripts, *(Node(np.ones(shape)) for shape in shapes)).sum())
    assert ledger.forward_flops["einsum"] == forward.get_total_flops()
    assert ledger.backward_flops["einsum"] == backward.get_total_flops()


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


def test_a_parameter_outside_the_graph_is_an_error():
    x = Node(1.0)
    with pytest.raises(ValueError, match="does not depend on"):
        Ledger(x * 2, parameters=[Node(3.0, "lost")])


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


@pytest.mark.filterwarnings("ignore:Sparse ... tensor support:UserWarning")
@pytest.mark.parametrize("layout", ["sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr"])
def test_a_sparse_tensor_counts_by_its_parts(layout):
    blocks = {"blocksize": (2, 2)} if layout.endswith("bsr") else {}
    matrix = torch.eye(4).to_sparse(layout=getattr(torch, layout), **blocks)
    W = torch.ones(4, 2, requires_grad=True)
    kept = saved_bytes(lambda W: (matrix @ W).sum(), W)
    assert kept >= matrix.values().nbytes + 4 * 8  # the indices, too
    assert saved_bytes(lambda W: (matrix @ W).sum(), W, given=[matrix]) == 0
