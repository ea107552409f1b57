"""Problems drawn for each student: released, handed in, swapped, marked; and attacks on them."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coursework.__main__ import main
from coursework.collect.roster import Student
from coursework.exercise.drawing import student_seed
from coursework.exercise.pages import parse
from coursework.exercise.problems import Problem
from coursework.exercise.trusted import ProblemError
from tests.coursework.classes import (
    SECRET,
    Class,
    answered,
    hand_in,
    notebook_of,
    right,
    roster,
    slipped,
)
from tests.coursework.course import exercises, yours
from tests.support import ROOT

CLASS = 300  # of a thousand, the graphs and layers themselves: tests/chainlab/drills/draw
PAGE = """
```{exercise-start} ★ A multiple
:label: ex-own-multiple
```
Write `times(x)`.

```{code-cell} ipython3
:coursework: {role: draw}
def draw(rng):
    factor = int(rng.integers(2, 10**9))
    return {"given": f"FACTOR = {factor}", "factor": factor}


own = draw(rng)
print(own["given"])
```
```{exercise-end}
```

```{solution-start} ex-own-multiple
```
```{code-cell} ipython3
:coursework: {role: answer}
def times(x):
    return own["factor"] * x
```

```{code-cell} ipython3
:coursework: {role: check, part: numbers, form: true}
def inputs(rng):
    return {"x": float(rng.normal())}


def driver(student, inputs):
    return {"y": student.times(inputs["x"])}


def oracle(inputs):
    return {"y": inputs["x"] * own["factor"]}
```
```{solution-end}
```
"""


@pytest.fixture
def problem() -> Problem:
    return parse(PAGE)["ex-own-multiple"]


# --- the format ---------------------------------------------------------------------------------


def test_the_page_has_an_instance_of_its_own(problem: Problem) -> None:
    assert problem.drawing.startswith("def draw(rng)")
    assert "own =" not in problem.drawing
    assert [kind for kind, _ in problem.statement] == ["markdown", "own"]
    assert problem.given == f"FACTOR = {problem.instance.own['factor']}"
    assert problem.drawn(0) == problem


def test_an_instance_is_a_student_s_own_and_stays(problem: Problem) -> None:
    ann, bob = (problem.for_student(SECRET, student) for student in ("ann", "bob"))
    assert ann == problem.for_student(SECRET, "ann")
    assert len({ann.given, bob.given, problem.given}) == 3
    assert ann.given != problem.for_student("another secret", "ann").given
    [part] = ann.parts
    assert ann.expected(part, {"x": 2.0}) == {"y": 2.0 * ann.instance.own["factor"]}


def test_a_problem_without_a_drawing_is_the_same_for_all() -> None:
    assert exercises()["ex-matrix-relu"].for_student(SECRET, "ann") is exercises()["ex-matrix-relu"]


def test_two_exercises_may_share_an_instance() -> None:
    adjoints, backward = (p.for_student(SECRET, "ann") for p in yours().problems[:2])
    assert backward.given
    assert adjoints.given.startswith(backward.given)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"given"', '"gvien"', "a dict whose 'given' is code"),
        ("return {", "return 1 / 0, {", "ex-own-multiple: draw(rng) raised ZeroDivisionError"),
        ('"factor": factor', '"factor": rng', "not JSON serializable"),
        ("def draw", "def drwa", "KeyError: 'draw'"),
        ("def draw(rng)", "def draw(rng", "the cell that draws is not Python"),
    ],
)
def test_a_wrong_drawing_is_refused(old: str, new: str, said: str) -> None:
    with pytest.raises(ProblemError, match=re.escape(said)):
        parse(PAGE.replace(old, new))


# --- what students get --------------------------------------------------------------------------


def text_of(notebook: dict[str, Any]) -> str:
    return "\n".join(cell["source"] for cell in notebook["cells"])


def answers_of(problem: Problem) -> list[list[str]]:
    """The numbers of each part whose form alone a student's notebook looks at."""
    found = []
    for part in problem.parts:
        if part.form:
            results = part.asked(problem.expected(part, part.draw(SECRET, 0)))
            found.append([f"{value:g}" for value in results.values()])
    return found


@pytest.mark.slow
def test_no_notebook_holds_its_answers_or_the_secret(tmp_path: Path) -> None:
    asked = 0
    for student in roster(tmp_path, 12):
        notebook = notebook_of(student, yours(), SECRET, tmp_path)
        numbers = re.findall(r"(?<![\w.])-?\d+(?![\w.])", text_of(notebook))
        for problem in yours().for_student(SECRET, student.id).problems:
            for answer in answers_of(problem):
                asked += 1
                spans = range(len(numbers))
                assert not any(numbers[i : i + len(answer)] == answer for i in spans)
            assert str(student_seed(SECRET, student.id, problem.id)) not in text_of(notebook)
        text = json.dumps(notebook)
        assert SECRET not in text
        assert "oracle" not in text
        assert not [seed for seed in re.findall(r"seeds=\[(.*?)\]", text) if seed not in "0, 1"]
    assert asked == 24


def test_where_a_number_is_asked_the_notebook_is_made_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other answers, the same notebook: so nothing of it can tell them."""
    [ann] = roster(tmp_path, 1)
    before = notebook_of(ann, yours(), SECRET, tmp_path)
    expected = Problem.expected

    def spoiled(self: Problem, part: Any, inputs: Any) -> dict[str, Any]:
        results = expected(self, part, inputs)
        return dict.fromkeys(results, 7.0) if part.form else results

    monkeypatch.setattr(Problem, "expected", spoiled)
    assert notebook_of(ann, yours(), SECRET, tmp_path) == before


@pytest.mark.slow
def test_no_two_of_a_large_class_are_asked_the_same() -> None:
    students = [f"u{k}" for k in range(CLASS)]
    for problem in (yours().problems[0], yours().problems[2]):
        assert len({problem.for_student(SECRET, s).given for s in students}) == CLASS
    fault = yours().problems[3]
    assert len({fault.for_student(SECRET, s).stub for s in students[:50]}) == 50


@pytest.mark.slow
def test_release_writes_one_notebook_a_student_and_the_same_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    roster(tmp_path, 3)
    (tmp_path / "secret").write_text(SECRET)
    command = ["release", "--book", str(ROOT), "--only", "yours", "--only", "layers"]
    command += ["--secret", str(tmp_path / "secret"), "--to", str(tmp_path / "out")]
    assert main([*command, "--roster", str(tmp_path / "roster.csv")]) == 0
    said = capsys.readouterr().out
    assert "yours.ipynb for 3 students" in said
    found = sorted(path.relative_to(tmp_path / "out") for path in tmp_path.rglob("*.ipynb"))
    assert list(map(str, found)) == [
        "release/layers/layers.ipynb",
        *(f"students/u{k:03}/yours.ipynb" for k in range(3)),
    ]
    texts = [path.read_text() for path in sorted((tmp_path / "out/students").rglob("*.ipynb"))]
    assert len(set(texts)) == 3
    assert ":yours:1:u000:" in texts[0]
    assert "This notebook is for Ada 0 (u000)" in texts[0]
    assert main([*command, "--roster", str(tmp_path / "roster.csv")]) == 0
    again = [path.read_text() for path in sorted((tmp_path / "out/students").rglob("*.ipynb"))]
    assert again == texts


def test_without_a_roster_nothing_is_drawn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["release", "--book", str(ROOT), "--only", "yours", "--to", str(tmp_path)]
    assert main(command) == 0
    assert "say --roster FILE" in capsys.readouterr().out
    assert not list(tmp_path.rglob("*.ipynb"))


@pytest.mark.parametrize("name", ["../ann", "a/b", ".ann", "", "a" * 101, "con\tx"])
def test_an_id_that_is_no_folder_s_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ProblemError, match="cannot name a folder"):
        notebook_of(Student(name), yours(), SECRET, tmp_path)


def test_a_name_is_shown_as_it_is(tmp_path: Path) -> None:
    student = Student("u1", "<img onerror=x> [a](b) $x$ *b* `c`")
    title = notebook_of(student, yours(), SECRET, tmp_path)["cells"][0]["source"]
    assert r"\<img onerror=x\> \[a\](b) \$x\$ \*b\* \`c\`" in title


# --- handed in ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small(isolated: None, tmp_path_factory: pytest.TempPathFactory) -> Class:
    found = Class(tmp_path_factory.mktemp("class"), 7)
    found.answer(0)
    found.answer(1, slipped)
    found.answer(2, by=3)
    found.answer(3, by=2)
    hand_in(found.folder / "in", "u004", "yours", found.notebooks[4])  # as it was released
    stripped = found.answer(5)
    for cell in stripped["cells"]:
        cell["metadata"] = {}
    hand_in(found.folder / "in", "u005", "yours", stripped | {"metadata": {}})
    assert found.grade() == 0
    return found


@pytest.mark.slow
def test_each_is_marked_for_problems_of_their_own(small: Class) -> None:
    assert small.points(0) == ["14", "4", "3", "4", "3"]
    assert small.points(1) == ["3", "0", "3", "0", "0"]
    assert small.points(4) == ["0", "0", "0", "0", "0"]
    assert small.points(5) == ["14", "4", "3", "4", "3"]
    assert small.points(6) == ["", "", "", "", ""]
    assert "u006" not in {path.stem for path in (small.folder / "out/feedback").iterdir()}
    assert [small.table[f"u{k:03}"]["remarks"] for k in (0, 1, 4, 5)] == [""] * 4


@pytest.mark.slow
def test_swapped_notebooks_are_nobody_s(small: Class) -> None:
    assert small.points(2) == small.points(3) == ["", "", "", "", ""]
    says = "it came as the work of u003, but its token says that its problems are those of u002"
    assert f"u003/yours.ipynb: {says}" in small.table["u003"]["remarks"]
    assert says in small.page("summary.html")


@pytest.mark.slow
@pytest.mark.usefixtures("isolated")
def test_a_second_attempt_has_problems_of_its_own_and_counts(tmp_path: Path) -> None:
    found = Class(tmp_path, 2)
    again = replace(yours(), attempt=2)
    for k, student in enumerate(found.students):
        found.answer(k, slipped if k == 0 else right)
        own = again.for_student(SECRET, student.id)
        assert not {p.given for p in own.problems} & {p.given for p in found.asked(k).problems}
        notebook = notebook_of(student, again, SECRET, tmp_path)
        solved = answered(notebook, own.problems, right if k == 0 else slipped)
        hand_in(tmp_path / "in", student.id, "yours (2)", solved)
    assert found.grade() == 0
    assert found.points(0) == ["14", "4", "3", "4", "3"]
    assert found.points(1) == ["3", "0", "3", "0", "0"]


@pytest.mark.slow
def test_feedback_shows_the_student_s_own_problem(small: Class) -> None:
    for k in (0, 1):
        text = small.page(f"feedback/u{k:03}.html")
        assert all(
            line in text
            for line in small.asked(k).problems[0].given.splitlines()
            if "<" not in line
        )
        assert small.asked(1 - k).problems[0].given.splitlines()[-1] not in text
        assert SECRET not in text


@pytest.mark.slow
def test_a_drawn_assignment_needs_a_roster(
    small: Class, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hand_in(tmp_path / "in", "u000", "yours", small.notebooks[0])
    (tmp_path / "secret").write_text(SECRET)
    command = [
        "grade",
        str(tmp_path / "in"),
        "--book",
        str(ROOT),
        "--output",
        str(tmp_path / "out"),
    ]
    assert main([*command, "--secret", str(tmp_path / "secret")]) == 2
    assert "name the roster that its notebooks were written from" in capsys.readouterr().err


def test_another_secret_than_that_of_the_release_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = Class(tmp_path, 3)
    for k in range(3):
        found.answer(k)
    (tmp_path / "other").write_text("the words of another teacher")
    assert found.grade("--secret", str(tmp_path / "other")) == 2
    said = capsys.readouterr().err
    assert "this is not the secret of the release" in said
    assert "3 of 3 notebooks" in said
    assert not (tmp_path / "out" / "grades.csv").exists()


def test_a_short_secret_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "secret").write_text("second attempt\n")
    command = ["release", "--book", str(ROOT), "--only", "layers", "--to", str(tmp_path / "out")]
    assert main([*command, "--secret", str(tmp_path / "secret")]) == 2
    assert "has 14 characters" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_no_secret_is_made_for_problems_that_are_drawn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = Class(tmp_path, 1)
    found.answer(0)
    assert found.grade("--secret", str(tmp_path / "lost")) == 2
    assert f"there is no secret in {tmp_path / 'lost'}" in capsys.readouterr().err
    assert not (tmp_path / "lost").exists()
    assert not (tmp_path / "out" / "grades.csv").exists()


@pytest.mark.parametrize(("one", "other"), [("u007", "U007"), ("007", "7"), ("0", "000")])
def test_ids_that_differ_in_case_or_zeros_alone_are_asked_the_same(one: str, other: str) -> None:
    assert student_seed(SECRET, one, "a") == student_seed(SECRET, other, "a")
    assert student_seed(SECRET, one, "a") != student_seed(SECRET, f"{other}1", "a")
