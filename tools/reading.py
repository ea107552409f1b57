"""What each chapter takes to read, as the last build measured it by `_ext/about/reading_time.py`.

Name pages, or parts of their names, to see those alone.
"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "_ext")]

from about.reading_time import COURSE_MINUTES, Measures, Span  # noqa: E402

MEASURED = ROOT / "_build" / ".doctrees" / "reading.json"
HEADS = (
    "chapter", "words", "code", "fig.", "form.", "min", "deeper", "exerc.",
    "below code", "bars",
)  # fmt: skip
ROW = "{:28} {:>5} {:>4} {:>4} {:>5} | {:>3} {:>6} {:>6} | {:>10} {:>4}"


def load(path: Path) -> dict[str, Measures]:
    """Load the measurements of a build, by page."""
    found = json.loads(path.read_text())
    for measured in found.values():
        measured |= {part: Span(**measured[part]) for part in ("main", "deeper", "exercises")}
    return {page: Measures(**measured) for page, measured in found.items()}


def row(page: str, measures: Measures) -> str:
    main, above = measures.main, measures.code_above_picture
    parts = (main, measures.deeper, measures.exercises)
    return ROW.format(
        page.rpartition("/")[2],
        main.words, main.code, main.figures, main.formulas,
        *(f"{part.minutes:.0f}" for part in parts),
        "no figure" if above is None else f"{above} lines",
        measures.empty_bars or "",
    )  # fmt: skip


def main(names: list[str]) -> int:
    if not MEASURED.exists():
        print("No build has measured the pages yet: make book", file=sys.stderr)
        return 1
    pages = load(MEASURED)
    print(ROW.format(*HEADS))
    for page, measures in pages.items():
        if not names or any(name in page for name in names):
            print(row(page, measures))
    whole = sum(measures.main.minutes for measures in pages.values())
    print(f"All main lines: {whole:.0f} minutes; the most is {COURSE_MINUTES}.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
