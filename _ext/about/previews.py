"""What is shown of a page where somebody links to it: its title, a description, a picture.

`sphinxext.opengraph` writes them into the head of the page. It takes the first words that it
finds for the description; here it is given sentences of the page. Addresses, so also the picture's,
are known where `html.baseurl` says where the site will lie, and are left out otherwise. The site's
own address leads to the first page, and is shown as that.
"""

import re
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinxext import opengraph

from common.files import on_page
from search.sections import collapse_spaces, plain

PICTURE = Path(__file__).resolve().parents[2] / "img" / "page-light.png"
LENGTH = 250  # characters, unless the first sentence alone is longer
SENTENCES = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
ADDRESS = re.compile(r'<meta property="og:url".*?>\n')
SHOWN = re.compile(r'<title>.*?</title>|<meta (?:name="description"|property="og:).*?>', re.DOTALL)
BEFORE, AFTER = 400, 600  # the library's own priority is 500


def configure(app: Sphinx, config: Config) -> None:
    config.ogp_site_name = config.html_title
    config.ogp_social_cards = {"enable": False}
    if config.html_baseurl:
        config.ogp_site_url = config.html_baseurl
        config.ogp_image = f"_static/{PICTURE.name}"
        config.ogp_image_alt = "A page of the course: a cell, and the graph that it draws."
        config.html_static_path.append(str(PICTURE))


def fitting(parts: list[str], joint: str) -> str:
    """Join the first part and as many of the following parts as fit into LENGTH."""
    told, *more = parts
    for part in more:
        if len(told) + len(joint) + len(part) > LENGTH:
            break
        told += joint + part
    return told


def description(document: nodes.document) -> str:
    """Return the first words of a page: sentences, or a sentence and the list after it."""
    first = next((p for p in document.findall(nodes.paragraph) if sentences(p)), None)
    if first is None:
        return ""
    told, after = sentences(first), first.next_node(siblings=True, descend=False)
    if not isinstance(after, nodes.bullet_list):
        return fitting(told, " ")
    points = (item for item in after.children if isinstance(item, nodes.list_item))
    items = [collapse_spaces(plain(point[0])).rstrip(";.") for point in points]
    return fitting([f"{' '.join(told)} {items[0]}", *items[1:]], "; ") + "."


def sentences(paragraph: nodes.paragraph) -> list[str]:
    """Return the sentences of a paragraph, none if it's in a box, up to a question that ends it."""
    if not isinstance(paragraph.parent, nodes.section):
        return []
    told = SENTENCES.split(collapse_spaces(plain(paragraph)))
    while told and told[-1].endswith("?"):
        told.pop()
    return told


def describe(app: Sphinx, page: str, context: dict[str, Any], document: nodes.document) -> None:
    """Pass the description of a page to the library and to browsers."""
    if said := escape(description(document)):
        context["meta"] = (context["meta"] or {}) | {"og:description": said}
        context["metatags"] += f'<meta name="description" content="{said}">\n'


def forget_address(
    app: Sphinx, page: str, context: dict[str, Any], document: nodes.document
) -> None:
    """Drop the page's address if the site has no host."""
    if not app.config.html_baseurl:
        context["metatags"] = ADDRESS.sub("", context["metatags"])


def show_first_page(app: Sphinx, error: Exception | None) -> None:
    """Give the page that redirects to the first page the first page's title and preview."""
    if error or app.builder.format != "html":
        return
    first = app.builder.get_target_uri(app.config.root_doc)
    head = (Path(app.outdir) / first).read_text().partition("</head>")[0]
    lines = ["<!doctype html>", '<html lang="en">', '<meta charset="utf-8">', *SHOWN.findall(head)]
    lines.append(f'<meta http-equiv="refresh" content="0; url={first}">\n')
    (Path(app.outdir) / "index.html").write_text("\n".join(lines))


def setup(app: Sphinx) -> dict[str, bool]:
    app.setup_extension(opengraph.__name__)
    app.connect("config-inited", configure)
    on_page(app, describe, priority=BEFORE)
    on_page(app, forget_address, priority=AFTER)
    app.connect("build-finished", show_first_page, priority=AFTER)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
