"""A jaxpr, JAX's record of a traced function, read as a graph of nodes."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from chainview.read.items import NodeFacts
from chainview.read.lines import Line, first_line, owner_of
from chainview.read.nodes import Nodes

# Equations that do no more than call the function they hold, and those that have a derivative.
CALLS = frozenset({"jit", "pjit", "closed_call", "core_call", "remat2", "checkpoint"})
_CALLS = CALLS | {"custom_jvp_call", "custom_vjp_call"}

Compute = Callable[..., Sequence[Any]]


class Type(str):
    """A shape and a dtype as JAX writes them, ``f32[16,64]``: a jaxpr holds no values."""


Scope = tuple[str, int]  # a function or a named scope, and which call of all


@dataclass(eq=False)
class JaxprNode:
    """An argument, a constant or an equation of a jaxpr, with what a drawing needs of a node."""

    data: Any
    op: str = ""
    label: str | None = None
    operands: tuple["Use", ...] = ()
    kind: str = "operation"
    is_output: bool = False
    compute: Compute | None = None  # computes the results from the operands' results
    scopes: tuple[Scope, ...] = ()
    is_recomputed: bool = False  # inside a checkpoint
    line: Line | None = None  # that wrote it
    rule_file: str = ""  # of a function with a rule of its own: where the rule was written

    @property
    def parents(self) -> tuple["JaxprNode", ...]:
        """What it was computed from."""
        return tuple(value for value, _ in self.operands)


Use = tuple[JaxprNode, int]  # one of the results of a node


@dataclass(frozen=True)
class Record:
    """The graph of a jaxpr: its nodes in order, and the one that each variable stands for.

    Numbers written into an equation are among the parents of its node alone.
    """

    nodes: list[JaxprNode]
    variables: dict[Any, Use]
    outputs: list[Use]


def is_jaxpr(thing: Any) -> bool:
    """Return whether a thing is a jaxpr, closed or not, without importing JAX."""
    if "jax" not in sys.modules:  # a jaxpr exists only once JAX is imported
        return False
    from jax.extend.core import ClosedJaxpr, Jaxpr

    return isinstance(thing, ClosedJaxpr | Jaxpr)


class Jaxprs(Nodes):
    """Reads the jaxprs among some roots."""

    def __init__(self, roots: Iterable[Any], inline: bool) -> None:
        super().__init__()
        self._records = {
            id(root): read_jaxpr(root, _CALLS if inline else frozenset())
            for root in roots
            if is_jaxpr(root)
        }
        self._variables = {
            id(variable): node
            for record in self._records.values()
            for variable, (node, _) in record.variables.items()
        }

    def can_read(self, thing: Any) -> bool:
        """Return whether a thing is one of the jaxprs, or a variable or node of one."""
        known = (self._records, self._variables)
        return isinstance(thing, JaxprNode) or any(id(thing) in things for things in known)

    def source(self, thing: Any) -> Any:
        """Return the node of a variable."""
        return self._variables.get(id(thing), thing)

    def roots(self, thing: Any, caller: str) -> Sequence[JaxprNode]:
        """Return every node of a jaxpr, whether an output needs it or not."""
        return self._records[id(thing)].nodes

    def facts(self, thing: JaxprNode) -> NodeFacts:
        return NodeFacts(thing.kind, thing.op, thing.label or "", thing.data, None, thing.is_output)


def read_jaxpr(jaxpr: Any, inline: Set[str] = _CALLS, unroll: int = 0) -> Record:
    """Read a jaxpr: a node for each argument, constant and equation, used or not.

    Args:
        jaxpr: what ``jax.make_jaxpr`` returns, or the ``jaxpr`` in it.
        inline: the names of equations to replace by the equations of the function that they call.
        unroll: replace a ``scan`` of up to that many steps by its steps.
    """
    body, constants = _open(jaxpr)
    nodes = _constants(body, constants)
    names = body.debug_info.arg_names or [None] * len(body.invars)
    nodes += [
        JaxprNode(_type(variable.aval), label=name or None, kind="input")
        for variable, name in zip(body.invars, names, strict=True)
    ]
    uses = [(node, 0) for node in nodes]
    scope = dict(zip([*body.constvars, *body.invars], uses, strict=True))
    reading = _Reading(inline, unroll)
    nodes += reading.equations(body, scope, ())
    outputs = list(_operands(body.outvars, scope))
    for (node, _), name in zip(outputs, _output_names(body), strict=True):
        node.is_output = True
        node.label = f"{node.label}, {name}" if node.label else name
    return Record([*nodes, *(node for node, _ in outputs)], scope, outputs)


def _open(jaxpr: Any) -> tuple[Any, Any]:
    """Return the jaxpr and the values of its constants, None for those we don't know."""
    if hasattr(jaxpr, "consts"):
        return jaxpr.jaxpr, jaxpr.consts
    return jaxpr, [None] * len(jaxpr.constvars)


def _constants(body: Any, values: Iterable[Any]) -> list[JaxprNode]:
    return [
        _constant(variable.aval, value)
        for variable, value in zip(body.constvars, values, strict=True)
    ]


def _constant(aval: Any, value: Any) -> JaxprNode:
    """Show the value of a number, and of an array its type, or of a key for random numbers."""
    is_number = getattr(aval, "shape", None) == () and isinstance(aval.dtype, np.dtype)
    known = value is not None and is_number
    node = JaxprNode(_plain(value) if known else _type(aval), kind="constant")
    node.compute = lambda: [value]
    return node


def _plain(value: Any) -> float | str:
    """Return a float as it is, and an integer or a boolean as text, without a decimal point."""
    number = value.item() if hasattr(value, "item") else value
    is_integer = isinstance(number, int) and not isinstance(number, bool)
    return number if isinstance(number, float) else str(int(number) if is_integer else number)


def _type(aval: Any) -> Type:
    short = getattr(aval, "str_short", None)
    return Type(short(short_dtypes=True) if short else str(aval))


def _operands(atoms: Iterable[Any], scope: Mapping[Any, Use]) -> Iterator[Use]:
    """Look variables up; a number written into an equation is a constant of its own."""
    for atom in atoms:
        is_literal = hasattr(atom, "val")
        yield (_constant(atom.aval, atom.val), 0) if is_literal else scope[atom]


@dataclass
class _Reading:
    """What is read in the place of equations: the functions that they call, the steps of loops."""

    inline: Set[str]
    unroll: int
    calls: int = 0

    def equations(
        self,
        body: Any,
        scope: dict[Any, Use],
        scopes: tuple[Scope, ...],
        line: Line | None = None,
    ) -> list[JaxprNode]:
        """Read the equations in their order, and enter what they define into ``scope``.

        ``line`` wrote them all, if it's given: JAX keeps what a library's function was traced to
        with the line of the first call.
        """
        nodes: list[JaxprNode] = []
        for equation in body.eqns:
            operands = tuple(_operands(equation.invars, scope))
            stack = str(equation.source_info.name_stack)
            wrote = line or _line(equation)
            within = scopes + tuple((name, 0) for name in stack.split("/") if name)
            called = _called(equation)
            recomputed = "prevent_cse" in equation.params  # by a checkpoint
            chosen = recomputed and equation.params["policy"] is not None
            if called is not None and equation.primitive.name in self.inline and not chosen:
                name = _open(called)[0].debug_info.func_name
                new, results = self._inside(called, operands, (*within, self._call(name)), wrote)
                for node in new if recomputed else ():
                    node.is_recomputed = True
            elif equation.primitive.name == "scan" and equation.params["length"] <= self.unroll:
                new, results = self._steps(equation.params, operands, within, wrote)
            else:
                node = _equation(equation, called, operands, within)
                node.line = wrote
                new, results = [node], [(node, i) for i in range(len(equation.outvars))]
            nodes += new
            scope.update(zip(equation.outvars, results, strict=True))
        return nodes

    def _call(self, name: str) -> Scope:
        self.calls += 1
        return name, self.calls

    def _inside(
        self,
        called: Any,
        operands: Iterable[Use],
        scopes: tuple[Scope, ...],
        line: Line | None,
    ) -> tuple[list[JaxprNode], list[Use]]:
        inner, values = _open(called)
        constants = _constants(inner, values)
        variables = [*inner.constvars, *inner.invars]
        uses = [*((node, 0) for node in constants), *operands]
        inside = dict(zip(variables, uses, strict=True))
        is_readers = owner_of(inner.debug_info.func_filename or "") == "reader"
        nodes = constants + self.equations(inner, inside, scopes, None if is_readers else line)
        return nodes, list(_operands(inner.outvars, inside))

    def _steps(
        self,
        loop: Mapping[str, Any],
        operands: Sequence[Use],
        scopes: tuple[Scope, ...],
        line: Line | None,
    ) -> tuple[list[JaxprNode], list[Use]]:
        """Unroll a scan into its steps, in order: slices, the body, and the stacks of results."""
        fixed, carried = loop["num_consts"], loop["num_carry"]
        constants, carry = operands[:fixed], list(operands[fixed : fixed + carried])
        order = range(loop["length"])[:: -1 if loop["reverse"] else 1]
        nodes: list[JaxprNode] = []
        rows: dict[int, list[Use]] = {}
        for i in order:
            within = (*scopes, self._call("step"))
            slices = [_slice(use, i, within) for use in operands[fixed + carried :]]
            taken = [(node, 0) for node in slices]
            new, results = self._inside(loop["jaxpr"], [*constants, *carry, *taken], within, line)
            nodes += [*slices, *new]
            for node in slices:
                node.line = line
            carry, rows[i] = results[:carried], results[carried:]
        stacks = [
            JaxprNode(
                Type("stack"),
                "stack",
                operands=tuple(column),
                compute=_stacked,
                scopes=scopes,
                line=line,
            )
            for column in zip(*(rows[i] for i in range(loop["length"])), strict=True)
        ]
        return nodes + stacks, [*carry, *((node, 0) for node in stacks)]


def _line(equation: Any) -> Line | None:
    traceback = equation.source_info.traceback
    frames = traceback.frames if traceback is not None else []
    return first_line((frame.file_name, frame.line_num) for frame in frames)


def _slice(use: Use, i: int, scopes: tuple[Scope, ...]) -> JaxprNode:
    def compute(x: Any) -> list[Any]:
        import jax

        return [jax.lax.dynamic_index_in_dim(x, i, keepdims=False)]  # compiled once for all i

    return JaxprNode(Type(f"row {i}"), f"row {i}", operands=(use,), compute=compute, scopes=scopes)


def _stacked(*rows: Any) -> list[Any]:
    import jax.numpy as jnp

    return [jnp.stack(rows)]


def _called(equation: Any) -> Any:
    """Return the jaxpr of the function that an equation calls, or None if it does more or less."""
    parameters = equation.params
    inner = parameters.get("call_jaxpr", parameters.get("jaxpr"))
    if equation.primitive.name not in _CALLS or not is_jaxpr(inner):
        return None
    return inner if len(_open(inner)[0].invars) == len(equation.invars) else None


def _equation(
    equation: Any, called: Any, operands: tuple[Use, ...], scopes: tuple[Scope, ...]
) -> JaxprNode:
    primitive = equation.primitive
    name = primitive.name
    if called is not None:
        name = f"{_open(called)[0].debug_info.func_name} ({name})"
    types = [_type(variable.aval) for variable in equation.outvars]

    def compute(*arrays: Any) -> Sequence[Any]:
        with equation.ctx.manager:
            results = primitive.bind(*arrays, **primitive.get_bind_params(equation.params))
        return list(results) if primitive.multiple_results else [results]

    node = JaxprNode(Type("\n".join(types)), name, None, operands, compute=compute, scopes=scopes)
    rule = equation.params.get("bwd", equation.params.get("jvp_jaxpr_fun"))
    node.rule_file = getattr(getattr(rule, "debug_info", None), "func_filename", None) or ""
    return node


def _output_names(body: Any) -> list[str]:
    """Name the outputs as JAX does, ``out`` alone or ``out[0]``, ``out['loss']``."""
    paths = body.debug_info.result_paths
    if isinstance(paths, tuple | list) and len(paths) == len(body.outvars):
        return ["out" + path.removeprefix("result") for path in paths]
    return [f"out[{i}]" for i in range(len(body.outvars))]
