"""When an assignment is due, what being late costs, and which of several attempts counts."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from coursework.exercise.trusted import ProblemError

KEYS = {"due", "grace", "late", "attempts"}
DAY = timedelta(days=1)
TIME = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d)?)(?:[.,]\d+)? *(\S.*)?")
OFFSET = re.compile(r"Z|[+-]\d\d:?\d\d")


@dataclass(frozen=True)
class Terms:
    """The terms of an assignment; by default there is no due date, and the last attempt counts."""

    due: tuple[datetime, ...] = ()  # of each attempt; those without one may come at any time
    grace: timedelta = timedelta(0)  # after `due`, without consequence
    late: float = 0.0  # the share of the points that each day begun after that takes
    best: bool = False  # the attempt with the most points counts, and not the last

    def due_of(self, attempt: int) -> datetime | None:
        """Return when this attempt is due, if it is."""
        return self.due[attempt - 1] if attempt <= len(self.due) else None

    def days_late(self, handed_in: datetime | None, due: datetime | None) -> int:
        """Return how many days late something came, each day begun counted as one.

        Where nobody knows when it came, or nothing is due, the answer is 0.

        >>> due, terms = read_time("2026-05-04 18:00 +0200"), Terms(grace=timedelta(minutes=15))
        >>> [terms.days_late(read_time(f"2026-05-{t}"), due) for t in ("04 16:15", "04 16:16")]
        [0, 1]
        """
        if due is None or handed_in is None:
            return 0
        return max(0, math.ceil((handed_in - due - self.grace) / DAY))

    def taken(self, points: float, days: int) -> float:
        """Return the points that being late takes; points below 0 stay as they are."""
        return max(0.0, points) * min(1.0, self.late * days)


def read_terms(entry: Mapping[str, Any]) -> Terms:
    """Read the terms in an entry of `assignments.toml`; raise `ProblemError` if one is wrong."""
    due, grace = entry.get("due"), entry.get("grace", 0)
    late, attempts = entry.get("late", 0), entry.get("attempts", "last")
    times = tuple(due) if isinstance(due, list) else () if due is None else (due,)
    for time in times:
        if not (isinstance(time, datetime) and time.tzinfo):
            raise ProblemError(
                f"due is {time!s}; write day, time and offset, such as 2026-05-04T18:00:00+02:00, "
                f"or a list of these, one for each attempt"
            )
    if not (_is_number(grace) and grace >= 0):
        raise ProblemError(f"grace is {grace!r}; write how many minutes, such as 15")
    if not (_is_number(late) and 0 <= late <= 1):
        raise ProblemError(f"late is {late!r}; write the share that a day takes, such as 0.1")
    if attempts not in ("last", "best"):
        raise ProblemError(f'attempts is {attempts!r}; write "last" or "best"')
    return Terms(times, timedelta(minutes=grace), float(late), attempts == "best")


def read_time(text: str) -> datetime | None:
    """Read a time as platforms and teachers write it; without an offset or a zone it is UTC.

    >>> print(read_time("2026-05-04 18:00:03.12 Europe/Berlin"), read_time("yesterday"))
    2026-05-04 18:00:03+02:00 None
    """
    found = TIME.fullmatch(text.strip())
    if found is None:
        return None
    day, clock, zone = found.groups()
    try:
        if zone and OFFSET.fullmatch(zone):
            return datetime.fromisoformat(f"{day}T{clock}{zone}")
        place = ZoneInfo(zone) if zone and zone != "UTC" else UTC
        return datetime.fromisoformat(f"{day}T{clock}").replace(tzinfo=place)
    except (ValueError, ZoneInfoNotFoundError, OSError):
        return None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
