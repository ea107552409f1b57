"""The course's own exercises and assignments, read once, when a test asks for them."""

import tomllib
from functools import cache

from coursework.exercise.assignments import Assignment, load
from coursework.exercise.pages import read_problems
from coursework.exercise.problems import Problem
from coursework.exercise.trials import Trial, read_trials
from tests.support import ROOT

ANSWERS = ROOT / "tests" / "coursework" / "answers"
EXERCISES = sorted(path.stem for path in ANSWERS.iterdir())
_DECLARED = tomllib.loads((ROOT / "assignments.toml").read_text())["assignment"]
NAMES = [assignment["name"] for assignment in _DECLARED]
# Those whose notebook is the same for all students, and needs the engine of the course.
COMMON = [name for name in NAMES if name not in ("yours", "own-engine")]


@cache
def exercises() -> dict[str, Problem]:
    return read_problems(ROOT / "chapters")


@cache
def trials(name: str) -> list[Trial]:
    """The right and the wrong answers to an exercise."""
    return read_trials(ANSWERS, exercises()[name])


@cache
def assignments() -> dict[str, Assignment]:
    return load(ROOT / "assignments.toml", ROOT / "chapters")


def yours() -> Assignment:
    """The assignment whose problems are drawn for each student."""
    return assignments()["yours"]
