"""What answers a question is veiled until the reader is right, has missed twice, or has skipped it.

That nothing else is, and veils are low, is looked at on every page by `test_audit`; what the build
marks to be veiled, by `tests/ext/test_predict.py`. In the last veil of the page that is opened here
is a word that is nowhere else.
"""

import re
from collections.abc import Callable, Iterator
from itertools import product

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.axe import severe, thin
from tests.site.audit import DESKTOP, PHONE, SETTLED, VEILED
from tests.site.built import Site
from tests.support import sampled

GRAPHS = "chapters/foundations/computational-graph"
NOTES = ".veil-note"
INSIDE = '<p id="inside">Zanzibar</p>'
Open = Callable[..., Page]


def veils(text: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r'data-veil="([\w-]+)"', text)))


def with_a_word(text: str) -> str:
    return re.sub(
        rf'(<div class="cell_output answers-{veils(text)[-1]} .*?>)', rf"\1{INSIDE}", text
    )


def with_one_veil_of_two(text: str) -> str:
    first, second, *_ = veils(text)
    return text.replace(f'data-veil="{second}"', f'data-veil="{first}"')


@pytest.fixture
def opened(browser: Browser, site: Site, address: str) -> Iterator[Open]:
    contexts = []
    text = (site.folder / f"{GRAPHS}.html").read_text(encoding="utf-8")

    def open_page(
        more: str = "", change: Callable[[str], str] = with_a_word, **options: object
    ) -> Page:
        def answer(route: Route) -> None:
            route.fulfill(body=change(text), content_type="text/html; charset=utf-8")

        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.add_init_script(VEILED)
        page.on("pageerror", lambda error: pytest.fail(f"script error: {error}"))
        page.route(re.compile(rf"/{GRAPHS}\.html"), answer)
        page.goto(f"{address}/{GRAPHS}.html{more}")
        return page

    yield open_page
    for context in contexts:
        context.close()


def questions(page: Page) -> Locator:
    return page.locator("[data-veil]")


def output(page: Page, place: int = 0) -> Locator:
    """The output that answers the first question or, with -1, the last one."""
    return page.locator(".cell_output[class*='answers-']").nth(place)


def is_veiled(page: Page, place: int = 0, veiled: bool = True) -> None:
    expect(output(page, place).locator("> *").first).to_be_visible(visible=not veiled)


def predict(box: Locator) -> None:
    right = box.get_attribute("data-right") or ""
    if box.get_by_role("radio").count():
        box.get_by_role("radio").nth(int(right)).check()
    else:
        box.get_by_role("textbox").fill(right)
    box.get_by_role("button", name="Check").click()


def test_a_prediction_lifts_the_veil_and_asking_again_lowers_it(opened: Open) -> None:
    page = opened()
    is_veiled(page)
    predict(questions(page).first)
    is_veiled(page, veiled=False)
    page.reload()
    is_veiled(page, veiled=False)
    is_veiled(page, -1)
    questions(page).first.get_by_role("button", name="Ask me again").click()
    is_veiled(page)


@pytest.mark.parametrize("by_key", sampled([True, False], True))
def test_the_first_miss_gets_a_hint_and_the_second_the_answer(opened: Open, by_key: bool) -> None:
    page = opened()
    box = questions(page).first
    choices = box.get_by_role("radio")
    right = int(box.get_attribute("data-right") or "")

    def miss(number: int) -> None:
        wrong = [n for n in range(choices.count()) if n != right][number]
        if by_key:
            choices.nth(wrong).focus()
            page.keyboard.press("Space")
            page.keyboard.press("Enter")
        else:
            choices.nth(wrong).check()
            box.get_by_role("button", name="Check").click()
        expect(box.get_by_role("status")).to_contain_text("Not this")

    def answer_is_seen(seen: bool = True) -> None:
        is_veiled(page, veiled=not seen)
        expect(box.locator("details")).to_be_visible(visible=seen)

    for _ in range(2):  # the same guess is one miss
        miss(0)
        answer_is_seen(False)
    page.reload()
    expect(box.get_by_role("status")).to_contain_text("Not this")
    answer_is_seen(False)
    miss(1)
    answer_is_seen()
    page.reload()
    answer_is_seen()


@pytest.mark.walk
def test_two_questions_with_one_answer_have_one_veil(opened: Open) -> None:
    page = opened(change=with_one_veil_of_two)
    predict(questions(page).nth(0))
    is_veiled(page)
    predict(questions(page).nth(1))
    is_veiled(page, veiled=False)


def test_skipping_by_keyboard_is_kept_and_leads_on(opened: Open) -> None:
    page = opened()
    note = page.get_by_role("group", name="The answer comes next").first
    note.get_by_role("button", name="Skip the question").focus()
    page.keyboard.press("Enter")
    expect(output(page)).to_be_focused()
    is_veiled(page, veiled=False)
    page.reload()
    is_veiled(page, veiled=False)


@pytest.mark.walk
def test_who_wants_no_veils_has_none_on_any_page(opened: Open, address: str) -> None:
    page = opened()
    page.get_by_role("button", name="Never veil").first.click()
    expect(page.locator(NOTES)).to_have_count(0)
    page.goto(f"{address}/chapters/foundations/chain-rule.html")
    expect(questions(page).first).to_be_attached()
    expect(page.locator(NOTES)).to_have_count(0)
    page.goto(f"{address}/chapters/reference/progress.html")
    page.get_by_label("Veil the output").check()
    page.goto(f"{address}/{GRAPHS}.html")
    expect(page.locator(NOTES)).not_to_have_count(0)


def top(place: Locator) -> float:
    return float(place.evaluate("e => e.getBoundingClientRect().top"))


@pytest.mark.walk
def test_veils_above_are_lifted_without_moving_what_is_read(opened: Open) -> None:
    page = opened()
    note = page.locator(NOTES).last
    note.scroll_into_view_if_needed()
    before, height = top(note), page.evaluate("document.body.scrollHeight")
    note.get_by_role("button", name="Never veil").click()
    page.evaluate(SETTLED)
    assert page.evaluate("document.body.scrollHeight") > height
    assert abs(top(output(page, -1)) - before) <= 2


@pytest.mark.parametrize("at_once", sampled([True, False], True))
def test_a_link_leads_to_its_place_in_a_veil(opened: Open, at_once: bool) -> None:
    page = opened("#inside" if at_once else "")
    if not at_once:
        is_veiled(page, -1)
        page.evaluate("location.hash = 'inside'")
    is_veiled(page, -1, veiled=False)
    is_veiled(page)
    page.evaluate(SETTLED)
    assert 0 <= top(page.locator("#inside")) < 200


@pytest.mark.parametrize("more", ["?found=zanzibar#predict-{}", "#:~:text=Zanzibar"])
def test_what_is_found_is_unveiled(opened: Open, more: str) -> None:
    name = questions(opened()).last.get_attribute("data-veil")
    page = opened(more.format(name))
    is_veiled(page, -1, veiled=False)
    is_veiled(page)
    expect(page.locator("#inside")).to_be_in_viewport()


def test_paper_and_readers_without_scripts_have_no_veil(opened: Open) -> None:
    page = opened()
    is_veiled(page)
    page.emulate_media(media="print")
    is_veiled(page, veiled=False)
    expect(page.locator(NOTES).first).to_be_hidden()
    is_veiled(opened(java_script_enabled=False), veiled=False)


@pytest.mark.walk
def test_axe_finds_nothing_serious_under_a_veil(opened: Open) -> None:
    page = opened()
    thin(page)
    for theme, width in product(("light", "dark"), (PHONE, DESKTOP)):
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        assert not severe(page, within="main", colours=theme == "dark")
