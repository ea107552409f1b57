"""From recorded values to a module of Python and its formulas."""

import inspect
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chaingrad._tree import flat
from chaingrad.node import Node
from chaingrad.program.arguments import mapped
from chaingrad.program.assembly import assemble
from chaingrad.program.equations import Equations, equations
from chaingrad.program.source import USED, Names, Writer, fresh, indented
from chaingrad.program.tape import Recorded, reached
from chaingrad.program.tracing import Met, Passes
from chaingrad.rules import TracingError, value


@dataclass(frozen=True)
class Trace:
    """What was written down for arguments of certain shapes, dtypes and structure.

    Attributes:
        source: a module with one function; it imports NumPy, or ``math`` where everything is a
            plain number. Behind the arguments it takes the data of ``closure`` and the
            ``constants``.
        equations: the same as lines of LaTeX, with shapes.
        closure: the nodes that the function found beside its arguments, by name.
        constants: the arrays that it found, as they were, by name.
        lines: what each line computes, in order.
    """

    source: str
    equations: Equations
    closure: dict[str, Node]
    constants: dict[str, np.ndarray[Any, Any]]
    lines: tuple["TracedLine", ...]
    run: Callable[..., Any]


@dataclass(frozen=True)
class TracedLine:
    """A line of a program, the formula that says the same, and the nodes that it is about.

    Attributes:
        source: the statement; several lines where it takes more than one.
        equation: in LaTeX.
        computes: the nodes whose data the line computes.
        differentiates: the nodes whose adjoints it computes.
    """

    source: str
    equation: str
    computes: tuple[Node, ...]
    differentiates: tuple[Node, ...]


class Result:
    """What a function gave: itself, or its value and gradients.

    Args:
        given: by it.
        argnums: None if it is all that the function gives, and not its value and gradients.
        by: the positions of the arguments that are differentiated by.
        leaves: the nodes that are, instead of arguments.
    """

    def __init__(
        self,
        given: Any,
        argnums: Any = None,
        by: Sequence[int] = (),
        leaves: Sequence[Node] | None = None,
    ) -> None:
        self.differentiated = argnums is not None
        self.answer: Any = given[0] if self.differentiated else given
        self.gradients: Any = given[1] if self.differentiated else None
        self._by, self._leaves = by, leaves
        self._several = leaves is not None or isinstance(argnums, Sequence)

    @property
    def like(self) -> Any:
        """All of it, in the containers in which it is given."""
        return (self.answer, self.gradients) if self.differentiated else self.answer

    def lift(self, lifted: Callable[[Any], Any]) -> None:
        self.answer = mapped(self.answer, lifted)
        self.gradients = mapped(self.gradients, lifted)

    def pairs(self, met: Met, given: Sequence[Any]) -> Iterator[tuple[Recorded, Recorded]]:
        """Yield each value that is differentiated by, and the gradient."""
        if not self.differentiated:
            return
        each = self.gradients if self._several else [self.gradients]
        by = [met.data_of(x) for x in self._leaves or ()] or [given[i] for i in self._by]
        for x, g in zip(by, each, strict=True):
            yield from zip(flat(x), flat(g), strict=True)


def put_into_words(
    f: Callable[..., Any],
    met: Met,
    passes: Passes,
    given: Sequence[Any],
    named: dict[str, Any],
    result: Result,
) -> Trace:
    """Write down what ``f`` did when we called it with ``given`` and ``named``.

    Raises:
        TracingError: there is something else in the result than numbers, arrays and containers.
    """

    def lifted(x: Any) -> Any:
        x = value(x)
        if isinstance(x, Recorded | str | bool) or x is None:
            return x
        if isinstance(x, int | float | np.generic | np.ndarray):
            return met.tape.constant(x)
        raise TracingError(f"program: f returns {type(x).__name__} {x!r:.40}, which is no number")

    result.lift(lifted)
    pairs = list(result.pairs(met, given))
    arguments = _Arguments(f, given, named)
    inputs, names = arguments.names, arguments.taken
    closure = {
        names.of(node.label) if node.label else names.numbered("n"): node for node in met.closure
    }
    inputs |= {met.closure[node]: name for name, node in closure.items()}
    labels = {x.data: x.label for x in met.made if x.label and _is_computed(x.data)}
    results: dict[Recorded, str] = {}
    if result.differentiated and isinstance(result.answer, Recorded):
        results[result.answer] = labels.get(result.answer, "value")
    for x, dx in pairs:
        results.setdefault(dx, f"d{inputs[x]}")
    outputs = [x for x in flat(result.like) if isinstance(x, Recorded)]
    forward = [x for x in flat(result.answer) if isinstance(x, Recorded)]
    adjoint_of = _owners(passes.adjoints, labels)
    whole = {*labels, *(g for g, x in adjoint_of.items() if x in labels or x in results)}
    demanded = [x for x, _ in met.tape.demands]
    assemble(reached([*outputs, *demanded, *inputs]), [*outputs, *demanded], whole)
    writer = Writer(inputs, outputs, forward, labels, adjoint_of, results, met.tape.demands)
    closure = {name: x for name, x in closure.items() if met.closure[x] in writer.read}
    source, name = _module(f, writer, arguments, list(closure), result)
    formulas = equations(writer, next(iter(results.values())) if result.differentiated else "J")
    scope: dict[str, Any] = {}
    exec(compile(source, f"<program {name}>", "exec"), scope)
    return Trace(
        source,
        Equations("\n".join(filter(None, formulas))),
        closure,
        writer.constants,
        _lines(writer, formulas, met, passes),
        scope[name],
    )


class _Arguments:
    """The names of what a function is called with.

    Raises:
        TracingError: a keyword is a name that the source uses.
    """

    def __init__(self, f: Callable[..., Any], given: Sequence[Any], named: dict[str, Any]) -> None:
        if clash := USED.intersection(named):
            raise TracingError(
                f"program: an argument is called {clash.pop()}, a name that the source uses: "
                "pass it by position, or rename it"
            )
        self.taken = Names({*USED, *named})
        self.names: dict[Recorded, str] = {}  # of the values in the arguments
        self.heads = [self.taken.of(name) for name in _parameters(f, len(given))]
        self.keywords = list(named)
        self.unpacking: list[str] = []  # the lines that take values out of containers
        for head, x in [*zip(self.heads, given, strict=True), *named.items()]:
            if isinstance(x, Recorded):
                self.names[x] = head
            else:
                self.unpacking += self._unpacked(head, head, x)

    def _unpacked(self, place: str, name: str, x: Any) -> Iterator[str]:
        """Unpack a container that is at ``place``, and name its members."""
        members = _members(x, name)
        if members and not isinstance(x, dict) and all(isinstance(y, Recorded) for y in x):
            targets = ", ".join(self._named(y, wanted) for _, wanted, y in members)
            yield f"{targets}{',' if len(x) == 1 else ''} = {place}"
            return
        for key, wanted, y in members:
            if isinstance(y, Recorded):
                yield f"{self._named(y, wanted)} = {place}[{key!r}]"
            else:
                yield from self._unpacked(f"{place}[{key!r}]", wanted, y)

    def _named(self, x: Recorded, wanted: str) -> str:
        name = self.names[x] = self.taken.of(wanted)
        return name


def _members(x: Any, name: str) -> list[tuple[Any, str, Any]]:
    """List the members of a container: key, preferred name, and the member itself."""
    if isinstance(x, dict):
        return [(key, str(key), y) for key, y in x.items()]
    if not isinstance(x, list | tuple):
        return []
    wanted = getattr(x, "_fields", None) or [f"{name}{i}" for i in range(1, len(x) + 1)]
    return list(zip(range(len(x)), wanted, x, strict=True))


def _parameters(f: Callable[..., Any], count: int) -> list[str]:
    """Name the arguments that ``f`` takes by position."""
    try:
        takes = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        takes = []
    names = [p.name for p in takes if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    rest = next((p.name for p in takes if p.kind == p.VAR_POSITIONAL), "x")
    return (names + [f"{rest}{i + 1}" for i in range(count)])[:count]


def _owners(
    adjoints: dict[Recorded, list[Node]], labels: dict[Recorded, str]
) -> dict[Recorded, Recorded]:
    """Find the value that each adjoint belongs to, preferring one with a label.

    Of a value that several nodes hold, each node's adjoint is a part, and so belongs to none.
    """
    held = {g: {node.data for node in nodes} for g, nodes in adjoints.items()}
    count = Counter(x for values in held.values() for x in values if _is_computed(x))
    owners = {}
    for g, values in held.items():
        whole = [x for x in values if count[x] == 1]
        if whole:
            owners[g] = min(whole, key=lambda x: (x not in labels, -x.place))
    return owners


def _is_computed(x: Any) -> bool:
    return isinstance(x, Recorded) and x.op not in ("input", "constant")


def _module(
    f: Callable[..., Any],
    writer: Writer,
    arguments: _Arguments,
    closure: Sequence[str],
    result: Result,
) -> tuple[str, str]:
    """Write the source, and return it with the name of its function."""
    words = fresh(writer)
    returned = _text(result.like, words)
    if isinstance(result.like, tuple) and len(result.like) > 1:
        returned = returned[1:-1]
    name = getattr(f, "__name__", "")
    name = name if name.isidentifier() else "program"
    takes = [*arguments.heads, *closure, *writer.constants, *arguments.keywords]
    lines = list(map(str, writer.lines))
    if result.differentiated and 0 < writer.forward < len(lines):
        lines.insert(writer.forward, "")
    body = "\n".join([*arguments.unpacking, *lines, f"return {returned}"])
    parts = [*writer.helpers, f"def {name}({', '.join(takes)}):\n{indented(body)}"]
    used = {"math.": "import math", "np.": "import numpy as np"}
    needed = [line for name, line in used.items() if any(name in part for part in parts)]
    if needed:
        parts.insert(0, "\n\n".join(needed))
    return "\n\n\n".join(parts) + "\n", name


def _text(x: Any, words: Callable[[Recorded], str]) -> str:
    """Write the returned value as Python."""
    if isinstance(x, dict):
        members = ", ".join(f"{key!r}: {_text(member, words)}" for key, member in x.items())
        return f"{{{members}}}"
    if isinstance(x, list | tuple):
        members = ", ".join(_text(member, words) for member in x)
        if isinstance(x, list):
            return f"[{members}]"
        return f"({members},)" if len(x) == 1 else f"({members})"
    return words(x) if isinstance(x, Recorded) else repr(x)


def _lines(
    writer: Writer, formulas: Sequence[str], met: Met, passes: Passes
) -> tuple[TracedLine, ...]:
    holders: dict[Recorded, list[Node]] = {}
    for node in (*met.made, *met.closure):
        if isinstance(data := node.data, Recorded):
            holders.setdefault(data, []).append(node)
    return tuple(
        TracedLine(
            str(line),
            formula,
            tuple(node for x in line.within for node in holders.get(x, ())),
            tuple(node for x in line.within for node in passes.adjoints.get(x, ())),
        )
        for line, formula in zip(writer.lines, formulas, strict=True)
    )
