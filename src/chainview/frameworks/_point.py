"""A point at which gradients are compared: its loss, and differences of the loss around it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from chainview.frameworks._differences import Budget, EntryCheck, EntryKind, Moved, Rerun

STEPS = (1e-6, 1e-5, 1e-4, 1e-3)  # of an entry, or of 1 where the entry is smaller
COARSE = 1e-4  # moves a loss that is rounded somewhere; smaller steps don't
NOISE = 1e-15  # of a loss of 1: a few units in its last place
ZERO = 0.01  # the size of a leaf whose entries are 0
NEARBY = 1e-4  # how far a point nearby lies, as a part of each leaf's size


class _Along(Mapping[int, Any]):
    """Leaves moved along a way, one by one when they are asked for: all may fill the memory."""

    def __init__(self, values: Mapping[int, Any], way: Mapping[int, Any], step: float) -> None:
        self._values, self._way, self._step = values, way, step

    def __getitem__(self, number: int) -> Any:
        value = self._values[number]
        if number not in self._way:
            return value
        return np.asarray(value + self._step * self._way[number])  # a number, too, as an array

    def __iter__(self) -> Iterator[int]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


class Point:
    """Values of all leaves, the loss and its gradients there, and differences from there."""

    def __init__(self, rerun: Rerun, budget: Budget, beside: "Point | None" = None) -> None:
        self.rerun, self._budget = rerun, budget
        self.values: Sequence[Any] = beside._values_nearby() if beside else rerun.values()
        self.sizes: list[float] = (
            beside.sizes if beside else [_size(value) for value in self.values]
        )
        self._moved: Moved = dict(enumerate(self.values)) if beside else {}

    @cached_property
    def _found(self) -> tuple[float, list[Any]]:
        self._budget.spend()
        return self.rerun.gradients(self._moved)

    @property
    def loss(self) -> float:
        """The loss."""
        return self._found[0]

    @property
    def gradients(self) -> list[Any]:
        """The framework's gradient for each leaf."""
        return self._found[1]

    def rerun_loss(self) -> float:
        """Compute the loss in another run."""
        return self._run(self._moved)

    def along(self, way: Mapping[int, Any], step: float) -> float:
        """Compute the loss a step along a way, which has an array for each leaf that it moves."""
        still = self._moved or {number: self.values[number] for number in way}
        return self._run(_Along(still, way, step))

    def _run(self, moved: Moved) -> float:
        self._budget.spend()
        return self.rerun.loss(moved)

    @cached_property
    def nearby(self) -> "Point":
        """A point where no two numbers are equal by chance, and none is 0."""
        return Point(self.rerun, self._budget, self)

    def _values_nearby(self) -> list[Any]:
        generator = np.random.default_rng(1)
        moved = []
        for value, size in zip(self.values, self.sizes, strict=True):
            most = np.abs(value) + size + ZERO
            way = generator.uniform(0.5, 1.0, value.shape) * generator.choice([-1, 1], value.shape)
            moved.append(np.asarray(value + NEARBY * most * way))
        return moved

    # --- one entry ------------------------------------------------------------------------------

    def check_entry(self, number: int, flat: int) -> EntryCheck:
        """Compare one entry of a leaf's gradient; a wrong one must be wrong nearby, too."""
        verdict = self._check_here(number, flat)
        if verdict.kind not in ("wrong", "flat"):
            return verdict
        beside = self.nearby._check_here(number, flat)
        if beside.kind == verdict.kind:
            return verdict
        if beside.kind in ("wrong", "flat"):
            return replace(verdict, kind="wrong")
        return replace(verdict, kind="kink" if beside.kind == "right" else "rough")

    def _one_sided(self, number: int, flat: int, step: float) -> tuple[float, float]:
        """Compute the one-sided differences, from below and from above."""
        value = self.values[number]
        here = float(value.flat[flat])
        found = []
        for sign in (-1, 1):
            there = value.copy()
            there.flat[flat] = here + sign * step * max(1.0, abs(here))
            run = self._run({**self._moved, number: there})
            found.append((run - self.loss) / (float(there.flat[flat]) - here))
        return found[0], found[1]

    def _check_here(self, number: int, flat: int) -> EntryCheck:
        """Compare an entry by steps that are long enough to see a disagreement."""
        gradient = float(self.gradients[number].flat[flat])
        where = _place(self.values[number].shape, flat, self.rerun.is_complex[number])
        for step in STEPS:
            pair = self._one_sided(number, flat, step)
            away = self._disagreement(number, gradient, sum(pair) / 2)
            if not 0 < away <= NOISE / step * max(1.0, abs(self.loss)):
                break
        if away <= 0:
            return EntryCheck(where, "right", gradient, pair)
        kind: EntryKind = "rough"
        if np.isfinite([gradient, *pair]).all():
            kind = self._against(number, flat, gradient, pair, step)
        return EntryCheck(where, kind, gradient, pair)

    def _against(
        self, number: int, flat: int, gradient: float, pair: tuple[float, float], step: float
    ) -> EntryKind:
        """Say whether differences by other steps, too, disagree with a gradient."""
        finer = self._one_sided(number, flat, step / 10)
        away = self._disagreement(number, gradient, sum(finer) / 2)
        if away <= NOISE / step * max(1.0, abs(self.loss)):
            return "rough" if away > 0 else "right"
        all_sides = np.array([*pair, *finer])
        if not np.isfinite(all_sides).all():
            return "rough"
        beyond = np.abs(all_sides - gradient).min() / 10
        if np.ptp(all_sides) > beyond:
            scatter = np.abs(np.subtract(pair, finer)).max()
            return "kink" if scatter < 0.1 * abs(pair[1] - pair[0]) else "rough"
        coarse = self._one_sided(number, flat, max(COARSE, step))
        if not abs(sum(coarse) / 2 - all_sides.mean()) <= beyond:
            return "rough"
        return "wrong" if any(all_sides) or any(coarse) else "flat"

    def _disagreement(self, number: int, gradient: float, difference: float) -> float:
        """Return how far a difference is from the gradient, beyond what counts as equal."""
        size = max(abs(gradient), abs(difference))
        largest = float(np.abs(self.gradients[number]).max())
        return abs(gradient - difference) - 1e-3 * size - 1e-5 * largest


def _size(value: Any) -> float:
    """Return how large a leaf's entries are, and something where all are 0."""
    return float(np.sqrt(np.square(value).mean())) or ZERO


def _place(shape: tuple[int, ...], flat: int, is_complex: bool) -> str:
    entry = tuple(map(int, np.unravel_index(flat, shape)))
    return f"{entry[:-1]}, {('real', 'imaginary')[entry[-1]]} part," if is_complex else str(entry)
