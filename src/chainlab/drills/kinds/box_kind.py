"""Kinds of problems that ask for numbers."""

import functools
import math
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from chainlab.drills.draw import fit
from chainlab.drills.draw.box import Box, Place
from chainlab.drills.draw.series import Series
from chainlab.drills.draw.small_numbers import bracketed, is_small
from chainlab.drills.kinds.kind import Kind, Problem, Step, Written
from chainlab.mistakes import Mistake

MOST = (30.0, 60.0, 99.0)  # the largest number of a level


class BoxKind(Kind):
    """A kind that asks for numbers.

    A *setting* is a graph with numbers, as `Recording` is: what `set_up` makes.
    """

    @abstractmethod
    def set_up(self, text: str, level: int, choose: fit.Choose) -> Any:
        """Draw numbers for a graph."""

    @abstractmethod
    def boxes(self, setting: Any) -> Sequence[Box]:
        """Return what is asked of a setting."""

    @abstractmethod
    def written(self, setting: Any) -> Iterable[Written]:
        """Yield what stands in the nodes before an answer."""

    @abstractmethod
    def steps(self, setting: Any) -> Iterator[Step]:
        """Yield what fills the boxes, one step after the other."""

    @abstractmethod
    def leaves(self, setting: Any) -> Sequence[float]:
        """Return the numbers that were drawn."""

    def most(self, level: int) -> float:
        """Return the largest number that is asked for."""
        return MOST[level - 1]

    def is_small(self, setting: Any, level: int) -> bool:
        """Return whether what is shown is small and exact; boxes are tested by themselves."""
        return True

    def draw(self, level: int, dice: Series) -> Problem:
        number, text = dice.turn(self.forms(level))
        tellable, places = self._places(level, number)
        for _ in range(fit.TRIES):
            setting = self.set_up(text, level, dice.choose)
            boxes = self._small(setting, level)
            if boxes and not fit.unseen(fit.chosen_of(boxes, places)):
                return self._problem(level, dice.number, number, setting, boxes, tellable)
        raise RuntimeError(f"no numbers were found for {self.name}-{level}-{dice.number}")

    @functools.cache  # noqa: B019
    def _places(self, level: int, number: int) -> tuple[fit.Places, fit.Places]:
        """Return the mistakes to speak of, and of these those that all numbers must tell apart."""
        text = self.forms(level)[number]
        runs = fit.generic(lambda choose: self.boxes(self.set_up(text, level, choose)))
        dice = Series("settle")
        tried = (self.set_up(text, level, dice.choose) for _ in range(fit.TRIED))
        small = [boxes for setting in tried if (boxes := self._small(setting, level))]
        return fit.tellable(runs), fit.settled(small, fit.distinct(runs))

    def _small(self, setting: Any, level: int) -> Sequence[Box]:
        """Return the boxes of a setting, or nothing if its numbers are large or inexact."""
        if not self.is_small(setting, level):
            return ()
        boxes, most = self.boxes(setting), self.most(level)
        return boxes if all(is_small(box.right, most) for box in boxes) else ()

    def _problem(
        self, level: int, seed: int, number: int, setting: Any, boxes: Sequence[Box], places: Any
    ) -> Problem:
        entry = {
            "written": list(self.written(setting)),
            "boxes": [
                _entry(box.place, right, mistakes)
                for box, (right, mistakes) in zip(boxes, fit.chosen_of(boxes, places), strict=True)
            ],
            "steps": [bracketed_step(step) for step in self.steps(setting)],
        }
        return Problem(self.name, level, seed, number, entry, self.leaves(setting))


def bracketed_step(step: Step) -> Step:
    """Return a step with brackets around its negative factors."""
    phase, words, *rest = step
    return (phase, bracketed(words), *rest)


def _entry(place: Place, right: float, mistakes: Sequence[Mistake[float]]) -> dict[str, Any]:
    return {
        "node": place.item.id,
        "name": place.name or place.item.label,
        "slot": place.slot,
        **({"column": place.column} if place.column[1] > 1 else {}),
        **({"part": place.part} if place.part else {}),
        "label": place.label,
        "says": place.says,
        "hint": place.hint,
        "right": right,
        "mistakes": [
            [name, gives if math.isfinite(gives) else None, bracketed(says), edge]
            for name, gives, says, edge in mistakes
        ],
    }
