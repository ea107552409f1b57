"""Numbers that look drawn by chance, the same wherever a problem is drawn."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")
_MASK = 0xFFFFFFFF


class Series:
    """A series of whole numbers that its name settles: mulberry32, started from FNV-1a.

    Attributes:
        number: the number of the problem that is drawn, from 1 on.

    >>> dice = Series("adjoints-3-7")
    >>> [dice.below(6) for _ in range(4)]
    [4, 3, 4, 5]
    """

    def __init__(self, name: str, number: int = 1) -> None:
        self.number = number
        state = 2166136261
        for byte in name.encode():
            state = (state ^ byte) * 16777619 & _MASK
        self._state = state

    def below(self, most: int) -> int:
        """Draw the next number, from 0 to less than ``most``."""
        self._state = a = self._state + 0x6D2B79F5 & _MASK
        t = (a ^ a >> 15) * (1 | a) & _MASK
        t = (t + ((t ^ t >> 7) * (61 | t) & _MASK) & _MASK) ^ t
        return ((t ^ t >> 14) * most) >> 32

    def choose(self, among: Sequence[T]) -> T:
        """Draw one of several."""
        return among[self.below(len(among))]

    def turn(self, among: Sequence[T]) -> tuple[int, T]:
        """Return the one whose turn it is, problem after problem, and its place."""
        place = (self.number - 1) % len(among)
        return place, among[place]

    def shuffle(self, letters: Mapping[str, str]) -> dict[str, str]:
        """Return a mapping in which the values have changed places."""
        names = list(letters.values())
        for last in range(len(names) - 1, 0, -1):
            other = self.below(last + 1)
            names[last], names[other] = names[other], names[last]
        return dict(zip(letters, names, strict=True))
