"""A graph's nodes, read from nodes, tensors, a jaxpr or a dictionary, and told in words."""

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chaingrad.draw.jaxpr import Type, Value, is_jaxpr, read_jaxpr
from chaingrad.graph import toposort

FEW = 6  # an array of up to this many entries shows them
LONGEST = 600  # characters of alt text


@dataclass(frozen=True)
class Item:
    """One node in words; ``id`` is n0, n1, … in the order of creation, ``parents`` are ids."""

    id: str
    label: str
    op: str
    kind: str  # operation, leaf, input, parameter, constant
    parents: tuple[str, ...]
    value: str = ""
    gradient: str = ""
    reached: bool = False  # the gradient is not zero
    is_root: bool = False  # one of what was asked for
    is_typed: bool = False  # the value is a shape and a dtype, as all that a jaxpr knows
    node: Any = None

    @property
    def is_leaf(self) -> bool:
        return self.kind != "operation"

    @property
    def name(self) -> str:
        """The label, or v3 for an unlabelled node n3."""
        return self.label or "v" + self.id[1:]

    @property
    def fact(self) -> str:
        """What the value is."""
        return "type" if self.is_typed else "data"


def read(
    root: Any,
    caller: str,
    max_nodes: int,
    parameters: Iterable[Any] = (),
    names: Mapping[str, Any] | None = None,
    inline: bool = True,
) -> list[Item]:
    """Read the graph behind one root or several, parents before children."""
    roots = list(root) if isinstance(root, list | tuple) else [root]
    for thing in roots or [root]:
        _check_type(thing, caller)
    records = {id(thing): read_jaxpr(thing, inline) for thing in roots if is_jaxpr(thing)}
    variables = {id(v): node for r in records.values() for v, node in r.variables.items()}

    def sources(thing: Any) -> list[Any]:
        """Where the graph begins: a tensor's ``grad_fn``, all of a jaxpr, or the thing itself."""
        if id(thing) in records:
            return records[id(thing)].nodes
        return [variables.get(id(thing), _source(thing))]

    starts = [source for thing in roots for source in sources(thing)]
    named = {id(sources(thing)[0]): name for name, thing in (names or {}).items()}
    results = {id(_source(thing)): thing for thing in [*(names or {}).values(), *roots]}
    trained = {id(thing) for thing in parameters}
    order = _in_order(starts, max_nodes)
    ids = {id(thing): f"n{i}" for i, thing in enumerate(order)}
    started = {id(thing) for thing in starts}
    facts = [_facts(thing, results.get(id(thing)), trained) for thing in order]
    told_apart = any(kind == "parameter" for kind, *_ in facts)
    return [
        Item(
            id=ids[id(thing)],
            label=named.get(id(thing), label),
            op=op,
            kind="input" if kind == "leaf" and told_apart else kind,
            parents=tuple(ids[id(parent)] for parent in _parents(thing)),
            value=show(data),
            gradient=show(grad),
            reached=not _is_zero(grad),
            is_root=thing.is_output if isinstance(thing, Value) else id(thing) in started,
            is_typed=isinstance(data, Type),
            node=thing,
        )
        for thing, (kind, op, label, data, grad) in zip(order, facts, strict=True)
    ]


def _check_type(thing: Any, caller: str) -> None:
    if is_tensor(thing):
        if not thing.requires_grad:
            raise ValueError(
                f"{caller}: nothing that this PyTorch tensor was computed from has requires_grad, "
                "so no graph was recorded"
            )
    elif is_jaxpr(thing) or (hasattr(thing, "parents") and hasattr(thing, "data")):
        return
    else:
        traced = hasattr(thing, "aval")
        raise TypeError(
            f"{caller} expected a node (with data, grad, parents, op and label), a PyTorch tensor, "
            f"a jaxpr, or a list of these, and got {type(thing).__name__}: {thing!r:.60}"
            + ("; a JAX array has no history: draw jax.make_jaxpr(f)(*arguments)" * traced)
        )


@dataclass(eq=False)
class _Reference:
    """Stands for a thing by its identity: things may compare by value, or not be hashable."""

    thing: Any

    @property
    def label(self) -> str:
        """What an error message calls the thing."""
        return getattr(self.thing, "label", None) or type(self.thing).__name__


def _in_order(roots: list[Any], max_nodes: int) -> list[Any]:
    """Sort what the roots depend on, parents before children."""
    references: dict[int, _Reference] = {}

    def refer(things: Iterable[Any]) -> list[_Reference]:
        return [references.setdefault(id(thing), _Reference(thing)) for thing in things]

    everything = _Reference(None)  # has all the roots as parents
    order = toposort(
        everything,
        lambda reference: refer(roots if reference is everything else _parents(reference.thing)),
    )[:0:-1]
    _check_size(len(order), max_nodes)
    return [reference.thing for reference in order]


def _check_size(size: int, max_nodes: int) -> None:
    if size > max_nodes:
        raise ValueError(
            f"the graph has {size:,} nodes, more than the {max_nodes:,} that can be read in a "
            "drawing: draw a smaller model or fewer examples, write the computation with arrays "
            "instead of scalars, or raise max_nodes"
        )


def _facts(thing: Any, result: Any, trained: set[int]) -> tuple[str, str, str, Any, Any]:
    """Give kind, op, label, data and gradient of a node or a PyTorch ``grad_fn``."""
    if isinstance(thing, Value):
        return thing.kind, thing.op, thing.label or "", thing.data, None
    if _is_grad_fn(thing):  # knows its name alone, unless it made the tensor we were given
        name = type(thing).__name__.rstrip("0123456789").removesuffix("Backward")
        grad = result.grad if getattr(result, "retains_grad", False) else None
        return "operation", name, "", result, grad
    leaf = not list(_parents(thing))
    if not leaf:
        kind = "operation"
    elif not getattr(thing, "requires_grad", True):
        kind = "constant"
    elif id(thing) in trained or _is_parameter(thing):
        kind = "parameter"
    else:
        kind = "leaf"
    grad = None if kind == "constant" else getattr(thing, "grad", None)
    op = "" if leaf else str(getattr(thing, "op", ""))
    return kind, op, getattr(thing, "label", None) or "", thing.data, grad


def _is_parameter(thing: Any) -> bool:
    named = any(c.__name__ == "Parameter" for c in type(thing).__mro__)
    return named or getattr(thing, "is_parameter", False)


def is_tensor(thing: Any) -> bool:
    """Tell a PyTorch tensor without importing PyTorch."""
    torch = sys.modules.get("torch")  # whoever holds a tensor has imported it
    return torch is not None and isinstance(thing, torch.Tensor)


def _is_grad_fn(thing: Any) -> bool:
    return hasattr(thing, "next_functions")


def _source(thing: Any) -> Any:
    """Give a tensor's ``grad_fn``; leaves and nodes stand for themselves."""
    return thing.grad_fn if is_tensor(thing) and thing.grad_fn is not None else thing


def _parents(thing: Any) -> Sequence[Any]:
    if _is_grad_fn(thing):
        functions = [function for function, _ in thing.next_functions if function is not None]
        return [getattr(function, "variable", function) for function in functions]
    return () if is_tensor(thing) else tuple(thing.parents)


def read_names(
    graph: Mapping[str, Sequence[str]], root: Any, max_nodes: int
) -> tuple[list[Item], str]:
    """Read a dictionary of parents; nodes are numbered in its order."""
    if root is None:
        raise TypeError("draw_toposort of a dictionary expected the name of a root, and got none")
    _check_size(len(graph), max_nodes)
    ids = {name: f"n{i}" for i, name in enumerate(graph)}
    for name in [root, *(parent for parents in graph.values() for parent in parents)]:
        if name not in ids:
            known = ", ".join(map(repr, graph))
            raise KeyError(f"{name!r} is not in the graph; it holds {known}")
    toposort(root, graph)  # names the nodes of a cycle
    items = [
        Item(
            id=ids[name],
            label=str(name),
            op="",
            kind="operation" if parents else "leaf",
            parents=tuple(ids[parent] for parent in parents),
        )
        for name, parents in graph.items()
    ]
    return items, ids[root]


def read_nodes(graph: Any, root: Any, max_nodes: int) -> tuple[list[Item], str]:
    """Read a graph of nodes, and find the root among them."""
    if is_tensor(graph) or is_jaxpr(graph):
        raise TypeError(
            "draw_toposort expected a dictionary of parents, a node or a list of nodes, and got "
            f"{type(graph).__name__}; draw_graph draws PyTorch tensors and jaxprs"
        )
    items = read(graph, "draw_toposort", max_nodes)
    if root is None:
        return items, items[-1].id
    for item in items:
        if item.node is root:
            return items, item.id
    raise ValueError(f"the root {root!r:.60} is not a node of the graph")


# --- words and numbers --------------------------------------------------------------------------


def show(value: Any) -> str:
    """Show a number by four significant digits, an array by its shape and, if few, its entries.

    The entries stand on lines of their own, one for each row of a matrix.

    >>> import numpy as np
    >>> show(2.0), show(0.123456), show(np.zeros((3, 4)))
    ('2.0', '0.1235', '(3, 4)')
    >>> print(show(np.array([[1.0, 2.0], [3.0, 4.0]])))
    (2, 2)
    [[1.0, 2.0],
     [3.0, 4.0]]
    """
    value = _plain(value)
    shape = tuple(getattr(value, "shape", ()))
    if math.prod(shape) > FEW:
        return str(shape)
    entries = _entries(value.tolist() if hasattr(value, "tolist") else value)
    return f"{shape}\n{entries}".replace("], ", "],\n ") if shape else entries


def _plain(value: Any) -> Any:
    """Unwrap a gradient that is itself a node."""
    while hasattr(value, "parents"):
        value = value.data
    return value


def _entries(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_entries, value)) + "]"
    return digits(value)


def digits(value: Any) -> str:
    """Write a number with four significant digits, and a whole one as Python does: 2.0."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "" if value is None else str(value)
    text = f"{value:.4g}"
    whole = text.lstrip("-").isdigit() and value == int(value)
    return text + ".0" if whole else text


def _is_zero(value: Any) -> bool:
    """Tell whether a gradient is what it was before any backward pass: None or zero."""
    value = _plain(value)
    zero: Any = value is None or value == 0
    return bool(zero.all() if hasattr(zero, "all") else zero)


def number(value: Any) -> float | None:
    """Give a number or an array without axes as a float, and None for all else."""
    value = _plain(value)
    is_number = isinstance(value, int | float) or getattr(value, "shape", None) == ()
    return float(value) if is_number else None


def title(item: Item) -> str:
    """Sum a node up in a tooltip: ``c, mul: data 6.0, grad 2.0``."""
    who = ", ".join(filter(None, [item.label, item.op or item.kind]))
    facts = [f"{item.fact} {item.value}"] if item.value else []
    facts += [f"grad {item.gradient}"] if item.gradient and item.reached else []
    return _one_line(f"{who}: {', '.join(facts)}" if facts else who)


def describe(
    what: str, items: list[Item], values: bool, gradients: bool, flows: Sequence[str] = ()
) -> str:
    """Say in a few sentences what a drawing of a graph shows."""

    def tell(item: Item) -> str:
        text = item.name
        if values and item.value:
            shaped = "type" if item.is_typed else "shape" if item.value.startswith("(") else ""
            text += (f" of {shaped} " if shaped else " = ") + item.value
        notes = [item.op] if item.op else []
        notes += [f"gradient {item.gradient}"] if gradients and item.gradient else []
        return f"{text} ({', '.join(notes)})" if notes else text

    roots = [tell(item) for item in items if item.is_root]
    leaves = [tell(item) for item in items if item.is_leaf and item.kind != "constant"]
    counts = [
        _counted(sum(item.kind == kind for item in items), kind)
        for kind in ("parameter", "input", "leaf", "constant", "operation")
        if any(item.kind == kind for item in items)
    ]
    text = f"{what} with {' and '.join(filter(None, [', '.join(counts[:-1]), counts[-1]]))}."
    text += f" {'Roots' if len(roots) > 1 else 'Root'}: {listed(roots, 3)}."
    if leaves:
        text += f" {'Leaves' if len(leaves) > 1 else 'Leaf'}: {listed(leaves, 6)}."
    told = list(filter(None, flows))
    return cut(f"{text} Edges: {listed(told, 6)}." if told else text)


def _counted(count: int, kind: str) -> str:
    plural = "leaves" if kind == "leaf" else kind + "s"
    return f"{count} {kind if count == 1 else plural}"


def listed(words: Sequence[str], most: int) -> str:
    """List the first few: ``a, b and 3 more``."""
    shown = ", ".join(words[:most])
    return shown if len(words) <= most else f"{shown} and {len(words) - most} more"


def cut(text: str) -> str:
    """Keep alt text to a length that someone can listen to."""
    text = _one_line(text)
    if len(text) <= LONGEST:
        return text
    return text[: LONGEST - 1].rpartition(" ")[0].rstrip(",.;") + "…"


def _one_line(text: str) -> str:
    return " ".join(text.split())
