"""What follows a question of a main line is veiled until one has predicted, or skipped it."""

from collections.abc import Callable, Iterator
from itertools import product

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.axe import severe
from tests.site.audit import DESKTOP, PHONE
from tests.site.built import toc_documents
from tests.support import ROOT

ASKING = [name for name in toc_documents() if "{predict}" in (ROOT / f"{name}.md").read_text()]
GRAPHS = "chapters/foundations/computational-graph"
Open = Callable[..., Page]

# Take back that a test reader has nothing veiled, once: what is kept later stays.
VEILED = """if (!sessionStorage.veiled) {
    sessionStorage.veiled = 1;
    localStorage.setItem("backpropagation-course/reading", "{}");
}"""
# The texts that one sees between a question and the next heading, the questions left out.
SEEN = """() => {
    const around = document.querySelector("article");
    const after = (one, other) => one.compareDocumentPosition(other) & 4;
    const headings = [...around.querySelectorAll("h1, h2, h3, h4")];
    return [...around.querySelectorAll(".predict")]
        .filter((box) => !box.closest(".exercise, details"))
        .flatMap((box) => {
            const end = headings.find((heading) => after(box, heading));
            const walker = document.createTreeWalker(around, NodeFilter.SHOW_TEXT);
            const seen = [];
            while (walker.nextNode()) {
                const { currentNode: text, currentNode: { parentElement: place } } = walker;
                if (!text.data.trim() || !after(box, text) || (end && !after(text, end))) continue;
                if (place.closest(".predict, .veil-note, script, style, .work")) continue;
                if (place.checkVisibility({ visibilityProperty: true })) seen.push(text.data);
            }
            return seen;
        });
}"""
PLACES = """() => [...document.querySelectorAll("article :is(p, pre, svg, table, h2, h3)")]
    .filter((each) => each.getClientRects().length && !each.closest(".veil-note"))
    .map((each) => Math.round(each.getBoundingClientRect().top + scrollY))"""


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


@pytest.mark.parametrize("asking", ASKING)
def test_no_answer_is_seen_before_one_has_predicted(opened: Open, asking: str) -> None:
    page = opened(asking)
    veils = page.locator(".veil").count()
    assert page.locator(".veiled").count() == veils > 0
    assert page.evaluate(SEEN) == []
    before = page.evaluate(PLACES)
    for _ in range(veils):
        page.get_by_role("button", name="Skip the question").first.click()
    expect(page.locator(".veiled")).to_have_count(0)
    assert len(page.evaluate(SEEN)) > 10
    assert page.evaluate(PLACES) == before


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


def test_axe_finds_nothing_serious_under_a_veil(opened: Open) -> None:
    page = opened(GRAPHS)
    for theme, width in product(("light", "dark"), (PHONE, DESKTOP)):
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        assert not severe(page, within="main")
