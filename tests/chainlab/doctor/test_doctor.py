"""The doctor: engines with known faults are named rightly, and sound ones have a clean bill."""

import ast
import contextlib
import importlib
import inspect
import math
import os
import re
import subprocess
import sys
import textwrap
import threading
import time
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np
import pytest
from micrograd.engine import Value as Micrograd

from chaingrad import Node
from chaingrad.graph import toposort
from chainlab.doctor import PROBES, Adapter, Functional, Outcome, Report, examine, graded
from chainlab.doctor import __main__ as doctor
from chainlab.doctor import number_probes as probes
from chainlab.doctor.array_probes import ARRAYS
from chainlab.doctor.examination import Patient, outcomes
from chainlab.doctor.learning import task
from chainlab.doctor.number_probes import FORGETS, SLOW
from chainlab.doctor.probe import gradients
from chainlab.doctor.report import STOPS, STOPS_WITHIN
from chainlab.doctor.witness import Slopes, doubt
from coursework.exercise.trials import first_wrong
from tests.chainlab.doctor import patients, sound
from tests.coursework.course import exercises
from tests.support import ROOT, each, sampled

MUSEUM = ROOT / "chapters/atlas/museum.md"
RULE_OF_TANH = "a rule: tanh"
PROBES_OF_1 = [probe for probe in PROBES if probe.milestone == 1]


@pytest.fixture(autouse=True)
def limit_of_recursion():
    """What an engine's file sets for itself is nothing to the tests that follow in this process."""
    limit = sys.getrecursionlimit()
    yield
    sys.setrecursionlimit(limit)


@pytest.fixture(autouse=True)
def untimed(request, monkeypatch):
    """Keep the probe that times an engine to slow tests, and to those that ask for it."""

    def once(engine):
        probes._seconds(engine, 8, 2)
        yield from ()

    if not (request.node.get_closest_marker("slow") or "timed" in request.fixturenames):
        (probe,) = (probe for probe in PROBES if probe.bug == SLOW)
        monkeypatch.setitem(vars(probe), "trial", once)


@pytest.fixture
def timed():
    """Ask for the whole examination."""


@cache
def museum():
    """The classes of the page, by their names."""
    found = {"dataclass": dataclass, "math": math, "toposort": toposort}
    for cell in re.findall(r"```\{code-cell\} ipython3\n(.*?)```", MUSEUM.read_text(), re.DOTALL):
        code = re.sub(r"\A(---\n.*?---\n|(:[^\n]*\n)+)", "", cell, flags=re.DOTALL)
        for part in ast.parse(code).body:
            if isinstance(part, ast.ClassDef):
                exec(compile(ast.Module([part], []), MUSEUM.name, "exec"), found)
    return found


def bugs(report):
    return [finding.bug for finding in report.findings]


MUSEUM_BUGS = {
    "Overwrites": probes.OVERWRITES,
    "Unsorted": probes.UNSORTED,
    "Unreversed": probes.UNSORTED,
    "Stale": probes.STALE,
    "StaleAdding": probes.STALE,
    "OneShare": probes.ONE_SHARE,
    "OneEdge": probes.ONE_SHARE,
    "Recursive": probes.RECURSION,
    "ExpOfInput": probes.EXP,
    "ExpForgets": probes.FORGETS,
    "ZeroPower": probes.ZERO_POWER,
    "Mystery": probes.EQUAL,
}


@each(("name", "first"), MUSEUM_BUGS.items())
def test_engines_of_the_museum_are_named(name, first):
    report = examine(museum()[name], seconds=3)
    assert bugs(report)[0] == first
    assert set(bugs(report)[1:]) <= {SLOW}
    assert not report.is_sound


def test_every_path_of_the_museum_has_several_bugs():
    found = bugs(examine(museum()["EveryPath"]))
    assert {*found} - {SLOW} == {probes.UNSORTED, probes.STALE, probes.RECURSION}


def test_the_museum_is_covered():
    tested = {"Value", "Versioned", "EveryPath", "Moved"}
    classes = {name for name, thing in museum().items() if hasattr(thing, "backward")}
    assert classes == tested | set(MUSEUM_BUGS)


def test_sound_engines_have_a_clean_bill(timed):
    for engine in (Node, museum()["Value"], museum()["Versioned"], Sound):
        report = examine(engine)
        assert report.is_sound, str(report)
        assert report.findings == []
    assert [x.bug for x in examine(museum()["Value"]).remarks] == [probes.CHANGED]
    assert examine(museum()["Versioned"]).remarks == examine(Sound).remarks == []
    assert examine(Node).missing == []


def test_micrograd(timed):
    report = examine(Micrograd)
    assert bugs(report) == [probes.STALE, probes.RECURSION, probes.ZERO_POWER]
    (stale,) = (f for f in report.findings if f.bug == probes.STALE)
    assert (stale.outcome.found, stale.outcome.right) == ("42", "21")
    assert "a.exp()" in report.missing
    assert "a.exp() * c" not in report.missing
    assert "0.0 cannot be raised to a negative power" in str(report)
    states = [state.partition(":")[0] for state in report.coverage.values()]
    assert (states.count("wrong"), states.count("behind a bug")) == (3, 0)
    assert report.coverage["arrays"] == "not examined: it has no operator @"
    head = (
        f"Of {len(states)} things that an engine may have: {states.count('sound')} sound, 3 wrong"
    )
    assert f"3 bugs found. {head}" in str(report)


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
    probe = next(probe for probe in PROBES if probe.only_remark and probe.needs)
    remark = Outcome(probe.text, "remark", "dy/da", "1", "2")
    assert [finding.bug for finding in Report("x", [remark]).remarks] == [probe.bug]
    assert Report("x", [Outcome(probe.needs[0], verdict), remark]).remarks == []


@each(("engine", "bug"), patients.STUDENTS.items())
def test_engines_of_other_hands(engine, bug):
    found = bugs(examine(engine))
    assert found
    assert any(part in found[0] for part in bug.split("|"))


CHANGED = [
    *((patients.CLOSURES, *fault) for fault in patients.FAULTS),
    *((patients.ARRAYS, *fault) for fault in patients.ARRAY_FAULTS),
]


def test_one_changed_line_that_makes_an_engine_slow_is_found(timed):
    assert sum(bug == SLOW for *_, bug in CHANGED) == 1
    for source, old, new, bug in CHANGED:
        if bug == SLOW:
            assert bugs(examine(patients.changed(source, old, new)["Value"]))[0] == bug


@each(("source", "old", "new", "bug"), [fault for fault in CHANGED if fault[-1] != SLOW])
def test_one_changed_line_is_one_finding_or_comes_first(source, old, new, bug):
    assert bugs(examine(patients.changed(source, old, new)["Value"]))[0] in bug.split("|")


def test_the_two_engines_are_sound_before_the_change():
    for source in (patients.CLOSURES, patients.ARRAYS):
        report = examine(patients.changed(source)["Value"])
        assert report.is_sound, str(report)


OVERWRITING = dict(sound.overwriting())


@pytest.mark.slow
@each("line", OVERWRITING)
def test_any_share_that_overwrites_is_found(line):
    tried = [p for p in PROBES if p.milestone <= 5 and not p.corner]
    patient = Patient(patients.changed(OVERWRITING[line])["Value"])
    report = Report("x", list(outcomes(patient, tried, seconds=5)))
    assert bugs(report) == [probes.OVERWRITES], str(report)


class Single(Sound):
    """Numbers of 32 bits, which a program may choose."""

    def __init__(self, data, edges=()):
        super().__init__(np.float32(data), edges)


class Refuses(Sound):
    def __iadd__(self, other):
        raise RuntimeError("not in place")

    def backward(self):
        if hasattr(self, "done"):
            raise RuntimeError("once only")
        self.done = True
        super().backward()


class Stumbles(Sound):
    def backward(self):
        if hasattr(self, "done"):
            self.no_such_thing  # noqa: B018
        self.done = True
        super().backward()


def test_what_others_have_chosen_is_a_remark():
    for engine, remarks in (
        (Single, {probes.FLOAT32}),
        (Refuses, {"+= is refused", "a second pass is refused"}),
    ):
        report = examine(engine)
        assert report.is_sound, str(report)
        assert {finding.bug for finding in report.remarks} == remarks
    assert bugs(examine(Stumbles)) == [probes.STALE]


def test_a_number_shows_the_digits_in_which_it_differs():
    (remark,) = examine(Single).remarks
    assert (remark.outcome.found, remark.outcome.right) == ("0.10000000149", "0.1")


def test_the_entry_that_is_wrong_is_named():
    engine = patients.changed(patients.ARRAYS, "np.add.at(out, index, g)", "out[index] += g")
    (finding,) = examine(engine["Value"]).findings
    assert finding.outcome.what == "dy/dA[0, 0]"
    assert float(finding.outcome.found) < float(finding.outcome.right)
    assert str(finding).startswith("a row that is taken twice gets one share\n  expression  (A[[0")


# --- milestones ---------------------------------------------------------------------------------


def test_a_milestone_asks_for_what_it_needs():
    def report(engine, milestone):
        return examine(engine, milestone=milestone)

    assert report(patients.Recursive, 1).is_sound
    assert bugs(report(patients.Recursive, 2)) == [probes.UNSORTED, probes.RECURSION]
    closures = patients.changed(patients.CLOSURES)["Value"]
    assert all(report(closures, k).is_sound for k in (1, 2, 3, 4))
    lacking = report(closures, 5)
    assert (lacking.findings, lacking.is_sound) == ([], False)
    assert "A.sum()" in lacking.lacking
    assert "Still to write: A.sum()" in str(lacking)
    with pytest.raises(ValueError, match="milestones are numbered from 1 to 6; got 7"):
        report(closures, 7)


@pytest.mark.slow
@pytest.mark.parametrize(("old", "new", "what"), [("", "", ""), *patients.LEARNING_FAULTS])
def test_a_net_is_trained(old, new, what, monkeypatch):
    module = type(sys)("mine")
    vars(module).update(patients.changed(patients.ARRAYS, old, new))
    module.Value.__module__ = "mine"
    monkeypatch.setitem(sys.modules, "mine", module)
    report = examine(module.Value, milestone=6)
    assert report.is_sound == (not what), str(report)
    assert [finding.outcome.what for finding in report.findings] == [what] * bool(what)


# --- and the grader of the project ----------------------------------------------------------------


@cache
def milestones():
    """Each part of the project, with inputs that count and what the results are."""
    project = exercises()["ex-own-engine"]
    drawn = [(part, part.draw("a secret", 0)) for part in project.parts]
    return [(part, inputs, project.expected(part, inputs)) for part, inputs in drawn]


def lost(source):
    """The first milestone at which an engine loses points, or None."""
    for k, (part, x, y) in enumerate(milestones(), start=1):
        if first_wrong(exercises()["ex-own-engine"], part, source, [x], [y]):
            return k
    return None


def changed_text(source, old, new, *_):
    assert old in source
    source = source.replace(old, new, 1)
    return source.replace("seen.add", "seen.append") if "[], []" in new else source


HANDS = inspect.getsource(patients.Graph)
ASKED = {  # right in most, and not what the project asks for
    "clears all": changed_text(patients.ARRAYS, "if node.parents:", "if True:"),
    "32 bits": changed_text(patients.ARRAYS, "(data, float)", "(data, np.float32)"),
    "one pass": sound.ONCE,
    "a tape that forgets": changed_text(sound.ONCE, "if any(node.spent for node in nodes)", "if 0"),
}
GRADED = {
    **{f"right: {name}": source for name, source in sound.DESIGNS.items()},
    **ASKED,
    **{
        K.__name__: f"{HANDS}\n\n{inspect.getsource(K)}\nValue = {K.__name__}\n"
        for K in patients.STUDENTS
        if K is not patients.Recursive  # along 2⁴⁰ paths
    },
    **{f"numbers, {k}": changed_text(patients.CLOSURES, *x) for k, x in enumerate(patients.FAULTS)},
    **{
        f"array {k}": changed_text(patients.ARRAYS, *x) for k, x in enumerate(patients.ARRAY_FAULTS)
    },
    **{
        f"net {k}": changed_text(patients.ARRAYS, *x)
        for k, x in enumerate(patients.LEARNING_FAULTS)
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("start", sampled(range(8), 0))
def test_what_the_grader_marks_down_has_no_clean_bill_at_that_milestone(start, own, subtests):
    """Nor at a later one, which tries all that comes before, too."""
    for name in list(GRADED)[start::8]:
        with subtests.test(name):
            source = f"import math\nimport numpy as np\n{GRADED[name]}"
            marked_down = lost(source)
            if name.startswith("right"):
                assert marked_down is None
            elif marked_down:
                assert not examine(own(source), milestone=marked_down).is_sound


@pytest.mark.slow
@pytest.mark.parametrize(("name", "bug"), [
    ("clears all", "gradients of two losses do not add up"),
    ("32 bits", probes.FLOAT32),
    ("one pass", "a second pass is refused"),
    ("a tape that forgets", "a second pass sends nothing"),
])  # fmt: skip
def test_what_the_project_asks_for_is_no_choice_at_its_milestone(name, bug, own):
    source = f"import math\nimport numpy as np\n{ASKED[name]}"
    report = examine(own(source), milestone=3)
    assert bugs(report) == [bug]
    assert bug not in {remark.bug for remark in report.remarks}
    if name != "a tape that forgets":
        report = examine(own(source))
        assert report.is_sound, str(report)
        assert bug in {remark.bug for remark in report.remarks}


def test_the_grader_has_its_expressions_from_the_doctor():
    wanted = [graded.NUMBERS, graded.SHARED, None, graded.RULES, graded.ARRAYS, None]
    assert len(exercises()["ex-own-engine"].parts) == len(wanted)
    for part, expressions in zip(exercises()["ex-own-engine"].parts, wanted, strict=True):
        space = {}
        exec(part.inputs, space)  # as a student's notebook has it
        assert space.get("EXPRESSIONS") == expressions
        assert "chainlab" not in part.source


def test_graded_expressions_are_the_same_functions_as_the_probes():
    probes = [probe for probe in PROBES if probe.graded]
    texts = [
        *graded.NUMBERS.items(), *graded.SHARED.items(), *graded.RULES.items(),
        *graded.ARRAYS.items(),
    ]  # fmt: skip
    for probe, (text, shapes) in zip(probes, texts, strict=True):
        formula = probe.formula
        given = dict(zip(formula.names, map(Node, formula.at), strict=True))
        assert {name: node.data.shape if np.ndim(node.data) else ()
                for name, node in given.items()} == shapes  # fmt: skip
        found, right = eval(text, {}, dict(given)), formula.f(*given.values())
        assert np.array_equal(found.data, right.data)
        assert [found.op, *map(str, found.parents)] == [right.op, *map(str, right.parents)]


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Writes a file with an engine, and says where it is."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setitem(sys.modules, "own_engine", None)

    def write(text):
        (tmp_path / "own_engine.py").write_text(text)
        return f"{tmp_path / 'own_engine.py'}:Value"

    return write


@pytest.mark.slow
@pytest.mark.parametrize("name", sampled(sound.DESIGNS, *list(sound.DESIGNS)[:3]))
def test_right_engines_of_any_design_reach_all_milestones(name, own):
    report = examine(own(sound.DESIGNS[name]), milestone=6)
    assert report.findings == []
    assert report.is_sound, str(report)
    for milestone in range(1, 6):
        texts = {probe.text for probe in PROBES if probe.milestone <= milestone}
        outcomes = [x for x in report.outcomes if x.probe in texts]
        assert Report("x", outcomes, milestone).is_sound


def test_what_an_engine_keeps_stays_as_it_was():
    space = patients.changed(sound.TAPE)
    report = examine(space["Value"], milestone=2)
    assert report.is_sound, str(report)
    assert space["TAPE"]
    assert all({"data", "grad"} <= vars(out).keys() for out, _, _ in space["TAPE"])


def test_each_probe_meets_a_file_as_if_it_had_just_been_imported(own, tmp_path):
    """So do the modules beside it, and what was imported before is imported still."""
    (tmp_path / "tape_beside.py").write_text("TAPE = []\n")
    begins = "from pathlib import Path\nimport tape_beside\nif tape_beside.TAPE:\n"
    begins += f"    Path({str(tmp_path / 'used')!r}).touch()\n"
    keeps = ("TAPE = []  #", "from tape_beside import TAPE  #")
    target = own(begins + sound.changed(sound.TAPE, keeps))
    assert examine(target, milestone=2).is_sound
    assert not (tmp_path / "used").exists()
    assert sys.modules["own_engine"].TAPE == []
    assert "tape_beside" not in sys.modules
    assert sys.path.count(str(tmp_path)) == 1


def test_a_file_that_takes_long_to_load_is_not_loaded_for_each_probe(own, tmp_path):
    log = tmp_path / "log"
    waits = "import time\nbegan = time.thread_time()\n"
    waits += "while time.thread_time() < began + 0.15:\n    pass\n"
    notes = f"with open({str(log)!r}, 'a') as file:\n    file.write('loaded.')\n"
    assert examine(own(notes + sound.TAPE), milestone=1).is_sound
    assert log.read_text().count("loaded.") > len(PROBES_OF_1)
    log.write_text("")
    assert examine(own(notes + waits + sound.TAPE), milestone=1).is_sound
    assert log.read_text() == 2 * "loaded."


def test_a_file_that_loads_only_once_is_examined_as_it_was_loaded(own, tmp_path):
    once = f"from pathlib import Path\nPath({str(tmp_path / 'mark')!r}).touch(exist_ok=False)\n"
    assert examine(own(once + sound.TAPE), milestone=2).is_sound


class Linked:
    """When it is freed it says whether its operand is still held by a list."""

    def __init__(self, held, parent=None):
        self.held, self.parent = held, parent

    def __del__(self):
        if self.parent:
            self.parent.freed.append(any(self.parent is node for node in self.held))


def test_a_deep_graph_is_freed_node_by_node(monkeypatch):
    monkeypatch.setattr(probes, "_kept", [])
    nodes, Linked.freed = [], []
    nodes.append(Linked(nodes))
    for _ in range(20):
        nodes.append(Linked(nodes, nodes[-1]))
    probes._free_graph(nodes)
    assert Linked.freed == [True] * 20
    assert probes._kept == []


@pytest.mark.parametrize("platform", ["emscripten", "linux"])
def test_a_browser_keeps_the_deep_graph_that_it_could_not_free(platform, monkeypatch):
    monkeypatch.setattr(probes, "_kept", [])
    monkeypatch.setattr(sys, "platform", platform)
    nodes = [museum()["Value"](1.0)]
    table = {nodes[0]: "an entry"}
    probes._free_graph(nodes)
    assert nodes == []
    assert probes._kept == list(table) * (platform == "emscripten")


@pytest.mark.slow
def test_a_bad_engine_is_told_the_same_cause_at_each_milestone(own):
    assert examine(own(patients.BAD), milestone=1).is_sound
    for milestone in (2, 3, 4, 5, 6):
        first = examine(own(patients.BAD), milestone=milestone).findings[0]
        assert first.bug == probes.OVERWRITES
        assert first.probe.text.startswith("a * b + a * c at")
        assert (first.outcome.found, first.outcome.right) == ("5", "8")


def test_an_engine_that_can_go_back_once_is_refusing_and_not_wrong(own):
    report = examine(own(sound.ONCE))
    assert report.is_sound, str(report)
    told = {remark.bug for remark in report.remarks}
    assert {"a second pass is refused", "several graphs at once are refused"} <= told


@pytest.mark.slow
def test_an_imported_engine_trains_by_the_file_that_imports_it(own):
    train = patients.ARRAYS.partition("def train")[2]
    text = f"import numpy as np\nfrom chaingrad import Node as Value\n\n\ndef train{train}"
    assert examine(own(text), milestone=6).is_sound


METHODS = {
    "a + b": """
    def __add__(self, other):
        {}return Value(self.data + other.data, ((self, 1.0), (other, 1.0)))
""",
    "a * b": """
    def __mul__(self, other):
        {}return Value(self.data * other.data, ((self, other.data), (other, self.data)))
""",
    "backward()": """
    def backward(self, share=1.0):
        {}self.grad += share
        for parent, local in self.parents:
            parent.backward(share * local)
""",
}
BEGUN = """
class Value:
    def __init__(self, data, parents=()):
        self.data, self.grad, self.parents = data, 0.0, parents
"""


@each("error", ["", "raise NotImplementedError\n        ", "raise OSError\n        "])
@each("number", range(8))
def test_of_an_engine_that_is_begun_what_is_missing_is_named(number, error):
    """Each part is there, or it raises an error, or it's not written at all."""
    there = {name for k, name in enumerate(METHODS) if number >> k & 1}
    parts = [METHODS[name].format("" if name in there else error) for name in METHODS]
    source = "".join(p for p, name in zip(parts, METHODS, strict=True) if error or name in there)
    report = examine(patients.changed(BEGUN + source)["Value"], milestone=1)
    missing = [name for name in METHODS if name not in there]
    can_be_examined = "backward()" in there and len(missing) < 2
    assert bool(report.obstacle) != can_be_examined
    assert report.is_sound == (not missing)
    if report.obstacle:
        assert report.findings == []
        assert report.lacking == report.missing == missing
        computing, _, rest = report.obstacle.rpartition("compute")
        assert all((name in computing) == (name in there) for name in ("a + b", "a * b"))
        assert all((name in rest) == (name in missing) for name in METHODS)
        assert "sound" not in str(report)
        assert report.obstacle in str(report)
    elif error != "raise OSError\n        ":
        assert report.lacking == missing


class OtherNames(patients.SeedIsValue):
    data = property()


class GradIsNode(patients.SeedIsValue):
    @property
    def grad(self):
        return object()

    grad = grad.setter(lambda self, g: None)


class GradIsText(Sound):
    def backward(self):
        """Nothing, so that only what is read later is odd."""

    grad = property(lambda self: "none", lambda self, g: None)


class GradIsReadOnly(Sound):
    def __init__(self, data, edges=()):
        self.data, self.edges, self.sent = data, edges, 0.0

    @property
    def grad(self):
        return self.sent

    def backward(self):
        self.sent += 1.0
        for operand, local in self.edges:
            operand.sent += local


class UniqueLabels(patients.SeedIsValue):
    labels: ClassVar = set()

    def __init__(self, data, parents=(), label=""):
        if label in self.labels:
            raise ValueError("label in use")
        self.labels.add(label)


class Picky(Sound):
    def __init__(self, data, edges=()):
        if data == 0.5:
            raise ValueError("not this number")
        super().__init__(data, edges)


@each("engine", [OtherNames, GradIsNode, GradIsText, GradIsReadOnly, UniqueLabels])
def test_an_engine_with_another_interface_has_no_bug(engine):
    report = examine(engine)
    assert report.findings == []
    assert report.obstacle
    assert not report.is_sound


def test_an_engine_of_functions_that_differentiates_nothing_cannot_be_examined():
    def gradients(f, at):
        raise NotImplementedError

    report = examine(Functional(gradients))
    assert report.obstacle
    assert report.findings == []
    assert not report.is_sound


def test_an_error_within_what_is_written_is_not_told_to_write_it():
    assert "backward() raises TypeError: unsupported operand" in examine(GradIsNode).obstacle
    assert "write it" not in examine(GradIsNode).obstacle


def test_what_is_no_number_is_told_of_adapters():
    told = examine(GradIsText).obstacle
    assert "a.grad is of type str, not a number" in told
    assert "needs an Adapter" in told


def test_a_gradient_that_cannot_be_set_is_what_is_asked_for():
    assert examine(GradIsReadOnly).missing == ["a.grad"]


def test_an_error_in_the_smallest_pass_is_no_bug_of_the_museum():
    first = examine(Picky).findings[0]
    assert (first.bug, first.outcome.found) == (STOPS, "ValueError: not this number")
    for root in probes.ROOTS:
        (finding,) = Report("x", [Outcome(root, "wrong", "", "OSError: no")]).findings
        assert (finding.bug, finding.look) == (STOPS, "where the engine raises this")


def test_an_error_is_no_gradient_that_was_forgotten():
    probe = next(p for p in PROBES if p.bug == FORGETS)
    (error,) = Report("x", [Outcome(probe.text, "wrong", "", "TypeError: no")]).findings
    (number,) = Report("x", [Outcome(probe.text, "wrong", "dy/da", "3", "21")]).findings
    assert error.bug == STOPS_WITHIN
    assert number.bug == FORGETS


def test_an_engine_that_makes_numbers_alone_is_asked_for_no_arrays():
    source = patients.CLOSURES.replace(".parents = data,", ".parents = float(data),")
    report = examine(patients.changed(source)["Value"])
    assert report.is_sound, str(report)
    assert "A.sum()" in report.missing


def test_a_pass_from_the_leaves_up_is_told_of_the_order():
    (finding,) = examine(museum()["Unreversed"]).findings
    assert finding.bug == probes.UNSORTED
    assert "the order of the backward pass" in str(finding)


def test_what_is_to_be_learned_can_be_learned():
    for name in ("moons", "digits"):
        losses, _ = patients.changed(patients.ARRAYS)["train"](*task(name).arguments())
        assert losses[-1] < losses[0] / 3


# --- what an engine does besides ----------------------------------------------------------------


@pytest.mark.slow  # it waits for an engine that does not end
def test_what_an_engine_does_besides_does_not_end_the_examination(capsys):
    report = examine(Unruly, seconds=1)
    assert bugs(report) == ["a rule: -"]
    assert report.findings[0].outcome.found == "SystemExit: no"
    assert "a.log() at a = 0.5" in report.unfinished
    assert not report.is_sound
    assert "Not finished in time: a.log()" in str(report)
    assert capsys.readouterr().out == ""


def examine_in_a_thread(engine, seconds, **more):
    found = []
    thread = threading.Thread(target=lambda: found.append(examine(engine, seconds, **more)))
    thread.start()
    thread.join()
    return found[0]


@pytest.mark.slow  # it waits for an engine that does not end
def test_beside_the_main_thread_the_count_of_lines_stops_it():
    assert "a.log() at a = 0.5" in examine_in_a_thread(Unruly, seconds=1).unfinished


@pytest.mark.slow
@pytest.mark.parametrize("examine", [examine, examine_in_a_thread])
def test_an_engine_that_has_to_wait_is_sound(examine, monkeypatch):
    monkeypatch.setattr(Interrupted, "waited", False)
    assert examine(Interrupted, seconds=1).is_sound
    assert Interrupted.waited


class Dawdles(Sound):
    """Each pass takes long, and none takes too long."""

    def backward(self):
        began = time.thread_time()
        while time.thread_time() < began + 0.05:
            pass
        super().backward()


class Shares(Sound):
    """The parents of each node are one list, of all nodes, and each pass looks at all of each."""

    tape: ClassVar = []

    def __init__(self, data, edges=()):
        super().__init__(data, edges)
        self.parents = self.tape
        self.tape.append(self)

    def order(self):
        seen, todo = {self}, [self]
        while todo:
            new = [parent for parent in todo.pop().parents if parent not in seen]
            seen.update(new)
            todo += new
        return [node for node in reversed(self.tape) if node in seen]


@pytest.mark.slow
@pytest.mark.parametrize("run", [examine, examine_in_a_thread])
@pytest.mark.parametrize("engine", [Dawdles, Shares])
def test_all_probes_together_have_an_end(engine, run, monkeypatch):
    monkeypatch.setattr(Shares, "tape", [])
    began = time.process_time()
    report = run(engine, seconds=5, total=0.5)
    assert time.process_time() - began < 5
    assert report.left_out
    assert not report.is_sound
    assert report.findings == []
    assert [x.probe for x in report.outcomes] == [p.text for p in PROBES if p.milestone <= 5]
    assert "Left out" in str(report)
    assert {x.probe for x in report.tried}.isdisjoint(report.left_out)


# --- what a verdict means -------------------------------------------------------------------------


def changed_sound(**methods):
    """A sound engine with other methods."""
    return type("Changed", (Sound,), methods)


def test_every_thing_that_an_engine_may_have_has_a_state():
    report = examine(Sound)
    assert report.coverage["tanh"] == "sound"
    assert report.coverage["exp"] == "not examined: it has none"
    assert report.coverage["arrays"] == "not examined: it has no operator @"
    assert {state.partition(":")[0] for state in report.coverage.values()} == {
        "sound", "not examined",
    }  # fmt: skip
    assert str(report).count("sound") == 1


def test_what_fails_with_a_bug_is_behind_it():
    def tanh(self):
        y = math.tanh(self.data)
        return self.of(y, (self, 1 - y))

    report = examine(changed_sound(tanh=tanh))
    assert bugs(report) == [RULE_OF_TANH]
    assert report.coverage["tanh"] == "wrong"
    report = examine(museum()["Unreversed"])
    assert "behind a bug" in report.coverage.values()


def test_a_function_that_is_defined_otherwise_is_a_remark_and_not_a_bug():
    def relu(self):
        slope = 1.0 if self.data > 0 else 0.1
        return self.of(slope * self.data, (self, slope))

    report = examine(changed_sound(relu=relu))
    assert report.findings == [], str(report)
    assert "relu is another function here" in {remark.bug for remark in report.remarks}
    assert "relu is another function here" in bugs(examine(changed_sound(relu=relu), milestone=4))


def test_a_result_that_comes_once_is_undecided():
    class Moody(Sound):
        times = 0

        def tanh(self):
            Moody.times += 1
            y = math.tanh(self.data)
            return self.of(y, (self, 0.0 if Moody.times == 1 else 1 - y * y))

    report = examine(Moody)
    assert report.findings == []
    assert [x.probe for x in report.undecided] == ["a.tanh() at a = 0.5"]


def test_functions_that_the_doctor_does_not_know_are_held_to_their_own_values():
    def softplus(self):
        return self.of(math.log1p(math.exp(self.data)), (self, 1 / (1 + math.exp(-self.data))))

    def square(self):
        return self.of(self.data**2, (self, self.data))

    def detach(self):
        return self.of(self.data)

    assert examine(changed_sound(softplus=softplus, detach=detach)).findings == []
    (finding,) = examine(changed_sound(softplus=softplus, square=square)).findings
    assert (finding.bug, finding.probe.text) == ("a rule: square", "a.square()")
    assert float(finding.outcome.found) == pytest.approx(0.7)
    assert float(finding.outcome.right) == pytest.approx(1.4)


def test_a_kink_is_not_called_wrong():
    a, b = Slopes(0.0, 1.0), Slopes(1.0, 1.0)
    assert "a kink" in doubt(a, 0.5, 0.0)
    assert doubt(b, came=2.0, right=1.0) == ""
    assert "own values" in doubt(b, came=1.0, right=2.0)
    assert doubt(Slopes(math.nan, 1.0), came=2.0, right=1.0) == ""


class Half(Sound):
    """Numbers of 16 bits, which end at 65,504."""

    def __init__(self, data, edges=()):
        super().__init__(np.float16(data), edges)


def test_numbers_that_end_early_are_no_wrong_order():
    report = examine(Half, milestone=2)
    assert bugs(report) == [probes.FLOAT32]
    assert "a = a + a, 40 times" in {x.probe for x in report.outcomes if x.verdict == "missing"}


def test_an_engine_that_keeps_two_axes_is_tried_on_two_axes():
    keeps = ("np.asarray(data, float)", "np.atleast_2d(np.asarray(data, float))")
    report = examine(patients.changed(patients.ARRAYS, *keeps)["Value"])
    reasons = {x.found for x in report.outcomes if x.verdict == "missing"}
    assert "it keeps an array of shape (3,) as (1, 3)" in reasons
    assert probes.EMPTIED not in bugs(report)
    assert STOPS not in bugs(report)


def test_an_operation_that_gives_nothing_is_still_to_write():
    def nothing(self, other):
        """Say pass, as a stub does."""

    report = examine(changed_sound(__truediv__=nothing))
    assert report.findings == [], str(report)
    assert report.coverage["/"] == "not examined: it has none"


def test_an_engine_that_is_slow_is_not_told_of_the_order(monkeypatch):
    monkeypatch.setattr(Shares, "tape", [])
    (probe,) = (probe for probe in PROBES if probe.text == "a = a + a, 40 times")
    assert [x.verdict for x in outcomes(Patient(Shares), [probe], seconds=5)] == ["sound"]


@pytest.mark.parametrize(
    ("few", "many", "rounds", "is_slow"),
    [
        ([0.01], [0.04], 3, False),
        ([0.005], [0.08], 16, True),
        ([0.005], [0.08] * 10 + [0.02], 11, False),  # a busy machine, quiet for once
        ([0.1], [1.6], 2, True),
        ([0.4], [1.6], 1, False),
        ([0.1], [1.6, 0.4], 3, False),
        ([0.09], [0.95], 7, True),  # time is up
    ],
)
def test_an_engine_is_slow_only_if_it_never_was_quick(few, many, rounds, is_slow, monkeypatch):
    spent, asked = [], []

    def seconds(_engine, leaves, times):
        if leaves == probes._LEAVES and times == 1:  # the first, for nothing
            return 0.0
        series = few if times > 1 else many
        asked.append(times)
        k = (len(asked) - 1) // 2
        spent.append(series[min(k, len(series) - 1)] * times)
        return spent[-1]

    monkeypatch.setattr(probes, "_seconds", seconds)
    monkeypatch.setattr(probes, "clock", lambda: sum(spent))
    assert bool(list(probes._timed(None))) == is_slow
    assert len(asked) == 2 * rounds


# --- the probes themselves ----------------------------------------------------------------------


def test_the_right_numbers_are_those_of_central_differences():
    h = 1e-5
    for probe in PROBES:
        if not hasattr(probe.right, "args") or len(probe.right.args) != 3:
            continue
        f, _, at = probe.right.args
        if any(np.ndim(x) == 0 and x == 0 for x in at) and "**" in probe.text:
            continue
        points = [np.asarray(x, float) for x in at]
        for i, g in enumerate(gradients(f, at)):
            for index in np.ndindex(points[i].shape):
                low, high = ([x.copy() for x in points] for _ in range(2))
                low[i][index] -= h
                high[i][index] += h
                up, down = (float(f(*map(Node, x)).data) for x in (high, low))
                slope = (up - down) / (2 * h)
                assert np.asarray(g)[index] == pytest.approx(slope, rel=1e-5, abs=1e-8), probe.text


def test_probes_are_told_apart_and_need_smaller_ones():
    texts = [probe.text for probe in PROBES]
    assert len(set(texts)) == len(texts) >= 100
    for i, probe in enumerate(PROBES):
        assert set(probe.needs) <= set(texts[:i])
    assert [probe.milestone for probe in PROBES] == sorted(probe.milestone for probe in PROBES)
    assert {probe.milestone for probe in ARRAYS} == {5}


def docstring_of(cls):
    """The names that the code in a docstring makes."""
    code = re.search(r"code-block:: python\n\n((?: {8}.*\n|\n)+)", cls.__doc__)[1]
    space = {"Adapter": Adapter, "Functional": Functional, "examine": lambda engine: engine}
    for name in ("torch", "jax"):
        with contextlib.suppress(ImportError):
            space[name] = importlib.import_module(name)
    exec(textwrap.dedent(code), space)
    return space


def test_pytorch_is_sound_by_the_adapter_of_the_docstring(timed):
    pytest.importorskip("torch")
    report = examine(docstring_of(Adapter)["Torch"])
    assert report.is_sound, str(report)
    assert report.name == "Torch"
    assert "+= is refused" in {remark.bug for remark in report.remarks}


@pytest.mark.walk
@pytest.mark.slow
def test_jax_is_sound_by_its_gradients():
    pytest.importorskip("jax")
    report = examine(Functional(docstring_of(Functional)["gradients"]), total=600)
    assert report.is_sound, str(report)
    assert len(report.tried) > 100
    assert "5,000 additions in a row" in report.missing


def test_wrong_gradients_of_functions_are_found():
    def halved(f, point):
        return [g / 2 for g in gradients(f, point)]

    assert bugs(examine(Functional(halved)))[0] == "a rule: +"


def test_what_is_refused_is_told_once():
    error = "ValueError: of two matrices alone"
    texts = [
        p.text for p in PROBES if p.refused.startswith("no @ of") and p.bug.startswith("a rule")
    ]
    report = Report("x", [Outcome(text, "refused", "", error) for text in texts])
    assert len(report.remarks) == len(texts) == 5
    assert str(report).count("of two matrices alone") == 1
    assert "the engine refuses them" not in str(report)


def test_a_beginner_is_told_of_success():
    assert "You have reached this milestone. All " in str(examine(Sound, milestone=1))


def test_what_is_no_engine_is_refused():
    with pytest.raises(TypeError, match="examine needs a class such as Value"):
        examine(3.0)
    with_nothing = type("Empty", (), {"__init__": lambda self, data: None})
    assert not examine(with_nothing).is_sound


# --- the command line ---------------------------------------------------------------------------

FILE = """
import ctypes, itertools, os, signal, subprocess
from tests.chainlab.doctor.test_doctor import Sound

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

class Late(Sound):
    def __neg__(self):
        return sum(itertools.repeat(0))

    tanh = relu = log = __neg__

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
        [sys.executable, "-m", "chainlab.doctor", *arguments],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.usefixtures("mine")
def test_on_the_command_line_an_engine_may_end_its_process():
    run = command("mine.py:Value")
    assert run.returncode == 1, run.stderr
    assert "the process ended with status 7" in run.stdout
    assert "imported" not in run.stdout


@pytest.mark.walk
@pytest.mark.slow  # the engine is halted for longer than it may compute
@pytest.mark.usefixtures("mine")
def test_on_the_command_line_a_halted_engine_is_sound():
    sound = command("mine:Halted", "--seconds", "1")
    assert sound.returncode == 0, sound.stdout + sound.stderr
    assert "No bug found" in sound.stdout


@pytest.mark.walk
@pytest.mark.slow  # it waits for an engine that does not end
@pytest.mark.usefixtures("mine")
@pytest.mark.parametrize("engine", ["Computes", "Waits"])
def test_on_the_command_line_compiled_code_is_ended(engine, monkeypatch):
    monkeypatch.setattr(doctor, "_IDLE", 5.0)
    report = doctor.examine_apart(f"mine.py:{engine}", seconds=0.2, total=30)
    assert report.missing == ["a + b"]
    assert "a + b comes to no end in time" in report.obstacle


@pytest.mark.walk
@pytest.mark.slow  # it waits for an engine that does not end
@pytest.mark.usefixtures("mine")
def test_on_the_command_line_all_probes_together_have_an_end():
    report = doctor.examine_apart("mine.py:Late", seconds=0.2, total=4)
    assert report.left_out
    assert not report.is_sound
    assert report.findings == []
    assert [x.probe for x in report.outcomes] == [probe.text for probe in doctor.probes_up_to(None)]


@pytest.mark.slow
def test_milestones_on_the_command_line(mine):
    (mine / "own.py").write_text(patients.CLOSURES.replace("\nclass", "import math\n\nclass", 1))
    (mine / "none.py").write_text("class Value:\n    def __init__(self, data): pass\n")
    begun = [METHODS["a + b"], METHODS["a * b"], METHODS["backward()"]]
    begun[2] = begun[2].format("raise NotImplementedError\n        {}")
    (mine / "begun.py").write_text(BEGUN + "".join(part.format("") for part in begun))
    assert command("own.py:Value", "--milestone", "4").returncode == 0
    lacking = command("own.py:Value", "--milestone", "5")
    assert (lacking.returncode, lacking.stderr) == (3, "")
    assert "Still to write" in lacking.stdout
    nothing = command("none.py:Value")
    assert (nothing.returncode, nothing.stdout) == (2, "")
    assert "Value(3.0).data raises AttributeError" in nothing.stderr
    begun = command("begun.py:Value", "--milestone", "1")
    assert (begun.returncode, begun.stdout) == (2, "")
    assert "a + b and a * b compute; backward() raises NotImplementedError" in begun.stderr
    assert command("own.py:Value", "--milestone", "7").returncode == 2


@pytest.mark.slow
@pytest.mark.usefixtures("mine")
def test_who_reads_no_further_ends_the_command_without_a_traceback():
    read, write = os.pipe()
    os.close(read)
    run = subprocess.run(
        [sys.executable, "-m", "chainlab.doctor", "mine.py:Value", "--milestone", "1"],
        stdout=write, stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    os.close(write)
    assert (run.returncode, run.stderr) == (0, "")


def test_later_milestones_of_a_stub_point_to_the_first():
    stub = patients.changed(BEGUN)["Value"]
    assert "cannot be examined yet" in str(examine(stub, milestone=1))
    assert {str(examine(stub, milestone=k)).partition(": ")[2] for k in (2, 5)} == {
        "milestone 1 comes first. Its check says what is missing."
    }


def test_a_file_that_keeps_its_size_and_time_is_read_anew(mine):
    file = mine / "own.py"
    for sign, is_sound in (("+", True), ("-", False)):
        text = patients.CLOSURES.replace("self.data + other.data", f"self.data {sign} other.data")
        file.write_text(f"import math\n{text}")
        os.utime(file, (1e9, 1e9))
        assert examine("own.py:Value", milestone=1).is_sound == is_sound


@pytest.mark.slow
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
