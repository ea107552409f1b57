"""Examine one submission: run its cells in a sandbox, ask it every check, compare, give points.

The rules:

- All code cells run in the order of the notebook, after the code that every student is given and
  but for the checks that come with the assignment: the last definition of a name counts. A cell
  that fails is noted and stops nothing else.
- A part of an exercise earns its points if every result is right for every input drawn, else 0.
- A cell or a call that takes too long, or ends the process, is left out, and the rest goes on in a
  new process. After `LOSSES` of these, or when the submission's time is used up, what is not
  answered yet earns nothing.

Comparing happens in this process, with values that are plain data by now, against results of the
reference answer that no submission can reach.
"""

import functools
import hashlib
import json
import re
import signal
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from chaingrad.checks import Difference, first_difference
from coursework import wire
from coursework.marks import Mark, PartMark, ProblemMark, Verdict
from coursework.problems import Assignment, Part, Problem
from coursework.sandbox import (
    Raised,
    Sandbox,
    Session,
    SessionEndedError,
    SessionLostError,
    signal_name,
)
from coursework.submissions import Cell
from coursework.worker import CELL_NAME

LOSSES = 4
CELL_CHARACTERS = 100_000
CODE_CHARACTERS = 20_000
QUOTED = 800  # characters of what a submission says
REMARKS = 12
GIVEN = Cell(0, "")  # stands for what every student is given
GIVEN_UP = "the submission had used up its time, or its processes, before this was asked"


class Key:
    """The inputs of an assignment's checks and the reference's results, made once a batch."""

    def __init__(self, assignment: Assignment, secret: str) -> None:
        self.assignment = assignment
        self._secret = secret
        self._lock = threading.Lock()
        self._known: dict[tuple[str, str, int], tuple[Any, Any]] = {}

    def draw(self, problem: Problem, part: Part, k: int) -> tuple[Any, Any]:
        """The inputs of a draw, and what the reference answer makes of them."""
        name = (problem.id, part.name, k)
        with self._lock:
            if name not in self._known:
                inputs = part.draw(self._secret, k)
                expected = wire.decode(wire.encode(problem.expected(part, inputs)))
                self._known[name] = (inputs, expected)
            return self._known[name]

    @functools.cached_property
    def fingerprint(self) -> str:
        """Changes whenever a mark could."""
        problems = [asdict(replace(p, where="")) for p in self.assignment.problems]
        described = json.dumps(problems, sort_keys=True)
        return hashlib.sha256(f"{self._secret}\n{described}".encode()).hexdigest()


def examine(cells: Sequence[Cell], key: Key, sandbox: Sandbox) -> Mark:
    """The mark of a submission with these code cells."""
    examination = _Examination(cells, key, sandbox)
    examination.run()
    return examination.mark()


def unreadable(key: Key, reason: str) -> Mark:
    """The mark of a file that is not a notebook."""
    problems = []
    for problem in key.assignment.problems:
        parts = (_no_points(part, "missing", "there is nothing to grade") for part in problem.parts)
        problems.append(ProblemMark(problem.id, problem.title, tuple(parts)))
    return Mark(tuple(problems), (f"The file could not be read: {reason}.",))


class _Examination:
    """The state that outlives the processes a submission loses."""

    def __init__(self, cells: Sequence[Cell], key: Key, sandbox: Sandbox) -> None:
        self._cells = cells
        self._key = key
        self._sandbox = sandbox
        self._failed: dict[int, str] = {}  # cells that raised, by number
        self._left_out: dict[int, str] = {}  # cells that took their process with them
        self._answers: dict[tuple[str, str], PartMark] = {}
        self._at: Cell | tuple[Problem, Part] = GIVEN
        self._seconds = 0.0

    def run(self) -> None:
        """Go through cells and checks, in as many processes as that takes."""
        end = time.monotonic() + self._sandbox.limits.life
        for _ in range(LOSSES + 1):
            lost = self._run_once(end)
            status, seconds = self._sandbox.ending
            self._seconds += seconds
            if lost is None:
                return
            self._note_loss(_reason(lost, status))
            if self._seconds > self._sandbox.limits.total or time.monotonic() > end:
                return

    def mark(self) -> Mark:
        """What came of it."""
        problems = []
        for problem in self._key.assignment.problems:
            given_up = (_no_points(part, "failed", GIVEN_UP) for part in problem.parts)
            parts = tuple(
                self._answers.get((problem.id, part.name), nothing)
                for part, nothing in zip(problem.parts, given_up, strict=True)
            )
            problems.append(ProblemMark(problem.id, problem.title, parts, self._code(problem)))
        return Mark(tuple(problems), tuple(self._remarks()), round(self._seconds, 3))

    def _run_once(self, end: float) -> SessionLostError | None:
        with self._sandbox.session(end) as session:
            try:
                self._run_cells(session)
                self._ask_all(session)
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

    def _ask_all(self, session: Session) -> None:
        for problem in self._key.assignment.problems:
            for part in problem.parts:
                if (problem.id, part.name) not in self._answers:
                    self._at = (problem, part)
                    self._answers[problem.id, part.name] = self._ask(session, problem, part)

    def _ask(self, session: Session, problem: Problem, part: Part) -> PartMark:
        """The mark of one part: its driver is called with every input, and the results compared."""
        names = list(problem.names)
        defined = session.request("defined", names=names)
        if not isinstance(defined, list) or not set(names) & set(map(str, defined)):
            return _no_points(part, "missing", self._why_missing(names))
        for k in range(part.draws):
            inputs, expected = self._key.draw(problem, part, k)
            got = session.request("call", driver=part.driver, entry="driver", inputs=inputs)
            if isinstance(got, Raised):
                if got.type == "NotImplementedError":
                    return _no_points(part, "missing", "it still raises NotImplementedError")
                return _no_points(part, "failed", self._quote(got))
            wrong = _compare(part, expected, got)
            if wrong:
                return _no_points(part, "wrong", **asdict(wrong))
        return PartMark(part.name, part.points, part.points, "right")

    def _note_loss(self, reason: str) -> None:
        if isinstance(self._at, Cell):
            self._left_out[self._at.number] = reason
        else:
            problem, part = self._at
            self._answers[problem.id, part.name] = _no_points(part, "failed", reason)

    def _quote(self, error: Raised) -> str:
        """An exception in a line, with the line of the notebook that it came from."""
        if error.type == "WireError":
            return f"the result cannot be compared: {error.message}"
        text = f"{error.type}: {error.message}" if error.message else error.type
        if error.where is None:
            return text
        name, number = error.where
        cell = next((c for c in self._cells if CELL_NAME.format(c.number) == name), None)
        lines = cell.source.splitlines() if cell else []
        if cell is None or not 0 < number <= len(lines):
            return text
        return f"{text} (cell {cell.number}, line {number}: {lines[number - 1].strip()[:100]})"

    def _why_missing(self, names: list[str]) -> str:
        what = " and ".join(names) + (" is" if len(names) == 1 else " are")
        for cell in self._cells:
            if _defines(cell, names):
                for faults, words in ((self._failed, ""), (self._left_out, "was left out: ")):
                    if cell.number in faults:
                        fault = f"{words}{faults[cell.number]}"
                        return f"{what} not defined: cell {cell.number} {fault}"
        return f"{what} not defined in any cell that ran"

    def _code(self, problem: Problem) -> str:
        """The last cells that define the problem's names."""
        last = {n: c for c in self._cells for n in problem.names if _defines(c, [n])}
        chosen = sorted({cell.number: cell.source for cell in last.values()}.items())
        return "\n\n".join(source for _, source in chosen)[:CODE_CHARACTERS]

    def _remarks(self) -> list[str]:
        faults = {n: f"Cell {n} {fault}." for n, fault in self._failed.items()}
        faults |= {n: f"Cell {n} was left out: {why}." for n, why in self._left_out.items()}
        remarks = [faults[number] for number in sorted(faults)]
        more = len(remarks) - REMARKS
        return remarks[:REMARKS] + ([f"{more} more cells failed."] if more > 0 else [])


def _reason(lost: SessionLostError, status: int) -> str:
    if not isinstance(lost, SessionEndedError):
        return str(lost)
    if status == -signal.SIGKILL:
        return "the submission used up its processor time or memory"
    return f"it ended the process ({signal_name(status)})"


def _compare(part: Part, expected: dict[str, Any], got: Any) -> Difference | None:
    try:
        with np.errstate(all="ignore"):
            return first_difference(expected, got, part.rtol, part.atol, part.hints)
    except Exception as error:  # whatever came, it is this part that is wrong and not the batch
        return Difference("result", f"cannot be compared: {type(error).__name__}", "", "")


def _defines(cell: Cell, names: Sequence[str]) -> bool:
    name = f"(?:{'|'.join(names)})"
    pattern = rf"^(?:(?:async )?(?:def|class) +{name}\b|{name} *=[^=])"
    return re.search(pattern, cell.source, re.MULTILINE) is not None


def _no_points(part: Part, verdict: Verdict, problem: str, **more: str) -> PartMark:
    short = {key: text[:QUOTED] for key, text in more.items()}
    result = short.pop("name", "")
    return PartMark(part.name, 0.0, part.points, verdict, result, problem[:QUOTED], **short)
