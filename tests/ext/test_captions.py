"""Which paragraph is the caption of a figure."""

from docutils import nodes
from docutils.utils import new_document

from look.captions import MarkCaptions
from tests.support import each

DRAWING = {"text/html": '<div class="chaingrad-drawing"></div>', "text/plain": "Graph"}
TABLE = {"text/html": "<table></table>"}
IMAGE = {"image/png": "", "text/plain": "<Figure>"}


def cell(forms: dict[str, str]) -> nodes.container:
    shown = (nodes.container("", nodes.Text(text), mime_type=form) for form, text in forms.items())
    bundle = nodes.container("", *shown, nb_element="mime_bundle")
    output = nodes.container("", bundle, nb_element="cell_code_output")
    return nodes.container("", output, nb_element="cell_code")


def classes(*parts: nodes.Element) -> list[str]:
    """What the last part is marked as."""
    document = new_document("page")
    document += nodes.section("", *parts)
    MarkCaptions(document).apply()
    return list(parts[-1]["classes"])


def words(*others: nodes.Node) -> nodes.paragraph:
    return nodes.paragraph("", "", nodes.emphasis("", "Look at the blue line."), *others)


@each(("forms", "is_caption"), [(DRAWING, 1), (IMAGE, 1), (TABLE, 0), ({}, 0)])
def test_what_is_stressed_below_a_figure_is_its_caption(
    forms: dict[str, str], is_caption: int
) -> None:
    assert classes(cell(forms), words()) == ["caption"] * is_caption


def test_other_paragraphs_are_none() -> None:
    assert classes(words()) == []
    assert classes(cell(DRAWING), words(nodes.Text(" And more."))) == []
    assert classes(cell(DRAWING), nodes.paragraph("", "Text."), words()) == []
    assert classes(cell(DRAWING), nodes.paragraph("", "Text.")) == []
