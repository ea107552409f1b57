"""What each chapter takes to read, as the last build measured it: `_ext/sittings.py` has the model.

Name pages, or parts of their names, to see those alone.
"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "_ext")]

from sittings import COURSE_MINUTES, Sitting, Span  # noqa: E402

MEASURED = ROOT / "_build" / ".doctrees" / "sittings.json"
HEADS = (
    "chapter", "words", "code", "fig.", "form.", "min", "deeper", "exerc.",
    "code %", "1st fig.", "below code", "bars",
)  # fmt: skip
ROW = "{:28} {:>5} {:>4} {:>4} {:>5} | {:>3} {:>6} {:>6} | {:>6} {:>8} {:>10} {:>4}"


def load(path: Path) -> dict[str, Sitting]:
    """The measurements of a build, by page."""
    found = json.loads(path.read_text())
    for measured in found.values():
        measured |= {part: Span(**measured[part]) for part in ("main", "deeper", "exercises")}
    return {page: Sitting(**measured) for page, measured in found.items()}


def row(page: str, sitting: Sitting) -> str:
    main, at = sitting.main, sitting.picture_at
    parts = (main, sitting.deeper, sitting.exercises)
    return ROW.format(
        page.rpartition("/")[2],
        main.words, main.code, main.figures, main.formulas,
        *(f"{part.minutes:.0f}" for part in parts),
        f"{sitting.code_percent:.0f}",
        "none" if at is None else f"{at:.0f} px",
        f"{sitting.code_above_picture} lines",
        sitting.empty_bars or "",
    )  # fmt: skip


def main(names: list[str]) -> int:
    if not MEASURED.exists():
        print("No build has measured the pages yet: make book", file=sys.stderr)
        return 1
    sittings = load(MEASURED)
    print(ROW.format(*HEADS))
    for page, sitting in sittings.items():
        if not names or any(name in page for name in names):
            print(row(page, sitting))
    whole = sum(sitting.main.minutes for sitting in sittings.values())
    print(f"All main lines: {whole:.0f} minutes; the most is {COURSE_MINUTES}.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
