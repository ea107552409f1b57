"""Exercises as they stand in the pages: read, and their checks tried on answers and mistakes."""

import re
import textwrap
import warnings
from collections.abc import Iterable
from dataclasses import replace
from fnmatch import fnmatchcase as fnmatch
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chaingrad.checks import Difference, first_difference
from coursework.assignments import load
from coursework.pages import parse, read_problems
from coursework.problems import Part, Problem, verify
from coursework.release import VISIBLE_SEEDS
from coursework.stubs import make_stub
from coursework.trusted import ProblemError
from tests.support import ROOT

BOOK = read_problems(ROOT / "chapters")
SECRET = "a secret of the tests"

PAGE = """\
# A page

```{exercise-start} ★ Twice
:label: ex-page-twice
```
Write `twice(x)`.

```{code-cell} ipython3
:coursework: {role: given}
import numpy as np
```
Plain $x$, or [whole](https://example.org) addresses.
```{exercise-end}
```

```{solution-start} ex-page-twice
:label: sol-page-twice
:class: dropdown
```
```{code-cell} ipython3
:coursework: {role: answer}
def twice(x):
    \"""Two x.\"""
    return 2 * x
```

```{code-cell} ipython3
---
tags: [hide-input]
coursework: {role: check, part: numbers, points: 3, draws: 2, atol: 1.0e-3, hints: {y: "twice"}}
---
import numpy as np

from chaingrad.checks import check_results

SCALE = 10


def inputs(rng):
    return {"x": SCALE * rng.normal(size=2)}


def driver(student, inputs):
    return {"y": student.twice(inputs["x"])}


def oracle(inputs):
    return {"y": inputs["x"] + inputs["x"]}


check_results(inputs, driver, oracle)
```
```{solution-end}
```
"""
PRIVATE = """\
```{solution-start} ex-page-twice
```
```{code-cell} ipython3
:coursework: {role: check, part: a fixed case, points: 1}
def inputs(rng):
    return {"x": 21.0}


def driver(student, inputs):
    return {"y": student.twice(inputs["x"])}
```
```{solution-end}
```
"""
ASSIGNMENTS = """\
[[assignment]]
name = "first"
title = "The first"
exercises = [{ id = "ex-page-twice", points = 6 }]
"""


@pytest.fixture
def book(tmp_path: Path) -> Path:
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters" / "page.md").write_text(PAGE)
    (tmp_path / "private").mkdir()
    (tmp_path / "assignments.toml").write_text(ASSIGNMENTS)
    return tmp_path


def complaint(book: Path, page: str = PAGE, private: str = "", toml: str = ASSIGNMENTS) -> str:
    """What `load` says against a book with these files."""
    (book / "chapters" / "page.md").write_text(page)
    (book / "private" / "tests.md").write_text(private)
    (book / "assignments.toml").write_text(toml)
    with pytest.raises(ProblemError) as caught:
        load(book / "assignments.toml", book / "chapters", book / "private")
    return str(caught.value)


# --- reading ------------------------------------------------------------------------------------


def test_an_exercise_is_read_from_its_page() -> None:
    [problem] = parse(PAGE).values()
    assert (problem.id, problem.title, problem.level) == ("ex-page-twice", "Twice", "★")
    assert [kind for kind, _ in problem.statement] == ["markdown", "code", "markdown"]
    assert problem.given == "import numpy as np"
    assert problem.names == ("twice",)
    assert problem.stub == 'def twice(x):\n    """Two x."""\n    raise NotImplementedError'
    [part] = problem.parts
    assert (part.name, part.points, part.draws, part.rtol, part.atol) == (
        "numbers",
        3,
        2,
        1e-6,
        1e-3,
    )
    assert part.hints == {"y": "twice"}
    assert part.visible
    assert not part.private


def test_a_check_is_cut_into_what_each_side_may_see() -> None:
    [part] = parse(PAGE)["ex-page-twice"].parts
    assert "def oracle" in part.oracle
    assert "oracle" not in part.source + part.inputs + part.driver
    assert "def inputs" not in part.driver
    assert "def driver" not in part.inputs
    for source in (part.source, part.inputs, part.driver, part.oracle):
        assert source.startswith("import numpy as np\nSCALE = 10")
        assert "check_results" not in source


def test_inputs_come_from_the_secret_alone() -> None:
    [part] = parse(PAGE)["ex-page-twice"].parts
    first = part.draw("one", 0)["x"]
    assert np.array_equal(first, part.draw("one", 0)["x"])
    others = [part.draw("one", 1), part.draw("two", 0), replace(part, name="b").draw("one", 0)]
    assert not any(np.array_equal(first, other["x"]) for other in others)


def test_the_reference_leaves_its_inputs_alone() -> None:
    spoiling = PAGE.replace("return 2 * x", "x *= 2\n    return x")
    problem = parse(spoiling)["ex-page-twice"]
    [part] = problem.parts
    drawn = part.draw("", 0)
    before = drawn["x"].copy()
    problem.expected(part, drawn)
    assert np.array_equal(drawn["x"], before)


def test_stubs_keep_what_a_student_needs() -> None:
    answer = '''
        import math


        class Line:
            """A line."""

            def __init__(self, slope: float) -> None:
                self.slope = slope

            def __call__(
                self,
                x,
            ):
                """The height.

                At x.
                """

                def inner():
                    return 1

                return inner() * self.slope * x


        def half(x):
            # a comment
            return x / 2
    '''
    assert (
        make_stub(textwrap.dedent(answer).strip())
        == textwrap.dedent('''
        import math


        class Line:
            """A line."""

            def __init__(self, slope: float) -> None:
                raise NotImplementedError

            def __call__(
                self,
                x,
            ):
                """The height.

                At x.
                """
                raise NotImplementedError


        def half(x):
            raise NotImplementedError
    ''').strip()
    )


# --- assignments and the private folder ---------------------------------------------------------


def test_points_are_those_of_the_assignment(book: Path) -> None:
    (book / "private" / "tests.md").write_text(PRIVATE)
    found = load(book / "assignments.toml", book / "chapters", book / "private")
    assignment = found["first"]
    assert (assignment.title, assignment.points) == ("The first", 6)
    [problem] = assignment.problems
    assert [(part.name, part.points) for part in problem.parts] == [
        ("numbers", 4.5),
        ("a fixed case", 1.5),
    ]


def test_private_checks_are_added_and_never_shown(book: Path) -> None:
    (book / "private" / "tests.md").write_text(PRIVATE)
    public = read_problems(book / "chapters")["ex-page-twice"]
    assert [part.name for part in public.parts] == ["numbers"]
    problem = read_problems(book / "chapters", book / "private")["ex-page-twice"]
    own, added = problem.parts
    assert own.visible
    assert not own.private
    assert added.private
    assert not added.visible
    assert problem.expected(added, added.draw("", 0)) == {"y": 42.0}


def test_several_pages_may_add_checks_to_an_exercise(book: Path) -> None:
    second = PRIVATE.replace("a fixed case", "another").replace("21.0", "4.0")
    third = PRIVATE.replace("a fixed case", "a third")
    (book / "private" / "a.md").write_text(PRIVATE)
    (book / "private" / "b.md").write_text(second + third)
    problem = read_problems(book / "chapters", book / "private")["ex-page-twice"]
    assert [p.name for p in problem.parts] == ["numbers", "a fixed case", "another", "a third"]
    assert not problem.private


def test_a_private_folder_holds_whole_problems(book: Path) -> None:
    page = PAGE.replace("ex-page-twice", "ex-own").replace("twice", "thrice")
    (book / "private" / "own.md").write_text(page)
    problem = read_problems(book / "chapters", book / "private")["ex-own"]
    assert problem.private
    assert not any(part.visible for part in problem.parts)


# --- what is wrong is said ----------------------------------------------------------------------


def test_an_exercise_that_nobody_hands_in_may_hold_any_directive() -> None:
    asked = "```{exercise-start} ★ Halve\n:label: ex-half\n```\n```{predict} half\nIs it?\n```\n"
    answered = "```{exercise-end}\n```\n```{solution-start} ex-half\n```\n```{solution-end}\n```\n"
    assert parse(asked + answered) == {}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (":coursework: {role: answer}\n", "", r"ex-page-twice: 0 answers; there must be one"),
        ("role: check, ", "role: chekc, ", r"role 'chekc'; it must be answer or check"),
        ("{role: answer}", "{role: answer", r"ex-page-twice: the header of a cell is not YAML"),
        ("{role: answer}", "answer", r"ex-page-twice: write coursework: \{role: answer\}"),
        ("def driver", "def drive", r"'numbers' defines no function driver"),
        ("points: 3", "points: 0", r"'numbers' .* 0"),
        ("draws: 2", "drawn: 2", r"no option 'drawn'"),
        ("```{exercise-end}\n```", "", r"ex-page-twice: the exercise has no exercise-end"),
        ("```{solution-end}\n```", "", r"solution of ex-page-twice has no solution-end"),
        ("Plain $x$", "The {term}`tape`", r"'\{term\}`', which a notebook does not know"),
        ("https://example.org", "../other.md", r"'\]\(', which a notebook does not know"),
        ("Write `twice(x)`.", "```{note}\nx\n```", r"directive \{note\}"),
        ("def twice(x):", "two = 2\n\n\ndef twice(x):", r"'two = 2'; move it"),
        ('    """Two x."""\n    return 2 * x', "    return 2 * (x", r"the answer is not Python"),
        ('    """Two x."""\n    return 2 * x', '    """Two x."""', r"twice: write its body"),
        ("SCALE = 10", "SCALE = (10", r"the check 'numbers' is not Python"),
    ],
)  # fmt: skip
def test_a_wrong_page_is_refused(book: Path, old: str, new: str, expected: str) -> None:
    assert old in PAGE
    assert re.search(expected, complaint(book, PAGE.replace(old, new)))


@pytest.mark.parametrize(
    ("private", "expected"),
    [
        (PRIVATE.replace("twice", "thrice"), "ex-page-thrice: checks without an exercise"),
        (PRIVATE.replace("a fixed case", "numbers"), "two checks are named 'numbers'"),
        (PAGE, "two exercises have the label ex-page-twice"),
    ],
)
def test_a_wrong_private_page_is_refused(book: Path, private: str, expected: str) -> None:
    assert expected in complaint(book, private=private)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("ex-page-twice", "ex-page-twise", "no coding exercise ex-page-twise; the nearest name is"),
        ("points = 6", "points = -1", "ex-page-twice"),
        ('{ id = "ex-page-twice", points = 6 }', '"ex-page-twice"', "write exercises as"),
        ('name = "first"', 'name = "the first"', "needs a name of letters"),
        ("[{", "[", "is not TOML"),
        ("[[assignment]]", "[[assignments]]", "holds no [[assignment]]"),
        ("6 }]", '6 }, { id = "ex-page-twice" }]', "ex-page-twice is listed twice"),
    ],
)
def test_a_wrong_assignment_is_refused(book: Path, old: str, new: str, expected: str) -> None:
    assert old in ASSIGNMENTS
    assert expected in complaint(book, toml=ASSIGNMENTS.replace(old, new))


def test_pages_are_utf_8(book: Path) -> None:
    (book / "private" / "own.md").write_bytes("é".encode("latin-1"))
    with pytest.raises(ProblemError, match=r"own\.md is not UTF-8"):
        read_problems(book / "chapters", book / "private")


def test_two_assignments_need_two_names(book: Path) -> None:
    assert "have the name 'first'" in complaint(book, toml=ASSIGNMENTS * 2)


def test_answers_in_one_notebook_need_different_names(book: Path) -> None:
    page = PAGE + PAGE.replace("ex-page-twice", "ex-page-other")
    toml = ASSIGNMENTS.replace("[{", '[{ id = "ex-page-other" }, {')
    assert "two of its exercises ask for a 'twice'" in complaint(book, page, toml=toml)


def test_missing_files_are_named(book: Path) -> None:
    with pytest.raises(ProblemError, match=r"there is no file .*other\.toml"):
        load(book / "other.toml", book / "chapters")
    with pytest.raises(ProblemError, match="nowhere is not a folder"):
        load(book / "assignments.toml", book / "chapters", book / "nowhere")


def test_an_answer_that_fails_its_checks_is_named() -> None:
    [said] = verify(parse(PAGE.replace("return 2 * x", "return 3 * x"))["ex-page-twice"])
    assert "ex-page-twice, 'numbers', draw 0: y: 2 of 2 entries are wrong" in said


# --- the exercises of the book ------------------------------------------------------------------


def test_there_are_enough_for_four_assignments() -> None:
    assignments = load(ROOT / "assignments.toml", ROOT / "chapters")
    assert len(assignments) >= 4
    assert sum(len(assignment.problems) for assignment in assignments.values()) >= 12


@pytest.mark.parametrize("name", BOOK)
def test_answers_agree_with_an_independent_source(name: str) -> None:
    assert all(part.oracle for part in BOOK[name].parts)
    assert list(verify(BOOK[name], SECRET, draws=20)) == []


def outcome(
    problem: Problem, part: Part, answer: str, secret: str = SECRET
) -> Difference | Exception | None:
    """The first difference that an answer makes on the inputs that count."""
    draws = (part.draw(secret, k) for k in range(part.draws))
    return first_fault(problem, part, answer, draws)


def first_fault(
    problem: Problem, part: Part, answer: str, draws: Iterable[Any]
) -> Difference | Exception | None:
    wrong = replace(problem, answer=answer)
    for drawn in draws:
        expected = problem.expected(part, drawn)
        try:
            got = wrong.expected(part, drawn)
        except Exception as error:
            return error
        found = first_difference(expected, got, part.rtol, part.atol, part.hints)
        if found:
            return found
    return None


SHORTEST = """\
def levels(root, parents):
    found, seen, now = [], {root}, [root]
    while now:
        found.append(sorted(now))
        now = list({p for node in now for p in parents[node]} - seen)
        seen.update(now)
    return found
"""
RECURSIVE = """\
def levels(root, parents):
    level = {}

    def visit(node, k):
        if level.get(node, -1) < k:
            level[node] = k
            for parent in parents[node]:
                visit(parent, k + 1)

    visit(root, 0)
    return [sorted(n for n in level if level[n] == k) for k in range(1 + max(level.values()))]
"""
PREORDER = """\
def levels(root, parents):
    level, stack = {root: 0}, [root]
    while stack:
        node = stack.pop()
        for parent in parents[node]:
            if parent not in level:
                level[parent] = level[node] + 1
                stack.append(parent)
    found = [[] for _ in range(1 + max(level.values()))]
    for node in sorted(level):
        found[level[node]].append(node)
    return found
"""
FROM_THE_LEAVES = """\
def levels(root, parents):
    height = {}

    def visit(node):
        if node not in height:
            height[node] = 1 + max(map(visit, parents[node]), default=-1)
        return height[node]

    top = visit(root)
    return [sorted(n for n in height if height[n] == top - k) for k in range(top + 1)]
"""
CENTRAL = """\
def complex_step_gradient(f, x, h=1e-6):
    gradient = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        step = np.zeros(x.shape)
        step[index] = 1e-6
        gradient[index] = (f(x + step) - f(x - step)) / 2e-6
    return gradient
"""
ONE_AXIS = """\
def complex_step_gradient(f, x, h=1e-30):
    gradient = np.zeros(len(x))
    for k in range(len(x)):
        step = np.zeros(len(x), complex)
        step[k] = 1j * h
        gradient[k] = f(x + step).imag / h
    return gradient
"""
TWO_AXES = """\
def complex_step_gradient(f, x, h=1e-30):
    gradient = np.zeros(x.shape)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            step = np.zeros(x.shape, complex)
            step[i, j] = 1j * h
            gradient[i, j] = f(x + step).imag / h
    return gradient
"""
SUBTRACTED = """\
def others_logsumexp(O):
    top = O.max(axis=1, keepdims=True)
    exponentials = np.exp(O - top)
    return top + np.log(exponentials.sum(axis=1, keepdims=True) - exponentials)
"""
ONE_MINUS_P = """\
def others_logsumexp(O):
    top = O.max(axis=1, keepdims=True)
    lse = top + np.log(np.exp(O - top).sum(axis=1, keepdims=True))
    return lse + np.log1p(-np.exp(O - lse))
"""
ONE_HIDDEN_LAYER = """\
def training_bytes(n, widths, itemsize, moments):
    d, h, q = widths
    size = itemsize * ((d + 1) * h + (h + 1) * q)
    values = itemsize * n * (2 * h + q)
    return {"parameters": size, "gradients": size, "optimizer": moments * size, "values": values}
"""
SOFTMAX_LOG = """\
def masked_cross_entropy(O, labels, weights):
    rows = np.flatnonzero(labels >= 0)
    share = weights[labels[rows]] / weights[labels[rows]].sum()
    exponentials = np.exp(O[rows] - O[rows].max(axis=1, keepdims=True))
    p = exponentials / exponentials.sum(axis=1, keepdims=True)
    picked = np.arange(len(rows)), labels[rows]
    loss = np.sum(share * -np.log(p[picked]))
    p[picked] -= 1
    dO = np.zeros(O.shape)
    dO[rows] = share[:, None] * p
    return loss, dO
"""
KEEPS_AN_ARRAY = """\
import numpy as np


def checkpointed_gradient(step, step_vjp, x, g, n, every):
    states = np.empty((n + 1, *x.shape))
    states[0] = x
    for k in range(n):
        states[k + 1] = step(k, states[k])
    for k in reversed(range(n)):
        g = step_vjp(k, states[k], g)
    return g
"""
KEEPS_COPIES = """\
def checkpointed_gradient(step, step_vjp, x, g, n, every):
    states = [x.copy()]
    for k in range(n):
        states.append(step(k, states[-1]).copy())
    for k in reversed(range(n)):
        g = step_vjp(k, states[k], g)
    return g
"""
KEEPS_LISTS = """\
import numpy as np


def checkpointed_gradient(step, step_vjp, x, g, n, every):
    states = [x.tolist()]
    for k in range(n):
        states.append(step(k, np.array(states[-1])).tolist())
    for k in reversed(range(n)):
        g = step_vjp(k, np.array(states[k]), g)
    return g
"""
KEEPS_ALL = """\
def checkpointed_gradient(step, step_vjp, x, g, n, every):
    states = [x]
    for k in range(n):
        states.append(step(k, states[-1]))
    for k in reversed(range(n)):
        g = step_vjp(k, states[k], g)
    return g
"""
KEEPS_NOTHING = """\
def checkpointed_gradient(step, step_vjp, x, g, n, every):
    for last in reversed(range(n)):
        state = x
        for k in range(last):
            state = step(k, state)
        g = step_vjp(last, state, g)
    return g
"""
# Usual mistakes: what to change in the answer (or a whole answer), and for each part the name of
# the first result that is then wrong, None if the part is still right, "raises" if it raises.
MISTAKES = {
    "ex-graph-levels": [
        (SHORTEST, ["levels", "levels"]),
        (PREORDER, ["levels", "levels|every 250th"]),
        (FROM_THE_LEAVES, ["levels", "raises"]),
        (RECURSIVE, [None, "raises"]),
        ("def levels(root, parents):\n    return [[root]]", ["levels", "levels"]),
        (("level[node] + 1", "level[node]"), ["levels", "levels"]),
        (("sorted(order)", "order"), ["order in a level", None]),
        (("reversed(order)", "order"), ["levels", "levels"]),
        (("return found", "return found[::-1]"), ["levels", "every 250th"]),
        (("sorted(order)", "sorted(parents)"), ["raises", None]),
    ],
    "ex-engine-accumulate": [
        (("+=", "="), ["v*", "v*"]),
        (("adjoints[name] * local", "local"), ["v*", "v*"]),
        (("for name in order:", "for name in order[::-1]:"), ["v*", "v*"]),
        (("arriving.get(name, 0.0)", "float(name == order[0])"), ["v*", "v*"]),
        (("in local_gradients[name]:", "in set(local_gradients[name]):"), [None, "v*"]),
        ((" if not local_gradients[name]", ""), ["leaves", None]),
        (
            ("{name: arriving.get(name, 0.0) for name in order}", "arriving\n    for n in order:\n"
             "        arriving.setdefault(n, 0.0)"),
            ["arriving is left alone", None],
        ),
    ],
    "ex-chain-rule-jets": [
        (("2 * a[1] * b[1]", "a[1] * b[1]"), ["a * b", "tanh(a² + b) / b"]),
        ((" - 2 * first * b[1]", ""), ["a / b", "tanh(a² + b) / b"]),
        (("a[1] - value * b[1]", "a[1]"), ["a / b", "tanh(a² + b) / b"]),
        ((" - 2 * value * slope * a[1] ** 2", ""), ["tanh a", "tanh(a² + b) / b"]),
        (("slope * a[1] ** 2", "slope * a[1]"), ["tanh a", "tanh(a² + b) / b"]),
        (("a[2] + b[2]", "0.0"), ["a + b", "tanh(a² + b) / b"]),
    ],
    "ex-engine-complex": [
        (CENTRAL, ["gradient"]),
        (ONE_AXIS, ["raises"]),
        (TWO_AXES, ["gradient"]),
        ((".imag / h", ".imag"), ["gradient"]),
        ((".imag / h", ".real / h"), ["gradient"]),
        (("np.zeros(np.shape(x))", "np.zeros(np.shape(x), complex)"), ["dtype"]),
        (("step[index] = 1j * h", "step[index] = h"), ["gradient"]),
    ],
    "ex-engine-atan2": [
        (("np.arctan2(y, x)", "np.arctan(y / x)"), ["value", None]),
        (("return g * x", "return g * y"), ["dy", None]),
        (("return -g * y", "return g * y"), ["dx", "xx"]),
        (("g * x / (x * x + y * y)", "g / (x * x + y * y)"), ["dy", None]),
        (("return -g * y", "return -y"), ["dx", None]),
        (("-g * y / (x * x + y * y)", "-g * y / np.hypot(x, y) ** 2"), [None, "raises"]),
        (("-g * y / (x * x + y * y)", "-g * y / (x * x + y * y) ** 0.5"), ["dx", "xx"]),
    ],
    "ex-matrix-relu": [
        (("(H > 0) & (H < 6)", "H > 0"), ["dZ"]),
        (("H > 0", "H >= 0"), ["dZ"]),
        (("H < 6", "H <= 6"), ["dZ"]),
        (("((H > 0) & (H < 6))", "H"), ["dZ"]),
        (
            ("return dH * ((H > 0) & (H < 6))", "dH[(H <= 0) | (H >= 6)] = 0\n    return dH"),
            ["dH afterwards"],
        ),
    ],
    "ex-matrix-dense": [
        (("dZ.sum(axis=0)", "dZ.mean(axis=0)"), [None, "db"]),
        (("dZ.sum(axis=0)", "dZ"), [None, "db"]),
        (("dZ.sum(axis=0)", "dA.sum(axis=0)"), [None, "db"]),
        (("dA @ W,", "dA @ W.T,"), ["dX", None]),
        (("dA.T @ X", "X.T @ dA"), ["dW", None]),
        (("dA = dZ * g", "dA = dZ"), ["dX", None]),
        (("(dZ * (X @ W.T))", "(dA * (X @ W.T))"), [None, "dg"]),
        (("X @ W.T", "X @ W"), [None, "dg"]),
    ],
    "ex-matrix-lse": [
        (SUBTRACTED, [None, "lse"]),
        (ONE_MINUS_P, [None, "lse"]),
        (("others.max(axis=1)", "O.max(axis=1)"), [None, "lse"]),
        (("others.max(axis=1)", "np.zeros(len(O))"), [None, "lse"]),
        (("others.max(axis=1)", "np.full(len(O), others.max())"), [None, "lse"]),
        (("top + np", "np"), ["lse", "lse"]),
        (("np.delete(O, k, axis=1)", "O"), ["lse", "lse"]),
    ],
    "ex-matrix-missing": [
        (("share[:, None] * gradient", "gradient / len(rows)"), ["dO", "dO"]),
        (("share[:, None] * gradient", "gradient"), ["dO", "dO"]),
        (("weights[labels[rows]].sum()", "weights.sum()"), ["loss", "loss"]),
        (("weights[labels[rows]].sum()", "len(rows)"), ["loss", "loss"]),
        (("share = weights[labels[rows]]", "share = np.ones(len(rows))"), ["loss", "loss"]),
        (("np.zeros(O.shape)", "np.exp(O) / np.exp(O).sum(axis=1, keepdims=True)"), [None, "dO"]),
        ((" - O[rows].max(axis=1, keepdims=True)", ""), [None, "loss"]),
        (("np.flatnonzero(labels >= 0)", "np.arange(len(O))"), [None, "loss"]),
        (("gradient[picked] -= 1", "pass"), ["dO", "dO"]),
        (SOFTMAX_LOG, [None, "loss"]),
    ],
    "ex-forward-manual": [
        ((" / len(X)", ""), [None, "dO", None]),
        ((" + weight_decay * W2", ""), [None, None, "* dW2"]),
        ((" + weight_decay * W1", ""), [None, None, "* dW1"]),
        (("+ weight_decay * W1", "+ 2 * weight_decay * W1"), [None, None, "* dW1"]),
        (("+ weight_decay * W1", "+ weight_decay * W1 / len(X)"), [None, None, "* dW1"]),
        (("dH * (Z > 0)", "dH"), ["dZ", "dZ", None]),
        (("dH * (Z > 0)", "dH * (H > 0)"), ["dZ", "dZ", None]),
        (("X + np", "np"), ["dO", "dO", None]),
        (("dH + dZ @ W1", "dZ @ W1"), ["dX", "dX", None]),
        (("dZ @ W1", "dZ @ W1.T"), ["dX", "dX", None]),
        (("dW2 = dO.T @ H", "dW2 = dO[:1].T @ H[:1]"), [None, "dW2", None]),
        (("dO @ W2\n", "dO @ W2 / len(X)\n"), [None, "dH", None]),
    ],
    "ex-mlp-ledger": [
        (ONE_HIDDEN_LAYER, ["raises", "raises"]),
        (("(d + 1) * h", "d * h"), ["parameters", None]),
        (('"parameters": itemsize', '"parameters": 4'), ["parameters", None]),
        (("parameters * moments", "parameters * 2"), ["optimizer", None]),
        (("itemsize * parameters * moments", "itemsize * parameters"), ["optimizer", None]),
        (("n * (2 * sum(widths[1:-1]) + widths[-1])", "n * sum(widths[1:])"), [None, "values"]),
        (("2 * sum(widths[1:-1]) + widths[-1]", "2 * sum(widths[1:])"), [None, "values"]),
        (("n * (2", "(2"), [None, "values"]),
        (('"values": itemsize *', '"values": 8 *'), [None, "values"]),
        (('"gradients": itemsize', '"gradients": n * itemsize'), ["gradients", None]),
    ],
    "ex-loop-clip": [
        (("[factor * g for g in gradients]", "[g / norm for g in gradients]"), ["first", "first"]),
        (("min(1.0, max_norm / (norm + 1e-6))", "max_norm / norm"), [None, "first"]),
        (("factor * g for", "np.clip(g, -max_norm, max_norm) for"), ["first", None]),
        (
            ("factor * g for", "g * min(1.0, max_norm / np.sqrt(np.sum(g**2))) for"),
            ["first", None],
        ),
        (("gradients], norm", "gradients], factor * norm"), ["norm", None]),
        (("sum(np.sum(g**2) for g in gradients)", "np.sum(gradients[0]**2)"), ["norm", "norm"]),
        (
            ("    return [factor", "    for g in gradients:\n        g *= factor\n    return [1.0"),
            ["first afterwards", None],
        ),
    ],
    "ex-loop-momentum-step": [
        (("+ (g + weight_decay * p)", "+ lr * g"), ["v1"]),
        (("(g + weight_decay * p)", "g"), ["v1"]),
        (("(g + weight_decay * p)", "(1 - momentum) * (g + weight_decay * p)"), ["v1"]),
        (("p - lr * v, v", "p - lr * (g + momentum * v), v"), ["p1"]),
        (("p - lr * v", "p - lr * g"), ["p1"]),
        (("momentum * v +", "v +"), ["v2"]),
        (("return p - lr * v, v", "p -= lr * v\n    return p, v"), ["p0 afterwards"]),
    ],
    "ex-loop-adam": [
        (("m / (1 - beta1**t), v / (1 - beta2**t)", "m, v"), ["p1", "p1"]),
        (("(1 - beta1**t), v / (1 - beta2**t)", "(1 - beta1), v / (1 - beta2)"), [None, "p2"]),
        (("np.sqrt(v_hat) + eps", "np.sqrt(v_hat + eps)"), ["p1", "p1"]),
        (("+ eps), m, v", "+ eps), m_hat, v_hat"), ["m1", "p2"]),
        (("(1 - beta2) * g**2", "(1 - beta2) * g"), ["v1", "p1"]),
    ],
    "ex-jax-interpreter": [
        (("+= share", "= share"), ["by a", "by a"]),
        (("in reversed(lines)", "in lines"), ["by a", "by a"]),
        (("(g * math.cos(x),)", "(math.cos(x),)"), ["by a", None]),
        (("(g * math.cos(x),)", "(g * math.cos(math.sin(x)),)"), ["by a", None]),
        (("(g * y, g * x)", "(g * x, g * y)"), ["by a", "by a"]),
        (("            if isinstance(operand, str):\n    ", ""), [None, "raises"]),
        (("{result: 1.0}", "{name: 1.0}"), [None, "by a"]),
    ],
    "ex-second-logistic": [
        (("p * (1 - p) * z_dot", "z_dot"), ["p_dot", "Hv"]),
        ((" / len(X)", ""), ["Hv", "Hv"]),
        (("/ len(X)", "/ X.shape[1]"), ["Hv", "Hv"]),
        (("weight_decay * v", "weight_decay * w"), [None, "Hv"]),
    ],
    "ex-memory-chain": [
        (KEEPS_ALL, [None, "few states"]),
        (KEEPS_AN_ARRAY, [None, "few states"]),
        (KEEPS_COPIES, [None, "few states"]),
        (KEEPS_LISTS, [None, "few states"]),
        (KEEPS_NOTHING, [None, "few steps"]),
        (("states.pop(), g)", "states[-1], g)"), ["dx", "few states|dx"]),
        (("checkpoints.pop(start)", "checkpoints[start]"), [None, None]),
    ],
}  # fmt: skip


def test_every_exercise_has_its_mistakes() -> None:
    assert set(BOOK) <= set(MISTAKES)


def mistakes(name: str) -> Iterable[tuple[str, list[str | None]]]:
    """Each wrong answer to an exercise, and what its checks find."""
    for mistake, expected in MISTAKES[name]:
        answer = BOOK[name].answer
        wrong = mistake if isinstance(mistake, str) else answer.replace(*mistake)
        assert wrong != answer, mistake
        yield wrong, expected


@pytest.mark.parametrize("name", BOOK)
def test_checks_tell_mistakes_apart(name: str) -> None:
    """Each mistake loses the parts that it should, and the first wrong result is named."""
    problem = BOOK[name]
    for wrong, expected in mistakes(name):
        for part, wanted in zip(problem.parts, expected, strict=True):
            got = quietly(outcome, problem, part, wrong)
            where = f"{wrong} at {part.name}: {got}"
            if wanted is None or wanted == "raises":
                assert isinstance(got, Exception if wanted else type(None)), where
            else:
                assert isinstance(got, Difference), where
                assert any(fnmatch(got.name, name) for name in wanted.split("|")), where


@pytest.mark.parametrize("name", BOOK)
@pytest.mark.parametrize("count", [5, pytest.param(200, marks=pytest.mark.full)])
def test_no_mark_depends_on_the_secret(name: str, count: int) -> None:
    """A mistake loses the same parts whatever is drawn: no secret lets it pass."""
    problem = BOOK[name]
    for wrong, expected in mistakes(name):
        for part, wanted in zip(problem.parts, expected, strict=True):
            secrets = [f"secret {k}" for k in range(count)]
            passed = [s for s in secrets if quietly(outcome, problem, part, wrong, s) is None]
            assert passed == ([] if wanted else secrets), f"{wrong} at {part.name}"


@pytest.mark.parametrize("name", BOOK)
def test_the_visible_checks_find_what_the_hidden_ones_find(name: str) -> None:
    problem = BOOK[name]
    for wrong, expected in mistakes(name):
        for part, wanted in zip(problem.parts, expected, strict=True):
            shown = [part.inputs_from(seed) for seed in VISIBLE_SEEDS]
            found = quietly(first_fault, problem, part, wrong, shown)
            assert (found is None) == (wanted is None), f"{wrong} at {part.name}"


def quietly(function: Any, *arguments: Any) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return function(*arguments)


def test_graphs_have_several_orders() -> None:
    """No draw is a chain, or a node alone: neither would tell a wrong order from the right one."""
    problem = BOOK["ex-graph-levels"]
    seeds = [*VISIBLE_SEEDS, *range(200)]
    for part in problem.parts[:1]:
        for seed in seeds:
            found = problem.expected(part, part.inputs_from(seed))["levels"]
            assert len(found) >= 3
            assert any(len(level) > 1 for level in found)
