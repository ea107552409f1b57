"""The arguments of a program: what is an input, and what belongs to the program itself."""

from collections.abc import Callable
from typing import Any

import numpy as np

from chaingrad import _tree
from chaingrad._wording import describe, kind
from chaingrad.node import Node
from chaingrad.program.tape import Recorded

ndarray = np.ndarray


def form(x: Any, differentiated: bool = False) -> Any:
    """Return everything about an argument except the values that may change per call, as a key.

    Raises:
        TypeError: it is a node that requires a gradient, or nothing that can be a key.
    """
    if type(x) is ndarray:
        if x.dtype.kind not in "fiub":
            raise TypeError(f"program: an argument has dtype {x.dtype}; use real numbers")
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


def recorded(x: Any, lift: Callable[[Any], Recorded], differentiated: bool = False) -> Any:
    """Replace the numbers and arrays of an argument with inputs of a tape."""
    if isinstance(x, dict):
        return {key: recorded(member, lift, differentiated) for key, member in x.items()}
    if isinstance(x, list | tuple):
        if differentiated and not _tree.is_container(x):
            return lift(np.asarray(x, np.float64))
        return _tree.sequence_like(x, [recorded(member, lift, differentiated) for member in x])
    if differentiated and isinstance(x, float | int | np.generic):
        keeps_dtype = isinstance(x, np.floating) and not isinstance(x, float)  # as float32
        return lift(np.asarray(x) if keeps_dtype else float(x))
    return lift(x) if isinstance(x, ndarray | float | np.generic) else x


def mapped(x: Any, change: Callable[[Any], Any]) -> Any:
    """Rebuild the containers with ``change`` applied to everything they hold."""
    if isinstance(x, dict):
        return {key: mapped(member, change) for key, member in x.items()}
    if isinstance(x, list | tuple):
        return _tree.sequence_like(x, [mapped(member, change) for member in x])
    return change(x)


def holds_recorded(x: Any) -> bool:
    """Return whether ``x`` holds recorded values: then another program's trace makes this call."""
    if isinstance(x, dict | list | tuple):
        return any(map(holds_recorded, x.values() if isinstance(x, dict) else x))
    return isinstance(x, Recorded) or (isinstance(x, Node) and isinstance(x.data, Recorded))
