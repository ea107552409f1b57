"""Folded boxes: a box of class ``dropdown`` is a part of the page that its title unfolds.

HTML has an element for that, which needs no script, takes the keyboard, and unfolds by itself for
a search in the page. A title may hold no link there: the exercise that a solution belongs to is
linked from within.

``{deeper-start} Title`` and ``{deeper-end}`` make such a box of what stands between them, cells
included: what only some readers need. Both stand under the same heading.

The section *How this page is checked* is folded, too: its heading unfolds it. `book.js` unfolds
what a link leads into.

What Sphinx and sphinx-exercise write of a box is overridden, since both leave folding to a script.
Sphinx 8.2 and later fold an admonition that is `collapsible` in the same element: with the bound
of Jupyter Book 1, `sphinx~=7.0`, goes the need for it, but for titles that hold a link.
"""

from typing import Any, TypeGuard

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.locale import admonitionlabels
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator
from sphinx_exercise.nodes import solution_node

ABOUT_CHECKS = "How this page is checked"
MARK = '<span class="fold-mark" aria-hidden="true"></span>'
logger = logging.getLogger(__name__)


class fold_title(nodes.title):  # noqa: N801
    """The title of a folded box, which is always shown."""


class folded_section(nodes.section):  # noqa: N801
    """A section that its heading unfolds."""


class fold_heading(nodes.title):  # noqa: N801
    """The heading that unfolds its section."""


class deeper(nodes.Admonition, nodes.Element):  # noqa: N801
    """What only some readers need: text and cells."""


class predict_answer(nodes.Admonition, nodes.Element):  # noqa: N801
    """What the page computes where a reader was asked to predict it."""


class deeper_end(nodes.Invisible, nodes.Element):  # noqa: N801
    """Where it ends."""


class DeeperStart(SphinxDirective):
    """The title of what only some need; `:name:` is what links to it say."""

    required_arguments = 1
    final_argument_whitespace = True
    option_spec = {"name": directives.unchanged}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        title = nodes.title("", f"Deeper: {self.arguments[0]}")
        box = deeper("", title, classes=["deeper", "dropdown"])
        self.set_source_info(box)
        self.add_name(box)
        return [box]


class DeeperEnd(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        mark = deeper_end()
        self.set_source_info(mark)
        return [mark]


class FillDeeper(SphinxTransform):
    """Put into each box what stands between its two marks."""

    default_priority = 10

    def apply(self, **kwargs: Any) -> None:
        for box in list(self.document.findall(deeper)):
            siblings = box.parent.children
            start = siblings.index(box) + 1
            marks = (i for i, node in enumerate(siblings) if isinstance(node, deeper | deeper_end))
            end = next((i for i in marks if i >= start), None)
            if end is None or isinstance(siblings[end], deeper):
                logger.warning("deeper-start has no deeper-end under its heading", location=box)
                continue
            content = siblings[start:end]
            del siblings[start : end + 1]
            box.extend(content)
        for mark in list(self.document.findall(deeper_end)):
            logger.warning("deeper-end has no deeper-start under its heading", location=mark)
            mark.parent.remove(mark)


def is_folded(node: nodes.Node | None) -> bool:
    return isinstance(node, nodes.Element) and "dropdown" in node.get("classes", ())


def is_about_checks(node: nodes.Node) -> TypeGuard[nodes.section]:
    """Return whether a node is the section at a page's end that holds its checks."""
    return isinstance(node, nodes.section) and node[0].astext() == ABOUT_CHECKS


class FoldDropdowns(SphinxPostTransform):
    """Mark the titles of folded boxes, and the section that is folded."""

    default_priority = 950
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        for box in filter(is_folded, self.document.findall(nodes.Element)):
            if not isinstance(box, nodes.Admonition):
                continue
            title = box.children[0] if box.children else None
            if isinstance(title, nodes.title):
                box.replace(title, fold_title("", "", *title.children))
            elif box.tagname in admonitionlabels:
                box.insert(0, fold_title("", admonitionlabels[box.tagname]))
        for section in list(filter(is_about_checks, self.document.findall(nodes.section))):
            heading, *others = section.children
            folded = folded_section("", fold_heading("", "", *heading.children), *others)
            section.replace_self(folded)


def visit_box(self: HTML5Translator, node: nodes.Element, name: str = "") -> None:
    if is_folded(node):
        self.body.append(self.starttag(node, "details", CLASS=f"admonition {name}".strip()))
    else:
        HTML5Translator.visit_admonition(self, node, name)


def depart_box(self: HTML5Translator, node: nodes.Element | None = None) -> None:
    if is_folded(node):
        self.body.append("</details>\n")
    else:
        HTML5Translator.depart_admonition(self, node)


def visit_title(self: HTML5Translator, node: fold_title) -> None:
    """Write the words that unfold the box; a link in them follows on a line of its own."""
    words = self.encode(node.astext())
    if isinstance(node.parent, solution_node):
        whose = words.removeprefix("Solution")
        words = f'Answer<span class="visually-hidden">{whose}</span>'
    self.body.append(f'<summary class="admonition-title">{words}{MARK}</summary>\n')
    for link in node.findall(nodes.reference):
        self.body.append('<p class="fold-origin">↑ ')
        link.walkabout(self)
        self.body.append("</p>\n")
    raise nodes.SkipNode


def visit_section(self: HTML5Translator, node: folded_section) -> None:
    HTML5Translator.visit_section(self, node)
    self.body.append('<details class="about-checks">\n')


def depart_section(self: HTML5Translator, node: folded_section) -> None:
    self.body.append("</details>\n")
    HTML5Translator.depart_section(self, node)


def visit_heading(self: HTML5Translator, node: fold_heading) -> None:
    self.body.append(f"<summary><h{self.section_level}>")


def depart_heading(self: HTML5Translator, node: fold_heading) -> None:
    self.body.append(f"</h{self.section_level}>{MARK}</summary>\n")


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_node(fold_title, html=(visit_title, None))
    app.add_node(folded_section, html=(visit_section, depart_section))
    app.add_node(fold_heading, html=(visit_heading, depart_heading))
    app.add_node(deeper, html=(visit_box, depart_box))
    app.add_directive("deeper-start", DeeperStart)
    app.add_directive("deeper-end", DeeperEnd)
    app.add_transform(FillDeeper)
    app.add_node(nodes.admonition, override=True, html=(visit_box, depart_box))
    app.add_node(solution_node, override=True, html=(visit_box, depart_box))
    app.add_post_transform(FoldDropdowns)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
