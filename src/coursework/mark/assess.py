"""Assess one submission: run its cells in a sandbox, ask it every check, compare, give points.

The rules:

- All code cells run in the order of the notebook, after the code that every student is given and
  but for the checks that come with the assignment: the last definition of a name counts. A cell
  that fails is noted and stops nothing else.
- A part of an exercise earns its points if every result is right for every input drawn, else 0.
  A result that follows rightly from one wrong result of an earlier part counts as right, if the
  page says how it follows.
- A cell or a call that takes too long, or ends the process, is left out, and the rest goes on in a
  new process. After `LOSSES` of these, or when the submission's time is used up, what is not
  answered yet earns nothing.

Comparing happens in this process, with values that are plain data by now, against results of the
reference answer that no submission can reach.
"""

import ast
import functools
import json
import signal
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from chaingrad.checks import Difference, first_difference
from coursework.collect.notebooks import CELL_CHARACTERS, Cell, Notebook
from coursework.exercise import following
from coursework.exercise.arithmetic import what_else
from coursework.exercise.assignments import Assignment
from coursework.exercise.drawing import derived
from coursework.exercise.problems import Part, Problem
from coursework.mark import quotes, smuggling
from coursework.mark.marks import Mark, PartMark, ProblemMark, Verdict, zero_mark
from coursework.printing import printable, undirected
from coursework.sandbox import wire
from coursework.sandbox.host import (
    Ending,
    Raised,
    Sandbox,
    Session,
    SessionEndedError,
    SessionLostError,
    signal_name,
)
from coursework.sandbox.worker import CELL_NAME

LOSSES = 4
QUOTED = 800  # characters of what a submission says
# Comparing costs time and memory with the size of a result, so the right result's size bounds it.
RESULT_BYTES, RESULT_RATIO = 2**18, 16
REMARKS = 12
Places = dict[str, tuple[str, int]]  # of names: the file, and the line in it
GIVEN = Cell(0, "")  # stands for what every student is given
UNWRITTEN = "it still raises NotImplementedError"
FOLLOWS = "what is wrong here follows from {}, where points were lost already"
LINES = "{} is to be written as lines of arithmetic, and in cell {} {}"
BORROWED = "import numpy as np\nfrom builtins import abs, len"
GIVEN_UP = "the submission had used up its time, or its processes, before this was asked"


@dataclass(frozen=True)
class CheckDraw:
    """Inputs, the reference's results, and the bytes that an answer may have at most."""

    inputs: Any
    expected: dict[str, Any]
    most: int


class Key:
    """The inputs of an assignment's checks and the reference's results, made once a batch.

    The reference answers run in this process, and some checks measure what all of it does, such as
    the memory it takes: ask for `common` before other threads run.
    """

    def __init__(self, assignment: Assignment, secret: str) -> None:
        self.assignment = assignment
        self._secret = secret

    def for_student(self, student: str) -> Self:
        """Return the key to this student's problems; problems common to all are not made again."""
        if not self.assignment.is_drawn:
            return self
        assignment = self.assignment.for_student(self._secret, student)
        own = type(self)(assignment, self._secret)
        own.common = self.common
        return own

    @functools.cached_property
    def common(self) -> dict[tuple[str, str], list[CheckDraw]]:
        """Return {(problem, part): draws} for the problems that are the same for all students."""
        return self._draws(q for q in self.assignment.problems if not q.drawing)

    @functools.cached_property
    def draws(self) -> dict[tuple[str, str], list[CheckDraw]]:
        """Return {(problem, part): draws}."""
        return self.common | self._draws(q for q in self.assignment.problems if q.drawing)

    def _draws(self, problems: Iterable[Problem]) -> dict[tuple[str, str], list[CheckDraw]]:
        return {
            (problem.id, part.name): [self._draw(problem, part, k) for k in range(part.draws)]
            for problem in problems
            for part in problem.parts
        }

    def _draw(self, problem: Problem, part: Part, k: int) -> CheckDraw:
        inputs = part.draw(self._secret, k, self.assignment.attempt)
        message = wire.encode(problem.expected(part, inputs))
        return CheckDraw(inputs, wire.decode(message), _most(len(message)))

    @functools.cached_property
    def fingerprint(self) -> str:
        """Return a digest that changes whenever a mark could."""
        problems = [asdict(replace(p, where="", judged=())) for p in self.assignment.problems]
        described = json.dumps(problems, sort_keys=True)
        return derived(self._secret, "mark", self.assignment.attempt, described).hex()


def assess(notebook: Notebook, key: Key, sandbox: Sandbox) -> Mark:
    """Return the mark of a submission."""
    own = sandbox.without_packages if key.assignment.is_alone else sandbox
    assessment = _Assessment(notebook, key, own)
    assessment.run()
    return assessment.mark()


def unreadable(key: Key, reason: str) -> Mark:
    """Return the mark of a file that is not a notebook."""
    said = f"The file could not be read: {reason}."
    return zero_mark(key.assignment, "there is nothing to grade", said)


def ungraded(key: Key, failure: str) -> Mark:
    """Return the mark of a submission at which the grader itself failed."""
    said = "This has not been graded: the grader failed."
    why = "the grader failed before this was asked"
    return zero_mark(key.assignment, why, said, fault=printable(failure)[:QUOTED])


class _Assessment:
    """The state that outlives the processes a submission loses."""

    def __init__(self, notebook: Notebook, key: Key, sandbox: Sandbox) -> None:
        self._notebook = notebook
        self._cells = notebook.cells
        self._key = key
        self._sandbox = sandbox
        self._failed: dict[int, str] = {}  # cells that raised, by number
        self._left_out: dict[int, str] = {}  # cells that took their process with them
        self._answers: dict[tuple[str, str], PartMark] = {}
        self._code: dict[str, str] = {}  # what was called, by problem
        self._at: Cell | tuple[Problem, Part] = GIVEN
        self._seconds = 0.0

    def run(self) -> None:
        """Run the cells and checks, in as many processes as it takes."""
        limits = self._sandbox.limits
        life = limits.life
        for _ in range(LOSSES + 1):
            lost = self._run_once(life)
            ending = self._sandbox.ending
            life -= ending.clock
            self._seconds += ending.cpu
            if lost is None:
                return
            self._note_loss(_reason(lost, ending))
            if self._seconds > limits.total or life <= 0:
                return

    def mark(self) -> Mark:
        """Return the mark of the submission."""
        problems = []
        for problem in self._key.assignment.problems:
            parts = tuple(
                self._answers.get((problem.id, part.name)) or _no_points(part, "failed", GIVEN_UP)
                for part in problem.parts
            )
            code = self._code.get(problem.id, "")
            said = self._notebook.words
            words = tuple(undirected(text) for name, text in said if _belongs(name, problem.id))
            problems.append(ProblemMark(problem.id, problem.title, parts, code, words))
        return Mark(tuple(problems), tuple(self._remarks()), round(self._seconds, 3))

    def _run_once(self, life: float) -> SessionLostError | None:
        with self._sandbox.session(life) as session:
            try:
                self._run_cells(session)
                self._run_checks(session)
            except SessionLostError as lost:
                return lost
        return None

    def _run_cells(self, session: Session) -> None:
        self._failed.clear()
        for problem in self._key.assignment.problems:
            self._at = GIVEN
            session.request("run", cell=GIVEN.number, source=problem.given)
        for cell in self._cells:
            if cell.is_check or cell.number in self._left_out:
                continue
            self._at = cell
            if len(cell.source) > CELL_CHARACTERS:
                self._failed[cell.number] = f"has more than {CELL_CHARACTERS:,} characters"
                continue
            answer = session.request("run", cell=cell.number, source=cell.source)
            if isinstance(answer, Raised):
                self._failed[cell.number] = f"raised {self._quote(answer)}"

    def _run_checks(self, session: Session) -> None:
        for problem in self._key.assignment.problems:
            parts = [p for p in problem.parts if (problem.id, p.name) not in self._answers]
            for part in parts:
                self._at = (problem, part)
                odd = self._take_lines(session, problem) if problem.lines else ""
                self._answers[problem.id, part.name] = (
                    _no_points(part, "failed", odd)
                    if odd
                    else self._run_check(session, problem, part)
                )

    def _take_lines(self, session: Session, problem: Problem) -> str:
        """Define the answer's functions once more, by the lines that were looked at.

        What is called then is what stands in the notebook, whatever else the submission did to its
        names. Returns why a function isn't lines; "" if it is, or isn't written yet.
        """
        for name in problem.names:
            cell, found = self._last_definition(name)
            if cell is None or found is None:
                made = session.request("defined", names=[name])
                return f"no cell defines {name} as lines of arithmetic" if made else ""
            if odd := what_else(found):
                return LINES.format(name, cell.number, odd)
            source = cell.source.splitlines()[found.lineno - 1 : found.end_lineno]
            session.request("run", cell=GIVEN.number, source=BORROWED)
            padded = "\n" * (found.lineno - 1) + "\n".join(source)
            session.request("run", cell=cell.number, source=padded)
        return ""

    def _last_definition(self, name: str) -> tuple[Cell | None, ast.stmt | None]:
        """Return the last cell that binds a name at its top level, and the statement there."""
        for cell in reversed(self._cells):
            if quotes.why_not_run(cell) or cell.number in self._left_out:
                continue
            if len(cell.source) > CELL_CHARACTERS:
                continue
            found = quotes.binding(cell, name)
            if found is not None:
                return cell, found
        return None, None

    def _run_check(self, session: Session, problem: Problem, part: Part) -> PartMark:
        """Call the driver of a part with every input, compare the results, and return the mark."""
        names = list(problem.names)
        places = _places(session.request("defined", names=names), names)
        if not places:
            return _no_points(part, "missing", self._why_missing(names))
        self._code[problem.id] = undirected(quotes.called(self._cells, places))
        slips = list[str]()
        for draw in self._key.draws[problem.id, part.name]:
            call = {"driver": part.driver, "entry": "driver", "inputs": draw.inputs}
            got = session.request("call", most=draw.most, **call)
            if isinstance(got, Raised):
                if got.type == "NotImplementedError":
                    return _no_points(part, "missing", self._why_unwritten(places, got.where))
                if lacking := [n for n in names if n not in places and repr(n) in got.message]:
                    return _no_points(part, "missing", self._why_missing(lacking))
                return _no_points(part, "failed", self._quote(got))
            wrong = _compare(part, draw.expected, got)
            slip = following.slip(part, draw.inputs, draw.expected, got) if wrong else ""
            if slip and self._has_cost_points(problem, slip):
                slips.append(slip)
            elif wrong:
                return _no_points(part, "wrong", **asdict(wrong))
        if slips:
            said = undirected(FOLLOWS.format(" and ".join(dict.fromkeys(slips))))
            return PartMark(part.name, part.points, part.points, "follows", problem=said)
        return PartMark(part.name, part.points, part.points, "right")

    def _has_cost_points(self, problem: Problem, slip: str) -> bool:
        """Return whether the part that compares this result has lost its points."""
        told = [self._answers.get((problem.id, p.name)) for p in problem.parts if slip in p.results]
        return any(mark is not None and mark.verdict == "wrong" for mark in told)

    def _note_loss(self, reason: str) -> None:
        if isinstance(self._at, Cell):
            self._left_out[self._at.number] = f"was left out: {reason}"
        else:
            problem, part = self._at
            self._answers[problem.id, part.name] = _no_points(part, "failed", reason)

    def _quote(self, error: Raised) -> str:
        """Return an exception in one line, with the line of the notebook that raised it."""
        if error.type in ("WireError", "NotPlainError"):
            return f"the result cannot be compared: {error.message}"
        text = f"{error.type}: {error.message}" if error.message else error.type
        if error.type == "TypeError" and "unexpected keyword argument" in text:
            text += "; keep the names of the arguments"
        if error.type == "ModuleNotFoundError" and "No module named" in text:
            text += "; the notebook's first cell says what may be imported"
        text += quotes.line(self._cells, *error.where) if error.where else ""
        return undirected(text)

    def _why_missing(self, names: list[str]) -> str:
        what = " and ".join(names) + (" is" if len(names) == 1 else " are")
        for cell in self._that_define(names):
            if why := self._why_not_counted(cell):
                return f"{what} not defined: cell {cell.number} {why}"
        near = quotes.nearest(self._cells, names)
        return f"{what} not defined in any cell that ran" + (f"; {near}" if near else "")

    def _why_unwritten(self, places: Places, stub: tuple[str, int] | None) -> str:
        """Say that a stub was called, and which cell may hold the answer in its place."""
        file, _ = stub or ("", 0)
        names = [name for name, place in places.items() if place[0] == file]
        at = next((c.number for c in self._cells if CELL_NAME.format(c.number) == file), 0)
        for cell in self._that_define(names):
            why = self._why_not_counted(cell)
            if cell.number < at:
                why = why or f"comes before cell {at}, and the last definition counts"
            if why and cell.number != at and not quotes.is_stub(cell):
                what = " and ".join(names)
                return f"{UNWRITTEN}; cell {cell.number} defines {what}, too, but {why}"
        return UNWRITTEN

    def _that_define(self, names: list[str]) -> list[Cell]:
        every = (*self._cells, *self._notebook.texts)
        return [cell for cell in every if names and quotes.defines(cell, names)]

    def _why_not_counted(self, cell: Cell) -> str:
        faults = self._left_out | self._failed
        return faults.get(cell.number) or quotes.why_not_run(cell)

    def _remarks(self) -> list[str]:
        faults = sorted((self._failed | self._left_out).items())
        remarks = [f"Cell {number} {fault.rstrip('.')}." for number, fault in faults]
        more = len(remarks) - REMARKS
        odd = smuggling.remarks(self._cells) if self._key.assignment.is_alone else ()
        return [*remarks[:REMARKS], *([f"{more} more cells failed."] if more > 0 else []), *odd]


def _most(length: int) -> int:
    """Return the bytes that an answer may have, which tell little of the right answer's length."""
    most = 2 * RESULT_BYTES
    while most < RESULT_BYTES + RESULT_RATIO * length:
        most *= 4
    return min(most, wire.MOST_BYTES)


def _reason(lost: SessionLostError, ending: Ending) -> str:
    if not isinstance(lost, SessionEndedError):
        return str(lost)
    if ending.forced:
        return "it closed its connection to the grader"
    if ending.status == -signal.SIGKILL:
        return "the submission used up its processor time or memory"
    return f"it ended the process ({signal_name(ending.status)})"


def _places(answer: Any, names: Sequence[str]) -> Places:
    """Return {name: (file, line)} from an answer, leaving out items of any other form."""
    found = {}
    for item in answer if isinstance(answer, list) else []:
        match item:
            case [str(name), str(file), int(line)] if name in names:
                found[name] = (file, line)
    return found


def _belongs(grade_id: str, problem: str) -> bool:
    """Return whether a cell of this name belongs to the problem."""
    return grade_id == problem or grade_id.startswith(f"{problem}-")


def _compare(part: Part, expected: dict[str, Any], got: Any) -> Difference | None:
    try:
        return first_difference(part.asked(expected), got, part.rtol, part.atol, part.hints)
    except Exception as error:  # whatever the error, only this part is wrong, not the batch
        return Difference("result", f"cannot be compared: {type(error).__name__}", "", "")


def _no_points(
    part: Part,
    verdict: Verdict,
    problem: str,
    name: str = "",
    expected: str = "",
    got: str = "",
    hint: str = "",
) -> PartMark:
    texts = (name, problem, expected, got, hint)
    name, problem, expected, got, hint = (undirected(text[:QUOTED]) for text in texts)
    worth = part.name, 0.0, part.points
    return PartMark(*worth, verdict, name, problem, expected, got, hint)
