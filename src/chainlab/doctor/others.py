"""What an engine has beyond the functions that the doctor knows: each is held to its own values.

A method that takes nothing and gives a node, such as a softplus or a softmax, is differentiated by
the engine and by one-sided differences of the values that the engine computes. What gives back the
values it got, as a detach, or other values each time, as a dropout, is left out.
"""

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainlab.doctor.conventions import is_asked_nothing, may_be_pass
from chainlab.doctor.number_probes import FUNCTIONS
from chainlab.doctor.probe import NotThereError, Observation, Probes, as_numbers
from chainlab.doctor.witness import slopes_at

OTHER = "another function"
_KNOWN = {*FUNCTIONS, "sum", "reshape"}
_NO_FUNCTION = re.compile(
    r"^_|_$|detach|stop|copy|clone|zero|clear|reset|print|show|plot|draw|save|load|step|train|fit|"
    r"render|trace|straight|ste$|round|sign|quant|dropout|sample|rand|backward|children|parents",
    re.IGNORECASE,
)
_NUMBERS = (0.7, -0.6)
_ENTRIES = np.array([[0.7, -0.6, 1.3], [-0.2, 0.4, 0.9]])


def _others(engine: Any, points: tuple[Any, ...]) -> Iterator[Observation]:
    if not engine.has_nodes:
        raise NotThereError("an engine of functions has no nodes")
    tried = False
    for x in points:
        for name in _names(_leaf(engine, x)):
            if _is_function(engine, name, x):
                tried = True
                yield from _slopes(engine, name, x)
    if not tried:
        raise NotThereError("it has none")


def _leaf(engine: Any, x: Any) -> Any:
    return engine.array(x.copy()) if np.shape(x) else engine.leaf(x)


def _names(leaf: Any) -> Iterator[str]:
    for name in dir(type(leaf)):
        is_other = not (name in _KNOWN or _NO_FUNCTION.search(name) or may_be_pass(name))
        if (
            is_other
            and name not in getattr(leaf, "__dict__", {})
            and is_asked_nothing(type(leaf), name)
        ):
            yield name


def _is_function(engine: Any, name: str, x: Any) -> bool:
    """Return whether a method gives a node of numbers, the same each time, and not its operand."""
    first, second = (_value(engine, name, x) for _ in range(2))
    if first is None or second is None or not np.isfinite(first).all():
        return False
    return np.array_equal(first, second) and not np.array_equal(first.ravel(), np.ravel(x))


def _value(engine: Any, name: str, x: Any) -> Any:
    """Return the value of a method's result; None if the result is no node of numbers."""
    leaf = _leaf(engine, x)
    try:
        y = getattr(leaf, name)()
        return as_numbers(engine.value(y)) if type(y) is type(leaf) else None
    except Exception:
        return None


def _array(found: Any) -> NDArray[np.float64]:
    numbers = as_numbers(found)
    return np.array(np.nan) if numbers is None else numbers


def _slopes(engine: Any, name: str, x: Any) -> Iterator[Observation]:
    """Yield the gradient of a function beside the slopes of its values, where there is no kink."""

    def weighed(a: Any) -> Any:
        y = getattr(a, name)()
        shape = _array(engine.value(y)).shape
        if int(np.prod(shape)) == 1:
            return y
        weights = 0.5 + np.arange(np.prod(shape)).reshape(shape) % 3
        return (y * engine.array(weights)).sum()

    leaf = _leaf(engine, x)
    try:
        root = weighed(leaf)
    except Exception:
        return
    try:
        engine.backward(root)
    except NotImplementedError:  # it says that this one has no derivative
        return
    gradient = engine.gradient(leaf)
    came = np.zeros(np.shape(x)) if gradient is None else _array(gradient)
    call = f"{'A' if np.shape(x) else 'a'}.{name}()"
    if came.size != np.size(x) or (np.shape(x) and came.shape != np.shape(x)):
        yield f"the gradient of {call}", gradient, np.zeros(np.shape(x))
        return
    came = came.reshape(np.shape(x))
    for place in np.ndindex(np.shape(x)):
        slopes = slopes_at(engine, weighed, (x,), 0, place)
        if slopes.is_known and not slopes.is_kink and not slopes.is_at(float(came[place])):
            yield f"the slope of {call}", came[place], (slopes.left + slopes.right) / 2


OTHERS = Probes()
for _text, _milestone, _points in (
    ("its other functions of a number", 4, _NUMBERS),
    ("its other functions of an array", 5, (_ENTRIES,)),
):
    OTHERS.milestone = _milestone
    OTHERS.program(
        _text, OTHER, "the rule of this function: the engine's own values have another slope",
        partial(_others, points=_points), subject=_text.removeprefix("its ")
    )  # fmt: skip
