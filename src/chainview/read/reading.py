"""A graph read for a drawing: nodes, tensors, jaxprs, watched runs, a dictionary of parents."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from chaingrad.graph import parents_of, toposort
from chainview.read.items import Item, NodeFacts
from chainview.read.jaxpr import Jaxprs, Type, is_jaxpr
from chainview.read.nodes import Nodes
from chainview.read.tensors import Tensors, is_tensor
from chainview.read.watches import WatchedRuns
from chainview.read.words import digits, is_zero, number, show


def read(
    root: Any,
    caller: str,
    max_nodes: int,
    parameters: Iterable[Any] = (),
    names: Mapping[str, Any] | None = None,
    inline: bool = True,
) -> list[Item]:
    """Read the graph behind one root or several, parents before children."""
    roots = list(root) if isinstance(root, list | tuple) and root else [root]
    trained = list(parameters)
    readers = [WatchedRuns(trained), Jaxprs(roots, inline), Tensors(trained), Nodes(trained)]

    def reader(thing: Any) -> Nodes:
        return next(reader for reader in readers if reader.can_read(thing))

    known: dict[int, _Met] = {}

    def meet(things: Iterable[Any]) -> list[_Met]:
        return [known.setdefault(id(thing), _Met(thing)) for thing in things]

    def parents(met: _Met) -> list[_Met]:
        if met is not everything:
            met.parents = meet(reader(met.thing).parents(met.thing))
        return met.parents

    labels = {id(reader(thing).source(thing)): name for name, thing in (names or {}).items()}
    starts = [met for thing in roots for met in meet(reader(thing).roots(thing, caller))]
    everything = _Met(None, starts)
    order = toposort(everything, parents)[:0:-1]
    check_size(len(order), max_nodes)
    return _items({met: reader(met.thing).facts(met.thing) for met in order}, set(starts), labels)


@dataclass(eq=False)
class _Met:
    """A thing met in a graph, by identity: things may compare by value, or not be hashable."""

    thing: Any
    parents: list["_Met"] = field(default_factory=list)

    @property
    def label(self) -> str:
        """The name that an error message uses for the thing."""
        return getattr(self.thing, "label", None) or type(self.thing).__name__


def _items(
    facts: Mapping[_Met, NodeFacts], starts: Set[_Met], labels: Mapping[int, str]
) -> list[Item]:
    ids = {met: f"n{i}" for i, met in enumerate(facts)}
    exponents = _exponents(facts)
    absorbed = {met.parents[1] for met in exponents}
    told_apart = any(fact.kind == "parameter" for fact in facts.values())
    return [
        Item(
            id=ids[met],
            label=labels.get(id(met.thing), fact.label),
            op=fact.op,
            kind="input" if fact.kind == "leaf" and told_apart else fact.kind,
            parents=tuple(ids[x] for x in met.parents[: 1 if met in exponents else None]),
            value=show(fact.data),
            gradient=show(fact.grad),
            reached=not is_zero(fact.grad),
            is_root=met in starts and fact.is_output,
            is_typed=isinstance(fact.data, Type),
            node=met.thing,
            marks=fact.marks,
            exponent=exponents.get(met, ""),
        )
        for met, fact in facts.items()
        if met not in absorbed
    ]


def _exponents(facts: Mapping[_Met, NodeFacts]) -> dict[_Met, str]:
    """Return the powers whose exponent is a constant that nothing else uses, and the exponents."""
    uses = Counter(parent for met in facts for parent in met.parents)
    powers = [met for met, fact in facts.items() if fact.op == "pow" and len(met.parents) == 2]
    found = {}
    for met in powers:
        exponent = met.parents[1]
        fact, value = facts[exponent], number(facts[exponent].data)
        if fact.kind == "constant" and not fact.label and uses[exponent] == 1 and value is not None:
            found[met] = digits(value).removesuffix(".0")
    return found


def check_size(
    size: int,
    max_nodes: int,
    beyond: str = "can be read in a drawing: draw a smaller model or fewer examples, write the "
    "computation with arrays instead of scalars, or raise max_nodes",
) -> None:
    """Refuse a graph of more nodes than ``beyond`` says."""
    if size > max_nodes:
        raise ValueError(f"the graph has {size:,} nodes, more than the {max_nodes:,} that {beyond}")


# --- what can be sorted -------------------------------------------------------------------------


def read_sort(graph: Any, root: Any, max_nodes: int) -> tuple[list[Item], str]:
    """Read a dictionary of parents, or nodes, and the id of the root of a sort."""
    reading = _read_names if isinstance(graph, Mapping) else _read_nodes
    return reading(graph, root, max_nodes)


def _read_names(
    graph: Mapping[str, Sequence[str]], root: Any, max_nodes: int
) -> tuple[list[Item], str]:
    """Read a dictionary of parents; nodes are numbered in its order."""
    if root is None:
        raise TypeError("draw_toposort of a dictionary expected the name of a root, and got none")
    check_size(len(graph), max_nodes)
    ids = {name: f"n{i}" for i, name in enumerate(graph)}
    for name in [root, *(parent for parents in graph.values() for parent in parents)]:
        parents_of(graph)(name)  # otherwise raises a KeyError that names it
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


def _read_nodes(graph: Any, root: Any, max_nodes: int) -> tuple[list[Item], str]:
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
