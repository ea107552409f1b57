"""Captions: a paragraph wholly in `*…*`, directly after a cell that shows a figure, is one."""

from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

from common.cells import is_code, shows_figure


class MarkCaptions(SphinxTransform):
    default_priority = 500

    def apply(self, **kwargs: Any) -> None:
        for paragraph in captions(self.document):
            paragraph["classes"].append("caption")


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
    return {"parallel_read_safe": True, "parallel_write_safe": True}
