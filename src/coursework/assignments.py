"""Assignments, as a small TOML file makes them of the pages' exercises."""

import json
import re
import tomllib
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Self

from coursework.drawing import derived
from coursework.pages import read_problems
from coursework.problems import Problem, above_zero, repeated
from coursework.tokens import INSTANCE, Token
from coursework.trusted import ProblemError, errors_at


@dataclass(frozen=True)
class Assignment:
    """What students get in one notebook; the parts' points are those of the assignment."""

    name: str
    title: str
    problems: tuple[Problem, ...]
    attempt: int = 1  # each draws problems and inputs of its own

    @property
    def points(self) -> float:
        """Return the sum of the points of all problems."""
        return sum(problem.points for problem in self.problems)

    @property
    def is_drawn(self) -> bool:
        """Return whether any problem is drawn for each student."""
        return any(problem.drawing for problem in self.problems)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names that answers define."""
        return tuple(name for problem in self.problems for name in problem.names)

    @property
    def is_alone(self) -> bool:
        """Return whether answers may import only the standard library and NumPy."""
        return any(problem.alone for problem in self.problems)

    def for_student(self, secret: str, student: str) -> Self:
        """Return the assignment with this student's problems."""
        own = (problem.for_student(secret, student, self.attempt) for problem in self.problems)
        return replace(self, problems=tuple(own))

    def token(self, secret: str, student: str = "") -> Token:
        """Return the token of a notebook that holds exactly these problems."""
        asked = [
            [
                problem.id,
                *problem.names,
                json.dumps(problem.instance.own) if problem.drawing else "",
            ]
            for problem in self.problems
        ]
        instance = derived(secret, "what is asked", json.dumps(asked)).hex()[:INSTANCE]
        return Token(self.name, self.attempt, student if self.is_drawn else "", instance)


def load(assignments: Path, pages: Path, private: Path | None = None) -> dict[str, Assignment]:
    """Load the assignments of a TOML file, by name, with their problems from the folders of pages.

    Raises:
        ProblemError: the file or a page is wrong; the message says where, and what to do.
    """
    problems = read_problems(pages, private)
    try:
        data = tomllib.loads(assignments.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ProblemError(f"there is no file {assignments}") from None
    except tomllib.TOMLDecodeError as error:
        raise ProblemError(f"{assignments} is not TOML: {error}") from None
    found: dict[str, Assignment] = {}
    for entry in data.get("assignment", []):
        name = str(entry.get("name", ""))
        with errors_at(f"{assignments}, {name}"):
            if name in found:
                raise ProblemError(f"two assignments have the name {name!r}")
            found[name] = _assignment(name, entry, problems)
    if not found:
        raise ProblemError(f"{assignments} holds no [[assignment]]")
    return found


def _assignment(name: str, entry: dict[str, Any], problems: dict[str, Problem]) -> Assignment:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", name):
        raise ProblemError(f"an assignment needs a name of letters, digits, - and _; got {name!r}")
    chosen = [_with_points(item, problems) for item in entry.get("exercises", [])]
    if not chosen:
        raise ProblemError("it lists no exercises; add at least one")
    if twice := repeated(problem.id for problem in chosen):
        raise ProblemError(f"{twice} is listed twice; take one out")
    if twice := repeated(name for problem in chosen for name in problem.names):
        raise ProblemError(f"two of its exercises ask for a {twice!r}; set them in two assignments")
    if len({problem.alone for problem in chosen}) > 1:
        raise ProblemError("only some of its exercises run alone; put them in two assignments")
    return Assignment(name, str(entry.get("title", name)), tuple(chosen))


def _with_points(item: Any, problems: dict[str, Problem]) -> Problem:
    """Return the problem that an entry names, with the entry's points."""
    if not isinstance(item, dict) or "id" not in item:
        raise ProblemError(f'write exercises as {{ id = "…", points = … }}; got {item!r}')
    if item["id"] not in problems:
        near = get_close_matches(item["id"], problems, 1, 0)
        hint = f"; the nearest name is {near[0]}" if near else ""
        raise ProblemError(f"there is no coding exercise {item['id']}{hint}")
    problem = problems[item["id"]]
    points = above_zero(item.get("points", problem.points), problem.id)
    scale = points / problem.points
    parts = tuple(replace(part, points=part.points * scale) for part in problem.parts)
    return replace(problem, parts=parts)
