"""A graph and the graph of its gradients, as one list of primitive operations on numbers.

`record` runs the engine's own rules, forward and back, on recorded values (`chaingrad.program` is
their other client), and writes what is done with arrays out entry by entry. What it gives needs no
engine to be run again for other leaves: `program.js` does so on a page, and `PageProgram.run` does
the same in Python. No derivative is written a second time.
"""

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from chaingrad.backward import parents_first, send
from chaingrad.program.identities import simpler
from chaingrad.program.tape import Recorded, Tape, reached
from chaingrad.program.tracing import tracing
from chaingrad.rules import TracingError, where
from chainview.figures.entries import FEWER, MOST, EntryWriter

# What program.js computes, by the names of NumPy's functions; `where` takes its condition first.
OPERATIONS = (
    "add", "subtract", "multiply", "divide", "power", "negative", "absolute", "sign",
    "exp", "log", "sqrt", "sin", "cos", "tanh", "log1p", "expm1", "maximum", "minimum",
    "less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "isinf", "isfinite",
    "logical_and", "logical_or", "logical_not", "where", "logaddexp",
)  # fmt: skip
# Of single numbers NumPy's operators give the same, in a quarter of its functions' time.
COMPUTE = {name: getattr(np, name) for name in OPERATIONS} | {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul,
    "divide": operator.truediv, "negative": operator.neg,
}  # fmt: skip


class Primitives(Tape):
    """A tape that takes what a page can compute, and nothing else."""

    operations = 0

    def add(self, op: str, operands: Sequence[Any], **options: Any) -> Recorded:
        before = self.count
        found = super().add(op, operands, **options)
        if found.args and found.op not in OPERATIONS:
            raise TracingError(f"a page has no {op}; it has {', '.join(OPERATIONS)}")
        self.operations += found.place >= before
        if self.operations > MOST:
            raise TracingError(
                f"entry by entry the gradients take more operations than that; {FEWER}"
            )
        return found


@dataclass(frozen=True)
class PageProgram:
    """Operations in the order in which they run; values are kept by their place.

    Attributes:
        constants: they stand behind the inputs.
        code: the name of each operation and the places of its operands; its result has the next
            place.
        data: the places of the nodes' values; for an array, the place of its norm.
        forward: how many operations these take; the gradients' follow.
        grads: the places of the gradients of the root, of those nodes that have one, likewise.
        entries: of each node the places of the entries of its value, and of its gradient.
    """

    constants: tuple[float, ...]
    code: tuple[tuple[Any, ...], ...]
    data: tuple[int, ...]
    forward: int
    grads: tuple[int | None, ...]
    entries: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = ()

    def run(self, inputs: Sequence[float]) -> list[Any]:
        """Compute the value at each place: the inputs, the constants, then each operation."""
        values: list[Any] = [*map(np.float64, inputs), *map(np.float64, self.constants)]
        with np.errstate(all="ignore"):
            for name, *places in self.code:
                values.append(COMPUTE[name](*[values[place] for place in places]))
        return values


def record(nodes: Sequence[Any], inputs: Sequence[Any], caller: str) -> PageProgram:
    """Write down how the last of the ``nodes`` and the gradients come from the ``inputs``.

    Args:
        nodes: a whole graph, parents before children; constant exponents may be left out.
        inputs: leaves among them; all others are constants. The program takes their entries.
        caller: whom an error names.

    Raises:
        TypeError: an operation cannot be written in those that a page runs.
    """
    tape = Tape(simpler)
    value = record_values(tape, nodes, inputs, caller)
    return _RecordedGraph(tape, value, _adjoints(nodes[-1], value, caller), caller).program(
        nodes, inputs
    )


def record_values(
    tape: Tape, nodes: Sequence[Any], inputs: Sequence[Any], caller: str
) -> dict[Any, Any]:
    """Return the recorded values of the nodes, parents before children; see `record`."""
    value: dict[Any, Any] = {node: tape.input(_plain(node.data)) for node in inputs}
    for node in nodes:
        if node.parents:
            for parent in node.parents:
                value.setdefault(parent, _plain(parent.data))  # a constant that isn't drawn
            with _naming(caller, node):
                value[node] = _forward(node.rule, [value[parent] for parent in node.parents])
        elif node not in value:
            value[node] = _plain(node.data)
    return value


def assign_places(
    given: Sequence[Recorded], wanted: Sequence[Recorded], first: Sequence[Recorded] = ()
) -> tuple[tuple[float, ...], tuple[tuple[Any, ...], ...], dict[Recorded, int]]:
    """Give everything a place: the inputs, the constants, and each result in its turn.

    Args:
        given: the inputs.
        wanted: what is to be computed.
        first: what is computed before all else.

    Returns:
        The constants, the code and the places, as a `PageProgram` has them.
    """
    needed = reached([*wanted, *first])
    early, moving = set(reached(first)), set(given)
    constants = [x for x in needed if not x.args and x not in moving]
    results = sorted(filter(lambda x: x.args, needed), key=lambda x: (x not in early, x.place))
    place = {x: i for i, x in enumerate([*given, *constants, *results])}
    code = tuple((x.op, *(place[y] for y in x.args)) for x in results)
    return tuple(float(x.example) for x in constants), code, place


def follow(run: Callable[[], Any], caller: str) -> tuple[Any, Callable[..., PageProgram]]:
    """Compute a graph, and write down how it and its gradients come from its leaves.

    What chooses by a value, such as `where`, chooses anew for other leaves.

    Args:
        run: gives the root.
        caller: as in `record`.

    Returns:
        The root, and a function that gives the program for ``nodes`` and ``inputs`` as `record`.
    """
    tape = Tape(simpler)
    with tracing(tape) as met:
        root = run()
        order = root.sorted_graph()
        value = {node: met.data_of(node) for node in order}
        written = _RecordedGraph(tape, value, _adjoints(root, value, caller), caller)
    met.settle()
    return root, written.program


@dataclass(frozen=True)
class _RecordedGraph:
    """The recorded values and adjoints of the nodes of a graph."""

    tape: Tape
    value: Mapping[Any, Any]
    adjoint: Mapping[Any, Any]
    caller: str

    def program(self, nodes: Sequence[Any], inputs: Sequence[Any]) -> PageProgram:
        entries = EntryWriter(Primitives(simpler))
        given = [x for node in inputs for x in entries.entries(self.value[node]).flat]
        data, grads = (
            [self._numbers(entries, node, of) for node in nodes]
            for of in (self.value, self.adjoint)
        )
        values, adjoints = (
            [x for shown, parts in of for x in (*shown, *parts)] for of in (data, grads)
        )
        constants, code, place = assign_places(given, adjoints, values)
        return PageProgram(
            constants,
            code,
            tuple(place[x] for [x], _ in data),
            sum(bool(x.args) for x in set(reached(values))),
            tuple(place[shown[0]] if shown else None for shown, _ in grads),
            tuple(
                (tuple(place[x] for x in parts), tuple(place[x] for x in shares))
                for (_, parts), (_, shares) in zip(data, grads, strict=True)
            ),
        )

    def _numbers(
        self, entries: EntryWriter, node: Any, of: Mapping[Any, Any]
    ) -> tuple[list[Recorded], list[Recorded]]:
        """Return what a box shows of a node's value or gradient, and its entries, if it has one."""
        if node not in of:
            return [], []
        x = self.tape.constant(of[node])
        with _naming(self.caller, node):
            return [entries.size(x)], list(entries.entries(x).flat)


def _adjoints(root: Any, value: Mapping[Any, Any], caller: str) -> dict[Any, Any]:
    """Compute the gradient of ``root`` with respect to each node that has one."""
    adjoint = parents_first(root)
    adjoint[root] = 1.0
    for node, g in reversed(adjoint.items()):
        if node.rule:
            with _naming(caller, node):
                send(node, g, adjoint, value.__getitem__)
    return adjoint


def _plain(data: Any) -> Any:
    return data if np.ndim(data) else float(data)


def _forward(rule: Any, operands: Sequence[Any]) -> Any:
    if rule.name == where.name:
        raise TracingError(
            "which of its operands counts was settled when it was recorded; maximum, minimum and "
            "relu choose anew, and so does where in a function that nudge is given itself"
        )
    out = rule.compute(*operands)
    if not isinstance(out, Recorded) and any(isinstance(x, Recorded) for x in operands):
        raise TracingError("its result was settled when it was recorded")
    return out


@contextmanager
def _naming(caller: str, node: Any) -> Iterator[None]:
    """Name the operation in an error when it can't be written down."""
    try:
        yield
    except (TypeError, ValueError, AttributeError) as error:
        reason = "its rule does with a value what NumPy's functions of numbers do not"
        who = f" of {node.label!r}" if node.label else ""
        said = str(error).removeprefix("program: ")
        raise TypeError(
            f"{caller}: the operation {node.op!r}{who} cannot follow a leaf that moves: "
            f"{said if isinstance(error, TracingError) else reason}"
        ) from None
