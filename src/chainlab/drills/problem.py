"""One problem: a kind, a level and a seed settle its graph and its numbers."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from chainlab.drills import equations, tiles
from chainlab.drills.bank import entry
from chainlab.drills.fit import EXACT, Entry, is_fit, is_found, values_of
from chainlab.drills.formulas import Matrix
from chainlab.drills.kinds import KINDS, LEVELS
from chainlab.drills.series import Series

TRIES = 4000


@dataclass(frozen=True)
class Problem:
    """A graph with numbers, and what is asked of it.

    Attributes:
        kind: what is asked; see ``KINDS``.
        level: from 1 to 3.
        seed: its number in the series of the level.
        entry: the graph, its boxes and its program.
        leaves: the values of the leaves.
        values: the numbers at every place of the program.
        names: what nodes are called here, where that is drawn, too.
        variant: the backward pass with a wrong message that is shown.
        known: the matrices of tiles, by name; ``values`` are their sizes then, as of typed lines.
    """

    kind: str
    level: int
    seed: int
    number: int
    entry: Entry
    leaves: Sequence[float]
    values: Sequence[float]
    names: Mapping[str, str]
    variant: Mapping[str, Any] | None
    known: Mapping[str, Matrix] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its address on the page."""
        return f"{self.kind}-{self.level}-{self.seed}"

    @property
    def right(self) -> list[float]:
        """The numbers that belong into its boxes."""
        return [float(self.values[box["right"]]) for box in self.entry["boxes"]]

    def filled(self, text: str) -> str:
        """Return a text with its places filled with their numbers."""
        return re.sub(r"\{(\d+)\}", lambda mark: exact(self.values[int(mark[1])]), text)


def problem(kind: str, level: int, seed: int) -> Problem:
    """Draw a problem: the same for the same arguments, here and on the page.

    Args:
        kind: a name in ``chainlab.drills.KINDS``.
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
    if level not in LEVELS:
        raise ValueError(f"level was {level!r}; {kind} has the levels 1 to {len(LEVELS)}")
    if not (isinstance(seed, int) and 1 <= seed < 10**9):
        raise ValueError(f"seed was {seed!r}; expected a whole number from 1 on")
    forms = KINDS[kind].forms(level)
    number = (seed - 1) % len(forms)
    text = forms[number]
    found = entry(kind, level, number)
    dice = Series(f"{kind}-{level}-{seed}")
    names = _shuffled(found.get("letters", {}), dice)
    variant = dice.choose(found["variants"]) if "variants" in found else None
    if "lines" in found:
        sizes, known = tiles.draw(text, dice)
        return Problem(kind, level, seed, number, found, [], sizes, names, None, known)
    if "typed" in found:
        sizes = equations.draw_sizes(equations.form(text), dice)
        return Problem(kind, level, seed, number, found, [], sizes, names, None)
    for _ in range(TRIES):
        leaves = list(map(dice.choose, found["domains"]))
        values = values_of(found, leaves)
        if is_fit(found, values) and (variant is None or is_found(found, variant, values)):
            return Problem(kind, level, seed, number, found, leaves, values, names, variant)
    raise RuntimeError(f"no numbers were found for {kind}-{level}-{seed}")


def _shuffled(letters: Mapping[str, str], dice: Series) -> dict[str, str]:
    """Return the names that nodes have in this problem."""
    names = list(letters.values())
    for last in range(len(names) - 1, 0, -1):
        other = dice.below(last + 1)
        names[last], names[other] = names[other], names[last]
    return dict(zip(letters, names, strict=True))


def exact(x: float) -> str:
    """Return a number as we write it: −3, 0.5, 1/3.

    >>> exact(-3.0), exact(0.75), exact(1 / 3), exact(-5 / 12)
    ('−3', '0.75', '1/3', '−5/12')
    """
    number = Fraction(round(EXACT * x), EXACT)
    text = str(number) if 20 % number.denominator else f"{float(number):g}"
    return text.replace("-", "−")
