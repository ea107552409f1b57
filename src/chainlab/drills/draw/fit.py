"""Which numbers make a good problem: small ones, on which every mistake shows."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TypeVar

from chainlab.drills.draw.box import Box
from chainlab.drills.draw.series import Series
from chainlab.drills.draw.small_numbers import CLOSE
from chainlab.mistakes import Mistake

GENERIC = 5  # settings that tell apart what is not the same
TRIED = 120  # settings, to find mistakes that no numbers tell apart
OFTEN = 0.04  # of the settings, at least, make a problem
TRIES = 4000
SAID = 4  # names of mistakes that always give the same number

Choose = Callable[[Sequence[float]], float]
Boxes = Sequence[Box]
Places = Collection[tuple[int, int]]  # boxes, and mistakes in them
Results = tuple[list[float], list[tuple[int, tuple[float, ...]]]]
T = TypeVar("T")


def generic(draw: Callable[[Choose], T]) -> list[T]:
    """Draw settings that have no number twice by chance."""
    dice = Series("generic")
    return [draw(lambda d: dice.choose(d) * (1 + dice.below(99) / 997)) for _ in range(GENERIC)]


def apart(right: Sequence[float], wrong: Iterable[tuple[T, Sequence[float]]]) -> Iterator[T]:
    """Yield what gives another result than what is right, and than those before it."""
    digits = {_digits(right)}
    for each, gives in wrong:
        if _digits(gives) not in digits:
            digits.add(_digits(gives))
            yield each


def _digits(results: Sequence[float]) -> tuple[float, ...]:
    return tuple(float(f"{x:.9g}") for x in results)


def distinct(runs: Sequence[Boxes]) -> Places:
    """Return the mistakes that differ from what is right, and from those before."""
    return {(i, k) for i, box in _results(runs) for k in apart(*box)}


def tellable(runs: Sequence[Boxes]) -> Places:
    """Return the mistakes that differ from what is right: of one number, those of four names."""
    places = set[tuple[int, int]]()
    for i, (right, made) in _results(runs):
        names = {_digits(right): [""] * SAID}
        for k, gives in made:
            name, met = runs[0][i].mistakes[k].name, names.setdefault(_digits(gives), [])
            if name not in met and len(met) < SAID:
                met.append(name)
                places.add((i, k))
    return places


def _results(runs: Sequence[Boxes]) -> Iterator[tuple[int, Results]]:
    """Yield what is right in each box, and what its mistakes give, in all runs."""
    for i, boxes in enumerate(zip(*runs, strict=True)):
        made = zip(*([x.gives for x in box.mistakes] for box in boxes), strict=True)
        yield i, ([box.right for box in boxes], list(enumerate(made)))


def settled(runs: Sequence[Boxes], places: Places) -> Places:
    """Leave out mistakes that differ from the others on hardly any numbers, the worst first."""
    chosen = [chosen_of(boxes, places) for boxes in runs]
    gone: set[str] = set()
    while sum(not unseen(boxes, gone) for boxes in chosen) < max(1, OFTEN * TRIED):
        counted = Counter(name for boxes in chosen for name in unseen(boxes, gone))
        if not counted:
            break
        gone.add(min(counted, key=lambda name: (-counted[name], name)))
    return {(i, k) for i, k in places if runs[0][i].mistakes[k].name not in gone}


def chosen_of(boxes: Boxes, places: Places) -> list[tuple[float, list[Mistake[float]]]]:
    """Return of each box what is right, and the mistakes at these places."""
    return [
        (box.right, [x for k, x in enumerate(box.mistakes) if (i, k) in places])
        for i, box in enumerate(boxes)
    ]


def unseen(
    chosen: Sequence[tuple[float, list[Mistake[float]]]], gone: Collection[str] = ()
) -> set[str]:
    """Return the mistakes that in no box differ from what is right and from all other mistakes."""
    names, seen = set[str](), set[str]()
    for right, mistakes in chosen:
        left = [mistake for mistake in mistakes if mistake.name not in gone]
        names |= {mistake.name for mistake in left}
        for mistake in left:
            others = [other.gives for other in left if other.name != mistake.name] + [right]
            if math.isfinite(mistake.gives) and not any(
                abs(mistake.gives - other) < CLOSE for other in others
            ):
                seen.add(mistake.name)
    return names - seen
