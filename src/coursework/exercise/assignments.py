"""Assignments, as a small TOML file makes them of the pages' exercises."""

import json
import re
import tomllib
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Self

from coursework.exercise.drawing import derived
from coursework.exercise.lateness import KEYS as TERMS
from coursework.exercise.lateness import Terms, read_terms
from coursework.exercise.pages import read_problems
from coursework.exercise.problems import Judged, Part, Problem, above_zero, repeated
from coursework.exercise.tokens import INSTANCE, Token
from coursework.exercise.trusted import ProblemError, errors_at


@dataclass(frozen=True)
class Assignment:
    """What students get in one notebook; the parts' points are those of the assignment."""

    name: str
    title: str
    problems: tuple[Problem, ...]
    attempt: int = 1  # each draws problems and inputs of its own
    terms: Terms = field(default_factory=Terms)

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


@dataclass(frozen=True)
class Paper:
    """A test on paper: its sheet's name, such as ``adjoints-2-1``, and each problem's points."""

    name: str
    title: str
    sheet: str
    points: tuple[float, ...]

    @property
    def assignment(self) -> Assignment:
        """Return it as an assignment, whose exercises are the sheet's problems."""
        problems = (
            Problem(
                f"{self.name}-{number}",
                "",
                (Part(f"{self.name}-{number}", "on paper", points, "", "", "", ""),),
                title=f"Problem {number}",
            )
            for number, points in enumerate(self.points, 1)
        )
        return Assignment(self.name, self.title, tuple(problems))


def load(assignments: Path, pages: Path, private: Path | None = None) -> dict[str, Assignment]:
    """Load the assignments of a TOML file, by name, with their problems from the folders of pages.

    Raises:
        ProblemError: the file or a page is wrong; the message says where, and what to do.
    """
    problems = read_problems(pages, private)
    data = _toml(assignments)
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


def load_papers(assignments: Path) -> dict[str, Paper]:
    """Load the tests on paper that a TOML file names, each ``[[paper]]``, by name."""
    data = _toml(assignments)
    taken = {str(entry.get("name", "")) for entry in data.get("assignment", [])}
    found: dict[str, Paper] = {}
    for entry in data.get("paper", []):
        name = str(entry.get("name", ""))
        with errors_at(f"{assignments}, {name}"):
            if name in taken or name in found:
                raise ProblemError(f"two assignments or papers have the name {name!r}")
            found[name] = _paper(name, entry)
    return found


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ProblemError(f"there is no file {path}") from None
    except tomllib.TOMLDecodeError as error:
        raise ProblemError(f"{path} is not TOML: {error}") from None


def _paper(name: str, entry: dict[str, Any]) -> Paper:
    _require_name(name)
    _require_keys(entry, {"name", "title", "sheet", "points"})
    points = entry.get("points")
    if not (isinstance(points, list) and points):
        raise ProblemError(f"points is {points!r}; write those of each problem, such as [2, 2]")
    worth = tuple(above_zero(each, f"problem {k}") for k, each in enumerate(points, 1))
    if not isinstance(entry.get("sheet"), str):
        raise ProblemError('sheet is missing; write the name of its file, such as "adjoints-2-1"')
    return Paper(name, str(entry.get("title", name)), entry["sheet"], worth)


def _require_name(name: str) -> None:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", name):
        raise ProblemError(f"an assignment needs a name of letters, digits, - and _; got {name!r}")


def _require_keys(entry: dict[str, Any], known: set[str]) -> None:
    if unknown := sorted(entry.keys() - known):
        raise ProblemError(f"there is no {unknown[0]!r} here; there are {', '.join(sorted(known))}")


def _assignment(name: str, entry: dict[str, Any], problems: dict[str, Problem]) -> Assignment:
    _require_name(name)
    _require_keys(entry, {"name", "title", "exercises", *TERMS})
    chosen = [_with_points(item, problems) for item in entry.get("exercises", [])]
    if not chosen:
        raise ProblemError("it lists no exercises; add at least one")
    if twice := repeated(problem.id for problem in chosen):
        raise ProblemError(f"{twice} is listed twice; take one out")
    if twice := repeated(name for problem in chosen for name in problem.names):
        raise ProblemError(f"two of its exercises ask for a {twice!r}; set them in two assignments")
    if len({problem.alone for problem in chosen}) > 1:
        raise ProblemError("only some of its exercises run alone; put them in two assignments")
    title = str(entry.get("title", name))
    return Assignment(name, title, tuple(chosen), terms=read_terms(entry))


def _with_points(item: Any, problems: dict[str, Problem]) -> Problem:
    """Return the problem that an entry names, with the entry's points."""
    if not isinstance(item, dict) or "id" not in item:
        raise ProblemError(f'write exercises as {{ id = "…", points = … }}; got {item!r}')
    if item["id"] not in problems:
        near = get_close_matches(item["id"], problems, 1, 0)
        hint = f"; the nearest name is {near[0]}" if near else ""
        raise ProblemError(f"there is no coding exercise {item['id']}{hint}")
    _require_keys(item, {"id", "points", "judged"})
    problem = problems[item["id"]]
    points = above_zero(item.get("points", problem.points), problem.id)
    scale = points / problem.points
    parts = tuple(replace(part, points=part.points * scale) for part in problem.parts)
    return replace(problem, parts=parts, judged=_judged(item.get("judged", []), problem.id))


def _judged(items: Any, problem: str) -> tuple[Judged, ...]:
    """Return the parts that a person marks, from a list of tables."""
    if not (isinstance(items, list) and all(isinstance(item, dict) for item in items)):
        raise ProblemError(f'{problem}: write judged as [{{ part = "…", points = … }}]')
    found = []
    for item in items:
        _require_keys(item, {"part", "points", "rubric"})
        name, rubric = str(item.get("part", "")), item.get("rubric", {})
        if not name:
            raise ProblemError(f'{problem}: a judged part needs a name, part = "…"')
        if not isinstance(rubric, dict):
            raise ProblemError(f'{problem}: write a rubric as {{ "what earns points" = 1, … }}')
        worth = {str(line): above_zero(each, repr(line)) for line, each in rubric.items()}
        points = above_zero(item.get("points", sum(worth.values())), repr(name))
        found.append(Judged(name, points, worth))
    if twice := repeated(part.name for part in found):
        raise ProblemError(f"{problem}: two judged parts are named {twice!r}; rename one")
    return tuple(found)
