"""A graph read for a drawing: nodes, tensors, jaxprs, watched runs, a dictionary of parents."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from chaingrad.draw.items import Item
from chaingrad.draw.jaxpr import Jaxprs, Type, is_jaxpr
from chaingrad.draw.nodes import Nodes
from chaingrad.draw.tensors import Tensors, is_tensor
from chaingrad.draw.watches import Watches, is_watched
from chaingrad.draw.words import is_zero, show
from chaingrad.graph import toposort

Reader = Nodes | Jaxprs


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
    jaxprs, tensors, nodes = Jaxprs(roots, inline), Tensors(trained), Nodes(trained)
    watches = Watches(trained)

    def reader(thing: Any) -> Reader:
        if is_watched(thing):
            return watches
        return jaxprs if jaxprs.has(thing) else tensors if is_tensor(thing) else nodes

    labels = {id(reader(thing).source(thing)): name for name, thing in (names or {}).items()}
    graph = _Graph()
    starts: list[_Met] = []
    for thing in roots:
        starts += graph.meet(reader(thing).starts(thing, caller), reader(thing))
    return _items(graph.sort(starts, max_nodes), set(starts), labels)


@dataclass(eq=False)
class _Met:
    """A thing met in a graph, by identity: things may compare by value, or not be hashable."""

    thing: Any
    reader: Reader
    parents: list["_Met"] = field(default_factory=list)

    @property
    def label(self) -> str:
        """What an error message calls the thing."""
        return getattr(self.thing, "label", None) or type(self.thing).__name__


class _Graph:
    """What is met on the way from some roots; the reader of a child reads its parents."""

    def __init__(self) -> None:
        self._met: dict[int, _Met] = {}

    def meet(self, things: Iterable[Any], reader: Reader) -> list[_Met]:
        return [self._met.setdefault(id(thing), _Met(thing, reader)) for thing in things]

    def sort(self, starts: list[_Met], max_nodes: int) -> list[_Met]:
        """Sort what the starts depend on, parents before children."""
        everything = _Met(None, Nodes(), starts)

        def parents(met: _Met) -> list[_Met]:
            if met is not everything:
                met.parents = self.meet(met.reader.parents(met.thing), met.reader)
            return met.parents

        order = toposort(everything, parents)[:0:-1]
        _check_size(len(order), max_nodes)
        return order


def _items(order: Sequence[_Met], starts: Set[_Met], labels: Mapping[int, str]) -> list[Item]:
    ids = {met: f"n{i}" for i, met in enumerate(order)}
    facts = {met: met.reader.facts(met.thing) for met in order}
    told_apart = any(fact.kind == "parameter" for fact in facts.values())
    return [
        Item(
            id=ids[met],
            label=labels.get(id(met.thing), fact.label),
            op=fact.op,
            kind="input" if fact.kind == "leaf" and told_apart else fact.kind,
            parents=tuple(ids[parent] for parent in met.parents),
            value=show(fact.data),
            gradient=show(fact.grad),
            reached=not is_zero(fact.grad),
            is_root=met in starts and fact.is_output,
            is_typed=isinstance(fact.data, Type),
            node=met.thing,
            marks=fact.marks,
        )
        for met, fact in facts.items()
    ]


def _check_size(size: int, max_nodes: int) -> None:
    if size > max_nodes:
        raise ValueError(
            f"the graph has {size:,} nodes, more than the {max_nodes:,} that can be read in a "
            "drawing: draw a smaller model or fewer examples, write the computation with arrays "
            "instead of scalars, or raise max_nodes"
        )


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
