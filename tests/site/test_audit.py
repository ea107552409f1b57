"""Every page in a real browser, on a desktop and on a phone, in both themes, folded and unfolded.

A page is opened twice, and switched from the one theme to the other while it is open: two pages in
`make test`, all pages in `make walk`. `full` opens them in the two other combinations too, and has
axe look at every element of them.
"""

import pytest
from playwright.sync_api import Browser

from tests.site.audit import DESKTOP, PHONE, audit, reading, theme
from tests.site.built import SAMPLE, Site, toc_documents
from tests.support import PATIENCE, each, sampled


def looked_at(
    browser: Browser, address: str, name: str, width: int, system: str
) -> dict[str, list[object]]:
    """What is wrong with a page, by what was looked at."""
    with reading(browser, address, width, system) as opened:
        opened.open(name)
        assert theme(opened.page) == system
        every_element = (width, system) == (DESKTOP, "dark")
        return {what: wrong for what, wrong in audit(opened, every_element) if wrong}


@pytest.mark.parametrize("name", sampled(toc_documents(), *SAMPLE))
def test_page_reads_well(browser: Browser, address: str, name: str) -> None:
    assert looked_at(browser, address, name, DESKTOP, "light") == {}
    assert looked_at(browser, address, name, PHONE, "dark") == {}


@pytest.mark.full
@pytest.mark.parametrize(("width", "system"), [(DESKTOP, "dark"), (PHONE, "light")])
@each("name", toc_documents)
def test_page_reads_well_in_the_other_theme(
    browser: Browser, address: str, name: str, width: int, system: str
) -> None:
    assert looked_at(browser, address, name, width, system) == {}


SMALL = "chapters/reference/status"
WIDE = '<div style="width: 3000px">wide</div>'
STUCK = """<pre id="stuck" style="width: 9em">more than fits into nine em of a page</pre>
    <script>setInterval(() => { stuck.tabIndex = -1; });</script>"""
SMALL_TYPE = '"font-size: 6px; width: 600px; max-width: none"'
LONG = "All of these words are on one very long line. " * 60
FORMULA = """<span class="math" style="display: block"><span class="katex"><span class="katex-base"
    style="display: inline-block">x</span></span></span>"""
NUMBER = '<span class="eqno">(1)</span>'
PICTURE = """<svg class="chaingrad" role="img" aria-label="A drawing" viewBox="0 0 400 40"
    style="%s"><text y="30" font-size="14">x</text></svg>"""
DRAWING = PICTURE % "width: 50px"
MARKED = "svg.chaingrad.marked"
MARK = PICTURE.replace("chaingrad", "chaingrad marked") % "max-width: 400px"
TOKENS = '<div class="highlight"><pre><span class="k">def</span> <span class="k">if</span></pre>'
STAYS_LIGHT = """
    const root = document.documentElement;
    new MutationObserver(() => { if (root.dataset.theme === 'dark') root.dataset.theme = 'light'; })
        .observe(root, { attributes: true });"""
DARK = "html[data-theme=dark]"
# What is wrong with a page, and which look at it says so first.
FAULTS = {
    '<span class="math">\\(\\frac{1}\\)</span>': "is complete",
    '<div class="exercise"><p class="admonition-title">an icon in a font of text</p></div>':
        "is complete",
    '<link rel="stylesheet" href="gone.css">': "no error",
    "<p inert><a href='#'>out of reach</a></p>": "controls are reached by Tab",
    "<a href='#' style='outline: none !important; box-shadow: none !important'>a link</a>":
        "the focus is seen",
    f"<!-- {'heavy ' * 200_000} -->": "weighs little",
    f"<details><summary>more</summary>{WIDE}</details>": "fits the window, unfolded, at 1440 px",
    f"<section>{f'<p style={SMALL_TYPE}>{LONG}</p>' * 99}</section>":
        "lines are read with ease at 1440 px",
    f"<p>{FORMULA}, and on</p>": "punctuation stays with its formula at 1440 px",
    f"<style>.eqno {{ margin-left: -1.5rem }}</style><div class='math'>{NUMBER}{FORMULA}</div>":
        "numbers stand beside their formulas at 1440 px",
    f"<div class=chaingrad-drawing tabindex=0 style='overflow: auto'>{'x' * 200}</div>":
        "no figure is cut at 1280 px",
    f"<p>{DRAWING}</p>": "drawings can be read at 1440 px",
    f"<style>@media (max-width: 1100px) {{ {MARKED} {{ width: 50px }} }}</style>{MARK}":
        "drawings can be read at 1024 px",
    "<div class=bd-sidebar-secondary style='width: 9em; overflow: hidden; white-space: nowrap'>"
    "<ul><li><a href='#'>A heading longer than its side bar</a></ul></div>":
        "contents fit beside the page",
    "<p style='color: #777; background: #888'>pale</p>": "axe",
    "<img src='../../_static/logo.svg'>": "axe",
    STUCK: "what scrolls takes the focus",
    f"<style>.highlight .k {{ color: #ddd !important }}</style>{TOKENS}": "axe",
    f"<script>{STAYS_LIGHT}</script>": "the theme follows the system",
    f"<style>{DARK} article {{ width: 3000px }}</style>": "fits the window in the other theme",
    f"<style>{DARK} .highlight .k {{ color: #333 !important }}</style>{TOKENS}":
        "axe in the other theme",
    "<script>fetch('http://elsewhere.example/').catch(() => 0)</script>": "asks the site alone",
    "<script>throw Error('of its own')</script>": "no error",
}  # fmt: skip
ASKS = """<section><h2>Asked</h2><div class="predict" data-name="x" data-asked="y" data-veil="x">
    </div><p class="answers-x"><b>The answer.</b></p>{}</section>"""
SHOWS = "[hidden='until-found'] { content-visibility: visible !important }"
MOVES = "section:not(:has(.veil-note)) { padding-top: 9px }"
ON_A_PHONE = {
    WIDE: "fits the window",
    STUCK: "what scrolls takes the focus",
    ASKS.format(f"<style>{SHOWS}</style>"): "answers are veiled",
    ASKS.format("<table hidden=until-found></table>"): "nothing else is veiled",
    ASKS.format("<style>.veil-note { height: 480px }</style>"): "veils are low",
    ASKS.format(f"<style>{MOVES}</style>"): "what is skipped stays in place",
}  # fmt: skip


@pytest.mark.full
@each(
    ("width", "fault", "found"),
    [(DESKTOP, *fault) for fault in FAULTS.items()]
    + [(PHONE, *fault) for fault in ON_A_PHONE.items()],
)
def test_the_audit_sees(
    browser: Browser,
    site: Site,
    address: str,
    width: int,
    fault: str,
    found: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tests.site.audit.PATIENCE", 10 if "theme follows" in found else PATIENCE)
    text = (site.folder / f"{SMALL}.html").read_text()
    broken = text.replace("</article>", f"{fault}</article>", 1)
    assert broken != text
    with reading(browser, address, width, "light") as opened:
        opened.page.route(
            f"**/{SMALL}.html", lambda route: route.fulfill(body=broken, content_type="text/html")
        )
        opened.open(SMALL)
        assert next((what for what, wrong in audit(opened) if wrong), "nothing") == found
