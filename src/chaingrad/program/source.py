"""From recorded values to a module of Python and its formulas."""

import inspect
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chaingrad._tree import flat
from chaingrad.node import Node
from chaingrad.program.arguments import mapped
from chaingrad.program.equations import Equations, equations
from chaingrad.program.sparse_sums import assemble
from chaingrad.program.tape import Recorded, reached
from chaingrad.program.tracing import Met
from chaingrad.program.writer import USED, Names, Writer, fresh, indented
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


def write_source(
    f: Callable[..., Any],
    met: Met,
    adjoints: dict[Recorded, list[Node]],
    given: Sequence[Any],
    result: Any,
    by: Sequence[int] | None,
) -> Trace:
    """Write down what ``f`` did when we called it with ``given``.

    Args:
        f: the function; its name and those of its arguments go into the source.
        met: what it met while it was traced.
        adjoints: the nodes that each value is the adjoint of.
        given: the arguments.
        result: what is to be given: that of ``f``, or a value and gradients.
        by: the positions of the arguments that the gradients belong to; None if there are none.

    Raises:
        TracingError: there is something else in the result than numbers, arrays and containers, or
            it takes too many statements.
    """
    result = mapped(result, lambda x: _lifted(met, x))
    names = Names(USED)
    heads = [names.of(name) for name in _parameters(f, len(given))]
    inputs = {x: head for x, head in zip(given, heads, strict=True) if isinstance(x, Recorded)}
    closure = {
        names.of(node.label) if node.label else names.numbered("n"): node for node in met.closure
    }
    inputs |= {met.closure[node]: name for name, node in closure.items()}
    labels: dict[Recorded, str] = {}
    for x in met.made:
        label = x.label or met.variables.get(id(x))
        if label and _is_computed(x.data):
            labels.setdefault(x.data, label)
    results: dict[Recorded, str] = {}
    if by is not None:
        results[result[0]] = labels.get(result[0], "value")
        for i, dx in zip(by, flat(result[1]), strict=True):
            results.setdefault(dx, f"d{heads[i]}")
    outputs, forward = (
        [x for x in flat(given_back) if isinstance(x, Recorded)]
        for given_back in (result, result if by is None else result[0])
    )
    demanded = [x for x, _ in met.tape.demands]
    values = reached([*outputs, *demanded, *inputs])
    _refuse_long(f, sum(bool(x.args) for x in values) // PER_STATEMENT)
    adjoint_of = _owners(adjoints, labels)
    whole = {*labels, *(g for g, x in adjoint_of.items() if x in labels or x in results)}
    assemble(values, [*outputs, *demanded], whole)
    writer = Writer(inputs, outputs, forward, labels, adjoint_of, results, met.tape.demands)
    _refuse_long(f, sum(str(line).count("\n") + 1 for line in writer.lines))
    closure = {name: x for name, x in closure.items() if met.closure[x] in writer.read}
    source, name = _module(f, writer, [*heads, *closure], result, by is not None)
    formulas = equations(writer, next(iter(results.values()), "J"))
    scope: dict[str, Any] = {}
    exec(compile(source, f"<program {name}>", "exec"), scope)
    return Trace(
        source,
        Equations("\n".join(filter(None, formulas))),
        closure,
        writer.constants,
        _lines(writer, formulas, met, adjoints),
        scope[name],
    )


def _lifted(met: Met, x: Any) -> Any:
    """Return a result as it is written: a recorded value, or what is no number."""
    x = value(x)
    if isinstance(x, Recorded | str | bool) or x is None:
        return x
    if isinstance(x, int | float | np.generic | np.ndarray):
        return met.tape.constant(x)
    raise TracingError(f"program: f returns {type(x).__name__} {x!r:.40}, which is no number")


def _refuse_long(f: Callable[..., Any], count: int) -> None:
    if count > MOST:
        name = getattr(f, "__name__", "f")
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
    result: Any,
    differentiated: bool,
) -> tuple[str, str]:
    """Write the source, and return it with the name of its function."""
    words = fresh(writer)
    returned = _text(result, words)
    if isinstance(result, tuple) and len(result) > 1:
        returned = returned[1:-1]
    name = getattr(f, "__name__", "")
    name = name if name.isidentifier() else "program"
    takes = [*heads, *writer.constants]
    lines = list(map(str, writer.lines))
    if differentiated and 0 < writer.forward < len(lines):
        lines.insert(writer.forward, "")
    body = "\n".join([*writer.shown, *lines, f"return {returned}"])
    parts = [f"def {name}({', '.join(takes)}):\n{indented(body)}"]
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
    writer: Writer,
    formulas: Sequence[str],
    met: Met,
    adjoints: dict[Recorded, list[Node]],
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
            tuple(node for x in line.within for node in adjoints.get(x, ())),
        )
        for line, formula in zip(writer.lines, formulas, strict=True)
    )
