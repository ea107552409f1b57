"""The generic topological sort."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaingrad.graph import CycleError, toposort

SEVEN = {"a": [], "b": [], "x": [], "c": ["a", "b"], "d": ["x", "c"], "e": ["c"], "f": ["d"]}


@st.composite
def dags(draw: st.DrawFn) -> dict[int, list[int]]:
    """Random graphs in which a node's parents have smaller numbers; parallel edges are allowed."""
    size = draw(st.integers(1, 30))
    return {
        child: draw(st.lists(st.integers(0, child - 1), max_size=4)) if child else []
        for child in range(size)
    }


def ancestors(graph, root):
    found, todo = set(), [root]
    while todo:
        node = todo.pop()
        if node not in found:
            found.add(node)
            todo += graph[node]
    return found


def test_visits_parents_in_the_written_order():
    assert toposort("f", SEVEN) == ["f", "d", "c", "b", "a", "x"]


def test_trace_tells_each_visit_and_push():
    events = []
    toposort("c", SEVEN, trace=lambda event, node: events.append((event, node)))
    assert events == [
        ("visit", "c"),
        ("visit", "a"),
        ("push", "a"),
        ("visit", "b"),
        ("push", "b"),
        ("push", "c"),
    ]


@given(dags())
def test_holds_each_ancestor_once_and_children_before_parents(graph):
    root = len(graph) - 1
    order = toposort(root, graph)
    assert order[0] == root
    assert sorted(order) == sorted(ancestors(graph, root))
    position = {node: i for i, node in enumerate(order)}
    assert all(position[node] < position[parent] for node in order for parent in graph[node])


@given(dags())
def test_takes_a_function_as_well_as_a_dictionary(graph):
    root = len(graph) - 1
    assert toposort(root, graph.__getitem__) == toposort(root, graph)


def test_looks_at_each_edge_once():
    looked_at = []

    def parents(node):
        for parent in SEVEN[node]:
            looked_at.append((node, parent))
            yield parent

    toposort("f", parents)
    assert len(looked_at) == len(set(looked_at)) == 5


def test_a_long_chain_needs_no_recursion():
    depth = 200_000
    assert len(toposort(depth, lambda n: [n - 1] if n else [])) == depth + 1


def test_a_cycle_is_named():
    with pytest.raises(CycleError, match="b depends on c depends on b"):
        toposort("a", {"a": ["b"], "b": ["c"], "c": ["b"]})
    with pytest.raises(CycleError, match="a depends on a"):
        toposort("a", {"a": ["a"]})


def test_an_unknown_name_is_named():
    with pytest.raises(KeyError, match="'q' is not in the graph; it holds 'a'"):
        toposort("a", {"a": ["q"]})
