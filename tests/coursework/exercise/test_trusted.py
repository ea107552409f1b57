"""What a teacher's own code raises, or never ends, is said with its name."""

import signal
import threading
import time
from pathlib import Path

import pytest

from coursework.__main__ import main
from coursework.exercise import trusted
from coursework.exercise.pages import parse
from coursework.exercise.trusted import ProblemError, errors_named
from tests.coursework.exercise.test_problems import ASSIGNMENTS, PAGE

REFERENCE = "ex-page-twice, 'numbers': the reference answer"
FAULTS = {
    "raises": ("return 2 * x", "return 1 / 0", f"{REFERENCE} raised ZeroDivisionError: "),
    "leaves": ("return 2 * x", "raise SystemExit(3)", f"{REFERENCE} raised SystemExit: 3"),
    "never ends": (
        "return 2 * x",
        "while True:\n        pass",
        f"{REFERENCE} did not finish within 0.2 s",
    ),
    "no dict": ('return {"y": student.twice(inputs["x"])}', "return 1.0", f"{REFERENCE} raised "),
    "an object": (
        "return 2 * x",
        "return object()",
        f"{REFERENCE} raised NotPlainError: y: object is not plain data",
    ),
    "inputs": (
        'return {"x": SCALE * rng.normal(size=2)}',
        "return rng",
        "ex-page-twice, 'numbers': inputs(rng) raised WireError: Generator is not plain data",
    ),
    "oracle": (
        'return {"y": inputs["x"] + inputs["x"]}',
        "return {}['y']",
        "ex-page-twice, 'numbers': oracle(inputs) raised KeyError: 'y'",
    ),
}  # fmt: skip


@pytest.fixture
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trusted, "PATIENCE", 0.2)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    (tmp_path / "chapters").mkdir()
    (tmp_path / "_config.yml").write_text("title: a book\n")
    (tmp_path / "chapters" / "page.md").write_text(PAGE)
    (tmp_path / "assignments.toml").write_text(ASSIGNMENTS)
    (tmp_path / "in" / "ann").mkdir(parents=True)
    (tmp_path / "in" / "ann" / "first.ipynb").write_text(
        '{"cells": [], "metadata": {}, "nbformat": 4}'
    )
    return tmp_path


def grade(book: Path) -> int:
    return main(
        ["grade", str(book / "in"), "--book", str(book), "--output", str(book / "out")]
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("old", "new", "said"), FAULTS.values(), ids=FAULTS)
def test_each_command_names_the_problem_and_the_part(
    book: Path,
    request: pytest.FixtureRequest,
    capsys: pytest.CaptureFixture[str],
    old: str,
    new: str,
    said: str,
) -> None:
    if "while True" in new:
        request.getfixturevalue("_soon")
    page = book / "chapters" / "page.md"
    assert PAGE.count(old) == 1
    page.write_text(PAGE.replace(old, new))
    for command, status in (("check", 1), ("release", 2)):
        options = ["--to", str(book / "to")] if command == "release" else []
        assert main([command, "--book", str(book), *options]) == status
        assert f"{page}, {said}" in capsys.readouterr().err
    assert grade(book) == 2
    assert f"{page}, {said}" in capsys.readouterr().err
    assert not (book / "out" / "grades.csv").exists()


def test_a_reference_that_fails_for_this_secret_alone_is_named(
    book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    [part] = parse(PAGE)["ex-page-twice"].parts
    known = max(abs(part.draw(0, k)["x"][0]) for k in range(part.draws))
    secrets = (f"a secret that is long enough {n}" for n in range(1000))
    secret = next(s for s in secrets if abs(part.draw(s, 0)["x"][0]) > known)
    (book / ".coursework-secret").write_text(secret)
    failing = f"return 2 * x if abs(x[0]) <= {known} else 1 / 0"
    (book / "chapters" / "page.md").write_text(PAGE.replace("return 2 * x", failing))
    assert main(["check", "--book", str(book)]) == 0
    capsys.readouterr()
    assert grade(book) == 2
    assert f"{REFERENCE} raised ZeroDivisionError" in capsys.readouterr().err


def test_a_check_without_an_oracle_is_tried_too(
    book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    oracle = PAGE[PAGE.index("def oracle") : PAGE.index("check_results(inputs")]
    page = PAGE.replace(oracle, "").replace("return 2 * x", "return y")
    (book / "chapters" / "page.md").write_text(page)
    assert main(["check", "--book", str(book)]) == 1
    assert f"{REFERENCE} raised NameError" in capsys.readouterr().err


def sleeps_on() -> None:
    for _ in range(2):
        try:
            time.sleep(60)
        except BaseException:
            continue
    time.sleep(60)


@pytest.mark.slow
@pytest.mark.usefixtures("_soon")
def test_what_swallows_exceptions_ends_all_the_same() -> None:
    start = time.monotonic()
    with pytest.raises(ProblemError, match=r"it did not finish within 0\.2 s"), errors_named("it"):
        sleeps_on()
    assert time.monotonic() - start < 30


def test_the_alarm_of_others_stays() -> None:
    before = signal.getsignal(signal.SIGALRM)
    with errors_named("it"):
        assert signal.getsignal(signal.SIGALRM) is not before
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_in_another_thread_errors_are_named_too() -> None:
    said: list[str] = []

    def work() -> None:
        try:
            with errors_named("it"):
                raise KeyError(1)
        except ProblemError as error:
            said.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert said == ["it raised KeyError: 1"]


def test_an_interrupt_is_no_fault_of_the_code() -> None:
    with pytest.raises(KeyboardInterrupt), errors_named("it"):
        raise KeyboardInterrupt
