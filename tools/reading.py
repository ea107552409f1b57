"""Print a page's measures: words, visible and folded code, figures, predictions, minutes, screens.

All but the screens are what the last build measured (`_ext/about/reading_time.py`): of a chapter's
main line, but for the minutes of what is folded and of the exercises. Screens are counted in a
browser, 1440 by 900 pixels, with the veils lifted, down to the summary, with figures and buttons,
too, in the face of the text, which every machine has. `tests/site` counts them in the same way, for
the bound that told pages keep.

Name pages, or parts of their names, to see those alone.
"""

import json
import sys
from pathlib import Path

from playwright.sync_api import Page

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "_ext")]

from about.reading_time import COURSE_MINUTES, Measures, Span  # noqa: E402
from tools.browser import ADDRESS, opened  # noqa: E402

MEASURED = ROOT / "_build" / ".doctrees" / "reading.json"
SITE = ROOT / "_build" / "html"
HEADS = (
    "chapter", "words", "code", "folded", "cells", "visible", "fig.", "form.", "asks",
    "screens", "min", "deeper", "exerc.",
)  # fmt: skip
ROW = "{:30} {:>5} | {:>4} {:>6} {:>5} {:>7} | {:>4} {:>5} {:>4} | {:>7} {:>3} {:>6} {:>6}"
SCREEN = {"width": 1440, "height": 900}
# How far down the summary begins; without one, how high the article is.
HEIGHT = """() => {
    const article = document.querySelector("article"), end = document.getElementById("summary");
    const top = article.getBoundingClientRect().top;
    return (end?.getBoundingClientRect().top ?? article.getBoundingClientRect().bottom) - top;
}"""
# Figures and buttons have faces of the system. Unhinted, a letter is as wide on every machine.
ONE_FACE = """
html[data-theme] { --pst-font-family-base: var(--text-face); }
[class^=chaingrad-] { font-family: var(--text-face) !important; }
* { text-rendering: geometricPrecision !important; }
"""
UNVEILED = """localStorage["backpropagation-course/reading"] = '{"veil": {"off": true}}';"""


def load(path: Path) -> dict[str, Measures]:
    """Load the measurements of a build, by page."""
    found = json.loads(path.read_text())
    for measured in found.values():
        measured |= {part: Span(**measured[part]) for part in ("main", "deeper", "exercises")}
    return {page: Measures(**measured) for page, measured in found.items()}


def show(page: str, window: Page, address: str = ADDRESS) -> None:
    """Show a page as pages are measured."""
    window.goto(f"{address}{page}.html")
    window.add_style_tag(content=ONE_FACE)
    window.evaluate("document.fonts.ready.then(() => 0)")


def screens(page: str, window: Page, address: str = ADDRESS) -> float:
    """Count the screens of a page, in a window of the size of a screen."""
    show(page, window, address)
    return float(window.evaluate(HEIGHT)) / SCREEN["height"]


def row(page: str, measures: Measures, high: float) -> str:
    main = measures.main
    return ROW.format(
        page.rpartition("/")[2],
        main.words, main.code, measures.folded_code, measures.folded_cells,
        f"{measures.visible:.0f} %",
        main.figures, main.formulas, measures.predictions,
        f"{high:.1f}",
        *(f"{part.minutes:.0f}" for part in (main, measures.deeper, measures.exercises)),
    )  # fmt: skip


def main(names: list[str]) -> int:
    if not MEASURED.exists():
        print("No build has measured the pages yet: make book", file=sys.stderr)
        return 1
    pages = load(MEASURED)
    print(ROW.format(*HEADS))
    with opened(SITE, viewport=SCREEN) as window:
        window.add_init_script(UNVEILED)
        for page, measures in pages.items():
            if not names or any(name in page for name in names):
                print(row(page, measures, screens(page, window)), flush=True)
    whole = sum(measures.main.minutes for measures in pages.values())
    print(f"All main lines: {whole:.0f} minutes; the most is {COURSE_MINUTES}.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
