"""How a formula is checked: a ✓ beside it leads to the cell that checks it, and a link leads back.

A cell says in its metadata which displayed formulas it checks, by their labels: `checks: eq-a`, or
a list. The cells stand in the section that ends a page, *How this page is checked*.
"""

from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

from common.cells import code_cells

logger = logging.getLogger(__name__)


def labels_of(cell: nodes.Element) -> list[str]:
    """Return the labels of the formulas that a cell checks."""
    checks: str | list[str] = cell["cell_metadata"].get("checks", [])
    return [checks] if isinstance(checks, str) else checks


class LinkChecks(SphinxTransform):
    """Link formulas with the cells that check them, in both directions."""

    default_priority = 500

    def apply(self, **kwargs: Any) -> None:
        blocks = self.document.findall(nodes.math_block)
        formulas = {block["label"]: block for block in blocks if block.get("label")}
        for cell in code_cells(self.document):
            labels = labels_of(cell)
            for label in labels:
                if label not in formulas:
                    logger.warning("checks: no formula here is labelled %s", label, location=cell)
            known = [label for label in labels if label in formulas]
            if not known:
                continue
            cell["ids"].append(nodes.make_id(f"check-{known[0]}"))
            for label in known:
                formulas[label].setdefault("checked_by", cell["ids"][-1])
            cell.parent.insert(cell.parent.index(cell) + 1, self.links(known))

    def links(self, labels: list[str]) -> nodes.paragraph:
        told = nodes.paragraph("", "checks ", classes=["check-of"])
        for label in labels:
            if len(told) > 1:
                told += nodes.Text(", ")
            told += addnodes.pending_xref(
                "",
                nodes.inline("", label),
                refdomain="math",
                reftype="eq",
                reftarget=label,
                refdoc=self.env.docname,
                refwarn=True,
            )
        return told


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_transform(LinkChecks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
