"""The doctor: engines with known faults are named rightly, and sound ones have a clean bill."""

import ast
import contextlib
import math
import os
import re
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from micrograd.engine import Value as Micrograd

from chaingrad import Node
from chaingrad.doctor import PROBES, Adapter, Outcome, Report, examine, probes
from chaingrad.doctor import __main__ as doctor
from chaingrad.doctor.probes import _OF_FLOATS
from chaingrad.functional import grad
from chaingrad.graph import toposort
from tests.support import ROOT

MUSEUM = ROOT / "chapters/foundations/bug-museum.md"
RULE_OF_TANH = "a rule: tanh"


def museum():
    """The classes of the page, by their names."""
    found = {"dataclass": dataclass, "math": math, "toposort": toposort}
    for cell in re.findall(r"```\{code-cell\} ipython3\n(.*?)```", MUSEUM.read_text(), re.DOTALL):
        code = re.sub(r"\A(---\n.*?---\n|(:[^\n]*\n)+)", "", cell, flags=re.DOTALL)
        for part in ast.parse(code).body:
            if isinstance(part, ast.ClassDef):
                exec(compile(ast.Module([part], []), MUSEUM.name, "exec"), found)
    return found


ENGINES = museum()


def bugs(report):
    return [finding.bug for finding in report.findings]


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("Overwrites", probes.OVERWRITES),
        ("Unsorted", probes.UNSORTED),
        ("Unreversed", probes.UNSORTED),
        ("Stale", probes.STALE),
        ("StaleAdding", probes.STALE),
        ("OneShare", probes.ONE_SHARE),
        ("Recursive", probes.RECURSION),
        ("ExpOfInput", probes.EXP),
        ("ExpForgets", probes.FORGETS),
        ("ZeroPower", probes.ZERO_POWER),
        ("Mystery", probes.EQUAL),
    ],
)
def test_engines_of_the_museum_are_named(name, first):
    report = examine(ENGINES[name], seconds=3)
    assert bugs(report)[0] == first
    assert set(bugs(report)[1:]) <= {probes.RECURSION, probes.SLOW}
    assert not report.is_sound


def test_every_path_of_the_museum_has_several_bugs():
    found = bugs(examine(ENGINES["EveryPath"]))
    assert {probes.UNSORTED, probes.STALE, probes.RECURSION} < set(found)


def test_the_museum_is_covered():
    tested = {"Value", "Versioned", "EveryPath", "Moved"}
    named = test_engines_of_the_museum_are_named.pytestmark[0].args[1]
    classes = {name for name, thing in ENGINES.items() if hasattr(thing, "backward")}
    assert classes == tested | {name for name, _ in named}


def test_sound_engines_have_a_clean_bill():
    for engine in (Node, ENGINES["Value"], ENGINES["Versioned"], Sound):
        report = examine(engine)
        assert report.is_sound, str(report)
        assert report.findings == []
    assert [x.bug for x in examine(ENGINES["Value"]).remarks] == [probes.CHANGED]
    assert examine(ENGINES["Versioned"]).remarks == examine(Sound).remarks == []
    assert examine(Node).missing == []


def test_micrograd():
    report = examine(Micrograd)
    assert set(bugs(report)) == {probes.ZERO_POWER, probes.STALE, probes.RECURSION}
    (stale,) = (f for f in report.findings if f.bug == probes.STALE)
    assert (stale.outcome.found, stale.outcome.right) == ("42", "21")
    assert "a.exp()" in report.missing
    assert "a.exp() * c" not in report.missing
    assert "0.0 cannot be raised to a negative power" in str(report)


# --- engines written for this test --------------------------------------------------------------


class Sound:
    """Keeps local gradients beside the operands; the classes below change a part of it."""

    def __init__(self, data, edges=()):
        self.data, self.grad, self.edges = data, 0.0, edges

    def of(self, data, *edges):
        return type(self)(data, edges)

    def node(self, other):
        return other if isinstance(other, Sound) else type(self)(float(other))

    def __add__(self, other):
        other = self.node(other)
        return self.of(self.data + other.data, (self, 1.0), (other, 1.0))

    def __mul__(self, other):
        other = self.node(other)
        return self.of(self.data * other.data, (self, other.data), (other, self.data))

    def __neg__(self):
        return self.of(-self.data, (self, -1.0))

    def __sub__(self, other):
        other = self.node(other)
        return self.of(self.data - other.data, (self, 1.0), (other, -1.0))

    def __rsub__(self, other):
        return self.node(other) - self

    def __truediv__(self, other):
        x, y = self.data, self.node(other).data
        return self.of(x / y, (self, 1 / y), (self.node(other), -x / y**2))

    def __pow__(self, n):
        return self.of(self.data**n, (self, n * self.data ** (n - 1) if n else 0.0))

    def tanh(self):
        y = math.tanh(self.data)
        return self.of(y, (self, 1 - y * y))

    def relu(self):
        return self.of(max(self.data, 0.0), (self, float(self.data > 0)))

    def log(self):
        return self.of(math.log(self.data), (self, 1 / self.data))

    __radd__, __rmul__ = __add__, __mul__

    def order(self):
        return toposort(self, lambda node: [parent for parent, _ in node.edges])

    def start(self, order):
        for node in order:
            if node.edges:
                node.grad = 0.0
        self.grad += 1.0

    def backward(self):
        order = self.order()
        self.start(order)
        for node in order:
            for parent, local in node.edges:
                parent.grad += node.grad * local


class OverwritesInOneRule(Sound):
    def tanh(self):
        out = super().tanh()
        out.overwrites = True
        return out

    def backward(self):
        order = self.order()
        self.start(order)
        for node in order:
            for parent, local in node.edges:
                if hasattr(node, "overwrites"):
                    parent.grad = 0.0
                parent.grad += node.grad * local


class SeedsOnTop(Sound):  # and nothing starts afresh
    def start(self, order):
        self.grad += 1.0


class OnATape(Sound):  # which never ends
    tape: ClassVar = []

    def __init__(self, data, edges=()):
        super().__init__(data, edges)
        self.tape.append(self)

    def order(self):
        return self.tape[::-1]

    def start(self, order):
        self.grad = 1.0


class WrongRules(Sound):
    def __rsub__(self, other):
        return self - other

    def __iadd__(self, other):
        self.data += self.node(other).data
        return self

    def relu(self):
        return self.of(max(self.data, 0.0), (self, 1.0))

    def tanh(self):
        e = math.exp(2 * self.data)
        y = (e - 1) / (e + 1)
        return self.of(y, (self, 1 - y))

    def __truediv__(self, other):
        x, y = self.data, self.node(other).data
        return self.of(x / y, (self, 1 / y), (self.node(other), x / y**2))


class ByValue(Sound):
    def __eq__(self, other):
        return self.data == other.data

    def __hash__(self):
        return hash(self.data)


class WholeNumbers(Sound):
    def __init__(self, data, edges=()):
        super().__init__(np.asarray(data), edges)
        self.grad = np.zeros_like(self.data)


class Unruly(Sound):
    def __neg__(self):
        print("in the way")
        return super().__neg__()

    def __sub__(self, other):
        sys.exit("no")

    def log(self):
        while True:
            with contextlib.suppress(Exception):
                math.log(self.data)


class Interrupted(Sound):
    """The machine has other things to do: a second passes in which this does nothing."""

    waited = False

    def relu(self):
        time.sleep(1.2 * (not self.waited))
        type(self).waited = True
        return super().relu()


def test_engines_with_other_faults():
    (finding,) = examine(OverwritesInOneRule).findings
    assert (finding.bug, finding.probe.text) == (probes.OVERWRITES, "a * a.tanh() at a = 0.5")
    assert bugs(examine(SeedsOnTop)) == [probes.STALE]
    assert probes.STALE in bugs(examine(OnATape))
    assert set(bugs(examine(WrongRules))) == {
        "a number beside a node", "+= changes the operand", "a rule: relu", RULE_OF_TANH,
        "overflow", "a rule: /",
    }  # fmt: skip
    assert probes.EQUAL in bugs(examine(ByValue))
    assert bugs(examine(WholeNumbers)) == ["whole numbers"]


@pytest.mark.parametrize("verdict", ["wrong", "missing"])
def test_a_remark_is_not_made_where_a_smaller_probe_is_the_reason(verdict):
    probe = next(probe for probe in PROBES if probe.only_remark)
    remark = Outcome(probe.text, "remark", "dy/da", "1", "2")
    assert [finding.bug for finding in Report("x", [remark]).remarks] == [probe.bug]
    assert Report("x", [Outcome(probe.needs[0], verdict), remark]).remarks == []


@pytest.mark.slow  # it waits for an engine that does not end
def test_what_an_engine_does_besides_does_not_end_the_examination(capsys):
    report = examine(Unruly, seconds=2)
    assert bugs(report) == ["a rule: -", "a rule: log"]
    came = {finding.bug: finding.outcome.found for finding in report.findings}
    assert came == {"a rule: -": "SystemExit: no", "a rule: log": probes.ENDLESS}
    assert capsys.readouterr().out == ""


def examine_in_a_thread(engine, seconds):
    found = []
    thread = threading.Thread(target=lambda: found.append(examine(engine, seconds)))
    thread.start()
    thread.join()
    return found[0]


@pytest.mark.slow  # it waits for an engine that does not end
def test_beside_the_main_thread_the_count_of_lines_stops_it():
    assert bugs(examine_in_a_thread(Unruly, seconds=2)) == ["a rule: -", "a rule: log"]


@pytest.mark.slow
@pytest.mark.parametrize("examine", [examine, examine_in_a_thread])
def test_an_engine_that_has_to_wait_is_sound(examine, monkeypatch):
    monkeypatch.setattr(Interrupted, "waited", False)
    assert examine(Interrupted, seconds=1).is_sound
    assert Interrupted.waited


# --- the probes themselves ----------------------------------------------------------------------


def test_the_right_numbers_are_those_of_central_differences():
    h = 1e-5
    for probe in PROBES:
        if not hasattr(probe.right, "args"):
            continue
        f, _, at = probe.right.args
        if f(*at) == 0 and 0.0 in at and "**" in probe.text:
            continue
        for i, g in enumerate(grad(f, argnums=range(len(at)))(*at)):
            low, high = ([x + by * (i == j) for j, x in enumerate(at)] for by in (-h, h))
            assert g == pytest.approx((f(*high) - f(*low)) / (2 * h), rel=1e-5, abs=1e-8)


def test_probes_are_told_apart_and_need_smaller_ones():
    texts = [probe.text for probe in PROBES]
    assert len(set(texts)) == len(texts) >= 20
    for i, probe in enumerate(PROBES):
        assert set(probe.needs) <= set(texts[:i])
    assert set(_OF_FLOATS) == {t[2:].partition("(")[0] for t in texts if t.startswith("a.")}


def test_an_engine_with_another_interface_needs_an_adapter():
    torch = pytest.importorskip("torch")

    class Torch(Adapter):
        def leaf(self, value):
            return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)

        def clear(self, leaf):
            leaf.grad = None

        def backward(self, root):
            root.backward(retain_graph=True)

    report = examine(Torch())
    assert set(bugs(report)) <= {"+= changes the operand"}  # torch refuses it for a leaf
    assert report.name == "Torch"


def test_what_is_no_engine_is_refused():
    with pytest.raises(TypeError, match="examine needs a class such as Value"):
        examine(3.0)
    with_nothing = type("Empty", (), {"__init__": lambda self, data: None})
    assert not examine(with_nothing).is_sound


# --- the command line ---------------------------------------------------------------------------

FILE = """
import ctypes, itertools, os, signal, subprocess
from tests.chaingrad.test_doctor import Sound

print("imported")

class Value(Sound):
    def log(self):
        os._exit(7)

class Halted(Sound):
    times = 0

    def relu(self):
        if not Halted.times:
            subprocess.Popen(["sh", "-c", f"sleep 8; kill -CONT {os.getpid()}"])
            os.kill(os.getpid(), signal.SIGSTOP)
        Halted.times += 1
        return super().relu()

class Computes(Sound):
    def __add__(self, other):
        return sum(itertools.repeat(0))  # compiled code, which asks for no signal

class Waits(Sound):
    def __add__(self, other):
        ctypes.PyDLL(None).pause()  # and the interpreter's lock held
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A folder with engines, in which the command is given."""
    (tmp_path / "mine.py").write_text(FILE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(ROOT / "src")]))
    return tmp_path


def command(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "chaingrad.doctor", *arguments],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.usefixtures("mine")
def test_on_the_command_line_an_engine_may_end_its_process():
    run = command("mine.py:Value")
    assert run.returncode == 1, run.stderr
    assert "the process ended with status 7" in run.stdout
    assert "imported" not in run.stdout


@pytest.mark.slow  # the engine is halted for longer than it may compute
@pytest.mark.usefixtures("mine")
def test_on_the_command_line_a_halted_engine_is_sound():
    sound = command("mine:Halted", "--seconds", "1")
    assert sound.returncode == 0, sound.stdout + sound.stderr
    assert "no bug found" in sound.stdout


@pytest.mark.slow  # it waits for an engine that does not end
@pytest.mark.usefixtures("mine")
@pytest.mark.parametrize("engine", ["Computes", "Waits"])
def test_on_the_command_line_compiled_code_is_ended(engine, monkeypatch):
    monkeypatch.setattr(doctor, "_IDLE", 5.0)
    lines, end = doctor._process(f"mine.py:{engine}", first=0, seconds=1)
    assert lines == [{"name": engine}]
    assert end == probes.ENDLESS


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("mine.py", "say where the engine is"),
        ("other.py:Value", "there is no file other.py"),
        ("nothing_like_it:Value", "there is no module nothing_like_it"),
        ("mine.py:Valeu", "mine.py has no Valeu"),
        ("broken.py:Value", "SyntaxError"),
    ],
)
def test_targets_that_are_not_there(target, message, mine):
    (mine / "broken.py").write_text("class Value(:")
    run = command(target)
    assert run.returncode == 2
    assert message in run.stderr
