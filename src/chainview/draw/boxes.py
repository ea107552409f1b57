"""Nodes and edges as Graphviz draws them: boxes, or squares and circles."""

import re
from collections.abc import Sequence
from typing import Literal

from chainview.draw.layout import MEASURED, Digraph, Markup, escape, font, row
from chainview.draw.palette import LIGHT
from chainview.read.items import Item
from chainview.read.terms import word, written

Direction = Literal["LR", "TB", "RL", "BT"]
Style = Literal["box", "shapes"]

_ROUNDED = ' STYLE="ROUNDED"'
BARE = '<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="1">'
BACK = {"LR": "←", "RL": "→", "TB": "↑", "BT": "↓"}
_TURNED = {"LR": "TB", "TB": "LR", "RL": "BT", "BT": "RL"}


def check_option(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        expected = " or ".join(map(repr, known))
        raise ValueError(f"{name} was {value!r}; expected {expected}")


def new_graph(direction: str) -> Digraph:
    check_option("direction", direction, tuple(BACK))
    text = {"fontname": MEASURED, "fontcolor": LIGHT["ink"]}
    graph = Digraph(
        rankdir=direction,
        bgcolor=LIGHT["paper"],
        pad="0.08",
        nodesep="0.3",
        ranksep="0.45",
        outputorder="edgesfirst",  # and then the nodes in their own order
    )
    graph.defaults("node", **text, fontsize="14", color=LIGHT["node-line"], penwidth="1.2")
    graph.defaults("edge", **text, fontsize="12", color=LIGHT["edge"], arrowsize="0.7")
    return graph


def turned(source: str) -> str:
    """Return a drawing's source with its data flowing down instead of right, or the reverse."""
    found = re.search(r'\brankdir="(LR|TB|RL|BT)"', source)
    if found is None:
        return source
    was, now = found[1], _TURNED[found[1]]
    source = source.replace(found[0], f'rankdir="{now}"', 1)
    return re.sub(rf'(?<=<TD ALIGN="LEFT" BALIGN="LEFT">){BACK[was]}(?=\s)', BACK[now], source)


def _colors(item: Item, name: str) -> tuple[str, str]:
    """Return the fill and border colours of a node; a faulty node has its own border."""
    return LIGHT[name], LIGHT["visited-line" if item.marks else f"{name}-line"]


def draw_boxes(graph: Digraph, items: list[Item], values: bool, gradients: bool) -> None:
    for item in items:
        rows = [(item.value_kind, item.value)] if values and item.value else []
        rows += [("grad", item.gradient)] if gradients and item.gradient else []
        graph.node(item.id, **box(item, rows))
        for parent in drawn_parents(item):
            graph.edge(parent, item.id)


def drawn_parents(item: Item) -> Sequence[str]:
    """Return where arrows come from: of a box that stands for several nodes one from each."""
    is_one = len(getattr(item.node, "inside", ())) <= 1
    return item.parents if is_one else list(dict.fromkeys(item.parents))


def box(item: Item, rows: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Lay a node out: its label and operation, a rule, its value in ink and gradients in blue."""
    fill, line = _colors(item, item.color)
    note = escape(word(item))
    if item.label:
        note = f"<B>{escape(item.label)}</B>  {font(note, LIGHT['muted'], 12)}"
    body = ""
    for key, value in rows:
        lines = '<BR ALIGN="LEFT"/>'.join(map(escape, f"{key} {value}".split("\n")))
        body += row(
            font(
                lines,
                LIGHT["ink" if key.strip("‖") in (item.value_kind, "shape") else "global"],
                12,
            )
        )
    border = 3 if item.marks else 2 if item.kind == "parameter" else 1
    table = (
        f'<TABLE BORDER="{border}" CELLBORDER="0" CELLSPACING="0" CELLPADDING="4"'
        f' COLOR="{line}" BGCOLOR="{fill}"{"" if item.is_leaf else _ROUNDED}>'
        f"{_marked_label(item)}{row(note)}{'<HR/>' + body if body else ''}</TABLE>"
    )
    return {"shape": "plain", "label": Markup(table), **operand_order(item)}


def _marked_label(item: Item) -> str:
    """Write what was found wrong, with a sign before it and its own background."""
    words = escape(", ".join(item.marks))
    return row(font(f"<B>! {words}</B>", LIGHT["ink"], 12), LIGHT["visited"]) if words else ""


def operand_order(item: Item) -> dict[str, str]:
    """Keep the operands of ``a - b`` or ``a @ b`` in their written order, from the top down."""
    return {} if item.is_leaf or written(item.op.lower()).commutes else {"ordering": "in"}


def draw_shapes(graph: Digraph, items: list[Item], values: bool, gradients: bool) -> None:
    """Draw variables as squares and operators as circles, an operator before its result."""
    graph.defaults("node", style="filled", margin="0.02")
    used = {parent for item in items for parent in item.parents}
    for item in items:
        has_square = item.is_leaf or item.label or item.id not in used
        circle = item.id + "_op" if has_square else item.id
        if not item.is_leaf:
            graph.node(circle, **_circle(item))
        for parent in drawn_parents(item):
            graph.edge(parent, circle)
        if has_square:
            graph.node(item.id, **_square(item, values, gradients))
        if has_square and not item.is_leaf:
            graph.edge(circle, item.id, weight="3")


def _circle(item: Item) -> dict[str, str]:
    name = written(item.op).symbol or word(item)
    fill, line = _colors(item, "op")
    return {
        "shape": "circle" if len(name) <= 4 else "ellipse",
        "width": "0.42",
        "height": "0.42",
        "margin": "0.03",
        "fillcolor": fill,
        "color": line,
        "penwidth": "2.4" if item.marks else "1.2",
        "label": Markup(escape(name + " !" * bool(item.marks))) or " ",
        **operand_order(item),
    }


def _square(item: Item, values: bool, gradients: bool) -> dict[str, str]:
    fill, line = _colors(item, item.color)
    return {
        "shape": "square",
        "width": "0.55",
        "fillcolor": fill,
        "color": line,
        "penwidth": "2.4" if item.kind == "parameter" or item.marks else "1.2",
        "label": _square_label(item, values, gradients),
    }


def _square_label(item: Item, values: bool, gradients: bool) -> Markup:
    """Write the label, the value and the gradient below each other; of arrays only the shape."""
    lines = [f"<B>{escape(item.label)}</B>"] if item.label else []
    lines += [f"<B>! {escape(mark)}</B>" for mark in item.marks]
    if item.value and (values or not lines):
        lines.append(font(escape(item.value.partition("\n")[0]), LIGHT["ink"], 11))
    if gradients and item.gradient:
        gradient = "grad " + item.gradient.partition("\n")[0]
        lines.append(font(escape(gradient), LIGHT["global"], 11))
    rows = "".join(f"<TR><TD>{line}</TD></TR>" for line in lines)
    return Markup(f"{BARE}{rows}</TABLE>" if rows else " ")
