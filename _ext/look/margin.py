"""The margin: what stands beside the text, where there is room.

``{margin}`` holds an aside or a definition that belongs to the block before it. A caption stands
beside its figure if `{.in-margin}` is on the line above it: for figures that are tall. Each stands
in a box with the block that it belongs to; where there is no room, it follows that block.
"""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective

CLASS = "in-margin"


class Margin(SphinxDirective):
    """An aside, a definition: what the text can do without."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        self.assert_has_content()
        box = nodes.container(classes=[CLASS])
        self.set_source_info(box)
        self.state.nested_parse(self.content, self.content_offset, box)
        return [box]


class SetBeside(SphinxPostTransform):
    """Put what stands in the margin into one box with the block before it."""

    default_priority = 150
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        for aside in list(self.document.findall(nodes.Element)):
            if CLASS in aside.get("classes", ()):
                set_beside(aside)


def set_beside(aside: nodes.Element) -> None:
    parent = aside.parent
    place = parent.index(aside)
    if place:
        pair = parent[place - 1 : place + 1]
        parent[place - 1 : place + 1] = [nodes.container("", *pair, classes=["beside"])]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("margin", Margin, override=True)  # the theme's hides the contents beside it
    app.add_post_transform(SetBeside)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
