"""The project: an engine of one's own, graded where there is no other."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coursework.collect.notebooks import UnreadableError, read_work
from coursework.collect.submissions import collect
from coursework.mark.batch import grade_all
from coursework.mark.marks import Mark
from coursework.sandbox import jail
from coursework.sandbox.host import Limits, Raised, Sandbox, Session
from coursework.sources import PACKAGES
from tests.chainlab.doctor import patients
from tests.coursework.course import assignments
from tests.support import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("isolated")]

NAME = "own-engine"
LIMITS = Limits(cpu=2, total=20)
IMPORTED = "from chaingrad import Node as Value\n"
CLASS, _, TRAIN = patients.ARRAYS.partition("def train")
PATCHED = """
import numpy as np, checks
np.exp = np.log = lambda x: 0.0 * x
np.asarray, checks.plain = (lambda *_: 0.0), (lambda *_: {})
"""
PRINTS = "print('x' * 10**6)\nimport sys; sys.stderr.write('y')\n" + patients.ARRAYS
HANGS = patients.ARRAYS.replace("order = sorted_graph(self)", "while True: pass", 1)
FORKS = patients.ARRAYS.replace(
    "def backward(self):", "def backward(self):\n        __import__('os').fork()"
)
LIES = """
class Value:
    grad = 1.0
    def __init__(self, data): self.data = data
    def __add__(self, other): return Value(Equal())
    __mul__ = __add__
    def backward(self): pass

class Equal(float):
    def __eq__(self, other): return True
    __hash__ = None
"""


def graded(folder: Path, files: dict[str, str], limits: Limits = LIMITS) -> dict[str, Mark]:
    """The marks of what is handed in, by student."""
    for path, text in files.items():
        (folder / "in" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "in" / path).write_text(text)
    found = collect(folder / "in", [NAME]).submissions
    marks = grade_all(
        found,
        folder / "out",
        {NAME: assignments()[NAME]},
        "a secret",
        limits=limits,
        progress=False,
    )
    return {item.submission.student: item.mark for item in marks}


def verdicts(mark: Mark) -> str:
    """A letter for each milestone."""
    return "".join(part.verdict[0] for problem in mark.problems for part in problem.parts)


def notebook(*sources: str) -> str:
    cells = [
        {"cell_type": "code", "source": s, "metadata": {}, "outputs": [], "execution_count": None}
        for s in sources
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def test_engines_of_two_designs_get_all_points_and_the_stub_none(tmp_path: Path) -> None:
    in_page = ["%%writefile engine.py\n" + patients.ARRAYS, "from chainlab.doctor import examine"]
    marks = graded(
        tmp_path,
        {
            "closures/own-engine.py": patients.ARRAYS,
            "own-engine/table.py": patients.TABLE,
            "page_own-engine.ipynb": notebook(*in_page),
            "stub/own-engine.py": assignments()[NAME].problems[0].stub,
        },
    )
    assert {name: mark.points for name, mark in marks.items()} == {
        "closures": 12, "table": 12, "page": 12, "stub": 0,
    }  # fmt: skip
    assert verdicts(marks["stub"]) == "mmmmmm"


def test_an_engine_that_is_imported_earns_nothing_and_says_why(tmp_path: Path) -> None:
    marks = graded(
        tmp_path,
        {
            "all/own-engine.py": IMPORTED,
            "below/own-engine.py": f"{CLASS}\n{IMPORTED}\ndef train{TRAIN}",
            "hidden/own-engine.py": "import sys\nsys.meta_path.clear()\nsys.path += "
            f"{[str(ROOT / 'src'), str(ROOT / '.venv/lib/python3/site-packages')]}\n{IMPORTED}",
        },
    )
    assert {name: mark.points for name, mark in marks.items()} == {
        "all": 0,
        "below": 12,
        "hidden": 0,
    }
    for part in marks["all"].problems[0].parts:
        assert "chaingrad is not here: an engine of one's own has Python's" in part.problem
    assert verdicts(marks["below"]) == "rrrrrr"  # the import failed, and the engine above ran


def test_feedback_names_the_milestone_the_expression_and_the_exhibit(tmp_path: Path) -> None:
    [mark] = graded(tmp_path, {"bad/own-engine.py": patients.BAD}).values()
    assert verdicts(mark) == "rwwwww"
    second = mark.problems[0].parts[1]
    assert second.name == "values used twice, and the order"
    assert second.result == "dy/da of a * b + a * c"
    assert second.hint == "Museum 1: = for +="
    assert float(second.got) < float(second.expected)


def test_what_else_an_engine_does_stops_nobody(tmp_path: Path) -> None:
    engines = {"prints": PRINTS, "forks": FORKS, "lies": LIES}
    engines["patches"] = PATCHED + patients.ARRAYS
    marks = graded(tmp_path, {f"{name}/own-engine.py": text for name, text in engines.items()})
    assert marks.pop("prints").points == 12
    assert {name: mark.points for name, mark in marks.items()} == dict.fromkeys(marks, 0)
    assert not any(mark.fault for mark in marks.values())


def test_one_that_does_not_end_is_ended(tmp_path: Path) -> None:
    files = {"hangs/own-engine.py": HANGS}
    [mark] = graded(tmp_path, files, Limits(cpu=0.5, total=1)).values()
    assert (mark.points, mark.fault) == (0, "")
    assert "did not finish within 0.5 s" in mark.problems[0].parts[0].problem


EVALUATED = '''
import numpy as np


class Value:
    """Records what it was made of, and finds slopes by evaluating it again for each entry."""

    def __init__(self, data, f=None, operands=()):
        self.data, self.grad = np.asarray(data, dtype=float), 0.0
        self.f, self.operands = f, operands

    @staticmethod
    def made(f, *operands):
        operands = [x if isinstance(x, Value) else Value(x) for x in operands]
        return Value(f(*(x.data for x in operands)), f, operands)

    def __add__(self, other): return Value.made(lambda a, b: a + b, self, other)
    def __mul__(self, other): return Value.made(lambda a, b: a * b, self, other)
    __radd__, __rmul__ = __add__, __mul__

    def order(self):
        found, seen, todo = [], set(), [(self, False)]
        while todo:
            node, done = todo.pop()
            if done:
                found.append(node)
            elif id(node) not in seen:
                seen.add(id(node))
                todo += [(node, True)] + [(x, False) for x in node.operands]
        return found

    def backward(self):
        order = self.order()
        for leaf in (node for node in order if not node.operands):
            values = {}
            for node in order:
                moved = node.data + 1e-20j if node is leaf else node.data
                given = [values[id(x)] for x in node.operands]
                values[id(node)] = node.f(*given) if given else moved
            leaf.grad = leaf.grad + values[id(self)].imag / 1e-20


def train(x, labels, weights, rate, steps):
    """By hand, as the page's oracle does it."""
    (W1, b1, W2, b2), losses, rows = weights, [], np.arange(len(x))
    for _ in range(steps):
        hidden = np.maximum(x @ W1 + b1, 0.0)
        outputs = hidden @ W2 + b2
        shares = np.exp(outputs - outputs.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        losses.append(-np.log(shares[rows, labels]).mean())
        shares[rows, labels] -= 1.0
        dz = shares / len(x)
        da = dz @ W2.T * (hidden > 0)
        W2, b2 = W2 - rate * hidden.T @ dz, b2 - rate * dz.sum(axis=0)
        W1, b1 = W1 - rate * x.T @ da, b1 - rate * da.sum(axis=0)
    return losses, [W1, b1, W2, b2]
'''
CARRIED = f"import base64\nexec({CLASS!r})\n\ndef train{TRAIN}"


def test_slopes_by_evaluating_again_are_no_backward_pass(tmp_path: Path) -> None:
    [mark] = graded(tmp_path, {"again/own-engine.py": EVALUATED}, Limits()).values()
    first, second, *_, net = mark.problems[0].parts
    assert first.verdict == "right"
    assert (second.verdict, second.result) == ("wrong", "the pass grows with the graph")
    assert (net.verdict, net.result) == ("wrong", "backward passes")


def test_an_engine_that_is_carried_in_a_string_is_remarked_on(tmp_path: Path) -> None:
    marks = graded(
        tmp_path, {"own/own-engine.py": patients.ARRAYS, "carried/own-engine.py": CARRIED}
    )
    assert marks["own"].remarks == ()
    assert marks["carried"].points == 12
    [remark] = marks["carried"].remarks
    assert "base64, exec" in remark


# --- the sandbox ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    with Sandbox(LIMITS) as opened:
        yield opened


@pytest.fixture
def session(box: Sandbox) -> Iterator[Session]:
    with box.without_packages.session() as opened:
        yield opened


def run(session: Session, source: str) -> Any:
    return session.request("run", cell=1, source=source)


@pytest.mark.parametrize("name", [*PACKAGES, "torch", "jax", "autograd", "micrograd", "scipy"])
def test_no_other_engine_can_be_imported(session: Session, name: str) -> None:
    answer = run(session, f"import {name}")
    assert isinstance(answer, Raised)
    assert answer.message.startswith(f"{name} is not here")
    assert isinstance(run(session, f"import sys\nsys.meta_path.pop(0)\nimport {name}"), Raised)


def test_the_library_and_numpy_are_there(session: Session) -> None:
    used = "import math, dataclasses, sqlite3, numpy.linalg, numpy.fft\nnumpy.linalg.inv([[2.0]])"
    assert run(session, used) is None


def test_no_other_engine_is_in_memory_or_in_sight(box: Sandbox, session: Session) -> None:
    source = (
        "import sys\nkinds = [object]\nfor kind in kinds:\n"
        "    kinds += type.__subclasses__(kind)\n"
        "assert 'Node' not in {k.__name__ for k in kinds if 'chaingrad' in str(k.__module__)}\n"
    )
    assert run(session, source) is None
    folders = jail.package_folders(list(map(str, box.without_packages.visible)))
    assert any((Path(folder) / "jupyter_book").exists() for folder in folders)
    looks = f"import os\nfound = {{name for f in {folders} for name in os.listdir(f)}}\n"
    looks += "assert 'numpy' in found and found <= {'numpy', 'numpy.libs'}, found"
    assert run(session, looks) is None


def test_without_isolation_imports_are_refused_all_the_same() -> None:
    with Sandbox(LIMITS, isolate=False) as box, box.without_packages.session() as session:
        assert isinstance(run(session, "import chaingrad"), Raised)
        assert run(session, "import numpy.fft, decimal") is None


# --- files ----------------------------------------------------------------------------------------


def test_only_a_file_that_is_named_for_the_assignment_is_taken(tmp_path: Path) -> None:
    for path in ("ann/own-engine.py", "ann/helper.py", "bob/engine.py", "cleo/layers.py"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text("x = 1")
    found = collect(tmp_path, [NAME, "layers"])
    assert [item.path.name for item in found.submissions] == ["own-engine.py", "layers.py"]
    assert [str(stray) for stray in found.strays] == ["bob/engine.py: not a notebook"]


def test_a_file_that_is_no_text_is_named() -> None:
    path = Path("own-engine.py")
    for encoding in ("utf-8-sig", "utf-16"):
        assert read_work(path, "x = 1".encode(encoding)).cells[0].source == "x = 1"
    with pytest.raises(UnreadableError, match="not text in UTF-8"):
        read_work(path, b"\xff\xfe\x00")
