"""The sidebar's parts are folded, but for the one that the page is in.

On a page that is in none the first part is open: that is where a reader begins.
"""

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from common.files import on_page

AFTER_THE_THEME = 900
PART = re.compile(
    r'<p aria-level="2" class="caption" role="heading"><span class="caption-text">(.*?)</span></p>'
    r'\s*(<ul.*?</ul>)(?=\s*(?:<p aria-level="2"|\Z))',
    re.DOTALL,
)
CURRENT = '<ul class="current'


def fold(listing: str) -> str:
    """Fold the parts of a table of contents, each under its caption.

    >>> caption = '<p aria-level="2" class="caption" role="heading">'
    >>> fold(caption + '<span class="caption-text">Atlas</span></p> <ul><li>A page</li></ul>')
    '<details class="part" open><summary>Atlas</summary><ul><li>A page</li></ul></details>'
    """
    first = None if CURRENT in listing else PART.search(listing)

    def folded(part: re.Match[str]) -> str:
        is_open = CURRENT in part[2] or bool(first and part.start() == first.start())
        state = " open" if is_open else ""
        return f'<details class="part"{state}><summary>{part[1]}</summary>{part[2]}</details>'

    return PART.sub(folded, listing)


def fold_parts(app: Sphinx, page: str, context: dict[str, Any], document: nodes.document) -> None:
    listing = context["generate_toctree_html"]

    def generate(kind: str, **options: Any) -> Any:
        made = listing(kind=kind, **options)
        return fold(str(made)) if kind == "sidebar" else made

    context["generate_toctree_html"] = generate


def setup(app: Sphinx) -> dict[str, bool]:
    on_page(app, fold_parts, AFTER_THE_THEME)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
