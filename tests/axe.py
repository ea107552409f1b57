"""axe-core, in a page that a test has open."""

from importlib.resources import files
from typing import Any

from playwright.sync_api import Page

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text()
# Formulas are drawn in the colour of the text around them: looking at each of their pieces costs
# most of the time.
# What slides in after a window has changed its width is waited for, up to two seconds; a cursor
# that blinks is not.
CHECK = """async ([options, selectors, within]) => {
    const wait = () => new Promise((done) => setTimeout(done, 50));
    const moves = () => document.getAnimations().some(({ playState, effect }) =>
        playState === 'running' && effect.getComputedTiming().endTime < Infinity);
    await wait();
    for (let tries = 0; moves() && tries < 40; tries++) await wait();
    await wait();
    axe.configure({ rules: Object.entries(selectors).map(([id, selector]) => ({ id, selector })) });
    // Style sheets that others import would be looked for beside the page. That all text is in a
    // landmark takes a tenth of the time, and what is not is a moderate violation.
    const rules = { region: { enabled: false } };
    Object.assign(options, { resultTypes: ['violations'], preload: false, rules });
    const result = await axe.run({ include: [[within]], exclude: [['.katex']] }, options);
    return result.violations
        .filter((v) => ['serious', 'critical'].includes(v.impact))
        .map((v) => ({
            rule: v.id,
            where: v.nodes.map((node) => `${node.target}: ${node.failureSummary}`),
        }));
}"""
# Of the text that is shown, mark one element of each look that is not known to be sound: its own
# style, the colour around it, and what lies behind it.
LOOKS = """([within, sound]) => {
    const behind = new Map([[null, '']]);
    const ground = (e) => {
        if (!behind.has(e)) {
            const { backgroundColor, backgroundImage, opacity } = getComputedStyle(e);
            const clear = backgroundColor === 'rgba(0, 0, 0, 0)' && backgroundImage === 'none';
            const own = clear && opacity === '1' ? '' :
                [e.tagName, e.getAttribute('class'), backgroundColor, opacity].join();
            behind.set(e, own || ground(e.parentElement));
        }
        return behind.get(e);
    };
    const written = (e) => [...e.childNodes].some(
        (node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    for (const e of document.querySelectorAll('[data-look]')) e.removeAttribute('data-look');
    const looks = new Set(), known = new Set(sound);
    const apart = '.katex, svg, head, script, style';  // of drawings axe judges no colour
    for (const e of document.querySelectorAll(`${within} *`)) {
        if (e.closest(apart) || !written(e) || !e.checkVisibility()) continue;
        const { color, fontSize, fontWeight, position, textDecorationLine } = getComputedStyle(e);
        const around = getComputedStyle(e.parentElement).color;
        const look = [e.tagName, e.getAttribute('class'), color, fontSize, fontWeight, position,
                      textDecorationLine, around, ground(e)].join();
        if (looks.has(look) || known.has(look)) continue;
        looks.add(look);
        for (const marked of [e, e.closest('a')]) marked?.setAttribute('data-look', '');
    }
    return [...looks];
}"""
# Axe lays a grid over every element: what no look needs goes first, which halves the time.
THIN = """() => {
    for (const formula of document.querySelectorAll('span.math, .katex')) formula.remove();
    const told = '[data-look], title, [role], [tabindex], [aria-label], a';
    for (const part of document.querySelectorAll(`svg :not(${told})`))
        if (!part.querySelector(told)) part.remove();
    const tokens = ':is(.highlight, .sig, code) span:not([data-look])';
    for (const token of document.querySelectorAll(tokens))
        if (!token.querySelector('[data-look]')) token.replaceWith(...token.childNodes);
}"""
# The rules that take most of the time, and what they look at: every element, or one of each look.
EVERY = {"color-contrast": "*", "link-in-text-block": "a[href], [role=link]"}
LOOK = {"color-contrast": "[data-look]", "link-in-text-block": "a[href][data-look]"}
SOUND: set[str] = set()  # looks with which nothing was wrong on an earlier page


def severe(
    page: Page, *, within: str = "html", colours: bool = False, every: bool = True
) -> list[dict[str, Any]]:
    """The serious violations, or those of colours alone.

    The colours are tried at every element, or once for each look of text in all pages.
    """
    looks = set() if every else set(page.evaluate(LOOKS, [within, list(SOUND)]))
    if colours and not every and not looks:
        return []
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    selectors = EVERY if every else LOOK
    options = {"runOnly": list(selectors)} if colours else {}
    found = page.evaluate(CHECK, [options, selectors, within])
    if not found:
        SOUND.update(looks)
    return list(found)


def thin(page: Page) -> None:
    """Take out of a page what no look at it needs, formulas among it."""
    page.evaluate(LOOKS, ["html", []])
    page.evaluate(THIN)
