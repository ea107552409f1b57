"""What is said of a wrong answer."""

import json

from chainlab.drills.page.drill import TOLD
from chainlab.mistakes import MISTAKES

FOUND = {
    "label": "v",
    "wrong": ["swapped", "sign"],
    "look": "Look at the marked edge",
    "hint": "v = a b",
    "right": "7",
    "given": "5",
    "words": "a path is missing",
}


def words_of(page, tries, **changed):
    given = ", ".join(json.dumps(x) for x in (FOUND | changed, tries, TOLD))
    return page.eval(f"wordsFor({given})")


def test_a_wrong_answer_is_pointed_at_then_named_then_answered(page):
    where, kind, number = (words_of(page, tries) for tries in (1, 2, 3))
    assert where == "<b>v</b> isn’t right yet. Look at the marked edge."
    sign, swapped = MISTAKES["sign"].did, MISTAKES["swapped"].did
    assert kind == f"<b>v</b>: {sign} Or: {swapped} Both give this answer. Start from v = a b."
    assert number == "<b>v is 7.</b> You wrote 5. A path is missing."
    assert words_of(page, 9) == number
    assert "7" not in where + kind


def test_one_mistake_is_told_in_full_and_too_many_are_no_diagnosis(page):
    row = MISTAKES["swapped"]
    assert words_of(page, 2, wrong=["swapped"]) == f"<b>v</b>: {row.did} {row.why}"
    three, four = ([*MISTAKES][:count] for count in (3, 4))
    assert all(MISTAKES[name].did in words_of(page, 2, wrong=three) for name in three)
    assert words_of(page, 2, wrong=four) == words_of(page, 2, wrong=[])


def test_what_is_no_usual_mistake_is_told_how_to_compute(page):
    assert "explains this answer, so take it step by step. Start from v = a b." in words_of(
        page, 2, wrong=[]
    )
    assert "There is no product." in words_of(page, 1, error="there is no product")


def test_sentences_begin_with_capitals_and_names_keep_theirs(page):
    sentences = {"a path": "A path.", "that is.": "That is.", "x is": "x is.", "λ is": "λ is.",
                 "<b>x</b>": "<b>x</b>.", "1 is": "1 is.", "": ""}  # fmt: skip
    assert {text: page.eval(f"sentence({json.dumps(text)})") for text in sentences} == sentences
