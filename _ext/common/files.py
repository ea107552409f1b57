"""What features add to a site: files for every page, and a part of each page that is written."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config


def copy(app: Sphinx, *files: Path) -> None:
    """Copy files into the folder ``_static`` of the site."""

    def configure(app: Sphinx, config: Config) -> None:
        config.html_static_path.extend(map(str, files))

    app.connect("config-inited", configure)


def serve(app: Sphinx, *files: Path, priority: int = 500) -> None:
    """Load style sheets and scripts on every page; each address changes with the file's content."""
    copy(app, *files)
    for file in files:
        if file.suffix == ".css":
            app.add_css_file(file.name)
        else:
            app.add_js_file(file.name, loading_method="defer", priority=priority)


def on_page(app: Sphinx, act: Callable[..., None], priority: int = 500) -> None:
    """Call ``act(app, page, context, document)`` for each page of the book when it is written."""

    def each(
        app: Sphinx, page: str, _: str, context: dict[str, Any], document: nodes.document | None
    ) -> None:
        if document is not None:  # the pages of the search and of licences have none
            act(app, page, context, document)

    app.connect("html-page-context", each, priority=priority)
