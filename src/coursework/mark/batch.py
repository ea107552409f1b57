"""Grade many submissions, several at a time, and keep every mark.

Each finished mark is a file in `OUTPUT/marks`, named by a digest of the submission, the problems,
the secret, the limits, the grader and the whole engine. So a second run takes up where the first
was stopped, and grades anew what has changed; where grader or engine have, that is everything.
"""

import functools
import hashlib
import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, Self

import numpy as np
from tqdm import tqdm

from coursework.collect.notebooks import AGAIN, UnreadableError, read_bytes, read_work
from coursework.collect.submissions import Submission
from coursework.exercise.assignments import Assignment
from coursework.mark import assess
from coursework.mark.assess import Key
from coursework.mark.marks import Mark, from_json, to_json
from coursework.printing import printable
from coursework.safe_files import write_atomically
from coursework.sandbox import jail
from coursework.sandbox.host import Limits, Sandbox, require_support
from coursework.sandbox.reader import OverrunError, Reader, ReaderError
from coursework.sources import PACKAGES, package, sources

Content = bytes | UnreadableError
SMALLER = "take long texts, data and generated code out of it"
# The grader's files that decide a mark.
DECIDING = ("exercise/*.py", "collect/*.py", "mark/*.py", "sandbox/*.py", "printing.py")


@dataclass(frozen=True)
class Graded:
    """A submission, its mark, and the key to its assignment."""

    submission: Submission
    mark: Mark
    key: Key

    @property
    def asked(self) -> Assignment:
        """Return the assignment with the problems of the submission's student."""
        return self.key.for_student(self.submission.asked).assignment


def grade_all(
    submissions: Sequence[Submission],
    output: Path,
    assignments: Mapping[str, Assignment],
    secret: str,
    *,
    limits: Limits | None = None,
    jobs: int | None = None,
    isolate: bool = True,
    hidden: Sequence[Path] = (),
    progress: bool = True,
) -> list[Graded]:
    """Grade submissions, and keep each mark in `output` as soon as it is known.

    Args:
        submissions: all submissions of a folder.
        limits: what one submission may use.
        jobs: how many to grade at a time; by default one for each core.
        isolate: False runs submissions with all the rights of the grading user.
        hidden: paths that no submission may read, such as the submissions and the secret;
            grading is refused where one could.
        progress: whether to draw a bar.

    Raises:
        IsolationError: this machine cannot isolate submissions.
        ValueError: a folder lies where submissions can read it.
        ProblemError: a reference answer fails, or takes too long.
        KeyboardInterrupt: stopped from the keyboard; the marks that were finished are kept.
    """
    limits = limits or Limits()
    asked = dict.fromkeys((each.assignment, each.attempt) for each in submissions)
    keys = {place: Key(replace(assignments[place[0]], attempt=place[1]), secret) for place in asked}
    store = _Store(output / "marks", keys, f"{_fingerprint()} {limits} {isolate}")
    kept = {submission: store.find(submission) for submission in submissions}
    marks = {submission: mark for submission, mark in kept.items() if mark}
    todo = [submission for submission in submissions if submission not in marks]
    jobs = min(jobs or _cores(), len(todo))
    require_support(isolate)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the teacher has seen those of the reference answers
        for place in dict.fromkeys((each.assignment, each.attempt) for each in todo):
            _ = keys[place].common
        with _Pool(jobs, limits, isolate) as pool:
            pool.check_hidden([output, *hidden])
            done = pool.grade(todo, store)
            bar = tqdm(done, "grading", len(submissions), initial=len(marks), disable=not progress)
            marks.update(bar)
    return [Graded(each, marks[each], keys[each.assignment, each.attempt]) for each in submissions]


class _Store:
    """The folder of finished marks, named by all that they depend on."""

    def __init__(self, folder: Path, keys: Mapping[tuple[str, int], Key], grader: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._grader = grader
        self._keys = keys

    def find(self, submission: Submission) -> Mark | None:
        """Return the mark of the submission in its present state, or None if it isn't finished."""
        try:
            path = self._path(submission, _read(submission))
            return from_json(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def save(self, submission: Submission, content: Content, mark: Mark) -> None:
        """Write the mark of a submission with this content."""
        write_atomically(self._path(submission, content), to_json(mark))

    def key(self, submission: Submission) -> Key:
        """Return the key to the assignment, before it is made the student's own."""
        return self._keys[submission.assignment, submission.attempt]

    def _path(self, submission: Submission, content: Content) -> Path:
        data = content if isinstance(content, bytes) else str(content).encode()
        key = self.key(submission).fingerprint
        # The student counts, too, because a mark belongs to one student.
        parts = [self._grader, key, submission.assignment, submission.asked, ""]
        digest = hashlib.sha256("\n".join(parts).encode() + data).hexdigest()
        return self._folder / f"{digest}.json"


@dataclass
class _Task:
    """A submission that is being graded."""

    submission: Submission
    content: Content
    key: Key
    failure: str = ""  # of the grader, at its first try

    @property
    def own_key(self) -> Key:
        return self.key.for_student(self.submission.asked)


class _Pool:
    """Readers, each with a sandbox of its own."""

    def __init__(self, jobs: int, limits: Limits, isolate: bool) -> None:
        self._how = limits, isolate
        self._readers: list[Reader] = []
        self._own: set[int] | None = None  # processes that were here before
        self.visible: tuple[Path, ...] = ()
        try:
            self._readers += (Reader() for _ in range(jobs))
            if not isolate and sys.platform == "linux":
                # What a submission starts ends with the run, even if it kills its server.
                jail.adopt_orphans()
                self._own = jail.children()
            self._open_sandboxes()
        except BaseException:
            self.close()
            raise

    def _open_sandboxes(self) -> None:
        """Fail before anything starts if this machine can't isolate."""
        for reader in self._readers:
            reader.begin(_try_sandbox, *self._how)
        for reader in self._readers:
            tried = reader.answer()
            if isinstance(tried, jail.IsolationError):
                raise tried
            self.visible = tried

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End what runs; its marks are not kept."""
        for reader in self._readers:
            reader.close()
        if self._own is not None:
            jail.end_orphans(self._own)

    def check_hidden(self, folders: Iterable[Path]) -> None:
        """Refuse folders that a submission could read because they are where libraries are."""
        for path in folders:
            for visible in self.visible:
                if path.resolve().is_relative_to(visible):
                    raise ValueError(
                        f"{path} lies in {visible}, which submissions can read; move it elsewhere"
                    )

    def grade(
        self, submissions: Sequence[Submission], store: _Store
    ) -> Iterator[tuple[Submission, Mark]]:
        """Yield each submission with its mark, as soon as it is graded."""
        # Files are read one by one: a whole class may not fit into memory.
        waiting = (_Task(each, _read(each), store.key(each)) for each in submissions)
        busy: dict[Reader, _Task] = {}
        for reader, task in zip(self._readers, waiting, strict=False):
            self._begin(reader, task, busy)
        while busy:
            links: dict[Any, Reader] = {reader.link: reader for reader in busy}
            for reader in [links[link] for link in wait([*links])]:
                task = busy.pop(reader)
                if (mark := _answer(reader, task)) is None:
                    self._begin(reader, task, busy)
                    continue
                if not mark.fault:
                    store.save(task.submission, task.content, mark)
                yield task.submission, mark
                for other in islice(waiting, 1):
                    self._begin(reader, other, busy)

    def _begin(self, reader: Reader, task: _Task, busy: dict[Reader, _Task]) -> None:
        reader.begin(_mark, task.submission, task.content, task.key, *self._how)
        busy[reader] = task


def _answer(reader: Reader, task: _Task) -> Mark | None:
    """Return the mark, or None if grading failed for the first time.

    If it fails again, in a new reader and a new sandbox, only this submission's mark says so.
    """
    try:
        mark: Mark = reader.answer()
    except OverrunError as error:
        name = printable(task.submission.path.name)
        return assess.unreadable(task.own_key, f"reading {name} {error}; {SMALLER} {AGAIN}")
    except ReaderError as error:
        if not task.failure:
            task.failure = str(error)
            return None
        return assess.ungraded(task.own_key, task.failure)
    return mark


@functools.cache
def _sandbox(limits: Limits, isolate: bool) -> Sandbox:
    """Return the sandbox of this process, a reader, which ends with it."""
    return Sandbox(limits, isolate=isolate)


def _try_sandbox(limits: Limits, isolate: bool) -> tuple[Path, ...] | jail.IsolationError:
    """Return what a submission can read, or why this machine cannot isolate one."""
    try:
        sandbox = _sandbox(limits, isolate)
        with sandbox.session():
            return sandbox.visible
    except jail.IsolationError as error:
        return error


def _mark(
    submission: Submission, content: Content, key: Key, limits: Limits, isolate: bool
) -> Mark:
    """Grade a submission, in a reader."""
    key = key.for_student(submission.asked)
    try:
        if isinstance(content, UnreadableError):
            raise content
        notebook = read_work(submission.path, content)
    except UnreadableError as error:
        return assess.unreadable(key, str(error))
    return assess.assess(notebook, key, _sandbox(limits, isolate))


def _read(submission: Submission) -> Content:
    try:
        return read_bytes(submission.path)
    except UnreadableError as error:
        return error


def _fingerprint() -> str:
    """Return a text that changes whenever this grader or the engine could mark differently."""
    own = package("coursework")
    decide = [path for pattern in DECIDING for path in sorted(own.glob(pattern))]
    engine = [path for name in PACKAGES for path in sources(package(name), "*.py")]
    files = [*decide, *engine]
    digest = hashlib.sha256(b"\n".join(path.read_bytes() for path in files)).hexdigest()
    return f"{digest} {sys.version} {np.__version__}"


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
