"""A graph of numbers and the graph of its gradients, as one list of primitive operations.

`record` runs the engine's own rules, forward and back, on values that note what is done to them.
What it gives needs no engine to be run again for other leaves: `program.js` does so on a page, and
`Program.run` does the same in Python. No derivative is written a second time.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from chaingrad.rules import Rule, Traced, where

# What program.js computes, by the names of NumPy's functions; `where` takes its condition first.
OPERATIONS = (
    "add", "subtract", "multiply", "divide", "power", "negative", "absolute", "sign",
    "exp", "log", "sqrt", "sin", "cos", "tanh", "log1p", "expm1", "maximum", "minimum",
    "less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "isinf",
    "logical_and", "logical_or", "logical_not", "where",
)  # fmt: skip


def _itself(a: Any) -> Any:
    return a


# Rules and functions of NumPy, by name, that come to others where everything is one number.
_COMPOSED: dict[str, Callable[..., Any]] = {
    "sigmoid": lambda a: 1.0 / (1.0 + np.exp(-a)),
    "logaddexp": lambda a, b: np.maximum(a, b) + np.log1p(np.exp(-np.absolute(a - b))),
    "square": lambda a: a * a,
    "squared_norm": lambda a: a * a,
    "reciprocal": lambda a: 1.0 / a,
    "positive": _itself,
    "bitwise_and": np.logical_and,  # of booleans; a constant among them is a number here
    "bitwise_or": np.logical_or,
    "invert": np.logical_not,
    **dict.fromkeys(("sum", "mean", "reshape", "broadcast_to", "transpose", "alias"), _itself),
}

# What functions of arrays give for one number that is not known: None is the number itself. Whether
# any of its entries is true? Perhaps: what is then chosen is written down.
_OF_ONE: dict[Any, Any] = {
    np.any: True, np.size: 1, np.ndim: 0, np.shape: (),
    **dict.fromkeys((np.sum, np.mean, np.max, np.min)),
}  # fmt: skip

Place = int | str  # of an earlier value; or a constant as text, which no place is equal to


@dataclass(frozen=True)
class Program:
    """Operations in the order in which they run; values are kept by their place.

    Attributes:
        constants: they stand behind the inputs.
        code: the name of each operation and the places of its operands; its result has the next
            place.
        data: the places of the nodes' values.
        forward: how many operations these take; the gradients' follow.
        grads: the places of the gradients of the root, of those nodes that have one.
    """

    constants: tuple[float, ...]
    code: tuple[tuple[Any, ...], ...]
    data: tuple[int, ...]
    forward: int
    grads: tuple[int | None, ...]

    def run(self, inputs: Sequence[float]) -> list[Any]:
        """The value at each place: the inputs, the constants, and the result of each operation."""
        values: list[Any] = [*map(np.float64, inputs), *map(np.float64, self.constants)]
        with np.errstate(all="ignore"):
            for name, *places in self.code:
                values.append(getattr(np, name)(*(values[place] for place in places)))
        return values


def record(nodes: Sequence[Any], inputs: Sequence[Any], caller: str) -> Program:
    """Write down how the last of the ``nodes`` and the gradients come from the ``inputs``.

    Args:
        nodes: a whole graph of numbers, parents before children.
        inputs: leaves among them; all others are constants.
        caller: whom an error names.

    Raises:
        TypeError: an operation cannot be written in those that a page runs.
    """
    tape = _Tape(len(inputs))
    value: dict[Any, Any] = {node: _Recorded(tape, place) for place, node in enumerate(inputs)}
    for node in nodes:
        if node.parents:
            with _naming(caller, node):
                value[node] = tape.forward(node._rule, [value[parent] for parent in node.parents])
        elif node not in value:
            value[node] = float(node.data)
    forward = len(tape.code)
    adjoint: dict[Any, Any] = {nodes[-1]: 1.0}
    for node in reversed(nodes):
        if node.parents and node in adjoint:
            with _naming(caller, node):
                _send(node, value, adjoint)
    return tape.program(
        [value[node] for node in nodes], forward, [adjoint.get(node) for node in nodes]
    )


def _send(node: Any, value: dict[Any, Any], adjoint: dict[Any, Any]) -> None:
    """Add the shares of a node's gradient to its parents', as `chaingrad.backward` does."""
    needed = [parent.requires_grad for parent in node.parents]
    operands = [value[parent] for parent in node.parents]
    pulled = node._rule.pull(adjoint[node], value[node], operands, needed)
    for parent, share in zip(node.parents, pulled, strict=True):
        if parent.requires_grad:
            adjoint[parent] = adjoint[parent] + share if parent in adjoint else share


class _UnknownError(TypeError):
    """What cannot be written down."""


@contextmanager
def _naming(caller: str, node: Any) -> Iterator[None]:
    """Have an error name the operation that cannot be written down."""
    try:
        yield
    except (TypeError, ValueError, AttributeError) as error:
        reason = "its rule does with a value what NumPy's functions of numbers do not"
        who = f" of {node.label!r}" if node.label else ""
        raise TypeError(
            f"{caller}: the operation {node.op!r}{who} cannot follow a leaf that moves: "
            f"{error if isinstance(error, _UnknownError) else reason}"
        ) from None


class _Tape:
    def __init__(self, inputs: int) -> None:
        self.inputs = inputs
        self.code: dict[tuple[Any, ...], int] = {}  # an operation that comes again is done once

    def forward(self, rule: Rule, operands: Sequence[Any]) -> Any:
        """The result of a rule that the graph was computed with."""
        if rule.name == where.name:
            raise _UnknownError(
                "which of its operands counts was settled when it was recorded; maximum, minimum "
                "and relu choose anew"
            )
        out = (_COMPOSED.get(rule.name) or rule.compute)(*operands)
        if not isinstance(out, _Recorded) and any(isinstance(x, _Recorded) for x in operands):
            raise _UnknownError("its result was settled when it was recorded")
        return out

    def add(self, name: str, operands: Sequence[Any]) -> Any:
        """Write down an operation; of numbers alone, its result."""
        if name in _COMPOSED:
            return _COMPOSED[name](*operands)
        if name not in OPERATIONS:
            raise _UnknownError(f"a page has no {name}; it has {', '.join(OPERATIONS)}")
        places = tuple(map(_place, operands))
        place = self.code.setdefault((name, *places), self.inputs + len(self.code))
        return _Recorded(self, place)

    def program(self, data: Sequence[Any], forward: int, grads: Sequence[Any]) -> Program:
        """Give the constants places of their own, between the inputs and the results."""
        shown = [_place(x) for x in data]
        found = [None if x is None else _place(x) for x in grads]
        used = [*(x for _, *places in self.code for x in places), *shown, *found]
        texts = dict.fromkeys(x for x in used if isinstance(x, str))
        pool = {x: self.inputs + i for i, x in enumerate(texts)}

        def settled(x: Place) -> int:
            return pool[x] if isinstance(x, str) else x + len(pool) * (x >= self.inputs)

        return Program(
            tuple(map(float, pool)),
            tuple((name, *map(settled, places)) for name, *places in self.code),
            tuple(map(settled, shown)),
            forward,
            tuple(None if x is None else settled(x) for x in found),
        )


def _place(x: Any) -> Place:
    return x.place if isinstance(x, _Recorded) else repr(float(x))


class _Recorded(NDArrayOperatorsMixin, Traced):
    """A number that is known by its place alone, and writes down what is done with it.

    Rules look at the values of their operands to choose a slope: ``data`` stays what it is, so that
    the choice is written down too.
    """

    __slots__ = ("place", "tape")
    ndim = 0

    def __init__(self, tape: _Tape, place: int) -> None:
        self.tape, self.place = tape, place

    @property
    def data(self) -> "_Recorded":
        return self

    def apply(self, rule: Rule, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
        if rule.name == where.name:
            condition = options["condition"]
            if isinstance(condition, _Recorded):
                return self.tape.add("where", [condition, *inputs])
            return inputs[0] if condition else inputs[1]
        compute = _COMPOSED.get(rule.name)
        return compute(*inputs) if compute else rule.compute(*inputs, **options)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options:
            raise _UnknownError(f"a page has no np.{ufunc.__name__} with {method} or options")
        return self.tape.add(ufunc.__name__, inputs)

    def __bool__(self) -> bool:
        raise _UnknownError("its rule asks for a value, to go on one way or another")

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        if function is np.where and len(args) == 3:
            return self.tape.add("where", args)
        if function not in _OF_ONE:
            raise _UnknownError(f"a page has no np.{function.__name__}")
        known = _OF_ONE[function]
        return self if known is None else known

    def __getitem__(self, index: Any) -> "_Recorded":
        return self
