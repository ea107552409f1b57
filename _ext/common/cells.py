"""Code cells, as MyST-NB puts them into the document tree of a page."""

from typing import TypeGuard

from docutils import nodes


def is_part(node: nodes.Node, kind: str) -> TypeGuard[nodes.container]:
    """Whether a node is a part of a cell, or with ``cell_code`` a whole one."""
    return isinstance(node, nodes.container) and node.get("nb_element") == kind


def is_code(node: nodes.Node) -> TypeGuard[nodes.container]:
    return is_part(node, "cell_code")


def is_check(cell: nodes.Element) -> bool:
    """Whether a cell is folded behind a claim: what it prints says no more than that it holds."""
    return str(cell.get("prompt_show", "")).startswith("Checked")


def code_cells(document: nodes.document) -> list[nodes.container]:
    return list(filter(is_code, document.findall(nodes.container)))


def source_of(cell: nodes.Element) -> str:
    return next(n for n in cell.findall() if is_part(n, "cell_code_source")).astext()
