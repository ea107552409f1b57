"""The book's static files, its style sheet and script, and small repairs of what others write.

Links to the repository come from one setting, ``repository.url`` in ``_config.yml``: their
buttons are switched on here when it is a place to send readers to.

The repairs are needed up to docutils 0.22 and Sphinx 9.0, the newest that were looked at;
`tests/ext/test_look.py` has each beside its fault.
"""

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment

from common.files import copy, serve
from coursework.installation import is_hosted

PARTS = Path(__file__).parent
OF_OTHERS = ("chapters/reference/progress", "chapters/reference/status")


def link_repository(app: Sphinx, config: Config) -> None:
    options = config.html_theme_options
    if is_hosted(options.get("repository_url") or ""):
        options.update(use_repository_button=True, use_issues_button=True)
    else:
        options.pop("repository_url", None)


def free_bibliography_entries(
    app: Sphinx, name: str, template: str, context: dict[str, Any], document: object
) -> None:
    """Drop the roles that docutils gives to references: a list may not hold such entries."""
    body = context.get("body", "")
    body = body.replace('<div role="list" class="citation-list">', '<div class="citation-list">')
    context["body"] = body.replace(' role="doc-biblioentry"', "")


def refresh(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Return the pages that every build writes again, because they report on the other pages."""
    return [page for page in OF_OTHERS if page in env.found_docs]


def number_from_one(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Count exercises from one on a page without a number: nothing else tells them apart."""
    for page, numbers in env.toc_fignumbers.items():
        if env.toc_secnumbers.get(page):
            continue
        for counted in numbers.values():
            counted.update({name: (place,) for place, name in enumerate(counted, start=1)})
    return []


def keep_first_colon(
    app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]
) -> None:
    """Add a first colon to a property's docstring: Napoleon takes the text before it as a type."""
    if what in ("attribute", "property") and lines:
        lines[0] = f": {lines[0]}"


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("config-inited", link_repository)
    app.connect("autodoc-process-docstring", keep_first_colon, priority=400)
    app.connect("html-page-context", free_bibliography_entries)
    app.connect("env-get-updated", number_from_one, priority=900)
    app.connect("env-updated", refresh)
    copy(app, *PARTS.glob("fonts/*.woff2"))
    serve(app, PARTS / "book.css", PARTS / "book.bundle.js", priority=300)  # other scripts use it
    return {"parallel_read_safe": True, "parallel_write_safe": True}
