"""The problems in a real browser: answered right and wrong, by keyboard, on a phone, come back."""

import gzip
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from chainlab import drill
from chainlab.drills import KINDS, problem
from chainlab.drills.draw.small_numbers import exact
from chainlab.drills.kinds import numpy_equations
from chainlab.drills.kinds.kind import LEVELS, Problem
from chainlab.drills.page.bank import bank, names
from chainlab.drills.page.drill import practice
from tests.axe import severe
from tests.site.built import Site
from tests.site.conftest import Show
from tests.site.live import COLD, impatient, put_python
from tests.support import ROOT, serve

PAGE = "chapters/practice/drills"
SCRIPTS = ("_ext/look/book.bundle.js", "_ext/progress/kept.js")
HEAVIEST = 150_000  # bytes, compressed, beyond what every page loads


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The problems on a page of their own, with what every page of the book has."""
    folder = tmp_path_factory.mktemp("drills")
    for script in SCRIPTS:
        (folder / Path(script).name).write_text((ROOT / script).read_text())
    for kind in KINDS:
        for name, level, first in names(kind):
            (folder / f"{name}.json").write_text(bank(kind, level, first))
    put_python(folder)
    scripts = "".join(f'<script defer src="{Path(script).name}"></script>' for script in SCRIPTS)
    (folder / "index.html").write_text(
        '<!doctype html><html lang="en" data-content_root="./"><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>Problems</title>{scripts}'
        f"<main><h1>Problems</h1>{practice('{}.json', PAGE)}</main>"
    )
    with serve(folder) as address:
        yield f"{address}/index.html"


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    with reader(browser, address) as page:
        yield page


@pytest.fixture(scope="module")
def kept_open(browsers: Callable[[str], Browser], address: str) -> Iterator[Page]:
    with reader(browsers(""), address) as page:
        yield page


@contextmanager
def reader(browser: Browser, address: str) -> Iterator[Page]:
    with browser.new_context() as context:
        page = context.new_page()
        page.on("pageerror", lambda error: pytest.fail(f"script error: {error}"))
        page.goto(address)
        yield page


@pytest.fixture
def with_python(kept_open: Page) -> Page:
    """The page of a new reader, in which Python runs since an earlier test."""
    kept_open.evaluate("localStorage.clear()")
    opened(kept_open, problem("local", 1, 1))
    return kept_open


def opened(page: Page, drawn: Problem) -> None:
    page.evaluate(f"location.hash = '{drawn.name}'")
    expect(page.locator(".cg-task")).to_have_attribute("data-name", drawn.name)


def said(page: Page) -> str:
    return page.locator(".cg-words").first.inner_text()


def check(page: Page) -> str:
    page.get_by_role("button", name="Check").dispatch_event("click")
    return judged(page)


def judged(page: Page) -> str:
    """What is said when Python, where it is asked, has answered."""
    for line in page.locator(".cg-asks[role=status]").all():
        expect(line).to_have_text("", timeout=COLD)
    return said(page)


def put(page: Page, texts: list[str]) -> None:
    """Write into the boxes."""
    page.evaluate(
        """texts => document.querySelectorAll(".cg-canvas input").forEach((box, i) => {
            box.value = texts[i] ?? "";
            box.dispatchEvent(new Event("input"));
        })""",
        texts,
    )


def press(page: Page, selector: str) -> None:
    page.locator(selector).dispatch_event("click")


# --- right and wrong, and what is said of it ----------------------------------------------------


def wrong_numbers(page: Page, drawn: Problem) -> list[str]:
    """Make each mistake that a number tells; the names of those that were made."""
    made, right = [], list(map(exact, drawn.right))
    for i, box in enumerate(drawn.entry["boxes"]):
        for name, number, *_ in box["mistakes"]:
            others = [x for other, x, *_ in box["mistakes"] if other != name] + [drawn.right[i]]
            if number is not None and all(x is None or abs(number - x) > 1e-9 for x in others):
                put(page, [*right[:i], repr(number)])
                assert check(page).startswith("✗")
                marked = page.locator(".cg-canvas input[aria-invalid]")
                expect(marked).to_have_attribute("aria-label", box["says"])
                made.append(name)
    return made


def right_numbers(page: Page, drawn: Problem) -> None:
    put(page, list(map(exact, drawn.right)))


def wrong_choices(page: Page, drawn: Problem) -> list[str]:
    for _, nodes in drawn.entry["wrong"]:
        choose(page, nodes)
        assert check(page).startswith("✗")
        choose(page, nodes)  # a second click takes it back
    return [name for name, _ in drawn.entry["wrong"]]


def right_choice(page: Page, drawn: Problem) -> None:
    choose(page, drawn.entry.get("order") or drawn.entry["right"])


def choose(page: Page, nodes: list[str]) -> None:
    for node in nodes:
        press(page, f".cg-canvas [data-node={node}]")


def wrong_messages(page: Page, drawn: Problem) -> list[str]:
    made = []
    for i, edge in enumerate(drawn.entry["edges"]):
        if i != drawn.entry["fault"]:
            press(page, f".cg-canvas button >> nth={i}")
            assert check(page).startswith("✗")
            made.append(edge["alike"] or "right")
    return made


def right_message(page: Page, drawn: Problem) -> None:
    press(page, f".cg-canvas button >> nth={drawn.entry['fault']}")


def lay(page: Page, lines: list[list[str]]) -> None:
    """Put tiles into lines, in the place of those that lie there."""
    page.evaluate(
        """lines => document.querySelectorAll(".cg-line").forEach((line, i) => {
            const lies = () => line.querySelector(".cg-bar button");
            while (lies()) lies().click();
            line.firstChild.click();
            const tiles = [...document.querySelectorAll(".cg-tray button")];
            for (const tile of lines[i] ?? []) tiles.find((x) => x.textContent === tile).click();
        })""",
        lines,
    )


def wrong_tiles(page: Page, drawn: Problem) -> list[str]:
    made = []
    right = [line["right"] for line in drawn.entry["lines"]]
    for i, line in enumerate(drawn.entry["lines"]):
        for name, tiles, _ in line["mistakes"]:
            lay(page, [*right[:i], tiles])
            assert check(page).startswith("✗")
            made.append(name)
    return made


def right_tiles(page: Page, drawn: Problem) -> None:
    lay(page, [line["right"] for line in drawn.entry["lines"]])


def type_lines(page: Page, lines: list[str]) -> None:
    for i, field in enumerate(page.locator(".cg-line input").all()):
        field.fill(lines[i] if i < len(lines) else "")


def wrong_lines(page: Page, drawn: Problem) -> list[str]:
    """Of each line one mistake of each name."""
    made: list[str] = []
    lines = drawn.entry["typed"]
    right = [line["right"] for line in lines]
    slips = numpy_equations.form(KINDS[drawn.kind].forms(drawn.level)[drawn.number]).slips
    for i, of_line in enumerate(slips):
        for slip in {slip.name: slip for slip in of_line if slip.name not in made}.values():
            type_lines(page, [*right[:i], slip.gives])
            assert check(page).startswith(f"✗ {lines[i]['label']}")
            marked = page.locator(".cg-line input[aria-invalid]")
            expect(marked).to_have_count(1)
            expect(marked).to_be_focused()
            made.append(slip.name)
    return made


def right_lines(page: Page, drawn: Problem) -> None:
    type_lines(page, [line["right"] for line in drawn.entry["typed"]])


WAYS = {
    "typed": (wrong_lines, right_lines),
    "keep": (wrong_choices, right_choice),
    "tiles": (wrong_tiles, right_tiles),
    "boxes": (wrong_numbers, right_numbers),
    "order": (wrong_choices, right_choice),
    "messages": (wrong_messages, right_message),
}


@pytest.mark.walk
@pytest.mark.parametrize("count", [2, pytest.param(40, marks=pytest.mark.full)])
@pytest.mark.parametrize("kind", KINDS)
def test_problems_are_solved_right_and_wrong(with_python: Page, kind: str, count: int) -> None:
    """Each mistake is called by its name, and what is right is right."""
    page = with_python
    wrong, right = WAYS[KINDS[kind].sheet]
    made = Counter[str]()
    for seed in range(1, count + 1):
        drawn = problem(kind, LEVELS[seed % 3], seed)
        opened(page, drawn)
        made.update(wrong(page, drawn))
        right(page, drawn)
        assert "✓ Right." in check(page)
    print(kind, dict(made))
    assert len(made) >= 4


@pytest.mark.parametrize("kind", ["adjoints", "messages", "orders", "shapes", "keep"])
def test_a_wrong_answer_gives_a_place_a_kind_and_a_number_one_by_one(page: Page, kind: str) -> None:
    drawn = problem(kind, 2, 1)
    opened(page, drawn)
    check(page)
    assert said(page) in ("Nothing is filled in yet.", "Nothing is chosen yet.",
                          "Choose a message first.", "Choose a value first.")  # fmt: skip
    ONE_WRONG[KINDS[kind].sheet](page, drawn)
    where, links = check(page), page.locator(".cg-words a")
    assert "You probably" not in where
    assert not links.count()
    named = check(page)
    assert ("You probably" in named) == (links.count() > 0)
    answered = check(page)
    assert page.locator(".cg-canvas .cg-on").count() > 0
    assert page.locator(".cg-task .chaingrad-player").count() == 1
    assert answered not in (where, named)
    if "boxes" in drawn.entry:
        right = exact(drawn.right[0])
        assert f"is {right}." in answered


ONE_WRONG: dict[str, Callable[[Page, Problem], None]] = {
    "boxes": lambda page, drawn: put(page, [repr(drawn.entry["boxes"][0]["mistakes"][0][1])]),
    "messages": lambda page, drawn: press(
        page, f".cg-canvas button >> nth={int(drawn.entry['fault'] == 0)}"
    ),
    "order": lambda page, drawn: choose(page, drawn.entry["wrong"][0][1]),
    "keep": lambda page, drawn: choose(page, drawn.entry["wrong"][0][1]),
    "tiles": lambda page, drawn: lay(page, [drawn.entry["lines"][0]["mistakes"][0][1]]),
}


PILLS = """() => [...document.querySelectorAll(".cg-canvas button")].map((pill) => {
    pill.scrollIntoView({block: "center"});
    const {left, top, width, height} = pill.getBoundingClientRect();
    const hit = document.elementFromPoint(left + width / 2, top + height / 2);
    return [hit === pill, pill.getAttribute("aria-label")];
})"""


@pytest.mark.walk
@pytest.mark.parametrize("width", [390, 1280])
def test_each_message_can_be_pressed_at_its_centre_and_has_a_name_of_its_own(
    page: Page, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    for seed in (*range(3, 28, 8), 1, 2, 4):
        opened(page, problem("messages", 3, seed))
        found = page.evaluate(PILLS)
        assert all(hit for hit, _ in found), seed
        assert len({name for _, name in found}) == len(found), seed


# --- lines that Python judges --------------------------------------------------------------------


@pytest.mark.walk
def test_python_comes_with_the_first_check_and_not_before(page: Page) -> None:
    asked: list[str] = []
    page.context.on("request", lambda request: asked.append(request.url))
    opened(page, problem("equations", 2, 1))
    assert check(page) == "Nothing is typed yet."
    type_lines(page, ["dH * (1 - H ** 2)"])
    page.locator(".cg-line input").nth(1).hover()
    assert not any("_live" in address for address in asked)
    assert check(page) == "1 of 4 is right so far. Type the others."
    assert any("_live/runtime/" in address for address in asked)
    assert not any("graphviz" in address or "matplotlib" in address for address in asked)
    assert page.locator(".cg-mark").all_text_contents() == ["✓", "", "", ""]
    expect(page.locator(".cg-line input").nth(1)).to_be_focused()
    workers = len(page.workers)
    for lines, words in [
        (["dH * (1 - H ** 2)", "dZ.sum(axis=1)"], "your line has the shape "),
        (["dH * (1 - h ** 2)"], "there is no h. There are np, X, W, b, Z, H, dH."),
        (["dH * (1 - H ** 2"], "was never closed"),
        (["dH * <b>"], "Python cannot read dH * <b>"),
        (["dH + Z"], "its entries are not: dZ[0, 0] is "),
        (["", "dZ"], "your line has the shape"),
        (["", "dZ"], "the shares of the rows are still to be added up"),
    ]:
        type_lines(page, lines)
        assert words.lower() in check(page).lower()
    assert len(page.workers) == workers == 1
    lesson = page.get_by_role("link", name="A batch, and softmax")
    assert "#why-the-gradient" in (lesson.get_attribute("href") or "")


@pytest.mark.walk
def test_lines_are_typed_by_keyboard_alone(with_python: Page) -> None:
    page = with_python
    drawn = problem("equations", 1, 2)
    opened(page, drawn)
    page.locator(".cg-line input").first.focus()
    for line in drawn.entry["typed"]:
        page.keyboard.type(line["right"])
        page.keyboard.press("Tab")
    page.locator(".cg-line input").last.focus()
    page.keyboard.press("Enter")
    assert "✓ Right." in judged(page)
    expect(page.get_by_role("button", name="Next")).to_be_focused()
    page.get_by_role("button", name="Show me").press("Enter")
    player = page.locator(".cg-task .chaingrad-player")
    player.get_by_role("slider").press("End")
    for line in drawn.entry["typed"]:
        expect(player).to_contain_text(f"{line['label']} = {line['right']}")


@pytest.mark.walk
def test_lines_stay_where_python_cannot_be_loaded_or_takes_too_long(with_python: Page) -> None:
    page = with_python
    drawn = problem("equations", 1, 1)
    opened(page, drawn)
    right_lines(page, drawn)
    assert "✓ Right." in check(page)
    type_lines(page, ["9 ** 9 ** 9 ** 9"])
    with impatient(page):
        assert "it ran for more than 5 s" in check(page)
    page.context.route("**/pyodide.mjs", lambda route: route.abort())
    right_lines(page, drawn)
    typed = [line["right"] for line in drawn.entry["typed"]]
    assert "Python could not be loaded" in check(page)
    assert [field.input_value() for field in page.locator(".cg-line input").all()] == typed
    page.context.unroute_all()
    assert "✓ Right." in check(page)
    assert page.evaluate(f"kept.read('{PAGE}').drills.equations.row") == 1


@pytest.mark.walk
def test_an_answer_of_python_is_for_the_problem_and_the_lines_it_was_asked_for(
    with_python: Page,
) -> None:
    page = with_python
    drawn = problem("equations", 1, 1)
    opened(page, drawn)
    right_lines(page, drawn)
    ask_and(page, 'box.value = "X"; box.dispatchEvent(new Event("input", { bubbles: true }));')
    assert "have changed meanwhile" in judged(page)
    right_lines(page, drawn)
    following = problem("equations", 1, 2).name
    ask_and(page, f'location.hash = "{following}"; dispatchEvent(new Event("hashchange"));')
    expect(page.locator(".cg-task")).to_have_attribute("data-name", following)
    page.wait_for_timeout(1000)
    assert said(page) == ""
    assert page.evaluate(f"kept.read('{PAGE}').drills") is None


def ask_and(page: Page, then: str) -> None:
    """Check and go on in one task of the page: Python cannot have answered between the two."""
    check = page.get_by_role("button", name="Check")
    check.evaluate(
        f"""button => {{
            const box = document.querySelector(".cg-line input");
            button.click();
            {then}
        }}"""
    )


def test_a_notebook_says_what_judges_lines(show: Show) -> None:
    shown = drill("equations", 2, 1)
    page = show(shown.html)
    type_lines(page, ["dH", 'np.tanh("Z")'])
    cell = 'drill("equations", 2, 1).check(dZ="dH", db="np.tanh(\\"Z\\")")'
    assert check(page) == f"Python runs in this notebook: {cell}"
    assert eval(cell, {"drill": drill}).at == 0


# --- the way through them -----------------------------------------------------------------------


def test_an_address_opens_one_problem_and_next_goes_along_its_series(page: Page) -> None:
    opened(page, problem("adjoints", 3, 7))
    data = page.locator(".cg-canvas [data-slot=data]").all_text_contents()
    page.reload()
    expect(page.locator(".cg-task")).to_have_attribute("data-name", "adjoints-3-7")
    assert page.locator(".cg-canvas [data-slot=data]").all_text_contents() == data
    page.get_by_role("button", name="Next").click()
    expect(page.locator(".cg-task")).to_have_attribute("data-name", "adjoints-3-8")
    page.go_back()
    expect(page.locator(".cg-task")).to_have_attribute("data-name", "adjoints-3-7")
    page.get_by_label("Practise").select_option("chain")
    expect(page.locator(".cg-task")).to_have_attribute("data-name", "chain-1-1")


def test_what_was_wrong_comes_back_and_five_in_a_row_pass_a_level(page: Page) -> None:
    page.get_by_label("Practise").select_option("chain")
    expect(page.locator(".cg-task")).to_have_attribute("data-name", "chain-1-1")
    came = []
    for turn in range(10):
        name = page.locator(".cg-task").get_attribute("data-name") or ""
        came.append(name)
        kind, level, seed = name.split("-")
        drawn = problem(kind, int(level), int(seed))
        if turn == 0:
            put(page, ["77"])
            page.get_by_role("button", name="Check").click()
            assert said(page).startswith("✗")
        right_numbers(page, drawn)
        assert "✓ Right." in check(page)
        expect(page.get_by_role("button", name="Next")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator(f".cg-task[data-name={name}]")).to_have_count(0)
    assert came[:3] == ["chain-1-1", "chain-1-2", "chain-1-3"]
    graphs = len(KINDS["chain"].forms(1))
    again = [int(name.split("-")[2]) for name in (came[3], came[7])]
    assert [seed % graphs for seed in again] == [1, 1]
    assert min(again) > 10
    assert came[-1].startswith("chain-2-")
    page.goto("about:blank")
    page.go_back()
    page.reload()
    kept = page.evaluate(f"kept.read('{PAGE}').drills.chain")
    assert kept["passed"] == 1
    assert kept["again"] == []


def test_the_map_shows_each_level_and_leads_there(page: Page) -> None:
    drawn = problem("chain", 1, 1)
    opened(page, drawn)
    right_numbers(page, drawn)
    check(page)
    cell = page.get_by_role("link", name="Adjoints on a chain, level 1: 1 of 5 in a row")
    expect(cell).to_have_text("1/5")
    page.set_viewport_size({"width": 360, "height": 640})
    box = page.locator(".cg-map").bounding_box()
    assert box is not None
    assert box["height"] < 640
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("link", name="Local gradients, level 2: not begun").click()
    expect(page.locator(".cg-task")).to_have_attribute("data-name", "local-2-1")
    expect(page.locator(".cg-map")).not_to_have_attribute("open", "")


def test_where_to_start_is_asked_and_kept(page: Page) -> None:
    page.get_by_role("button", name="Where should I start?").click()
    expect(page.locator(".cg-count")).to_contain_text("Where should I start?")
    names = []
    while "Where should I start?" in page.locator(".cg-count").inner_text():
        name = page.locator(".cg-task").get_attribute("data-name") or ""
        names.append(name)
        page.get_by_role("button", name="Next").click()
        expect(page.locator(f".cg-task[data-name={name}]")).to_have_count(0)
    assert 2 <= len(names) <= 6
    assert page.evaluate(f"kept.read('{PAGE}').drills.local") is None
    page.reload()
    advice = page.locator(".cg-start")
    expect(advice).to_contain_text("Begin with Computational graphs, and practise Local gradients")


def test_half_typed_answers_outlast_a_reload(page: Page) -> None:
    opened(page, problem("adjoints", 1, 2))
    put(page, ["1/3", "7"])
    page.reload()
    expect(page.locator(".cg-canvas input").nth(1)).to_have_value("7")
    opened(page, problem("shapes", 1, 1))
    lay(page, [["X"]])
    page.reload()
    expect(page.locator(".cg-line").first.locator(".cg-bar")).to_have_text("X")


def test_a_long_problem_is_judged_part_by_part(page: Page) -> None:
    drawn = problem("mlp", 1, 1)
    opened(page, drawn)
    right = list(map(exact, drawn.right))
    put(page, ["777"])
    assert check(page).startswith("✗")
    first = [box["part"] for box in drawn.entry["boxes"]].count("Forward, hidden layer")
    put(page, right[:first])
    assert check(page) == "✓ Forward, hidden layer. Next: Forward, output."
    put(page, right)
    assert "One part went wrong, so the row stays as it is." in check(page)
    kept = page.evaluate(f"kept.read('{PAGE}').drills.mlp")
    assert (kept["row"], len(kept["again"])) == (0, 2)


@pytest.mark.walk
def test_what_is_right_again_is_said_and_counted_once(page: Page) -> None:
    drawn = problem("chain", 1, 1)
    opened(page, drawn)
    for _ in range(2):
        right_numbers(page, drawn)
        assert "✓ Right." in check(page)
        assert page.evaluate(f"kept.read('{PAGE}').drills.chain.row") == 1
        put(page, ["77"])
        assert check(page).startswith("✗")


def test_the_keyboard_is_enough(page: Page) -> None:
    drawn = problem("adjoints", 2, 1)
    opened(page, drawn)
    page.locator(".cg-canvas input").first.focus()
    for number in map(exact, drawn.right):
        page.keyboard.type(number)
        page.keyboard.press("Tab")
    page.locator(".cg-canvas input").last.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".cg-words").first).to_contain_text("✓ Right.")
    page.keyboard.press("Enter")
    expect(page.locator(".cg-task")).to_have_attribute("data-name", "adjoints-2-2")
    assert page.evaluate("document.activeElement.matches('.cg-canvas input')")
    opened(page, problem("orders", 1, 1))
    page.locator(".cg-canvas g[role=button]").first.focus()
    page.keyboard.press("Space")
    first = page.locator(".cg-canvas g[role=button]").first
    assert (first.get_attribute("aria-label") or "").endswith(": number 1")
    drawn = problem("shapes", 1, 1)
    opened(page, drawn)
    for i, line in enumerate(drawn.entry["lines"]):
        page.locator(".cg-line > button").nth(i).press("Enter")
        page.locator(".cg-tray button").first.press("Enter")
        page.keyboard.press("Backspace")
        for tile in line["right"]:
            page.locator(".cg-tray").get_by_text(tile, exact=True).press("Enter")
    page.get_by_role("button", name="Check").press("Enter")
    expect(page.locator(".cg-words").first).to_contain_text("✓ Right.")


@pytest.mark.walk
def test_what_stands_in_the_graph_is_heard(page: Page) -> None:
    opened(page, problem("costs", 1, 1))
    heard = page.locator(".cg-canvas").aria_snapshot()
    for words in ("X no gradient (8, 3)", "W (3, 5)", "FLOPs of the adjoint of W, where Z = X W"):
        assert words in heard


def test_large_fills_the_screen_and_fills_in_one_box_after_the_other(page: Page) -> None:
    drawn = problem("chain", 1, 3)
    opened(page, drawn)
    fill = page.get_by_role("button", name="Fill the next box")
    expect(fill).to_be_hidden()
    small = page.locator(".cg-canvas input").first.bounding_box()
    page.get_by_role("button", name="Large").click()
    expect(page.get_by_role("button", name="Small")).to_be_visible()
    large = page.locator(".cg-canvas input").first.bounding_box()
    assert small is not None
    assert large is not None
    assert large["height"] > 1.5 * small["height"]
    for i, right in enumerate(drawn.right):
        fill.click()
        expect(page.locator(".cg-canvas input").nth(i)).to_have_value(exact(right))
    assert "✓ Right." in check(page)
    opened(page, problem("shapes", 1, 1))
    fill.click()
    expect(page.locator(".cg-line").first).to_contain_text("✓")
    page.get_by_role("button", name="Small").click()
    expect(fill).to_be_hidden()


def test_the_player_plays_the_problem(page: Page) -> None:
    drawn = problem("adjoints", 1, 2)
    opened(page, drawn)
    page.get_by_role("button", name="Show me").click()
    player = page.locator(".cg-task .chaingrad-player")
    player.get_by_role("slider").press("End")
    for box, right in zip(drawn.entry["boxes"], drawn.right, strict=True):
        at = player.locator(f".cg-live [data-node={box['node']}] [data-slot=grad]")
        expect(at).to_have_text(f"grad {exact(right)}")
    assert page.evaluate(f"kept.read('{PAGE}').drills.adjoints.again.length") == 2


@pytest.mark.walk
@pytest.mark.parametrize("width", [1000, 390])
def test_the_problem_and_the_player_call_nodes_and_operands_alike(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    drawn = problem("keep", 2, 9)
    opened(page, drawn)
    page.get_by_role("button", name="Show me").click()
    wanted = {node: f"{name} = {formula}" for node, (name, formula) in computed(drawn).items()}
    for drawing in (".cg-canvas", ".chaingrad-player .cg-live"):
        for node, text in wanted.items():
            group = page.locator(f".cg-task {drawing} [data-node={node}]").first
            expect(group.locator("text").first).to_have_text(text)


@pytest.mark.walk
@pytest.mark.parametrize("width", [1000, 390])
def test_the_player_writes_nothing_at_an_edge_before_its_step(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    opened(page, problem("messages", 2, 3))
    page.get_by_role("button", name="Show me").click()
    at_edges = page.locator(".cg-task .chaingrad-player .cg-live [data-from] text")
    assert at_edges.count() > 0
    assert not any(at_edges.all_text_contents())


def computed(drawn: Problem) -> dict[str, tuple[str, str]]:
    """What the operations of a problem are called, and made of, as the form has it."""
    letters = dict(zip("pqrs", drawn.names.values(), strict=True))
    lines = KINDS[drawn.kind].forms(drawn.level)[drawn.number].split("; ")
    renamed = [re.sub(r"\b[pqrs]\b", lambda m: letters[m[0]], line) for line in lines]
    pairs = [line.replace(" * ", " × ").split(" = ") for line in renamed]
    return {node: (name, by) for node, (name, by) in zip(drawn.names, pairs, strict=True)}


def in_view(page: Page, selector: str) -> bool:
    place = page.locator(selector).first.bounding_box()
    view = page.viewport_size
    assert place is not None
    assert view is not None
    return place["y"] >= -1 and place["y"] + place["height"] <= view["height"] + 1


@pytest.mark.walk
def test_what_answers_comes_into_view(browser: Browser, address: str) -> None:
    """A linked problem and the next, what is said below a long graph, and the player."""
    question, words, player = (
        ".cg-task > .cg-asks",
        ".cg-foot .cg-words",
        ".chaingrad-player .chaingrad-player .cg-live",
    )
    with browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True) as context:
        context.add_init_script("""addEventListener("DOMContentLoaded", () => {
            document.querySelector("h1").style.marginBlock = "1000px";
        })""")
        page = context.new_page()
        page.goto(f"{address}#mlp-1-2")
        expect(page.locator(".cg-task")).to_have_attribute("data-name", "mlp-1-2")
        assert in_view(page, question)
        put(page, ["777"])
        check(page)
        assert in_view(page, words)
        assert in_view(page, ".cg-canvas input[aria-invalid]")
        opened(page, problem("chain", 2, 3))
        assert in_view(page, question)
        page.get_by_role("button", name="Show me").dispatch_event("click")
        assert in_view(page, player)
        page.get_by_role("button", name="Next", exact=True).dispatch_event("click")
        expect(page.locator(".cg-task")).to_have_attribute("data-name", "chain-2-4")
        assert in_view(page, question)


@pytest.mark.walk
def test_a_finger_finds_the_buttons_and_the_cells_of_the_map(
    browser: Browser, address: str
) -> None:
    with browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    ) as context:
        page = context.new_page()
        page.goto(address)
        expect(page.locator(".cg-task")).to_have_count(1)
        pressed = page.locator(":is(.cg-map, .cg-choose, .cg-bar) :is(a, button, select, summary)")
        shown = [box for box in (one.bounding_box() for one in pressed.all()) if box]
        assert len(shown) > len(KINDS) * len(LEVELS)
        assert min(box["height"] for box in shown) >= 44


@pytest.mark.walk
def test_the_focus_goes_to_the_problem_that_was_chosen_in_the_map(page: Page) -> None:
    inside = "document.querySelector('.cg-task').contains(document.activeElement)"
    page.get_by_role("button", name="Where should I start?").press("Enter")
    expect(page.locator(".cg-count")).to_contain_text("Where should I start?")
    page.wait_for_function(inside)
    page.locator(".cg-map summary").press("Enter")
    page.get_by_role("link", name="Local gradients, level 2: not begun").press("Enter")
    expect(page.locator(".cg-task")).to_have_attribute("data-name", "local-2-1")
    page.wait_for_function(inside)


# What a finger misses, and what has a phone enlarge the page as one types.
SMALL = """(boxes) => boxes.filter((box) => {
    const { width, height } = box.getBoundingClientRect();
    return width < 24 || height < 24 ||
        (box.matches("input, button") && parseFloat(getComputedStyle(box).fontSize) < 16);
}).map((box) => box.outerHTML)"""


@pytest.mark.walk
@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 390)])
def test_axe_finds_nothing_serious_and_boxes_are_large_enough(
    browser: Browser, address: str, theme: str, width: int
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 844},
        color_scheme="dark" if theme == "dark" else "light",
    )
    page = context.new_page()
    page.goto(address)
    places = ":is(.cg-canvas, .cg-line, .cg-tray)"
    for kind in KINDS:
        opened(page, problem(kind, 3, 2))
        if KINDS[kind].sheet == "tiles":
            page.locator(".cg-tray button").first.click()
        check(page)
        assert not severe(page, within="main"), kind
        boxes = page.locator(f"{places} :is(input, button, g[role=button])")
        assert boxes.evaluate_all(SMALL) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), kind
    context.close()


def test_a_notebook_shows_the_same_problem(show: Show) -> None:
    drawn = problem("adjoints", 3, 7)
    page = show(drill("adjoints", 3, 7).html)
    right_numbers(page, drawn)
    assert "✓ Right." in check(page)


def test_the_problems_are_light() -> None:
    with_page = len(gzip.compress(practice("{}.json", PAGE).encode()))
    for kind in KINDS:
        for _, level, first in names(kind):
            assert with_page + len(gzip.compress(bank(kind, level, first).encode())) < HEAVIEST


def test_pages_lead_to_problems_of_what_they_taught(site: Site) -> None:
    for page in ("foundations/chain-rule", "mlp/forward-and-backward", "mlp/matrix-equations"):
        soup = site.soup(site.folder / "chapters" / f"{page}.html")
        links = soup.select("section a[href*='drills.html#']")
        names = [link["href"].partition("#")[2] for link in links]
        assert len(names) == 3
        for name, link in zip(names, links, strict=True):
            kind, level, seed = name.split("-")
            drawn = problem(kind, int(level), int(seed))
            assert drawn.name == name
            assert link.get_text() == f"{KINDS[kind].title}, level {level}"
