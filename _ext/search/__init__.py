"""Search by section: an index of the book's sections, and the scripts that ask it.

A page loads a few lines that listen; the index and MiniSearch, which ranks, come when a reader
opens the search. Everything is a script, so that a site opened from a disk can be searched, too.

Sphinx's index is switched off by an attribute of its builder: it finds words by page, so that no
result can lead to the section that has them. Should it do so one day, this folder can go.
"""

import json
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config

from common.files import copy, on_page, serve
from search.sections import sections

PARTS = Path(__file__).parent
LISTS = re.compile("chapters/reference/(api|bibliography|licences|status)")  # nobody asks for these
REPLACED = ("searchtools.js", "language_data.js")  # from Sphinx; no page loads them any more


def folder(app: Sphinx) -> Path:
    """Return where pages wait until all are written; it is deleted with Sphinx's own cache."""
    return Path(app.doctreedir) / "search"


def disable_sphinx_index(app: Sphinx) -> None:
    """Stop Sphinx from making its own index, which knows pages but not sections."""
    app.builder.search = False  # type: ignore[attr-defined]


def add_page(app: Sphinx, config: Config) -> None:
    config.html_additional_pages["search"] = "search.html"


def note_page(app: Sphinx, page: str, context: dict[str, Any], document: nodes.document) -> None:
    """Write down the text of each section of a page."""
    number = app.env.toc_secnumbers.get(page, {}).get("")
    found = [section.entry() for section in sections(document)]
    name = found[0]["title"] if found else page
    title = f"{'.'.join(map(str, number))}. {name}" if number else name
    target = folder(app) / f"{page}.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps({"page": page, "title": title, "sections": found}))


def entries(app: Sphinx) -> list[dict[str, Any]]:
    """Return the entries of the index: an address, the page's title, and the section's text."""
    made = []
    for page in sorted(app.env.found_docs):
        path = folder(app) / f"{page}.json"
        if not path.exists():
            continue
        noted = json.loads(path.read_text())
        for place, section in enumerate(noted["sections"]):
            made.append({
                "id": f"{app.builder.get_target_uri(page)}#{section.pop('id')}",
                "page": noted["title"],
                "first": place == 0,
                "isList": bool(LISTS.match(page)),
                **section,
            })  # fmt: skip
    return made


def write_index(app: Sphinx, error: Exception | None) -> None:
    if error or app.builder.format != "html":
        return
    said = [{name: said for name, said in entry.items() if said} for entry in entries(app)]
    text = json.dumps(said, ensure_ascii=False, separators=(",", ":"))
    index = Path(app.outdir) / "_static" / "search" / "index.js"
    index.parent.mkdir(exist_ok=True)
    index.write_text(f"window.courseSections={text};\n")
    for name in REPLACED:
        (Path(app.outdir) / "_static" / name).unlink(missing_ok=True)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", disable_sphinx_index)
    app.connect("config-inited", add_page)
    on_page(app, note_page)
    app.connect("build-finished", write_index)
    copy(app, PARTS / "vendor" / "minisearch.js")
    serve(app, PARTS / "search.js", PARTS / "search.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
