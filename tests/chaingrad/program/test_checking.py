"""At its first call a program is held to the nodes, and no rounding is taken for a fault."""

import itertools

import numpy as np
import pytest

from chaingrad import Node, detect_anomaly, grad, losses, program, where
from chaingrad.program import identities
from chaingrad.program.writer import Writer
from chaingrad.rules import TracingError

RNG = np.random.default_rng(5)
X, W = RNG.normal(size=(6, 4)), RNG.normal(size=(4, 3))


@pytest.mark.parametrize("x", [np.array([3.0, 4.0]), np.array([3, 4]), 3.0])
@pytest.mark.parametrize(
    "is_of_a_kind",
    [
        lambda x: isinstance(x, np.ndarray | float),
        lambda x: type(x) in (np.ndarray, float),
        lambda x: type(x).__module__ in ("numpy", "builtins"),
    ],
)
def test_what_decides_by_a_type_is_refused(is_of_a_kind, x):
    def f(w, x):
        return (w * (x if is_of_a_kind(x) else 0.0)).sum()

    with pytest.raises(TracingError, match=r"program written for f .* value_and_grad"):
        program(f)(np.ones(2), x)


@pytest.mark.parametrize("asks", [np.isscalar, lambda x: not hasattr(x, "shape")])
def test_what_asks_whether_it_is_a_number_is_refused(asks):
    with pytest.raises(TracingError, match="isinstance"):
        program(lambda w, x: (w * (x if asks(x) else 0.0)).sum())(np.ones(2), 3.0)


def test_what_is_kept_from_call_to_call_is_refused():
    numbers = itertools.count(1)
    with pytest.raises(TracingError, match="from call to call"):
        program(lambda x: x * next(numbers))(2.0)
    seen = []

    def f(x):
        seen.append(x)
        return x * len(seen)

    with pytest.raises(TracingError, match="from call to call"):
        program(f)(2.0)


def test_a_change_in_place_is_refused_and_the_callers_array_stays():
    def centred(w, x):
        x -= x.mean()
        return (w * x).sum()

    def emptied(w, names):
        return w * len(names.pop())

    x = np.array([3.0, 5.0])
    with pytest.raises(TracingError, match="centred changes an argument in place"):
        program(centred)(np.ones(2), x)
    assert x.tolist() == [3.0, 5.0]
    names = ["a", "bc"]
    with pytest.raises(TracingError, match="emptied changes an argument in place"):
        program(emptied)(2.0, names)
    assert names == ["a", "bc"]
    # of an intermediate result, it is none of the caller's business
    assert program(lambda w, x: centred(w, x * 1.0))(np.ones(2), x)[1].tolist() == [-1.0, 1.0]


def test_f_runs_twice_at_the_first_call_and_not_again():
    runs = []

    def f(x, w):
        runs.append(type(x.data))
        return (x @ w).tanh().sum()

    step = program(f, argnums=(0, 1))
    for _ in range(3):
        step(X, W)
    assert len(runs) == 2
    assert runs[1] is np.ndarray
    step(X[:2], W)
    assert len(runs) == 4
    step.trace(X, W)
    assert len(runs) == 6


def test_a_fault_is_named_with_its_place_and_the_source(monkeypatch):
    wrong = (lambda tape, args, options, example: args[0],)
    monkeypatch.setitem(identities._IDENTITIES, "exp", wrong)

    def f(v, w, x):
        return (w * np.exp(x)).sum() + v.sum()

    with pytest.raises(TracingError, match=r"gradient\[1\] at index \(2,\)") as caught:
        program(f, (0, 1))(np.ones(3), np.zeros(3), np.array([0.0, 0.5, 2.0]))
    assert "def f(v, w, x):" in caught.value.__notes__[0]
    with pytest.raises(TracingError, match=r"3\.0 for the value, and nodes give 20\.0"):
        program(lambda x: x.exp())(3.0)
    with pytest.raises(TracingError, match=r"for the result\[1\]\[0\]"):
        program(lambda x: (x, [x.exp()]), argnums=None)(X)


def test_what_f_raises_on_nodes_comes_through():
    def f(x, y):
        if isinstance(y, np.ndarray):
            raise KeyError("of arrays")
        return (x * y).sum()

    with pytest.raises(KeyError, match="of arrays"):
        program(f)(X, X)


def test_nothing_else_is_touched():
    w = Node(np.ones(4), "w")
    before = w.data.copy()
    step = program(lambda x: (x * w).sum())
    with detect_anomaly():  # which would stop at the infinity of the nodes
        value, _ = program(lambda x: (x * w).exp().sum())(np.full(4, 800.0))
        step(X[0])
    assert value == np.inf
    assert w.grad == 0.0
    assert np.array_equal(w.data, before)


# --- no false alarm -------------------------------------------------------------------------------

SAME = np.tile(RNG.normal(size=(4, 1)), 3)  # equal columns: all maxima are ties
CONSTANT = np.full((6, 4), 0.1)  # its variance is what rounding leaves of 0
QUIET = [
    (lambda x, w: (x @ w).max(axis=1).sum(), (X, SAME)),
    (lambda x, w: ((x @ w).T - (w.T @ x.T)).relu().sum(), (X, W)),
    (lambda x, w: ((x @ w).T - (w.T @ x.T)).abs().sum(), (X, W)),
    (lambda x, w: where((x @ w).T > w.T @ x.T, 1.0, 2.0 * w.sum()).sum(), (X, W)),
    (lambda x, w: (((x - x.mean(axis=0)) / x.std(axis=0)) @ w).sum(), (CONSTANT, W)),
    (lambda x, w: ((x - x.mean(axis=0)) ** 2).mean(axis=0).sqrt().sum() + w.sum(), (CONSTANT, W)),
    (lambda x, w: losses.softmax(x @ w).sum(), (X, W)),
    (lambda x, w: ((x @ w + 1e8) - 1e8).sum() + ((x * np.inf) - (x * np.inf)).max(), (X, W)),
    (lambda x, w: (x @ w).sum() * 1e-30, (X, W)),
    (lambda x, w: (x @ w).exp().log().sum() * 1e30, (X, W)),
    (lambda x, w: (x * 1e200 * x * 1e200).sum() + w.sum(), (X, W)),
    (lambda x, w: ((x @ w).abs() - 5.0).log().sum(), (X, W)),
    (lambda x, w: (x[:0] @ w).sum(), (X, W)),
    (lambda x, w: x.sum() * 0 + w.sum() - w.sum(), (X, W)),
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("f", "args"), QUIET)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("argnums", [0, (0, 1)])
def test_no_rounding_is_taken_for_a_fault(f, args, argnums, dtype):
    with np.errstate(all="ignore"):
        program(f, argnums)(*(x.astype(dtype) for x in args))


@pytest.mark.parametrize("n", [100, 10_000])
def test_long_sums_of_small_floats(n):
    for dtype in (np.float16, np.float32):
        x = np.random.default_rng(n).normal(size=n).astype(dtype)
        program(lambda x: (x * 3 - x.mean()).tanh().sum() + x.std())(x)


def test_results_of_all_kinds_are_compared():
    def f(x, labels, mask):
        return x[:0], mask.sum(axis=0), mask, ["a", None], labels, 3, True, ()

    args = np.ones((2, 3)), np.array([0, 1]), np.array([[True, False, True]] * 2)
    _, counts, _, names, *_, flag, none = program(f, argnums=None)(*args)
    assert counts.tolist() == [2, 0, 2]
    assert (names, flag, none) == (["a", None], True, ())
    step = program(lambda x: grad(lambda y: (y**3).sum())(x), argnums=None)
    assert step(np.ones(2)).tolist() == [3.0, 3.0]
    assert program(lambda x: x * 2)(np.float32(3.0))[1] == 2.0
    assert program(lambda xs: xs[0] * xs[1])([2.0, 3.0])[1].tolist() == [3.0, 2.0]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_gradient_that_is_wrong_by_more_than_rounding_is_refused(dtype, monkeypatch):
    x = np.random.default_rng(0).normal(size=5).astype(dtype)
    for wrong in (1.2, 0.8, -1.0):
        calls = []

        def f(x, wrong=wrong, calls=calls):
            calls.append(x)  # once for the trace, and then on nodes
            return (x * x * (1.0 if len(calls) == 1 else wrong)).sum()

        with pytest.raises(TracingError, match="nodes give"):
            program(f)(x)


@pytest.mark.parametrize("at", [1.0, -1.0])
def test_both_sides_of_a_condition_are_compared(monkeypatch, at):
    said = Writer._say_where

    def wrong(self, x):
        text, binds = said(self, x)
        return text.replace(" else ", " else 2 * "), binds

    monkeypatch.setattr(Writer, "_say_where", wrong)
    step = program(lambda p: np.where(p[0] > 0, p[0], p[1] * p[1]) * p[1])
    with pytest.raises(TracingError, match="written for"):
        step(np.array([at, 3.0]))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.log(np.maximum(x, 0.5) - x + x).sum() + np.sqrt(x).sum(),  # nan at -x
        lambda x: np.linalg.inv(np.where(x < 0, 0.0, x) * np.eye(2)).sum(),  # raises
    ],
)
def test_other_numbers_that_the_function_does_not_take_are_passed_over(f):
    value, _ = program(f)(np.ones(2))
    assert np.isfinite(value)
