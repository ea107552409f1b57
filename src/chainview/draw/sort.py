"""The order in which a depth-first search sorts a graph, drawn."""

from collections.abc import Mapping, Sequence
from typing import Any

from chaingrad.graph import GraphNode, toposort
from chainview.draw.boxes import Direction, new_graph
from chainview.draw.layout import Markup, escape, font
from chainview.draw.palette import LIGHT
from chainview.draw.svg import Drawing
from chainview.read.items import Item
from chainview.read.reading import read_sort
from chainview.read.words import listed, truncate

DASHED = {"style": "dashed", "color": LIGHT["excluded"]}


def draw_toposort(
    graph: Mapping[str, Sequence[str]] | GraphNode | Sequence[GraphNode],
    root: Any = None,
    *,
    direction: Direction = "LR",
    max_nodes: int = 300,
    alt: str | None = None,
) -> Drawing:
    """Draw how a depth-first search from ``root`` sorts a graph, children before parents.

    Nodes that it visits are violet and numbered by their place in the sorted list; leaves are
    yellow (a visited leaf has a violet border); nodes that the root does not depend on are grey and
    dashed.

    Args:
        graph: a dictionary of each node's parents, or a node, or several.
        root: where the search starts: a name in the dictionary, or a node (by default ``graph``).
        direction: which way the data flows, in Graphviz's terms.
        max_nodes: a larger graph is refused.
        alt: words to use instead of the generated alt text.

    Raises:
        TypeError: ``graph`` is something else, or ``root`` is missing.
        KeyError: a name that the dictionary does not hold.
        ValueError: the graph is too large, or the root is not in it.
        CycleError: a node depends on itself.

    >>> graph = {"a": [], "b": [], "c": ["a", "b"], "d": ["c"], "e": ["c"]}
    >>> print(draw_toposort(graph, "d").alt)
    Topological sort from d of a graph with 5 nodes: d, c, b, a. Left out: e.
    """
    picture = new_graph(direction)
    items, start = read_sort(graph, root, max_nodes)
    search = Search(items, start)
    circles = all(len(item.name) <= 3 for item in items)
    picture.defaults("node", shape="circle" if circles else "box", width="0.62", margin="0.05")
    for item in items:
        picture.node(item.id, **_node_attributes(item, search, circles))
    for item in items:
        for parent in item.parents:
            picture.edge(parent, item.id, **({} if item.id in search.place else DASHED))
    titles = {item.id: f"{item.name}: {search.state(item.id)}" for item in items}
    return Drawing(picture.source, alt or _describe_sort(items, search), titles)


class Search:
    """A depth-first search.

    Attributes:
        order: the sorted list, children before parents.
        events: its visits and pushes.
        place: the number of each visited node in the sorted list, from 1.
    """

    def __init__(self, items: list[Item], start: str) -> None:
        self.events: list[tuple[str, str]] = []
        self.order = toposort(
            start,
            {item.id: item.parents for item in items},
            trace=lambda event, id: self.events.append((event, id)),
        )
        self.place = {id: i for i, id in enumerate(self.order, 1)}

    def state(self, id: str) -> str:
        """Say what the search knows about a node."""
        if id not in self.place:
            return "left out"
        return f"visited, number {self.place[id]} of the sorted list"


def _node_attributes(item: Item, search: Search, circles: bool) -> dict[str, str]:
    """Choose the shape, colours and label of a node of a sort."""
    shape = "" if circles else ",rounded"
    if item.id not in search.place:
        label = Markup(font(escape(item.name), LIGHT["excluded"]))
        return {**DASHED, "style": DASHED["style"] + shape, "label": label}
    place = f"#{search.place[item.id]}"
    return {
        "style": "filled" + shape,
        "fillcolor": LIGHT["leaf" if item.is_leaf else "visited"],
        "color": LIGHT["visited-line"],
        "penwidth": "2",
        "label": Markup(f"<B>{escape(item.name)}</B><BR/>{font(place, LIGHT['ink'], 11)}"),
    }


def _describe_sort(items: list[Item], search: Search) -> str:
    name = {item.id: item.name for item in items}
    text = f"Topological sort from {name[search.order[0]]} of a graph with {len(items)} nodes"
    text += f": {listed([name[id] for id in search.order], 20)}."
    left_out = [item.name for item in items if item.id not in search.place]
    return truncate(text + (f" Left out: {listed(left_out, 20)}." if left_out else ""))
