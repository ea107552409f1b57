"""Bring every built notebook, and the engine beside them, to the commit checked out.

A build that has nothing to do leaves them at the commit of the last one.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "_ext"))

from notebooks.first_cell import publish  # noqa: E402


def main(book: Path) -> None:
    site = book / "_build" / "html"
    paths = publish(site, book)
    (engine,) = (site / "notebooks").glob("chaingrad-*.whl")
    print(f"{len(paths)} notebooks in {engine.parent}, beside what they install: {engine.name}")


if __name__ == "__main__":
    main(ROOT)
