"""Code cells, as MyST-NB puts them into the document tree of a page."""

import re
from typing import TypeGuard

from docutils import nodes

TAG = re.compile(r"<[^>]*>")


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
    return TAG.sub(" ", "\n".join(shown))
