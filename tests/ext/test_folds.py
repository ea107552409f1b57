"""Folded boxes: which they are, and what their titles become."""

import logging
from types import SimpleNamespace

import pytest
from docutils import nodes
from docutils.utils import new_document
from sphinx.writers.html5 import HTML5Translator
from sphinx_exercise.nodes import solution_node

from look.folds import (
    FillDeeper,
    FoldDropdowns,
    deeper,
    deeper_end,
    depart_box,
    fold_heading,
    fold_title,
    folded_section,
    visit_box,
)


def folded(*boxes: nodes.Element) -> nodes.document:
    document = new_document("page")
    document += list(boxes)
    FoldDropdowns(document).run()
    return document


@pytest.mark.parametrize("kind", [nodes.admonition, solution_node])
def test_a_folded_box_has_a_title_that_unfolds_it(kind: type) -> None:
    box = kind("", nodes.title("", "Deeper"), nodes.paragraph(), classes=["dropdown"])
    (title,) = folded(box).findall(fold_title)
    assert title.astext() == "Deeper"
    assert title.parent is box


def test_a_note_takes_its_kind_for_a_title() -> None:
    box = nodes.note("", nodes.paragraph("", "Aside."), classes=["dropdown"])
    assert next(folded(box).findall(fold_title)).astext() == "Note"


def test_other_boxes_keep_their_titles() -> None:
    box = nodes.admonition("", nodes.title("", "At a glance"), nodes.paragraph())
    assert not list(folded(box).findall(fold_title))


def test_how_a_page_is_checked_unfolds_at_its_heading() -> None:
    checks, other = (
        nodes.section("", nodes.title("", words), nodes.paragraph("", "x"), ids=[words[:3]])
        for words in ("How this page is checked", "Summary")
    )
    page = folded(checks, other)
    assert [type(section) for section in page] == [folded_section, nodes.section]
    assert page[0]["ids"] == ["How"]
    assert [type(part) for part in page[0]] == [fold_heading, nodes.paragraph]


def test_sphinx_opens_and_closes_other_boxes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Since 8.2 it keeps in mind between the two what closes them."""
    for name in ("visit_admonition", "depart_admonition"):
        monkeypatch.setattr(
            HTML5Translator, name, lambda self, *_, name=name: self.body.append(name)
        )
    page = SimpleNamespace(body=[])
    visit_box(page, nodes.admonition())  # type: ignore[arg-type]
    depart_box(page, nodes.admonition())  # type: ignore[arg-type]
    assert page.body == ["visit_admonition", "depart_admonition"]


def box() -> deeper:
    return deeper("", nodes.title("", "Deeper: why"), classes=["dropdown"])


def filled(*children: nodes.Element) -> nodes.document:
    document = new_document("page")
    document += nodes.section("", *children)
    FillDeeper(document).apply()
    return document


def test_a_deeper_part_holds_what_stands_between_its_marks() -> None:
    parts = [nodes.paragraph("", text) for text in ("before", "within", "cell", "after")]
    before, *within, after = parts
    page = filled(before, box(), *within, deeper_end(), after)
    (found,) = page.findall(deeper)
    assert [node.astext() for node in found] == ["Deeper: why", "within", "cell"]
    assert [type(node) for node in page[0]] == [nodes.paragraph, deeper, nodes.paragraph]


def test_two_deeper_parts_keep_apart() -> None:
    page = filled(box(), nodes.paragraph("", "1"), deeper_end(), box(), deeper_end())
    assert [len(found) for found in page.findall(deeper)] == [2, 1]


@pytest.mark.parametrize(
    ("marks", "missing"),
    [
        ([box(), nodes.paragraph()], "no deeper-end"),
        ([box(), box(), deeper_end()], "no deeper-end"),
        ([nodes.paragraph(), deeper_end()], "no deeper-start"),
    ],
)
def test_a_mark_without_the_other_is_warned_of(
    marks: list[nodes.Element], missing: str, caplog: pytest.LogCaptureFixture
) -> None:
    logging.getLogger("sphinx").addHandler(caplog.handler)
    filled(*marks)
    logging.getLogger("sphinx").removeHandler(caplog.handler)
    assert missing in caplog.text
