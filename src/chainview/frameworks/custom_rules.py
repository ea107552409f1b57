"""Derivatives that somebody wrote, each compared with differences on the inputs it was given.

A built-in operation has a right derivative. So a wrong gradient is looked for where one can arise:
in each call of a function with a backward of its own, alone, on the arrays that the run gave it.
(``gradcheck`` and ``check_grads`` answer with yes or no. We need the numbers, to tell a wrong rule
from one that is meant, and a point nearby, to tell it from a kink.)
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from chainview.read.words import digits

# By the bytes of an entry: the step of a difference, and how far a slope may be off.
PRECISION = {8: (1e-5, 1e-3), 4: (4e-3, 2e-2)}
DIRECTIONS = 3
ENTRIES = 12  # that are moved alone
NEARBY = 0.02  # how far from the inputs, in their own size, a kink is left

Arrays = Sequence[Any]


@dataclass(frozen=True)
class CustomRule:
    """One call of a function whose derivative somebody wrote.

    Attributes:
        name: what it's called.
        points: those inputs that take a gradient, real; in double precision before single.
        call: returns the results for inputs and, if it's given cotangents, the rule's gradients; of
            an input that is sent nothing None.
    """

    name: str
    points: Sequence[Arrays]
    call: Callable[[Arrays, Arrays | None], tuple[Arrays, Arrays]]


Kind = Literal["right", "wrong", "scaled", "straight through", "silent", "unclear"]


@dataclass(frozen=True)
class RuleCheck:
    """What differences say of a rule, and in which numbers that is seen.

    A rule is ``scaled`` where its gradient is a multiple of the derivative of the identity, as in
    gradient reversal; ``straight through`` where the derivative is 0 and its gradient isn't;
    ``silent`` where it sends nothing for an operand that counts.
    """

    kind: Kind
    seen: str = ""
    operands: Sequence[int] = ()  # that this is said of, counted among those with a gradient


def check(rule: CustomRule, operands: Sequence[str]) -> RuleCheck:
    """Compare a rule's gradients with differences of its results; its operands have these names."""
    failed = ""
    for inputs in rule.points:
        try:
            return _check_at(rule, inputs, operands)
        except Exception as error:  # of the reader's function, which may not take doubles
            failed = f"{type(error).__name__}: {error}"
    return RuleCheck("unclear", failed or "its inputs weren't kept (most=)")


def _check_at(rule: CustomRule, inputs: Arrays, names: Sequence[str]) -> RuleCheck:
    """Compare at the inputs and, where a kink may be in the way, at a point nearby."""
    here = _Point(rule, inputs, names).check()
    if here.kind == "right":
        return here
    generator = np.random.default_rng(1)
    noise = [NEARBY * _size(x) * generator.standard_normal(x.shape) for x in inputs]
    moved = [(x + more).astype(x.dtype) for x, more in zip(inputs, noise, strict=True)]
    near = _Point(rule, moved, names).check()
    return here if near.kind == "unclear" else near


def _size(x: Any) -> float:
    return float(np.sqrt(np.mean(np.square(x)))) or 1.0 if x.size else 1.0


@dataclass(frozen=True)
class _Slopes:
    """The slope of a total along a direction: by the gradient, and by one-sided differences."""

    gradient: float
    sides: tuple[float, float]

    @property
    def difference(self) -> float:
        return sum(self.sides) / 2


class _Point:
    """A rule at a point, with the total of its results, each times a number drawn at random."""

    def __init__(self, rule: CustomRule, inputs: Arrays, names: Sequence[str]) -> None:
        self._rule, self._inputs, self._names = rule, inputs, names
        self._step, self._tolerance = PRECISION[min(x.dtype.itemsize for x in inputs)]
        self._generator = np.random.default_rng(0)
        self._results, _ = rule.call(inputs, None)
        shapes = [(x.shape, x.dtype) for x in self._results]
        self._weights = [self._generator.standard_normal(s).astype(dtype) for s, dtype in shapes]
        _, self._gradients = rule.call(inputs, self._weights)
        squares = [
            np.square(w * y).sum() for w, y in zip(self._weights, self._results, strict=True)
        ]
        self._rounding = 16 * float(np.finfo(inputs[0].dtype).eps * np.sqrt(sum(squares)))
        self._noise = 0.0  # that rounding makes of a slope by the operand in hand
        self._here = self._total(inputs)

    def _total(self, inputs: Arrays) -> float:
        pairs = zip(self._weights, self._rule.call(inputs, None)[0], strict=True)
        return float(sum(np.vdot(w.astype(float), y.astype(float)) for w, y in pairs))

    def check(self) -> RuleCheck:
        """Judge all operands; what is wrong comes before what may be meant."""
        order = ("wrong", "unclear", "silent", "scaled", "straight through", "right")
        found = [self._operand(i) for i in range(len(self._inputs))]
        worst = min(found, key=lambda each: order.index(each.kind))
        return replace(worst, operands=[i for i, x in enumerate(found) if x.kind == worst.kind])

    def _operand(self, i: int) -> RuleCheck:
        shape = self._inputs[i].shape
        self._noise = self._rounding / (self._step * _size(self._inputs[i]))
        directions = [self._generator.standard_normal(shape) for _ in range(DIRECTIONS)]
        along = [self._slopes(i, direction) for direction in directions]
        if not np.isfinite([s.difference - s.gradient for s in along]).all():
            return RuleCheck("unclear", "numbers that aren't finite")
        largest = max(max(abs(s.gradient), abs(s.difference)) for s in along)
        if all(self._agree(s.gradient, s.difference, largest) for s in along):
            return RuleCheck("right")
        entries = {place: self._entry(i, place) for place in self._places(i, directions[0])}
        clear = {place: s for place, s in entries.items() if self._is_smooth(s)}
        return self._judge(i, clear)

    def _judge(self, i: int, entries: dict[int, _Slopes]) -> RuleCheck:
        wrong = {
            place: s
            for place, s in entries.items()
            if not self._agree(s.gradient, s.difference, max(abs(s.gradient), abs(s.difference)))
        }
        if not wrong:
            return RuleCheck("unclear", "its differences disagree with one another")
        name, shape = self._names[i], self._inputs[i].shape
        place, worst = max(wrong.items(), key=lambda item: _off(item[1]))
        at = f"{tuple(map(int, np.unravel_index(place, shape)))} of " if shape else ""
        seen = (
            f"sent numbers drawn at random, it gives {digits(worst.gradient)} at {at}{name}, "
            f"and the difference is {digits(worst.difference)}"
        )
        if self._gradients[i] is None:
            return RuleCheck("silent", f"it sends nothing to {name}: {seen}")
        if all(abs(s.difference) <= self._noise for s in entries.values()):
            return RuleCheck("straight through", f"its result is flat in {name}: {seen}")
        ratio = worst.gradient / worst.difference if worst.difference else np.inf
        is_multiple = all(
            self._agree(s.gradient, ratio * s.difference, abs(s.gradient)) for s in entries.values()
        )
        if is_multiple and any(_same(y, self._inputs[i]) for y in self._results):
            return RuleCheck("scaled", f"it's {digits(ratio)} times the derivative: {seen}")
        return RuleCheck("wrong", seen)

    def _agree(self, gradient: float, difference: float, size: float) -> bool:
        return abs(gradient - difference) <= self._tolerance * size + self._noise

    def _is_smooth(self, slopes: _Slopes) -> bool:
        """Return whether the differences to both sides agree, in some tolerance for a curve."""
        low, high = slopes.sides
        size = max(abs(low), abs(high), abs(slopes.gradient))
        return abs(high - low) <= 10 * self._tolerance * size + 2 * self._noise

    def _slopes(self, i: int, direction: Any) -> _Slopes:
        """Take two steps, of which rounding spoils the smaller or a curve the larger."""
        given = self._gradients[i]
        gradient = 0.0 if given is None else float(np.vdot(given.astype(float), direction))
        size = self._step * _size(self._inputs[i])
        both = [_Slopes(gradient, self._sides(i, direction, step)) for step in (size, 30 * size)]
        return min(both, key=_off)

    def _sides(self, i: int, direction: Any, step: float) -> tuple[float, float]:
        ends = []
        for sign in (-1, 1):
            moved = list(self._inputs)
            moved[i] = (moved[i] + sign * step * direction).astype(moved[i].dtype)
            ends.append(self._total(moved))
        return (self._here - ends[0]) / step, (ends[1] - self._here) / step

    def _entry(self, i: int, place: int) -> _Slopes:
        return self._slopes(i, _unit(self._inputs[i], [place]))

    def _places(self, i: int, direction: Any) -> list[int]:
        """Return the entry that is off most, those of the largest gradient, and some others."""
        count = self._inputs[i].size
        drawn = self._generator.permutation(count)[: ENTRIES // 2]
        given = self._gradients[i]
        sizes = np.zeros(count) if given is None else np.abs(given).ravel()
        largest = np.argsort(-sizes, kind="stable")[: ENTRIES // 2]
        return list(dict.fromkeys(map(int, [self._worst(i, direction), *largest, *drawn])))

    def _worst(self, i: int, direction: Any) -> int:
        """Halve the entries that move, each time to the half whose slopes differ more."""
        places = np.arange(direction.size)
        while len(places) > 1:
            halves = np.array_split(places, 2)
            moves = [direction * _unit(direction, half) for half in halves]
            places = halves[int(np.argmax([_off(self._slopes(i, move)) for move in moves]))]
        return int(places[0])


def _off(slopes: _Slopes) -> float:
    return abs(slopes.gradient - slopes.difference)


def _unit(like: Any, places: Any) -> Any:
    """Return an array of zeros with ones at some places."""
    mask = np.zeros(like.size)
    mask[places] = 1.0
    return mask.reshape(like.shape)


def _same(one: Any, other: Any) -> bool:
    return bool(np.shape(one) == np.shape(other) and np.array_equal(one, other))
