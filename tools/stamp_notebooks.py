"""Bring every built notebook, and the engine beside them, to the commit checked out.

A build that has nothing to do leaves them at the commit of the last one.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "_ext")]

from notebooks import first_cell  # noqa: E402
from tools import build  # noqa: E402


def main(book: Path) -> None:
    made, site = book / "_build" / build.MADE, book / "_build" / "html"
    paths = first_cell.publish(made, book)
    build.publish(made, site)
    (engine,) = (site / "notebooks").glob("chaingrad-*.whl")
    print(f"{len(paths)} notebooks in {engine.parent}, beside what they install: {engine.name}")


if __name__ == "__main__":
    main(ROOT)
