"""A long chain in rows, where one arrow leads from each row to the next."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence

from chainview.player.spots import Box
from chainview.read.items import Item

GUTTER = 64.0  # between two rows, for the arrow that leads on and what it carries
BEND = 18.0  # how far that arrow runs on before it turns
_ROUND, _HEAD = 10.0, 9.0  # its corners, and the length of its head
_PAIR = re.compile(r"(-?\d+(?:\.\d+)?),(-?\d+(?:\.\d+)?)")


def rows(
    items: Sequence[Item], width: Mapping[str, float], gap: float, most: float
) -> list[list[Item]]:
    """Cut a graph into rows no wider than ``most``, as far as it can be cut.

    Args:
        items: parents before children.
        width: of each node, by its id.
        gap: between one rank and the next.
        most: how wide a row may be.

    >>> graph = [Item(f"n{i}", "", "", "leaf", (f"n{i - 1}",) * bool(i)) for i in range(4)]
    >>> width = {item.id: 50.0 for item in graph}
    >>> [[x.id for x in row] for row in rows(graph, width, gap=90, most=200)]
    [['n0', 'n1'], ['n2', 'n3']]
    """
    rest, found = list(items), list[list[Item]]()
    while _width(rest, width, gap) > most:
        firsts = [first for item in rest if (first := _leading_to(item, rest))]
        if found:  # the arrow out of the last row leads into the next
            firsts = [x for x in firsts if any(found[-1][-1].id in item.parents for item in x)]
        fitting = [first for first in firsts if _width(first, width, gap) <= most]
        if not fitting:
            break
        found.append(max(fitting, key=len))
        gone = {item.id for item in found[-1]}
        rest = [item for item in rest if item.id not in gone]
    return [*found, rest]


def _leading_to(last: Item, items: Sequence[Item]) -> list[Item]:
    """Return what a node was computed from, and the node, if one arrow is all that leaves them."""
    needed = {last.id}
    for item in reversed(items):
        needed |= set(item.parents) if item.id in needed else set()
    leaving = [x for item in items if item.id not in needed for x in item.parents if x in needed]
    return [item for item in items if item.id in needed] if leaving == [last.id] else []


def _width(items: Sequence[Item], width: Mapping[str, float], gap: float) -> float:
    """Return how wide a row gets: the widest of each rank, counted back from the row's end."""
    rank = dict.fromkeys((item.id for item in items), 0)
    for item in reversed(items):
        for parent in item.parents:
            if parent in rank:
                rank[parent] = max(rank[parent], rank[item.id] + 1)
    widest = [max(width[id] for id in rank if rank[id] == k) for k in set(rank.values())]
    return sum(widest) + gap * (len(widest) - 1)


def stack(pictures: Sequence[ET.Element]) -> ET.Element:
    """Put pictures below each other, to the right, in one SVG.

    The graph's group of each picture is its only child; all parts come into that of the first.
    """
    first, *others = pictures
    widths, heights = ([float(x.attrib[side]) for x in pictures] for side in ("width", "height"))
    wide, top = max(widths) + BEND, heights[0]
    x, y = origin(first)
    for picture, width, height in zip(others, widths[1:], heights[1:], strict=True):
        top += GUTTER
        left, above = origin(picture)
        for part in picture[0]:
            _shift(part, max(0.0, widths[0] - width) + left - x, top + above - y)
            first[0].append(part)
        top += height
    if others:
        first.attrib |= {
            "width": f"{wide:.0f}",
            "height": f"{top:.0f}",
            "viewBox": f"0 0 {wide:g} {top:g}",
        }
    return first


def origin(picture: ET.Element) -> tuple[float, float]:
    """Return where the graph's own coordinates begin in its picture."""
    x, y = re.findall(r"-?[\d.]+", picture[0].attrib["transform"].partition("translate")[2])
    return float(x), float(y)


def _shift(part: ET.Element, x: float, y: float) -> None:
    """Move a node or an edge by so many pixels."""

    def moved(pair: re.Match[str]) -> str:
        return f"{float(pair[1]) + x:.2f},{float(pair[2]) + y:.2f}"

    for element in part.iter():
        for name in {"d", "points"} & element.attrib.keys():
            element.set(name, _PAIR.sub(moved, element.attrib[name]))
        for name, by in (("cx", x), ("cy", y)):
            if name in element.attrib:
                element.set(name, f"{float(element.attrib[name]) + by:.2f}")


def lead_on(parent: str, child: str, box: Mapping[str, Box], row: Sequence[str]) -> ET.Element:
    """Draw the arrow from the last node of a row to a node of the next.

    It runs back between the rows, and then down to the child.

    Args:
        parent, child: their ids.
        box: the place of each node.
        row: the nodes of the parent's row.
    """
    _, above, right, below = box[parent]
    left, top, end, _ = box[child]
    middle = max(box[id][3] for id in row) + GUTTER / 2
    turn, into = right + BEND, (left + end) / 2
    corners = [(right, (above + below) / 2), (turn, (above + below) / 2), (turn, middle),
               (into, middle), (into, top - _HEAD)]  # fmt: skip
    edge = ET.Element("g", {"class": "edge", "data-from": parent, "data-to": child})
    ET.SubElement(edge, "path", {"d": _rounded(corners)})
    points = [(into - 3, top - _HEAD), (into + 3, top - _HEAD), (into, top)]
    ET.SubElement(edge, "polygon", {"points": " ".join(f"{x:.1f},{y:.1f}" for x, y in points)})
    return edge


def _rounded(corners: Sequence[tuple[float, float]]) -> str:
    """Write a way along its corners as cubic curves, as Graphviz writes them."""
    at = corners[0]
    path = f"M{at[0]:.1f},{at[1]:.1f}"
    for before, corner, after in zip(corners, corners[1:], corners[2:], strict=False):
        start, end = _towards(corner, before), _towards(corner, after)
        for first, second, third in ((at, start, start), (corner, corner, end)):
            places = (f"{x:.1f},{y:.1f}" for x, y in (first, second, third))
            path += "C" + " ".join(places)
        at = end
    last = f"{corners[-1][0]:.1f},{corners[-1][1]:.1f}"
    return f"{path}C{at[0]:.1f},{at[1]:.1f} {last} {last}"


def _towards(corner: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    """Return the place where a way begins to turn, or has turned."""
    (x, y), (u, v) = corner, other
    length = abs(u - x) + abs(v - y)  # one of the two is 0
    part = min(_ROUND, length / 2) / length if length else 0.0
    return x + (u - x) * part, y + (v - y) * part
