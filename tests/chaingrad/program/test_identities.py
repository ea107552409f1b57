"""Each identity beside NumPy, over ranks 0 to 4, sizes 0 and 1, and dtypes from bool to float64."""

import ast
import inspect
import sys
import warnings
from collections import defaultdict
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaingrad import program
from chaingrad.program import identities
from chaingrad.program.tape import Recorded, Tape
from chaingrad.rules import TracingError

FLOATS = [np.dtype(t) for t in (np.float16, np.float32, np.float64)]
DTYPES = [*map(np.dtype, (bool, np.uint8, np.int64)), *FLOATS, *FLOATS]
CONSTANTS = (0.0, 1.0, -1.0, 2.0, 0.5, 1e5, 1e-5, 3, True, np.float32(2.0))


def column(a):
    return a.reshape(-1, 1)


def row(a):
    return a.reshape(1, -1)


def vector(a):
    return a.reshape(-1) * a.reshape(-1)


def stack(a, b):
    """Two matrices, of a row for each entry of ``a`` and a column for each of ``b``."""
    return np.broadcast_to(np.outer(a, b), (2, a.size, b.size))


def number(a):
    return a.tape.add("float", (a,)) if isinstance(a, Recorded) else float(a)


def scattered(a, index):
    """Put an array with the axes of an index where these came from."""
    a = a.reshape(-1)
    if not isinstance(a, Recorded):
        out = np.zeros(a.shape, a.dtype)
        out[index] = a.reshape(out[index].shape)
        return out
    picked = a.reshape(np.empty(a.shape)[index].shape)
    return picked.tape.add("scatter", (picked,), index=index, shape=a.shape, dtype=a.dtype)


def within(a):
    """Put an array where the second of three stands."""
    if not isinstance(a, Recorded):
        return np.stack([np.zeros_like(a), a, np.zeros_like(a)])
    return a.tape.add("scatter", (a,), index=1, shape=(3, *a.shape), dtype=a.dtype)


# By the operation that is simplified. ``c`` and ``d`` are plain numbers, ``i`` an axis of ``a``,
# ``s`` a shape of as many entries as ``a`` has, ``t`` one that ``a`` broadcasts to.
EXPRESSIONS = {
    "multiply": [
        lambda a, b, c, d, i, s, t: c * ((d * a).reshape(s) / 3.0),
        lambda a, b, c, d, i, s, t: c * ((d * a) * b),
        lambda a, b, c, d, i, s, t: c * ((a / d) / b),
        lambda a, b, c, d, i, s, t: c * (a / c),
        lambda a, b, c, d, i, s, t: 2.0 * (0.5 * a),
        lambda a, b, c, d, i, s, t: c * a,
        lambda a, b, c, d, i, s, t: c * (d * a),
        lambda a, b, c, d, i, s, t: c * (a / d),
        lambda a, b, c, d, i, s, t: c * -a,
        lambda a, b, c, d, i, s, t: (c * a) * (d * b),
        lambda a, b, c, d, i, s, t: -a * b,
        lambda a, b, c, d, i, s, t: a * (c * b.sum()),
        lambda a, b, c, d, i, s, t: c * (d * (a * b)),
        lambda a, b, c, d, i, s, t: a[None] * np.stack([a, a]),
        lambda a, b, c, d, i, s, t: np.stack([a, a]) * np.stack([a, b]).max(axis=0, keepdims=True),
        lambda a, b, c, d, i, s, t: column(vector(a)) * vector(b),
        lambda a, b, c, d, i, s, t: vector(b) * column(vector(a)),
    ],
    "divide": [
        lambda a, b, c, d, i, s, t: a / c,
        lambda a, b, c, d, i, s, t: (c * a) / d,
        lambda a, b, c, d, i, s, t: -a / b,
    ],
    "add": [
        lambda a, b, c, d, i, s, t: (a * b + b) + b,
        lambda a, b, c, d, i, s, t: a + c,
        lambda a, b, c, d, i, s, t: a + a,
        lambda a, b, c, d, i, s, t: (a + b) + b,
        lambda a, b, c, d, i, s, t: a + -b,
        lambda a, b, c, d, i, s, t: -a + b,
    ],
    "subtract": [
        lambda a, b, c, d, i, s, t: a - c,
        lambda a, b, c, d, i, s, t: a - a,
        lambda a, b, c, d, i, s, t: (a + b) - b,
    ],
    "negative": [
        lambda a, b, c, d, i, s, t: np.negative(-a),
        lambda a, b, c, d, i, s, t: -(c * a),
    ],
    "transpose": [
        lambda a, b, c, d, i, s, t: a.T.T,
        lambda a, b, c, d, i, s, t: a.transpose(*np.roll(range(a.ndim), 1)).T,
        lambda a, b, c, d, i, s, t: a.reshape(s).T,
        lambda a, b, c, d, i, s, t: vector(a).reshape(s).T,
        lambda a, b, c, d, i, s, t: (-a.T).T,
        lambda a, b, c, d, i, s, t: (c * a.T).T,
        lambda a, b, c, d, i, s, t: (a @ b).T,
        lambda a, b, c, d, i, s, t: (c * (row(a) @ column(a))).T,
        lambda a, b, c, d, i, s, t: np.outer(a, b).T,
    ],
    "reshape": [
        lambda a, b, c, d, i, s, t: (a.sum(axis=i) / b.sum()).reshape(
            a.sum(axis=i, keepdims=True).shape
        ),
        lambda a, b, c, d, i, s, t: a.reshape(-1).reshape(s),
        lambda a, b, c, d, i, s, t: a.sum(axis=i).reshape(a.sum(axis=i, keepdims=True).shape),
        lambda a, b, c, d, i, s, t: (-a).reshape(s),
        lambda a, b, c, d, i, s, t: a.sum(axis=i, keepdims=True).reshape(a.sum(axis=i).shape),
        lambda a, b, c, d, i, s, t: a.max(axis=i).reshape(a.max(axis=i, keepdims=True).shape),
        lambda a, b, c, d, i, s, t: a.mean(axis=i).reshape(a.mean(axis=i, keepdims=True).shape),
    ],
    "getitem": [
        lambda a, b, c, d, i, s, t: a[None],
        lambda a, b, c, d, i, s, t: a[..., None] * b,
        lambda a, b, c, d, i, s, t: a.sum(axis=i)[..., None],
        lambda a, b, c, d, i, s, t: a.reshape(-1)[:, None] + a.reshape(-1)[None, :],
        lambda a, b, c, d, i, s, t: a[...],
    ],
    "scatter": [
        lambda a, b, c, d, i, s, t: scattered(a, (..., None)),
        lambda a, b, c, d, i, s, t: scattered(a, (None,)),
        lambda a, b, c, d, i, s, t: scattered(a, (..., slice(None, None, -1))),
    ],
    "broadcast_to": [
        lambda a, b, c, d, i, s, t: np.broadcast_to(a, a.shape),
        lambda a, b, c, d, i, s, t: np.broadcast_to(a, t) * b,
        lambda a, b, c, d, i, s, t: np.broadcast_to(a, t) - np.broadcast_to(b, t),
        lambda a, b, c, d, i, s, t: np.full(a.shape, c) * a,
        lambda a, b, c, d, i, s, t: np.exp(np.broadcast_to(a, t)) + np.full(t, d),
    ],
    "float": [
        lambda a, b, c, d, i, s, t: number(number(a.sum())) * b,
        lambda a, b, c, d, i, s, t: number(-a.sum()) * b,
    ],
    "sum": [
        lambda a, b, c, d, i, s, t: (c * a).sum(axis=i),
        lambda a, b, c, d, i, s, t: (c * (a * a)).sum(),
        lambda a, b, c, d, i, s, t: (a * b).sum(axis=i),
        lambda a, b, c, d, i, s, t: (b / a).sum(axis=i, keepdims=True),
        lambda a, b, c, d, i, s, t: (a / b.sum()).sum(axis=i),
        lambda a, b, c, d, i, s, t: (a / a.max(axis=i, keepdims=True)).sum(axis=i),
        lambda a, b, c, d, i, s, t: (a * a.max(axis=i, keepdims=True)).sum(axis=i, keepdims=True),
        lambda a, b, c, d, i, s, t: (-(a / a.max(axis=i, keepdims=True))).sum(axis=i),
        lambda a, b, c, d, i, s, t: np.stack([a, a]).sum(axis=0).sum(axis=i),
        lambda a, b, c, d, i, s, t: (a * row(b.sum())).sum(axis=0),
        lambda a, b, c, d, i, s, t: (a / b[:1]).sum(axis=0),
        lambda a, b, c, d, i, s, t: a.sum(axis=i),
        lambda a, b, c, d, i, s, t: a.sum(axis=i, keepdims=True),
        lambda a, b, c, d, i, s, t: (-a).sum(axis=i),
        lambda a, b, c, d, i, s, t: a.sum(axis=i) + a.sum(axis=i),
        lambda a, b, c, d, i, s, t: a.sum(axis=()),
        lambda a, b, c, d, i, s, t: a.any(axis=()),
        lambda a, b, c, d, i, s, t: a.prod(axis=i),
    ],
    "mean": [
        lambda a, b, c, d, i, s, t: (a * a).mean(),
        lambda a, b, c, d, i, s, t: (a * b).mean(),
        lambda a, b, c, d, i, s, t: (c * a).mean(axis=i),
        lambda a, b, c, d, i, s, t: (a / a.max(axis=i, keepdims=True)).mean(axis=i),
        lambda a, b, c, d, i, s, t: (a * a).mean(axis=i),
    ],
}  # fmt: skip

shapes = st.lists(st.sampled_from([0, 1, 1, 2, 3]), max_size=4).map(tuple)
seeds = st.integers(0, 2**32 - 1)


def entries(random, shape, dtype):
    """Values whose sums are exact in floats; small integers are large enough to wrap."""
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        return random.integers(1, 256, shape).astype(dtype)
    return (random.choice([-1, 1], shape) * random.integers(1, 12, shape) / 4).astype(dtype)


def factored(random, size, rank):
    """A shape of this many entries, with axes of size 1 in it."""
    shape = [1] * max(rank, 1)
    place = random.integers(len(shape))
    for n in (2, 3, 5, 7):
        while size > 1 and size % n == 0:
            shape[random.integers(len(shape))] *= n
            size //= n
    shape[place] *= size
    return tuple(shape)


def partner(random, shape):
    """A shape that fits: the same, one that broadcasts with it, or a factor of a product."""
    kind = random.integers(4)
    if kind == 0:
        return shape
    if kind == 1:
        return tuple(n if random.random() < 0.5 else 1 for n in shape)[random.integers(0, 2) :]
    inner = shape[-1:]
    if kind == 2:
        return inner
    return (*shape[:-2], *inner, int(random.integers(0, 4))) if shape else ()


def draw(seed, shape):
    """Operands, and what an expression takes beside them."""
    random = np.random.default_rng(seed)
    a, b = (
        entries(random, dims, DTYPES[random.integers(len(DTYPES))])
        for dims in (shape, partner(random, shape))
    )
    c, d = (CONSTANTS[i] for i in random.integers(0, len(CONSTANTS), 2))
    axes = [None, *range(-len(shape), len(shape))]
    axis = axes[random.integers(len(axes))] if random.random() < 0.8 else tuple(range(len(shape)))
    target = (*random.integers(0, 3, random.integers(0, 2)), *shape)
    target = tuple(int(random.integers(0, 4)) if n == 1 else int(n) for n in target)
    return a, b, c, d, axis, factored(random, a.size, random.integers(1, 5)), target


def compare(f, a, b, *options):
    """What an expression gives for recorded values beside what NumPy gives for arrays."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the mean of nothing
        try:
            expected = f(a, b, *options)
        except (TypeError, ValueError, IndexError):
            return
        tape = Tape(identities.simpler)
        try:
            got = f(tape.input(a), tape.input(b), *options)
        except TracingError:
            return
    if not isinstance(got, Recorded):
        return  # of constants alone
    assert got.shape == np.shape(expected)
    assert got.dtype == np.result_type(expected)
    assert got.is_array
    floats = [np.finfo(x.dtype).eps for x in (a, b, expected) if x.dtype.kind == "f"]
    tolerance = 64 * max(floats, default=0.0)
    finite = np.abs(expected[np.isfinite(expected)], dtype=float)
    np.testing.assert_allclose(
        np.asarray(got.example, float), np.asarray(expected, float),
        tolerance, tolerance * finite.max(initial=0.01),  # what cancels leaves a rounding
    )  # fmt: skip


@contextmanager
def lines_run(module, seen):
    """Collect the numbers of the lines of a module that run."""
    name, before = module.__file__, sys.gettrace()

    def local(frame, event, _):
        seen[frame.f_lineno] += 1
        return local

    sys.settrace(lambda frame, event, _: local if frame.f_code.co_filename == name else None)
    try:
        yield
    finally:
        sys.settrace(before)


@pytest.mark.slow
def test_identities_hold_for_all_ranks_sizes_and_dtypes():
    """And each of them is met: a new one needs an expression here."""
    assert set(identities._IDENTITIES) <= set(EXPRESSIONS)
    seen = defaultdict(int)

    @settings(max_examples=100)  # fewer would not meet each
    @given(seed=seeds, shape=shapes)
    def check(seed, shape):
        for of_operation in EXPRESSIONS.values():
            for f in of_operation:
                compare(f, *draw(seed, shape))

    with lines_run(identities, seen):
        check()
    given_back = [
        x.lineno
        for x in ast.walk(ast.parse(inspect.getsource(identities)))
        if isinstance(x, ast.Return) and not isinstance(x.value, ast.Constant)
    ]
    assert [line for line in given_back if line not in seen] == []


def test_products_of_small_integers_wrap_before_a_number_meets_them():
    a, b = np.full((2, 3), 200, np.uint8), np.full(3, 3, np.uint8)
    tape = Tape(identities.simpler)
    assert (2.0 * (tape.input(a) * tape.input(b))).example[0, 0] == 2.0 * (600 - 512)


def test_a_sum_of_nothing_is_0_whatever_divides_it():
    a = np.zeros((2, 0))
    tape = Tape(identities.simpler)
    x = tape.input(a)
    assert (x / x.sum()).sum(axis=1).example.tolist() == [0.0, 0.0]


def test_numbers_that_small_floats_cannot_hold_are_not_merged():
    """1e-5 (1e-5 x) is a number in float16, and 1e-10 is 0."""
    x = np.array([3e4], np.float16)
    tape = Tape(identities.simpler)
    with np.errstate(over="ignore"):
        assert (1e-5 * (1e-5 * tape.input(x))).example == 1e-5 * (1e-5 * x)
        assert (1e-3 * (tape.input(x) * 1e5)).example == np.inf


@pytest.mark.parametrize("d", [1.5, -1.5, np.float64(1.5), np.array(1.5)], ids=repr)
@pytest.mark.parametrize(
    "of_truth",
    [
        lambda t: -(1.0 * t),
        lambda t: -1.0 * (1.0 * t),
        lambda t: 0.5 * (-2.0 * t),
        lambda t: (-2.0 * t) / 2.0,
        lambda t: 2.0 - (-(1.0 * t)),
        lambda t: 0.0 - 1.0 * t,
        lambda t: np.maximum(-1.0 * t, 0),
        lambda t: -(t / 1.0),
    ],
)
@pytest.mark.parametrize("truth", [lambda d: d > 0, lambda d: np.maximum(d, 1.0) > 2.0])
def test_the_truth_of_a_number_is_no_float(truth, of_truth, d):
    """``-True`` is -1 for Python, and an error for NumPy, whose maximum gives its own truths."""

    def f(x, d):
        return x * (3.0 + of_truth(truth(d)))

    for number in (d, float(d)):
        value, slope = program(f)(2.0, number)
        assert (value, slope) == (2.0 * slope, 3.0 + of_truth(truth(float(d)) * 1))
