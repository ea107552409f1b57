"""What the tests of the problems need."""

import functools
import json
from fractions import Fraction

import pytest

from chainlab.drills import KINDS
from chainlab.drills import problem as drawn
from chainlab.drills.kinds import numpy_equations
from chainlab.drills.kinds.kind import LEVELS

DRAWN = [pytest.mark.slow, pytest.mark.xdist_group("problems")]  # together: they draw the same
problem = functools.cache(drawn)
MANY = range(1, 201)  # the problems of a level that are looked at
CASES = [(kind, level) for kind in KINDS for level in LEVELS]
BOXES = [kind for kind in KINDS if KINDS[kind].sheet == "boxes"]


def called(page, code):
    return json.loads(page.eval(f"JSON.stringify({code})"))


def lines_typed(level, seed):
    """A problem, its form, and its arrays."""
    drawn = problem("equations", level, seed)
    of = numpy_equations.form(KINDS["equations"].forms(level)[drawn.number])
    sizes = dict(zip(of.letters, map(int, drawn.leaves), strict=True))
    return drawn, of, sizes, numpy_equations.arrays(of, [*sizes.values()], f"{drawn.name} once")


def right_lines(drawn):
    return [line["right"] for line in drawn.entry["typed"]]


def number(text):
    return float(Fraction(text.replace("−", "-")))
