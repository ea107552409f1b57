"""Arguments that hold several numbers and arrays: lists, tuples and dictionaries, nested."""

from collections.abc import Iterator
from typing import Any

import numpy as np


def is_container(x: Any) -> bool:
    """Whether ``x`` holds several arguments; a list of numbers alone is an array, as elsewhere."""
    if isinstance(x, dict):
        return True
    return isinstance(x, list | tuple) and not _is_all_numbers(x)


def _is_all_numbers(x: Any) -> bool:
    if isinstance(x, list | tuple):
        return all(map(_is_all_numbers, x))
    return isinstance(x, int | float | np.integer | np.floating)


def leaves(x: Any) -> list[Any]:
    """What ``x`` holds, in order; ``[x]`` where it is no container."""
    if not is_container(x):
        return [x]
    return [leaf for member in _members(x) for leaf in leaves(member)]


def rebuilt(like: Any, new: Iterator[Any]) -> Any:
    """A container as ``like``, with what ``new`` yields in place of its leaves."""
    if not is_container(like):
        return next(new)
    members = [rebuilt(member, new) for member in _members(like)]
    if isinstance(like, dict):
        return dict(zip(like, members, strict=True))
    if hasattr(like, "_fields"):  # a named tuple
        return type(like)(*members)
    return type(like)(members)


def _members(x: Any) -> list[Any]:
    return list(x.values()) if isinstance(x, dict) else list(x)
