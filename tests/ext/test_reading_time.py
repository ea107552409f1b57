"""What a page takes to read, where its first figure stands, and which bounds it misses."""

import pytest
from docutils import nodes
from docutils.utils import new_document
from sphinx_exercise.nodes import exercise_enumerable_node, solution_node

from sittings import (
    PICTURE_BY,
    Reader,
    Sitting,
    Span,
    emptiness,
    exercise_time,
    misses,
    reading_time,
    rounded,
    state_time,
)

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


def read(*parts: nodes.Node) -> Sitting:
    document = new_document("page")
    document += nodes.section("", *parts)
    return Reader(document).sitting


def test_the_time_of_each_kind_of_thing() -> None:
    sitting = read(words(200), cell("a = 1\n\nb = 2"), cell("draw()", drawing()),
                   nodes.math_block("", "x"))  # fmt: skip
    assert sitting.main == Span(words=200, code=4, figures=1, formulas=1)
    assert sitting.main.minutes == pytest.approx(1 + (4 * 5 + 20 + 30) / 60)


def test_a_formula_that_a_cell_shows_is_one() -> None:
    shown = bundle(text_plain="'x = 1'", text_latex=r"x = 1 \\ y = 2")
    assert read(cell("step", shown)).main == Span(code=1, formulas=1)


def test_a_formula_in_the_text_is_a_word() -> None:
    text = nodes.paragraph("", "", nodes.Text("where "), nodes.math("", r"a + b \le c"))
    assert read(text).main.words == 2


def test_folds_and_exercises_count_apart() -> None:
    exercises = nodes.section("", nodes.title("", "Exercises"), words(9), folded(words(5)))
    sitting = read(words(7), folded(words(30), cell("a = 1")), exercises)
    assert sitting.main.words == 7
    assert (sitting.deeper.words, sitting.deeper.code) == (31, 1)
    assert sitting.exercises.words == 1 + 9 + 1 + 5


def test_code_under_a_bar_takes_no_time_and_its_figure_does() -> None:
    sitting = read(cell("plumbing()\n" * 9, drawing(), tag="hide-input"))
    assert sitting.main == Span(figures=1)
    assert sitting.code_height == 0


def test_what_a_cell_prints_takes_room_alone() -> None:
    printed = cell("f()", nodes.literal_block("", "1 2 3\n4 5 6"), bundle(text_plain="7"))
    assert printed.children
    assert read(printed).main == Span(code=1)
    assert read(printed).height > read(cell("f()")).height


def test_a_table_that_a_cell_gives_is_read() -> None:
    table = bundle(text_html="<table><tr><td>two words</td></tr></table>")
    assert read(cell("show()", table, tag="hide-input")).main == Span(words=2)


def test_the_first_figure_is_placed() -> None:
    assert not read(words(10)).shows_early
    assert read(words(10), cell("draw()", drawing(), tag="hide-input")).shows_early
    assert not read(cell("draw()", drawing())).shows_early  # below its own code
    late = read(*[words(100)] * 20, cell("draw()", drawing(), tag="hide-input"))
    assert late.picture_at is not None
    assert late.picture_at > PICTURE_BY
    assert not late.shows_early


def test_a_figure_in_a_fold_is_none_of_the_main_line() -> None:
    assert read(folded(cell("draw()", drawing(), tag="hide-input"))).picture_at is None


@pytest.mark.parametrize("nothing", [cell("# a remark\n", tag="hide-input"), folded()])
def test_a_bar_that_unfolds_to_nothing_is_told(nothing: nodes.Element) -> None:
    assert list(emptiness(read(nothing)))
    assert not list(emptiness(read(cell("a = 1", tag="hide-input"), folded(words(1)))))


def test_each_bound_is_told_with_its_figure() -> None:
    picture = cell("draw()", drawing(), tag="hide-input")
    assert not list(misses(read(picture, words(900))))
    long = list(misses(read(picture, words(10_000))))
    assert len(long) == 1
    assert "50 minutes, the most is 45" in long[0]
    code = list(misses(read(picture, cell("a = 1\n" * 200))))
    assert len(code) == 1
    assert "% of the height" in code[0]
    assert "5 lines of code" in next(misses(read(cell("a = 1\n" * 5), picture, words(900))))


def test_a_page_may_miss_several_bounds() -> None:
    assert len(list(misses(read(cell("a = 1\n" * 2000), words(10_000))))) == 3


def test_times_are_stated_to_five_minutes() -> None:
    assert [rounded(minutes) for minutes in (1, 7.4, 7.6, 41)] == [5, 5, 10, 40]
    sitting = Sitting(main=Span(words=7000), deeper=Span(words=3000))
    assert reading_time(sitting) == "35 min, deeper parts 15"


def test_exercises_are_told_by_number_and_level() -> None:
    exercises = nodes.section("", nodes.title("", "Exercises"))
    for stars in ("★★", "★", "★★", "★★★"):
        title = nodes.title("", f"Exercise ({stars} Do it)")
        exercises += [exercise_enumerable_node("", title, words(9)), solution_node("", words(9))]
    sitting = read(words(7), exercises)
    assert exercise_time(sitting.levels) == "1\u00a0★, 2\u00a0★★, 1\u00a0★★★, about 65 min"
    assert sitting.main.words == 7


def test_a_project_says_its_own_time() -> None:
    document = new_document("page")
    line = nodes.paragraph("", "", nodes.strong("", "Exercises"), nodes.Text(" of some days"))
    document += nodes.admonition("", nodes.title("", "Glance"), line, classes=["at-a-glance"])
    state_time(document, Sitting(main=Span(words=4000), levels=[3]))
    assert line.astext().count("Exercises") == 1
    assert "30 min" not in line.astext()


def test_the_box_at_the_top_states_the_time() -> None:
    document = new_document("page")
    line = nodes.paragraph("", "", nodes.strong("", "Level"), nodes.Text(" core · "),
                           nodes.strong("", "Prerequisites"), nodes.Text(" none"))  # fmt: skip
    box = nodes.admonition("", nodes.title("", "At a glance"), line, classes=["at-a-glance"])
    document += box
    state_time(document, Sitting(main=Span(words=4000), levels=[1, 2]))
    assert line.astext() == (
        "Level core · Reading time 20 min · Exercises 1\u00a0★, 1\u00a0★★, about 20 min"
        " · Prerequisites none"
    )
