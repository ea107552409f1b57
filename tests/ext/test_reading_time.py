"""What a page takes to read, what stands above its first figure, and which bounds it misses."""

import pytest
from docutils import nodes
from docutils.utils import new_document
from sphinx_exercise.nodes import exercise_enumerable_node, solution_node

from about.reading_time import (
    Measures,
    Reader,
    Span,
    emptiness,
    exercise_time,
    missed_bounds,
    missed_time,
    reading_time,
    rounded,
    state_time,
)
from predict import predict
from tests.support import each

DRAWING = (
    '<div class="chaingrad-drawing"><svg class="chaingrad" width="500" height="200"></svg></div>'
)


def cell(source: str, *outputs: nodes.Node, tag: str = "") -> nodes.container:
    classes = ["cell", f"tag_{tag}"] if tag else ["cell"]
    made = nodes.container("", nb_element="cell_code", classes=classes)
    made += nodes.container("", nodes.literal_block("", source), nb_element="cell_code_source")
    if outputs:
        made += nodes.container("", *outputs, nb_element="cell_code_output")
    return made


def bundle(**kinds: str) -> nodes.container:
    made = nodes.container("", nb_element="mime_bundle")
    for kind, text in kinds.items():
        made += nodes.container("", nodes.Text(text), mime_type=kind.replace("_", "/"))
    return made


def drawing() -> nodes.container:
    return bundle(text_html=DRAWING, text_plain="Graph of many words that nobody sees")


def words(number: int) -> nodes.paragraph:
    return nodes.paragraph("", " ".join(["word"] * number))


def folded(*parts: nodes.Node) -> nodes.admonition:
    return nodes.admonition("", nodes.title("", "Deeper"), *parts, classes=["dropdown"])


def read(*parts: nodes.Node) -> Measures:
    document = new_document("page")
    document += nodes.section("", *parts)
    return Reader(document).measures


def test_the_time_of_each_kind_of_thing() -> None:
    measures = read(words(200), cell("a = 1\n\nb = 2"), cell("draw()", drawing()),
                   nodes.math_block("", "x"))  # fmt: skip
    assert measures.main == Span(words=200, code=4, figures=1, formulas=1)
    assert measures.main.minutes == pytest.approx(1 + (4 * 5 + 20 + 30) / 60)


def test_a_formula_that_a_cell_shows_is_one() -> None:
    shown = bundle(text_plain="'x = 1'", text_latex=r"x = 1 \\ y = 2")
    assert read(cell("step", shown)).main == Span(code=1, formulas=1)


def test_a_formula_in_the_text_is_a_word() -> None:
    text = nodes.paragraph("", "", nodes.Text("where "), nodes.math("", r"a + b \le c"))
    assert read(text).main.words == 2


def test_folds_and_exercises_count_apart() -> None:
    exercises = nodes.section("", nodes.title("", "Exercises"), words(9), folded(words(5)))
    measures = read(words(7), folded(words(30), cell("a = 1")), exercises)
    assert measures.main.words == 7
    assert (measures.deeper.words, measures.deeper.code) == (31, 1)
    assert measures.exercises.words == 1 + 9 + 1 + 5


def test_code_under_a_bar_takes_no_time_and_its_figure_does() -> None:
    measures = read(cell("plumbing()\n" * 9, drawing(), tag="hide-input"))
    assert measures.main == Span(figures=1)


def test_what_is_folded_and_asked_in_the_main_line_is_counted() -> None:
    plumbing = cell("one()\n\ntwo()", tag="hide-input")
    exercises = nodes.section("", nodes.title("", "Exercises"), predict(), plumbing.deepcopy())
    measures = read(cell("a = 1"), plumbing, predict(), folded(plumbing.deepcopy()), exercises)
    assert (measures.folded_cells, measures.folded_code, measures.predictions) == (1, 3, 1)


def test_what_a_cell_prints_takes_no_time_of_its_own() -> None:
    printed = cell("f()", nodes.literal_block("", "1 2 3\n4 5 6"), bundle(text_plain="7"))
    assert printed.children
    assert read(printed).main == Span(code=1)


def test_a_table_that_a_cell_gives_is_read() -> None:
    table = bundle(text_html="<table><tr><td>two words</td></tr></table>")
    assert read(cell("show()", table, tag="hide-input")).main == Span(words=2)


@pytest.mark.parametrize("nothing", [cell("# a remark\n", tag="hide-input"), folded()])
def test_a_bar_that_unfolds_to_nothing_is_told(nothing: nodes.Element) -> None:
    assert list(emptiness(read(nothing)))
    assert not list(emptiness(read(cell("a = 1", tag="hide-input"), folded(words(1)))))


def test_a_main_line_that_takes_too_long_is_told_with_its_minutes() -> None:
    assert not list(missed_time(read(words(900))))
    (long,) = missed_time(read(words(10_000)))
    assert "50 minutes, the most is 45" in long


def told(**different: int) -> Measures:
    """A told page that keeps to the bounds, in all but what is named."""
    count = {"words": 2400, "code": 60, "folded": 6, "asks": 3} | different
    folds = [cell("f()\n" * (5 if i else 15), tag="hide-input") for i in range(count["folded"])]
    asks = [predict() for _ in range(count["asks"])]
    return read(words(count["words"]), cell("a = 1\n" * count["code"]), *folds, *asks)


@each(
    ("different", "said"),
    [
        ({}, ""),
        ({"words": 2401}, "2,401 words, the most is 2,400"),
        ({"code": 59}, "59 % of the main line's code is visible, the least is 60 %"),
        ({"folded": 7, "code": 90}, "7 folded cells, the most is 6"),
        ({"asks": 2}, "2 predictions stand before the exercises: 3 to 5 should"),
        ({"asks": 6}, "6 predictions"),
        ({"code": 0, "folded": 0}, ""),
    ],
)
def test_a_bound_that_a_told_page_misses_is_told(different: dict[str, int], said: str) -> None:
    missed = list(missed_bounds(told(**different)))
    assert len(missed) == bool(said)
    assert said in "".join(missed)


def test_a_page_may_state_another_bound_with_its_reason() -> None:
    measures = told(words=2500)
    measures.stated = {"words": 2600, "because": "it walks through all numbers by hand"}
    assert not list(missed_bounds(measures))
    assert measures.bounds["screens"] == 13
    for wrong in ({"words": 2600}, {"word": 2100, "because": "so"}):
        measures.stated = wrong
        assert "name some of words, visible" in next(missed_bounds(measures))


def test_how_a_page_is_checked_counts_nowhere() -> None:
    heading = nodes.title("", "How this page is checked")
    checks = nodes.section("", heading, words(9), cell("assert 1", tag="hide-input"))
    measures = read(words(7), checks)
    assert measures == Measures(main=Span(words=7))


def test_times_are_stated_to_five_minutes() -> None:
    assert [rounded(minutes) for minutes in (1, 7.4, 7.6, 41)] == [5, 5, 10, 40]
    measures = Measures(main=Span(words=7000), deeper=Span(words=3000))
    assert reading_time(measures) == "35 min, deeper parts 15"


def test_exercises_are_told_by_number_and_level() -> None:
    exercises = nodes.section("", nodes.title("", "Exercises"))
    for stars in ("★★", "★", "★★", "★★★"):
        title = nodes.title("", f"Exercise ({stars} Do it)")
        exercises += [exercise_enumerable_node("", title, words(9)), solution_node("", words(9))]
    measures = read(words(7), exercises)
    assert exercise_time(measures.levels) == "1\u00a0★, 2\u00a0★★, 1\u00a0★★★, about 65 min"
    assert measures.main.words == 7


def test_a_project_says_its_own_time() -> None:
    document = new_document("page")
    line = nodes.paragraph("", "", nodes.strong("", "Exercises"), nodes.Text(" of some days"))
    document += nodes.admonition("", nodes.title("", "Glance"), line, classes=["at-a-glance"])
    state_time(document, Measures(main=Span(words=4000), levels=[3]))
    assert line.astext().count("Exercises") == 1
    assert "30 min" not in line.astext()


def test_the_box_at_the_top_states_the_time() -> None:
    document = new_document("page")
    line = nodes.paragraph("", "", nodes.strong("", "Level"), nodes.Text(" core · "),
                           nodes.strong("", "Prerequisites"), nodes.Text(" none"))  # fmt: skip
    box = nodes.admonition("", nodes.title("", "At a glance"), line, classes=["at-a-glance"])
    document += box
    state_time(document, Measures(main=Span(words=4000), levels=[1, 2]))
    assert line.astext() == (
        "Level core · Reading time 20 min · Exercises 1\u00a0★, 1\u00a0★★, about 20 min"
        " · Prerequisites none"
    )
