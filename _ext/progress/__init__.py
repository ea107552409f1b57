"""The page of progress: what can be answered and predicted in the pages, and what is done.

``{progress}`` lists all exercises that can be answered in their page and all predictions, page by
page, with links. ``done.js`` says of each what the reader's browser has kept.

``{begin}`` is a link to the first lesson, which says how long that takes. ``way.js`` keeps where a
reader was last, and makes it a link to there.
"""

import html
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

from about.reading_time import rounded
from answers import problems
from chainlab.drills import KINDS
from chainlab.drills.kinds.kind import LEVELS
from common.files import copy, on_page, serve
from drills import PAGE as PRACTICE
from progress.course import lessons, title

PARTS = Path(__file__).parent
HERE = "chapters/reference/progress"


class progress(nodes.General, nodes.Element):  # noqa: N801
    """Where the list stands."""


class ProgressDirective(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        return [progress()]


class begin(nodes.General, nodes.Element):  # noqa: N801
    """Where the link to the first lesson stands."""


class BeginDirective(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        self.env.metadata[self.env.docname]["begins"] = True
        return [begin()]


def in_order(env: BuildEnvironment, page: str) -> Iterator[str]:
    """Yield the pages of the book in the order of the table of contents."""
    yield page
    for child in env.toctree_includes.get(page, ()):
        yield from in_order(env, child)


def to_do(app: Sphinx, page: str) -> list[tuple[str, str]]:
    """Return what a reader can try on a page, as pairs of anchor and words."""
    asked = app.env.metadata[page].get("predictions", {})
    guesses = [(f"predict-{name}", f"Predict: {text}") for name, text in asked.items()]
    exercises = [(name, found.title) for name, found in problems(app, page).items()]
    practice = [
        (f"{kind}-{level}-1", f"{task.title}, level {level}")
        for kind, task in KINDS.items()
        for level in LEVELS
    ]
    return guesses + exercises + (practice if page == PRACTICE else [])


def link(app: Sphinx, here: str, page: str, anchor: str, words: str) -> nodes.paragraph:
    address = app.builder.get_relative_uri(here, page) + (f"#{anchor}" if anchor else "")
    return nodes.paragraph("", "", nodes.reference("", words, refuri=address, internal=True))


def listing(app: Sphinx, here: str) -> Iterator[nodes.Node]:
    for page in in_order(app.env, str(app.config.root_doc)):
        found = to_do(app, page)
        if found:
            name = app.env.titles[page].astext()
            rubric = nodes.rubric("", name)
            items = (nodes.list_item("", link(app, here, page, *item)) for item in found)
            yield from (rubric, nodes.bullet_list("", *items, classes=["to-try"]))


def begin_link(app: Sphinx, here: str) -> nodes.paragraph:
    first = next(iter(lessons(app.env)))
    minutes = rounded(app.env.metadata[first]["reading"].main.minutes)
    to_first = link(app, here, first, "", f"Begin: {minutes} minutes")
    to_first["classes"].append("begin")
    return to_first


def fill(app: Sphinx, document: nodes.document, page: str) -> None:
    for mark in list(document.findall(progress)):
        mark.replace_self(list(listing(app, page)))
    for place in list(document.findall(begin)):
        place.replace_self(begin_link(app, page))


def name_page(app: Sphinx, page: str, context: dict[str, Any], document: nodes.document) -> None:
    """Tell scripts the name of the page, which doesn't depend on the site's address."""
    tags = [f'<meta name="course-page" content="{page}">']
    if HERE in app.env.found_docs:
        address = context["pathto"](HERE)
        tags.append(f'<meta name="course-progress" content="{address}">')
    context["metatags"] = "\n".join([context.get("metatags", ""), *tags])


def name_lessons(app: Sphinx, page: str, context: dict[str, Any], document: nodes.document) -> None:
    """Tell `way.js` which lesson follows; and where a reader may go on, how each is called."""
    numbered = list(lessons(app.env))
    told: Any = None
    if page in numbered:
        told = numbered[numbered.index(page) :][:2]
    elif "begins" in app.env.metadata[page]:
        told = {each: [context["pathto"](each), title(app.env, each)] for each in numbered}
    if told:
        text = html.escape(json.dumps(told, ensure_ascii=False, separators=(",", ":")))
        context["metatags"] += f'\n<meta name="course-lessons" content="{text}">'
        app.add_js_file("way.js", loading_method="defer")


def add_script(app: Sphinx, page: str, context: dict[str, Any], document: nodes.document) -> None:
    if page == HERE:
        app.add_js_file("done.js", loading_method="defer")


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_node(progress)
    app.add_node(begin)
    app.add_directive("progress", ProgressDirective)
    app.add_directive("begin", BeginDirective)
    app.connect("doctree-resolved", fill)
    on_page(app, name_page)
    on_page(app, name_lessons)
    on_page(app, add_script)
    serve(app, PARTS / "kept.js", priority=400)  # before those that ask it
    serve(app, PARTS / "work.js", PARTS / "marks.js", PARTS / "progress.css")
    copy(app, PARTS / "done.js", PARTS / "way.js")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
