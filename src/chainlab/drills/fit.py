"""Which numbers make a good problem."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from chainlab.drills.series import Series
from chainview.figures.program import PageProgram

EXACT = 60  # numbers are multiples of one part of this
CLOSE = 1e-9
TRIED = 120  # settings, to find mistakes that no numbers tell apart
OFTEN = 0.04  # of the settings, at least, make a problem

Entry = Mapping[str, Any]


def values_of(found: Entry, leaves: Sequence[float]) -> list[float]:
    """Return the numbers at every place of the program."""
    return list(map(float, PageProgram(found["constants"], found["code"], (), 0, ()).run(leaves)))


def settle(found: dict[str, Any]) -> None:
    """Leave out mistakes that differ from the others on hardly any numbers, the worst first."""
    dice = Series("settle")
    drawn = (values_of(found, list(map(dice.choose, found["domains"]))) for _ in range(TRIED))
    runs = [run for run in drawn if are_small(found, run)]
    if "variants" in found:
        found["variants"] = [
            variant
            for variant in found["variants"]
            if sum(is_found(found, variant, values) for values in runs) >= OFTEN * TRIED
        ]
        return
    while sum(is_fit(found, values) for values in runs) < max(1, OFTEN * TRIED):
        unseen = Counter(
            name
            for values in runs
            for name in names_of(found)
            if not any(_shows(name, box, values) for box in found["boxes"])
        )
        if not unseen:
            break
        worst = min(unseen, key=lambda name: (-unseen[name], name))
        for box in found["boxes"]:
            box["slips"] = [slip for slip in box["slips"] if slip[0] != worst]


def is_fit(found: Entry, values: Sequence[float]) -> bool:
    """Return whether numbers are small and exact, and every mistake shows in a box."""
    return are_small(found, values) and all(
        any(_shows(name, box, values) for box in found["boxes"]) for name in names_of(found)
    )


def is_found(found: Entry, variant: Mapping[str, Any], values: Sequence[float]) -> bool:
    """Return whether a wrong message differs from the right one and from other mistakes there."""
    fault = variant["fault"]
    told = [found["edges"][fault]["right"]]
    for other in found["variants"]:
        if other["fault"] == fault and other is not variant:
            told.append(other["sent"][fault])
    number = values[variant["sent"][fault]]
    shown = [*variant["sent"], *variant["sums"].values()]
    return all(is_small(values[place], found["most"]) for place in shown) and not any(
        abs(number - values[place]) < CLOSE for place in told
    )


def are_small(found: Entry, values: Sequence[float]) -> bool:
    """Return whether all numbers that are shown or asked for are small and exact."""
    places = [place for _, place, _ in found["shown"]] + [box["right"] for box in found["boxes"]]
    clear = all(abs(values[place]) > CLOSE for place in found["kinks"])
    return clear and all(is_small(values[place], found["most"]) for place in places)


def names_of(found: Entry) -> list[str]:
    """Return the mistakes of a problem."""
    return sorted({slip[0] for box in found["boxes"] for slip in box["slips"]})


def is_small(x: float, most: float) -> bool:
    """Return whether a number is a multiple of one sixtieth, and no larger than ``most``."""
    return abs(x) <= most and abs(EXACT * x - round(EXACT * x)) < CLOSE


def _shows(name: str, box: dict[str, Any], values: Sequence[float]) -> bool:
    """Return whether a mistake differs in a box from the right number and other mistakes."""
    own = [values[slip[1]] for slip in box["slips"] if slip[0] == name]
    others = [values[slip[1]] for slip in box["slips"] if slip[0] != name]
    others.append(values[box["right"]])
    return any(math.isfinite(x) and all(not abs(x - y) < CLOSE for y in others) for x in own)
