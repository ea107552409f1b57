"""What a prediction is compared with."""

import pytest
from docutils import nodes
from docutils.utils import new_document
from sphinx_exercise.nodes import exercise_node

from predict import (
    agree,
    answer,
    as_number,
    hold_to_cells,
    mark_answers,
    plain,
    predict,
    readable,
    unmark,
)
from tests.support import each


@each(
    ("text", "number"),
    [("6", 6.0), ("−0.5", -0.5), ("1,000,000", 1e6), ("1/4", 0.25), ("twice", None), ("1/0", None)],
)
def test_numbers_are_read_as_pages_write_them(text: str, number: float | None) -> None:
    assert as_number(text) == number


@each(
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


def question(name: str, claim: str, held: bool = False, giveaways: str = "") -> predict:
    return predict("", claim=claim, held=held, giveaways=giveaways.split(";"), data={"name": name})


def said(text: str) -> nodes.paragraph:
    return nodes.paragraph("", text)


def caption(text: str) -> nodes.paragraph:
    return nodes.paragraph("", "", nodes.emphasis("", text), classes=["caption"])


def cell(*outputs: str, source: str = "f(5.501)", **more: object) -> nodes.container:
    parts = [nodes.container("", nodes.literal_block("", source), nb_element="cell_code_source")]
    shown = [nodes.literal_block("", output) for output in outputs]
    parts += [nodes.container("", *shown, nb_element="cell_code_output")] if outputs else []
    return nodes.container("", *parts, nb_element="cell_code", **more)


def page(*content: nodes.Node) -> nodes.document:
    document = new_document("page")
    document += nodes.section("", *content)
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
    asks = question("asked", claim, held=True)
    hold_to_cells(None, page(asks, nodes.section("", said("Let's see."), cell(output))))
    assert ("the next cell doesn't show" in caplog.text) == (not is_held)


FIGURE = "<svg><style>text {size: 6}</style>drawn</svg>"
# What a page has, and the texts of what is veiled for each question.
VEILED = {
    "the output behind a question, not what comes after it": (
        [question("a", "6"), said("Look."), cell("says 6"), said("So."), said("It is 6.")],
        {"a": ["says 6"]},
    ),
    "a paragraph that quotes the answer right behind the cell": (
        [question("a", "6"), cell("says 6"), said("It is 6."), said("Yes, 6.")],
        {"a": ["says 6", "It is 6."]},
    ),
    "the next cell, if the answer is held to it": (
        [question("a", "6", held=True), cell("says 6.0"), cell("says 6")],
        {"a": ["says 6.0"]},
    ),
    "the first output that shows the answer": (
        [question("a", "6"), cell("5"), cell(FIGURE), cell(), cell("6"), cell("6 again")],
        {"a": ["6"]},
    ),
    "the first output of all, if none shows the answer": (
        [question("a", "it falls"), cell(), cell("Writing", source="%%writefile f.py"),
         cell(FIGURE), cell("falling")],
        {"a": [FIGURE]},
    ),
    "the caption of a figure": (
        [question("a", "it falls"), cell(FIGURE), caption("Falling."), said("It falls.")],
        {"a": [FIGURE, "Falling."]},
    ),
    "whatever has the words of giveaways, up to the next question": (
        [question("a", "6", giveaways="half a\ndozen; draw()"), said("Half of 12: half a dozen."),
         cell("6"), said("So."), cell(FIGURE, source="draw()"), caption("Drawn."),
         question("b", "7"), said("half a dozen"), cell("7")],
        {"a": ["Half of 12: half a dozen.", "6", FIGURE, "Drawn."], "b": ["7"]},
    ),
    "what two questions in a row ask": (
        [question("a", "6"), question("b", "7"), cell("6, 7"), said("And 7.")],
        {"a": ["6, 7", "And 7."]},
    ),
    "of a question no further than to the next one": (
        [question("a", "6"), said("6"), question("b", "7"), cell("6, 7")],
        {"b": ["6, 7"]},
    ),
    "nothing below a heading": ([question("a", "6"), nodes.section("", cell("6"))], {}),
    "nothing that is folded": (
        [question("a", "6"), cell("6", prompt_show="Checked: 6"), cell("6", hide_mode="all"),
         nodes.admonition("", cell("6"))],
        {},
    ),
    "nothing of an exercise": (
        [exercise_node("", nodes.section("", question("a", "6"), cell("6")))],
        {},
    ),
}  # fmt: skip


@each("what", VEILED)
def test_what_is_veiled(what: str) -> None:
    content, expected = VEILED[what]
    document = page(*(node.deepcopy() for node in content))
    mark_answers(None, document)
    veiled: dict[str, list[str]] = {}
    for node in document.findall(nodes.Element):
        for name in filter(lambda name: name.startswith("answers-"), node["classes"]):
            veiled.setdefault(name.removeprefix("answers-"), []).append(node.astext())
    assert veiled == expected
    veils = {box["data"].get("veil") for box in document.findall(predict)} - {None}
    assert veils == expected.keys()


def test_giveaways_that_nothing_has_are_a_mistake(caplog: pytest.LogCaptureFixture) -> None:
    mark_answers(None, page(question("a", "6", giveaways="six; a dozen"), cell("6"), said("six")))
    assert "'a dozen'" in caplog.text
    assert "'six'" not in caplog.text


def test_the_mark_is_taken_from_a_choice() -> None:
    term = nodes.term("", "", nodes.literal("", "x"), nodes.Text(" is 6 ✓"))
    assert unmark(term)
    assert term.astext() == "x is 6"
    assert not unmark(term)


@each(
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
