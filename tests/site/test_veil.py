"""What follows a question of a main line is veiled until one has predicted, or skipped it.

That nothing of an answer is seen, and veils are low, is looked at on every page by `test_audit`.
"""

from collections.abc import Callable, Iterator
from itertools import product

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.axe import severe, thin
from tests.site.audit import DESKTOP, PHONE, SEEN, SETTLED, VEILED

GRAPHS = "chapters/foundations/computational-graph"
Open = Callable[..., Page]


@pytest.fixture
def opened(browser: Browser, address: str) -> Iterator[Open]:
    contexts = []

    def open_page(document: str, more: str = "", **options: object) -> Page:
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.add_init_script(VEILED)
        page.on("pageerror", lambda error: pytest.fail(f"script error: {error}"))
        page.goto(f"{address}/{document}.html{more}")
        return page

    yield open_page
    for context in contexts:
        context.close()


def test_a_prediction_lifts_the_veil_and_asking_again_lowers_it(opened: Open) -> None:
    page = opened(GRAPHS)
    veil = page.locator(".veil").first
    box = page.locator("#predict-at-once")
    box.get_by_label("4").check()
    box.get_by_role("button", name="Look").click()
    expect(veil).not_to_have_class("veil veiled")
    page.reload()
    expect(veil).not_to_have_class("veil veiled")
    expect(page.locator(".veiled")).not_to_have_count(0)  # of the other questions
    box.get_by_role("button", name="Ask me again").click()
    expect(veil).to_have_class("veil veiled")


def test_two_questions_in_a_row_have_one_veil(opened: Open) -> None:
    page = opened("chapters/cost/many-devices")
    veil = page.locator(".veil").first
    for name in ("summed-by-batch", "summed-by-units"):
        expect(veil).to_have_class("veil veiled")
        box = page.locator(f"#predict-{name}")
        box.get_by_label("the losses" if "batch" in name else "the outputs").check()
        box.get_by_role("button", name="Look").click()
    expect(veil).not_to_have_class("veil veiled")


def test_skipping_by_keyboard_is_kept_and_leads_on(opened: Open) -> None:
    page = opened(GRAPHS)
    page.locator("#predict-at-once").get_by_role("button", name="Look").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".veil").first).to_be_focused()
    page.keyboard.press("Tab")
    assert page.evaluate("document.querySelector('.veil').contains(document.activeElement)")
    page.reload()
    expect(page.locator(".veil").first).not_to_have_class("veil veiled")


@pytest.mark.walk
def test_who_wants_no_veils_has_none_on_any_page(opened: Open, address: str) -> None:
    page = opened(GRAPHS)
    page.get_by_role("button", name="Never veil").first.click()
    expect(page.locator(".veiled")).to_have_count(0)
    page.goto(f"{address}/chapters/foundations/chain-rule.html")
    expect(page.locator(".veil").first).to_be_attached()
    expect(page.locator(".veiled")).to_have_count(0)
    page.goto(f"{address}/chapters/reference/progress.html")
    page.get_by_label("Veil what follows").check()
    page.goto(f"{address}/{GRAPHS}.html")
    expect(page.locator(".veiled")).not_to_have_count(0)


def top(page: Page, choice: str) -> float:
    return float(page.locator(choice).first.evaluate("e => e.getBoundingClientRect().top"))


def test_veils_above_are_lifted_without_moving_what_is_read(opened: Open) -> None:
    page = opened(GRAPHS)
    page.locator(".veiled").last.scroll_into_view_if_needed()
    page.locator(".veil").last.evaluate("e => { e.id = 'last'; }")
    before, height = top(page, "#last"), page.evaluate("document.body.scrollHeight")
    page.locator("#last").get_by_role("button", name="Never veil").click()
    page.evaluate(SETTLED)
    assert page.evaluate("document.body.scrollHeight") > height + 1000
    assert abs(top(page, "#last") - before) <= 2


@pytest.mark.walk
@pytest.mark.parametrize("at_once", [True, False])
def test_a_link_leads_to_its_place_in_a_veil(opened: Open, at_once: bool) -> None:
    inside = "equation-eq-exercises-bias"
    page = opened("chapters/mlp/exercises", f"#{inside}" if at_once else "")
    if not at_once:
        page.evaluate("id => { location.hash = id; }", inside)
    page.wait_for_function(f"document.getElementById('{inside}').checkVisibility()")
    page.evaluate(SETTLED)
    assert 0 <= top(page, f"#{inside}") < 200


def test_a_link_and_a_search_hit_into_a_veil_lift_it(opened: Open) -> None:
    page = opened(GRAPHS)
    inside = page.locator(".veil").first.locator("[id]").first.get_attribute("id")
    page.evaluate("id => location.hash = id", inside)
    expect(page.locator(".veil").first).not_to_have_class("veil veiled")
    page = opened(GRAPHS, "?found=wrong+watch#the-order-matters")
    expect(page.locator(".veil").first).not_to_have_class("veil veiled")


def test_paper_and_readers_without_scripts_have_no_veil(opened: Open) -> None:
    page = opened(GRAPHS)
    page.emulate_media(media="print")
    assert len(page.evaluate(SEEN)) > 10
    expect(page.locator(".veil-note").first).to_be_hidden()
    page = opened(GRAPHS, java_script_enabled=False)
    expect(page.get_by_text("The answer is 6.")).to_be_visible()


@pytest.mark.walk
def test_axe_finds_nothing_serious_under_a_veil(opened: Open) -> None:
    page = opened(GRAPHS)
    thin(page)
    for theme, width in product(("light", "dark"), (PHONE, DESKTOP)):
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        assert not severe(page, within="main", colours=theme == "dark")
