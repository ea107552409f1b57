"""One problem: a kind, a level and a seed settle its graph and its numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from chaingrad.step.drills.bank import entry
from chaingrad.step.drills.fit import EXACT, Entry, is_fit
from chaingrad.step.drills.kinds import KINDS
from chaingrad.step.drills.series import Series
from chaingrad.step.program import Program

TRIES = 4000


@dataclass(frozen=True)
class Problem:
    """A graph with numbers, and what is asked of it.

    Attributes:
        kind: what is asked; see `KINDS`.
        level: from 1 to 3.
        seed: its number in the series of the level.
        entry: the graph, its boxes and its program.
        leaves: the values of the leaves.
        values: the numbers at every place of the program.
    """

    kind: str
    level: int
    seed: int
    number: int
    entry: Entry
    leaves: Sequence[float]
    values: Sequence[float]

    @property
    def name(self) -> str:
        """Its address on the page."""
        return f"{self.kind}-{self.level}-{self.seed}"

    @property
    def right(self) -> list[float]:
        """What belongs into its boxes."""
        return [float(self.values[box["right"]]) for box in self.entry["boxes"]]


def problem(kind: str, level: int, seed: int) -> Problem:
    """Draw a problem: the same for the same arguments, here and on the page.

    Args:
        kind: "local", "chain" or "adjoints".
        level: 1, 2 or 3.
        seed: from 1 on.

    Raises:
        ValueError: there is no such problem.

    >>> found = problem("adjoints", 1, 7)
    >>> found.name, found.leaves, found.right
    ('adjoints-1-7', [2.0, 3.0], [2.0, 2.0, 2.0, 15.0])
    """
    if kind not in KINDS:
        raise ValueError(f"kind was {kind!r}; expected one of {', '.join(KINDS)}")
    levels = KINDS[kind].levels
    if not (isinstance(level, int) and 1 <= level <= len(levels)):
        raise ValueError(f"level was {level!r}; {kind} has the levels 1 to {len(levels)}")
    if not (isinstance(seed, int) and 1 <= seed < 10**9):
        raise ValueError(f"seed was {seed!r}; expected a whole number from 1 on")
    number = (seed - 1) % len(levels[level - 1])
    found = entry(kind, level, number)
    program = Program(found["constants"], found["code"], (), 0, ())
    dice = Series(f"{kind}-{level}-{seed}")
    for _ in range(TRIES):
        leaves = [dice.choose(domain) for domain in found["domains"]]
        values = program.run(leaves)
        if is_fit(found, values):
            return Problem(kind, level, seed, number, found, leaves, values)
    raise RuntimeError(f"no numbers were found for {kind}-{level}-{seed}")


def exact(x: float) -> str:
    """A number as it is written: −3, 0.5, 1/3.

    >>> exact(-3.0), exact(0.75), exact(1 / 3), exact(-5 / 12)
    ('−3', '0.75', '1/3', '−5/12')
    """
    number = Fraction(round(EXACT * x), EXACT)
    text = str(number) if 20 % number.denominator else f"{float(number):g}"
    return text.replace("-", "−")
