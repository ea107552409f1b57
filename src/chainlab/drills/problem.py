"""One problem: a kind, a level and a seed settle its graph and its numbers."""

from chainlab.drills.kind import LEVELS, Problem
from chainlab.drills.kinds import KINDS
from chainlab.drills.series import Series


def problem(kind: str, level: int, seed: int) -> Problem:
    """Draw a problem: the same for the same arguments.

    Args:
        kind: a name in ``chainlab.drills.KINDS``.
        level: 1, 2 or 3.
        seed: from 1 on; the page has the first 200.

    Raises:
        ValueError: there is no such problem.

    >>> found = problem("adjoints", 1, 7)
    >>> found.name, found.leaves, found.right
    ('adjoints-1-7', [3.0, 1.0], [3.0, 3.0, 3.0, 19.0])
    """
    if kind not in KINDS:
        raise ValueError(f"kind was {kind!r}; expected one of {', '.join(KINDS)}")
    if level not in LEVELS:
        raise ValueError(f"level was {level!r}; {kind} has the levels 1 to {len(LEVELS)}")
    if not (isinstance(seed, int) and 1 <= seed < 10**9):
        raise ValueError(f"seed was {seed!r}; expected a whole number from 1 on")
    return KINDS[kind].draw(level, Series(f"{kind}-{level}-{seed}", seed))
