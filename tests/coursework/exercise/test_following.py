"""One slip that runs through costs the part that it stands in, and no other."""

import csv
import json
import re
from pathlib import Path

import pytest

from coursework.__main__ import main
from coursework.exercise import following
from coursework.exercise.pages import parse
from coursework.exercise.problems import Problem, verify
from coursework.exercise.trusted import ProblemError

PAGE = '''
```{exercise-start} ★ Three steps
:label: ex-own-steps
```
Write `steps(x)`.
```{exercise-end}
```

```{solution-start} ex-own-steps
```
```{code-cell} ipython3
:coursework: {role: answer}
def steps(x):
    """x + 1, its double, and the square of that."""
    a = x + 1
    return {"a": a, "b": 2 * a, "c": (2 * a) ** 2}
```

```{code-cell} ipython3
---
coursework:
  role: check
  parts:
    - {part: first, points: 1, results: [a]}
    - {part: second, points: 1, results: [b], follows: [a]}
    - {part: third, points: 2, results: [c], follows: [a, b]}
---
def inputs(rng):
    return {"x": float(rng.uniform(1, 2))}


def driver(student, inputs):
    return {**student.steps(inputs["x"]), "kind": "steps"}


def follow(inputs, found):
    square = found["b"] ** 2 if "b" in found else 0
    return {"a": inputs["x"] + 1, "b": 2 * found["a"], "c": square}


def oracle(inputs):
    a = 1 + inputs["x"]
    return {"a": a, "b": a + a, "c": 4 * a * a, "kind": "steps"}
```
```{solution-end}
```
'''
RIGHT = {"a": 2.0, "b": 4.0, "c": 16.0, "kind": "steps"}


@pytest.fixture
def steps() -> Problem:
    return parse(PAGE)["ex-own-steps"]


def test_parts_share_a_cell_its_inputs_and_what_no_part_names(steps: Problem) -> None:
    assert [(p.name, p.points) for p in steps.parts] == [("first", 1), ("second", 1), ("third", 2)]
    assert len({p.draw("a secret", 0)["x"] for p in steps.parts}) == 1
    assert [list(p.asked(RIGHT)) for p in steps.parts] == [[n, "kind"] for n in "abc"]
    assert list(verify(steps)) == []


@pytest.mark.parametrize(
    ("found", "slips"),
    [
        ({"a": 3.0, "b": 6.0, "c": 36.0}, ["", "a", "a"]),
        ({"b": 5.0, "c": 25.0}, ["", "", "b"]),
        ({"a": 3.0, "b": 5.0, "c": 25.0}, ["", "", ""]),  # two slips
        ({"a": 3.0, "b": 6.0, "c": 35.0}, ["", "a", ""]),
        ({"c": 15.0}, ["", "", ""]),
        ({"a": 0.0, "b": 0.0, "c": 0.0}, ["", "", ""]),
        ({"a": float("nan"), "b": float("nan"), "c": float("nan")}, ["", "", ""]),
        ({"a": float("inf"), "b": float("inf"), "c": float("inf")}, ["", "", ""]),
        ({"a": [3.0], "b": [6.0], "c": [36.0]}, ["", "", ""]),
        ({"a": "3", "b": "33", "c": "3"}, ["", "", ""]),
        ({"a": None}, ["", "", ""]),
        ({"a": 3.0, "b": 6.0, "c": 36.0, "kind": "none"}, ["", "", ""]),
    ],
)
def test_what_follows_from_one_slip_is_told_from_what_does_not(
    steps: Problem, found: dict[str, object], slips: list[str]
) -> None:
    got = {**RIGHT, **found}
    assert [following.slip(p, {"x": 1.0}, RIGHT, got) for p in steps.parts] == slips


def test_a_result_that_is_missing_follows_from_nothing(steps: Problem) -> None:
    got = {"a": 3.0, "c": 36.0, "kind": "steps"}
    assert following.slip(steps.parts[2], {"x": 1.0}, RIGHT, got) == ""
    assert following.slip(steps.parts[2], {"x": 1.0}, RIGHT, [3.0, 6.0, 36.0]) == ""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("follows: [a]}", "follows: [c]}", "'second' follows 'c', which no earlier part has"),
        ("results: [b], ", "", "'results'"),
        ("points: 2, ", "points: 0, ", "0 points"),
        ("part: third, ", "part: third, draws: 3, ", "'draws'"),
        ("  role: check", "  role: check\n  part: all", "'part'"),
        ("def follow", "def fellow", "defines no function follow"),
        ("results: [c]", "results: [b]", "two of the parts compare 'b'"),
    ],
)
def test_parts_that_are_not_one_are_refused(old: str, new: str, said: str) -> None:
    with pytest.raises(ProblemError, match=re.escape(said)):
        parse(PAGE.replace(old, new))


def test_a_wrong_follow_is_found() -> None:
    problem = parse(PAGE.replace('2 * found["a"]', '3 * found["a"]'))["ex-own-steps"]
    assert any("'second', follow(inputs, found): b:" in said for said in verify(problem))


ANSWERS = {
    "ada": "def steps(x):\n    return {'a': x - 1, 'b': 2 * (x - 1), 'c': 4 * (x - 1) ** 2}",
    "bob": "def steps(x):\n    return {'a': x - 1, 'b': 3 * (x - 1), 'c': 9 * (x - 1) ** 2}",
    "cyd": "def steps(x):\n    return {'a': x + 1, 'b': 2 * x + 2, 'c': 4 * (x + 1) ** 2}",
    # Its first result is right when the first part asks for it, and wrong in what follows.
    "dan": "calls = []\ndef steps(x):\n    calls.append(x)\n    a = x + 1 + (len(calls) > 5)\n"
    "    return {'a': a, 'b': 2 * a, 'c': 4 * a ** 2}",
}


@pytest.mark.slow
@pytest.mark.usefixtures("isolated")
def test_the_part_earns_its_points_and_the_feedback_says_why(tmp_path: Path) -> None:
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters" / "page.md").write_text(PAGE)
    toml = '[[assignment]]\nname = "a"\nexercises = [{ id = "ex-own-steps", points = 4 }]\n'
    (tmp_path / "assignments.toml").write_text(toml)
    for name, code in ANSWERS.items():
        cell = {"cell_type": "code", "metadata": {}, "source": code, "outputs": []}
        notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
        path = tmp_path / "in" / name / "a.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(notebook))
    command = ["grade", str(tmp_path / "in"), "--book", str(tmp_path)]
    assert main([*command, "--output", str(tmp_path / "out")]) == 0
    with (tmp_path / "out" / "grades.csv").open(encoding="utf-8", newline="") as file:
        scores = {row["student"]: float(row["score"]) for row in csv.DictReader(file)}
    assert scores == {"ada": 3, "bob": 0, "cyd": 4, "dan": 1}
    pages = {n: (tmp_path / "out" / "feedback" / f"{n}.html").read_text() for n in ANSWERS}
    assert [name for name, page in pages.items() if "follows from" in page] == ["ada"]
