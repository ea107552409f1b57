"""The page of the reader's own function: ``{workbench}`` is its place.

The starting points are the cells of the page that end with a drawing. In the editor they end with
what is drawn, and their names are those of the sections in which they stand.

What the engine makes of a text is shown in a frame without an origin, whose policy knows each
script of the views by its hash: nothing else runs there, whatever the text has put into its view.
The page lets its frames go nowhere else.
"""

import ast
import json
import re
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from cells import code_cells, source_of
from chaingrad.step.export import document, hashes
from chaingrad.step.workbench import VIEWS, respond

SMALL = "x = Node(2.0)\ny = x * x"
SHEET = (
    "body{margin:0}:root{color-scheme:light}html[data-theme=dark]{color-scheme:dark;color:#e9ecf0}"
    "main{display:flow-root}main>.chaingrad-drawing{text-align:center}"
)
# The frame tells the page its height.
TELL = (
    '<script>new ResizeObserver(()=>parent.postMessage({height:document.body.offsetHeight+1},"*"))'
    ".observe(document.body)</script>"
)
SHOWS = {"draw_graph": "graph", "play": "play", "nudge": "nudge", "order": "order"}
MOST_LINES = 40
NODES = re.compile(r"^(from|import) chaingrad(?!\.draw|\.step)", re.MULTILINE)
CLASS = re.compile(r"^class ", re.MULTILINE)
HERE = "chapters/practice/workbench"
PLACE = "<!-- view -->"
LIVE = Path(__file__).parent / "live"
STAMP = sha256(b"".join((LIVE / f"workbench.{kind}").read_bytes() for kind in ("js", "css")))
POLICY = '<meta http-equiv="Content-Security-Policy" content="frame-src \'self\'">'


BENCH = (
    '<div class="bench tex2jax_ignore" id="workbench" hidden></div><noscript><p>The workbench '
    "needs JavaScript. What follows does not: each starting point stands there with its graph."
    "</p></noscript>"
)


class Workbench(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        return [nodes.raw("", BENCH, format="html")]


def frame() -> str:
    """The document in which a view is shown, with a place for it."""
    shown = "".join(respond(SMALL, view).html for view in VIEWS)
    return document(PLACE + TELL, "A view", hashes(shown + TELL), SHEET)


def start(source: str) -> str:
    """A cell as a starting point, ending with what it draws; "" where it draws nothing."""
    last = ast.parse(source).body[-1]
    call = last.value if isinstance(last, ast.Expr) else None
    if not (isinstance(call, ast.Call) and ast.unparse(call.func) == "draw_graph"):
        return ""
    kept = source.splitlines()[: last.lineno - 1]
    return "\n".join([*kept, ast.unparse(call.args[0])])


def starts(page: nodes.document) -> list[dict[str, str]]:
    """The starting points of a page, by name."""
    found = []
    for cell in code_cells(page):
        text, section = start(source_of(cell)), cell.parent
        if text and isinstance(section, nodes.section):
            title = next(section.findall(nodes.title)).astext()
            found.append({"name": title, "text": text})
    return found


def taken(sources: Sequence[str], cells: Sequence[dict[str, Any]]) -> dict[int, dict[str, Any]]:
    """The cells that show a graph, a player or a figure, as the workbench can take them.

    Each by its place: the view, and the cells that it is made of, itself last. There is none of a
    cell that needs what a browser has not, draws nodes of its own engine, or builds on more lines
    than one would want to read.
    """
    found = {}
    for place, source in enumerate(sources):
        view = _view(source)
        made_of = sorted(_within(place, cells))
        can_run = not any("why" in cells[i] or "within" in cells[i] for i in made_of)
        text = "\n".join(sources[i] for i in made_of)
        has_nodes = NODES.search(text) and not CLASS.search(text)
        if view and can_run and has_nodes and text.count("\n") < MOST_LINES:
            found[place] = {"view": view, "cells": made_of}
    return found


def _within(place: int, cells: Sequence[dict[str, Any]]) -> set[int]:
    return {place}.union(*(_within(i, cells) for i in cells[place].get("uses", ())))


def _view(source: str) -> str:
    """The view that a cell shows of a node; "" of any other cell."""
    try:
        last = ast.parse(source).body[-1]
    except (SyntaxError, IndexError):
        return ""
    call = last.value if isinstance(last, ast.Expr) else None
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
        return ""
    takes_node = len(call.args) == 1 and isinstance(call.args[0], ast.Name | ast.BinOp)
    return SHOWS.get(call.func.id, "") if takes_node else ""


def told(page: nodes.document, name: str, root: str) -> dict[str, Any]:
    """What the page tells ``workbench.js``."""
    return {
        "page": name,
        "root": root,
        "views": list(VIEWS),
        "starts": starts(page),
        "frame": frame(),
    }


def add_to_page(
    app: Sphinx, page: str, template: str, context: dict[str, Any], document: nodes.document | None
) -> None:
    raw = document.findall(nodes.raw) if document is not None else ()
    if document is None or all(node.astext() != BENCH for node in raw):
        return
    root = context["pathto"]("_live/", resource=True)
    data = json.dumps(told(document, page, root)).replace("</", "<\\/").replace("<!", "<\\u0021")
    context["body"] += (
        f'<script type="application/json" id="workbench-told">{data}</script>'
        f'<script type="module" src="{root}workbench.js?v={STAMP.hexdigest()[:8]}"></script>'
    )
    sheet = f'<link rel="stylesheet" href="{root}workbench.css?v={STAMP.hexdigest()[:8]}">'
    context["metatags"] = "\n".join([context.get("metatags", ""), POLICY, sheet])


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("workbench", Workbench)
    app.connect("html-page-context", add_to_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
