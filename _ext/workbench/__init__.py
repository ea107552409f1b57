"""The reader's own function: ``{workbench}`` is its place, with all starting points or those named.

The starting points are the cells of its own page that end with a drawing. In the editor they end
with what is drawn, and their names are those of the sections in which they stand. What the engine
makes of them the build computes, so that they are shown before Python has come.

What the engine makes of a text is shown in a frame without an origin, whose policy knows each
script of the views by its hash: nothing else runs there, whatever the text has put into its view.
The page lets its frames go nowhere else.
"""

import ast
import json
import re
import shutil
from collections.abc import Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from chainlab.workbench import VIEWS, respond
from chainview.export import document, hashes
from common.cells import code_cells, source_of
from common.files import on_page
from drills import digest
from formulas import mathml

SMALL = "x = Node(2.0)\ny = x * x"
GROUND = "light-dark(#fff,#121417)"  # of a page of the book
SHEET = (
    f"body{{margin:0}}:root{{color-scheme:light;background:{GROUND}}}"
    "html[data-theme=dark]{color-scheme:dark;color:#e9ecf0}"
    "main{display:flow-root}main>.chaingrad-drawing{text-align:center}"
)
# The frame tells the page its height.
TELL = (
    '<script>new ResizeObserver(()=>parent.postMessage({height:document.body.offsetHeight+1},"*"))'
    ".observe(document.body)</script>"
)
SHOWS = {"draw_graph": "graph", "play": "play", "nudge": "nudge", "order": "order"}
MOST_LINES = 40
NODES = re.compile(r"^(from|import) chaingrad\b", re.MULTILINE)
CLASS = re.compile(r"^class ", re.MULTILINE)
HERE = "chapters/practice/workbench"
PLACE = "<!-- view -->"
PARTS = Path(__file__).parent
STAMP = sha256(
    b"".join(p.read_bytes() for p in sorted([*PARTS.glob("*.js"), *PARTS.glob("*.css")]))
)
POLICY = '<meta http-equiv="Content-Security-Policy" content="frame-src \'self\'">'


# What the theme gives to the book's pages, which this page has to bring itself.
EMBEDDED = (
    f"html{{color-scheme:light;--pst-color-background:{GROUND};"
    "--pst-color-surface:light-dark(#f3f4f5,#1c2128);--pst-color-border:light-dark(#c9ced4,#48566b);"
    "--pst-color-text-base:light-dark(#222832,#ced6dd);--pst-color-warning:#f3960a;"
    "--pst-color-text-muted:light-dark(#48566b,#9ca4af);"
    "--pst-font-family-monospace:ui-monospace,monospace}html[data-theme=dark]{color-scheme:dark}"
    "body{margin:0 .5rem;font:1rem/1.5 system-ui,sans-serif;color:var(--pst-color-text-base);"
    "background:var(--pst-color-background)}.bench{margin:0}a{color:var(--pst-color-primary)}"
)
BENCH = (
    '<div class="bench tex2jax_ignore" id="workbench" hidden></div>'
    "<noscript><p>The workbench needs JavaScript.</p></noscript>"
)
BUILT = "_bench"  # the folder for what the build makes of the starting points
EMBED = "_static/embed.html"  # the page that other sites show in a frame


class Workbench(SphinxDirective):
    """The place of the workbench, on the page whose cells are its starting points."""

    def run(self) -> list[nodes.Node]:
        return [nodes.raw("", BENCH, format="html")]


def frame() -> str:
    """Return the document that shows a view, with a place to put the view."""
    shown = "".join(respond(SMALL, view).html for view in VIEWS)
    return document(PLACE + TELL, "A view", hashes(shown + TELL), SHEET)


def as_starting_point(source: str) -> str:
    """Turn a cell into a starting point that ends with what it draws; "" if it draws nothing."""
    name, call = _last_call(source)
    if call is None or name != "draw_graph":
        return ""
    kept = source.splitlines()[: call.lineno - 1]
    return "\n".join([*kept, ast.unparse(call.args[0])])


def starting_points(page: nodes.document) -> list[dict[str, Any]]:
    """Return the starting points of a page."""
    found = []
    for cell in code_cells(page):
        text, section = as_starting_point(source_of(cell)), cell.parent
        if text and isinstance(section, nodes.section):
            title = next(section.findall(nodes.title)).astext()
            found.append(describe(title, text))
    return found


def describe(name: str, text: str) -> dict[str, Any]:
    """Describe a starting point for the script, with the views that its graph isn't for."""
    refused = respond(text, "costs").refused
    return {"name": name, "key": nodes.make_id(name), "text": text, "refused": refused}


def usable_cells(
    sources: Sequence[str], cells: Sequence[dict[str, Any]]
) -> dict[int, dict[str, Any]]:
    """Return the cells that the workbench can take: they show a graph, a player or a figure.

    Each place maps to the view and the cells that it is made of, the cell itself last. Cells are
    left out that need what a browser lacks, draw nodes of an engine of their own, or build on more
    lines than anyone would want to read.
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
    """Return a cell and the cells it builds on; following each one once keeps this fast."""
    found, todo = {place}, [place]
    while todo:
        new = {*cells[todo.pop()].get("uses", ())} - found
        found |= new
        todo += new
    return found


def _view(source: str) -> str:
    """Return the view of a node that a cell shows; "" for any other cell."""
    name, call = _last_call(source)
    takes_node = call and len(call.args) == 1 and isinstance(call.args[0], ast.Name | ast.BinOp)
    return SHOWS.get(name, "") if takes_node else ""


def _last_call(source: str) -> tuple[str, ast.Call | None]:
    """Return the function that a cell calls last, to show something, and the call."""
    try:
        match ast.parse(source).body:
            case [*_, ast.Expr(ast.Call(ast.Name(name)) as call)]:
                return name, call
    except SyntaxError:  # a magic command
        pass
    return "", None


def element(told: dict[str, Any]) -> str:
    """Return the element with what the page tells ``workbench.js``, and the script."""
    data = json.dumps({"views": [*VIEWS], "frame": frame()} | told)
    data = data.replace("</", "<\\/").replace("<!", "<\\u0021")
    script = f"{told['root']}workbench.js?v={STAMP.hexdigest()[:8]}"
    return (
        f'<script type="application/json" id="workbench-told">{data}</script>'
        f'<script type="module" src="{script}"></script>'
    )


def embed(told: dict[str, Any], static: str) -> str:
    """Return the page that other sites show in a frame; it is beside the scripts of every page."""
    sheets = "".join(
        f'<link rel="stylesheet" href="{name}">'
        for name in (f"{static}book.css", f"{static}live.css", f"{told['root']}workbench.css")
    )
    scripts = "".join(
        f'<script defer src="{static}{name}.js"></script>' for name in ("book.bundle", "kept")
    )
    return (
        '<!doctype html><html lang="en" data-theme="light"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f'<meta name="robots" content="noindex">{POLICY}<title>A function</title>'
        f"{sheets}<style>{EMBEDDED}</style>{scripts}</head><body><main>{BENCH}</main>"
        f"{element(told | {'page': '', 'isEmbedded': True})}</body></html>\n"
    )


def write(found: Sequence[dict[str, Any]], folder: Path) -> None:
    """Write what the engine makes of each starting point, one file for each view."""
    stamp = sha256(f"{json.dumps(found)} {digest()}".encode()).hexdigest()
    if (folder / stamp).exists():
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for start in found:
        for view in VIEWS:
            answer = json.dumps(asdict(respond(start["text"], view, mathml)))
            (folder / f"{start['key']}.{view}.json").write_text(answer, "utf-8")
    (folder / stamp).touch()


def add_to_page(app: Sphinx, page: str, context: dict[str, Any], document: nodes.document) -> None:
    if page != HERE:
        return
    root = context["pathto"]("_live/", resource=True)
    context["body"] += element(
        {
            "page": page,
            "root": root,
            "built": context["pathto"](f"{BUILT}/", resource=True),
            "starts": starting_points(app.env.get_doctree(HERE)),
            "embed": context["pathto"](EMBED, resource=True),
        }
    )
    sheet = f'<link rel="stylesheet" href="{root}workbench.css?v={STAMP.hexdigest()[:8]}">'
    context["metatags"] = "\n".join([context.get("metatags", ""), POLICY, sheet])


def write_with_site(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.format == "html" and HERE in app.env.found_docs:
        found, site = starting_points(app.env.get_doctree(HERE)), Path(app.outdir)
        write(found, site / BUILT)
        here = f"../{app.builder.get_target_uri(HERE)}"
        told = {"root": "../_live/", "built": f"../{BUILT}/", "starts": found, "here": here}
        (site / EMBED).write_text(embed(told, ""), "utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("workbench", Workbench)
    on_page(app, add_to_page)
    app.connect("build-finished", write_with_site)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
