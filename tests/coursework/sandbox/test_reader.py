"""What reads submissions has a clock and a memory limit, and costs one student when it hangs."""

import functools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from coursework.collect import submissions
from coursework.collect.submissions import collect
from coursework.mark import batch
from coursework.report import alike
from coursework.sandbox.reader import OverrunError, Reader, ReaderError
from tests.coursework import readers
from tests.coursework.attacks import ASSIGNMENT, GOOD, SECRET, notebook
from tests.coursework.readers import CRASH, FAULT, HOG, LOOP
from tests.support import ROOT

SECONDS = 2.0
linux = pytest.mark.skipif(sys.platform != "linux", reason="other systems limit no memory")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Readers that give up soon."""
    for module in (batch, submissions, alike):
        monkeypatch.setattr(module, "Reader", functools.partial(Reader, SECONDS, 512 << 20))


def write(folder: Path, **comments: str) -> None:
    for student, comment in comments.items():
        path = folder / "in" / student / "a1.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(notebook(*GOOD, comment), encoding="utf-8")


def grade(folder: Path, jobs: int = 2) -> dict[str, Any]:
    found = collect(folder / "in", ["a1"]).submissions
    graded = batch.grade_all(
        found, folder / "out", {"a1": ASSIGNMENT}, SECRET, jobs=jobs, isolate=False, progress=False
    )
    return {each.submission.student: each.mark for each in graded}


def test_a_reader_calls_one_function_after_another() -> None:
    with Reader() as reader:
        assert [reader.ask(abs, -k) for k in range(3)] == [0, 1, 2]


@pytest.mark.parametrize(
    ("comment", "kind", "words"),
    [
        (LOOP, OverrunError, "took more than 0.2 s of processor time"),
        pytest.param(HOG, OverrunError, "took more than 512 MiB of memory", marks=linux),
        (FAULT, ReaderError, "ZeroDivisionError: nothing"),
        (CRASH, ReaderError, "SIGSEGV"),
    ],
)
def test_after_an_error_a_new_process_reads_on(comment: str, kind: type, words: str) -> None:
    with Reader(0.2, 512 << 20) as reader:
        before = reader.ask(os.getpid)
        with pytest.raises(kind, match=words):
            reader.ask(readers.act, comment)
        assert reader.ask(os.getpid) != before


def test_waiting_is_not_counted() -> None:
    with Reader(0.2) as reader:
        assert reader.ask(time.sleep, 0.5) is None


@linux
def test_a_submission_may_have_more_memory_than_its_reader() -> None:
    with Reader(memory=128 << 20) as reader:
        assert reader.ask(readers.allocate, 512 << 20) is None


def test_a_reader_ends_with_its_grader() -> None:
    program = (
        "import time\nfrom coursework.sandbox.reader import Reader\nreader = Reader()\n"
        "print(reader.ask(abs, -7), flush=True)\nreader.ask(time.sleep, 600)"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as grader:
        assert grader.stdout
        assert grader.stdout.readline() == b"7\n"
        grader.kill()
        grader.communicate(timeout=60)  # the reader has this pipe, too, until it ends


@linux
@pytest.mark.slow
def test_what_overruns_costs_one_student_and_once(
    small: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(batch, "_mark", readers.mark)
    write(tmp_path, ann="", bob=LOOP, cleo=HOG, dan=FAULT, eve=CRASH, zoe="")
    marks = grade(tmp_path)
    assert [mark.points for mark in marks.values()] == [5, 0, 0, 0, 0, 5]
    _, bob, cleo, dan, eve, _ = marks.values()
    assert "reading a1.ipynb took more than 2 s of processor time; take" in bob.remarks[0]
    assert "reading a1.ipynb took more than 512 MiB of memory; take" in cleo.remarks[0]
    assert dan.fault == r"ZeroDivisionError: nothing\x1b[2J"
    assert "SIGSEGV" in eve.fault
    monkeypatch.undo()
    again = grade(tmp_path)
    assert [mark.points for mark in again.values()] == [5, 0, 0, 5, 5, 5]  # faults are not kept
    assert (again["bob"], again["cleo"]) == (bob, cleo)


@pytest.mark.slow
@pytest.mark.parametrize("comment", [LOOP, CRASH])
def test_a_file_that_cannot_be_searched_goes_by_its_name(
    small: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, comment: str
) -> None:
    monkeypatch.setattr(submissions, "_look", readers.look)
    write(tmp_path, ann="", bob=comment)
    ann, bob = collect(tmp_path / "in", ["a1"]).submissions
    assert (ann.notes, bob.student) == ((), "bob")
    assert bob.notes[0].startswith("In this notebook the search for a token ")


@pytest.mark.slow
def test_an_answer_whose_shape_takes_too_long_is_like_no_other(
    small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alike, "_form", readers.form)
    steps = "    Z = Z + dH * Z - dH\n" * 20
    problem, code = ASSIGNMENT.problems[0], f"def relu_backward(dH, Z):\n{steps}    return Z\n"
    answers = [("ann", code), ("bob", f"{code}{LOOP}"), ("cleo", code)]
    assert alike.alike(problem, answers) == [["ann", "cleo"]]


@pytest.mark.slow
def test_an_interrupt_ends_the_run_at_once_and_keeps_what_is_finished(tmp_path: Path) -> None:
    write(tmp_path, ann="", bob=LOOP)
    program = (
        "import signal, sys, tests.coursework.test_grade as t\n"
        "from coursework.mark import batch\nfrom tests.coursework import readers\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "batch._mark = readers.mark\n"
        "sys.exit(t.run(t.Path(sys.argv[1]), '--no-isolation'))"
    )
    grader = subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], cwd=ROOT)
    marks = tmp_path / "out" / "marks"
    while not (marks.is_dir() and list(marks.glob("*.json"))):
        assert grader.poll() is None
        time.sleep(0.02)
    grader.send_signal(signal.SIGINT)
    assert grader.wait(timeout=30) == 130  # the clock would end it after a minute
    assert len(list(marks.glob("*.json"))) == 1
