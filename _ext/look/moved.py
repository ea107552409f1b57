"""Anchors that have moved, mostly to another page: links to their old place lead to the new one.

``moved.toml`` says where each is now, as ``"page#anchor" = "page#anchor"``. An anchor that a page
still has isn't led away from it. The build warns of it, and of a new place that doesn't exist.
"""

import json
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from common.files import copy, on_page

LOG = logging.getLogger(__name__)

PARTS = Path(__file__).parent
MOVED: dict[str, str] = tomllib.loads((PARTS / "moved.toml").read_text())


def lost(moved: dict[str, str], anchors: Callable[[str], set[str]]) -> Iterator[str]:
    """Yield what is wrong with a table of moves; `anchors` gives those of a page."""
    for old, new in moved.items():
        (page, _, anchor), (new_page, _, new_anchor) = old.partition("#"), new.partition("#")
        if anchor in anchors(page):
            yield f"{old} has moved, it says, but the page still has it"
        if new_anchor not in anchors(new_page):
            yield f"{old} has moved to {new}, it says, but there is no such place"


def check(app: Sphinx, env: BuildEnvironment) -> None:
    @cache
    def anchors(page: str) -> set[str]:
        if page not in env.found_docs:
            return set()
        found = env.get_doctree(page).findall(nodes.Element)
        return {anchor for node in found for anchor in node["ids"]}

    # The book may be another, with these settings.
    moved = {old: new for old, new in MOVED.items() if old.partition("#")[0] in env.found_docs}
    for wrong in lost(moved, anchors):
        LOG.warning("moved.toml: %s", wrong)


def add_moves(app: Sphinx, page: str, context: dict[str, Any], document: nodes.document) -> None:
    """Tell the script on a page where the page's former anchors are."""
    here = {}
    for old, new in MOVED.items():
        old_page, _, anchor = old.partition("#")
        new_page, mark, new_anchor = new.partition("#")
        if old_page == page:
            here[anchor] = app.builder.get_relative_uri(page, new_page) + mark + new_anchor
    if here:
        data = json.dumps(here).replace("</", "<\\/")
        context["body"] += f'<script type="application/json" id="moved-anchors">{data}</script>'
        app.add_js_file("moved.js", loading_method="defer")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("env-check-consistency", check)
    on_page(app, add_moves)
    copy(app, PARTS / "moved.js")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
