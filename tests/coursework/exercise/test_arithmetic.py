"""What counts as a function that is written as lines."""

import ast

import pytest

from coursework.exercise.arithmetic import check_lines, what_else

RIGHT = [
    "def f(x):\n    'Say it.'\n    y = 2 * x\n    y -= x[:, None] @ x.T\n    return {'y': y}",
    "def f(x, *, w: np.ndarray) -> tuple:\n    h, _ = np.exp(x), 1\n    return h.sum(axis=0), w",
    "def f(x):\n    m: float = len(x) * (x > 0)\n    return -m",
    "def f(x):\n    raise NotImplementedError",
]
WRONG = {
    "def f(x):\n    return vjp(x)": "line 2 calls vjp",
    "def f(x):\n    for y in x:\n        x = y": "line 2 is neither",
    "def f(x):\n    if x > 0:\n        x = 2\n    return x": "line 2 is neither",
    "def f(x):\n    import os\n    return x": "line 2 is neither",
    "def f(x):\n    return [y for y in x]": "line 2 holds more",
    "def f(x):\n    return (lambda y: y)(x)": "line 2 calls",
    "def f(x):\n    return (y := x)": "line 2 holds more",
    "def f(x):\n    return x if x > 0 else -x": "line 2 holds more",
    "def f(x):\n    return (x + 1e-30j)": "line 2 uses the complex number",
    "def f(x):\n    return x.imag": "line 2 uses .imag",
    "def f(x):\n    return np.vectorize(x)": "line 2 uses .vectorize",
    "def f(x):\n    return x.__class__": "line 2 uses .__class__",
    "def f(x):\n    return x(x)": "line 2 calls x",
    "def f(x):\n    return f'{x}'": "line 2 holds more",
    "def f(x):\n    x.T = 1\n    return x": "line 2 gives a value to x.T",
    "def f(x):\n    np = x\n    return np": "line 2 gives a value to np",
    "def f(x, g=abs):\n    return g": "default values",
    "def f(*x):\n    return x": "default values or stars",
    "@memo\ndef f(x):\n    return x": "a decorator",
    "def f(x: g(1)):\n    return x": "an annotation",
    "f = abs": "no function that `def` defines",
    "async def f(x):\n    return x": "no function that `def` defines",
    "class f:\n    y = 1": "no function that `def` defines",
}


@pytest.mark.parametrize("source", RIGHT)
def test_arithmetic_is_all_that_lines_hold(source: str) -> None:
    assert what_else(ast.parse(source).body[0]) == ""


@pytest.mark.parametrize("source", WRONG)
def test_what_is_more_than_lines_is_named(source: str) -> None:
    assert WRONG[source] in what_else(ast.parse(source).body[0])


def of_lines(x: float) -> float:
    y = 2 * x
    return y + x


def of_a_loop(x: float) -> float:
    while x > 1:
        x /= 2
    return x


def test_a_notebook_looks_at_a_function_s_own_source() -> None:
    check_lines(of_lines)
    with pytest.raises(AssertionError, match=r"of_a_loop is to be written as lines.*line 2"):
        check_lines(of_a_loop)


def test_a_function_that_stands_in_no_cell_is_said_to() -> None:
    exec("def f(x):\n    return x", made := {})
    with pytest.raises(AssertionError, match="no cell defines f"):
        check_lines(made["f"])
