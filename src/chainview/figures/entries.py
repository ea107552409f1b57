"""Operations on arrays, written out entry by entry."""

import functools
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from chaingrad.program.tape import BITS, ELEMENTWISE, SPECIAL, Recorded, Tape, filled, reached
from chaingrad.rules import TracingError

MOST = 2000  # entries of an array, and operations on numbers
_STEPS = {"sum": "add", "mean": "add", "prod": "multiply", "max": "maximum", "min": "minimum",
          "all": "logical_and", "any": "logical_or"}  # fmt: skip
_SAME: dict[str, Callable[..., Any]] = {
    "matmul": np.matmul,
    "dot": np.dot,
    "outer": np.multiply.outer,
    "cumsum": np.cumsum,
    "roll": np.roll,
    "vdot": lambda a, b: np.dot(a.ravel(), b.ravel()),
    "transpose": np.transpose,
    "reshape": lambda a, shape: a,  # for all are brought to their shapes
    "broadcast_to": np.broadcast_to,
    **{op: SPECIAL[op] for op in ("full", "concatenate", "einsum")},
}
FEWER = f"a page takes {MOST:,}: take fewer examples or smaller layers"

RecordedArray = np.ndarray[Any, Any]  # of recorded numbers


class EntryWriter:
    """Writes values, recorded as arrays, on a tape that takes numbers alone.

    NumPy moves and multiplies the entries, which write down what is done with them.
    """

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._known: dict[Recorded, RecordedArray] = {}

    def entries(self, x: Recorded) -> RecordedArray:
        """Return the entries of ``x``, in its shape.

        Raises:
            TracingError: an operation cannot be written out, or the tape refuses one.
        """
        for y in reached([x]):
            if y not in self._known:
                found = self._boxed(self._written(y)) if y.args else self._start(y)
                self._known[y] = found.reshape(y.shape)
        return self._known[x]

    def size(self, x: Recorded) -> Recorded:
        """Return a number itself, or the norm of an array."""
        entries = self.entries(x).ravel()
        if not x.shape:
            return entries[0]  # type: ignore[no-any-return]
        squares = self._each("multiply")(entries, entries)
        return self._each("sqrt")(self._reduced("add", squares, None))[0]  # type: ignore[no-any-return]

    def _start(self, x: Recorded) -> RecordedArray:
        if x.size > MOST:
            raise TracingError(f"an array of shape {x.shape} has {x.size:,} entries; {FEWER}")
        put = self._tape.input if x.op == "input" else self._tape.constant
        return self._boxed(map(put, np.ravel(x.example).astype(float).tolist()))

    def _boxed(self, entries: Any) -> RecordedArray:
        if isinstance(entries, np.ndarray):
            return entries
        return np.fromiter([entries] if isinstance(entries, Recorded) else entries, object)

    def _each(self, op: str) -> Callable[..., Any]:
        op = BITS.get(op, op)
        count = 3 if op == "where" else getattr(np, op).nin
        each: Callable[..., Any] = np.frompyfunc(lambda *x: self._tape.add(op, x), count, 1)
        return each

    def _reduced(self, op: str, a: RecordedArray, axis: Any) -> RecordedArray:
        if not a.size:
            raise TracingError(f"{op} of no entries")
        by = range(a.ndim) if axis is None else [i % a.ndim for i in np.atleast_1d(axis)]
        kept = [i for i in range(a.ndim) if i not in by]
        rows = a.transpose([*by, *kept]).reshape(-1, math.prod(a.shape[i] for i in kept))
        return functools.reduce(self._each(op), rows)

    def _filled(self, number: float, shape: tuple[int, ...]) -> RecordedArray:
        return self._boxed([self._tape.constant(number)] * math.prod(shape)).reshape(shape)

    def _written(self, x: Recorded) -> Any:
        op, args = x.op, [self._known[y] for y in x.args]
        if op in ELEMENTWISE:
            return self._each(op)(*args)
        if op in _STEPS:
            found = self._reduced(_STEPS[op], args[0], x.option("axis"))
            share = self._boxed([self._tape.constant(found.size / max(args[0].size, 1))])
            return self._each("multiply")(found, share) if op == "mean" else found
        if op in _SAME:
            return _SAME[op](*args, **dict(x.options))
        said = getattr(self, f"_{op}", None)
        if said is None:
            name = f"np.{x.option('call').name}" if op == "call" else f"{op} of arrays"
            raise TracingError(f"a page has no {name}")
        return said(x, *args)

    def _float(self, x: Recorded, a: RecordedArray) -> RecordedArray:
        is_truth = x.args[0].dtype.kind == "b"
        chosen = [self._filled(number, a.shape) for number in (1.0, 0.0)]
        return self._each("where")(a, *chosen) if is_truth else a

    def _astype(self, x: Recorded, a: RecordedArray) -> RecordedArray:
        if x.dtype.kind == "b":
            return self._each("not_equal")(a, self._filled(0.0, a.shape))  # type: ignore[no-any-return]
        return self._float(x, a)

    def _getitem(self, x: Recorded, a: RecordedArray, *_: RecordedArray) -> Any:
        return a[self._index(x)]

    def _scatter(self, x: Recorded, a: RecordedArray, *_: RecordedArray) -> RecordedArray:
        found = self._filled(0.0, x.shape)
        np.add.at(found, self._index(x), a)
        return found

    def _index(self, x: Recorded) -> Any:
        parts: Iterable[Recorded] = x.args[1:]
        if not all(part.is_constant or part.op == "broadcast_to" for part in parts):
            raise TracingError("an index that depends on a leaf: use where or maximum")
        return filled(x.option("index"), [part.example for part in parts])
