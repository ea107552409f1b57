"""Grade many submissions, several at a time, and keep every mark.

Each finished mark is a file in `OUTPUT/marks`, named by a digest of the submission, the problems,
the secret, the limits, the grader and the whole engine. So a second run takes up where the first
was stopped, and grades anew what has changed; where grader or engine have, that is everything. Runs
that share the output folder, each with a part of the submissions, need nothing more than that.
"""

import hashlib
import os
import queue
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np
from tqdm import tqdm

from coursework import assess
from coursework.assess import Key
from coursework.assignments import Assignment
from coursework.files import write_atomically
from coursework.marks import Mark, from_json, to_json
from coursework.notebooks import UnreadableError, read_bytes, read_work
from coursework.sandbox import jail
from coursework.sandbox.host import Limits, Sandbox
from coursework.sources import PACKAGES, package, sources
from coursework.submissions import Submission

Content = bytes | UnreadableError
# The grader's files that decide a mark.
DECIDING = (
    "assess.py", "drawing.py", "following.py", "formats.py", "lines.py", "marks.py", "names.py",
    "notebooks.py", "outputs.py", "printing.py", "problems.py", "quotes.py", "smuggling.py",
    "submissions.py", "sandbox/*.py",
)  # fmt: skip


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
        submissions: all submissions of a folder, or some of them.
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
    # The teacher needn't see warnings from students' code and values. All threads share Python's
    # filters, so we set them before any thread starts.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
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
        self.keys = keys

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

    def _path(self, submission: Submission, content: Content) -> Path:
        data = content if isinstance(content, bytes) else str(content).encode()
        key = self.keys[submission.assignment, submission.attempt].fingerprint
        # The student counts, too, because a mark belongs to one student.
        parts = [self._grader, key, submission.assignment, submission.asked, ""]
        digest = hashlib.sha256("\n".join(parts).encode() + data).hexdigest()
        return self._folder / f"{digest}.json"


class _Pool:
    """Threads, each with a sandbox of its own."""

    def __init__(self, jobs: int, limits: Limits, isolate: bool) -> None:
        self._limits = limits
        self._isolate = isolate
        self._threads = ThreadPoolExecutor(max(1, jobs))
        self._free: queue.SimpleQueue[Sandbox] = queue.SimpleQueue()
        self._opened: list[Sandbox] = []
        self._lock = threading.Lock()
        self._closed = False
        self.visible: tuple[Path, ...] = ()
        self._adopts = not isolate and sys.platform == "linux"
        if self._adopts:  # what a submission starts ends with the run, even if it kills its server
            jail.adopt_orphans()
            self._own = jail.children()
        try:
            for _ in range(jobs):
                sandbox = self._open()
                self._free.put(sandbox)
                self.visible = sandbox.visible
                with sandbox.session():
                    pass  # fail before anything starts if this machine can't isolate
        except BaseException:
            self.close()
            raise

    def _open(self) -> Sandbox:
        with self._lock:
            if self._closed:
                raise RuntimeError("the pool is closed")
            sandbox = Sandbox(self._limits, isolate=self._isolate)
            self._opened.append(sandbox)
            return sandbox

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Drop what waits, end what runs (its marks are not kept), wait for the threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            self._closed = True
            for sandbox in self._opened:
                sandbox.close()
        self._threads.shutdown()
        if self._adopts:
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
        futures = {self._threads.submit(self._grade_one, each, store): each for each in submissions}
        for future in as_completed(futures):
            yield futures[future], future.result()

    def _grade_one(self, submission: Submission, store: _Store) -> Mark:
        content = _read(submission)  # read again: a whole class may not fit into memory
        key = store.keys[submission.assignment, submission.attempt].for_student(submission.asked)
        sandbox = self._free.get()
        try:
            mark, sandbox = self._try_twice(submission, content, key, sandbox)
        finally:
            self._free.put(sandbox)
        if not mark.fault:
            store.save(submission, content, mark)
        return mark

    def _try_twice(
        self, submission: Submission, content: Content, key: Key, sandbox: Sandbox
    ) -> tuple[Mark, Sandbox]:
        """Return the mark and a sandbox for the next submission; retry once in a new sandbox.

        If grading fails again, only this submission's mark says so.
        """
        try:
            return _mark(submission, content, key, sandbox), sandbox
        except Exception as error:
            first = error
        try:
            sandbox.close()
            sandbox = self._open()
            return _mark(submission, content, key, sandbox), sandbox
        except Exception:
            if self._closed:
                raise
            return assess.ungraded(key, first), sandbox


def _mark(submission: Submission, content: Content, key: Key, sandbox: Sandbox) -> Mark:
    try:
        if isinstance(content, UnreadableError):
            raise content
        notebook = read_work(submission.path, content)
    except UnreadableError as error:
        return assess.unreadable(key, str(error))
    return assess.assess(notebook, key, sandbox)


def _read(submission: Submission) -> Content:
    try:
        return read_bytes(submission.path)
    except UnreadableError as error:
        return error


def _fingerprint() -> str:
    """Return a text that changes whenever this grader or the engine could mark differently."""
    own = Path(__file__).parent
    decide = [path for pattern in DECIDING for path in sorted(own.glob(pattern))]
    engine = [path for name in PACKAGES for path in sources(package(name), "*.py")]
    files = [*decide, *engine]
    digest = hashlib.sha256(b"\n".join(path.read_bytes() for path in files)).hexdigest()
    return f"{digest} {sys.version} {np.__version__}"


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
