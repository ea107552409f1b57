"""Values that write down what is done with them.

A `Recorded` stands for a number or an array while a function is traced. Rules compute with it as
with any array, and each operation becomes another `Recorded` on the same `Tape`: a graph of
operations without derivatives or nodes, in which nothing is written twice. ``identities.py`` says
what is not written at all.

An example of each value is computed along the way, for its shape and dtype alone: what would decide
by it (``if x > 0``, ``float(x)``) is refused.
"""

import hashlib
import inspect
import math
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

import numpy as np

from chaingrad.rules import Rule, Symbol, Traced, TracingError, is_number

ndarray = np.ndarray
Options = tuple[tuple[str, Any], ...]

COMMUTE = {"add", "multiply", "maximum", "minimum", "equal", "not_equal", "bitwise_and",
           "bitwise_or", "logical_and", "logical_or"}  # fmt: skip
# Functions whose result may show the memory of their first operand.
VIEWS = {"transpose", "reshape", "broadcast_to", "getitem", "einsum", "astype", "float"}
ELEMENTWISE = {
    name
    for name, found in vars(np).items()  # not dir, whose names bring modules
    if isinstance(found, np.ufunc) and name != "matmul"
} | {"where"}
BITS = {"bitwise_and": "logical_and", "bitwise_or": "logical_or", "invert": "logical_not"}


def _refusing(how: str) -> Callable[..., NoReturn]:
    """Make a method that refuses to turn a recorded value into a plain one."""
    return lambda self, *_, **__: self._refuse(how)


def _reducing(op: str) -> Callable[..., "Recorded"]:
    """Make the method for a reduction."""

    def method(self: "Recorded", axis: Any = None, keepdims: bool = False) -> "Recorded":
        return self._reduced(op, axis, keepdims)

    method.__qualname__ = f"Recorded.{op}"
    return method


class Recorded(Symbol):
    """A number or an array while a function is traced, and the operation that it comes from.

    Attributes:
        op: "input", "constant", or the name of the function of NumPy that gives it.
        args: what it is computed from.
        options: the keywords of the function, as pairs.
        example: a value that it may have; only its shape, dtype and kind mean something.
        place: how many were written before it.
    """

    __slots__ = ("args", "example", "op", "options", "place", "tape")

    def __init__(
        self, tape: "Tape", op: str, args: tuple["Recorded", ...], options: Options, example: Any
    ) -> None:
        self.tape, self.op, self.args, self.options = tape, op, args, options
        self.example = example
        self.place: float = tape.count
        tape.count += 1

    # --- what is known of it --------------------------------------------------------------------

    @property
    def data(self) -> "Recorded":
        return self

    @property
    def shape(self) -> tuple[int, ...]:
        return np.shape(self.example)

    @property
    def ndim(self) -> int:
        return np.ndim(self.example)

    @property
    def size(self) -> int:
        return int(np.size(self.example))

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.result_type(self.example) if self.is_array else np.dtype(type(self.example))

    @property
    def is_array(self) -> bool:
        """Whether it is NumPy's; a plain number does not widen an array."""
        return isinstance(self.example, ndarray | np.generic)

    @property
    def is_constant(self) -> bool:
        return self.op == "constant"

    def option(self, name: str) -> Any:
        return dict(self.options).get(name)

    def __len__(self) -> int:
        return len(self.example)

    def __iter__(self) -> Iterator["Recorded"]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"<recorded {self.op} of shape {self.shape}>"

    __hash__ = object.__hash__

    # --- what would lose it ---------------------------------------------------------------------

    def _refuse(self, how: str) -> NoReturn:
        raise TracingError(
            f"program: cannot {how} a traced value of shape {self.shape}: it differs from call to "
            "call. Use chaingrad.where, maximum or clip, or pass the deciding value as an int, a "
            "bool or a string"
        )

    __bool__ = _refusing("branch on")
    __float__, __int__ = _refusing("call float() on"), _refusing("call int() on")
    __index__ = _refusing("index or count with")
    __array__ = _refusing("make a plain array of")
    __setitem__ = _refusing("change entries of")
    item, tolist = _refusing("call item() on"), _refusing("call tolist() on")
    sort = _refusing("call sort() on")

    # --- operations -----------------------------------------------------------------------------

    def apply(self, rule: Rule, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
        for x in inputs:
            if isinstance(x, Traced) and not isinstance(x, Recorded):
                return x.apply(rule, inputs, options)
        return rule.compute(*inputs, **options)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if any(isinstance(x, Traced) and not isinstance(x, Recorded) for x in inputs):
            return NotImplemented
        if "out" in options:
            raise TracingError(
                f"program: np.{ufunc.__name__} cannot write into an array while it is traced: "
                "write a = a + b instead of a += b, and drop out="
            )
        if method != "__call__" or options:
            _refuse_call(f"{ufunc.__name__} with {method} or options")
        return self.tape.add(ufunc.__name__, inputs)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        if any(issubclass(t, Traced) and not issubclass(t, Recorded) for t in types):
            return NotImplemented  # a node among the operands applies the rule
        call = _KNOWN.get(function)
        if call is None and function in _FUNCTIONS:
            call = partial(_FUNCTIONS[function], self.tape)
        if call is None:
            _refuse_call(function.__name__)
        try:
            inspect.signature(call).bind(*args, **options)
        except TypeError:
            _refuse_call(f"{function.__name__} with these arguments")
        return call(*args, **options)

    def __getattr__(self, name: str) -> Any:
        function = {"flatten": np.ravel}.get(name) or getattr(np, name, None)
        if name[0] == "_" or not callable(function) or not hasattr(ndarray, name):
            raise AttributeError(f"a traced value has no {name!r}")
        return partial(function, self)

    def __getitem__(self, index: Any) -> "Recorded":
        if type(index) is tuple and not index and not self.shape:
            return self
        return self.pick(self, index)

    @property
    def T(self) -> "Recorded":  # noqa: N802 (as in NumPy)
        return self if self.ndim < 2 else self.tape.add("transpose", (self,), axes=None)

    def astype(self, dtype: Any, copy: bool = True) -> "Recorded":
        dtype = np.dtype(dtype)
        if self.dtype == dtype:
            return self
        if dtype.kind == "b":
            return self.tape.add("not_equal", (self, 0))
        return self.tape.add("astype", (self,), dtype=dtype)

    def settled(self, number: bool = False) -> "Recorded":
        if not self.is_array or self.shape or not (number or self.dtype == np.float64):
            return self
        return self.tape.add("float", (self,))

    def floating(self, beside: Any = None) -> "Recorded":
        if self.dtype.kind == "f":
            return self
        if not self.is_array:
            return self.tape.add("float", (self,))
        return self.astype(np.float64 if beside is None or is_number(beside) else beside.dtype)

    def pick(self, a: Any, index: Any) -> "Recorded":
        parts, template, tape = _taken_apart(index, a)
        return tape.add("getitem", (a, *parts), index=template)

    def scatter(self, a: Any, index: Any, shape: tuple[int, ...]) -> "Recorded":
        parts, template, tape = _taken_apart(index, a)
        return tape.add("scatter", (a, *parts), index=template, shape=shape, dtype=_dtype(a))

    def elementwise(self, name: str) -> "Recorded":
        return self.tape.add(name, (self,))

    def demand(self, message: str) -> None:
        self.tape.demands.append((self.all(), message))

    def copy(self) -> "Recorded":
        return self

    __pos__ = copy

    def _reduced(self, op: str, axis: Any, keepdims: bool) -> "Recorded":
        if not self.is_array:
            return self
        if axis is not None and not isinstance(axis, int):
            axis = tuple(int(i) for i in axis) if np.ndim(axis) else int(axis)
            axis = axis[0] if isinstance(axis, tuple) and len(axis) == 1 else axis
        if axis is not None and axis != () and not keepdims:
            axis = None if self.ndim == (1 if isinstance(axis, int) else len(axis)) else axis
        if axis == () and op not in ("all", "any") and self.dtype.kind == "f":
            return self
        return self.tape.add(op, (self,), axis=axis, keepdims=bool(keepdims))

    sum, mean, prod = _reducing("sum"), _reducing("mean"), _reducing("prod")
    all, any, min = _reducing("all"), _reducing("any"), _reducing("min")

    def max(self, axis: Any = None, keepdims: bool = False, initial: float = -np.inf) -> "Recorded":
        found = self._reduced("max", axis, keepdims)
        return found if initial == -np.inf else self.tape.add("maximum", (found, initial))

    def reshape(self, *shape: Any) -> "Recorded":
        wanted = shape[0] if len(shape) == 1 else shape
        if not self.is_array and wanted != ():
            return self.tape.add("full", (self,), shape=np.reshape(0.0, wanted).shape)
        full = np.reshape(np.empty(self.shape, bool), wanted).shape
        return self if full == self.shape else self.tape.add("reshape", (self,), shape=full)

    def ravel(self) -> "Recorded":
        return self.reshape(-1)

    def transpose(self, *axes: Any) -> "Recorded":
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        if not order:
            return self.T
        order = tuple(int(i) % self.ndim for i in order)
        return self if order == tuple(range(self.ndim)) else self.tape.add(
            "transpose", (self,), axes=None if order == tuple(range(self.ndim))[::-1] else order
        )  # fmt: skip


def _refuse_call(what: str) -> NoReturn:
    raise TracingError(
        f"program: np.{what} is not written down: compute it outside, and pass the result as an "
        "argument"
    )


def _operators(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def forward(self: Recorded, other: Any) -> Any:
        if isinstance(other, Traced) and not isinstance(other, Recorded):
            return NotImplemented
        return self.tape.add(name, (self, other))

    def reflected(self: Recorded, other: Any) -> Any:
        return self.tape.add(name, (other, self))

    return forward, reflected


def _unary(name: str) -> Callable[[Recorded], Any]:
    return lambda self: self.tape.add(name, (self,))


for _method, _name in {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "pow": "power",
    "matmul": "matmul", "floordiv": "floor_divide", "mod": "remainder", "and": "bitwise_and",
    "or": "bitwise_or",
}.items():  # fmt: skip
    _forward, _reflected = _operators(_name)
    setattr(Recorded, f"__{_method}__", _forward)
    setattr(Recorded, f"__r{_method}__", _reflected)
for _method, _name in {
    "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal",
    "ne": "not_equal",
}.items():  # fmt: skip
    setattr(Recorded, f"__{_method}__", _operators(_name)[0])
for _method, _name in {"neg": "negative", "abs": "absolute", "invert": "invert"}.items():
    setattr(Recorded, f"__{_method}__", _unary(_name))
type.__setattr__(Recorded, "__hash__", object.__hash__)  # which __eq__ took away


class Tape:
    """Operations in the order in which they were recorded, none of them twice.

    Args:
        simpler: says what an operation comes to by what is already written, or None.
    """

    def __init__(self, simpler: Callable[..., Any] = lambda *_: None) -> None:
        self.count = 0
        self.simpler = simpler
        self.known: dict[Any, Recorded] = {}
        self.uses: Counter[Recorded] = Counter()  # how many read each
        self._dropped: set[Recorded] = set()
        self.demands: list[tuple[Recorded, str]] = []

    @property
    def ops(self) -> set[str]:
        """The names of the operations that were recorded."""
        return {x.op for x in self.known.values()}

    def input(self, example: Any) -> Recorded:
        return Recorded(self, "input", (), (), example)

    def constant(self, x: Any) -> Recorded:
        """Record ``x`` with its current value; copy an array."""
        if isinstance(x, Recorded):
            return x
        if isinstance(x, ndarray) and x.ndim:
            content = hashlib.sha256(np.ascontiguousarray(x).data).digest()
            key: Any = (x.shape, x.dtype.str, content)
        else:
            x = x[()] if isinstance(x, ndarray) else x
            x = bool(x) if isinstance(x, np.bool_) else x
            key = ("number", type(x), repr(x))
        found = self.known.get(key)
        if found is None:
            if isinstance(x, ndarray) and x.size and (x == (entry := x.flat[0])).all():
                entry = entry.item() if entry.dtype in (np.float64, np.bool_) else entry
                found = self.add("broadcast_to", (self.constant(entry),), shape=x.shape)
            else:
                example = x.copy() if isinstance(x, ndarray) else x
                found = Recorded(self, "constant", (), (), example)
            self.known[key] = found
        return found

    def add(self, op: str, operands: Sequence[Any], **options: Any) -> Recorded:
        """Write down an operation, or find it if it is written already.

        Raises:
            TracingError: an operand is no number and no array.
            ValueError: the shapes do not fit, as NumPy says.
        """
        args = tuple(x if type(x) is Recorded else self._operand(op, x) for x in operands)
        if not any(x.is_array for x in args):
            op = BITS.get(op, op)
            if op in BITS.values():
                args = tuple(map(_as_truth, args))
        pairs = tuple(options.items())
        example = computed(op, [x.example for x in args], options)
        found: Recorded | None = self.simpler(self, op, args, options, example)
        if found is not None:
            return found
        if op not in ("broadcast_to", "scatter") and all(x.is_constant for x in args):
            return self.constant(example)
        places = [x.place for x in args]
        if op in COMMUTE:
            places.sort()
        key = (op, *places, options_key(pairs))
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = Recorded(self, op, args, pairs, example)
            self._read(args)
        return found

    def _read(self, args: Sequence[Recorded]) -> None:
        for x in set(args):
            self.uses[x] += 1
            if x in self._dropped:
                self._dropped.discard(x)
                self._read(x.args)

    def drop(self, x: Recorded) -> None:
        """Say that an identity does without ``x``, which reads nothing then until it is read."""
        if not self.uses[x] and x not in self._dropped:
            self._dropped.add(x)
            self.uses.subtract(set(x.args))

    def _operand(self, op: str, x: Any) -> Recorded:
        if isinstance(x, list | tuple):
            x = np.asarray(x)
        if not isinstance(x, float | int | np.generic | ndarray):
            raise TracingError(
                f"program: {op} of {type(x).__name__} {x!r:.40}, which is no number or array"
            )
        return self.constant(x)


def _as_truth(x: Recorded) -> Recorded:
    """Turn a plain number into a boolean: Python's ``and`` gives one of its operands."""
    return x if type(x.example) is bool else x.tape.add("not_equal", (x, 0))


def computed(op: str, examples: Sequence[Any], options: dict[str, Any]) -> Any:
    """Compute an operation on values; plain numbers give a plain number."""
    with np.errstate(all="ignore"):
        if op in SPECIAL:
            return SPECIAL[op](*examples, **options)
        result = getattr(np, op)(*examples, **options)
    if op in ELEMENTWISE and not any(isinstance(x, ndarray | np.generic) for x in examples):
        return result.item()
    return result


def options_key(x: Any) -> Any:
    """Make a hashable key for options: slices have no hash before Python 3.12."""
    if isinstance(x, tuple):
        return tuple(map(options_key, x))
    if isinstance(x, slice):
        return ("slice", x.start, x.stop, x.step)
    if isinstance(x, ndarray):
        return (x.shape, x.dtype.str, x.tobytes())
    return (type(x), x)


def reached(outputs: Iterable[Recorded]) -> list[Recorded]:
    """List the values that the outputs are computed from, in the order they were recorded."""
    seen: set[Recorded] = set()
    stack = list(outputs)
    while stack:
        x = stack.pop()
        if x not in seen:
            seen.add(x)
            stack += x.args
    return sorted(seen, key=lambda x: x.place)


def in_order(values: Iterable[Recorded], first: Iterable[Recorded]) -> tuple[list[Recorded], int]:
    """Sort values by the order of computing, those ``first`` before all others; count these."""
    early = set(reached(first))
    return sorted(values, key=lambda x: (x not in early, x.place)), len(early)


@dataclass(frozen=True)
class Slot:
    """The place of an operand in an index."""

    number: int


def filled(index: Any, operands: Sequence[Any]) -> Any:
    """Fill the slots of an index."""
    if isinstance(index, tuple):
        return tuple(filled(part, operands) for part in index)
    return operands[index.number] if isinstance(index, Slot) else index


# --- indices ------------------------------------------------------------------------------------


def _taken_apart(index: Any, *others: Any) -> tuple[list[Any], Any, Tape]:
    """Separate the arrays of an index, and leave slots in their places."""
    parts: list[Any] = []

    def slot(part: Any) -> Any:
        part = part.data if isinstance(part, Traced) else part
        if isinstance(part, list):
            part = np.asarray(part) if part else np.zeros(0, int)
        if isinstance(part, Recorded) and part.dtype.kind == "b":
            part._refuse("select entries by a mask that is")
        if isinstance(part, ndarray | Recorded):
            parts.append(part)
            return Slot(len(parts) - 1)
        return operator.index(part) if isinstance(part, np.integer) else part

    template = tuple(map(slot, index)) if isinstance(index, tuple) else slot(index)
    tape = next(x.tape for x in (*others, *parts) if isinstance(x, Recorded))
    return parts, template, tape


def may_repeat(parts: Sequence[Any]) -> bool:
    """Return whether an index may pick an entry twice: integers in its arrays can."""
    return any(np.result_type(x).kind in "iu" for x in parts)


def _scatter(a: Any, *parts: Any, index: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    out = np.zeros(shape, dtype)
    np.add.at(out, filled(index, parts), a)
    return out


def _erf(a: Any) -> Any:
    if isinstance(a, ndarray | np.generic):
        return np.asarray(np.frompyfunc(math.erf, 1, 1)(a), a.dtype)[()]
    return math.erf(a)


def _chosen(c: Any, a: Any, b: Any) -> Any:
    if any(isinstance(x, ndarray | np.generic) for x in (c, a, b)):
        return np.where(c, a, b)[()]
    return a if c else b


SPECIAL: dict[str, Callable[..., Any]] = {
    "getitem": lambda a, *parts, index: a[filled(index, parts)],
    "scatter": _scatter,
    "astype": lambda a, dtype: np.asarray(a).astype(dtype)[()],
    "float": float,
    "full": lambda a, shape: np.full(shape, a),
    "concatenate": lambda *arrays, axis: np.concatenate(arrays, axis=axis),
    "stack": lambda *arrays, axis: np.stack(arrays, axis=axis),
    "einsum": lambda *arrays, subscripts: np.einsum(subscripts, *arrays),
    "where": _chosen,
    "erf": _erf,
    **{f"linalg.{name}": getattr(np.linalg, name) for name in ("det", "inv", "solve")},
}


# --- NumPy's functions --------------------------------------------------------------------------


def _shape(x: Any) -> tuple[int, ...]:
    return x.shape if isinstance(x, Recorded) else np.shape(x)


def _dtype(x: Any) -> np.dtype[Any]:
    return np.result_type(example(x))


def example(x: Any) -> Any:
    """Return a value that ``x`` may have, or ``x`` itself if it is not recorded."""
    return x.example if isinstance(x, Recorded) else x


def _filled(entry: float) -> Callable[..., Any]:
    def like(x: Recorded, dtype: Any = None) -> Any:
        if not x.is_array:
            return entry
        one = np.asarray(entry, x.dtype if dtype is None else dtype)
        return x.tape.add(
            "broadcast_to", (one if one.dtype != np.float64 else entry,), shape=x.shape
        )

    return like


def _swapped(rank: int, i: int, j: int) -> list[int]:
    axes = list(range(rank))
    axes[i], axes[j] = axes[j], axes[i]
    return axes


# What is known of a value while it is traced.
_KNOWN: dict[Any, Callable[..., Any]] = {
    np.shape: _shape,
    np.ndim: lambda x: x.ndim,
    np.size: lambda x, axis=None: x.size if axis is None else x.shape[axis],
    np.result_type: lambda *args: np.result_type(*map(example, args)),
    np.zeros_like: _filled(0.0),
    np.ones_like: _filled(1.0),
    np.reshape: lambda x, shape: x.reshape(shape),
    np.transpose: lambda x, axes=None: x.transpose(*(axes or ())),
    np.squeeze: lambda x, axis=None: x.reshape(np.squeeze(np.empty(x.shape, bool), axis).shape),
    np.expand_dims: lambda x, axis: x.reshape(np.expand_dims(np.empty(x.shape, bool), axis).shape),
    np.swapaxes: lambda x, i, j: x.transpose(*_swapped(x.ndim, i, j)),
    np.copy: Recorded.copy,
    np.ravel: Recorded.ravel,
    np.array2string: lambda x, *_, **__: repr(x),  # print calls it
} | {
    getattr(np, name): getattr(Recorded, name)
    for name in ("sum", "mean", "max", "min", "prod", "all", "any")
}


def _clip(tape: Tape, a: Any, low: Any = None, high: Any = None) -> Any:
    a = a if low is None else tape.add("maximum", (a, low))
    return a if high is None else tape.add("minimum", (a, high))


def _place(name: str) -> Callable[..., Any]:
    def written(tape: Tape, a: Any, axis: Any = None, keepdims: bool = False) -> Any:
        kept = {"keepdims": True} if keepdims else {}
        return tape.add(name, (a,), axis=axis, **kept)

    return written


def _ordering(name: str) -> Callable[..., Any]:
    return lambda tape, a, axis=-1, kind=None: tape.add(name, (a,), axis=axis, kind=kind)


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.linalg.det: lambda tape, a: tape.add("linalg.det", (a,)),
    np.linalg.inv: lambda tape, a: tape.add("linalg.inv", (a,)),
    np.linalg.solve: lambda tape, a, b: tape.add("linalg.solve", (a, b)),
    np.where: lambda tape, condition, a, b: tape.add("where", (condition, a, b)),
    np.vdot: lambda tape, a, b: tape.add("vdot" if _shape(a) or _shape(b) else "multiply", (a, b)),
    np.dot: lambda tape, a, b: tape.add("dot", (a, b)),
    np.broadcast_to: lambda tape, a, shape: tape.add("broadcast_to", (a,), shape=tuple(shape)),
    np.concatenate: lambda tape, arrays, axis=0: tape.add("concatenate", arrays, axis=axis),
    np.stack: lambda tape, arrays, axis=0: tape.add("stack", arrays, axis=axis),
    np.einsum: lambda tape, subscripts, *arrays: tape.add("einsum", arrays, subscripts=subscripts),
    np.cumsum: lambda tape, a, axis=None: tape.add("cumsum", (a,), axis=axis),
    np.argsort: _ordering("argsort"),
    np.sort: _ordering("sort"),
    np.argmax: _place("argmax"),
    np.argmin: _place("argmin"),
    np.clip: _clip,
    np.outer: lambda tape, a, b: tape.add("outer", (a, b)),
}
