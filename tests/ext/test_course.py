"""The course as a graph, the folded sidebar, and what is shown of the next page."""

from types import SimpleNamespace

from docutils import nodes
from docutils.utils import new_document
from sphinx.addnodes import pending_xref

from progress import ahead
from progress.course import draw, lessons, linked, needs, note_prerequisites
from progress.sidebar import fold

ENV = SimpleNamespace(
    toc_secnumbers={"b": {"": (2,)}, "a": {"": (1,)}, "c": {"": (3,)}, "off": {}},
    titles={
        page: nodes.title("", title) for page, title in [("a", "One"), ("b", "Two"), ("c", "Three")]
    },
    metadata={
        "a": {},
        "b": {"needs": ["a"]},
        "c": {"needs": ["b", "off"]},
        "off": {"needs": ["a"]},
    },
)


def test_lessons_are_the_pages_with_a_number_in_its_order() -> None:
    assert lessons(ENV) == {"a": 1, "b": 2, "c": 3}


def test_prerequisites_are_the_pages_that_the_box_at_the_top_links() -> None:
    pages = ("b", "gone", "b")
    links = [pending_xref("", nodes.Text(name), reftarget=name) for name in pages]
    box = nodes.admonition("", nodes.paragraph("", "", *links), classes=["at-a-glance"])
    elsewhere = nodes.paragraph("", "", pending_xref("", nodes.Text("a"), reftarget="a"))
    env = SimpleNamespace(docname="here", found_docs={"a", "b"}, metadata={"here": {}})
    note_prerequisites(SimpleNamespace(env=env), page(box, elsewhere))
    assert env.metadata["here"]["needs"] == ["b"]


def test_a_page_off_the_path_stands_for_the_lessons_that_it_takes() -> None:
    assert list(needs(ENV, "c")) == ["b", "a"]


def test_the_course_is_drawn_with_its_prerequisites_as_arrows_and_its_lessons_as_links() -> None:
    drawing = draw(ENV)
    assert drawing.alt.endswith("1. One; 2. Two takes 1; 3. Three takes 2 and 1.")
    app = SimpleNamespace(
        env=ENV, builder=SimpleNamespace(get_relative_uri=lambda here, page: f"{page}.html")
    )
    drawn = linked(app, "here", drawing)
    assert drawn.count('class="edge"') == 3
    assert drawn.count("<a href=") == 3
    assert '<a href="b.html" data-title="2. Two" aria-label="2. Two"><g class="node"' in drawn
    assert 'role="img"' not in drawn  # an image would hide its links


def part(name: str, listed: str, current: bool = False) -> str:
    caption = '<p aria-level="2" class="caption" role="heading">'
    kind = "current nav" if current else "nav"
    return (
        f'{caption}<span class="caption-text">{name}</span></p>\n<ul class="{kind}">{listed}</ul>\n'
    )


def test_only_the_part_of_the_page_is_open() -> None:
    nested = "<li>One<ul><li>Within</li></ul></li>"
    folded = fold(part("First", nested) + part("Second", "<li>Two</li>", current=True))
    assert folded.count("<details") == folded.count("<summary") == 2
    assert '<details class="part"><summary>First</summary>' in folded
    assert '<details class="part" open><summary>Second</summary>' in folded
    assert "Within</li></ul></li></ul></details>" in folded


def test_on_a_page_of_no_part_the_first_is_open() -> None:
    folded = fold(part("First", "<li>One</li>") + part("Second", "<li>Two</li>"))
    assert folded.count(" open>") == 1
    assert folded.startswith('<details class="part" open><summary>First')


def page(*content: nodes.Node) -> nodes.document:
    document = new_document("page")
    document += nodes.section("", nodes.title("", "Page"), *content)
    return document


def shown(html: str) -> nodes.container:
    form = nodes.container("", nodes.raw("", html, format="html"), mime_type="text/html")
    return nodes.container("", form, nb_element="mime_bundle")


def test_the_card_asks_the_first_question_of_the_opening() -> None:
    opening = nodes.paragraph("", "It worked. Why? But why do we\nmultiply there? And then?")
    assert ahead.question(page(opening)) == "But why do we multiply there?"
    assert not ahead.question(page(nodes.paragraph("", "Nothing."), nodes.section("", opening)))


def test_the_card_has_the_first_figure_as_a_file_of_its_own() -> None:
    svg = (
        '<svg class="chaingrad" role="img" aria-label="A graph." width="4" height="2" '
        'viewBox="0 0 4 2" style="min-width:300px"><path id="p" d="M0 0" /></svg>'
    )
    document = page(shown("<p>words</p>"), shown(f"<div>{svg}</div>"), shown("<svg></svg>"))
    assert ahead.picture(document) == (
        '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="2" viewBox="0 0 4 2">'
        '<path d="M0 0" /></svg>'
    )
    assert not ahead.picture(page(shown("<p>words</p>")))


def test_a_page_is_written_again_when_the_next_one_opens_otherwise() -> None:
    env = SimpleNamespace(
        found_docs={"a", "b"},
        metadata={"a": {"ahead": 1}, "b": {"ahead": 1}},
        collect_relations=lambda: {"a": [None, None, "b"], "b": [None, "a", None]},
    )
    assert ahead.renew(None, env) == ["a"]
    assert not ahead.renew(None, env)
    env.metadata["a"]["ahead"] = 2
    assert not ahead.renew(None, env)
    env.metadata["b"]["ahead"] = 2
    assert ahead.renew(None, env) == ["a"]
