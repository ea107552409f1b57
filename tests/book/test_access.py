"""The pages for readers without a mouse or with a screen reader: axe-core, and the keyboard."""

from collections.abc import Iterator
from importlib.resources import files

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text()
SEVERE = ("serious", "critical")
# Nothing of the second theme but its colours is new. Formulas are pictures drawn by MathJax in
# the colour of the text around them: looking at each of their pieces costs most of the time.
CHECK = """async (rules) => {
    if (document.querySelector('.math')) await MathJax.startup.promise;
    const options = { resultTypes: ['violations'] };
    if (rules) options.runOnly = rules;
    const result = await axe.run({ exclude: [['mjx-container']] }, options);
    return result.violations.map((v) => ({
        rule: v.id, impact: v.impact,
        where: v.nodes.map((node) => `${node.target}: ${node.failureSummary}`),
    }));
}"""
# What a reader can act on and see, folded parts left aside.
CONTROLS = """() => {
    const all = document.querySelectorAll(
        'main :is(a[href], button, input, select, textarea, summary, [tabindex="0"])');
    const shown = [...all].filter((e) => e.tabIndex >= 0 && !e.disabled &&
        e.checkVisibility({ visibilityProperty: true }) && e.getClientRects().length);
    shown.forEach((e, number) => e.dataset.control = number);
    return shown.map((e) => e.outerHTML.slice(0, 120));
}"""
# The control that has the focus, and whether its look says so.
FOCUSED = """() => {
    const e = document.activeElement, style = getComputedStyle(e);
    const ring = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
    return [e.dataset.control ?? null, ring || style.boxShadow !== 'none',
            e === document.body, e.outerHTML.slice(0, 120)];
}"""


@pytest.fixture(scope="module", params=["light", "dark"])
def context(browser: Browser, request: pytest.FixtureRequest) -> Iterator[BrowserContext]:
    context = browser.new_context(
        color_scheme=request.param, viewport={"width": 1280, "height": 900}, reduced_motion="reduce"
    )
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    page = context.new_page()
    yield page
    page.close()


def severe(page: Page, rules: list[str] | None = None) -> list[dict]:
    """The violations of all of axe's rules, or of these."""
    page.evaluate(AXE)
    if page.evaluate("document.documentElement.dataset.theme") == "dark":
        rules = ["color-contrast"]
    return [v for v in page.evaluate(CHECK, rules) if v["impact"] in SEVERE]


def test_no_severe_violation(page: Page, address: str, document: str) -> None:
    page.goto(f"{address}/{document}.html")
    page.wait_for_load_state("networkidle")
    assert not severe(page)


def test_what_scrolls_on_a_phone_takes_the_focus(
    browser: Browser, address: str, document: str
) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto(f"{address}/{document}.html")
    page.wait_for_load_state("networkidle")
    assert not severe(page, ["scrollable-region-focusable"])
    page.close()


@pytest.mark.parametrize("name", ["search", "genindex", "py-modindex"])
def test_no_severe_violation_in_generated_pages(page: Page, address: str, name: str) -> None:
    page.goto(f"{address}/{name}.html")
    page.wait_for_load_state("networkidle")
    assert not severe(page)


def test_axe_sees_a_violation(page: Page, address: str) -> None:
    page.goto(f"{address}/search.html")
    page.evaluate(
        """document.querySelector('main').insertAdjacentHTML(
            'beforeend', '<p style="color: #777; background: #888">pale</p>')"""
    )
    assert [v["rule"] for v in severe(page)] == ["color-contrast"]


def test_tab_reaches_every_control(browser: Browser, address: str, document: str) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"{address}/{document}.html")
    page.wait_for_load_state("networkidle")
    controls = page.evaluate(CONTROLS)
    page.evaluate("document.activeElement.blur()")
    reached, plain = set(), []
    for _ in range(len(controls) + 300):  # those of the header and the side bars come too
        page.keyboard.press("Tab")
        number, ringed, outside, what = page.evaluate(FOCUSED)
        if outside and reached:
            break
        if number is not None:
            reached.add(int(number))
        if not outside and not ringed:
            plain.append(what)
    page.close()
    assert [what for number, what in enumerate(controls) if number not in reached] == []
    assert plain == []


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_folded_parts_open_by_keyboard(browser: Browser, address: str, key: str) -> None:
    page = browser.new_page()
    page.goto(f"{address}/chapters/foundations/computational-graph.html")
    page.wait_for_load_state("networkidle")
    folds = page.locator("main details > summary:visible").all()
    assert folds
    for summary in folds:
        summary.focus()
        before = summary.evaluate("e => e.parentElement.open")
        page.keyboard.press(key)
        assert summary.evaluate("e => e.parentElement.open") != before
        page.keyboard.press(key)
    page.close()
