"""Gradients beside differences: which agree, which don't, and where differences can't tell.

A difference says something about a gradient only where the loss is smooth and computed precisely
enough. So a gradient is called wrong only if four one-sided differences, of two steps on either
side, agree with one another and not with it, if a coarse step gives the same, and if all of that is
so at a point nearby as well, where no two numbers are equal by chance.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

STEPS = (1e-6, 1e-7)  # of an entry, or of 1 where the entry is smaller
COARSE = 1e-4  # moves a loss that is rounded somewhere; smaller steps don't
NOISE = 1e-9  # of a loss of 1: a few units in its last place, by the first step
NEARBY = 1e-4  # how far a point nearby lies, as a part of each leaf's size
REPEATED = 1e-10  # how far two runs at one point may differ: sums may change order

Moved = Mapping[int, Any]  # arrays in the place of leaves, by the leaves' numbers


class NotComparedError(Exception):
    """Why gradients can't be compared with differences."""


class Rerun:
    """A watched function that runs again in double precision, at points near its own.

    Complex leaves are given as pairs of real numbers, along a last axis.
    """

    names: Sequence[str]  # of the leaves
    is_low: bool  # whether some of its operations are in half precision
    is_complex: Sequence[bool]

    def values(self) -> list[Any]:
        """Return the leaves."""
        raise NotImplementedError

    def loss(self, moved: Moved) -> float:
        """Compute the loss, with some leaves moved."""
        raise NotImplementedError

    def gradients(self, moved: Moved) -> tuple[float, list[Any]]:
        """Compute the loss, and the framework's gradient for each leaf."""
        raise NotImplementedError

    def __call__(self, samples: int, has_time: Callable[[], bool]) -> "Compared | str":
        """Compare that many entries while there is time, or say why that's impossible."""
        if self.is_low:
            return "some of its operations are in half precision"
        try:
            return compare(self, samples, has_time)
        except NotComparedError as reason:
            return str(reason)
        except Exception as error:  # of the reader's function, which may not take doubles
            return f"in double precision the function fails, with {type(error).__name__}: {error}"


def reals(array: Any) -> Any:
    """Return complex numbers as pairs, and real ones unchanged."""
    if not np.iscomplexobj(array):
        return array
    return np.stack([array.real, array.imag], axis=-1)


def complexes(array: Any, is_complex: bool) -> Any:
    """Undo `reals`."""
    return array[..., 0] + 1j * array[..., 1] if is_complex else array


@dataclass(frozen=True)
class EntryCheck:
    """What differences say of one entry of a gradient.

    ``right`` and ``wrong``; ``flat`` is wrong, too, and the loss doesn't move with the entry at
    all; at a ``kink`` the differences of both sides differ; where they are ``rough``, steps differ.
    """

    name: str  # of the leaf
    place: str  # of the entry
    kind: Literal["right", "wrong", "flat", "kink", "rough"]
    gradient: float
    sides: tuple[float, float]  # one-sided differences, from below and from above

    @property
    def difference(self) -> float:
        """The central difference."""
        return sum(self.sides) / 2


@dataclass(frozen=True)
class Compared:
    """The entries that were compared, of those that were to be."""

    verdicts: Sequence[EntryCheck]
    planned: int
    leaves: int  # from which they were drawn


class _TimeIsUpError(Exception):
    pass


@dataclass
class _Point:
    """Values of all leaves, the loss and its gradients there, and differences from there."""

    rerun: Rerun
    values: Sequence[Any]
    has_time: Callable[[], bool]
    moved: Moved = field(default_factory=dict)

    @cached_property
    def _found(self) -> tuple[float, list[Any]]:
        return self.rerun.gradients(self.moved)

    @property
    def loss(self) -> float:
        return self._found[0]

    @property
    def gradients(self) -> list[Any]:
        return self._found[1]

    @cached_property
    def _largest(self) -> float:
        return max(float(np.abs(grad).max()) for grad in self.gradients)

    def rerun_loss(self) -> float:
        """Compute the loss in another run."""
        return self._run(self.moved)

    def _run(self, moved: Moved) -> float:
        if not self.has_time():
            raise _TimeIsUpError
        return self.rerun.loss(moved)

    def nearby(self) -> "_Point":
        """Return a point where no two numbers are equal by chance, and none is 0."""
        generator = np.random.default_rng(1)
        moved = {}
        for number, value in enumerate(self.values):
            size = np.abs(value) + np.sqrt(np.square(value).mean()) + 0.01
            way = generator.uniform(0.5, 1.0, value.shape) * generator.choice([-1, 1], value.shape)
            moved[number] = value + NEARBY * size * way
        if not self.has_time():
            raise _TimeIsUpError
        return _Point(self.rerun, list(moved.values()), self.has_time, moved)

    def one_sided(self, number: int, flat: int, step: float) -> tuple[float, float]:
        """Compute the one-sided differences, from below and from above."""
        value = self.values[number]
        here = float(value.flat[flat])
        found = []
        for sign in (-1, 1):
            there = value.copy()
            there.flat[flat] = here + sign * step * max(1.0, abs(here))
            run = self._run({**self.moved, number: there})
            found.append((run - self.loss) / (float(there.flat[flat]) - here))
        return found[0], found[1]

    def examine(self, number: int, flat: int) -> EntryCheck:
        """Compare one entry."""
        gradient = float(self.gradients[number].flat[flat])
        is_complex = self.rerun.is_complex[number]
        where = self.rerun.names[number], _place(self.values[number].shape, flat, is_complex)
        pairs = []
        for step in STEPS:
            pairs.append(self.one_sided(number, flat, step))
            away = self._disagreement(gradient, sum(pairs[-1]) / 2)
            if away <= NOISE * max(1.0, abs(self.loss)):
                return EntryCheck(*where, "rough" if away > 0 else "right", gradient, pairs[-1])
        all_sides = np.ravel(pairs)
        if not np.isfinite([gradient, *all_sides]).all():
            return EntryCheck(*where, "rough", gradient, pairs[0])
        beyond = np.abs(all_sides - gradient).min() / 10
        if np.ptp(all_sides) > beyond:
            (low, high), (low_too, high_too) = pairs
            is_kink = max(abs(low - low_too), abs(high - high_too)) < 0.1 * abs(high - low)
            return EntryCheck(*where, "kink" if is_kink else "rough", gradient, pairs[0])
        coarse = self.one_sided(number, flat, COARSE)
        if not abs(sum(coarse) / 2 - all_sides.mean()) <= beyond:
            return EntryCheck(*where, "rough", gradient, coarse)
        is_flat = not np.any(all_sides) and not any(coarse)
        return EntryCheck(*where, "flat" if is_flat else "wrong", gradient, pairs[0])

    def _disagreement(self, gradient: float, difference: float) -> float:
        """Return how far a difference is from the gradient, beyond what counts as equal."""
        size = max(abs(gradient), abs(difference))
        return abs(gradient - difference) - 1e-3 * size - 1e-5 * self._largest


def _place(shape: tuple[int, ...], flat: int, is_complex: bool) -> str:
    entry = tuple(map(int, np.unravel_index(flat, shape)))
    return f"{entry[:-1]}, {('real', 'imaginary')[entry[-1]]} part," if is_complex else str(entry)


def compare(rerun: Rerun, samples: int, has_time: Callable[[], bool]) -> Compared:
    """Compare entries of gradients with differences, spread over the leaves.

    Args:
        rerun: the function.
        samples: how many entries: of each leaf the largest, and others at random.
        has_time: whether there is time for another run; one that has begun isn't interrupted.

    Raises:
        NotComparedError: the loss isn't finite, or differs from run to run.
    """
    here = _Point(rerun, rerun.values(), has_time)
    entries = _entries(here.gradients, samples)
    verdicts: list[EntryCheck] = []
    try:
        _check_repeated(here)
        beside: _Point | None = None
        for number, flat in entries:
            verdict = here.examine(number, flat)
            if verdict.kind in ("wrong", "flat"):
                beside = beside or here.nearby()
                verdict = _confirmed(verdict, beside.examine(number, flat))
            verdicts.append(verdict)
        if any(verdict.kind != "right" for verdict in verdicts):
            _check_repeated(here)
    except _TimeIsUpError:
        pass
    return Compared(verdicts, len(entries), len(rerun.names))


def _check_repeated(point: _Point) -> None:
    """Check that one more run gives the same loss."""
    loss, again = point.loss, point.rerun_loss()
    if not np.isfinite(loss):
        raise NotComparedError("in double precision the loss isn't finite")
    if not abs(loss - again) <= REPEATED * max(1.0, abs(loss)):
        raise NotComparedError(
            f"run twice at the same point, the function gives {loss:.6g} and {again:.6g}: it has a "
            "state, such as a cache or a counter, or draws random numbers of its own"
        )


def _confirmed(verdict: EntryCheck, beside: EntryCheck) -> EntryCheck:
    """Call an entry a kink if it's wrong at a point, and right beside it."""
    if beside.kind in ("wrong", "flat"):
        return verdict if beside.kind == verdict.kind else _with_kind(verdict, "wrong")
    return _with_kind(verdict, "kink" if beside.kind == "right" else "rough")


def _with_kind(verdict: EntryCheck, kind: Literal["wrong", "kink", "rough"]) -> EntryCheck:
    return EntryCheck(verdict.name, verdict.place, kind, verdict.gradient, verdict.sides)


def _entries(gradients: Sequence[Any], samples: int) -> list[tuple[int, int]]:
    """Choose leaves and entries of them: first each leaf's largest, then others at random."""
    generator = np.random.default_rng(0)
    each = max(1, samples // max(len(gradients), 1))
    chosen = sorted(map(int, generator.permutation(len(gradients))[:samples]))
    columns = []
    for number in chosen:
        others = generator.integers(gradients[number].size, size=each - 1)
        columns.append([int(np.argmax(np.abs(gradients[number]))), *map(int, others)])
    rows = zip(*columns, strict=True)
    return list(dict.fromkeys(pair for row in rows for pair in zip(chosen, row, strict=True)))
