"""Gradients beside differences along random directions, of all leaves at once.

Along a direction the loss should change as the inner product of gradient and direction says. A
direction moves each leaf such that all contribute alike, so that a wrong gradient shows wherever it
is, unless the loss's rounding hides it. Only where the two disagree do we look at parts of the
leaves, down to one, and then to one entry.

Differences say something about a gradient only where the loss is smooth and computed precisely
enough. So a gradient is called wrong only if four one-sided differences by one of its entries, of
two steps on either side, agree with one another and not with it, if a coarse step gives the same,
and if all of that is so at a point nearby as well, where no two numbers are equal by chance.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from chainview.frameworks._differences import (
    Budget,
    Compared,
    LeafCheck,
    NotComparedError,
    Rerun,
    TimeIsUpError,
)
from chainview.frameworks._point import Point

STEPS = (1e-5, 1e-7)  # of a leaf's size; the second where kinks or curves disturb the first
FAR = 1e-3  # a step for leaves that hardly change the loss
FINER = 4  # the differences at a step are compared with those at a step so many times smaller
ROUNDING = 16  # units in the last place of a loss
TRUST = 5  # times what two estimates differ, an estimate may be wrong
VISIBLE = 0.01  # the error of a leaf's gradient that has to show, as a part of it
MARGIN = 10  # so many times the tolerance: a random direction may show a small part of an error
SPLITS = 3  # of groups of leaves with kinks: we look for the leaves, but not at any cost
REPEATED = 1e-10  # how far two runs at one point may differ: sums may change order
BACKWARD = 2  # runs forward take as long as one backward pass

Kind = Literal["agrees", "disagrees", "kink", "rough"]
LeafGroups = deque[tuple[Sequence[int], Sequence[float]]]  # leaves, and the steps for them


def compare(rerun: Rerun, directions: int, budget: Budget) -> Compared | str:
    """Compare the gradients of all leaves along that many directions, or say why that's impossible.

    Where gradients and differences agree, that takes a forward and a backward pass and then four
    runs for each direction, and one.
    """
    if rerun.is_low:
        return "some of its operations are in half precision"
    try:
        with rerun.context():
            return _compare(rerun, directions, budget)
    except NotComparedError as reason:
        return str(reason)
    except TimeIsUpError:
        return f"there was no time for it (seconds={budget.seconds:g})"
    except Exception as error:  # of the reader's function, which may not take doubles
        return f"in double precision the function fails, with {type(error).__name__}: {error}"


def _compare(rerun: Rerun, directions: int, budget: Budget) -> Compared:
    here = Point(rerun, budget)
    rerun.compile()
    start = budget.clock()
    loss = here.rerun_loss()
    budget.plan(1 + BACKWARD + 4 * directions, budget.clock() - start)
    _check_repeated(here, loss)
    found = _LeafSearch(here, directions).examine(range(len(rerun.names)))
    if unclear := [number for number, check in found.items() if check.kind in ("kink", "rough")]:
        _add_nearby(found, _LeafSearch(here.nearby, directions).examine(unclear))
    if any(check.kind not in ("right", "faint") for check in found.values()):
        with suppress(TimeIsUpError):
            _check_repeated(here, here.rerun_loss())
    missing = LeafCheck("no time")
    leaves = {name: found.get(number, missing) for number, name in enumerate(rerun.names)}
    return Compared(leaves, directions, budget.runs)


def _check_repeated(point: Point, again: float) -> None:
    """Check that another run gave the same loss."""
    loss = point.loss
    if not np.isfinite(loss):
        raise NotComparedError("in double precision the loss isn't finite")
    if not abs(loss - again) <= REPEATED * max(1.0, abs(loss)):
        raise NotComparedError(
            f"run twice at the same point, the function gives {again:.6g} and {loss:.6g}: it has a "
            "state, such as a cache or a counter, or draws random numbers of its own"
        )


def _add_nearby(found: dict[int, LeafCheck], beside: Mapping[int, LeafCheck]) -> None:
    """Add what differences say nearby; a gradient that is wrong there is wrong."""
    for number, check in beside.items():
        is_wrong = check.kind in ("wrong", "flat")
        found[number] = check if is_wrong else replace(found[number], nearby=check.kind)


class _LeafSearch:
    """Looks for the leaves along which gradient and differences disagree at a point."""

    def __init__(self, point: Point, directions: int) -> None:
        self._point, self._directions = point, directions
        self._splits = SPLITS
        self._found: dict[int, LeafCheck] = {}

    def examine(self, numbers: Sequence[int]) -> dict[int, LeafCheck]:
        """Compare leaves, all at once, and parts of them where that says nothing or disagrees.

        Leaves for which there is no time are left out.
        """
        groups: LeafGroups = deque([(numbers, STEPS)] if numbers else [])
        with suppress(TimeIsUpError):
            while groups:
                self._examine(*groups.popleft(), groups)
        return self._found

    def _examine(self, group: Sequence[int], steps: Sequence[float], groups: LeafGroups) -> None:
        """Compare a group; what has to be looked at more closely joins the groups."""
        line = self._line(group, steps)
        middle = len(group) // 2
        halves = [(half, steps) for half in (group[:middle], group[middle:])]
        if line.kind == "agrees":
            faint = [number for number in group if number in line.faint]
            self._found |= {n: LeafCheck("faint" if n in faint else "right") for n in group}
            if faint and steps is STEPS:
                groups.append((faint, (FAR,)))
        elif line.kind == "disagrees" and middle:
            groups.extendleft(reversed(halves))
        elif line.kind == "disagrees":
            self._found[group[0]] = self._leaf(group[0], steps[0])
        elif steps is not STEPS:
            pass  # the leaves are faint, and a long way goes past kinks
        elif middle and self._splits:
            self._splits -= 1
            groups.extend(halves)
        else:
            self._found |= {number: LeafCheck(line.kind) for number in group}

    def _line(self, group: Sequence[int], steps: Sequence[float]) -> "_DirectionCheck":
        """Return the first direction along which leaves don't agree, or the last one."""
        for seed in range(self._directions):
            for step in steps:
                line = _DirectionCheck.at(self._point, group, step, seed)
                if line.kind not in ("kink", "rough") or line.is_clean_kink:
                    break
            if line.kind != "agrees":
                break
        return line

    def _leaf(self, number: int, step: float) -> LeafCheck:
        """Look for an entry that is a witness against a leaf's gradient."""
        largest = int(np.argmax(np.abs(self._point.gradients[number])))
        check = self._point.check_entry(number, largest)
        if check.kind not in ("wrong", "flat"):
            worst = _worst_entry(self._point, number, step)
            check = check if worst == largest else self._point.check_entry(number, worst)
        if check.kind == "right":  # the direction disagrees, and no entry bears it out
            return LeafCheck("rough")
        return LeafCheck(check.kind, entry=check if check.kind in ("wrong", "flat") else None)


@dataclass(frozen=True)
class _DirectionCheck:
    """Differences along one direction, beside what the gradients say."""

    expected: float
    sides: tuple[tuple[float, float], tuple[float, float]]  # below and above; finer ones
    noise: float  # what rounding adds to a difference
    shares: dict[int, float]  # how much each leaf is expected to contribute, about

    @classmethod
    def at(cls, point: Point, group: Sequence[int], step: float, seed: int) -> "_DirectionCheck":
        """Take the differences."""
        noise = ROUNDING * float(np.spacing(abs(point.loss))) * FINER / step
        norms = {number: float(np.linalg.norm(point.gradients[number])) for number in group}
        full = [point.sizes[n] * norms[n] for n in group if norms[n]]
        share = max(min(full, default=0.0), TRUST * noise / VISIBLE**2)
        way, expected, shares = {}, 0.0, {}
        for number in group:
            most = point.sizes[number] * norms[number]
            scale = point.sizes[number] * min(1.0, share / most if most else 1.0)
            way[number] = scale * _signs(point.values[number].shape, number, seed)
            expected += float(np.vdot(point.gradients[number], way[number]))
            shares[number] = scale * norms[number]
        sides = _sides(point, way, step), _sides(point, way, step / FINER)
        return cls(expected, sides, noise, shares)

    @property
    def _scatter(self) -> float:
        """How far the central differences of both steps are from one another."""
        (low, high), (low_too, high_too) = self.sides
        return abs(low + high - low_too - high_too) / 2

    @property
    def _tolerance(self) -> float:
        return TRUST * (self._scatter + self.noise)

    @property
    def _corner(self) -> float:
        """How far the two sides differ, as the step goes to 0."""
        (low, high), (low_too, high_too) = self.sides
        return abs(FINER * (high_too - low_too) - (high - low)) / (FINER - 1)

    @property
    def is_clean_kink(self) -> bool:
        """Whether it's a kink at the very point, and not one beside it."""
        change = np.subtract(*self.sides)
        return self.kind == "kink" and float(np.abs(change).max()) < 0.1 * self._corner

    @property
    def kind(self) -> Kind:
        """What the differences say."""
        if not np.isfinite([self.expected, *np.ravel(self.sides)]).all():
            return "rough"
        share = max(self.shares.values())
        if self._scatter > self.noise and TRUST * self._scatter > VISIBLE * share:
            return "rough"
        away = abs(sum(self.sides[1]) / 2 - self.expected)
        if away > self._tolerance:
            return "kink" if self._corner >= away else "disagrees"
        return "kink" if self._corner > max(self._tolerance, VISIBLE**2 * share) else "agrees"

    @property
    def faint(self) -> set[int]:
        """The leaves whose gradients are so small that a wrong one wouldn't show."""
        least = MARGIN * self._tolerance / VISIBLE
        return {number for number, share in self.shares.items() if 0 < share < least}


def _sides(point: Point, way: Mapping[int, Any], step: float) -> tuple[float, float]:
    """Take the one-sided differences, from below and from above."""
    low, high = point.along(way, -step), point.along(way, step)
    return (point.loss - low) / step, (high - point.loss) / step


def _signs(shape: tuple[int, ...], number: int, seed: int) -> Any:
    """Return random numbers of size 0.5 to 1.5: none is 0, and sums of few don't cancel."""
    way = np.random.default_rng([seed, number]).uniform(-1.0, 1.0, shape)
    return way + np.copysign(0.5, way)


def _worst_entry(point: Point, number: int, step: float) -> int:
    """Halve a leaf again and again, and keep the half in which the gradient is further off."""
    value, gradient = point.values[number], point.gradients[number].ravel()
    way = point.sizes[number] * _signs(value.shape, number, 0).ravel()

    def error(low: int, high: int) -> float:
        part = np.zeros_like(way)
        part[low:high] = way[low:high]
        further = step * (way.size / (high - low)) ** 0.5
        sides = _sides(point, {number: part.reshape(value.shape)}, further)
        return sum(sides) / 2 - float(gradient[low:high] @ way[low:high])

    low, high = 0, way.size
    whole = error(low, high)
    while high - low > 1:
        middle = (low + high) // 2
        first = error(low, middle)
        second = whole - first
        low, high, whole = (
            (low, middle, first) if abs(first) >= abs(second) else (middle, high, second)
        )
    return low
