"""What a prediction is compared with."""

import pytest
from docutils import nodes
from docutils.utils import new_document

from predict import agree, answer, hold_to_cells, plain, predict, readable, unmark


@pytest.mark.parametrize(
    ("shown", "value"),
    [("6.0", "6.0"), ("'1,023'", "1023"), ("np.float64(0.5)", "0.5"), ("'grows'", "grows")],
)
def test_what_is_glued_says_its_value(shown: str, value: str) -> None:
    assert plain(shown).replace(",", "") == value


def test_a_choice_is_the_value_to_the_last_digit_that_is_shown() -> None:
    assert agree("6", "6.0")
    assert agree("1/3", "0.333")
    assert agree("5.35", "5.3512")
    assert not agree("5.301", "5.351")
    assert not agree("6", "6.01")
    assert not agree("0", "0.1")
    assert agree("it grows", "it grows")
    assert not agree("grows", "6.0")


def test_an_estimate_may_be_off_by_a_part_of_itself() -> None:
    assert agree("5.301", "5.351", 0.01)
    assert not agree("5.2", "5.351", 0.01)


def marked(claim: str, *outputs: nodes.Node) -> nodes.document:
    """A page with a question whose right answer is marked, and a cell after it."""
    document = new_document("page")
    document += predict("", claim=claim, data={"name": "asked"})
    text = nodes.paragraph("", "Let's see.")
    cell = nodes.container("", nb_element="cell_code")
    cell += nodes.container("", nodes.literal_block("", "f(5.501)"), nb_element="cell_code_source")
    cell += nodes.container("", *outputs, nb_element="cell_code_output")
    document += nodes.section("", text, cell)
    return document


@pytest.mark.parametrize(
    ("claim", "output", "is_held"),
    [
        ("5.501", "grad 5.50149", True),
        ("5.501", "grad 5.5", False),
        ("5.501", "", False),  # the cell's source has it
        ("−2", "-2.0", True),
        ("1/3", "0.3333", True),
        ("1/3", "0.34", False),
        ("1,000", "<td>1000</td>", True),
        ("it grows", "So it\ngrows.", True),
        ("it grows", "it shrinks", False),
    ],
)
def test_what_is_marked_as_right_is_held_to_the_next_cell(
    claim: str, output: str, is_held: bool, caplog: pytest.LogCaptureFixture
) -> None:
    hold_to_cells(None, marked(claim, nodes.literal_block("", output)))
    assert ("the next cell doesn't show" in caplog.text) == (not is_held)


def test_the_mark_is_taken_from_a_choice() -> None:
    term = nodes.term("", "", nodes.literal("", "x"), nodes.Text(" is 6 ✓"))
    assert unmark(term)
    assert term.astext() == "x is 6"
    assert not unmark(term)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("6.0", "6"),
        ("-2.0", "−2"),
        ("0.3333333333333333", "0.3333"),
        ("1234567.0", "1234567"),
        ("1e-09", "1e-09"),
        ("0.50", "0.50"),
        ("1,023", "1,023"),
        ("well-known", "well-known"),
    ],
)
def test_a_result_is_written_as_pages_write_it(value: str, shown: str) -> None:
    assert readable(value) == shown


def test_the_answer_is_within_its_fold_and_not_in_its_title() -> None:
    title, said = answer([nodes.Text("6")], []).children
    assert isinstance(title, nodes.title)
    assert "6" not in title.astext()
    assert said.astext() == "What the page computes: 6"
