"""The course as the computational graph that it is: its lessons, and what each of them takes.

``{course}`` draws it. A lesson is a page with a number; an arrow leads to it from each lesson that
its box *At a glance* names as a prerequisite. A page off the path that is named there stands for
the lessons that it takes itself. ``marks.js`` fills the nodes as a reader goes.
"""

import html
import re
import textwrap
from collections.abc import Iterator

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

from chainview.draw.boxes import new_graph
from chainview.draw.palette import LIGHT
from chainview.draw.svg import Drawing, scrolling

PLACE = "course-graph"
AFTER_THE_NOTEBOOKS = 950  # they don't hold the drawing
LINE = 17  # characters of a title
NODE = re.compile(r'<g class="node" data-node="([\w/-]+)">.*?</g>', re.DOTALL)


class Course(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        return [nodes.container("", classes=[PLACE])]


def note_prerequisites(app: Sphinx, document: nodes.document) -> None:
    """Keep which pages a page names as its prerequisites; those may be read later."""
    boxes = (box for box in document.findall(nodes.admonition) if "at-a-glance" in box["classes"])
    named = [link["reftarget"] for box in boxes for link in box.findall(pending_xref)]
    pages = [page for page in named if page in app.env.found_docs]
    app.env.metadata[app.env.docname]["needs"] = list(dict.fromkeys(pages))


def lessons(env: BuildEnvironment) -> dict[str, int]:
    """Return the numbers of the lessons, by page."""
    counted = ((page, found.get("")) for page, found in env.toc_secnumbers.items())
    return dict(sorted(((p, n[0]) for p, n in counted if n), key=lambda pair: pair[1]))


def title(env: BuildEnvironment, lesson: str) -> str:
    """Return a lesson's title, after its number."""
    return f"{lessons(env)[lesson]}. {env.titles[lesson].astext()}"


def needs(env: BuildEnvironment, page: str) -> Iterator[str]:
    """Yield the lessons that a page takes."""
    for other in env.metadata[page].get("needs", ()):
        if env.toc_secnumbers.get(other):
            yield other
        else:
            yield from needs(env, other)


def draw(env: BuildEnvironment) -> Drawing:
    """Draw the lessons of a course and its prerequisites."""
    graph = new_graph("LR")
    graph.defaults("graph", ranksep="0.3", nodesep="0.12")
    graph.defaults("node", shape="box", style="rounded,filled", fillcolor=LIGHT["node"])
    numbers, told = lessons(env), []
    for page in numbers:
        called = title(env, page)
        graph.node(page, label=textwrap.fill(called, LINE))
        before = list(dict.fromkeys(needs(env, page)))
        for other in before:
            graph.edge(other, page)
        takes = " and ".join(str(numbers[other]) for other in before)
        told.append(called + (f" takes {takes}" if takes else ""))
    return Drawing(graph.source, f"The lessons, and which each of them takes. {'; '.join(told)}.")


def linked(app: Sphinx, here: str, drawing: Drawing) -> str:
    """Return a drawing whose nodes are links to their pages."""

    def link(node: re.Match[str]) -> str:
        called = html.escape(title(app.env, node[1]))
        address = app.builder.get_relative_uri(here, node[1])
        return f'<a href="{address}" data-title="{called}" aria-label="{called}">{node[0]}</a>'

    return scrolling(NODE.sub(link, drawing.svg().replace('role="img"', 'role="group"')))


def fill(app: Sphinx, document: nodes.document, page: str) -> None:
    if app.builder.format != "html":
        return
    for place in document.findall(nodes.container):
        if PLACE in place["classes"]:
            place += nodes.raw("", linked(app, page, draw(app.env)), format="html")


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("course", Course)
    app.connect("doctree-read", note_prerequisites)
    app.connect("doctree-resolved", fill, priority=AFTER_THE_NOTEBOOKS)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
