"""Engines with names of their own: what the doctor reads, and the adapter that it writes."""

import numpy as np
import pytest

from chainlab.doctor import Adapter, examine
from chainlab.doctor.conventions import read_conventions
from tests.support import each

ENGINE = """
import numpy as np

def order(root):
    found, seen, stack = [], set(), [(root, False)]
    while stack:
        node, is_done = stack.pop()
        if is_done:
            found.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            stack += [(node, True)] + [(parent, False) for parent, _ in node.edges]
    return found[::-1]

class Value:
    taken = set()
    {more}
    def __init__(self, {init}):
        {body}
    def new(self, x, *edges):
        result = Value({make})
        result.edges = edges
        return result
    def __add__(self, other):
        return self.new(self.{data} + other.{data}, (self, 1.0), (other, 1.0))
    def __mul__(self, other):
        return self.new(self.{data} * other.{data}, (self, other.{data}), (other, self.{data}))
"""
PASS = """
{i}def {name}({root}):
{i}    for node in order({root}):
{i}        node.{grad} = 0.0 if node.edges else node.{grad}
{i}    {root}.{grad} = 1.0
{i}    for node in order({root}):
{i}        for parent, local in node.edges:
{i}            parent.{grad} = (parent.{grad} or 0.0) + local * node.{grad}
"""
RETURNS = """
def gradients(root):
    found = {root: 1.0}
    for node in order(root):
        for parent, local in node.edges:
            found[parent] = found.get(parent, 0.0) + local * found[node]
    return found
"""
OF_NODES = """
    def backward(self):
        for node in order(self):
            node.grad = None if node.edges else node.grad
        self.grad = Value(1.0)
        for node in order(self):
            for parent, local in node.edges:
                before = parent.grad.data if parent.grad else 0.0
                parent.grad = Value(before + local * node.grad.data)
"""
UNIQUE = "assert name not in self.taken; self.taken.add(name); "


def written(
    data="data", grad="grad", init="x", body="", make="x", run="backward", how="method", start="0.0"
):
    """The source of a sound engine with these names."""
    body += f"self.{data}, self.{grad}, self.edges = x, {start}, ()"
    source = ENGINE.format(data=data, init=init, body=body, make=make, more="")
    if how == "function":
        return source + PASS.format(i="", name=run, root="root", grad=grad)
    static = "    @staticmethod" * (how == "static")
    return source + static + PASS.format(i="    ", name=run, root="self", grad=grad)


ONLY_ARRAYS = "assert isinstance(x, np.ndarray); "
DESIGNS = {
    "micrograd": (written(), ""),
    "val": (written(data="val", grad="gradient"), "`.val` as the data and `.gradient`"),
    "odd names": (written(data="w", grad="wbar", run="pullback_all_of_diff"), "`.wbar` as"),
    "private": (written(data="_data", grad="g"), "`._data` as the data"),
    "method": (written(run="run_back"), "`root.run_back()` as the pass"),
    "function": (written(how="function", run="backprop"), "`backprop(root)` as the pass"),
    "static": (written(how="static", run="back"), "`Value.back(root)` as the pass"),
    "closure": (
        written(run="backpropagate", body="self.backward = lambda: None; "),
        "`root.backpropagate()` as the pass",
    ),
    "none": (written(start="None"), ""),
    "arrays": (written(body=ONLY_ARRAYS, make="np.asarray(x)"), "`Value(np.array(value))` as a"),
    "parents": (written(init="x, parents, op", make="x, (), None"), "parents=(), op=None"),
    "label": (written(init="name, x", make="None, x"), "(f'leaf{next(self.labels)}', value)"),
    "unique": (
        written(init="x, name=''", make="x, object()", body=UNIQUE),
        "Value(value, name=f'leaf{next(self.labels)}')",
    ),
    "asked": (
        written(
            init="x, requires_grad=False",
            make="x, True",
            body="self.requires_grad = requires_grad; ",
        ).replace("in node.edges:", "in node.edges if node.requires_grad else ():"),
        "`Value(value, requires_grad=True)` as a leaf",
    ),
    "returned": (
        ENGINE.format(
            data="data", init="x", body="self.data, self.edges = x, ()", make="x", more=""
        )
        + RETURNS,
        "`gradients(root)` as the pass",
    ),
    "nodes": (
        ENGINE.format(
            data="data",
            init="x",
            body="self.data, self.grad, self.edges = x, None, ()",
            make="x",
            more="",
        )
        + OF_NODES,
        "`.grad.data` as the gradient",
    ),
}


@pytest.fixture
def own(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    monkeypatch.setitem(__import__("sys").modules, "own_names", None)

    def write(text, name="Value"):
        (tmp_path / "own_names.py").write_text(text)
        return f"{tmp_path / 'own_names.py'}:{name}"

    return write


@each("name", DESIGNS)
def test_an_engine_with_other_names_is_read_and_examined(name, own):
    source, told = DESIGNS[name]
    report = examine(own(source), milestone=2)
    assert report.obstacle == ""
    assert report.findings == [], str(report)
    assert told in report.read_as
    assert bool(report.read_as) == bool(report.adapter)


@each("name", [name for name, (_, told) in DESIGNS.items() if told])
def test_the_adapter_that_is_printed_examines_as_it_stands(name, own):
    source, _ = DESIGNS[name]
    adapter = examine(own(source), milestone=1).adapter
    report = examine(own(f"{source}\n\n{adapter}", "ValueAdapter"), milestone=2)
    assert report.is_sound, str(report)


def test_what_can_not_be_read_is_left_to_fill_in(own):
    source = written(data="val", run="launch")
    report = examine(own(source))
    assert "backward() raises AttributeError" in report.obstacle
    assert "return node.val" in report.adapter
    assert "# Still to fill in: this raises AttributeError" in report.adapter
    filled = report.adapter.replace("root.backward()", "root.launch()")
    assert examine(own(f"{source}\n\n{filled}", "ValueAdapter"), milestone=2).is_sound


def test_a_stub_is_to_be_written_and_needs_no_adapter(own):
    stub = "class Value:\n    def __init__(self, x): self.data, self.grad = x, 0.0\n"
    stub += "".join(
        f"    def {name}: raise NotImplementedError\n"
        for name in ("__add__(self, o)", "__mul__(self, o)", "backward(self)")
    )
    report = examine(own(stub))
    assert report.adapter == ""
    assert "raise NotImplementedError: write them" in report.obstacle


def test_a_bug_is_no_convention():
    class Unseeded:
        def __init__(self, data, edges=()):
            self.data, self.grad, self.edges = data, 0.0, edges

        def __add__(self, other):
            return Unseeded(self.data + other.data, (self, other))

        def backward(self):
            for parent in self.edges:
                parent.grad += self.grad

    assert read_conventions(Unseeded) is None
    assert [finding.bug for finding in examine(Unseeded).findings] == [
        "the root is not seeded with 1"
    ]


def test_pytorch_is_read():
    torch = pytest.importorskip("torch")
    found = read_conventions(torch.tensor)
    assert found.leaf == "tensor(value, requires_grad=True)"
    assert found.cleared == "leaf.grad = None"


ON_A_TAPE = """
TAPE = []

class Value:
    def __init__(self, value, *edges):
        self.value, self.index = value, len(TAPE)
        TAPE.append(edges)
    def __mul__(self, other):
        return Value(self.value * other.value, (self.index, other.value), (other.index, self.value))
    def grad(self):
        found = [0.0] * len(TAPE)
        found[self.index] = 1.0
        for i in range(self.index, -1, -1):
            for at, local in TAPE[i]:
                found[at] += local * found[i]
        return found
"""


@each("before", range(8))
def test_an_index_that_is_the_other_factor_is_no_gradient(before, own):
    source = ON_A_TAPE + f"for _ in range({before}): Value(1.0)\n"
    report = examine(own(source), milestone=1)
    assert report.read_as == "`.value` as the data"
    assert report.obstacle
    assert report.findings == []


def test_data_that_are_an_array_stay_one():
    class Value:
        def __init__(self, value):
            self.value = np.asarray(value)

    adapter = read_conventions(Value).adapter(Value)
    leaf = adapter.leaf(3.0)
    adapter.update(leaf, 2.0)
    assert isinstance(leaf.value, np.ndarray)
    assert leaf.value == 2.0


def test_an_adapter_that_cannot_clear_is_asked_for_its_method():
    class Value:
        def __init__(self, data):
            self.data, self.slope, self.sources = data, 0.0, ()

        def __mul__(self, other):
            product = Value(self.data * other.data)
            product.sources = (self, other)
            return product

    class Mine(Adapter):
        def leaf(self, value):
            return Value(value)

        def backward(self, root):
            for one, other in (root.sources, root.sources[::-1]):
                one.slope += other.data

        def gradient(self, leaf):
            return leaf.slope

    report = examine(Mine())
    assert "give Mine a method clear(self, leaf)" in report.obstacle
    assert report.adapter == ""
