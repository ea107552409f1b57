"""Captions: a paragraph wholly in `*…*`, directly after a cell that shows a figure, is one.

Each gets its number, as *Figure 3.2*.
"""

from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform

from common.cells import is_code, shows_figure


class MarkCaptions(SphinxTransform):
    default_priority = 500

    def apply(self, **kwargs: Any) -> None:
        for paragraph in captions(self.document):
            paragraph["classes"].append("caption")


class NumberCaptions(SphinxPostTransform):
    """Write the numbers, on a page without one of its own from 1."""

    default_priority = 100
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        page = self.env.toc_secnumbers.get(self.env.docname, {}).get("", ())
        paragraphs = list(self.document.findall(nodes.paragraph))
        marked = [paragraph for paragraph in paragraphs if "caption" in paragraph["classes"]]
        for place, caption in enumerate(marked, start=1):
            number = ".".join(map(str, [*page, place]))
            caption.insert(0, nodes.inline("", f"Figure {number}", classes=["figure-number"]))
            caption.insert(1, nodes.Text(" "))


def captions(document: nodes.document) -> Iterator[nodes.paragraph]:
    for paragraph in document.findall(nodes.paragraph):
        match paragraph.children:
            case [nodes.emphasis()]:
                place = paragraph.parent.index(paragraph)
                before = paragraph.parent[place - 1] if place else None
                if before is not None and is_code(before) and shows_figure(before):
                    yield paragraph


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_transform(MarkCaptions)
    app.add_post_transform(NumberCaptions)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
