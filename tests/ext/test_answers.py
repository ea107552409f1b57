"""Answers to exercises, checked as the page checks them, by the same program."""

import json
import warnings
from typing import Any

import numpy as np
import pytest

from answers.checker import check
from coursework.exercise.pages import parse
from coursework.release import page_exercise
from tests.coursework.course import EXERCISES, exercises, trials
from tests.coursework.exercise.test_problems import PAGE
from tests.support import each

TWICE = page_exercise(parse(PAGE)["ex-page-twice"])


def verdicts(exercise: dict[str, Any], answer: str) -> list[dict[str, str]]:
    """What the page says of an answer, of what it is sent as."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return list(check(json.loads(json.dumps(exercise)), answer))


def said(exercise: dict[str, Any], answer: str) -> list[str]:
    return [f"{v['part']}, {v['verdict']}: {v['says']}" for v in verdicts(exercise, answer)]


@each("name", EXERCISES)
def test_the_reference_answer_passes(name: str) -> None:
    found = verdicts(page_exercise(exercises()[name]), exercises()[name].answer)
    assert [v["verdict"] for v in found] == ["right"] * len(exercises()[name].parts)


@each("name", EXERCISES)
def test_the_stub_is_not_yet_an_answer(name: str) -> None:
    found = verdicts(page_exercise(exercises()[name]), exercises()[name].stub)
    assert {v["verdict"] for v in found} == {"empty"}


@pytest.mark.walk
@pytest.mark.slow
@each("name", EXERCISES)
def test_each_mistake_fails_the_checks_that_it_should(name: str) -> None:
    exercise = page_exercise(exercises()[name])
    for trial in trials(name):
        found = [v["verdict"] for v in verdicts(exercise, trial.code)]
        assert set(found) != {"right"} or not any(trial.finds), trial.why
        for verdict, lost in zip(found, trial.finds, strict=True):
            # What raises on the inputs that count may be no more than wrong on these.
            wanted = ["wrong", *["failed"] * ("raises" in lost)] if lost else ["right"]
            wanted += ["right"] * (lost == "*")  # where the drawn instance decides
            assert verdict in wanted, trial.why


def test_a_drawn_exercise_is_looked_at_whole_on_its_page() -> None:
    """A student's notebook looks at the form alone; on the page the answer is nobody's mark."""
    exercise = page_exercise(exercises()["ex-own-adjoints"])
    start = exercises()["ex-own-adjoints"].stub
    [says] = said(exercise, f"{start}\n")
    assert says.startswith("your answer, empty: this is what you started from")
    assert verdicts(exercise, start.replace("None", "0"))[0]["verdict"] == "wrong"


def test_the_first_wrong_result_is_named_with_its_hint() -> None:
    [says] = said(TWICE, "def twice(x):\n    return 3 * x")
    assert says.startswith("numbers, wrong: the first wrong result is\ny: ")
    assert "expected" in says
    assert "every entry is 1.5 times what is expected; twice" in says


@each(
    ("answer", "expected"),
    [
        ("def double(x):\n    return x", "your answer, failed: it defines no twice"),
        ("def twice(x:\n    return x", 'File "<your answer>", line 1'),
        ("1 / 0\ndef twice(x):\n    return x", "ZeroDivisionError"),
        ("def twice(x):\n    assert x is None", "AssertionError"),
        ("def twice(x):\n    return np.foo", 'File "<your answer>", line 2, in twice'),
        ("def twice(x):\n    exit()", "SystemExit"),
    ],
)
def test_an_answer_that_fails_is_shown_from_its_own_line_on(answer: str, expected: str) -> None:
    [says] = said(TWICE, answer)
    assert expected in says
    assert ", failed: " in says
    assert "checker.py" not in says


def test_an_answer_leaves_nothing_behind() -> None:
    assert verdicts(TWICE, BOOK_ANSWER)[0]["verdict"] == "right"
    assert verdicts(TWICE, "def twice(x):\n    return helper(x)")[0]["verdict"] == "failed"


BOOK_ANSWER = "def helper(x):\n    return x + x\n\ndef twice(x):\n    return helper(x)"
