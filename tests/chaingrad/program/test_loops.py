"""Blocks that repeat become loops, which give the numbers of the text without them."""

import numpy as np
import pytest

from chaingrad import program, value_and_grad
from chaingrad._tree import flat
from chaingrad.program import words
from chaingrad.rules import value

RNG = np.random.default_rng(5)
SEEDS = range(12)


def unrolled(monkeypatch, *args, **kwargs):
    """Make a program whose loops stay written out."""
    monkeypatch.setattr(words, "roll", lambda *_: None)
    return program(*args, **kwargs)


def euler(p):
    x, y = 10.0, 5.0
    for _ in range(40):
        x, y = x + 0.01 * (p[0] * x - p[1] * x * y), y + 0.01 * (p[2] * x * y - p[3] * y)
    return (x - 12.0) ** 2 + (y - 4.0) ** 2


def recurrent(W, U, xs, h):
    for t in range(len(xs)):
        h = np.tanh(h @ W + xs[t] @ U)
    return (h * h).sum()


def stacked(W, xs):
    h, states = np.zeros(3), []
    for t in range(len(xs)):
        h = np.tanh(h @ W + xs[t])
        states.append(h)
    return (np.stack(states) ** 2).mean()


def second_order(a, xs):
    old, new, total = 0.0, 0.0, 0.0
    for t in range(len(xs)):
        old, new = new, a[0] * new - a[1] * old + xs[t]
        total = total + new * new
    return total


def schedule(w, rates):
    for t in range(12):
        w = w - rates[t] * np.sin(w) / (t + 2.0)
    return (w * w).sum()


def newton(a):
    x = a
    for _ in range(8):
        x = 0.5 * (x + a / x)
    return (x * x * x).sum()


def windows(x, w):
    total = 0.0
    for i in range(20):
        total = total + (x[i : i + 4] * w).sum() ** 2
    return total


LOOPS = {
    "euler": (euler, (np.array([1.1, 0.4, 0.1, 0.4]),)),
    "recurrent": (
        recurrent,
        (
            RNG.normal(size=(4, 4)) / 2,
            RNG.normal(size=(3, 4)),
            RNG.normal(size=(15, 2, 3)),
            RNG.normal(size=(2, 4)),
        ),
    ),
    "stacked": (stacked, (RNG.normal(size=(3, 3)) / 2, RNG.normal(size=(12, 3)))),
    "second_order": (second_order, (np.array([0.4, 0.3]), RNG.normal(size=20))),
    "schedule": (schedule, (RNG.normal(size=5), RNG.uniform(0.1, 0.3, size=12))),
    "newton": (newton, (RNG.uniform(1, 3, size=4),)),
    "windows": (windows, (RNG.normal(size=23), RNG.normal(size=4))),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_is_found_again(name, dtype, monkeypatch):
    f, args = LOOPS[name]
    args = [x.astype(dtype) for x in args]
    by = range(len(args))
    step = program(f, by)
    got, nodes = step(*args), value_and_grad(f, by)(*args)
    assert step.source.count("for ") >= 2  # forward and back
    assert "for }" in str(step.equations)
    plain = unrolled(monkeypatch, f, by)
    expected = plain(*args)
    assert step.source.count("\n") < plain.source.count("\n")
    tolerance = {"rtol": 30 * np.finfo(dtype).eps, "atol": 30 * np.finfo(dtype).eps}
    for x, y, z in zip(*map(flat, (got, expected, nodes)), strict=True):
        assert type(x) is type(y)
        assert np.result_type(x) == np.result_type(y)
        np.testing.assert_allclose(x, y, **tolerance)
        np.testing.assert_allclose(x, value(z), rtol=100 * tolerance["rtol"], atol=1e-5)


def drawn(seed):
    """Draw a function whose loop updates numbers and arrays, and its arguments."""
    random = np.random.default_rng(seed)
    steps, whole = int(random.integers(0, 13)), bool(random.integers(2))
    shape = (int(random.integers(2, 4)),) if whole else ()
    carried = int(random.integers(1, 4))
    ops = [
        (int(random.integers(6)), *map(int, random.integers(carried, size=2)))
        for _ in range(int(random.integers(1, 4)))
    ]
    rates = random.uniform(0.1, 0.9, size=13).tolist()

    def f(a, xs, start):
        state = [start * (1.0 + i) for i in range(carried)]
        total = 0.0
        for t in range(steps):
            for kind, i, j in ops:
                x, y = state[i], state[j]
                state[i] = (
                    a[0] * x + xs[t],
                    np.tanh(x + y * a[1]),
                    x - rates[t] * y,
                    np.sin(x) * y + xs[t + 1] / (t + 1.0),
                    y * 0.5 - x * xs[t],
                    0.3 * (x + y) - xs[0],
                )[kind]
            total = total + state[-1] * state[0]
        end = total + sum(state)
        return (end * end).sum() if whole else end * end

    return f, (random.normal(size=2), random.normal(size=(14, *shape)), random.normal(size=shape))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_drawn_loop_gives_the_same_numbers(seed, monkeypatch):
    f, args = drawn(seed)
    args = [float(x) if x.ndim == 0 else x for x in args]
    step = program(f, (0, 1, 2))
    got, nodes = step(*args), value_and_grad(f, (0, 1, 2))(*args)
    expected = unrolled(monkeypatch, f, (0, 1, 2))(*args)
    (got_value, (da, dxs, dstart)), (v, (ga, gxs, gstart)) = got, expected
    assert got_value == v
    assert np.array_equal(dstart, gstart)  # to the last bit
    for x, y in ((da, ga), (dxs, gxs)):  # whose parts are added up in another order
        np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-12)
    for x, z in zip(flat(got), flat(nodes), strict=True):
        np.testing.assert_allclose(x, value(z), rtol=1e-9, atol=1e-9)


def test_results_of_a_loop_share_no_memory():
    def f(x, A):
        states = []
        for _ in range(9):
            x = A @ x
            y = np.exp(-x * x)
            x = x * y / (1.0 + y.sum())
            states.append(x)
        return {"last": x, "all": states, "again": x}

    A, x = RNG.normal(size=(3, 3)), RNG.normal(size=3)
    step = program(f, None)
    first, second = flat(step(x, A)), flat(step(x, A))
    assert "for " in step.source
    results = [*first, *second, x, A]
    for i, a in enumerate(results):
        assert not any(np.shares_memory(a, b) for b in results[:i])
    for a in first:
        a[...] = 0
    np.testing.assert_array_equal(flat(step(x, A)), second)


def test_a_loop_of_few_steps_stays_written_out():
    def f(W, x):
        for _ in range(2):
            x = np.tanh(W @ x)
        return (x * x).sum()

    step = program(f)
    step(RNG.normal(size=(3, 3)), RNG.normal(size=3))
    assert "for " not in step.source


def test_numbers_that_are_zero_at_first_divide_as_numpy_does():
    def f(a, xs):
        s = 0.0
        for t in range(8):
            s = a[0] * s + xs[t]
        return s

    step = program(f, (0, 1))
    a, xs = np.array([0.5, 1.0]), RNG.normal(size=8)
    (got_value, (da, dxs)), nodes = step(a, xs), value_and_grad(f, (0, 1))(a, xs)
    assert got_value == pytest.approx(float(value(nodes[0])))
    np.testing.assert_allclose(dxs, value(nodes[1][1]))
    np.testing.assert_allclose(da, value(nodes[1][0]))


def test_reused_buffers_are_written_over_without_a_loop():
    f, args = LOOPS["recurrent"]
    step = program(f, (0, 1), reuse=True)
    for x, y in zip(flat(step(*args)), flat(program(f, (0, 1))(*args)), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12)
    assert "for " not in step.source
    assert "out=" in step.source


def test_names_of_a_loop_meet_no_others():
    def f(t, x):
        for _ in range(9):
            x = np.tanh(t.T @ x)
            x.label = "T"
            y = (x * x).sum(axis=0)
            y.label = "axis"
            i = np.exp(x) / y
            i.label = "i"
            x = x * i - np.array([0.5, 0.25, 1.0])
            x.label = "sum"
        return (x * x).sum()

    step = program(f, (0, 1))
    args = RNG.normal(size=(3, 3)), RNG.normal(size=3)
    got, nodes = step(*args), value_and_grad(f, (0, 1))(*args)
    assert step.source.count("for ") == 2
    for x, z in zip(flat(got), flat(nodes), strict=True):
        np.testing.assert_allclose(x, value(z), rtol=1e-9)
