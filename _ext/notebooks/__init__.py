"""Every page with code as a notebook for plain Jupyter and Colab, beside the site's pages.

A notebook is written from the document tree that the page itself is written from: nothing runs
again. Notebooks lie under ``notebooks/`` in the site, in the folders of the pages, and each page
has buttons for them. Scripts find the same addresses in the head of the page:

- ``<link rel="alternate" type="application/x-ipynb+json">``: the page's notebook in the site;
- ``<meta name="colab">``: the address that opens it in Colab, where Colab can.

Colab opens what stands on GitHub: the branch to which ``publish.yml`` pushes the site.
"""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from docutils import nodes
from sphinx.application import Sphinx

from common.cells import code_cells
from common.files import on_page
from coursework.installation import is_hosted, repository
from notebooks.first_cell import NotebookJson, publish, write
from notebooks.markdown import CodeCell, Markdown

FOLDER = "notebooks"
BRANCH = "gh-pages"


def code_cell(cell: CodeCell) -> dict[str, Any]:
    metadata: dict[str, Any] = {"tags": cell.tags} if cell.tags else {}
    if cell.folded:
        metadata |= {"jupyter": {"source_hidden": True}, "cellView": "form"}
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": metadata,
        "outputs": [],
        "source": cell.source.splitlines(keepends=True),
    }


def markdown_cell(text: str, images: dict[str, dict[str, str]]) -> dict[str, Any]:
    cell = {"cell_type": "markdown", "metadata": {}, "source": text.splitlines(keepends=True)}
    shown = {name: image for name, image in images.items() if f"(attachment:{name})" in text}
    return cell | ({"attachments": shown} if shown else {})


def notebook(page: Markdown) -> NotebookJson:
    """Build a page's notebook: an empty cell, then the page; each heading starts a new cell."""
    images = page.attachments()
    cells = [code_cell(CodeCell("", folded=True))]
    cells += [
        code_cell(item) if isinstance(item, CodeCell) else markdown_cell(item, images)
        for item in page.cells()
    ]
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def notebook_path(page: str) -> str:
    """Return where the notebook of a page is in the site."""
    return f"{FOLDER}/{page.removeprefix('chapters/')}.ipynb"


def write_notebook(app: Sphinx, document: nodes.document, name: str) -> None:
    if app.builder.format == "html" and code_cells(document):
        write(notebook(Markdown(app, document, name)), Path(app.outdir) / notebook_path(name))


def colab_address(address: str, path: str) -> str:
    """Return the address that opens a published notebook in Colab; "" if Colab can't open it."""
    parts = urlsplit(address)
    if not is_hosted(address) or parts.netloc != "github.com":
        return ""
    name = parts.path.strip("/").removesuffix(".git")
    return f"https://colab.research.google.com/github/{name}/blob/{BRANCH}/{path}"


def button(address: str, name: str, icon: str, says: str) -> dict[str, str]:
    return {"type": "link", "url": address, "label": name, "icon": f"fas {icon}", "tooltip": says}


def add_links(app: Sphinx, name: str, context: dict[str, Any], document: nodes.document) -> None:
    """Add the buttons of a page, and put the same addresses into its head for scripts."""
    if not code_cells(document):
        return
    path = notebook_path(name)
    here = context["pathto"](path, 1)
    colab = colab_address(repository(Path(app.srcdir)), path)
    head = [f'<link rel="alternate" type="application/x-ipynb+json" href="{here}">']
    buttons = [button(here, "notebook", "fa-download", "Download as a Jupyter notebook")]
    if colab:
        head.append(f'<meta name="colab" content="{colab}">')
        buttons.insert(0, button(colab, "colab", "fa-rocket", "Open in Colab"))
    context["metatags"] = "\n".join([context.get("metatags", ""), *head])
    context["header_buttons"] = [*buttons, *context.get("header_buttons", [])]


def finish(app: Sphinx, error: Exception | None) -> None:
    """Delete the notebooks of removed pages; write the first cells, and what they install."""
    if error or app.builder.format != "html":
        return
    site = Path(app.outdir)
    pages = {site / notebook_path(name) for name in app.env.found_docs}
    for path in set((site / FOLDER).rglob("*.ipynb")) - pages:
        path.unlink()
    publish(site, Path(app.srcdir))


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-resolved", write_notebook, priority=900)
    on_page(app, add_links, priority=600)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
