"""What the lines say that unfold hidden code."""

from typing import Any

import pytest
from docutils import nodes
from docutils.utils import new_document
from myst_nb.sphinx_ import HideCodeCellNode

from look.prompts import FoldBelow, WordPrompts
from tests.support import each

OWN = "Show code cell {type}"  # MyST-NB's


def cell(source: str = "x = 1", *outputs: nodes.Element, line: str = OWN) -> nodes.container:
    code = nodes.container("", nodes.literal_block(source, source))
    found = [nodes.container("", *outputs)] if outputs else []
    return nodes.container("", code, *found, prompt_show=line, hide_mode="input")


def worded(cell: nodes.container) -> str:
    document = new_document("page")
    document += cell
    WordPrompts(document).run()
    return str(cell["prompt_show"])


def raw(html: str) -> nodes.raw:
    return nodes.raw("", html, format="html")


@each(
    ("outputs", "what"),
    [
        ([raw('<div><svg role="img"></svg></div>')], "of this figure"),
        ([nodes.image(uri="plot.svg")], "of this figure"),
        ([nodes.literal_block("", "3.0"), raw("<svg></svg>")], "of this figure"),
        ([raw("<table></table>")], "of this table"),
        ([nodes.table()], "of this table"),
        ([nodes.literal_block("", "3.0")], "that prints this"),
    ],
)
def test_it_says_what_the_code_shows(outputs: list[nodes.Element], what: str) -> None:
    assert worded(cell("x = 1", *outputs)) == f"Show the code {what}"


@each(
    ("source", "what"),
    [
        ("def f():\n    y = 1\nz = 2", "that defines f"),
        ("class A: pass\ndef f(): pass", "that defines A and f"),
        ("def a(): pass\ndef b(): pass\ndef c(): pass", "that defines a, b and c"),
        ("def a(): pass\ndef b(): pass\ndef c(): pass\nclass D: pass", "that defines a, b, c …"),
        ("import os\nx, (y, _) = 1, (2, 3)", "that computes x and y"),
        ("x: int = 1\nx += 1\nd['k'] = x\nfor i in d: pass", "that computes x"),
        ("x = 1\nglue('x', x)", "of numbers in the text"),
        ("assert 1 < 2", "that checks this"),
        ("import os", ""),
        ("%matplotlib inline", ""),
    ],
)
def test_of_code_that_shows_nothing_it_says_what_it_does(source: str, what: str) -> None:
    assert worded(cell(source)) == f"Show the code {what}".strip()


def test_an_empty_output_shows_nothing() -> None:
    assert worded(cell("x = 1", nodes.literal_block("", ""))) == "Show the code that computes x"


def test_a_line_of_the_pages_own_stays_when_it_has_unfolded() -> None:
    own = cell(line="The file common.py")
    assert worded(own) == own["prompt_hide"] == "The file common.py"


def test_a_cell_behind_a_claim_is_a_mark_with_all_in_it(caplog: pytest.LogCaptureFixture) -> None:
    cells = [cell("assert True", line=words) for words in ("Checked: yes", OWN)]
    for one in cells:
        one["exec_count"] = 1
        worded(one)
    assert [one["classes"] for one in cells] == [["checked"], []]
    assert [one["hide_mode"] for one in cells] == ["all", "input"]
    assert not caplog.records


@pytest.mark.parametrize(
    "other", [{"exec_count": None}, {"exec_count": 1, "classes": ["tag_raises-exception"]}]
)
def test_a_claim_wants_a_cell_that_ran_and_did_not_fail(
    caplog: pytest.LogCaptureFixture, other: dict[str, Any]
) -> None:
    claim = cell("assert True", line="Checked: yes")
    claim.attributes |= other
    worded(claim)
    assert "“Checked: yes”" in caplog.text


def folded(cell: nodes.container) -> list[str]:
    """What stands in a cell, from the top, once its code is folded."""
    fold = HideCodeCellNode("", cell.pop(0))
    cell.insert(0, fold)
    document = new_document("page")
    document += cell
    FoldBelow(document).run()
    return ["fold" if node is fold else "output" for node in cell]


def test_folded_code_stands_below_what_it_shows() -> None:
    assert folded(cell("x = 1", raw("<svg></svg>"))) == ["output", "fold"]
    assert folded(cell("x = 1", nodes.literal_block("", ""))) == ["fold", "output"]
    assert folded(cell()) == ["fold"]
