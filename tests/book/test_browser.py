"""The built site in a real browser: both themes, phone and desktop."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Browser, Page

PHONE, DESKTOP = 390, 1280

# How far anything reaches beyond the window, boxes that scroll by themselves left aside.
OVERFLOW = """() => Math.max(document.documentElement.scrollWidth, document.body.scrollWidth)
    - document.documentElement.clientWidth"""
MATHEMATICS = """async () => {
    const formulas = document.querySelectorAll('.math').length;
    if (formulas) await MathJax.startup.promise;
    return {
        formulas,
        typeset: document.querySelectorAll('mjx-container').length,
        errors: [...document.querySelectorAll('mjx-merror')].map((e) => e.textContent),
    };
}"""


@dataclass
class Reading:
    """One page opened in one window, and what went wrong while it loaded."""

    page: Page
    origin: str
    errors: list[str] = field(default_factory=list)

    def listen(self) -> None:
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self._console)
        self.page.on("requestfailed", lambda request: self.errors.append(f"failed {request.url}"))

    def _console(self, message) -> None:
        if message.type == "error":
            self.errors.append(message.text)

    def open(self, document: str) -> None:
        self.page.goto(f"{self.origin}/{document}.html")
        self.page.wait_for_load_state("networkidle")


@pytest.fixture(params=["light", "dark"])
def theme(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(params=[PHONE, DESKTOP])
def width(request: pytest.FixtureRequest) -> int:
    return request.param


@pytest.fixture
def reading(browser: Browser, address: str, theme: str, width: int) -> Iterator[Reading]:
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=theme, service_workers="block"
    )
    reading = Reading(context.new_page(), address)
    reading.listen()
    yield reading
    context.close()


def test_page_reads_well(reading: Reading, document: str, theme: str) -> None:
    reading.open(document)
    shown = reading.page.evaluate("document.documentElement.dataset.theme")
    mathematics = reading.page.evaluate(MATHEMATICS)
    assert shown == theme
    assert mathematics["typeset"] >= mathematics["formulas"]
    assert not mathematics["errors"]
    assert reading.page.evaluate(OVERFLOW) <= 0
    assert not reading.errors


@pytest.mark.parametrize(
    ("word", "found"),
    [("micrograd", "cost/time-and-flops"), ("torchrun", "cost/many-devices")],
)
def test_search_finds_a_word_by_keyboard(
    browser: Browser, address: str, word: str, found: str
) -> None:
    page = browser.new_page(viewport={"width": DESKTOP, "height": 900})
    page.goto(f"{address}/chapters/reference/notation.html")
    page.keyboard.press("Control+k")
    page.keyboard.type(word)
    page.keyboard.press("Enter")
    results = page.locator("#search-results ul.search li a")
    results.first.wait_for(timeout=15_000)
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
    page.get_by_text("did not match any documents").wait_for(timeout=15_000)
    page.close()


def test_theme_switches(browser: Browser, address: str) -> None:
    """The theme button changes the theme, and drawings follow it."""
    page = browser.new_page(color_scheme="light", viewport={"width": DESKTOP, "height": 900})
    page.goto(f"{address}/chapters/foundations/computational-graph.html")
    look = """() => [document.documentElement.dataset.theme,
        getComputedStyle(document.querySelector('svg.chaingrad text')).fill]"""
    seen = {tuple(page.evaluate(look))}
    for _ in range(2):  # from the system's choice to light, and to dark
        page.locator("button.theme-switch-button:visible").first.click()
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


def test_print_is_light_and_unfolded(browser: Browser, address: str) -> None:
    page = browser.new_page(color_scheme="dark")
    page.goto(f"{address}/chapters/intro.html")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    assert not page.evaluate("document.querySelectorAll('details:not([open])').length")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.close()
