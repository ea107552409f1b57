"""The arguments of a program: what is an input, and what belongs to the program itself."""

from collections.abc import Callable
from typing import Any

import numpy as np

from chaingrad import _tree
from chaingrad._messages import describe, kind
from chaingrad._program.tape import Recorded
from chaingrad.node import Node

ndarray = np.ndarray


def form(x: Any, differentiated: bool = False) -> Any:
    """All of an argument but the values that may differ from call to call, as a key.

    Raises:
        TypeError: it is a node that requires a gradient, or nothing that can be a key.
    """
    if type(x) is ndarray:
        if x.dtype.kind not in "fiub":
            raise TypeError(f"program: an argument is an array of dtype {x.dtype}: no real numbers")
        return x.shape, x.dtype
    if type(x) is float or (differentiated and isinstance(x, int)):
        return float
    if isinstance(x, np.generic):
        return type(x)
    if isinstance(x, dict):
        return dict, tuple((key, form(member, differentiated)) for key, member in x.items())
    if isinstance(x, list | tuple):
        if differentiated and not _tree.is_container(x):
            return list, np.shape(x)
        return type(x), tuple(form(member, differentiated) for member in x)
    if isinstance(x, Node):
        raise TypeError(
            f"program: the argument {describe(x)} is a node; a program takes and gives numbers and "
            "arrays: give it x.data, or use value_and_grad where derivatives are nested"
        )
    try:
        hash(x)
    except TypeError:
        raise TypeError(
            f"program: an argument must be a number, an array, a container of them, or something "
            f"that can be the key of a dictionary; got {kind(x)}"
        ) from None
    return type(x), x


def is_input(x: Any, differentiated: bool = False) -> bool:
    return isinstance(x, ndarray | float | np.generic) or (differentiated and isinstance(x, int))


def recorded(x: Any, lift: Callable[[Any], Recorded], differentiated: bool = False) -> Any:
    """The argument with inputs of a tape in place of its numbers and arrays."""
    if isinstance(x, dict):
        return {key: recorded(member, lift, differentiated) for key, member in x.items()}
    if isinstance(x, list | tuple):
        if differentiated and not _tree.is_container(x):
            return lift(np.asarray(x, np.float64))
        return made_like(x, [recorded(member, lift, differentiated) for member in x])
    if not is_input(x, differentiated):
        return x
    return lift(float(x) if differentiated and not isinstance(x, ndarray) else x)


def leaves(x: Any) -> list[Any]:
    """What is in the containers, in order; ``[x]`` where it is none."""
    if isinstance(x, dict | list | tuple):
        members = x.values() if isinstance(x, dict) else x
        return [leaf for member in members for leaf in leaves(member)]
    return [x]


def mapped(x: Any, change: Callable[[Any], Any]) -> Any:
    """The containers with what is in them changed."""
    if isinstance(x, dict):
        return {key: mapped(member, change) for key, member in x.items()}
    if isinstance(x, list | tuple):
        return made_like(x, [mapped(member, change) for member in x])
    return change(x)


def made_like(like: Any, members: list[Any]) -> Any:
    if hasattr(like, "_fields"):
        return type(like)(*members)
    return type(like)(members)


def holds_recorded(x: Any) -> bool:
    """Whether this is a call within the tracing of another program."""
    if isinstance(x, dict | list | tuple):
        return any(map(holds_recorded, x.values() if isinstance(x, dict) else x))
    return isinstance(x, Recorded) or (isinstance(x, Node) and isinstance(x.data, Recorded))
