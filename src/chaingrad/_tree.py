"""Arguments that hold several numbers and arrays: lists, tuples and dictionaries, nested."""

from collections.abc import Iterator
from typing import Any

import numpy as np


def is_container(x: Any) -> bool:
    """Return whether ``x`` holds several arguments; lists of numbers that make an array are one."""
    if isinstance(x, dict) or hasattr(x, "_fields"):
        return True
    return isinstance(x, list | tuple) and _shape(x) is None


def _shape(x: Any) -> tuple[int, ...] | None:
    """Return the shape of numbers in lists of lists, or None if they make no array."""
    if isinstance(x, list | tuple):
        within = {None if hasattr(member, "_fields") else _shape(member) for member in x} or {()}
        shape = within.pop()
        return None if within or shape is None else (len(x), *shape)
    return () if isinstance(x, int | float | np.integer | np.floating) else None


def leaves(x: Any) -> list[Any]:
    """List what ``x`` holds, in order; return ``[x]`` if it is no container."""
    if not is_container(x):
        return [x]
    return [leaf for member in _members(x) for leaf in leaves(member)]


def flat(x: Any) -> list[Any]:
    """List what the containers hold, in order, including the numbers in lists of numbers."""
    if isinstance(x, dict | list | tuple):
        members = x.values() if isinstance(x, dict) else x
        return [leaf for member in members for leaf in flat(member)]
    return [x]


def rebuilt(like: Any, new: Iterator[Any]) -> Any:
    """Rebuild a container like ``like``, with the values that ``new`` yields as its leaves."""
    if not is_container(like):
        return next(new)
    members = [rebuilt(member, new) for member in _members(like)]
    if isinstance(like, dict):
        return dict(zip(like, members, strict=True))
    return sequence_like(like, members)


def sequence_like(like: Any, members: list[Any]) -> Any:
    """Make a list or tuple of the class of ``like``, which may be a named tuple."""
    return type(like)(*members) if hasattr(like, "_fields") else type(like)(members)


def matching(what: str, like: Any, x: Any) -> Any:
    """Check that ``x`` has the structure of ``like``, and put its dictionaries in that order."""
    if not is_container(like):
        return x
    if isinstance(like, dict):
        if not isinstance(x, dict) or x.keys() != like.keys():
            raise ValueError(f"{what} must have the keys {list(like)}; got {x!r:.60}")
        return {key: matching(what, member, x[key]) for key, member in like.items()}
    if not isinstance(x, list | tuple) or len(x) != len(like):
        raise ValueError(f"{what} must have {len(like)} members; got {x!r:.60}")
    return [matching(what, a, b) for a, b in zip(like, x, strict=True)]


def _members(x: Any) -> list[Any]:
    return list(x.values()) if isinstance(x, dict) else list(x)
