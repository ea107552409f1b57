"""What the doctor tries on arrays, milestone 5: each result is summed up to a number, with weights.

Leaves are arrays of float64; results of operations are multiplied by a leaf that weighs each entry
differently, so that an entry in the wrong place has a gradient that is wrong.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainlab.doctor.number_probes import (
    AGAIN,
    FORGETS,
    FUNCTIONS,
    KEPT,
    NUMBERS,
    OF_WHOLE,
    ONCE_MORE,
    ONE_ARRAY,
    OVERWRITES,
    SEND,
    SHARED,
    SHARED_BY_TWO,
    STALE,
    TOGETHER,
    clean_pass,
)
from chainlab.doctor.probe import Observation, Probes, as_numbers

BROADCAST = "a gradient of another shape than its node: broadcasting"
MATMUL = "a rule: @"
SUM = "a rule: sum"
VIEW = "a rule: {0}"
BESIDE = "an array beside a node"
WHOLE_ARRAYS = "whole numbers in arrays"
_REFUSED = "an array of NumPy beside a node is refused"

OVER_AXIS = "sum over an axis"
OF_NUMBERS = "numbers and arrays beside nodes of arrays"

ARRAYS = Probes(NUMBERS)  # for what they need; cut off at the end
ARRAYS.milestone = 5
_UNBROADCAST = "the shares of an operand that was broadcast: sum them up over the axes added to it"
_TRANSPOSE = "the rule of @: for Y = A B the share of A is G Bᵀ, and that of B is Aᵀ G"
_SUMMED = "the rule of sum: the gradient of the result goes to every entry that was summed"
_VIEWED = "the rule of {0}: the gradient of the result goes back to the entries that it was made of"


def _array(*shape: int, low: float = 0.4) -> NDArray[np.float64]:
    """Return numbers above 0 that differ, in a pattern that a transposed array does not have."""
    places = np.arange(1, np.prod(shape, dtype=int) + 1)
    return low + (places * 7 % 11).reshape(shape) / 8


def _pair(
    left: tuple[int, ...], right: tuple[int, ...]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return _array(*left), _array(*right, low=0.9)


def _subject(view: str) -> str:
    if view.startswith(".sum("):
        return OVER_AXIS
    return "[ ]" if view.startswith("[") else view.partition("(")[0].removeprefix(".")


A, B, W = _array(2, 3), _array(2, 3, low=0.9), _array(2, 3, low=0.2)
_try = ARRAYS.expression

_try("A.sum()", "A", (A,), SUM, _SUMMED, required=True, subject="sum")
_try("(A + B).sum()", "A B", (A, B), "a rule: + of arrays", "the rule of + where data are arrays",
     "a + b", "A.sum()", required=True, subject="+ of arrays")  # fmt: skip
_try("(A * B).sum()", "A B", (A, B), "a rule: * of arrays",
     "the rule of * where data are arrays: entry by entry", "a * b", "A.sum()",
     required=True, graded=True, subject="* of arrays")  # fmt: skip
_WEIGHED = ("A.sum()", "(A * B).sum()")
for _text in ("((A + B) * (A * W)).sum()", "((A * W) * (A + B)).sum()"):
    # whatever the order, in one of the two + sends to A first
    _try(_text, "A B W", (A, B, W), ONE_ARRAY,
         KEPT, "(A + B).sum()", "(A * B).sum()", "a * b + a * c", *ONCE_MORE,
         subject="+ of arrays")  # fmt: skip
_WIDE: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((2, 3), (3,)), ((2, 1), (1, 3)), ((2, 3), (2, 1)), ((3,), (2, 3)), ((2, 3), (1, 3)),
    ((2, 2, 3), (3,)), ((2, 2, 3), (2, 1)),
)  # fmt: skip


def _all_three(
    left: tuple[int, ...], right: tuple[int, ...]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return two operands and weights for the entries of their result."""
    return *_pair(left, right), _array(*np.broadcast_shapes(left, right), low=0.2)


ARRAYS.subject = "broadcasting"
_alone: dict[Any, str] = {}  # the probe of an operation with operands of these shapes
for _op in "+-*/":
    _rules: tuple[str, ...] = (f"a {_op} b", *_WEIGHED)
    for _shapes in _WIDE:
        _try(f"((A {_op} B) * W).sum()", "A B W", _all_three(*_shapes),
             BROADCAST, _UNBROADCAST, *_rules, required=_shapes[0] == (2, 3),
             graded=(_op, _shapes) == ("-", _WIDE[0]))  # fmt: skip
        _alone[_op, _shapes] = ARRAYS[-1].text
    _try(f"((A {_op} b) * W).sum()", "A b W", (A, 0.7, W), BROADCAST, _UNBROADCAST, *_rules)
    _alone[_op, "b"] = ARRAYS[-1].text
    _try(f"((A {_op} 2) * W).sum()", "A W", (A, W), BESIDE,
         "the operator for a plain number beside a node of arrays",
         f"a {_op} 2", *_WEIGHED, required=True, subject=OF_NUMBERS)  # fmt: skip
    _try(f"((2 {_op} A) * W).sum()", "A W", (A, W), BESIDE,
         "the operator for a plain number on the left of a node of arrays",
         f"2 {_op} a", *_WEIGHED, required=True, subject=OF_NUMBERS)  # fmt: skip
    _try(f"((A {_op} array) * W).sum()", "A W", (A, W), BESIDE,
         "the operator for an array of NumPy on the right: the array is a constant",
         f"a {_op} 2", *_WEIGHED, refused=_REFUSED, subject=OF_NUMBERS)  # fmt: skip
    _try(f"((array {_op} A) * W).sum()", "A W", (A, W), BESIDE,
         "NumPy's own operator, which takes a node for an object: `__array_ufunc__ = None` in the "
         "class has it ask __radd__ and its like", f"2 {_op} a", *_WEIGHED,
         refused=_REFUSED, subject=OF_NUMBERS)  # fmt: skip

ARRAYS.subject = "@"
_try("((A @ B) * W).sum()", "A B W", (_array(2, 3), _array(3, 4, low=0.9), _array(2, 4, low=0.2)),
     MATMUL, _TRANSPOSE, *_WEIGHED, required=True, graded=True)  # fmt: skip
_SQUARE = (_array(3, 3), _array(3, 3, low=0.9), _array(3, 3, low=0.2))
_try("((A @ B) * W).sum()", "A B W", _SQUARE, f"{MATMUL} of square matrices",
     "the rule of @ where every transpose fits: only the numbers tell which is right",
     "((A @ B) * W).sum()")  # fmt: skip
_alone["@"] = ARRAYS[-1].text
_try("(A @ B @ W).sum()", "A B W", (_array(2, 3), _array(3, 3, low=0.9), _array(3, 2, low=0.2)),
     FORGETS, "the rule of @: each share is a product with the gradient of the result",
     "((A @ B) * W).sum()", _alone["@"])  # fmt: skip
_OF_VECTORS: tuple[tuple[str, tuple[int, ...], tuple[int, ...], Any], ...] = (
    ("a matrix and a vector", (2, 3), (3,), _array(2, low=0.2)), ("two vectors", (3,), (3,), 0.6),
    ("a vector and a matrix", (3,), (3, 2), _array(2, low=0.2)),
    ("a stack and a matrix", (2, 2, 3), (3, 2), _array(2, 2, 2, low=0.2)),
    ("two stacks", (2, 2, 3), (2, 3, 2), _array(2, 2, 2, low=0.2)),
)  # fmt: skip


def _kind(operands: str) -> str:
    return "@ of stacks" if "stack" in operands else "@ of vectors"


for _name, _left, _right, _weights in _OF_VECTORS:
    _try("((A @ B) * W).sum()", "A B W", (*_pair(_left, _right), _weights),
         f"{MATMUL} of {_name}",
         "the rule of @ for operands of other than two axes: which axes the product leaves",
         "((A @ B) * W).sum()", refused=f"no @ of {_name}", subject=_kind(_name))  # fmt: skip
    _alone[_name] = ARRAYS[-1].text

_SUMS: tuple[tuple[str, tuple[int, ...]], ...] = (
    (".sum(axis=0)", (3,)), (".sum(axis=1)", (2,)),
    (".sum(axis=1, keepdims=True)", (2, 1)), (".sum(axis=0, keepdims=True)", (1, 3)),
    (".sum(axis=-1)", (2,)),
)  # fmt: skip
for _view, _shape in _SUMS:
    _try(f"(A{_view} * W).sum()", "A W", (A, _array(*_shape, low=0.2)),
         f"{SUM} over an axis",
         "the rule of sum: the axis that was summed has to come back, or the shape does not fit",
         *_WEIGHED, required="-1" not in _view, graded=_view == ".sum(axis=0)",
         subject=OVER_AXIS, named=True,
         demanded=True)  # fmt: skip

_VIEWS: tuple[tuple[str, tuple[int, ...]], ...] = (
    (".T", (3, 2)), (".reshape(3, 2)", (3, 2)), (".mean(axis=0)", (3,)), (".max(axis=1)", (2,)),
    ("[0]", (3,)), ("[:, 1:]", (2, 2)),
)  # fmt: skip
for _view, _shape in _VIEWS:
    _name = _view.removeprefix(".")
    _try(f"(A{_view} * W).sum()", "A W", (A, _array(*_shape, low=0.2)),
         VIEW.format(_name.partition("(")[0]), _VIEWED.format(_name), *_WEIGHED,
         subject=_subject(_view), named=True, demanded=True)  # fmt: skip
for _view in (".mean()", ".max()", ".min()"):
    _name = _view.strip(".()")
    _try(f"A{_view} * b", "A b", (A, 0.6), VIEW.format(_name), _VIEWED.format(_view[1:]), "a * b",
         "A.sum()", subject=_name, named=True, demanded=True)  # fmt: skip
_try("(A[[0, 1, 0]] * W).sum()", "A W", (A, _array(3, 3, low=0.2)),
     "a row that is taken twice gets one share",
     "the rule of [ ]: np.add.at adds up what goes to one place, += on an index does not",
     "(A[0] * W).sum()", subject="[ ]",
     f=lambda A, W: (A[np.array([0, 1, 0])] * W).sum())  # fmt: skip

for _name in FUNCTIONS:
    _try(f"(A.{_name}() * W).sum()", "A W", (A - 0.9 if _name == "relu" else A, W),
         f"a rule: {_name} of arrays",
         f"the rule of {_name} where data are arrays: functions of NumPy, not of math", *_WEIGHED,
         required=_name in ("exp", "log", "relu"), graded=_name in ("exp", "log"),
         subject=f"{_name} of arrays")  # fmt: skip
_try("(A ** 2 * W).sum()", "A W", (A, W), "a rule: ** of arrays",
     "the rule of ** where data are arrays", "a ** 3", *_WEIGHED,
     subject="** of arrays")  # fmt: skip

# --- each operand once more: what its rule does with the share that came before -----------------

_BESIDE = ("a + b", *_WEIGHED, "a * b + a * c")
_ALL = (*_BESIDE, "((A + B) * (A * W)).sum()", "((A * W) * (A + B)).sum()")
_twice: dict[Any, str] = {}  # the probe of an operation whose operands are used once more


def _again(
    text: str, names: str, at: tuple[Any, ...], subject: str, *needs: str, **more: Any
) -> None:
    """Try operands once more: outer products send first, so the inner rule finds a share there."""
    needs = (*needs, _alone["*", "b"], *_ALL)
    _try(text, names, at, OVERWRITES, SEND, *needs, subject=subject, **more)


def _beside(
    text: str, names: str, at: tuple[Any, ...], subject: str, *needs: str, **more: Any
) -> None:
    """Try a sum of a rule's result and of the same leaf; in one of two orders the rule is last."""
    f, after = more.pop("f", None), names.split().index("V")
    for full, g in (
        (f"{text} + (A * V).sum()", f and (lambda *x: f(*x) + (x[0] * x[after]).sum())),
        (f"(A * V).sum() + {text}", f and (lambda *x: (x[0] * x[after]).sum() + f(*x))),
    ):
        needs = (*needs, *_BESIDE)
        _try(full, names, at, OVERWRITES, SEND, *needs, subject=subject, f=g, **more)


for _op in "+-*/":
    _rules = (f"a * (a {_op} b)", f"a * (b {_op} a)")
    if _op in "+*":
        _rules = (*_rules, f"(A {_op} B).sum()")
    _of_arrays = f"{_op} of arrays"
    _again(f"(A * (B * (B * (A {_op} B))) * W).sum()", "A B W", (A, B, W), _of_arrays, *_rules)
    for _shapes in _WIDE:
        _again(f"(A * (B * (B * (A {_op} B))) * W).sum()", "A B W", _all_three(*_shapes),
               "broadcasting", *_rules, _alone[_op, _shapes], _alone["*", _shapes])  # fmt: skip
        _twice[_op, _shapes] = ARRAYS[-1].text
    _again(f"(A * (b * (b * (A {_op} b))) * W).sum()", "A b W", (A, 0.7, W), "broadcasting",
           *_rules, _alone[_op, "b"])  # fmt: skip
    for _text in (f"A {_op} 2", f"2 {_op} A"):
        _again(f"(A * (A * ({_text})) * W).sum()", "A W", (A, W), OF_NUMBERS,
               f"(({_text}) * W).sum()", f"a * ({_text.lower()})")  # fmt: skip
_again("(A * (B * (A @ B)) * W).sum()", "A B W", _SQUARE, "@",
       "((A @ B) * W).sum()", _alone["@"], "(A @ B @ W).sum()")  # fmt: skip
for _text in ("A @ B", "B @ A"):
    _beside(f"(({_text}) * W).sum()", "A B W V", (*_SQUARE, _array(3, 3, low=0.3)), "@",
            "((A @ B) * W).sum()", _alone["@"])  # fmt: skip
for _name, _left, _right, _weights in _OF_VECTORS:
    _used = *_pair(_left, _right), _weights
    _again("(A * (B * ((A @ B) * V).sum() * W).sum()).sum()", "A B V W",
           (*_used, _array(*_right, low=0.2)), _kind(_name),
           _alone[_name], refused=f"no @ of {_name}")  # fmt: skip
    _beside("((A @ B) * W).sum()", "A B W V", (*_used, _array(*_left, low=0.3)),
            _kind(_name), _alone[_name], refused=f"no @ of {_name}")  # fmt: skip
_again("(A * A.sum() * W).sum()", "A W", (A, W), "sum")
_beside("A.sum()", "A V", (A, W), "sum")
for _view, _shape in _SUMS + _VIEWS:
    _at = (A, _array(*_shape, low=0.9), W)
    _beside(f"(A{_view} * W).sum()", "A W V", _at, _subject(_view), f"(A{_view} * W).sum()")
    _again(f"(A * (A{_view} * B).sum() * W).sum()", "A B W", _at, _subject(_view),
           f"(A{_view} * W).sum()")  # fmt: skip
_again("(A * (A[[0, 1, 0]] * B).sum() * W).sum()", "A B W", (A, _array(3, 3, low=0.9), W), "[ ]",
       "(A[[0, 1, 0]] * W).sum()",
       f=lambda A, B, W: (A * (A[np.array([0, 1, 0])] * B).sum() * W).sum())  # fmt: skip
for _name in FUNCTIONS:
    _entries = A - 0.9 if _name == "relu" else A
    _needed = (f"a * a.{_name}()", f"(A.{_name}() * W).sum()")
    _beside(f"(A.{_name}() * W).sum()", "A W V", (_entries, W, B), f"{_name} of arrays", *_needed)
    _again(f"(A * A.{_name}() * W).sum()", "A W", (_entries, W), f"{_name} of arrays", *_needed)
_again("(A * A ** 2 * W).sum()", "A W", (A, W), "** of arrays", "a * a ** 3", "(A ** 2 * W).sum()")

ARRAYS.subject = SHARED
_ROW = _array(3, low=0.9)
_try("((A + b) * A).sum()", "A b", (A, _ROW), TOGETHER, SHARED_BY_TWO, _twice["+", _WIDE[0]], *_ALL,
     graded=True)  # fmt: skip
_try("(A / b).sum()", "A b", (A, _ROW), TOGETHER, SHARED_BY_TWO, _alone["/", _WIDE[0]], *_ALL,
     graded=True)  # fmt: skip
_try("(2 - A * 3).sum()", "A", (A,), TOGETHER, SHARED_BY_TWO,
     "((A * 2) * W).sum()", "((2 - A) * W).sum()", *_ALL, graded=True)  # fmt: skip
_try("(A.sum(axis=1, keepdims=True) * A).sum()", "A", (A,), TOGETHER, SHARED_BY_TWO,
     "(A * (A.sum(axis=1, keepdims=True) * B).sum() * W).sum()", _alone["*", _WIDE[2]],
     "(A.sum(axis=1, keepdims=True) * W).sum()", *_ALL, graded=True)  # fmt: skip
_try("((A - B).relu() * A).sum()", "A B", (A, A[::-1]), TOGETHER, SHARED_BY_TWO,
     "(A.relu() * W).sum()", "(A * A.relu() * W).sum()", "(A * (B * (B * (A - B))) * W).sum()",
     *_ALL, graded=True)  # fmt: skip
_try("(A * b).sum()", "A b", (np.array([[1, 2, 3], [4, 5, 6]]), 0.5), WHOLE_ARRAYS,
     "where data and gradients are made: an array of integers must not make them whole",
     *_WEIGHED, "((A * b) * W).sum()", whole=True, corner=True, subject=OF_WHOLE)  # fmt: skip


def _second_pass(engine: Any) -> Iterator[Observation]:
    a, b, w = (engine.array(x.copy()) for x in (A, B, W))
    with engine.forward():
        y = ((a * b) * w).sum()
    for which in ("first", "second"):
        clean_pass(engine, y, a, b, w)
        yield f"dy/dA of the {which} pass", engine.gradient(a), B * W


def _tied(engine: Any) -> Iterator[Observation]:
    """Add a number to all entries, and the maximum grows by it: at a tie the shares come to 1."""
    a = engine.array(np.array([[1.0, 3.0, 3.0], [2.0, 0.0, 3.0]]))
    with engine.forward():
        y = a.max()
    engine.backward(y)
    found = as_numbers(engine.gradient(a))
    yield "the shares of all entries, added up", None if found is None else found.sum(), 1.0


ARRAYS.program("A.max(), where three entries are equal", "a rule: max at a tie",
               "the entries that attain the maximum: one of them gets the share, or each a part",
               _tied, "A.max() * b", subject="max")  # fmt: skip
ARRAYS.subject = AGAIN
ARRAYS.program("y = ((A * B) * W).sum(), backward twice", f"{STALE}, of arrays",
               "the start of a pass: interior nodes begin at 0, in the shape of their data",
               _second_pass, "y = (a * b) * c, backward twice, leaves cleared between", *_WEIGHED,
               demanded=True, refused="a second pass is refused")  # fmt: skip

del ARRAYS[: len(NUMBERS)]
