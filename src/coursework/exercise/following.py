"""Give credit where one slip runs through: results that follow rightly from a wrong one.

A part may say which results of its cell's other parts it `follows`, and the cell then has
`follow(inputs, found)`. It takes results as a student found them, the wrong one among them, and
returns what each should be, made from those before it. There is credit if exactly one of
the earlier results is not what it should be, and all of the part's own are. Two slips are none
that runs through: whoever gets half of the steps wrong hasn't followed the others.
"""

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np

from chaingrad import checks
from coursework.exercise.problems import Part
from coursework.exercise.trusted import ProblemError, errors_named, run


def slip(part: Part, inputs: Any, expected: Mapping[str, Any], got: Any) -> str:
    """Return the name of the one wrong result that the part's own follow from, or ""."""
    if not part.follow or not isinstance(got, Mapping) or _shared_is_wrong(part, expected, got):
        return ""
    names = [*part.follows, *part.results]
    found = {name: got[name] for name in names if name in got}
    if len(found) < len(names) or not all(_alike(expected[name], found[name]) for name in names):
        return ""
    try:
        with errors_named("follow(inputs, found)"), np.errstate(all="ignore"):
            follow = run(part.follow, own=part.own)["follow"]
            wanted = checks.plain(follow(copy.deepcopy(inputs), copy.deepcopy(found)))
        if not all(_alike(expected[name], wanted[name]) for name in part.results):
            return ""
        wrong = [n for n in names if _differs(part, wanted[n], found[n])]
    except (ProblemError, KeyError, TypeError):  # `follow` may not be made for what a student found
        return ""
    return wrong[0] if len(wrong) == 1 and wrong[0] in part.follows else ""


def _shared_is_wrong(part: Part, expected: Mapping[str, Any], got: Mapping[str, Any]) -> bool:
    """Return whether a result is wrong that the part compares beside its own."""
    shared = {n: x for n, x in part.asked(expected).items() if n not in part.results}
    return checks.first_difference(shared, got, part.rtol, part.atol) is not None


def _differs(part: Part, wanted: Any, found: Any) -> bool:
    named, came = {"": wanted}, {"": found}
    return checks.first_difference(named, came, part.rtol, part.atol) is not None


def _alike(expected: Any, found: Any) -> bool:
    """Return whether a result has the right one's form, is finite, and isn't 0 in its place.

    From 0, nan or infinity all that follows would be 0, nan or infinity, and right by accident.
    """
    right, came = np.asarray(expected), np.asarray(found)
    if checks.form_of(found) != checks.form_of(expected) or came.dtype.kind not in "biuf":
        return False
    return bool(np.isfinite(came).all() and (came.any() or not right.any()))
