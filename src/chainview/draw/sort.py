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
    step: int | None = None,
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
        step: draw the search after this many of its events (visits and pushes) instead of all of
            them; a node that has been visited and not yet pushed has no number yet.
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
    >>> print(draw_toposort(graph, "d", step=3).alt)
    Topological sort from d of a graph with 5 nodes, after 3 of 8 steps. Visited: d, c, a.
    """
    picture = new_graph(direction)
    items, start = read_sort(graph, root, max_nodes)
    search = Search(items, start, step)
    circles = all(len(item.name) <= 3 for item in items)
    picture.defaults("node", shape="circle" if circles else "box", width="0.62", margin="0.05")
    for item in items:
        picture.node(item.id, **_node_attributes(item, search, circles))
    for item in items:
        for parent in item.parents:
            picture.edge(parent, item.id, **({} if item.id in search.visited else DASHED))
    titles = {item.id: f"{item.name}: {search.state(item.id)}" for item in items}
    return Drawing(picture.source, alt or _describe_sort(items, search), titles)


class Search:
    """A depth-first search after some of its steps.

    Attributes:
        order: the whole sorted list, children before parents.
        events: the steps made so far.
        length: how many steps the search has in all.
    """

    def __init__(self, items: list[Item], start: str, step: int | None = None) -> None:
        self.events: list[tuple[str, str]] = []
        self.order = toposort(
            start,
            {item.id: item.parents for item in items},
            trace=lambda event, id: self.events.append((event, id)),
        )
        self.length = len(self.events)
        self.events = self.events[:step]
        self.visited = {id for event, id in self.events if event == "visit"}
        pushed = {id for event, id in self.events if event == "push"}
        self.place = {id: i for i, id in enumerate(self.order, 1) if id in pushed}

    @property
    def is_over(self) -> bool:
        return len(self.events) == self.length

    def state(self, id: str) -> str:
        """Say what the search knows about a node."""
        if id in self.place:
            return f"visited, number {self.place[id]} of the sorted list"
        if id in self.visited:
            return "visited, not yet in the sorted list"
        return "left out" if self.is_over else "not visited"


def _node_attributes(item: Item, search: Search, circles: bool) -> dict[str, str]:
    """Choose the shape, colours and label of a node of a sort."""
    shape = "" if circles else ",rounded"
    if item.id not in search.visited:
        label = Markup(font(escape(item.name), LIGHT["excluded"]))
        return {**DASHED, "style": DASHED["style"] + shape, "label": label}
    place = f"#{search.place[item.id]}" if item.id in search.place else "…"
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
    if not search.is_over:
        visited = [name[id] for event, id in search.events if event == "visit"]
        pushed = [name[id] for event, id in search.events if event == "push"]
        text += f", after {len(search.events)} of {search.length} steps."
        text += f" Visited: {listed(visited, 20)}." if visited else ""
        return truncate(text + (f" Pushed: {listed(pushed, 20)}." if pushed else ""))
    text += f": {listed([name[id] for id in search.order], 20)}."
    left_out = [item.name for item in items if item.id not in search.order]
    return truncate(text + (f" Left out: {listed(left_out, 20)}." if left_out else ""))
