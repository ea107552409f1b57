"""What many problems have in common is written once: a form, and a column for all that differs.

In the form a mark stands for what a column has for a problem: ``{3}`` for a piece of a text,
``{(3}`` for a number that is in brackets where it is negative, ``{=3}`` for a number by itself,
``{-3}`` for its negative.

Columns are words with spaces between them, or else plain data. ``unpack.js`` has the other half.
"""

import json
import math
import re
from collections.abc import Sequence
from typing import Any

from chainlab.drills.numbers import exact, is_small

TOKEN = re.compile(r"\(−[\d./]+\)|−?\d[\d./]*|\w+")
DIGITS = 6  # of a number that is no small fraction


class Packed:
    """Plain data of which much is the same.

    Attributes:
        columns: for each, what the values have in the place of its mark.
        form: what they have in common, with marks.
    """

    def __init__(self, values: Sequence[Any]) -> None:
        """Pack values.

        Raises:
            ValueError: a text has a brace, which is for marks.

        >>> packed = Packed([["grad 3", 0.5], ["grad −1", -0.25], ["grad 3", 2.0]])
        >>> packed.form, packed.columns
        (['grad {0}', '{=1}'], ['3 -1 3', '0.5 -0.25 2'])
        """
        self._places: dict[str, int] = {}
        self.form = self._form(list(map(_plain, values)))
        self.columns: list[Any] = list(map(json.loads, self._places))

    def _form(self, values: list[Any]) -> Any:
        first = values[0]
        if all(value == first and type(value) is type(first) for value in values):
            return first
        if all(isinstance(value, int | float | None) for value in values):
            return self._numbers(list(map(_number, values)))
        if all(isinstance(value, dict) and value.keys() == first.keys() for value in values):
            return {key: self._form([value[key] for value in values]) for key in first}
        if all(isinstance(value, list) and len(value) == len(first) for value in values):
            return [self._form(list(each)) for each in zip(*values, strict=True)]
        if all(isinstance(value, str) and _between(value) == _between(first) for value in values):
            tokens = zip(*map(TOKEN.findall, values), strict=True)
            marks = iter([self._piece(list(each)) for each in tokens])
            return TOKEN.sub(lambda _: next(marks), first)
        return f"{{{self._place(values)}}}"

    def _numbers(self, words: list[str]) -> str:
        opposite = " ".join(_negated(word) for word in words).replace("−", "-")
        if (place := self._places.get(json.dumps(opposite))) is not None:
            return f"{{-{place}}}"
        return f"{{={self._column(words)}}}"

    def _piece(self, tokens: list[str]) -> str:
        if len(set(tokens)) == 1:
            return tokens[0]
        bare = [token.removeprefix("(").removesuffix(")") for token in tokens]
        if bare == tokens:
            return f"{{{self._column(bare)}}}"
        return f"{{({self._column(bare)}}}"

    def _column(self, words: list[str]) -> int:
        return self._place(" ".join(words).replace("−", "-"))

    def _place(self, column: Any) -> int:
        return self._places.setdefault(json.dumps(column), len(self._places))


def _between(text: str) -> str:
    return TOKEN.sub("#", text)


def _number(x: float | None) -> str:
    """Write a number as the texts do; what is none stays none when it is read again."""
    if x is None:
        return "none"
    return exact(x) if is_small(x, 1e6) else f"{x:.{DIGITS}g}".replace("-", "−")


def _negated(word: str) -> str:
    return (
        word if word in ("0", "none") else word.removeprefix("−") if word[0] == "−" else "−" + word
    )


def _plain(value: Any) -> Any:
    """Return data as JSON has it."""
    match value:
        case dict():
            return {key: _plain(each) for key, each in value.items()}
        case list() | tuple():
            return list(map(_plain, value))
        case float():
            return (int(value) if value.is_integer() else value) if math.isfinite(value) else None
        case str() if "{" in value:
            raise ValueError(f"{value!r} has a brace, which is for marks")
    return value
