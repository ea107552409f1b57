"""The built site in a real browser: search, themes, the keyboard, paper."""

import string
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.site.audit import DESKTOP, IDLE
from tests.support import sampled


@pytest.mark.parametrize(
    ("word", "found"),
    sampled(
        [("micrograd", "atlas/engine-beside-its-peers"), ("torchrun", "atlas/several-processes")],
        ("micrograd", "atlas/engine-beside-its-peers"),
    ),
)
def test_search_finds_a_word_by_keyboard(
    browser: Browser, address: str, word: str, found: str
) -> None:
    page = browser.new_page(viewport={"width": DESKTOP, "height": 900})
    page.goto(f"{address}/chapters/reference/notation.html")
    page.keyboard.press("Control+k")
    page.keyboard.type(word)
    page.keyboard.press("Enter")
    results = page.locator("#search-results li a")
    results.first.wait_for()
    addresses = [str(link.get_attribute("href")) for link in results.all()]
    assert any(f"{found}.html" in address for address in addresses)
    assert not any("reference/notation.html" in address for address in addresses)
    results.first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "search.html" not in url)
    assert word in page.locator("main").inner_text().lower()
    page.close()


def test_search_says_when_nothing_is_found(browser: Browser, address: str) -> None:
    page = browser.new_page()
    page.goto(f"{address}/search.html?q=zyzzyva")
    page.get_by_text("Nothing in the course matches “zyzzyva”").wait_for()
    page.close()


PRINTABLE = string.digits + string.ascii_letters + string.punctuation + " ."
EDITORS = {
    "cell": ("foundations/computational-graph", "div.cell"),
    "answer": ("practice/your-problems", ".live-answer"),
    "file": ("practice/own-engine", "div.cell:has(.live-download)"),
    "workbench": ("practice/workbench", "#workbench"),
}


def type_by_keyboard(page: Page, text: str) -> None:
    page.keyboard.type(text)


def type_by_phone(page: Page, text: str) -> None:
    """A keyboard on the screen doesn't say which key it was: the text comes by itself."""
    session = page.context.new_cdp_session(page)
    key = {"key": "Unidentified", "windowsVirtualKeyCode": 229}
    for letter in text:
        session.send("Input.dispatchKeyEvent", {"type": "rawKeyDown", **key})
        session.send("Input.insertText", {"text": letter})
        session.send("Input.dispatchKeyEvent", {"type": "keyUp", **key})


def emptied_editor(page: Page, place: str) -> Locator:
    """The first editor there, opened if need be, with the focus and no text in it."""
    box = page.locator(f"{place}:has(.live-edit:visible, .cm-content:visible)").first
    opens = box.locator(".live-edit")
    if opens.count():
        opens.click()
    text = box.locator(".cm-content")
    text.click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.press("Delete")
    return text


@pytest.mark.parametrize("type_in", [type_by_keyboard, type_by_phone])
@pytest.mark.parametrize("kind", EDITORS)
def test_every_character_can_be_typed_into_an_editor(
    browser: Browser, address: str, kind: str, type_in: Callable[[Page, str], None]
) -> None:
    """And the keys that scripts of a page listen to stay in the editor."""
    name, place = EDITORS[kind]
    page = browser.new_page(viewport={"width": DESKTOP, "height": 900})
    page.goto(f"{address}/chapters/{name}.html")
    text = emptied_editor(page, place)
    type_in(page, PRINTABLE)
    for key in ("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"):
        page.keyboard.press(key)
    expect(text).to_be_focused()
    assert text.text_content() == PRINTABLE
    page.close()


@pytest.mark.parametrize("name", ["reference/symptoms", "frameworks/pytorch-backward"])
def test_what_most_cells_of_a_page_need_is_said_once(
    browser: Browser, address: str, name: str
) -> None:
    page = browser.new_page(viewport={"width": DESKTOP, "height": 900})
    page.goto(f"{address}/chapters/{name}.html")
    need = page.locator(".live-need")
    expect(need).to_contain_text("needs torch")
    expect(need.get_by_role("link")).not_to_have_count(0)
    expect(page.locator(".live-bar:visible", has_text="needs torch")).to_have_count(0)
    page.close()


def test_theme_switches(browser: Browser, address: str) -> None:
    """The theme button changes the theme, and drawings follow it."""
    page = browser.new_page(color_scheme="light", viewport={"width": DESKTOP, "height": 900})
    page.goto(f"{address}/chapters/foundations/computational-graph.html")
    look = """() => [document.documentElement.dataset.theme,
        getComputedStyle(document.querySelector('svg.chaingrad text')).fill]"""
    seen = {tuple(page.evaluate(look))}
    for mode in ("light", "dark"):  # from the system's choice on; newer themes open a menu
        page.locator("button.theme-switch-button:visible").first.click()
        if (choice := page.locator(f"[data-mode={mode}].theme-change-button:visible")).count():
            choice.click()
        seen.add(tuple(page.evaluate(look)))
    assert {theme for theme, _ in seen} == {"light", "dark"}
    assert len({ink for _, ink in seen}) == 2
    page.close()


def test_keyboard_reaches_the_content_first(browser: Browser, address: str) -> None:
    page = browser.new_page()
    page.goto(f"{address}/chapters/intro.html")
    page.keyboard.press("Tab")
    assert "main content" in page.evaluate("document.activeElement.textContent")
    page.close()


PAPER = 718  # pixels, of A4 with margins of 1 cm
ON_PAPER = """() => {
    const seen = (choice) => [...document.querySelectorAll(`main ${choice}`)]
        .filter((e) => e.checkVisibility({ opacityProperty: true }));
    return {
        folded: document.querySelectorAll(
            "details:not([open], .solution, .predict > *, .checked > *)").length,
        answers: seen(":is(.predict > details, .solution) > :not(summary)").length > 0,
        fading: document.getAnimations().length,
        code: seen(".cell:not(.checked) .cell_input pre").length > 0,
        controls: [
            ...seen(".predict :is(button, input)"), ...seen(".copybtn"),
            ...seen(".cell:not(.checked) > details.hide > summary"),
        ].length,
        claims: seen(".cell.checked > details.hide > summary").length > 0,
        cut: seen("table").filter((e) => e.getBoundingClientRect().right > innerWidth).length,
    };
}"""


@pytest.mark.walk
@pytest.mark.parametrize("answers", [False, True])
@pytest.mark.parametrize("name", ["foundations/bug-museum", "cost/memory-and-rematerialization"])
def test_on_paper_all_is_light_unfolded_and_there(
    browser: Browser, address: str, name: str, answers: bool
) -> None:
    """But for the answers, unless the reader has unfolded them."""
    page = browser.new_page(color_scheme="dark", viewport={"width": PAPER, "height": 1040})
    page.goto(f"{address}/chapters/{name}.html")
    page.evaluate(IDLE)
    if answers:
        page.get_by_role("button", name="Unfold all answers").click()
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("article h1 .section-number").is_visible()
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    assert page.evaluate(ON_PAPER) == {
        "folded": 0, "answers": answers, "fading": 0, "code": True, "controls": 0,
        "claims": True, "cut": 0,
    }  # fmt: skip
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.close()
