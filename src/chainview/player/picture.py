"""A graph whose nodes have named slots, with room for all that will be written in them.

Graphviz gives the nodes their places; what is in a node is drawn here, so that each text is known
by its slot. Players, figures that move and problems are drawn by this.
"""

import itertools
import math
import re
import unicodedata
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from importlib.resources import files

from chainview.draw.boxes import Direction, new_graph, operand_order
from chainview.draw.layout import layout
from chainview.draw.sort import DASHED
from chainview.draw.svg import inline
from chainview.player.rows import BEND, lead_on, origin, rows, stack
from chainview.player.spots import Box, boxes, spots
from chainview.read.items import Item
from chainview.read.words import shortened

TITLE, TEXT = 14, 12  # sizes of type, in pixels
LEGIBLE = 11 / TEXT  # no picture is shown at a smaller scale
_LINE = 15  # from one line of text to the next
_PAD = 5
_WIDEST = 120  # of a title
SHEET = files(__package__) / "picture.css"
_COLUMN = 780.0  # the width of a page's figure in a window of 1280
ARROW = 90.0  # the length of an arrow that carries something, from left to right
ROOM = 44.0  # and from the top down, where it stands beside the arrow
_PAIR = re.compile(r"-?\d+(?:\.\d+)?,-?\d+(?:\.\d+)?")

Carried = tuple[str, str]  # the widest texts above and below an arrow
NOTHING: Carried = ("", "")


@dataclass(frozen=True)
class Look:
    """How a node is drawn: what it is called, and the widest texts that its slots will hold.

    Slots of one group share a line: of those, the last that is not empty is seen.
    """

    item: Item
    title: str
    note: str = ""
    slots: tuple[tuple[str, ...], ...] = ()  # lines of slots
    widest: tuple[str, ...] = ()
    color: str = "node"
    is_round: bool = False
    is_centred: bool = False
    short: str = ""  # the title, as `draw` cuts it to leave room for other nodes

    @property
    def is_ruled(self) -> bool:
        """Whether a line stands between the title and what is below it."""
        return bool(self.title) and len(self.slots) > 1

    @property
    def size(self) -> tuple[float, float]:
        """Width and height."""
        title = _width(self.short, TITLE, bold=True) if self.title else 0.0
        note = _width(self.note, TEXT) + 6 * bool(self.title) if self.note else 0.0
        texts = [_width(text, TEXT) for text in self.widest]
        width = max(title + note, *texts, 18.0) + 2 * _PAD
        lines = len(self.slots) + bool(self.title or self.note)
        height = _LINE * lines + 6.0 + 3 * self.is_ruled
        side = max(width, height) + 8 if self.is_round else 0.0
        return max(width, side), max(height, side)


def fitting(texts: Sequence[str], most: float = _WIDEST) -> list[str]:
    """Cut texts to a width in pixels, with an ellipsis for what is gone, so that they differ."""
    return shortened(texts, lambda text: _width(text, TITLE) <= most)


def _width(text: str, size: float, bold: bool = False) -> float:
    """Estimate the width of a text in a wide sans-serif typeface such as DejaVu Sans."""
    return sum(map(_em, text)) * size * (1.12 if bold else 1.0)


def _em(character: str) -> float:
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.0
    if character in "ijlI.,:;|!'()[] tfr⁽⁾":
        return 0.38
    return 0.9 if character in "mwMW@#&%…−×+=<>" else 0.7 if character.isupper() else 0.62


def draw(
    looks: Sequence[Look],
    direction: Direction,
    gap: float,
    alt: str,
    left_out: Iterable[str] = (),
    carried: Carried | Mapping[tuple[str, int], Carried] = NOTHING,
    at_once: bool = False,
    is_cut: bool = True,
) -> ET.Element:
    """Lay a graph out, and draw it as SVG.

    Args:
        looks: its nodes, in their order.
        direction: which way the data flows, in Graphviz's terms.
        gap: pixels between one rank and the next.
        alt: what the picture shows, in words.
        left_out: the ids of nodes to which dashed arrows lead.
        carried: the widest texts above and below an arrow, or of each, by its child and the
            operand's position; none if nothing is said. From left to right, arrows that carry
            something have a length of at least 90 pixels, and what gets too wide by that has
            several rows.
        at_once: whether what all arrows carry is seen together.
        is_cut: whether it may have several rows.

    Returns:
        An ``<svg>``. Its nodes are groups with ``data-node``, the texts in them that change have
        ``data-slot`` and are empty, see `fill`, and its edges are groups with ``data-from`` and
        ``data-to``; where something is carried, with two empty texts.
    """
    shorts = fitting([look.title for look in looks])
    looks = [replace(look, short=short) for look, short in zip(looks, shorts, strict=True)]
    by_id = {look.item.id: look for look in looks}
    ways = {
        (look.item.id, i): carried.get((look.item.id, i), NOTHING)
        if isinstance(carried, Mapping)
        else carried
        for look in looks
        for i in range(len(look.item.parents))
    }
    room = max((_width(text, TEXT, bold=True) for way in ways.values() for text in way), default=0)
    if room and direction in ("LR", "RL"):
        gap = max(gap, ARROW, room + 30)
    beside = 0.4 if room and at_once else 0.25 if room else 0.13
    cut = [[look.item for look in looks]]
    if room and direction == "LR" and is_cut:
        widths = {id: look.size[0] for id, look in by_id.items()}
        cut = rows(cut[0], widths, gap, _COLUMN / LEGIBLE - BEND)
    dashed = set(left_out)
    root = stack([
        _laid_out([by_id[item.id] for item in row], direction, gap, beside, alt, dashed)
        for row in cut
    ])  # fmt: skip
    places = {group.attrib["data-node"]: _box_of(group) for group in _nodes(root)}
    for row, after in itertools.pairwise(cut):
        [end] = [x.id for x in after if row[-1].id in x.parents]
        root[0].insert(0, lead_on(row[-1].id, end, places, [item.id for item in row]))
    for group in _nodes(root):
        _draw_node(group, by_id[group.attrib["data-node"]])
    taken = list(places.values())
    if not at_once:  # a sort's number is above its node
        taken += [(right - 24, top - 16, right, top) for _, top, right, _ in places.values()]
    for place, texts in ways.items():
        if any(texts):
            written = _make_room(root, by_id[place[0]].item, place[1], texts, taken)
            taken += written if at_once else []
    for element in root.iter():
        _shorten(element)
    least = math.ceil(float(root.attrib["width"]) * LEGIBLE)
    root.set("style", f"max-width:100%;min-width:{least}px;height:auto")
    return root


def _laid_out(
    looks: Sequence[Look],
    direction: Direction,
    gap: float,
    beside: float,
    alt: str,
    dashed: Set[str],
) -> ET.Element:
    """Let Graphviz place the nodes of a row, and draw the arrows between them."""
    graph = new_graph(direction)
    spaces = {"ranksep": f"{gap / 72:.2f}", "nodesep": f"{beside}"}
    graph.defaults("graph", **spaces, nslimit="1")  # otherwise a node of 200 children takes minutes
    graph.defaults("node", fixedsize="true", label="")
    for look in looks:
        item, (width, height) = look.item, look.size
        graph.node(
            item.id,
            shape="ellipse" if look.is_round else "box",
            width=f"{width / 72:.3f}",
            height=f"{height / 72:.3f}",
            **operand_order(item),
        )
    here = {look.item.id for look in looks}
    for look in looks:
        style = DASHED if look.item.id in dashed else {}
        for parent in look.item.parents:
            if parent in here:
                graph.edge(parent, look.item.id, **style)
    root = ET.fromstring(inline(layout(graph.source, "svg"), alt, {}))
    root.remove(root[0])  # the player's own style sheet does what this one would
    root[0].remove(root[0][0])  # and the player has paper of its own
    return root


def _nodes(picture: ET.Element) -> list[ET.Element]:
    return [group for group in picture.iter("g") if group.get("data-node")]


def _make_room(
    picture: ET.Element, child: Item, position: int, texts: Carried, taken: Sequence[Box]
) -> list[Box]:
    """Put two empty texts at an arrow, where nothing is taken; return their places."""
    group = edge(picture, child, position)
    width, height = float(picture.attrib["width"]), float(picture.attrib["height"])
    left, top = origin(picture)
    frame = (-left, -top, width - left, height - top)
    widths = _width(texts[0], TEXT, bold=True), _width(texts[1], TEXT, bold=True)
    chosen = spots(group.findall("path")[0].attrib["d"], widths, taken, frame)
    for name, (x, y) in zip(("above", "below"), chosen, strict=True):
        ET.SubElement(group, "text", {"class": f"cg-{name}"} | _sizes(x=x, y=y))
    return boxes(chosen, widths)


def carry(picture: ET.Element, child: Item, position: int, *texts: str) -> None:
    """Write what an arrow carries: above it, and below it."""
    for place, text in zip(edge(picture, child, position).findall("text"), texts, strict=False):
        place.text = text


def fill(picture: ET.Element, texts: Mapping[tuple[str, str], str]) -> None:
    """Write into the slots of nodes; a node's state is no text, but for the style sheet."""
    for group in picture.iter("g"):
        node = group.get("data-node")
        if not node:
            continue
        group.set("data-state", texts.get((node, "state"), ""))
        for text in group.iter("text"):
            if slot := text.get("data-slot"):
                text.text = texts.get((node, slot), "")


def edge(picture: ET.Element, child: Item, position: int) -> ET.Element:
    """Return the edge from the operand of a node at a position."""
    ends = child.parents[position], child.id
    edges = [g for g in picture.iter("g") if (g.get("data-from"), g.get("data-to")) == ends]
    return edges[child.edge_number(position)]


def _draw_node(group: ET.Element, look: Look) -> None:
    """Put a frame that states can colour, and texts, in the place of Graphviz's empty shape."""
    left, top, right, bottom = _box_of(group)
    for child in list(group):
        group.remove(child)
    if look.short != look.title:
        ET.SubElement(group, "title").text = look.title
    folds = any(len(slots) > 1 for slots in look.slots)
    group.set("class", f"node cg-{look.color}" + " cg-folded" * folds)
    radius = (right - left) / 2 if look.is_round else 4 if look.item.is_leaf else 10
    for name, by in [("cg-halo", 3), ("cg-box", 0)]:
        width, height = right - left + 2 * by, bottom - top + 2 * by
        frame = _sizes(x=left - by, y=top - by, width=width, height=height, rx=radius + by)
        ET.SubElement(group, "rect", {"class": name} | frame)
    if look.item.kind == "parameter":
        group[-1].set("stroke-width", "2.4")
    lines = len(look.slots) + bool(look.title or look.note)
    middle, height = (top + bottom) / 2, look.size[1]
    y = (middle - _LINE * lines / 2 if look.is_round else top + (height - _LINE * lines) / 2) + 12
    x = (left + right) / 2 if look.is_centred else left + _PAD
    anchor = {"text-anchor": "middle"} if look.is_centred else {}
    if look.title or look.note:
        y -= 2 * look.is_ruled
        head = ET.SubElement(group, "text", _sizes(x=x, y=y) | anchor)
        if look.title:
            title = ET.SubElement(head, "tspan", {"class": "cg-name"})
            title.text = look.short
            title.tail = " " if look.note else ""
        if look.note:
            gap = {"dx": "2"} if look.title else {}
            ET.SubElement(head, "tspan", {"class": "cg-note", **gap}).text = look.note
        if look.is_ruled:
            rule = f"M{left:.1f} {y + 5:.1f}H{right:.1f}"
            ET.SubElement(group, "path", {"d": rule})
        y += _LINE + 3 * look.is_ruled
    for slots in look.slots:
        for slot in slots:
            ET.SubElement(group, "text", {"data-slot": slot} | _sizes(x=x, y=y) | anchor)
        y += _LINE
    if not any("number" in slots for slots in look.slots):
        outside = {"data-slot": "number", "class": "cg-number", "text-anchor": "end"}
        ET.SubElement(group, "text", outside | _sizes(x=right, y=top - 4))


def _sizes(**attributes: float) -> dict[str, str]:
    return {name: f"{size:.1f}" for name, size in attributes.items()}


def _box_of(group: ET.Element) -> tuple[float, float, float, float]:
    """Return the box around the one shape of a node."""
    ellipse, polygon = group.find("ellipse"), group.find("polygon")
    if ellipse is not None:
        cx, cy, rx, ry = (float(ellipse.attrib[name]) for name in ("cx", "cy", "rx", "ry"))
        return cx - rx, cy - ry, cx + rx, cy + ry
    assert polygon is not None
    pairs = _PAIR.findall(polygon.get("points", ""))
    points = [tuple(map(float, pair.split(","))) for pair in pairs]
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return min(xs), min(ys), max(xs), max(ys)


def _shorten(element: ET.Element) -> None:
    """Write an element in fewer characters: a page may hold many pictures."""
    for name, value in list(element.items()):
        if name in ("fill", "stroke"):
            del element.attrib[name]  # the style sheet has the colours
        elif name in ("d", "points"):
            element.set(name, re.sub(r"\d+\.\d+", lambda m: f"{float(m[0]):.1f}", value))
        else:
            element.set(name, re.sub(r"\.0$", "", value))
