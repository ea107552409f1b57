"""What told pages say, held to what their cells show."""

from docutils import nodes
from docutils.utils import new_document

from about.told import unchecked_formulas, unseen_numbers
from predict import predict
from tests.support import each


@each(
    ("tex", "attributes", "is_told"),
    [
        (r"\bar x = \partial y", {"label": "eq-x"}, True),
        (r"\nabla f", {"label": "eq-x"}, True),
        (r"\barwedge = 1", {"label": "eq-x"}, False),
        (r"\bar x", {}, False),
        (r"\bar x", {"label": "eq-x", "checked_by": "check-eq-x"}, False),
        (r"\bar x", {"label": "8e2f", "classes": ["amsmath"]}, False),
    ],
)
def test_a_formula_with_a_gradient_has_a_check(
    tex: str, attributes: dict[str, str], is_told: bool
) -> None:
    document = new_document("page")
    document += nodes.math_block("", tex, **attributes)
    assert bool([*unchecked_formulas(document)]) == is_told


def cell(source: str, printed: str = "") -> nodes.container:
    code = nodes.container("", nodes.literal_block("", source), nb_element="cell_code_source")
    shown = nodes.container("", nodes.literal_block("", printed), nb_element="cell_code_output")
    return nodes.container("", code, shown, nb_element="cell_code", classes=["cell"])


def unseen(*parts: nodes.Node) -> list[str]:
    """The numbers of a page that none of its cells shows."""
    document = new_document("page")
    document += nodes.section("", *parts)
    return [fault.split()[3] for _, fault in unseen_numbers(document)]


CELLS = [cell("w = 0.5", "grad -3.50149\n1.2e-05"), cell("", "rate 0.198, loss 1000.25")]


@each(
    ("text", "told"),
    [
        ("With 0.5 we get 3.501, and then 3.502.", ["3.502"]),
        ("It is −3.501. Then 3.5 is left.", []),
        ("A loss of 1,000.3, 19.8 % of it, and 19.7 %.", ["19.7"]),
        ("Version 1.2 of 2013, PyTorch 2.13, torch 2.13.0, v3.14, Section 5.3.", []),
        ("From 2 to 7 and 2/7.", []),
    ],
)
def test_a_number_in_the_text_is_in_some_cell(text: str, told: list[str]) -> None:
    assert unseen(nodes.paragraph("", text), *CELLS) == told


@each(
    ("tex", "told"),
    [
        (r"3.501 \cdot 0.7", ["0.7"]),
        (r"1.2 \cdot 10^{-5} \hspace{0.3em} \\\\[1.7ex]", []),
        (r"1.2 \times 10^{-4}", ["1.2"]),
        (r"1{,}000.25", []),
    ],
)
@each("kind", [nodes.math, nodes.math_block])
def test_a_number_in_a_formula_is_too(kind: type, tex: str, told: list[str]) -> None:
    formula = kind("", tex)
    part = formula if kind is nodes.math_block else nodes.paragraph("", "", formula)
    assert unseen(part, *CELLS) == told


def test_only_the_main_lines_own_words_are_held_to_cells() -> None:
    code = nodes.paragraph("", "", nodes.literal("", "x = 7.7"))
    choices = nodes.bullet_list("", nodes.list_item("", nodes.paragraph("", "8.8")))
    choices["classes"].append("predict-choices")
    asked = predict("", nodes.paragraph("", "Is it 9.9?"), choices)
    glance = nodes.admonition("", nodes.paragraph("", "6.6"), classes=["at-a-glance"])
    deeper = nodes.admonition("", nodes.title("", "More"), nodes.paragraph("", "5.5"))
    deeper["classes"].append("dropdown")
    exercises = nodes.section("", nodes.title("", "Exercises"), nodes.paragraph("", "4.4"))
    assert unseen(code, asked, glance, deeper, exercises) == ["9.9"]


def test_a_number_is_told_with_its_line() -> None:
    paragraph = nodes.paragraph("", "One.\nTwo 2.5,\nthree ", nodes.math("", "3.5"))
    paragraph.line = 10
    document = new_document("page")
    document += paragraph
    assert [line for line, _ in unseen_numbers(document)] == [11, 12]
