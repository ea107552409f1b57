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

MOST = 200  # statements of a program
PER_STATEMENT = 12  # operations at most, so that what is far too long need not be written


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
    """

    def __init__(self, given: Any, argnums: Any, by: Sequence[int]) -> None:
        self.differentiated = argnums is not None
        self.answer: Any = given[0] if self.differentiated else given
        self.gradients: Any = given[1] if self.differentiated else None
        self._by, self._several = by, isinstance(argnums, Sequence)

    @property
    def like(self) -> Any:
        """All of it, in the containers in which it is given."""
        return (self.answer, self.gradients) if self.differentiated else self.answer

    def lift(self, lifted: Callable[[Any], Any]) -> None:
        self.answer = mapped(self.answer, lifted)
        self.gradients = mapped(self.gradients, lifted)

    def pairs(self, given: Sequence[Any]) -> Iterator[tuple[Recorded, Recorded]]:
        """Yield each value that is differentiated by, and the gradient."""
        if not self.differentiated:
            return
        each = self.gradients if self._several else [self.gradients]
        for i, g in zip(self._by, each, strict=True):
            yield from zip(flat(given[i]), flat(g), strict=True)


def put_into_words(
    f: Callable[..., Any],
    met: Met,
    passes: Passes,
    given: Sequence[Any],
    result: Result,
) -> Trace:
    """Write down what ``f`` did when we called it with ``given``.

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
    pairs = list(result.pairs(given))
    names = Names(USED)
    heads = [names.of(name) for name in _parameters(f, len(given))]
    inputs = {x: head for x, head in zip(given, heads, strict=True) if isinstance(x, Recorded)}
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
    computed = [x for x in reached([*outputs, *demanded]) if x.args]
    _refuse_long(getattr(f, "__name__", "f"), len(computed) // PER_STATEMENT)
    assemble(reached([*outputs, *demanded, *inputs]), [*outputs, *demanded], whole)
    writer = Writer(inputs, outputs, forward, labels, adjoint_of, results, met.tape.demands)
    closure = {name: x for name, x in closure.items() if met.closure[x] in writer.read}
    source, name = _module(f, writer, [*heads, *closure], result)
    _refuse_long(name, sum(str(line).count("\n") + 1 for line in writer.lines))
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


def _refuse_long(name: str, count: int) -> None:
    if count > MOST:
        raise TracingError(
            f"program: what {name} does takes {count:,} statements, more than the {MOST} that a "
            "person reads. Write it on arrays: one operation for all entries or all steps in the "
            "place of a loop, such as a product of matrices or np.cumsum; or call value_and_grad"
        )


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
    heads: Sequence[str],
    result: Result,
) -> tuple[str, str]:
    """Write the source, and return it with the name of its function."""
    words = fresh(writer)
    returned = _text(result.like, words)
    if isinstance(result.like, tuple) and len(result.like) > 1:
        returned = returned[1:-1]
    name = getattr(f, "__name__", "")
    name = name if name.isidentifier() else "program"
    takes = [*heads, *writer.constants]
    lines = list(map(str, writer.lines))
    if result.differentiated and 0 < writer.forward < len(lines):
        lines.insert(writer.forward, "")
    body = "\n".join([*writer.shown, *lines, f"return {returned}"])
    parts = [*writer.helpers, f"def {name}({', '.join(takes)}):\n{indented(body)}"]
    used = {"math.": "import math", "np.": "import numpy as np"}
    needed = [line for name, line in used.items() if any(name in part for part in parts)]
    if needed:
        parts.insert(0, "\n\n".join(needed))
    return "\n\n\n".join(parts) + "\n", name


def _text(x: Any, words: Callable[[Recorded], str]) -> str:
    """Write the returned value as Python."""
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
