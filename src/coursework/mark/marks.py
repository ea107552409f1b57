"""What grading finds out about a submission, and its form on disk."""

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from coursework.exercise.assignments import Assignment

Verdict = Literal["right", "follows", "wrong", "failed", "missing", "judged", "open"]
Kind = Literal["automatic", "judged", "paper"]  # who found the points of a part


@dataclass(frozen=True)
class PartMark:
    """One part of an exercise: the points it got, and if it isn't right, why."""

    name: str
    points: float
    max_points: float
    # it is `right`, or `follows` rightly from a wrong result; `wrong` results came, the code
    # `failed` to give any, a name is `missing`; a person has `judged` a part, or it is `open`
    verdict: Verdict
    result: str = ""  # the name of the first that is wrong
    problem: str = ""  # what is wrong, in words; the rest goes with it
    expected: str = ""
    got: str = ""
    hint: str = ""
    kind: Kind = "automatic"
    comment: str = ""  # a person's


@dataclass(frozen=True)
class ProblemMark:
    """One exercise: its parts, the code that was called, and the sentences beside it."""

    id: str
    title: str
    parts: tuple[PartMark, ...]
    code: str = ""
    words: tuple[str, ...] = ()
    given: float | None = None  # points given by hand, and why
    why: str = ""
    comment: str = ""  # a person's, on all of it

    @property
    def points(self) -> float:
        if self.given is not None:
            return self.given
        return rounded(sum(part.points for part in self.parts))

    @property
    def max_points(self) -> float:
        return rounded(sum(part.max_points for part in self.parts))


@dataclass(frozen=True)
class Mark:
    """One submission to one assignment."""

    problems: tuple[ProblemMark, ...]
    remarks: tuple[str, ...] = ()  # what its author should know: cells that failed, for one
    seconds: float = 0.0  # of processor time
    fault: str = ""  # what went wrong in the grader, for the teacher; there is no mark yet then

    @property
    def points(self) -> float:
        return rounded(sum(problem.points for problem in self.problems))

    @property
    def max_points(self) -> float:
        return rounded(sum(problem.max_points for problem in self.problems))


def rounded(points: float) -> float:
    """Round away what binary fractions add to thirds of a point."""
    return round(points, 6)


def zero_mark(assignment: Assignment, why: str, *remarks: str, fault: str = "") -> Mark:
    """Return the mark of an assignment of which no part could be checked, with the reason."""
    problems = (
        ProblemMark(
            problem.id,
            problem.title,
            tuple(PartMark(p.name, 0.0, p.points, "missing", problem=why) for p in problem.parts),
        )
        for problem in assignment.problems
    )
    return Mark(tuple(problems), remarks, fault=fault)


def to_json(mark: Mark) -> str:
    """Return the mark as text that `from_json` reads."""
    return json.dumps(dataclasses.asdict(mark), ensure_ascii=False, indent=1)


def from_json(text: str) -> Mark:
    """Read a mark from its text; raise `ValueError` if writing it was interrupted."""
    try:
        data = json.loads(text)
        problems = tuple(_problem(problem) for problem in data["problems"])
        return Mark(problems, tuple(data["remarks"]), float(data["seconds"]))
    except (KeyError, TypeError) as error:
        raise ValueError("not a mark") from error


def _problem(data: Mapping[str, Any]) -> ProblemMark:
    parts = tuple(PartMark(**part) for part in data["parts"])
    words = tuple(data["words"])
    return ProblemMark(data["id"], data["title"], parts, data["code"], words)
