"""A thing and its parents: all that a topological sort or a drawing needs to know of a graph."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar, cast

Thing = TypeVar("Thing", bound=Hashable)
Parents = Mapping[Thing, Iterable[Thing]] | Callable[[Thing], Iterable[Thing]]
Observer = Callable[[str, Any], object]


class GraphNode(Protocol):
    """What a drawing needs of a node, so that engines written elsewhere can be drawn too."""

    @property
    def data(self) -> Any:
        """The value, a float or an array."""

    @property
    def grad(self) -> Any:
        """The gradient of the root with respect to this node; 0.0 before a backward pass."""

    @property
    def parents(self) -> Sequence[Any]:
        """The operands, in order; the same node appears twice in ``x * x``."""

    @property
    def op(self) -> str:
        """The name of the operation, ``""`` for a leaf."""

    @property
    def label(self) -> str | None:
        """A name for people, or None."""


class CycleError(ValueError):
    """The graph has a cycle, so no topological order exists."""


def parents_of(parents: Parents[Thing]) -> Callable[[Thing], Iterable[Thing]]:
    """Return the parents as a function, whether they came as a function or as a dictionary.

    Raises:
        KeyError: (from the function) a name that the dictionary does not hold.
    """
    if not isinstance(parents, Mapping):
        return parents

    def look_up(thing: Thing) -> Iterable[Thing]:
        try:
            return parents[thing]
        except KeyError:
            known = ", ".join(map(repr, parents))
            raise KeyError(f"{thing!r} is not in the graph; it holds {known}") from None

    return look_up


def toposort(root: Thing, parents: Parents[Thing], trace: Observer | None = None) -> list[Thing]:
    """Sort what ``root`` depends on so that every child comes before its parents.

    Depth-first search from the root :cite:`tarjan1972`: a node is pushed once all of its parents
    have been, so the reverse of the pushes has children first and the root at its head. The search
    keeps its own stack: depth is limited by memory, not by the recursion limit. It takes time and
    memory linear in the number of edges.

    Args:
        root: where the search starts.
        parents: each node's parents, as a dictionary or as a function of a node.
        trace: called with ``("visit", node)`` and ``("push", node)`` as they happen.

    Returns:
        The nodes that ``root`` depends on, itself included, children before parents.

    Raises:
        CycleError: a node depends on itself; the message shows the cycle.
        KeyError: the dictionary lacks a node.

    >>> graph = {"a": [], "b": [], "c": ["a", "b"], "d": ["c"], "e": ["c"]}
    >>> toposort("d", graph)
    ['d', 'c', 'b', 'a']
    >>> toposort("c", graph, trace=print)
    visit c
    visit a
    push a
    visit b
    push b
    push c
    ['c', 'b', 'a']
    """
    look_up = parents_of(parents)
    pushed: list[Thing] = []
    done: set[Thing] = set()
    path: list[tuple[Thing, Iterator[Thing]]] = []  # from the root to here, with parents to come
    on_path: set[Thing] = set()

    def visit(thing: Thing) -> None:
        if trace:
            trace("visit", thing)
        path.append((thing, iter(look_up(thing))))
        on_path.add(thing)

    visit(root)
    while path:
        child, to_come = path[-1]
        for parent in to_come:
            if parent in on_path:
                raise CycleError(_describe_cycle([thing for thing, _ in path], parent))
            if parent not in done:
                visit(parent)
                break
        else:
            path.pop()
            on_path.remove(child)
            done.add(child)
            pushed.append(child)
            if trace:
                trace("push", child)
    pushed.reverse()
    return pushed


def _describe_cycle(path: list[Thing], again: Thing) -> str:
    cycle = [*path[path.index(again) :], again]
    names = [str(getattr(thing, "label", None) or cast(object, thing)) for thing in cycle]
    return "the graph has a cycle, so it cannot be sorted: " + " depends on ".join(names)
