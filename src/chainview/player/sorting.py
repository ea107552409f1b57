"""Play the depth-first search that sorts a graph."""

import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence, Set
from typing import Any

from chaingrad.graph import GraphNode
from chainview.draw.boxes import Direction
from chainview.draw.sort import Search
from chainview.player.names import NodeNames
from chainview.player.picture import Look, draw
from chainview.player.player import BEYOND, MOST_NODES, Player
from chainview.player.steps import sort_steps
from chainview.read.items import Item
from chainview.read.reading import check_size, read_sort
from chainview.read.words import truncate


def play_toposort(
    graph: Mapping[str, Sequence[str]] | GraphNode | Sequence[GraphNode],
    root: Any = None,
    *,
    direction: Direction = "LR",
    max_nodes: int = MOST_NODES,
) -> Player:
    """Play the depth-first search that sorts a graph, as `chaingrad.graph.toposort` runs it.

    Args:
        graph: a dictionary of each node's parents, or a node, or several.
        root: where the search starts: a name in the dictionary, or a node (by default ``graph``).
        direction: which way the data flows, in Graphviz's terms.
        max_nodes: a larger graph is refused.

    Raises:
        TypeError, KeyError, ValueError, CycleError: as `chainview.draw_toposort`.

    >>> graph = {"a": [], "b": [], "c": ["a", "b"], "d": ["c"], "e": ["c"]}
    >>> player = play_toposort(graph, "d")
    >>> print(player.alt)
    Topological sort from d, step by step: 8 visits and pushes.
    """
    items, start = read_sort(graph, root, 10**9)
    check_size(len(items), max_nodes, BEYOND)
    search = Search(items, start)
    names = NodeNames(items)
    steps = sort_steps([(event, names.item_by_id(id)) for event, id in search.events], names)
    name = names.item_by_id(start).name
    alt = f"Topological sort from {name}, step by step: {len(steps)} visits and pushes."
    ways: list[Direction] = [direction, "TB"]  # the other for a narrow screen
    return Player(
        truncate(alt),
        steps,
        lambda: [_picture(items, names, search.place.keys(), way) for way in ways],
        [(item.id, *begins) for item in items for begins in (("state", "todo"), ("number", ""))],
        _key_frames(search.events),
    )


def _picture(
    items: Sequence[Item], names: NodeNames, visited: Set[str], way: Direction
) -> ET.Element:
    looks = [
        Look(
            item,
            names.full_name(item),
            slots=(("number",),),
            widest=(f"#{len(items)}",),
            color="leaf" if item.is_leaf else "visited",
            is_round=all(len(item.name) <= 3 for item in items),
            is_centred=True,
        )
        for item in items
    ]
    return draw(looks, way, 26, "Graph", {item.id for item in items} - visited)


def _key_frames(events: Sequence[tuple[str, str]]) -> list[tuple[str, int]]:
    first = next(i for i, (event, _) in enumerate(events) if event == "push")
    return [("First push", first), ("Half-way", len(events) // 2), ("Sorted", len(events) - 1)]
