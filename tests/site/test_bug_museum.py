"""*Break it* in a real browser: played right and wrong, by keyboard, on a phone, on paper."""

import re
from functools import cache
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from chainlab.lessons.bug_museum import CHANGES, break_it, what_catches_what
from chainview.figures.figure import Figure
from tests.axe import severe
from tests.claims.test_bug_museum import PAGE, TESTS
from tests.claims.test_chain_rule import defined
from tests.site.audit import DESKTOP, OVERFLOW, PHONE, reading
from tests.site.conftest import Show
from tests.support import sampled


@cache
def game_of_page() -> Figure:
    """The game with the tests of its page, which all run."""
    return break_it(of_page())


def of_page() -> list[Any]:
    return [defined(PAGE)[name] for name in TESTS]


def question(game: Locator, number: int) -> Locator:
    """The first or the second question of a round."""
    return game.locator("fieldset").nth(number)


def answer(game: Locator, number: int, text: str) -> str:
    """Give an answer; what is said of it."""
    asked = question(game, number)
    asked.get_by_role("button", name=re.compile(rf"^{re.escape(text)}( [✓✗])?$")).click()
    return asked.get_by_role("status").inner_text()


def pick(game: Locator, change: dict[str, Any]) -> None:
    game.get_by_role("button", name=re.compile(rf"^\d+\. {re.escape(change['name'])}")).click()


@pytest.fixture
def page(show: Show) -> Page:
    return show(game_of_page().html, viewport={"width": PHONE, "height": 900})


@pytest.mark.parametrize("place", sampled(range(len(CHANGES)), 0))
def test_a_round_answers_every_guess(page: Page, place: int) -> None:
    game, data = page.locator(".chaingrad-museum"), game_of_page().data
    change = data["changes"][place]
    pick(game, change)
    expect(game.locator("pre")).to_contain_text(change["new"])
    expect(question(game, 1)).to_be_hidden()

    for guess in sorted(change["guesses"], key=lambda guess: guess["right"]):  # the right one last
        said = answer(game, 0, guess["text"])
        assert said.startswith("Yes, " if guess["right"] else "Not ")
        assert question(game, 1).is_visible() == guess["right"]

    end = game.locator(".cg-end")
    for sees, test in sorted(zip(change["seen"], data["tests"], strict=True), key=lambda x: x[0]):
        said = answer(game, 1, test["name"])
        assert said.startswith("Yes." if sees else "It passes")
        assert end.is_visible() == sees
    expect(end).to_contain_text(change["kind"])
    expect(end.get_by_role("link").first).to_have_attribute("href", re.compile("^https://github"))
    expect(game.locator(".cg-words")).to_contain_text("1 of 10 played")
    assert page.evaluate(OVERFLOW) <= 0
    assert not severe(page, within=".chaingrad-museum")


def test_first_guesses_are_counted_and_rounds_are_kept(page: Page) -> None:
    game, changes = page.locator(".chaingrad-museum"), game_of_page().data["changes"]
    for change in changes[:3]:
        pick(game, change)
        wrong, right = ([g["text"] for g in change["guesses"] if g["right"] == r] for r in (0, 1))
        if change is changes[2]:
            answer(game, 0, wrong[0])
        answer(game, 0, right[0])
        answer(game, 1, TESTS[change["seen"].index(True)].replace("_", " "))
    expect(game.locator(".cg-words")).to_have_text(
        "3 of 10 played. Your first guess was right for 2 of the numbers and 3 of the tests."
    )
    pick(game, changes[0])  # it is as it was left
    expect(game.locator(".cg-end")).to_be_visible()
    answer(game, 0, "2.976")  # too late to count
    expect(game.locator(".cg-words")).to_contain_text("2 of the numbers")
    game.get_by_role("button", name="Next change").click()
    expect(game.get_by_role("button", name="4. no visited")).to_be_focused()
    expect(game.locator(".cg-end")).to_be_hidden()


def test_it_is_played_without_a_mouse(page: Page) -> None:
    game = page.locator(".chaingrad-museum")
    game.get_by_role("button").first.focus()
    for _ in range(9):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    chosen = game.get_by_role("button", name="10. parents as a set")
    expect(chosen).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Tab")
    page.keyboard.press(" ")
    expect(question(game, 0).get_by_role("status")).to_contain_text("Yes, 1.488.")
    for _ in range(4):  # past the other two numbers, to the second test
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(question(game, 1).get_by_role("status")).to_have_text(
        "Yes. “same twice” fails with this engine."
    )
    for _ in range(8):
        page.keyboard.press("Tab")
    expect(game.get_by_role("button", name="Next change")).to_be_focused()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_reads_well_in_both_themes(show: Show, scheme: str) -> None:
    head = ' data-theme="dark" style="background:#121212;color:#eee"' if scheme == "dark" else ""
    page = show(game_of_page().html, what_catches_what(of_page()).html, head=head)
    game = page.locator(".chaingrad-museum").first
    game.get_by_role("button").nth(4).click()
    answer(game, 0, "5.952")
    answer(game, 0, "16.15")
    answer(game, 1, "two passes")
    assert not severe(page, within=".chaingrad-museum")


def test_without_a_script_and_on_paper_the_ten_changes_are_listed(browser: Browser) -> None:
    html = f'<!doctype html><html lang="en"><body>{game_of_page().html}'
    for script in (False, True):
        context = browser.new_context(java_script_enabled=script)
        page = context.new_page()
        page.set_content(html)
        page.emulate_media(media="print")
        expect(page.locator(".cg-still li")).to_have_count(len(CHANGES))
        expect(page.locator(".cg-still li").first).to_be_visible()
        expect(page.locator(".cg-live")).to_be_hidden()
        context.close()


def test_the_table_fits_a_phone_and_is_read_aloud(show: Show) -> None:
    page = show(what_catches_what(of_page()).html, viewport={"width": PHONE, "height": 900})
    row = page.get_by_role("row", name=re.compile("a minus lost"))
    expect(row).to_contain_text("sees it")
    assert row.get_by_text("doesn't").count() == len(TESTS) - 1
    assert page.evaluate(OVERFLOW) <= 0
    still = page.locator(".cg-still")
    assert still.evaluate("e => e.scrollWidth <= e.clientWidth")
    assert not severe(page, within=".chaingrad-museum")


@pytest.mark.walk
def test_the_page_has_the_game_and_it_plays(browser: Browser, address: str) -> None:
    with reading(browser, address, DESKTOP, "light") as opened:
        opened.open(f"chapters/{PAGE}")
        game = opened.page.locator(".chaingrad-museum").first
        change = game_of_page().data["changes"][2]
        pick(game, change)
        assert answer(game, 0, "1.701").startswith("Yes")
        assert answer(game, 1, "the books").startswith("Yes")
        opened.page.set_viewport_size({"width": PHONE, "height": 900})
        assert opened.page.evaluate(OVERFLOW) <= 0
        assert not opened.errors
