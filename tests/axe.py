"""axe-core, in a page that a test has open."""

from importlib.resources import files
from typing import Any

from playwright.sync_api import Page

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text()
# Formulas are drawn in the colour of the text around them: looking at each of their pieces costs
# most of the time.
CHECK = """async ([options, within]) => {
    // Style sheets that others import would be looked for beside the page.
    Object.assign(options, { resultTypes: ['violations'], preload: false });
    const context = { include: within ?? window.looks, exclude: [['.katex']] };
    const result = await axe.run(context, options);
    return result.violations
        .filter((v) => ['serious', 'critical'].includes(v.impact))
        .map((v) => ({
            rule: v.id,
            where: v.nodes.map((node) => `${node.target}: ${node.failureSummary}`),
        }));
}"""
# Of the text that is shown, one element of each look: its own style, and what lies behind it.
LOOKS = """() => {
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
    const looks = new Map();
    for (const e of document.body.querySelectorAll('*')) {
        if (e.closest('.katex, script, style') || !written(e) || !e.checkVisibility()) continue;
        const { color, fill, fontSize, fontWeight, position } = getComputedStyle(e);
        const look = [e.tagName, e.getAttribute('class'), color, fill, fontSize, fontWeight,
                      position, ground(e)].join();
        if (!looks.has(look)) looks.set(look, e);
    }
    window.looks = [...looks.values()];
    return looks.size;
}"""
COLOURS = ("color-contrast", "link-in-text-block")  # most of the time is theirs


def severe(page: Page, *rules: str, within: str = "html") -> list[dict[str, Any]]:
    """The serious violations of these of axe's rules, of all if none is named."""
    return run(page, {"runOnly": list(rules)} if rules else {}, [[within]])


def severe_but_colours(page: Page) -> list[dict[str, Any]]:
    """The serious violations of all rules but those of colours."""
    return run(page, {"rules": {rule: {"enabled": False} for rule in COLOURS}}, [["html"]])


def pale(page: Page) -> list[dict[str, Any]]:
    """The looks of text that have too little contrast, with their ground or the text around."""
    page.evaluate(LOOKS)
    return run(page, {"runOnly": list(COLOURS)}, None)


def run(page: Page, options: dict[str, Any], within: Any) -> list[dict[str, Any]]:
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    return list(page.evaluate(CHECK, [options, within]))
