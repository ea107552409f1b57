"""What is said of a watched run, without a framework."""

import subprocess
import sys

import numpy as np
import pytest

from chaingrad.frameworks import Call, Value
from chaingrad.frameworks.watched import summary, told


def test_importing_it_imports_no_framework():
    code = "import sys, chaingrad.frameworks; print({'torch', 'jax', 'graphviz'} & {*sys.modules})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


@pytest.mark.parametrize(
    ("array", "facts"),
    [
        (np.array([[3.0, -4.0]]), ((1, 2), 5.0, 4.0, True)),
        (np.array([1, -2], np.int8), ((2,), 5**0.5, 2.0, True)),
        (np.array([True, True]), ((2,), 2**0.5, 1.0, True)),
        (np.zeros((0, 3)), ((0, 3), 0.0, 0.0, True)),
        (np.array([1.0, np.inf]), ((2,), np.inf, np.inf, False)),
        (np.float32(3e30) * np.ones(4, np.float32), ((4,), 6e30, 3e30, True)),
    ],
)
def test_a_summary(array, facts):
    found = summary(array)
    assert found.shape == facts[0]
    assert found.norm == pytest.approx(facts[1], rel=1e-6)
    assert found.largest == pytest.approx(facts[2], rel=1e-6)
    assert found.is_finite == facts[3]
    assert summary(found) is found
    assert told(found).startswith(str(found.shape))


def test_names():
    call = Call("net.cell", "RNNCell", Call(), 2, 5)
    assert call.name == "net.cell (call 2)"
    assert [c.name for c in call.chain] == ["", "net.cell (call 2)"]
    assert Value("Mul", call=call).name == "Mul in net.cell (call 2)"
    assert Value(label="x").name == "x"
