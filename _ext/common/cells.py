"""Code cells, as MyST-NB puts them into the document tree of a page."""

import re
from collections.abc import Iterator
from typing import TypeGuard

from docutils import nodes

TAG = re.compile(r"<[^>]*>")
DRAWN = re.compile(r"<svg\b|<canvas|chaingrad-")
STYLE = re.compile(r"<style\b.*?</style>", re.DOTALL)
FOLDS_OUTPUT = {"all", "output", "input+output"}


def is_part(node: nodes.Node, kind: str) -> TypeGuard[nodes.container]:
    """Return whether a node is a part of a cell, or a whole cell if kind is ``cell_code``."""
    return isinstance(node, nodes.container) and node.get("nb_element") == kind


def is_code(node: nodes.Node) -> TypeGuard[nodes.container]:
    return is_part(node, "cell_code")


def is_check(cell: nodes.Element) -> bool:
    """Return whether a cell is folded behind a claim: its output only says that the claim holds."""
    return str(cell.get("prompt_show", "")).startswith("Checked")


def code_cells(document: nodes.document) -> list[nodes.container]:
    return list(filter(is_code, document.findall(nodes.container)))


def source_of(cell: nodes.Element) -> str:
    return next(n for n in cell.findall() if is_part(n, "cell_code_source")).astext()


def output_of(cell: nodes.Node) -> str:
    """Return the text of all that a cell shows, that of drawings and tables included."""
    shown = (part.astext() for part in cell.findall() if is_part(part, "cell_code_output"))
    return TAG.sub(" ", STYLE.sub(" ", "\n".join(shown)))


def results(shown: nodes.Node) -> Iterator[dict[str, str]]:
    """Yield each result that a cell shows: its text in every form, as text/html or image/png."""
    for bundle in shown.findall(nodes.container):
        if is_part(bundle, "mime_bundle"):
            forms = (form for form in bundle.findall(nodes.container) if "mime_type" in form)
            yield {form["mime_type"]: form.astext() for form in forms}


def is_figure(forms: dict[str, str]) -> bool:
    html = forms.get("text/html", "")
    is_image = not html and any(form.startswith("image/") for form in forms)
    return is_image or bool(DRAWN.search(html))


def shows_figure(cell: nodes.Element) -> bool:
    return any(map(is_figure, results(cell)))


def visible_output(cell: nodes.Element) -> nodes.container | None:
    """Return the part of a cell that holds its output; None if it has none, or it is folded."""
    if is_check(cell) or cell.get("hide_mode") in FOLDS_OUTPUT:
        return None
    return next((part for part in cell.children if is_part(part, "cell_code_output")), None)
