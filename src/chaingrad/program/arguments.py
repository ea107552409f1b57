"""The arguments of a program: what is an input, and what belongs to the program itself."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from chaingrad import _tree
from chaingrad._wording import describe, kind
from chaingrad.node import Node
from chaingrad.program.tape import Recorded
from chaingrad.rules import TracingError

ndarray = np.ndarray


def plain(x: Any, differentiated: bool = False) -> Any:
    """Return an argument as a program takes it: what stands for an array as one.

    So do lists of floats, memory maps and the columns of tables; and what is ``differentiated`` by,
    all but a float of Python's.

    Raises:
        TypeError: it has a mask, can be read only once, is a node, or belongs to a trace.
    """
    if type(x) is float or type(x) is ndarray:
        return x
    for y in _tree.flat(x):
        if isinstance(y, Node):
            raise TypeError(
                f"program: the argument {describe(y)} is a node; a program takes and gives numbers "
                "and arrays: give it x.data, or use value_and_grad where derivatives are nested"
            )
        if isinstance(y, Recorded):
            raise TracingError(
                "program: f calls another program with an argument of its own; call value_and_grad "
                "within f instead"
            )
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError(
            "program: an argument has a mask; give x.filled(...), and multiply by weights"
        )
    if isinstance(x, Iterator):
        raise TypeError(f"program: {kind(x)} is used up by the first call; give a list of it")
    if isinstance(x, list | tuple | range) and not _tree.is_container(x):
        is_float = differentiated or any(isinstance(y, float) for y in _tree.flat(x))
        return np.asarray(x, float) if is_float else x
    if isinstance(x, int | np.generic) and differentiated:
        keeps_dtype = isinstance(x, np.floating) and not isinstance(x, float)  # as float32
        return np.asarray(x) if keeps_dtype else float(x)
    if isinstance(x, np.generic):
        return x
    return np.asarray(x) if hasattr(x, "__array__") and not isinstance(x, type) else x


def form(x: Any) -> Any:
    """Return everything about an argument except the values that may change per call, as a key.

    Raises:
        TypeError: it is nothing that can be a key.
    """
    if type(x) is ndarray:
        if x.dtype.kind not in "fiub":
            raise TypeError(f"program: an argument has dtype {x.dtype}; use real numbers")
        return x.shape, x.dtype
    if type(x) is float or isinstance(x, np.generic):
        return type(x)
    key = _hashable(x)
    try:
        hash(key)
    except TypeError:
        raise TypeError(
            "program: an argument must be a number, an array, or something that can be the key of "
            f"a dictionary; got {kind(x)}: give each array of it as an argument of its own"
        ) from None
    return type(x), key


def _hashable(x: Any) -> Any:
    return tuple(map(_hashable, x)) if isinstance(x, list | tuple) else x


def is_input(x: Any) -> bool:
    """Return whether the values of an argument may change from call to call."""
    return isinstance(x, ndarray | float | np.generic)


def mapped(x: Any, change: Callable[[Any], Any]) -> Any:
    """Rebuild lists and tuples with ``change`` applied to everything they hold."""
    if isinstance(x, list | tuple):
        return _tree.sequence_like(x, [mapped(member, change) for member in x])
    return change(x)
