"""The price of each operation: its floating-point operations, against loops that count them."""

import operator

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from chaingrad import Node, concatenate, einsum, elementwise, linalg, losses, operations, rules
from chaingrad.account import Ledger, flops
from chaingrad.facts import FACTS
from chaingrad.prices import PRICES, no_flops
from chaingrad.rules import RULES, Rule

UNCOUNTED = {"cofactors", "cofactors_slope", "product", "without_each", "up_to_each"}


def engine_rules():
    modules = (rules, elementwise, linalg, losses, operations)
    return {x.name: x for module in modules for x in vars(module).values() if isinstance(x, Rule)}


def test_every_rule_has_a_price_and_every_row_a_rule():
    assert set(engine_rules()) == set(PRICES) >= set(FACTS)
    for name, rule in engine_rules().items():
        assert rule.price is PRICES[name]
        assert rule.facts == FACTS.get(name, rule.facts)
        assert (rule.price.flops is None) == (name in UNCOUNTED)
        assert rule.price.passes_on is not None


@pytest.mark.parametrize("name", sorted(UNCOUNTED))
def test_what_depends_on_the_values_is_not_counted(name):
    a = Node(np.diag([1.0, 2.0, 4.0]))
    with pytest.raises(TypeError, match=f"the rule {name} does not say"):
        flops(RULES[name](*[a] * len(RULES[name].vjps)))


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
    RULES[name].bind(options).compute(*inputs)
    return Counted.total


sizes = st.integers(0, 4)
A_FUNCTION = {"sigmoid", "logaddexp", "erf", "hypot", "arctan2"}  # one operation an entry
A_FUNCTION |= {"tan", "sinh", "cosh", "arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh",
               "log2", "log10", "exp2"}  # fmt: skip
BY_FORMULA = {"matmul", "einsum", "logsumexp", "scatter", "inv", "solve", "det"}  # below
FREE = {"alias", "cast", "clip", "where", "relu", "maximum", "minimum", "max", "min",
        "reshape", "broadcast_to", "transpose", "getitem", "concatenate", "abs", "tip",
        "steep", "no_slope"}  # fmt: skip


def options_of(name, shape, axis, keepdims, ones=np.ones):
    if name == "cumsum":
        return {"axis": axis or 0}
    if name in ("sum", "mean"):
        return {"axis": axis, "keepdims": keepdims}
    labels = {"cross_entropy": np.zeros(shape[0], int), "binary_cross_entropy": ones(shape)}
    return {"labels": labels[name]} if name in labels else {}


@pytest.mark.parametrize("name", sorted(set(PRICES) - A_FUNCTION - BY_FORMULA - FREE - UNCOUNTED))
@settings(max_examples=10)
@given(shape=st.tuples(st.integers(1, 4), st.integers(1, 4)),
       axis=st.sampled_from([None, 0, 1, -1]), keepdims=st.booleans())  # fmt: skip
def test_flops_are_those_that_numbers_count(name, shape, axis, keepdims):
    shapes, given_to = [shape] * len(RULES[name].vjps), (name, shape, axis, keepdims)
    node = made_by(name, shapes, options_of(*given_to))
    assert flops(node) == counted(name, shapes, options_of(*given_to, numbers))


def test_moving_comparing_and_choosing_is_no_operation():
    assert {name for name, price in PRICES.items() if price.flops is no_flops} == FREE


@pytest.mark.parametrize("name", sorted(A_FUNCTION))
def test_a_function_is_one_operation_an_entry(name):
    shapes = [(2, 3)] * len(RULES[name].vjps)
    with np.errstate(invalid="ignore"):
        assert flops(made_by(name, shapes, {})) == 6


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


def eliminate(n):
    """Count the operations of an elimination of a matrix of order n, in loops."""
    count = 0
    for k in range(n):
        for _ in range(k + 1, n):
            count += 1  # the factor of this row
            count += 2 * (n - k - 1)  # times the pivot's row, taken off
    return count


def substitute(n, columns):
    """Count the operations of both substitutions, for each right-hand side."""
    return columns * sum(2 * i + 2 * i + 1 for i in range(n))


N = 60  # a matrix so large that the leading terms decide


@pytest.mark.parametrize(
    ("name", "shapes", "count"),
    [
        ("det", [(N, N)], eliminate(N)),
        ("inv", [(2, N, N)], 2 * (eliminate(N) + substitute(N, N))),
        ("solve", [(N, N), (N,)], eliminate(N) + substitute(N, 1)),
        ("solve", [(N, N), (N, 30)], eliminate(N) + substitute(N, 30)),
        ("solve", [(N, N), (4, N, 5)], 4 * (eliminate(N) + substitute(N, 5))),
        ("solve", [(4, N, N), (N, 5)], 4 * (eliminate(N) + substitute(N, 5))),
    ],
)
def test_operations_of_matrices_are_those_of_an_elimination(name, shapes, count):
    inputs = [np.broadcast_to(2.0 * np.eye(N), shapes[0]), *map(np.ones, shapes[1:])]
    assert flops(RULES[name](*map(Node, inputs))) == pytest.approx(count, rel=0.05)


@pytest.mark.parametrize("shapes", [
    [(3, 4), (4, 5)], [(4,), (4, 5)], [(3, 4), (4,)], [(4,), (4,)], [(2, 3, 4), (4, 5)],
    [(2, 3, 4), (2, 4, 5)], [(2, 1, 3, 4), (6, 4, 5)], [(4,), (2, 4, 5)], [(3, 0), (0, 2)],
])  # fmt: skip
def test_operations_of_a_product_are_a_product_and_a_sum_for_each_triple(shapes):
    a, b = map(np.ones, shapes)
    matrix, other = np.atleast_2d(a), b.reshape(-1, 1) if b.ndim == 1 else b
    count = 0
    for _stack in np.ndindex(np.broadcast_shapes(matrix.shape[:-2], other.shape[:-2])):
        for _ in np.ndindex(matrix.shape[-2], matrix.shape[-1], other.shape[-1]):
            count += 2
    assert flops(RULES["matmul"](Node(a), Node(b))) == count


@pytest.mark.parametrize("name", ["mul", "hypot", "maximum", "where"])
def test_operations_on_broadcast_entries_are_one_for_each_of_the_result(name):
    chosen = {"condition": np.ones((3, 1), bool)} if name == "where" else {}
    for shapes in ([(3, 4), (1, 4)], [(3, 1), (1, 4)], [(4,), (3, 4)], [(), (3, 4)]):
        inputs = [Node(np.full(shape, 0.5, np.float32)) for shape in shapes]
        result = inputs[0].apply(RULES[name], inputs, chosen)
        assert flops(result) == (0 if name in ("where", "maximum", "minimum") else 12)
