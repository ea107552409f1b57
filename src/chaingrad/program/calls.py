"""Functions of NumPy without a rule, on data: a program calls them as the function did.

What needs no derivative may be computed by any function whose result has a known shape, changes
nothing and is the same at each call. Arrays among its arguments, also in lists, are operands; all
else is written out.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from chaingrad.rules import TracingError, is_symbol

_MODULES = ("", "linalg.", "fft.", "lib.stride_tricks.")
_BY_VALUES = {  # the shape of the result depends on values, and the program is for one shape
    "argwhere", "bincount", "compress", "delete", "extract", "flatnonzero", "intersect1d",
    "nonzero", "setdiff1d", "setxor1d", "trim_zeros", "union1d", "unique", "unique_all",
    "unique_counts", "unique_inverse", "unique_values", "where", "histogram_bin_edges",
}  # fmt: skip
_BY_OPERANDS = {"array_split", "pad", "repeat", "split", "tile"}  # so if these are traced
_NO_VALUE = {  # they change an operand, or give what is no value of their operands
    "copyto", "empty_like", "fill_diagonal", "may_share_memory", "place", "put", "put_along_axis",
    "putmask", "save", "savetxt", "savez", "savez_compressed", "shares_memory",
}  # fmt: skip
CHANGING = {"byteswap", "fill", "partition", "put", "resize", "setflags", "sort"}  # methods


@dataclass(frozen=True)
class Slot:
    """The place of an operand in a call or an index."""

    number: int


def filled(template: Any, operands: Sequence[Any]) -> Any:
    """Fill the slots of a call's argument or of an index."""
    if isinstance(template, list | tuple):
        return type(template)(filled(x, operands) for x in template)
    return operands[template.number] if isinstance(template, Slot) else template


class Call:
    """A function of NumPy with its arguments, where operands are left open."""

    def __init__(self, name: str, args: Sequence[Any], options: dict[str, Any]) -> None:
        self.name = name
        self._function = _of_numpy(name)
        self._args, self._options = args, options
        self._key = f"{name}{args!r}{options!r}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Call) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __call__(self, operands: Sequence[Any]) -> Any:
        args = [filled(x, operands) for x in self._args]
        return self._function(*args, **{k: filled(x, operands) for k, x in self._options.items()})

    def text(self, operands: Sequence[str]) -> str:
        """Write the call with these operands."""
        words = [_text(x, operands) for x in self._args]
        words += [f"{key}={_text(x, operands)}" for key, x in self._options.items()]
        return f"np.{self.name}({', '.join(words)})"


def opened(
    function: Callable[..., Any], args: Sequence[Any], options: dict[str, Any]
) -> tuple[Call, list[Any]]:
    """Take the operands out of a call, and return both.

    Raises:
        TracingError: the function, or an argument, cannot be written down.
    """
    name = _name(function)
    if not name or "out" in options or name in _NO_VALUE:
        raise TracingError(f"program: np.{function.__name__} is not written down")
    by_values = name in _BY_OPERANDS and any(map(is_symbol, [*args[1:], *options.values()]))
    if name in _BY_VALUES or by_values:
        raise TracingError(
            f"program: the shape of what np.{name} gives depends on values, and a program is for "
            "one shape: call it outside, and pass the result as an argument"
        )
    operands: list[Any] = []

    def leave_open(x: Any) -> Any:
        if is_symbol(x) or isinstance(x, np.ndarray):
            operands.append(x)
            return Slot(len(operands) - 1)
        if isinstance(x, list | tuple):
            return type(x)(map(leave_open, x))
        if isinstance(x, np.generic):
            return x.item()
        if x is None or isinstance(x, bool | int | float | str | slice | np.dtype | type):
            return x
        raise TracingError(
            f"program: np.{name} with {type(x).__name__} {x!r:.40} is not written down"
        )

    return Call(name, leave_open(list(args)), {k: leave_open(x) for k, x in options.items()}), (
        operands
    )


def _of_numpy(name: str) -> Any:
    numpy: Any = np
    return reduce(lambda found, part: getattr(found, part, None), name.split("."), numpy)


def _name(function: Callable[..., Any]) -> str:
    """Return the name by which NumPy has a function, "" if it has none."""
    name = getattr(function, "__name__", "")
    of = getattr(function, "__self__", None)
    if isinstance(of, np.ufunc):  # as np.maximum.accumulate
        return f"{of.__name__}.{name}"
    found = (f"{module}{name}" for module in _MODULES)
    return next((each for each in found if _of_numpy(each) is function), "")


def _text(x: Any, operands: Sequence[str]) -> str:
    if isinstance(x, Slot):
        return operands[x.number]
    if isinstance(x, list | tuple):
        inside = ", ".join(_text(y, operands) for y in x)
        comma = "," if isinstance(x, tuple) and len(x) == 1 else ""
        return f"[{inside}]" if isinstance(x, list) else f"({inside}{comma})"
    if isinstance(x, np.dtype):
        return f"np.{x.name}"
    if isinstance(x, type):
        return f"np.{x.__name__}" if x.__module__ == "numpy" else x.__name__
    return f"np.{x}" if isinstance(x, float) and not np.isfinite(x) else repr(x)
