"""What the doctor tries on arrays, milestone 5: each result is summed up to a number, with weights.

Leaves are arrays of float64; results of operations are multiplied by a leaf that weighs each entry
differently, so that an entry in the wrong place has a gradient that is wrong.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chaingrad.doctor.probe import Probe, Probes, Reading
from chaingrad.doctor.scalars import FORGETS, FUNCTIONS, NUMBERS, STALE

BROADCAST = "a gradient of another shape than its node: broadcasting"
MATMUL = "a rule: @"
SUM = "a rule: sum"
VIEW = "a rule: {0}"
SHARED = "two nodes share one array of gradients"
BESIDE = "an array beside a node"
WHOLE_ARRAYS = "whole numbers in arrays"
_REFUSED = "an array of NumPy beside a node is refused"

ARRAYS = Probes(NUMBERS)  # for what they need; cut off at the end
_UNBROADCAST = "the shares of an operand that was broadcast: sum them up over the axes added to it"
_TRANSPOSE = "the rule of @: for Y = A B the share of A is G Bᵀ, and that of B is Aᵀ G"
_SUMMED = "the rule of sum: the gradient of the result goes to every entry that was summed"
_VIEWED = "the rule of {0}: the gradient of the result goes back to the entries that it was made of"


def _array(*shape: int, low: float = 0.4) -> NDArray[np.float64]:
    """Numbers above 0 that differ, in no pattern that a transposed array shares."""
    places = np.arange(1, np.prod(shape, dtype=int) + 1)
    return low + (places * 7 % 11).reshape(shape) / 8


def _try(
    text: str, names: str, at: tuple[Any, ...], f: Callable[..., Any], bug: str, look: str,
    *needs: str, **more: Any,
) -> None:  # fmt: skip
    ARRAYS.expression(text, names, at, f, bug, look, *needs, milestone=5, **more)


A, B, W = _array(2, 3), _array(2, 3, low=0.9), _array(2, 3, low=0.2)

_try("A.sum()", "A", (A,), lambda A: A.sum(), SUM, _SUMMED, required=True)
_try("(A + B).sum()", "A B", (A, B), lambda A, B: (A + B).sum(), "a rule: + of arrays",
     "the rule of + where data are arrays", "a + b", "A.sum()", required=True)  # fmt: skip
_try("(A * B).sum()", "A B", (A, B), lambda A, B: (A * B).sum(), "a rule: * of arrays",
     "the rule of * where data are arrays: entry by entry", "a * b", "A.sum()",
     required=True)  # fmt: skip
_WEIGHED = ("A.sum()", "(A * B).sum()")
for _text, _f in (  # one of them sends to A by + first, whatever the order
    ("((A + B) * (A * W)).sum()", lambda A, B, W: ((A + B) * (A * W)).sum()),
    ("((A * W) * (A + B)).sum()", lambda A, B, W: ((A * W) * (A + B)).sum()),
):
    _try(_text, "A B W", (A, B, W), _f, SHARED,
         "where a share is kept: a copy, for += changes every node that holds the array",
         "(A + B).sum()", "(A * B).sum()", "a * b + a * c")  # fmt: skip
for _op, _of_two in (
    ("+", lambda A, B: A + B), ("-", lambda A, B: A - B),
    ("*", lambda A, B: A * B), ("/", lambda A, B: A / B),
):  # fmt: skip
    _alone = (f"a {_op} b", *_WEIGHED)
    for _left, _right in (((2, 3), (3,)), ((2, 1), (1, 3)), ((2, 3), (2, 1)), ((3,), (2, 3))):
        _try(f"((A {_op} B) * W).sum()", "A B W",
             (_array(*_left), _array(*_right, low=0.9), W),
             lambda A, B, W, f=_of_two: (f(A, B) * W).sum(), BROADCAST, _UNBROADCAST, *_alone,
             required=_left == (2, 3))  # fmt: skip
    _try(f"((A {_op} b) * W).sum()", "A b W", (A, 0.7, W),
         lambda A, b, W, f=_of_two: (f(A, b) * W).sum(), BROADCAST, _UNBROADCAST,
         *_alone)  # fmt: skip
    _try(f"((A {_op} 2) * W).sum()", "A W", (A, W), lambda A, W, f=_of_two: (f(A, 2) * W).sum(),
         BESIDE, "the operator for a plain number beside a node of arrays",
         f"a {_op} 2", *_WEIGHED, required=True)  # fmt: skip
    _try(f"((A {_op} array) * W).sum()", "A W", (A, W),
         lambda A, W, f=_of_two: (f(A, np.array([2.0, 3.0, 4.0])) * W).sum(), BESIDE,
         "the operator for an array of NumPy on the right: the array is a constant",
         f"a {_op} 2", *_WEIGHED, refused=_REFUSED)  # fmt: skip
    _try(f"((array {_op} A) * W).sum()", "A W", (A, W),
         lambda A, W, f=_of_two: (f(np.array([2.0, 3.0, 4.0]), A) * W).sum(), BESIDE,
         "NumPy's own operator, which takes a node for an object: `__array_ufunc__ = None` in the "
         "class has it ask __radd__ and its like", f"2 {_op} a", *_WEIGHED,
         refused=_REFUSED)  # fmt: skip

_try("((A @ B) * W).sum()", "A B W", (_array(2, 3), _array(3, 4, low=0.9), _array(2, 4, low=0.2)),
     lambda A, B, W: ((A @ B) * W).sum(), MATMUL, _TRANSPOSE, *_WEIGHED, required=True)  # fmt: skip
_try("(A @ B @ W).sum()", "A B W", (_array(2, 3), _array(3, 3, low=0.9), _array(3, 2, low=0.2)),
     lambda A, B, W: (A @ B @ W).sum(), FORGETS, "the rule of @: each share is a product with the "
     "gradient of the result", "((A @ B) * W).sum()")  # fmt: skip
for _name, _left, _right, _w in (
    ("a matrix and a vector", (2, 3), (3,), (2,)), ("two vectors", (3,), (3,), ()),
    ("a vector and a matrix", (3,), (3, 2), (2,)),
):  # fmt: skip
    _weights = _array(*_w, low=0.2) if _w else 0.6
    _try("((A @ B) * W).sum()", "A B W", (_array(*_left), _array(*_right, low=0.9), _weights),
         lambda A, B, W: ((A @ B) * W).sum(), f"{MATMUL} of {_name}",
         "the rule of @ for an operand of one axis: which axes the product leaves",
         "((A @ B) * W).sum()", refused=f"no @ of {_name}")  # fmt: skip

for _axis, _keep in ((0, False), (1, False), (1, True), (0, True)):
    _options = f"axis={_axis}" + ", keepdims=True" * _keep
    _shape = np.zeros((2, 3)).sum(axis=_axis, keepdims=_keep).shape
    _how = {"axis": _axis, "keepdims": True} if _keep else {"axis": _axis}
    _try(f"(A.sum({_options}) * W).sum()", "A W", (A, _array(*_shape, low=0.2)),
         lambda A, W, how=_how: (A.sum(**how) * W).sum(), f"{SUM} over an axis",
         "the rule of sum: the axis that was summed has to come back, or the shape does not fit",
         *_WEIGHED, required=True)  # fmt: skip

_VIEWS: tuple[tuple[str, Callable[[Any], Any], tuple[int, ...]], ...] = (
    ("T", lambda A: A.T, (3, 2)),
    ("reshape(3, 2)", lambda A: A.reshape(3, 2), (3, 2)),
    ("mean(axis=0)", lambda A: A.mean(axis=0), (3,)),
    ("max(axis=1)", lambda A: A.max(axis=1), (2,)),
    ("[0]", lambda A: A[0], (3,)),
    ("[:, 1:]", lambda A: A[:, 1:], (2, 2)),
)
for _name, _view, _to in _VIEWS:
    _dot = "" if _name.startswith("[") else "."
    _try(f"(A{_dot}{_name} * W).sum()", "A W", (A, _array(*_to, low=0.2)),
         lambda A, W, f=_view: (f(A) * W).sum(), VIEW.format(_name.partition("(")[0]),
         _VIEWED.format(_name), *_WEIGHED)  # fmt: skip
_try("(A[[0, 1, 0]] * W).sum()", "A W", (A, _array(3, 3, low=0.2)),
     lambda A, W: (A[np.array([0, 1, 0])] * W).sum(), "a row that is taken twice gets one share",
     "the rule of [ ]: np.add.at adds up what goes to one place, += on an index does not",
     "(A[0] * W).sum()")  # fmt: skip

for _name in FUNCTIONS:
    _try(f"(A.{_name}() * W).sum()", "A W", (A - 0.9 if _name == "relu" else A, W),
         lambda A, W, f=_name: (getattr(A, f)() * W).sum(), f"a rule: {_name} of arrays",
         f"the rule of {_name} where data are arrays: functions of NumPy, not of math", *_WEIGHED,
         required=_name in ("exp", "log", "relu"))  # fmt: skip
_try("(A ** 2 * W).sum()", "A W", (A, W), lambda A, W: (A**2 * W).sum(), "a rule: ** of arrays",
     "the rule of ** where data are arrays", "a ** 3", *_WEIGHED)  # fmt: skip
_try("whole numbers: (A * b).sum()", "A b", (np.array([[1, 2, 3], [4, 5, 6]]), 0.5),
     lambda A, b: (A * b).sum(), WHOLE_ARRAYS,
     "where data and gradients are made: an array of integers must not make them whole",
     *_WEIGHED, whole=True, corner=True)  # fmt: skip


def _second_pass(engine: Any) -> Iterator[Reading]:
    a, b, w = (engine.array(x.copy()) for x in (A, B, W))
    with engine.forward():
        y = ((a * b) * w).sum()
    for which in ("first", "second"):
        for leaf in (a, b, w):
            engine.clear(leaf)
        engine.backward(y)
        yield f"dy/dA of the {which} pass", engine.gradient(a), B * W


ARRAYS.append(
    Probe("y = ((A * B) * W).sum(), backward twice", f"{STALE}, of arrays",
          "the start of a pass: interior nodes begin at 0, in the shape of their data",
          _second_pass, ARRAYS.known(("y = (a * b) * c, backward twice, leaves cleared between",
          *_WEIGHED)), milestone=5, refused="a second pass is refused")
)  # fmt: skip

del ARRAYS[: len(NUMBERS)]
