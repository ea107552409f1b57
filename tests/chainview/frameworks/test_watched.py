"""What is said of a watched run, without a framework."""

import ast
import subprocess
import sys
import tomllib

import numpy as np
import pytest

import chainview.frameworks
from chainview.frameworks import ModuleCall, WatchedNode
from chainview.frameworks.run import format_value, summary
from tests.support import ROOT

FRAMEWORKS = "src/chainview/frameworks"


def test_importing_it_imports_no_framework():
    code = "import sys, chainview.frameworks; print({'torch', 'jax', 'graphviz'} & {*sys.modules})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


def test_what_is_private_of_pytorch_is_in_one_file():
    trees = {p.name: ast.parse(p.read_text()) for p in (ROOT / FRAMEWORKS).glob("*.py")}
    nodes = [(name, node) for name, tree in trees.items() for node in ast.walk(tree)]
    ours = {node.name for _, node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    names = [(name, n) for name, n in nodes if isinstance(n, ast.Attribute) and n.attr[0] == "_"]
    ours |= {node.attr for _, node in names if isinstance(node.ctx, ast.Store)}
    private = {name for name, n in names if n.attr not in ours and not n.attr.startswith("__")}
    assert private == {"private.py"}


def test_the_versions_that_are_stated_are_those_that_are_tested():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    pins = dict(line.split("==") for lines in extras.values() for line in lines if "==" in line)
    torch, jax = (pins[name].rpartition(".")[0] for name in ("torch", "jax"))
    page = (ROOT / "chapters/reference/your-model.md").read_text()
    for text in (chainview.frameworks.__doc__ or "", page):
        assert f"with PyTorch {torch} and JAX {jax}" in text


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
    assert format_value(found).startswith(str(found.shape))


def test_names():
    call = ModuleCall("net.cell", "RNNCell", ModuleCall(), 2, 5)
    assert call.name == "net.cell (call 2)"
    assert [c.name for c in call.chain] == ["", "net.cell (call 2)"]
    assert WatchedNode("Mul", call=call).name == "Mul in net.cell (call 2)"
    assert WatchedNode(label="x").name == "x"
