"""What a comparison of gradients with differences needs, and what it says."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

LONG = 5.0  # seconds of processor time, from which on we say first how long it will take

Moved = Mapping[int, Any]  # arrays in the place of leaves, by the leaves' numbers


class NotComparedError(Exception):
    """Why gradients can't be compared with differences."""


class TimeIsUpError(Exception):
    """No time is left for another run."""


class Rerun:
    """A watched function that runs again in double precision, at points near its own.

    Complex leaves are given as pairs of real numbers, along a last axis.
    """

    names: Sequence[str]  # of the leaves, each another
    is_low: bool  # whether some of its operations are in half precision
    is_complex: Sequence[bool]

    def context(self) -> AbstractContextManager[Any]:
        """Return a context for everything below."""
        return nullcontext()

    def compile(self) -> None:
        """Do what takes time once, before the first run."""

    def values(self) -> list[Any]:
        """Return the leaves."""
        raise NotImplementedError

    def loss(self, moved: Moved) -> float:
        """Compute the loss, with some leaves moved."""
        raise NotImplementedError

    def gradients(self, moved: Moved) -> tuple[float, list[Any]]:
        """Compute the loss, and the framework's gradient for each leaf."""
        raise NotImplementedError

    def reached_by_chance(self, names: Sequence[str]) -> set[str]:
        """Return those of these leaves that get a gradient when other random numbers are drawn."""
        return set()

    def through_time(self) -> dict[str, list[float]]:
        """Return the norm of the gradient at each step that a recurrent layer reads, by layer."""
        return {}


def reals(array: Any) -> Any:
    """Return complex numbers as pairs, and real ones unchanged."""
    if not np.iscomplexobj(array):
        return array
    return np.stack([array.real, array.imag], axis=-1)


def complexes(array: Any, is_complex: bool) -> Any:
    """Undo `reals`."""
    return array[..., 0] + 1j * array[..., 1] if is_complex else array


@dataclass
class Budget:
    """The processor time that runs may take, and the runs that were made.

    A run that has begun isn't interrupted.
    """

    seconds: float = float("inf")
    tell: Callable[[str], None] = lambda text: None
    clock: Callable[[], float] = time.process_time
    runs: int = 0
    _end: float = field(init=False)

    def __post_init__(self) -> None:
        self._end = self.clock() + self.seconds

    def spend(self) -> None:
        """Count a run.

        Raises:
            TimeIsUpError: there is no time for it.
        """
        if self.clock() >= self._end:
            raise TimeIsUpError
        self.runs += 1

    def plan(self, runs: int, each: float) -> None:
        """Say how long runs will take, if that's long.

        Raises:
            NotComparedError: they take more time than there is.
        """
        needed, left = runs * each, self._end - self.clock()
        if needed > left:
            raise NotComparedError(
                f"a run in double precision takes {each:.2g} s, and we need the time of {runs}: "
                f"more than the {self.seconds:g} s that seconds= allows"
            )
        if needed > LONG:
            self.tell(
                f"diagnose: comparing gradients with differences takes about {needed:.0f} s "
                "(directions=0 leaves it out)"
            )


EntryKind = Literal["right", "wrong", "flat", "kink", "rough"]


@dataclass(frozen=True)
class EntryCheck:
    """What differences say of one entry of a gradient.

    ``right`` and ``wrong``; ``flat`` is wrong, too, and the loss doesn't move with the entry at
    all; at a ``kink`` the differences of both sides differ; where they are ``rough``, steps differ.
    """

    place: str
    kind: EntryKind
    gradient: float
    sides: tuple[float, float]  # one-sided differences, from below and from above

    @property
    def difference(self) -> float:
        """The central difference."""
        return sum(self.sides) / 2


LeafKind = EntryKind | Literal["faint", "no time"]


@dataclass(frozen=True)
class LeafCheck:
    """What differences say of a leaf's gradient.

    As for an entry; a ``faint`` gradient is so small that it and the difference are both 0 up to
    rounding.

    Attributes:
        nearby: of a kink, or where differences are rough: what they say at a point nearby.
        entry: the witness against a gradient that is wrong.
    """

    kind: LeafKind
    nearby: LeafKind | None = None
    entry: EntryCheck | None = None


@dataclass(frozen=True)
class Compared:
    """What was found out about each leaf, by its name, and in how many runs of the function."""

    leaves: Mapping[str, LeafCheck]
    directions: int
    runs: int
