"""Print a page's measures: words, visible and folded code, figures, predictions, minutes, screens.

All but the screens are what the last build measured (`_ext/about/reading_time.py`): of a chapter's
main line, but for the minutes of what is folded and of the exercises. Screens are counted in a
browser, 1440 by 900 pixels, with the veils lifted, down to the summary, in a font that every
machine has. `tests/site` counts them in the same way, for the bound that told pages keep.

Name pages, or parts of their names, to see those alone.
"""

import json
import sys
from base64 import b64encode
from functools import cache
from pathlib import Path

import matplotlib
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
# Matplotlib brings these. DejaVu Sans is the widest font in use; at this size its words are as wide
# as those of Noto Sans. Code keeps its size.
WIDTH = "92.8%"
FACES = (
    ("Measured", "DejaVuSans", 400, WIDTH),
    ("Measured", "DejaVuSans-Bold", 700, WIDTH),
    ("Measured Mono", "DejaVuSansMono", 400, "100%"),
)
# Figures name their own fonts. Without hinting, a letter is as wide on every machine.
MEASURED_FONTS = """
html[data-theme] {
    --pst-font-family-base: Measured; --pst-font-family-heading: Measured;
    --pst-font-family-monospace: "Measured Mono";
}
[class^=chaingrad-] { font-family: Measured !important; }
* { text-rendering: geometricPrecision !important; }
"""
UNVEILED = """localStorage["backpropagation-course/reading"] = '{"veil": {"off": true}}';"""


def load(path: Path) -> dict[str, Measures]:
    """Load the measurements of a build, by page."""
    found = json.loads(path.read_text())
    for measured in found.values():
        measured |= {part: Span(**measured[part]) for part in ("main", "deeper", "exercises")}
    return {page: Measures(**measured) for page, measured in found.items()}


@cache
def measured_fonts() -> str:
    """Return the style sheet that sets a page in fonts that every machine has."""
    folder = Path(matplotlib.get_data_path(), "fonts", "ttf")
    faces = [
        f'@font-face {{ font-family: "{family}"; font-weight: {weight}; size-adjust: {size}; src: '
        f"url(data:font/ttf;base64,{b64encode((folder / f'{name}.ttf').read_bytes()).decode()}) }}"
        for family, name, weight, size in FACES
    ]
    return "\n".join([*faces, MEASURED_FONTS])


def show(page: str, window: Page, address: str = ADDRESS) -> None:
    """Show a page in the fonts in which pages are measured."""
    window.goto(f"{address}{page}.html")
    window.add_style_tag(content=measured_fonts())
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
