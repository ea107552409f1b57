"""What many problems have in common is written once: a form, and a column for all that differs.

In the form a mark stands for what a column has for a problem: ``{3}`` for a piece of a text,
``{(3}`` for a number that is in brackets where it is negative, ``{=3}`` for a number by itself,
``{-3}`` for its negative.

Columns are words with spaces between them, or else plain data. A column of numbers that others
before it give is how they give it, operators last: ``=3 7 * 1 +`` is column 3 times column 7 plus
column 1, and ``=3 #2 *`` twice column 3. ``unpack.js`` has the other half.
"""

import json
import math
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from chainlab.drills.numbers import EXACT, exact, is_small

TOKEN = re.compile(r"\(−[\d./]+\)|−?\d[\d./]*|\w+")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:/\d+)?")
DIGITS = 6  # of a number that is no small fraction
CONSTANTS = (-1.0, 2.0, -2.0, 0.5, -0.5)
OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "?": lambda a, b: np.where(a > 0, b, 0.0),  # through ReLU
}


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
        >>> Packed([[2, 3, 6], [-1, 4, -4], [0.5, 3, 1.5]]).columns
        ['2 -1 0.5', '3 4 3', '=1 0 *']
        """
        self._places: dict[str, int] = {}
        self.form = self._form(list(map(_plain, values)))
        self.columns = list(_derived([json.loads(x) for x in self._places]))

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


def _derived(columns: Sequence[Any]) -> Iterator[Any]:
    """Write how columns of numbers come from those before them, where they do."""
    known = _Known()
    for place, column in enumerate(columns):
        numbers = _numbers_of(column)
        if numbers is None:
            yield column
        else:
            yield known.formula(numbers) or column
            known.add(str(place), numbers)


def _numbers_of(column: Any) -> Any:
    """Return the numbers of a column, if both languages write each of them like this."""
    words = column.split(" ") if isinstance(column, str) else [""]
    if not all(map(NUMBER.fullmatch, words)):
        return None
    numbers = np.array([float(Fraction(word)) for word in words])
    return numbers if _words(numbers) == words else None


def _words(numbers: Any) -> list[str]:
    return [exact(x).replace("−", "-") if is_small(x, 1e6) else "" for x in map(float, numbers)]


class _Known:
    """Columns of numbers, and what two of them give."""

    def __init__(self) -> None:
        self.columns: list[tuple[str, Any]] = []
        self.made: dict[bytes, str] = {}  # how numbers come from one or two columns
        self.products: list[Any] = []

    def add(self, name: str, numbers: Any) -> None:
        """Add a column, and what it gives with those before it."""
        self.made.setdefault(_key(numbers), name)
        self.columns.append((name, numbers))
        others = [*self.columns, *((f"#{x:g}", x) for x in CONSTANTS)]
        for sign, operation in OPERATIONS.items():
            for other, its in others:
                self._put(f"{name} {other} {sign}", operation, numbers, its)
                self._put(f"{other} {name} {sign}", operation, its, numbers)
                if sign == "*":
                    self.products.append(numbers * its)

    def _put(self, formula: str, operation: Callable[[Any, Any], Any], a: Any, b: Any) -> None:
        with np.errstate(all="ignore"):
            numbers = operation(a, b)
        if np.isfinite(numbers).all() and np.shape(numbers):
            self.made.setdefault(_key(numbers), formula)

    def formula(self, result: Any) -> str:
        """Return what gives a column, with operators behind what they take; "" if nothing does."""
        words = _words(result)
        for found in self._formulas(result):
            if _words(self._computed(found)) == words:
                return f"={found}"
        return ""

    def _formulas(self, result: Any) -> Iterator[str]:
        """Yield formulas that give a column, or nearly, the shortest first."""
        if found := self.made.get(_key(result)):
            yield found
        for name, numbers in self.columns:
            ways = (("+", result - numbers), ("-", result + numbers))
            for sign, rest in (*ways, *([("*", result / numbers)] if numbers.all() else [])):
                if found := self.made.get(_key(rest)):
                    yield f"{found} {name} {sign}"
        for product in self.products:
            first, second = self.made.get(_key(product)), self.made.get(_key(result - product))
            if first and second:
                yield f"{first} {second} +"

    def _computed(self, formula: str) -> Any:
        columns, stack = dict(self.columns), list[Any]()
        for token in formula.split():
            if token in OPERATIONS:
                second, first = stack.pop(), stack.pop()
                stack.append(OPERATIONS[token](first, second))
            else:
                stack.append(float(token[1:]) if token[0] == "#" else columns[token])
        return stack.pop()


def _key(numbers: Any) -> bytes:
    whole: bytes = np.rint(numbers * EXACT**2).astype(np.int64).tobytes()
    return whole


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
