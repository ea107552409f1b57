"""Exercises as they stand in the pages: read, and their checks tried on answers and mistakes."""

import re
import textwrap
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from chainlab.doctor import graded
from coursework.__main__ import main
from coursework.exercise.assignments import load
from coursework.exercise.pages import parse, read_problems
from coursework.exercise.problems import verify
from coursework.exercise.stubs import make_stub
from coursework.exercise.trials import read_trials, unexpected_findings, unexpected_on
from coursework.exercise.trusted import ProblemError
from coursework.release import VISIBLE_SEEDS
from tests.coursework.course import ANSWERS, EXERCISES, assignments, exercises, trials

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


def test_plain_data_of_ours_is_written_out_and_functions_are_imported() -> None:
    imports = "from chainlab.doctor.graded import SHARED as ASKED\n"
    imports += "from chainlab.drills import random_graph\n"
    [part] = parse(PAGE.replace("SCALE = 10", f"{imports}SCALE = 10"))["ex-page-twice"].parts
    for source in (part.source, part.inputs, part.driver, part.oracle):
        assert "from chainlab.drills import random_graph" in source
        assert "chainlab.doctor" not in source
        written = source[source.index("ASKED =") : source.index("}\n") + 1]
        space: dict[str, object] = {}
        exec(written, space)
        assert space["ASKED"] == graded.SHARED


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
        ("SCALE = 10", "from chainlab.doctor.graded import NONE", r"cannot import .*'NONE'"),
        ("SCALE = 10", "from chainlab.nowhere import X", r"No module named 'chainlab.nowhere'"),
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
    assert len(assignments()) >= 4
    assert sum(len(assignment.problems) for assignment in assignments().values()) >= 12


@pytest.mark.slow
@pytest.mark.parametrize("name", EXERCISES)
def test_answers_agree_with_an_independent_source(name: str) -> None:
    assert all(part.oracle for part in exercises()[name].parts)
    assert list(verify(exercises()[name], SECRET, draws=20)) == []


def test_every_exercise_has_wrong_answers_and_right_ones() -> None:
    assert {path.stem for path in ANSWERS.iterdir()} == set(exercises())
    for answers in map(trials, EXERCISES):
        assert sum(any(answer.finds) for answer in answers) >= 10
        assert not all(any(answer.finds) for answer in answers)


@pytest.mark.slow
@pytest.mark.parametrize("name", EXERCISES)
@pytest.mark.parametrize(
    "secrets",
    [
        range(1),
        pytest.param(range(1, 3), marks=pytest.mark.walk),
        pytest.param(range(3, 60), marks=pytest.mark.full),
    ],
)
def test_no_mark_depends_on_the_secret(name: str, secrets: range) -> None:
    """A wrong answer loses the same parts whatever is drawn, and a right one none."""
    problem = exercises()[name]
    for secret in (f"secret {k}" for k in secrets):
        own = problem.for_student(secret, "a student")
        assert list(unexpected_findings(own, trials(name), secret)) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", EXERCISES)
def test_the_visible_checks_find_what_the_hidden_ones_find(name: str) -> None:
    problem = exercises()[name]
    shown = [[part.inputs_from(seed) for seed in VISIBLE_SEEDS] for part in problem.parts]
    assert list(unexpected_on(problem, trials(name), shown, "as shown")) == []


WRONG_TRIAL = """\
[[right]]
why = "a sum"
code = '''
def twice(x):
    return x + x
'''

[[wrong]]
why = "three times"
finds = ["y"]
old = "2 * x"
new = "3 * x"
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("x + x", "x - x", "in 'a sum' it finds 'y', not ''"),
        ("x + x", "x +", "in 'a sum' it finds 'raises', not ''"),
        ("x + x", "(x + 1e5) + x - 1e5", "in 'a sum' it finds 'y' in float32, not ''"),
        ("3 * x", "x + x", "in 'three times' it finds '', not 'y'"),
    ],
)
def test_luck_is_found(
    book: Path, old: str, new: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["check", "--book", str(book), "--answers", str(book), "--secrets", "2"]
    (book / "ex-page-twice.toml").write_text(WRONG_TRIAL)
    assert main(command) == 0
    assert "2 answers tried under 2 secrets." in capsys.readouterr().out
    (book / "ex-page-twice.toml").write_text(WRONG_TRIAL.replace(old, new))
    assert main(command) == 1
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('old = "2 * x"', 'old = "4 * x"', "'three times' is the reference answer, or not for"),
        ('["y"]', '["y", "y"]', "'three times' is the reference answer, or not for"),
        ('why = "three times"', "", "not a file of answers: 'why'"),
        ('["y"]', "[", "not a file of answers"),
    ],
)
def test_a_wrong_file_of_answers_is_refused(book: Path, old: str, new: str, said: str) -> None:
    (book / "ex-page-twice.toml").write_text(WRONG_TRIAL.replace(old, new))
    with pytest.raises(ProblemError, match=re.escape(said)):
        read_trials(book, read_problems(book / "chapters")["ex-page-twice"])


def test_graphs_have_several_orders() -> None:
    """No draw is a chain, or a node alone: neither would tell a wrong order from the right one."""
    problem = exercises()["ex-graph-levels"]
    seeds = [*VISIBLE_SEEDS, *range(200)]
    for part in problem.parts[:1]:
        for seed in seeds:
            found = problem.expected(part, part.inputs_from(seed))["levels"]
            assert len(found) >= 3
            assert any(len(level) > 1 for level in found)
