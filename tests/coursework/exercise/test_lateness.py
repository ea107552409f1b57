"""Due dates, days late, and what they take."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursework.exercise.lateness import DAY, Terms, read_terms, read_time
from coursework.exercise.trusted import ProblemError

DUE = datetime(2026, 5, 4, 18, tzinfo=timezone(timedelta(hours=2)))
MOMENTS = st.datetimes(
    datetime(2026, 4, 1), datetime(2026, 7, 1), timezones=st.sampled_from([UTC, DUE.tzinfo])
)


@given(MOMENTS, st.integers(0, 3 * 24 * 60), st.floats(0, 1), st.floats(0, 100))
def test_a_day_begun_is_a_day_and_no_more_is_taken_than_there_is(
    came: datetime, grace: int, late: float, points: float
) -> None:
    terms = Terms((DUE,), timedelta(minutes=grace), late)
    days = terms.days_late(came, terms.due_of(1))
    over = came - DUE - terms.grace
    assert (days == 0) == (over <= timedelta(0))
    assert days == 0 or days - 1 < over / DAY <= days
    assert 0 <= terms.taken(points, days) <= points
    assert terms.days_late(came, came) == 0


def test_each_attempt_has_a_due_date_of_its_own_or_none() -> None:
    later = DUE + 30 * DAY
    assert [read_terms({"due": DUE}).due_of(k) for k in (1, 2)] == [DUE, None]
    terms = read_terms({"due": [DUE, later]})
    assert [terms.due_of(k) for k in (1, 2, 3)] == [DUE, later, None]


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("2026-05-04 16:00:00", 0),  # as nbgrader writes it
        ("2026-05-04 16:00:00.123456 UTC", 0),
        ("2026-05-04 18:00:00 +0200", 0),  # as Gradescope writes it
        ("2026-05-04T18:00+02:00", 0),
        ("2026-05-04 16:00Z", 0),
        ("2026-05-04 09:00 America/Los_Angeles", 0),
        ("2026-05-04 17:30", 1.5),
    ],
)
def test_times_are_read_as_platforms_write_them(text: str, hours: float) -> None:
    found = read_time(text)
    assert found is not None
    assert abs((found - DUE).total_seconds() - 3600 * hours) < 1


@pytest.mark.parametrize(
    "text", ["", "tomorrow", "2026-13-01 10:00", "2026-05-04 25:00", "2026-05-04 10:00 Nowhere/At"]
)
def test_what_is_no_time_is_none(text: str) -> None:
    assert read_time(text) is None


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ({"due": datetime(2026, 5, 4, 18)}, r"\+02:00"),
        ({"due": "2026-05-04"}, "day, time and offset"),
        ({"due": [DUE, 7]}, "due is 7"),
        ({"grace": -1}, "minutes"),
        ({"late": 10}, "0.1"),
        ({"late": True}, "0.1"),
        ({"attempts": "first"}, '"best"'),
    ],
)
def test_terms_that_cannot_be_are_refused(entry: dict[str, Any], says: str) -> None:
    with pytest.raises(ProblemError, match=says):
        read_terms(entry)
