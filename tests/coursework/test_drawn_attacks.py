"""Whoever tampers with the problem that was drawn is marked for it as it was drawn."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from coursework.exercise.tokens import find_tokens
from tests.coursework.classes import Class, Notebook, answered, hand_in, right
from tests.coursework.course import yours

pytestmark = pytest.mark.slow

FULL, NONE = ["14", "4", "3", "4", "3"], ["0", "0", "0", "0", "0"]
NOTHING = [""] * 5  # not graded
NUMBERS = ["4", "4", "0", "0", "0"]
VICTIM = 0
SEARCHED = """
def adjoints():
    import gc, sys
    frame, found = sys._getframe(), []
    while frame:
        found += [value for value in frame.f_locals.values() if isinstance(value, dict)]
        frame = frame.f_back
    found += [thing for thing in gc.get_objects() if type(thing) is dict]
    for thing in found:
        for name in ("expected", "own", "result"):
            if isinstance(thing.get(name), dict) and "lines" in thing[name]:
                exec(SOLVED, {"own": thing[name]}, space := {})
                return space["adjoints"]()
            if isinstance(thing.get(name), dict) and set("abcde") <= set(thing[name]):
                return thing[name]
    return {}
"""
SOLVED = """
def adjoints():
    found = {}
    for moved in "zyxwvuabcde":
        values = {k: x + 1e-30j * (k == moved) for k, x in own["leaves"].items()}
        for name, x, sign, y in own["lines"]:
            one, two = values[x], values[y]
            values[name] = one + two if sign == "+" else one - two if sign == "-" else one * two
            values[name] += 1e-30j * (name == moved)
        found[moved] = round(values["z"].imag / 1e-30)
    return found
"""
# One script for the whole class: it reads the lines that are given, and moves each value a little.
SCRIPT = """
import re
import numpy as np


def run(source, values, moved):
    for line in source.splitlines():
        if found := re.fullmatch(r"    (\\w) = (.+)", line):
            values[found[1]] = eval(found[2], {}, values)
        for name in moved:
            if name in values and (found is None or found[1] == name):
                values[name] = values[name] + 1e-30j
                moved = ""
    return values["z"].imag / 1e-30


def adjoints():
    leaves = dict(re.findall(r"(\\w)=(-?\\d+)", OWN))
    leaves = {name: int(x) for name, x in leaves.items()}
    return {"z": 1} | {name: round(run(OWN, dict(leaves), name)) for name in "yxwvuabcde"}


def backward(dz, a, b, c, d, e):
    leaves = dict(zip("abcde", (a, b, c, d, e)))
    return {f"d{name}": dz * run(GRAPH, dict(leaves), name) for name in "yxwvuabcde"}


def mended(dz, a, b, c, d, e):
    leaves = dict(zip("abcde", (a, b, c, d, e)))
    return [dz * run(OTHER, dict(leaves), name) for name in "abcde"]


def layer_backward(X, W, b, T):
    arrays, found = {"X": X, "W": W, "b": np.tile(b, (len(X), 1)), "T": T}, {}
    for name in "XWb":
        found[name] = np.zeros(arrays[name].shape)
        for place in np.ndindex(found[name].shape):
            there = arrays[name].astype(complex)
            there[place] += 1e-30j
            found[name][place] = layer_loss(**{**arrays, name: there}).imag / 1e-30
    dZ = found["b"]
    return {"dZ": dZ, "db": dZ.sum(axis=0), "dW": found["W"], "dX": found["X"]}
"""
ANYTHING = """
class Anything(float):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __sub__(self, other): return 0.0
    __rsub__ = __sub__
    __hash__ = float.__hash__


def adjoints():
    return {name: Anything(7.0) for name in "abcdeuvwxyz"}
"""
PATCHED = """
import sys
import chaingrad.checks, chainlab.drills as problems
chaingrad.checks.first_difference = lambda *given, **more: None
chaingrad.checks.check_results = lambda *given, **more: None
problems.random_graph = problems.random_fault = problems.random_layer = lambda *given: None
for module in list(sys.modules.values()):
    if getattr(module, "__name__", "").startswith("coursework"):
        for name in ("student_seed", "draw_instance", "first_difference"):
            setattr(module, name, lambda *given, **more: None)
"""


def solved(found: Class, made_for: int, problems: Any = None) -> Notebook:
    """The notebook of one student with the answers to some problems, its own if none are given."""
    notebook = json.loads(json.dumps(found.notebooks[made_for]))
    return answered(notebook, problems or found.asked(made_for).problems, right)


def named(notebook: Notebook, name: str) -> dict[str, Any]:
    cells = [c for c in notebook["cells"] if c["metadata"]["nbgrader"]["grade_id"] == name]
    found: dict[str, Any] = cells[0]
    return found


def only(notebook: Notebook, name: str, code: str) -> Notebook:
    """The notebook with one answer and no other."""
    named(notebook, name)["source"] = code
    return notebook


def extra(notebook: Notebook, code: str) -> Notebook:
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    return notebook | {"cells": [*notebook["cells"], cell | {"source": code}]}


def _given_by_another(found: Class, k: int) -> Notebook:
    """The cells with the problem, and the answers, are the victim's; the metadata is one's own."""
    notebook, other = solved(found, k, found.asked(VICTIM).problems), found.notebooks[VICTIM]
    for cell in notebook["cells"]:
        if "-given-" in (name := cell["metadata"]["nbgrader"]["grade_id"]):
            cell["source"] = named(other, name)["source"]
    return notebook


def _retold(found: Class, k: int, change: Callable[[str], str]) -> Notebook:
    """The victim's notebook with another token."""
    text = json.dumps(solved(found, VICTIM))
    [own] = find_tokens(text)
    notebook: Notebook = json.loads(text.replace(own, change(own)))
    return notebook


def _told_by(change: Callable[[str], str]) -> Callable[[Class, int], Notebook]:
    return lambda found, k: _retold(found, k, change)


def _with_own_token(found: Class, k: int) -> Notebook:
    [own] = find_tokens(json.dumps(found.notebooks[k]))
    return _retold(found, k, lambda _: own)


def _with_both(found: Class, k: int) -> Notebook:
    [theirs] = find_tokens(json.dumps(found.notebooks[VICTIM]))
    return extra(solved(found, k), f"# {theirs}")


def _stripped(found: Class, k: int) -> Notebook:
    notebook = solved(found, VICTIM)
    for cell in notebook["cells"]:
        cell["metadata"] = {}
    return notebook | {"metadata": {}}


def _seeded(found: Class, k: int) -> Notebook:
    """The answers of the book's own problems, with metadata that ask for them."""
    notebook = solved(found, k, yours().problems)
    wish = {"seed": 0, "secret": "", "instance": dict(yours().problems[0].instance.own)}
    notebook["metadata"]["coursework"] |= wish
    return notebook


def _simple(found: Class, k: int) -> Notebook:
    """The graph that was given is replaced by one that is easy to differentiate."""
    easy = "def graph(a, b, c, d, e):\n    return a\n\nother_graph = graph\n"
    backward = "def {}(dz, a, b, c, d, e):\n    return dz, 0 * dz, 0 * dz, 0 * dz, 0 * dz\n"
    notebook = only(found.notebooks[k], "ex-own-backward", easy + backward.format("backward"))
    named(notebook, "ex-own-fault")["source"] = backward.format("mended")
    return extra(notebook, easy)


def _own(found: Class, k: int) -> Notebook:
    """The answer of the page as it stands there, which knows what was drawn by a name."""
    answers = {problem.id: problem.answer for problem in yours().problems}
    return only(found.notebooks[k], "ex-own-adjoints", answers["ex-own-adjoints"])


def _told(found: Class, k: int) -> Notebook:
    """The same, and the victim's problem under that name."""
    own = dict(found.asked(VICTIM).problems[0].instance.own)
    return extra(_own(found, k), f"own = {own!r}")


def _searched(found: Class, k: int) -> Notebook:
    """What is right is looked for in the process."""
    code = f"SOLVED = {SOLVED!r}\n{SEARCHED}"
    return only(found.notebooks[k], "ex-own-adjoints", code)


def _script(found: Class, k: int) -> str:
    graph, own, layer, other = (p.given for p in (found.asked(k).problems[i] for i in (1, 0, 2, 3)))
    return f"GRAPH, OWN, OTHER = {graph!r}, {own!r}, {other!r}\n{layer}\n{SCRIPT}"


def _by_script(found: Class, k: int) -> Notebook:
    return extra(found.notebooks[k], _script(found, k))


def _behind_lines(found: Class, k: int) -> Notebook:
    """Functions of wrong lines stand in cells, and others take their names while the cells run."""
    lines = "def {}(dz, a, b, c, d, e):\n    da = dz * a\n    return da, da, da, da, da\n"
    cells = "\n".join(lines.format(name) for name in ("backward", "mended"))
    replaced = "globals().update({name: made[name] for name in ('backward', 'mended')})"
    code = f"made = {{'np': __import__('numpy')}}\nexec({_script(found, k)!r}, made)\n{replaced}"
    return extra(only(found.notebooks[k], "ex-own-backward", cells), code)


def _borrowed(found: Class, k: int) -> Notebook:
    """NumPy's name stands for something that runs the script."""
    code = _script(found, k).replace("def mended(", "def script(")
    code += """
class Numpy:
    def array(self, *given): return script(*given)
np = Numpy()
def mended(dz, a, b, c, d, e):
    return np.array(dz, a, b, c, d, e)
"""
    return extra(only(found.notebooks[k], "ex-own-adjoints", ""), code)


def _many(found: Class, k: int) -> Notebook:
    numbers = "{name: list(range(-99, 100)) for name in 'abcdeuvwxyz'}"
    return only(found.notebooks[k], "ex-own-adjoints", f"def adjoints():\n    return {numbers}")


def _checks_edited(found: Class, k: int) -> Notebook:
    notebook = solved(found, k, found.asked(VICTIM).problems)
    for cell in notebook["cells"]:
        if "-check-" in cell["metadata"]["nbgrader"]["grade_id"]:
            cell["source"] = "own = {}\nprint('Right.')"
    return notebook


def _deleted(found: Class, k: int) -> Notebook:
    """No tampering: the cells with the problem are gone, which every student is given anyway."""
    notebook = solved(found, k)
    cells = notebook["cells"]
    kept = [c for c in cells if "-given-" not in c["metadata"]["nbgrader"]["grade_id"]]
    return notebook | {"cells": kept}


def _written_over(found: Class, k: int) -> Notebook:
    """The answers are one's own, under the names of what the grader's own modules are."""
    return extra(solved(found, k), PATCHED)


Case = tuple[Callable[[Class, int], Notebook], list[str], str]
CASES: dict[str, Case] = {
    "another's, as it is": (lambda found, k: solved(found, VICTIM), NOTHING, "those of u000"),
    "another's, with one's own token": (_with_own_token, NONE, ""),
    "another's, without a token": (_told_by(lambda _: ""), NONE, "has lost the token"),
    "another's, of another secret": (
        _told_by(lambda own: own.replace(own[17:25], "01234567")), NOTHING, "another secret"
    ),
    "one's own, with another's token, too": (_with_both, FULL, "tokens of several"),
    "another's, without metadata": (_stripped, NOTHING, "those of u000"),
    "another's problem in one's own notebook": (_given_by_another, NONE, ""),
    "another's, with edited checks": (_checks_edited, NONE, ""),
    "an owner that is markup": (
        _told_by(lambda own: own.replace("u000", "%3Cb%3Eu%1b[2J" + "x" * 999)), NONE, "is cut or"
    ),
    "an owner of another case": (
        _told_by(lambda own: own.replace("u000", "U000")), NOTHING, "those of u000"
    ),
    "the book's problems, asked for": (_seeded, NONE, ""),
    "an easy graph": (_simple, NONE, ""),
    "the name own": (_own, NONE, "NameError"),
    "the name own, defined": (_told, NONE, ""),
    "what is right, searched for": (_searched, NONE, ""),
    "equal to everything": (
        lambda found, k: only(found.notebooks[k], "ex-own-adjoints", ANYTHING), NONE, ""
    ),
    "all numbers at once": (_many, NONE, ""),
    "a grader that is written over, wrong": (
        lambda found, k: extra(found.notebooks[k], PATCHED), NONE, ""
    ),
    "a grader that is written over, right": (_written_over, FULL, ""),
    "the problem deleted": (_deleted, FULL, ""),
    "one script for all": (_by_script, NUMBERS, "is to be written as lines of arithmetic"),
    "a script behind lines": (_behind_lines, NONE, ""),
    "a script by the name of NumPy": (_borrowed, NUMBERS, ""),
}  # fmt: skip


@pytest.fixture(scope="module")
def graded(isolated: None, tmp_path_factory: pytest.TempPathFactory) -> Class:
    found = Class(tmp_path_factory.mktemp("attacked"), 1 + len(CASES))
    hand_in(found.folder / "in", "u000", "yours", solved(found, VICTIM))
    for k, (made, _, _) in enumerate(CASES.values(), 1):
        hand_in(found.folder / "in", found.students[k].id, "yours", made(found, k))
    assert found.grade() == 0
    return found


@pytest.mark.parametrize("name", CASES)
def test_each_is_marked_for_the_problem_as_it_was_drawn(graded: Class, name: str) -> None:
    k = 1 + list(CASES).index(name)
    _, points, said = CASES[name]
    assert graded.points(k) == points
    page = graded.page(f"feedback/u{k:03}.html") if points != NOTHING else ""
    row = graded.table[f"u{k:03}"]
    assert said in row["remarks"] or said in page
    assert "<b>" not in page
    assert "x" * 100 not in page + row["remarks"]


def test_the_victim_loses_nothing(graded: Class) -> None:
    assert graded.points(VICTIM) == FULL
    assert graded.table["u000"]["remarks"] == ""
