"""Exercises as they stand in the pages: read, and their checks tried on answers and mistakes."""

import re
import textwrap
import warnings
from dataclasses import replace
from fnmatch import fnmatchcase as fnmatch
from pathlib import Path

import numpy as np
import pytest

from chaingrad.checks import Difference, first_difference
from coursework.problems import (
    Part,
    Problem,
    ProblemError,
    load,
    make_stub,
    parse,
    read_problems,
    verify,
)
from support import ROOT

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
        ("```{exercise-end}\n```", "", r"ex-page-twice has no exercise-end"),
        ("```{solution-end}\n```", "", r"solution of ex-page-twice has no solution-end"),
        ("Plain $x$", "The {term}`tape`", r"'\{term\}`', which a notebook does not know"),
        ("https://example.org", "../other.md", r"'\]\(', which a notebook does not know"),
        ("Write `twice(x)`.", "```{note}\nx\n```", r"directive \{note\}"),
        ("def twice(x):", "two = 2\n\n\ndef twice(x):", r"'two = 2'; move it"),
        ('    """Two x."""\n    return 2 * x', "    return 2 * (x", r"the answer is not Python"),
        ('    """Two x."""\n    return 2 * x', '    """Two x."""', r"twice: write its body"),
        ("SCALE = 10", "SCALE = (10", r"the check is not Python"),
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


def outcome(problem: Problem, part: Part, answer: str) -> Difference | Exception | None:
    """The first difference that an answer makes on the inputs that count."""
    wrong = replace(problem, answer=answer)
    for k in range(part.draws):
        drawn = part.draw(SECRET, k)
        expected = problem.expected(part, drawn)
        try:
            got = wrong.expected(part, drawn)
        except Exception as error:
            return error
        found = first_difference(expected, got, part.rtol, part.atol, part.hints)
        if found:
            return found
    return None


BREADTH_FIRST = """\
def topological_order(root, parents):
    order = [root]
    for node in order:
        order += [p for p in dict.fromkeys(parents[node]) if p not in order]
    return order
"""
RECURSIVE = """\
def topological_order(root, parents):
    pushed = []

    def visit(node):
        if node not in pushed:
            for parent in parents[node]:
                visit(parent)
            pushed.append(node)

    visit(root)
    return pushed[::-1]
"""
IN_PLACE = """\
def numerical_gradient(f, x, eps=1e-6):
    gradient = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        x[index] += eps
        up = f(x)
        x[index] -= 2 * eps
        gradient[index] = (up - f(x)) / (2 * eps)
    return gradient
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
    "ex-graph-toposort": [
        (("pushed[::-1]", "pushed"), ["order", "every 250th"]),
        (("for parent in to_come", "for parent in reversed(list(to_come))"), ["order", "length"]),
        (BREADTH_FIRST, ["order", "every 250th"]),
        (RECURSIVE, [None, "raises"]),
    ],
    "ex-engine-accumulate": [
        (("+=", "="), [None, "v*"]),
        (("adjoints[name] * local", "local"), ["v*", "v*"]),
        (("for name in order", "for name in order[::-1]"), ["v*", "v*"]),
    ],
    "ex-chain-rule-dual": [
        (("a[1] * b[0] + a[0] * b[1]", "a[1] * b[1]"), ["a * b", "tanh(a² + b) / b"]),
        (("(a[1] - value * b[1])", "a[1]"), ["a / b", "tanh(a² + b) / b"]),
        (("(1 - value**2) * a[1]", "1 - value**2"), ["tanh a", "tanh(a² + b) / b"]),
    ],
    "ex-engine-numerical": [
        (("(f(x + step) - f(x - step)) / (2 * eps)", "(f(x + step) - f(x)) / eps"), ["gradient"]),
        (("(2 * eps)", "eps"), ["gradient"]),
        (IN_PLACE, ["x afterwards"]),
    ],
    "ex-engine-softplus": [
        (("np.logaddexp(0.0, a)", "np.log(1 + np.exp(a))"), ["value", None]),
        (("g * rules.sigmoid(a)", "rules.sigmoid(a)"), ["gradient", None]),
        (("g * rules.sigmoid(a)", "g / (1 + np.exp(-a))"), [None, "raises"]),
        (("g * rules.sigmoid(a)", "g * out"), ["gradient", "first"]),
    ],
    "ex-matrix-relu": [
        (("H > 0", "H >= 0"), ["dZ"]),
        (("dH * (H > 0)", "dH * H"), ["dZ"]),
        (("return dH * (H > 0)", "dH[H <= 0] = 0\n    return dH"), ["dH afterwards"]),
    ],
    "ex-matrix-dense": [
        (("dZ.sum(axis=0)", "dZ.mean(axis=0)"), [None, "db"]),
        (("dZ.sum(axis=0)", "dZ"), [None, "db"]),
        (("dZ @ W,", "dZ @ W.T,"), ["raises", "raises"]),
        (("dZ.T @ X", "X.T @ dZ"), ["dW", None]),
    ],
    "ex-matrix-lse": [
        (("top = O.max(axis=1)", "top = 0 * O[:, 0]"), [None, "lse"]),
        (("top = O.max(axis=1)", "top = 0 * O[:, 0] + O.max()"), [None, "lse"]),
        (("top + np", "np"), ["lse", "lse"]),
    ],
    "ex-matrix-missing": [
        (("gradient / len(rows)", "gradient / len(O)"), [None, "dO"]),
        (("gradient / len(rows)", "gradient"), ["dO", "dO"]),
        ((" - O[rows].max(axis=1, keepdims=True)", ""), [None, "loss"]),
        (("np.flatnonzero(labels >= 0)", "np.arange(len(O))"), [None, "loss"]),
        (("gradient[picked] -= 1", "pass"), ["dO", "dO"]),
    ],
    "ex-forward-manual": [
        ((" / len(X)", ""), [None, "dO", None]),
        ((" + weight_decay * W2", ""), [None, None, "dW2"]),
        ((" + weight_decay * W1", ""), [None, None, "dW1"]),
        (("+ weight_decay * W1", "+ 2 * weight_decay * W1"), [None, None, "dW1"]),
        (("dH * (H > 0)", "dH"), ["dZ", "dZ", "dZ"]),
        (("dW2 = dO.T @ H", "dW2 = dO[:1].T @ H[:1]"), [None, "dW2", None]),
        (("dO @ W2\n", "dO @ W2 / len(X)\n"), [None, "dH", None]),
    ],
    "ex-mlp-ledger": [
        (("(d + 1) * h", "d * h"), ["parameters", None]),
        (("itemsize * parameters * moments", "itemsize * parameters"), ["optimizer", None]),
        (("n * (2 * sum(widths[1:-1]) + widths[-1])", "n * sum(widths[1:])"), [None, "values"]),
        (('"values": itemsize *', '"values": 8 * itemsize *'), [None, "values"]),
        (('"gradients": itemsize', '"gradients": n * itemsize'), ["gradients", None]),
    ],
    "ex-loop-clip": [
        (("[factor * g for g in gradients]", "[g / norm for g in gradients]"), ["first", "first"]),
        (("min(1.0, max_norm / (norm + 1e-6))", "max_norm / norm"), [None, "first"]),
        (("gradients], norm", "gradients], factor * norm"), ["norm", None]),
        (("sum(np.sum(g**2) for g in gradients)", "np.sum(gradients[0]**2)"), ["norm", "norm"]),
        (
            ("    return [factor", "    for g in gradients:\n        g *= factor\n    return [1.0"),
            ["first afterwards", None],
        ),
    ],
    "ex-loop-momentum-step": [
        (("+ (g + weight_decay * p)", "+ lr * g"), ["v1"]),
        (("p - lr * v", "p - lr * g"), ["p1"]),
        (("momentum * v +", "v +"), ["v2"]),
        (("return p - lr * v, v", "p -= lr * v\n    return p, v"), ["p0 afterwards"]),
    ],
    "ex-loop-adam": [
        (("m / (1 - beta1**t), v / (1 - beta2**t)", "m, v"), ["p1", "p1"]),
        (("(1 - beta1**t), v / (1 - beta2**t)", "(1 - beta1), v / (1 - beta2)"), [None, "p2"]),
        (("np.sqrt(v_hat) + eps", "np.sqrt(v_hat + eps)"), ["p1", "p1"]),
        (("(1 - beta2) * g**2", "(1 - beta2) * g"), ["v1", "p1"]),
    ],
    "ex-second-logistic": [
        (("p * (1 - p) * z_dot", "z_dot"), ["p_dot", "Hv"]),
        ((" / len(X)", ""), ["Hv", "Hv"]),
        (("weight_decay * v", "weight_decay * w"), [None, "Hv"]),
    ],
    "ex-memory-chain": [
        (KEEPS_ALL, [None, "few states"]),
        (KEEPS_NOTHING, [None, "few steps"]),
        (("states.pop(), g)", "states[-1], g)"), ["dx", "few states|dx"]),
        (("checkpoints.pop(start)", "checkpoints[start]"), [None, None]),
    ],
}  # fmt: skip


def test_every_exercise_has_its_mistakes() -> None:
    assert set(BOOK) <= set(MISTAKES)


@pytest.mark.parametrize("name", BOOK)
def test_checks_tell_mistakes_apart(name: str) -> None:
    """Each mistake loses the parts that it should, and the first wrong result is named."""
    problem = BOOK[name]
    for mistake, expected in MISTAKES[name]:
        answer = mistake if isinstance(mistake, str) else problem.answer.replace(*mistake)
        assert answer != problem.answer, mistake
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            found = [outcome(problem, part, answer) for part in problem.parts]
        for part, got, wanted in zip(problem.parts, found, expected, strict=True):
            where = f"{mistake} at {part.name}: {got}"
            if wanted is None or wanted == "raises":
                assert isinstance(got, Exception if wanted else type(None)), where
            else:
                assert isinstance(got, Difference), where
                assert any(fnmatch(got.name, name) for name in wanted.split("|")), where
