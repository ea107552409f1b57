"""Check named results against expected ones, and say which is the first that is wrong, and how.

Results are a dict in the order in which a computation makes them: an error then shows first where
it was made, not in all that follows from it. What an answer returns becomes plain data first
(`plain`), in a notebook and where it is graded. This module needs NumPy alone and is written to be
copied whole into a notebook.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from reprlib import Repr
from textwrap import wrap
from types import SimpleNamespace
from typing import Any

import numpy as np

RTOL, ATOL, DRAWS = 1e-6, 1e-9, 5  # the defaults of a check
# Relative to the largest entry of the expected result:
SINGLE = 3e-5  # what may be wrong in an array that float32 has rounded, all of it or a part
NEAR = 1e-3  # an error below this may come from rounding
ROUNDING = (
    "so close, it may be rounding: float32 holds about 7 digits; convert the inputs to float64. If "
    "they are float64 already, look for a small term that is missing or wrong"
)
HALF = "float16 holds about 3 digits, too few to tell a right result: convert it all to float64"
DEPTH = 24  # how deep lists and dicts may be nested
KEY_BOUND = 2**53
# How an instance of a user's subclass becomes an instance of Python's own class.
BARE: dict[type, Callable[[Any], Any]] = {
    str: str.__str__,
    int: int.__index__,
    float: float.__float__,
    complex: complex.__complex__,
}
PLAIN = "plain data (numbers, strings, arrays, lists, tuples, dicts)"


class NotPlainError(TypeError):
    """A result is not plain data, and cannot become it; says which."""


def plain(value: Any, name: str = "the result", depth: int = 0) -> Any:
    """Convert to plain data: None, booleans, numbers, strings, arrays, and containers of these.

    Whatever NumPy takes for numbers becomes an array: JAX's and PyTorch's arrays, masked ones,
    matrices. Precisions that few machines know become float64 and complex128.

    Raises:
        NotPlainError: it holds something else; says under which name.

    >>> plain({"axes": range(2), "dW": np.ones(2, np.longdouble)})
    {'axes': [0, 1], 'dW': array([1., 1.])}
    """
    if depth > DEPTH:
        raise NotPlainError(f"{name} is nested more than {DEPTH} levels deep")
    if value is None or isinstance(value, bool):
        return value
    for kind, bare in BARE.items():
        if isinstance(value, kind) and (kind is str or not isinstance(value, np.generic)):
            return bare(value)
    if hasattr(value, "__array__"):
        return _plain_array(value, name)
    if isinstance(value, Mapping):
        if odd := [key for key in value if not _is_key(key)]:
            raise NotPlainError(f"the key {odd[0]!r:.50} is neither a string nor a small integer")
        return {plain(key): plain(item, str(key), depth + 1) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray, memoryview)):
        items = [plain(item, name, depth + 1) for item in value]
        return tuple(items) if isinstance(value, tuple) else items
    raise NotPlainError(f"{name}: {type(value).__name__} is not {PLAIN}")


def _is_key(key: Any) -> bool:
    return isinstance(key, str) or (isinstance(key, int) and abs(key) < KEY_BOUND)


def _plain_array(value: Any, name: str) -> Any:
    try:
        array = np.asarray(value)
    except Exception as error:
        raise NotPlainError(f"{name}: {type(value).__name__} gives no array: {error}") from None
    if array.dtype.kind not in "biufc":
        raise NotPlainError(f"{name}: an array of dtype {array.dtype} is not {PLAIN}")
    if array.dtype.itemsize > {"f": 8, "c": 16}.get(array.dtype.kind, 8):
        array = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
    return array[()] if array.ndim == 0 else array


@dataclass(frozen=True)
class Difference:
    """The first result that is wrong: its name, what is wrong with it, and a hint (or "")."""

    name: str
    problem: str
    expected: str
    got: str
    hint: str = ""

    def __str__(self) -> str:
        rows = {"expected": self.expected, "got": self.got, "hint": self.hint}
        lines = [f"{self.name}: {self.problem}"]
        for name, text in rows.items():
            if text:
                lines += wrap(text, 76, initial_indent=f"  {name:10}", subsequent_indent=" " * 12)
        return "\n".join(lines)


def first_difference(
    expected: Mapping[str, Any],
    got: Any,
    rtol: float = RTOL,
    atol: float = ATOL,
    hints: Mapping[str, str] | None = None,
) -> Difference | None:
    """Compare named results in the order of ``expected``; return None if all agree.

    Shapes come before values. A number agrees if it is within atol + rtol·abs(expected); nan
    agrees with nan. Numbers that are not whole by their dtype may also be wrong by 3e-5 of the
    largest expected entry, or by ``rtol`` of it if that is more: what float32 has rounded on the
    way may be held in float64. An ``rtol`` that asks for more than 6 digits is taken at its word.
    A result in float16 is refused, whatever its values.
    Where the wrong result looks like a usual mistake, the hint says so.

    Args:
        expected: {name: number, array, string, bool, None, or a list of these}.
        got: what came in its place, of any type; for a list an array of one axis will do.
        rtol: relative tolerance.
        atol: absolute tolerance.
        hints: {name: what to think of if this result is wrong}; "*" stands for all other names.

    >>> print(first_difference({"dW": np.ones((2, 3))}, {"dW": np.ones((3, 2))}))
    dW: the shape is wrong
      expected  (2, 3)
      got       (3, 2)
      hint      it has the shape of the transpose
    """
    if not isinstance(got, Mapping):
        return Difference("result", "not a dict of results", ", ".join(expected), _show(got))
    for name in expected:
        if _is_half(got.get(name)):
            return Difference(name, "is in float16", "float64 or float32", "float16", HALF)
    for name, wanted in expected.items():
        if name not in got:
            return Difference(name, "is missing", _show(wanted), _show_names(got))
        found = _compare(wanted, got[name], rtol, atol)
        if found:
            told = hints or {}
            guess = [found[3]]
            if found[3] != ROUNDING:
                guess.append(told.get(name, told.get("*", "")))
            return Difference(name, *found[:3], hint="; ".join(filter(None, guess)))
    return None


def check_results(
    inputs: Callable[[np.random.Generator], Any],
    driver: Callable[[Any, Any], Mapping[str, Any]],
    expected: Callable[[Any], Mapping[str, Any]] | Sequence[Mapping[str, Any]],
    rtol: float = RTOL,
    atol: float = ATOL,
    hints: Mapping[str, str] | None = None,
    seeds: Iterable[int] = range(DRAWS),
    *,
    form: bool = False,
) -> None:
    """Run the functions of this notebook on drawn inputs; raise at the first result that is wrong.

    Args:
        inputs: draws plain data from a random generator.
        driver: given the notebook's names as attributes, and the inputs, returns named results.
        expected: the results for each seed; or a function that finds them from the inputs.
        rtol: relative tolerance.
        atol: absolute tolerance.
        hints: {name: what to think of if this result is wrong}.
        seeds: of the generators.
        form: compare what `form_of` says of the results, which tells no right one from a wrong one.

    Raises:
        AssertionError: a result is wrong; the message says which, what was expected, what came.
    """
    __tracebackhide__ = True  # IPython leaves this frame out of the traceback
    student = SimpleNamespace(**driver.__globals__)
    seeds = list(seeds)
    for k, seed in enumerate(seeds):
        drawn = inputs(np.random.default_rng(seed))
        wanted = expected(drawn) if callable(expected) else expected[k]
        got = driver(student, inputs(np.random.default_rng(seed)))
        try:
            came = form_of(plain(got)) if form else plain(got)
            wrong = first_difference(wanted, came, rtol, atol, hints)
        except NotPlainError as error:
            raise AssertionError(f"the results cannot be compared: {error}") from None
        if wrong:
            raise AssertionError(f"the first wrong result is\n{wrong}")
    if form:
        print("The form is right. The numbers are checked only when you hand in.")
    else:
        print(f"Right on {len(seeds)} random inputs.")


def form_of(results: Any) -> Any:
    """Describe what kind of thing each named result is, and its shape.

    >>> form_of({"a": 3, "dW": np.ones((2, 3)), "b": None})
    {'a': 'a number', 'dW': 'an array of shape (2, 3)', 'b': 'NoneType'}
    """
    if isinstance(results, Mapping):
        return {name: form_of(result) for name, result in results.items()}
    array = _as_numbers(results)
    if array is None or array.dtype.kind == "b":
        return type(results).__name__
    return f"an array of shape {array.shape}" if array.ndim else "a number"


Mismatch = tuple[str, str, str, str]  # problem, expected, got, hint


def _compare(expected: Any, got: Any, rtol: float, atol: float) -> Mismatch | None:
    if expected is None or isinstance(expected, (str, bool)):
        same = type(got) is type(expected) and got == expected
        if isinstance(expected, bool) and isinstance(got, np.bool_):
            same = bool(got) == expected
        return None if same else ("is not what it should be", _show(expected), _show(got), "")
    if isinstance(expected, (list, tuple)):
        return _compare_lists(expected, got, rtol, atol)
    return _compare_arrays(np.asarray(expected), got, rtol, atol)


def _compare_lists(expected: Any, got: Any, rtol: float, atol: float) -> Mismatch | None:
    flat = isinstance(got, np.ndarray) and got.ndim == 1
    if not (flat or isinstance(got, (list, tuple))):
        return "is not a list", _show(expected), f"{type(got).__name__} {_show(got)}", ""
    if len(got) != len(expected):
        return f"has {len(got)} items, not {len(expected)}", _show(expected), _show(got), ""
    numbers, came, near = _as_numbers(expected), _as_numbers(got), False
    if numbers is not None and came is not None:
        atol = _allowed(numbers, came, rtol, atol)
        near = numbers.shape == came.shape and _is_near(numbers, came)
    for i, (wanted, item) in enumerate(zip(expected, got, strict=True)):
        found = _compare(wanted, item, rtol, atol)
        if found:
            hint = ROUNDING if near else found[3]
            return f"item {i}: {found[0]}", _show(expected), _show(got), hint
    return None


def _compare_arrays(expected: np.ndarray, got: Any, rtol: float, atol: float) -> Mismatch | None:
    array = _as_numbers(got)
    if array is None:
        kind = "an array" if np.ndim(expected) else "a number"
        return f"is not {kind}", _show(expected), f"{type(got).__name__} {_show(got)}", ""
    if array.shape != expected.shape:
        hint = _shape_hint(expected, array, rtol, atol)
        return "the shape is wrong", str(expected.shape), str(array.shape), hint
    atol = _allowed(expected, array, rtol, atol)
    wrong = ~np.isclose(array, expected, rtol, atol, equal_nan=True)
    if not wrong.any():
        return None
    index = tuple(int(i) for i in np.argwhere(wrong)[0])
    problem = "the value is wrong"
    if index:
        place = ", ".join(map(str, index))
        problem = f"{wrong.sum()} of {wrong.size} entries are wrong, the first at [{place}]"
    hint = _value_hint(expected, array, rtol, atol)
    wanted, came = expected[index] + 0.0, array[index] + 0.0  # and -0 is shown as 0
    digits = 8 if f"{wanted:.8g}" != f"{came:.8g}" else 17
    return problem, f"{wanted:.{digits}g}", f"{came:.{digits}g}", hint


def _allowed(expected: np.ndarray, got: np.ndarray, rtol: float, atol: float) -> float:
    """Return the absolute tolerance, which is wider if float32 may have rounded the result."""
    wider = rtol >= RTOL and got.dtype.kind in "fc"
    return max(atol, max(SINGLE, rtol) * _largest(expected)) if wider else atol


def _largest(array: np.ndarray) -> float:
    """Return the largest absolute value among the finite entries."""
    return float(np.max(np.abs(array), where=np.isfinite(array), initial=0.0))


def _is_near(expected: np.ndarray, got: np.ndarray) -> bool:
    """Return whether the difference is so small that rounding may have caused it."""
    slack = NEAR * _largest(expected)
    close = np.allclose(got, expected, 0, slack, equal_nan=True)
    return slack > 0 and got.dtype.kind in "fc" and close


def _is_half(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_is_half, value))
    return getattr(value, "dtype", None) == np.float16


def _as_numbers(value: Any) -> np.ndarray | None:
    """Return the value as an array of numbers, or None; refuse text before NumPy pads it."""
    try:
        array = None if _holds_text(value) else np.asarray(value)
    except Exception:
        return None
    return array if array is not None and array.dtype.kind in "biufc" else None


def _holds_text(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_holds_text, value))
    return isinstance(value, (str, bytes))


def _shape_hint(expected: np.ndarray, got: np.ndarray, rtol: float, atol: float) -> str:
    if got.ndim > 1 and got.shape == expected.shape[::-1]:
        return "it has the shape of the transpose"
    if got.size == expected.size:
        return "the number of entries is right"
    if got.ndim == expected.ndim + 1 and got.shape[1:] == expected.shape:
        for how, reduce in (("summed", np.sum), ("averaged", np.mean)):
            reduced = reduce(got, axis=0)
            if np.allclose(reduced, expected, rtol, atol):
                return f"{how} over the first axis it would be right"
    return ""


def _value_hint(expected: np.ndarray, got: np.ndarray, rtol: float, atol: float) -> str:
    if _is_near(expected, got):
        return ROUNDING
    if not np.isfinite(got).all():
        return "there is a nan or inf in it" if np.isfinite(expected).all() else ""
    if not got.any():
        return "it is 0 everywhere"
    square = expected.ndim == 2 and expected.shape[0] == expected.shape[1]
    if square and np.allclose(got.T, expected, rtol, atol):
        return "it is the transpose of what is expected"
    norm = float(np.vdot(expected, expected).real)
    ratio = float(np.vdot(expected, got).real) / norm if norm > 0 else 0.0
    if expected.size > 1 and ratio and np.allclose(got, ratio * expected, rtol, atol):
        if np.isclose(ratio, -1):
            return "the sign is wrong"
        return f"every entry is {ratio:.6g} times what is expected"
    return ""


class _Short(Repr):
    """Values in a line, whose cost does not grow with the value."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 2
        self.maxlist = self.maxtuple = self.maxdict = 30
        self.maxstring = self.maxother = 100

    def repr_ndarray(self, array: np.ndarray, level: int) -> str:
        """Show the entries if there are only a few, and the shape otherwise."""
        if array.ndim > 2 and array.size > 64:
            return f"an array of shape {array.shape} and dtype {array.dtype}"
        return np.array2string(array, threshold=12)


def _show(value: Any) -> str:
    try:
        brief = isinstance(value, (np.ndarray, list, tuple, dict))
        text = _Short().repr(value) if brief else str(value)
    except Exception:
        text = f"a {type(value).__name__}"
    return text if len(text) <= 200 else text[:200] + " …"


def _show_names(got: Mapping[Any, Any]) -> str:
    return _show(", ".join(_show(name) for name in islice(got, 30)))
