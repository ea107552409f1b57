"""How a formula and the cell that checks it are linked."""

from types import SimpleNamespace
from typing import Any

import pytest
from docutils import nodes
from docutils.utils import new_document
from sphinx import addnodes

from formulas.check_links import LinkChecks


def formula(label: str) -> nodes.math_block:
    return nodes.math_block("", r"\bar x = 1", label=label)


def check(**metadata: Any) -> nodes.container:
    return nodes.container("", nb_element="cell_code", cell_metadata=metadata)


def linked(*parts: nodes.Element) -> nodes.document:
    document = new_document("page")
    document.settings.env = SimpleNamespace(docname="page")
    document += nodes.section("", *parts)
    LinkChecks(document).apply()
    return document


def test_a_formula_leads_to_its_check_and_back() -> None:
    one, two = formula("eq-one"), formula("eq-two")
    cell = check(checks=["eq-one", "eq-two"])
    page = linked(one, two, cell, nodes.paragraph("", "after"))
    assert one["checked_by"] == two["checked_by"] == cell["ids"][0] == "check-eq-one"
    assert page[0][3].astext() == "checks eq-one, eq-two"
    links = page[0][3].findall(addnodes.pending_xref)
    assert [link["reftarget"] for link in links] == ["eq-one", "eq-two"]


def test_a_formula_leads_to_the_first_of_its_checks() -> None:
    one = formula("eq-one")
    cells = [check(checks="eq-one"), check(), check(checks="eq-one")]
    linked(one, formula("eq-two"), *cells)
    assert one["checked_by"] == cells[0]["ids"][0]
    assert cells[1]["ids"] == []


def test_a_check_of_a_formula_that_is_not_here_is_told(caplog: pytest.LogCaptureFixture) -> None:
    page = linked(formula("eq-one"), check(checks="eq-other"))
    assert "no formula here is labelled eq-other" in caplog.text
    assert len(page[0]) == 2
