"""What the sections of a page say."""

from docutils import nodes
from docutils.utils import new_document
from sphinx_exercise.nodes import solution_node

from look.folds import predict_answer
from search.sections import characters, plain, sections
from tests.support import each


@each(
    ("tex", "expected"),
    [
        (r"\mathbf{W}", "W"),
        (r"\bar{w}", "w̄"),
        (r"\frac{a}{b}", "a/b"),
        (r"\partial\ell/\partial w", "∂l/∂w"),
        (r"\frac{\partial J}{\partial x}", "∂J/∂x"),
        (r"\sqrt{2}", "√(2)"),
        (r"\tfrac12x_1^2 + 3e^{2x}", "1/2x_1^2+3e^(2x)"),
        (r"\mathbf{X}^\top\mathbf{W}^{(1)} - f'", "X⊤W^(1)−f′"),
    ],
)
def test_a_formula_is_told_in_characters(tex: str, expected: str) -> None:
    assert characters(tex).replace(" ", "") == expected


def page() -> nodes.document:
    document = new_document("page")
    outer = nodes.section("", nodes.title("", "Memory"), ids=["memory"])
    prose = nodes.paragraph("", "The gradient of ")
    prose += nodes.math("", r"\mathbf{W}")
    prose += nodes.Text(" is kept.")
    outer += prose
    outer += nodes.literal_block("", "loss.backward()")
    output = nodes.container("", nodes.literal_block("", "3.14"), nb_element="cell_code_output")
    outer += output
    outer += nodes.raw("", "<svg>143v8mul</svg>", format="html")
    outer += nodes.math_block("", r"\mathbf{H}_i")
    inner = nodes.section("", nodes.title("", "Inner"), ids=["inner"])
    later = nodes.section(
        "", nodes.title("", "Later"), nodes.paragraph("", "Another part."), inner, ids=["later"]
    )
    box = nodes.section("", nodes.paragraph("", "An exercise."), ids=["exercise-content"])
    outer += [box, later]
    document += outer
    return document


def test_a_section_says_its_own_prose_and_code() -> None:
    memory, later, inner = [section.entry() for section in sections(page())]
    assert memory == {
        "id": "memory", "title": "Memory", "within": "",
        "text": "The gradient of W is kept. An exercise.", "code": "loss.backward()", "answers": "",
        "asked": "",
    }  # fmt: skip
    assert later["text"] == "Another part."
    assert (later["within"], inner["within"]) == ("", "Later")


def test_answers_are_found_apart_from_what_is_shown() -> None:
    document = new_document("page")
    foretold = predict_answer("", nodes.title("", "Computed: 4"), nodes.paragraph("", "Twice two."))
    solved = solution_node("", nodes.paragraph("", "It is six."), nodes.literal_block("", "3 * 2"))
    asked = nodes.paragraph("", "How many?")
    document += nodes.section("", nodes.title("", "Ways"), asked, foretold, solved, ids=["ways"])
    (entry,) = [section.entry() for section in sections(document)]
    assert (entry["text"], entry["code"]) == ("How many?", "")
    assert entry["answers"] == "Computed: 4 Twice two. It is six."


def test_a_title_with_a_formula_is_plain() -> None:
    title = nodes.title("", "Why ")
    title += nodes.math("", r"\bar{x}")
    assert plain(title) == "Why x̄"


def test_a_comment_says_in_what_words_readers_ask() -> None:
    document = new_document("page")
    words = nodes.comment("", "asked: jnp.where, double where")
    title = nodes.title("", "Branches")
    document += nodes.section("", title, words, nodes.comment("", "to do"), ids=["branches"])
    (entry,) = [section.entry() for section in sections(document)]
    assert (entry["asked"], entry["text"]) == ("jnp.where, double where", "")
