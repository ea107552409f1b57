"""Random programs of scalars and of loops over entries, beside the nodes at points of other signs.

`FUZZ_COUNT` of them are drawn (30 by default), from `FUZZ_SEED` (0) on.
"""

import os

import numpy as np
import pytest

from chaingrad import program, value_and_grad

COUNT, FIRST = int(os.environ.get("FUZZ_COUNT", 30)), int(os.environ.get("FUZZ_SEED", 0))
SIZE = 6


def expression(random, names, depth):
    """Write a random expression of these names."""
    if depth == 0 or random.random() < 0.15:
        return random.choice([*names, *names, f"{random.integers(-3, 4)}.0"])
    a, b, c, d = (expression(random, names, depth - 1) for _ in range(4))
    forms = [
        f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} * {b})", f"(-{a})", f"({a})**2",
        f"np.where({random.choice(names)} > {c}, {a}, {b})",
        f"np.where({random.choice(names)} < 0, {a}, 0.0)",
        f"np.where(({random.choice(names)} > 0) & ({random.choice(names)} < {d}), {a}, {b})",
        f"np.maximum({random.choice(names)}, {b})", f"np.minimum({random.choice(names)}, {b})",
        f"np.clip({random.choice(names)}, -0.7, 1.3)", f"np.abs({random.choice(names)} - {b})",
        f"np.tanh({random.choice(names)} + {a})",
    ]  # fmt: skip
    return forms[random.integers(len(forms))]


def drawn(seed):
    """Draw a function of one vector: an expression, or a loop over its entries."""
    random = np.random.default_rng(seed)
    entries = [f"x[{i}]" for i in range(SIZE)]
    if random.random() < 0.5:
        terms = [expression(random, entries, 3) for _ in range(random.integers(1, 4))]
        body = f"    return x[0] * x[1] + {' + '.join(terms)}"
    else:
        step = expression(random, ["s", "x[t]", "x[t - 1]"], 2)
        update = random.choice(["s = np.tanh({})", "s = s + x[t] * x[t] - 0.1 * ({})"])
        body = (
            f"    s = x[0] * x[0]\n    for t in range({SIZE}):\n"
            f"        {update.format(step)}\n    return s * s + s + x[1]"
        )
    source = f"def f(x):\n{body}\n"
    scope = {"np": np}
    exec(source, scope)
    return scope["f"], source, random


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_random_scalars_and_loops(seed):
    f, source, random = drawn(seed)
    step = program(f)
    for _ in range(6):
        x = random.normal(size=SIZE)
        value, gradient = step(x)
        expected, by_nodes = value_and_grad(f)(x)
        np.testing.assert_allclose(value, expected, 1e-9, 1e-9, err_msg=source)
        scale = 1e-10 * np.abs(by_nodes).max(initial=1.0)
        np.testing.assert_allclose(gradient, by_nodes, 1e-8, scale, err_msg=source)
