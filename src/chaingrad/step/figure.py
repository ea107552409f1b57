"""A figure that moves: what stands without scripts, what its script reads, and the HTML of both."""

import html
import json
import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import resources
from typing import Any

from chaingrad.draw import Drawing
from chaingrad.draw.boxes import Direction, box, new_graph
from chaingrad.draw.items import Item
from chaingrad.draw.palette import COLORS, style
from chaingrad.draw.reading import read
from chaingrad.draw.svg import scrolling
from chaingrad.draw.words import describe
from chaingrad.node import Node
from chaingrad.step.names import Names, amount


@dataclass(frozen=True, repr=False)
class Figure:
    """A figure that shows itself in a notebook or on a page, and moves there.

    Attributes:
        alt: what it shows, in words.
        data: what its script reads.
    """

    alt: str
    data: Any
    _kind: str  # the name of its script
    _still: str  # what stands without scripts and on paper, as HTML
    _controls: str = ""  # what the script fills, as HTML
    _scripts: Sequence[str] = ()  # what that script needs

    def __repr__(self) -> str:
        return f"<Figure: {self.alt}>"

    @cached_property
    def html(self) -> str:
        """The figure as a piece of HTML."""
        inside = (
            f'<div class="cg-still">{self._still}</div>'
            f'<div class="cg-live" hidden>{self._controls}</div>'
        )
        scripts = ("figure", *self._scripts, self._kind)
        return self._piece("moving", self.alt, "figure.css", inside, scripts)

    def _piece(self, name: str, label: str, sheet: str, inside: str, scripts: Sequence[str]) -> str:
        """An element of the class ``name`` that holds its style sheet, its data and its scripts."""
        text = json.dumps(self.data, ensure_ascii=False, separators=(",", ":"))
        return (
            f'<div class="chaingrad-{name}" data-kind="{self._kind}" role="group" '
            f'aria-label="{html.escape(label)}"><style>{_style(name, sheet)}</style>{inside}'
            f'<script type="application/json">{text.replace("<", chr(92) + "u003c")}</script>'
            f'<script>(() => {{"use strict";\n{"".join(map(_script, scripts))}}})()</script></div>'
        )

    def _repr_mimebundle_(
        self, include: Iterable[str] | None = None, exclude: Iterable[str] | None = None
    ) -> dict[str, Any]:
        return {"text/html": self.html, "text/plain": self.alt}


def _asset(name: str) -> str:
    return resources.files("chaingrad.step").joinpath(name).read_text("utf-8")


def _script(name: str) -> str:
    """A script without what is there for its readers."""
    return re.sub(r"^\s*(//.*\n)?|(?<=[;{]) // .*$", "", _asset(f"{name}.js"), flags=re.M)


def _style(name: str, sheet: str) -> str:
    dark = COLORS["paper"][1]
    theme = style().replace("svg.chaingrad", f".chaingrad-{name}")
    theme = theme.replace("--cg-ink:", f"--cg-solid:{dark};--cg-ink:")
    light = "".join(f"--cg-{key}:{color};" for key, (color, _) in COLORS.items())
    return f".chaingrad-{name}{{{light}--cg-solid:#fff}}{theme}{_asset(sheet)}"


# --- graphs of numbers --------------------------------------------------------------------------


def read_numbers(root: Any, caller: str, max_nodes: int) -> list[Item]:
    """Read a graph that holds numbers alone.

    Raises:
        TypeError: ``root`` is not a node that requires a gradient, or the graph holds an array.
        ValueError: the graph has more than ``max_nodes`` nodes.
    """
    if not isinstance(root, Node):
        raise TypeError(f"{caller} expected a chaingrad node, and got {type(root).__name__}")
    if not root.requires_grad:
        raise TypeError(f"{caller}: the node depends on no leaf that requires a gradient")
    items = read(root, caller, 10**9)
    if len(items) > max_nodes:
        raise ValueError(
            f"{caller}: the graph has {len(items):,} nodes, more than the {max_nodes:,} that one "
            "can follow; take a smaller graph, or raise max_nodes"
        )
    for item in items:
        if item.node.ndim:
            raise TypeError(
                f"{caller} takes a graph of numbers, and {item.name} is an array of shape "
                f"{item.node.shape}: compute with a node for each entry"
            )
    return items


def graphs(
    items: Sequence[Item],
    names: Names,
    direction: Direction | None,
    gradients: Mapping[Any, float],
    room: str,
    shares: Mapping[tuple[str, int], float] | None = None,
) -> str:
    """Draw a graph of numbers whose values and gradients can be written anew, as HTML.

    Each of these texts says in ``data-slot`` what it is.

    Args:
        items: the graph.
        names: what the nodes are called.
        direction: which way the data flows; by default to the right, and downwards where the place
            is too narrow for that.
        gradients: the gradient of each node, for those that have one.
        room: the widest text of a number that is written anew.
        shares: what each edge passes back, by the child and the operand's position.
    """
    drawn = {}
    for name, way in {"cg-wide": direction or "LR", "cg-tall": direction or "TB"}.items():
        drawing = _drawing(items, names, way, gradients, room, shares or {})
        root = ET.fromstring(drawing.svg())
        _write(root, items, gradients, shares or {})
        drawn[name] = scrolling(ET.tostring(root, encoding="unicode"))
        if direction or "tabindex" not in drawn["cg-wide"]:  # no place is too narrow
            return f'<div class="cg-graph">{drawn["cg-wide"]}</div>'
    both = "".join(f'<div class="{name}">{html}</div>' for name, html in drawn.items())
    return f'<div class="cg-graph">{both}</div>'


def _drawing(
    items: Sequence[Item],
    names: Names,
    direction: Direction,
    gradients: Mapping[Any, float],
    room: str,
    shares: Mapping[tuple[str, int], float],
) -> Drawing:
    graph = new_graph(direction)
    graph.defaults("graph", nslimit="1", **({"ranksep": "0.25"} if direction == "TB" else {}))
    for item in items:
        moves = item.kind != "constant" and not shares
        rows = [("data", room if moves else amount(item.node.data))]
        rows += [("grad", room)] if item.node in gradients else []
        label = names.text(item) if item.label or item.kind != "constant" else ""
        graph.node(item.id, **box(replace(item, label=label), rows))
        for position, parent in enumerate(item.parents):
            passes = (item.id, position) in shares
            graph.edge(parent, item.id, **({"label": room} if passes else {}))
    return Drawing(graph.source, describe("Graph", items, True, False))


def _write(
    root: ET.Element,
    items: Sequence[Item],
    gradients: Mapping[Any, float],
    shares: Mapping[tuple[str, int], float],
) -> None:
    """Put the numbers where the drawing has room for them."""
    groups = list(root.iter("g"))
    for item in items:
        for group in groups:
            if group.get("data-node") == item.id:
                for text in group.iter("text"):
                    slot = (text.text or "").partition(" ")[0]
                    if slot in ("data", "grad"):
                        number = item.node.data if slot == "data" else gradients[item.node]
                        text.set("data-slot", slot)
                        text.text = f"{slot} {amount(number)}"
        turns = Counter[str]()
        for position, parent in enumerate(item.parents):
            ends = {"data-from": parent, "data-to": item.id}
            twins = [group for group in groups if ends.items() <= group.attrib.items()]
            label = twins[turns[parent]].find("text")
            turns[parent] += 1
            if label is not None:
                label.text = amount(shares[item.id, position]).removesuffix(".0")
