"""What a token says, and what nobody can make it say."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursework.exercise import drawing
from coursework.exercise.tokens import ForeignTokenError, Token, TokenError, find_tokens, verified
from tests.coursework.classes import SECRET
from tests.coursework.course import yours

TOKEN = Token("yours", 1, "u007", "0123456789abcdef")
IDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=30)


@given(student=IDS, attempt=st.integers(1, 999), before=st.text(max_size=9))
def test_what_is_signed_is_found_in_any_text_and_comes_back(
    student: str, attempt: int, before: str
) -> None:
    token = replace(TOKEN, student=student, attempt=attempt)
    signed = token.signed(SECRET)
    assert re.fullmatch(r"[\w.%@+~:-]+", signed, re.ASCII)  # the same in JSON, Markdown, Python
    assert find_tokens(f"{before} `{signed}`\\n") == [signed]
    assert verified(signed, SECRET) == token


@given(data=st.data())
def test_no_change_of_a_token_passes(data: st.DataObject) -> None:
    signed = TOKEN.signed(SECRET)
    k = data.draw(st.integers(0, len(signed) - 1))
    new = data.draw(st.sampled_from("0123456789abcdefuxyz:%-") | st.just(""))
    changed = signed[:k] + new + signed[k + len(new or "x") :]
    try:
        found = verified(changed, SECRET)
    except TokenError:
        return
    assert found == TOKEN


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda text: text[:-1], "cut"),
        (lambda text: text.rpartition(":")[0], "cut"),
        (lambda text: text.replace("yours", "layers"), "was altered"),
        (lambda text: text.replace("u007", "u008"), "was altered"),
        (lambda text: text.replace(":1:", ":2:"), "was altered"),
    ],
)
def test_it_is_said_what_is_wrong(change: object, error: str) -> None:
    with pytest.raises(TokenError, match=error) as raised:
        verified(change(TOKEN.signed(SECRET)), SECRET)  # type: ignore[operator]
    assert not isinstance(raised.value, ForeignTokenError)
    with pytest.raises(ForeignTokenError):
        verified(TOKEN.signed("the words of another teacher"), SECRET)


def test_students_secrets_attempts_and_problems_have_tokens_of_their_own() -> None:
    tokens = [
        replace(yours(), attempt=attempt).for_student(secret, student).token(secret, student)
        for secret in (SECRET, "another")
        for student in ("ann", "bob")
        for attempt in (1, 2)
    ]
    assert len({token.instance for token in tokens}) == 8
    assert len({token.code(SECRET) for token in tokens}) == 8
    own = yours().for_student(SECRET, "ann")
    assert own.token(SECRET, "ann") == own.token(SECRET, "ann")
    assert own.token(SECRET, "ann").instance != yours().token(SECRET, "ann").instance


def test_all_that_is_derived_comes_from_the_stretched_secret(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Trying words on whatever a student holds is then as slow as on anything else."""
    monkeypatch.setattr(drawing, "_stretched", lambda secret: b"the same")
    part = yours().problems[0].parts[0]
    for derived in (
        TOKEN.signed,
        TOKEN.code,
        lambda secret: part.seed(secret, 0),
        lambda secret: drawing.student_seed(secret, "ann", "sheet graph-1"),
    ):
        assert len({derived(secret) for secret in "xyz"}) == 1
