"""What a node holds: a Python float or a NumPy array of floats, and how other data become one."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from chaingrad._wording import describe, explain_error, kind
from chaingrad.rules import Rule, Traced, is_symbol

Data = float | npt.NDArray[np.floating[Any]]

ndarray = np.ndarray


def as_data(x: Any) -> Data:
    """Turn ``x`` into what a node holds: a Python float, or an array of floats.

    Raises:
        TypeError: ``x`` is not numeric, is complex or masked, or is a node.
    """
    if type(x) is float:
        return x
    if is_symbol(x):
        return x.floating()  # type: ignore[no-any-return]
    if isinstance(x, Traced):
        raise TypeError(
            f"{describe(x)} is a node already; use it as it is, or node.detach() for "
            "a constant with its value"
        )
    if isinstance(x, int | float):
        return float(x)
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError("a node cannot hold a mask; give x.filled(...), and multiply by weights")
    try:
        array = np.asarray(x)
    except ValueError as error:
        raise TypeError(
            f"a node holds a number or an array of numbers; got {kind(x)} that is no array: {error}"
        ) from None
    if array.dtype.kind in "iub":
        array = array.astype(np.float64)
    if array.dtype.kind != "f":
        hint = "; differentiate real and imaginary parts apart" if array.dtype.kind == "c" else ""
        raise TypeError(
            f"a node holds a float or an array of floats; got {kind(x)} of dtype "
            f"{array.dtype}{hint}"
        )
    if not isinstance(x, np.ndarray) and array.ndim == 0 and array.dtype == np.float64:
        return float(array)
    return array


def numeric(data: Any, rule: Rule) -> Any:
    """Return the result of a rule, which may be a user's, as a float or an array of floats."""
    if type(data) is float or (type(data) is ndarray and data.dtype.kind == "f"):
        return data
    try:
        return data if isinstance(data, np.floating) else as_data(data)
    except TypeError:
        raise TypeError(
            f"the rule {rule.name} must compute a float or an array of floats; it gave {kind(data)}"
        ) from None


def floats(node: Any) -> Any:
    """Return the data of ``node``; if a user assigned integers, convert them to floats."""
    data = node.data
    if type(data) is ndarray and data.dtype.kind == "f":
        return data
    if isinstance(data, Traced) and not is_symbol(data):
        raise TypeError("its data are a node")
    if isinstance(data, ndarray | int):
        data = node.data = as_data(data)
    return data


def result_data(data: Any, rule: Rule, parents: Sequence[Any]) -> Data:
    """Return the result of a rule as a float or an array of floats, never a NumPy scalar."""
    if isinstance(data, float):
        return float(data)
    if isinstance(data, np.floating):
        return np.asarray(data)
    if is_symbol(data):
        return data.floating().settled()  # type: ignore[no-any-return]
    if isinstance(data, Traced):
        raise explain_error(TypeError("it gave a node"), rule, parents)
    return as_data(rule.compute(*map(floats, parents)))
