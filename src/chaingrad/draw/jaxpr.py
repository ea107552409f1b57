"""A jaxpr, JAX's record of a traced function, read as a graph of nodes."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from chaingrad.draw.items import Facts

# Equations that do no more than call the function they hold.
_CALLS = {
    "jit", "pjit", "closed_call", "core_call", "custom_jvp_call", "custom_vjp_call", "remat2",
    "checkpoint",
}  # fmt: skip


@dataclass(frozen=True)
class Type:
    """A shape and a dtype as JAX writes them, ``f32[16,64]``: a jaxpr holds no values."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(eq=False)
class Value:
    """An argument, a constant or an equation of a jaxpr, with what a drawing needs of a node."""

    data: Any
    op: str = ""
    label: str | None = None
    parents: tuple["Value", ...] = ()
    kind: str = "operation"
    is_output: bool = False


@dataclass(frozen=True)
class Record:
    """The graph of a jaxpr: its nodes in order, and the one that each variable stands for.

    Numbers written into an equation are among the parents of its node alone.
    """

    nodes: list[Value]
    variables: dict[Any, Value]


def is_jaxpr(thing: Any) -> bool:
    """Tell a jaxpr, closed or not, without importing JAX."""
    if "jax" not in sys.modules:  # whoever holds a jaxpr has imported it
        return False
    from jax.extend.core import ClosedJaxpr, Jaxpr

    return isinstance(thing, ClosedJaxpr | Jaxpr)


class Jaxprs:
    """Reads the jaxprs among some roots, as `chaingrad.draw.nodes.Nodes` reads nodes."""

    def __init__(self, roots: Iterable[Any], inline: bool) -> None:
        self._records = {id(root): read_jaxpr(root, inline) for root in roots if is_jaxpr(root)}
        self._variables = {
            id(v): node for record in self._records.values() for v, node in record.variables.items()
        }

    def has(self, thing: Any) -> bool:
        """Whether a thing is one of the jaxprs or a variable in them."""
        return id(thing) in self._records or id(thing) in self._variables

    def source(self, thing: Any) -> Any:
        """The node of a variable."""
        return self._variables.get(id(thing), thing)

    def starts(self, thing: Any, caller: str) -> Sequence[Value]:
        """All of a jaxpr, whether an output needs it or not."""
        return self._records[id(thing)].nodes

    def parents(self, thing: Value) -> Sequence[Value]:
        return thing.parents

    def facts(self, thing: Value) -> Facts:
        return Facts(thing.kind, thing.op, thing.label or "", thing.data, None, thing.is_output)


def read_jaxpr(jaxpr: Any, inline: bool = True) -> Record:
    """Read a jaxpr: a node for each argument, constant and equation, used or not.

    Args:
        jaxpr: what ``jax.make_jaxpr`` returns, or the ``jaxpr`` in it.
        inline: put the equations of a function that is only called in the place of the call.
    """
    body, constants = _open(jaxpr)
    nodes = _constants(body, constants)
    names = body.debug_info.arg_names or [None] * len(body.invars)
    nodes += [
        Value(_type(variable.aval), label=name or None, kind="input")
        for variable, name in zip(body.invars, names, strict=True)
    ]
    scope = dict(zip([*body.constvars, *body.invars], nodes, strict=True))
    nodes += _equations(body, scope, inline)
    outputs = list(_operands(body.outvars, scope))
    for node, name in zip(outputs, _output_names(body), strict=True):
        node.is_output = True
        node.label = f"{node.label}, {name}" if node.label else name
    return Record([*nodes, *outputs], scope)


def _open(jaxpr: Any) -> tuple[Any, Any]:
    """Give the jaxpr and the values of its constants, None where they are not known."""
    if hasattr(jaxpr, "consts"):
        return jaxpr.jaxpr, jaxpr.consts
    return jaxpr, [None] * len(jaxpr.constvars)


def _constants(body: Any, values: Iterable[Any]) -> list[Value]:
    return [
        _constant(variable.aval, value)
        for variable, value in zip(body.constvars, values, strict=True)
    ]


def _constant(aval: Any, value: Any) -> Value:
    """Show the value of a number, of an array its type."""
    known = value is not None and getattr(aval, "shape", None) == ()
    return Value(_plain(value) if known else _type(aval), kind="constant")


def _plain(value: Any) -> float | str:
    """Give a float as it is, and an integer or a boolean as text, without a decimal point."""
    number = value.item() if hasattr(value, "item") else value
    is_integer = isinstance(number, int) and not isinstance(number, bool)
    return number if isinstance(number, float) else str(int(number) if is_integer else number)


def _type(aval: Any) -> Type:
    short = getattr(aval, "str_short", None)
    return Type(short(short_dtypes=True) if short else str(aval))


def _operands(atoms: Iterable[Any], scope: dict[Any, Value]) -> Iterator[Value]:
    """Look variables up; a number written into an equation is a constant of its own."""
    for atom in atoms:
        is_literal = hasattr(atom, "val")
        yield _constant(atom.aval, atom.val) if is_literal else scope[atom]


def _equations(body: Any, scope: dict[Any, Value], inline: bool) -> list[Value]:
    """Read the equations in their order, and enter what they define into ``scope``."""
    nodes: list[Value] = []
    for equation in body.eqns:
        operands = tuple(_operands(equation.invars, scope))
        called = _called(equation)
        if called is not None and inline:
            inner, values = _open(called)
            constants = _constants(inner, values)
            nodes += constants
            variables = [*inner.constvars, *inner.invars]
            inside = dict(zip(variables, [*constants, *operands], strict=True))
            nodes += _equations(inner, inside, inline)
            results = list(_operands(inner.outvars, inside))
        else:
            results = [_equation(equation, called, operands)] * len(equation.outvars)
            nodes += results[:1]
        scope.update(zip(equation.outvars, results, strict=True))
    return nodes


def _called(equation: Any) -> Any:
    """Give the jaxpr of the function that an equation calls, or None if it does more or less."""
    parameters = equation.params
    inner = parameters.get("call_jaxpr", parameters.get("jaxpr"))
    if equation.primitive.name not in _CALLS or not is_jaxpr(inner):
        return None
    return inner if len(_open(inner)[0].invars) == len(equation.invars) else None


def _equation(equation: Any, called: Any, operands: tuple[Value, ...]) -> Value:
    name = equation.primitive.name
    if called is not None:
        name = f"{_open(called)[0].debug_info.func_name} ({name})"
    types = [str(_type(variable.aval)) for variable in equation.outvars]
    return Value(Type("\n".join(types)), op=name, parents=operands)


def _output_names(body: Any) -> list[str]:
    """Name the outputs as JAX does, ``out`` alone or ``out[0]``, ``out['loss']``."""
    paths = body.debug_info.result_paths
    if isinstance(paths, tuple | list) and len(paths) == len(body.outvars):
        return ["out" + path.removeprefix("result") for path in paths]
    return [f"out[{i}]" for i in range(len(body.outvars))]
