"""A look ahead: at a page's end, what the next one asks, and its first figure, small and still.

The picture is a file of its own, in the light colours, which the style sheet turns for a dark page.
"""

import html
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any, TypedDict

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from common.cells import results
from common.files import on_page

PICTURE = re.compile(r'<svg class="chaingrad".*?</svg>', re.DOTALL)
# What ties a picture to its place in the page: ids, and the least width there.
TIED = re.compile(r' (?:id|clip-path|role|aria-\w+|tabindex|class)="[^"]*"')
WIDTHS = re.compile(r"(<svg[^>]*?) style=\"[^\"]*\"")
SENTENCES = re.compile(r"(?<=[.!?])\s+")
WORDS = 4  # that a question has at least, to be understood alone


class Ahead(TypedDict):
    """What is shown of a page at the end of the page before; "" for what it doesn't have."""

    asks: str
    picture: str


def question(document: nodes.document) -> str:
    """Return the first question that a page's opening asks in plain words."""
    page = next(document.findall(nodes.section), document)
    for part in page.children:
        if isinstance(part, nodes.section):
            break
        if not isinstance(part, nodes.paragraph) or any(part.findall(nodes.math)):
            continue
        for sentence in SENTENCES.split(part.astext().replace("\n", " ")):
            if sentence.endswith("?") and len(sentence.split()) >= WORDS:
                return sentence
    return ""


def picture(document: nodes.document) -> str:
    """Return a page's first drawing or plot, as the text of an SVG file."""
    shown = (forms.get("text/html", "") for forms in results(document))
    found = next(filter(None, map(PICTURE.search, shown)), None)
    if found is None:
        return ""
    drawing = WIDTHS.sub(r"\1", TIED.sub("", found[0]), count=1)
    drawing = drawing.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
    try:
        ET.fromstring(drawing)
    except ET.ParseError:
        return ""  # HTML that isn't XML is shown on its own page alone
    return drawing


def look_ahead(app: Sphinx, document: nodes.document) -> None:
    found: Ahead = {"asks": question(document), "picture": picture(document)}
    app.env.metadata[app.env.docname]["ahead"] = found


def renew(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Return the pages that show another page which has changed, to be written again."""
    shown = {page: env.metadata[page].get("ahead") for page in env.found_docs}
    before = getattr(env, "shown_ahead", {})
    env.shown_ahead = shown  # type: ignore[attr-defined]  # kept with what Sphinx knows of the pages
    pages = env.collect_relations()
    changed = (page for page in shown if page in pages and before.get(page) != shown[page])
    return [previous for page in changed if (previous := pages[page][1])]


def show(app: Sphinx, page: str, context: dict[str, Any], document: nodes.document) -> None:
    following = getattr(app.builder, "relations", {}).get(page, [None] * 3)[2]
    if not following or not context.get("next"):
        return
    ahead = app.env.metadata[following].get("ahead", {"asks": "", "picture": ""})
    parts = [context["next"]["title"]]
    if ahead["asks"]:
        parts.append(f'<span class="ahead-asks">{html.escape(ahead["asks"])}</span>')
    if ahead["picture"]:
        name = f"ahead-{following.replace('/', '-')}.svg"
        static = Path(app.outdir) / "_static"
        static.mkdir(parents=True, exist_ok=True)
        (static / name).write_text(ahead["picture"], encoding="utf-8")
        address = context["pathto"](f"_static/{name}", 1)
        # The theme puts a white sheet behind every other picture of a dark page.
        kind = "ahead-picture dark-light"
        parts.append(f'<img class="{kind}" src="{address}" alt="" loading="lazy">')
    context["next_title"] = "".join(parts)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-read", look_ahead)
    app.connect("env-updated", renew)
    on_page(app, show)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
