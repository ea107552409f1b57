"""What a coding exercise is: its statement, its answer, and the parts of its mark."""

import ast
import copy
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, Self

import numpy as np

from chaingrad import checks
from coursework.exercise.drawing import Instance, derived_seed, draw_instance, student_seed
from coursework.exercise.stubs import make_stub
from coursework.exercise.trusted import ProblemError, errors_at, errors_named, run
from coursework.sandbox import wire

STRICT = checks.RTOL / 2  # relative: answer and oracle both compute in float64
INSTANCES = 3  # looked at, where each student's is another
DEFINITIONS = (ast.FunctionDef, ast.ClassDef)
FOREIGN = re.compile(r"\{[a-z:-]+\}`|^:::|\]\((?!https?://)|^\([\w-]+\)=", re.MULTILINE)


@dataclass(frozen=True)
class Part:
    """One check of an exercise, and the points it is worth."""

    problem: str
    name: str
    points: float
    source: str  # imports, helpers, `inputs` and `driver`, as the student may see them
    oracle: str  # the same with `oracle` too; "" where the check has none
    inputs: str  # what draws the inputs: `source` without `driver`
    driver: str  # what runs in the student's process: `source` without `inputs`
    draws: int = checks.DRAWS
    rtol: float = checks.RTOL
    atol: float = checks.ATOL
    hints: Mapping[str, str] = field(default_factory=dict)  # by the first result that is wrong
    visible: bool = True  # in the student's notebook
    private: bool = False  # from a private folder
    form: bool = False  # what students see of it looks at the form of the results alone
    own: Mapping[str, Any] = field(default_factory=dict)  # the data of a drawn instance
    cell: str = ""  # the first part of its cell, whose inputs all parts of the cell have
    results: tuple[str, ...] = ()  # the names that it compares, if its cell has other parts
    elsewhere: tuple[str, ...] = ()  # the names that these compare
    follows: tuple[str, ...] = ()  # of these, the ones that its own results are made from
    follow: str = ""  # the source of `follow`; "" where nothing follows

    def asked(self, results: Mapping[str, Any]) -> dict[str, Any]:
        """Return the results that this part compares, of all that its cell makes."""
        return {name: x for name, x in results.items() if name not in self.elsewhere}

    def seed(self, secret: str | int, k: int, attempt: int = 1) -> int:
        """Return the seed of draw ``k``, which doesn't reveal the secret."""
        return derived_seed(secret, "check", self.problem, self.cell or self.name, k, attempt)

    def draw(self, secret: str | int, k: int, attempt: int = 1) -> Any:
        """Draw the inputs of draw ``k``; they are the same on every machine."""
        return self.inputs_from(self.seed(secret, k, attempt))

    def inputs_from(self, seed: int) -> Any:
        """Draw the inputs from a generator with this seed; raise `ProblemError` if that fails."""
        with errors_named(f"{self.problem}, {self.name!r}: inputs(rng)"):
            drawn = run(self.inputs, own=self.own)["inputs"](np.random.default_rng(seed))
            wire.encode(drawn)  # refuses what cannot be sent to a submission
        return drawn


@dataclass(frozen=True)
class Judged:
    """A part that a person marks: what it is worth, and {what earns points: how many}."""

    name: str
    points: float
    rubric: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Problem:
    """An exercise that is answered with code."""

    id: str  # the exercise's label
    answer: str  # the source of the reference answer
    parts: tuple[Part, ...]
    title: str = ""
    level: str = ""
    # The cells before the answer: ("markdown" or "code", source); "own" is code that is drawn.
    statement: tuple[tuple[str, str], ...] = ()
    private: bool = False  # from a private folder
    where: str = ""  # the file it stands in
    drawing: str = ""  # the code that draws the instance of each student
    like: str = ""  # the exercise whose instance it shares
    alone: bool = False  # the answer may import the standard library and NumPy, and nothing else
    lines: bool = False  # the answer's functions must be lines of arithmetic, and are looked at
    start: str = ""  # what students start from, if not the answer without its bodies
    instance: Instance = field(default_factory=Instance)  # the book's, until somebody's is drawn
    judged: tuple[Judged, ...] = ()

    def drawn(self, seed: int) -> Self:
        """Return the problem with the instance of this seed; raise `ProblemError` if that fails."""
        with errors_at(self.id):
            made = draw_instance(self.drawing, seed)
        statement = ((kind, made.given if kind == "own" else text) for kind, text in self.statement)
        parts = tuple(replace(part, own=made.own) for part in self.parts)
        return replace(self, instance=made, statement=tuple(statement), parts=parts)

    def for_student(self, secret: str | int, student: str, attempt: int = 1) -> Self:
        """Return this student's problem: the same one for all, unless it is drawn for each."""
        if not self.drawing:
            return self
        return self.drawn(student_seed(secret, student, self.like or self.id, attempt))

    @property
    def given(self) -> str:
        """Return the code that the student is given."""
        return "\n\n".join(text for kind, text in self.statement if kind != "markdown")

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names that an answer defines."""
        body = ast.parse(self.answer).body
        return tuple(node.name for node in body if isinstance(node, DEFINITIONS))

    @property
    def points(self) -> float:
        """Return the sum of the points of the parts, and of those that a person marks."""
        return sum(part.points for part in self.parts) + sum(part.points for part in self.judged)

    @property
    def stub(self) -> str:
        """Return what the student starts from: by default the answer with its bodies taken out."""
        return self.instance.start or self.start or make_stub(self.answer)

    def expected(self, part: Part, inputs: Any) -> dict[str, Any]:
        """Return the results of the reference answer; the inputs are not changed.

        Raises:
            ProblemError: the answer fails, takes too long, or returns anything but plain data.
        """
        with errors_named(f"{self.id}, {part.name!r}: the reference answer"):
            student = SimpleNamespace(**run(self.given, self.answer, own=self.instance.own))
            driver = run(part.driver)["driver"]
            results = dict(checks.plain(driver(student, copy.deepcopy(inputs))))
            wire.encode(results)
        return results


def validate(problem: Problem) -> None:
    """Refuse a problem that lacks an answer or checks, or has foreign Markdown or bad code."""
    if not problem.answer:
        raise ProblemError(
            "checks without an exercise and its answer, and no exercise of the book has "
            "this label; correct the label, or write the exercise"
        )
    if not problem.parts:
        raise ProblemError("the answer has no check; add a cell with role: check")
    if twice := repeated(part.name for part in problem.parts):
        raise ProblemError(f"two checks are named {twice!r}; rename one")
    for kind, text in problem.statement:
        foreign = FOREIGN.search(text) if kind == "markdown" else None
        if foreign:
            raise ProblemError(
                f"the statement holds {foreign[0]!r}, which a notebook does not know; "
                f"write plain Markdown and whole addresses"
            )
    _validate_answer(problem.answer)


def _validate_answer(answer: str) -> None:
    try:
        tree = ast.parse(answer)
    except SyntaxError as error:
        raise ProblemError(f"the answer is not Python: {error}") from None
    for node in tree.body:
        if not isinstance(node, (ast.Import, ast.ImportFrom, *DEFINITIONS)):
            line = ast.get_source_segment(answer, node)
            raise ProblemError(
                f"an answer may hold only imports, functions and classes; this one has {line!r}; "
                f"move it to another cell"
            )
    if not any(isinstance(node, DEFINITIONS) for node in tree.body):
        raise ProblemError("the answer defines nothing")
    make_stub(answer)


def verify(problem: Problem, seed: str | int = 0, draws: int | None = None) -> Iterator[str]:
    """Yield what is wrong with the reference answer, by its checks; nothing if all is well.

    If the problem is drawn for each student, a few of its instances are checked.

    Raises:
        ProblemError: some code of the problem fails, or takes too long.
    """
    others = [problem.drawn(k) for k in range(1, INSTANCES)] if problem.drawing else []
    for instance in [problem, *others]:
        yield from _verify(instance, seed, draws)


def _verify(problem: Problem, seed: str | int, draws: int | None) -> Iterator[str]:
    for part in problem.parts:
        for k in range(draws or part.draws):
            drawn = part.draw(seed, k)
            got = problem.expected(part, drawn)
            if not part.oracle:
                continue
            with errors_named(f"{problem.id}, {part.name!r}: oracle(inputs)"):
                wanted = run(part.oracle, own=part.own)["oracle"](copy.deepcopy(drawn))
            rtol = min(part.rtol, STRICT)
            wrong = checks.first_difference(part.asked(wanted), got, rtol, part.atol)
            if wrong:
                yield f"{problem.where}, {problem.id}, {part.name!r}, draw {k}: {wrong}"
                break
            if part.follow:
                yield from _verify_follow(problem, part, drawn, got)


def _verify_follow(
    problem: Problem, part: Part, drawn: Any, got: Mapping[str, Any]
) -> Iterator[str]:
    """Yield what is wrong with `follow`, which must return right results from right ones."""
    names = [*part.follows, *part.results]
    right = {name: got[name] for name in names}
    with errors_named(f"{problem.id}, {part.name!r}: follow(inputs, found)"):
        found = run(part.follow, own=part.own)["follow"](copy.deepcopy(drawn), copy.deepcopy(right))
    wrong = checks.first_difference(right, found, part.rtol, part.atol)
    if wrong:
        yield f"{problem.where}, {problem.id}, {part.name!r}, follow(inputs, found): {wrong}"


def above_zero(points: Any, what: str) -> float:
    """Return points as a number; raise `ProblemError` unless they are above 0."""
    if not isinstance(points, (int, float)) or points <= 0:
        raise ProblemError(f"{what} is worth {points!r} points; it must be a number above 0")
    return float(points)


def repeated(names: Iterable[str]) -> str | None:
    """Return the first name that occurs twice."""
    return next((name for name, count in Counter(names).items() if count > 1), None)
