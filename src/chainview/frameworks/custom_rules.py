"""Derivatives that somebody wrote, each compared with differences on the inputs it was given.

A built-in operation has a right derivative. So a wrong gradient is looked for where one can arise:
in each call of a function with a backward of its own, alone, on the arrays that the run gave it.
(``gradcheck`` and ``check_grads`` answer with yes or no. We need the numbers, to tell a wrong rule
from one that is meant, and a point nearby, to tell it from a kink.)
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from chainview.read.words import digits

# By the bytes of an entry: the step of a difference, and how far a slope may be off.
PRECISION = {8: (1e-5, 1e-3), 4: (4e-3, 2e-2)}
STEPS = (1, 30)  # times that step: rounding spoils the smaller, a curve the larger
DIRECTIONS = 3
ENTRIES = 12  # that are moved alone
NEARBY = 0.02  # how far from the inputs, in their own size, a kink is left

Arrays = Sequence[Any]


@dataclass(frozen=True)
class CustomRule:
    """One call of a function whose derivative somebody wrote.

    Attributes:
        name: what it's called.
        points: yields those inputs that take a gradient, real; in double precision before single.
        call: returns the results for inputs and, if it's given cotangents, the rule's gradients; of
            an input that is sent nothing None.
    """

    name: str
    points: Callable[[], Iterable[Arrays]]
    call: Callable[[Arrays, Arrays | None], tuple[Arrays, Arrays]]


# From what is wrong to what may be meant, and to what is right.
Kind = Literal["wrong", "unclear", "silent", "scaled", "straight through", "right"]
ORDER: Sequence[Kind] = ("wrong", "unclear", "silent", "scaled", "straight through", "right")


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
    """Compare a rule's gradients with differences of its results; its operands have these names.

    Compare at its inputs and, where a kink may be in the way, at a point nearby.
    """
    failed = "its inputs weren't kept (most=), are complex, or of half precision"
    for inputs in rule.points():
        try:
            here = _Point(rule, inputs, operands).check()
            if here.kind == "right":
                return here
            noise = np.random.default_rng(1).standard_normal
            moved = [(x + NEARBY * _size(x) * noise(x.shape)).astype(x.dtype) for x in inputs]
            near = _Point(rule, moved, operands).check()
        except Exception as error:  # of the reader's function, which may not take doubles
            failed = f"{type(error).__name__}: {error}"
        else:
            return here if near.kind == "unclear" else near
    return RuleCheck("unclear", failed)


def _size(x: Any) -> float:
    return (float(np.sqrt(np.mean(np.square(x)))) if x.size else 0.0) or 1.0


class _Slopes(NamedTuple):
    """The slope of a total along a direction: by the gradient, and by differences to both sides."""

    gradient: float
    below: float
    above: float

    @property
    def difference(self) -> float:
        return (self.below + self.above) / 2

    @property
    def off(self) -> float:
        return abs(self.gradient - self.difference)

    @property
    def size(self) -> float:
        return max(abs(self.gradient), abs(self.difference))


class _Point:
    """A rule at a point, with the total of its results, each times a number drawn at random."""

    def __init__(self, rule: CustomRule, inputs: Arrays, names: Sequence[str]) -> None:
        self._rule, self._inputs, self._names = rule, inputs, names
        self._step, self._tolerance = PRECISION[min(x.dtype.itemsize for x in inputs)]
        self._generator = np.random.default_rng(0)
        self._results, _ = rule.call(inputs, None)
        if any(map(np.iscomplexobj, self._results)):
            raise ValueError("its result is complex")
        draw = self._generator.standard_normal
        self._weights = [draw(y.shape).astype(y.dtype) for y in self._results]
        _, self._gradients = rule.call(inputs, self._weights)
        pairs = zip(self._weights, self._results, strict=True)
        size = np.sqrt(sum(np.square(w * y).sum() for w, y in pairs))
        self._rounding = 16 * float(np.finfo(inputs[0].dtype).eps * size)
        self._noise = 0.0  # that rounding makes of a slope by the operand in hand
        self._here = self._total(inputs)
        if abs(self._total(inputs) - self._here) > self._rounding:
            raise ValueError("it gives another result when it's run again")

    def _total(self, inputs: Arrays) -> float:
        pairs = zip(self._weights, self._rule.call(inputs, None)[0], strict=True)
        return float(sum(np.vdot(w.astype(float), y.astype(float)) for w, y in pairs))

    def check(self) -> RuleCheck:
        """Judge all operands; what is wrong comes before what may be meant."""
        found = [self._operand(i) for i in range(len(self._inputs))]
        worst = min(found, key=lambda each: ORDER.index(each.kind))
        return replace(worst, operands=[i for i, x in enumerate(found) if x.kind == worst.kind])

    def _operand(self, i: int) -> RuleCheck:
        shape = self._inputs[i].shape
        self._noise = self._rounding / (self._step * _size(self._inputs[i]))
        directions = [self._generator.standard_normal(shape) for _ in range(DIRECTIONS)]
        along = [self._slopes(i, direction) for direction in directions]
        if not np.isfinite(along).all():
            return RuleCheck("unclear", "numbers that aren't finite")
        if all(self._agree(s, max(s.size for s in along)) for s in along):
            return RuleCheck("right")
        entries = {place: self._entry(i, place) for place in self._places(i, directions[0])}
        return self._judge(i, {at: s for at, s in entries.items() if self._is_smooth(s)})

    def _judge(self, i: int, entries: dict[int, _Slopes]) -> RuleCheck:
        wrong = {place: s for place, s in entries.items() if not self._agree(s, s.size)}
        if not wrong:
            return RuleCheck("unclear", "its differences disagree with one another")
        name, shape = self._names[i], self._inputs[i].shape
        place, worst = max(wrong.items(), key=lambda item: item[1].off)
        at = f"{tuple(map(int, np.unravel_index(place, shape)))} of " if shape else ""
        seen = (
            f"sent random numbers, its backward gives {digits(worst.gradient)} at {at}{name}, "
            f"and differences give {digits(worst.difference)}"
        )
        if self._gradients[i] is None:
            return RuleCheck("silent", f"it sends nothing to {name}: {seen}")
        if all(abs(s.difference) <= self._noise for s in entries.values()):
            return RuleCheck("straight through", f"its result is flat in {name}: {seen}")
        ratio = worst.gradient / worst.difference if worst.difference else np.inf
        multiples = [
            _Slopes(s.gradient, ratio * s.below, ratio * s.above) for s in entries.values()
        ]
        is_identity = any(np.array_equal(y, self._inputs[i]) for y in self._results)
        if is_identity and all(self._agree(s, s.size) for s in multiples):
            return RuleCheck("scaled", f"it's {digits(ratio)} times the derivative: {seen}")
        return RuleCheck("wrong", seen)

    def _agree(self, slopes: _Slopes, size: float) -> bool:
        return slopes.off <= self._tolerance * size + self._noise

    def _is_smooth(self, slopes: _Slopes) -> bool:
        """Return whether the differences to both sides agree, in some tolerance for a curve."""
        size = max(map(abs, slopes))
        apart = abs(slopes.above - slopes.below)
        return apart <= 10 * self._tolerance * size + 2 * self._noise

    def _slopes(self, i: int, direction: Any) -> _Slopes:
        """Return the slopes of that step, of two, whose difference is nearer to the gradient."""
        given = self._gradients[i]
        gradient = 0.0 if given is None else float(np.vdot(given.astype(float), direction))
        both = []
        for step in (times * self._step * _size(self._inputs[i]) for times in STEPS):
            below, above = (self._moved(i, sign * step * direction) for sign in (-1, 1))
            both.append(_Slopes(gradient, (self._here - below) / step, (above - self._here) / step))
        return min(both, key=lambda slopes: slopes.off)

    def _moved(self, i: int, change: Any) -> float:
        moved = list(self._inputs)
        moved[i] = (moved[i] + change).astype(moved[i].dtype)
        return self._total(moved)

    def _entry(self, i: int, place: int) -> _Slopes:
        return self._slopes(i, _ones(self._inputs[i], [place]))

    def _places(self, i: int, direction: Any) -> list[int]:
        """Return the entry that is off most, those of the largest gradient, and some others."""
        count, given = self._inputs[i].size, self._gradients[i]
        drawn = self._generator.permutation(count)[: ENTRIES // 2]
        sizes = np.zeros(count) if given is None else np.abs(given).ravel()
        largest = np.argsort(-sizes, kind="stable")[: ENTRIES // 2]
        return list(dict.fromkeys(map(int, [self._worst(i, direction), *largest, *drawn])))

    def _worst(self, i: int, direction: Any) -> int:
        """Halve the entries that move, each time to the half whose slopes differ more."""
        places = np.arange(direction.size)
        while len(places) > 1:
            halves = np.array_split(places, 2)
            off = [self._slopes(i, direction * _ones(direction, half)).off for half in halves]
            places = halves[int(np.argmax(off))]
        return int(places[0])


def _ones(like: Any, places: Any) -> Any:
    """Return an array of zeros with ones at some places."""
    mask = np.zeros(like.size)
    mask[places] = 1.0
    return mask.reshape(like.shape)
