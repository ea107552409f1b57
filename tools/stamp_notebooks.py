"""Bring the first cell of every built notebook to the commit checked out, and say where they are.

A build that has nothing to do leaves the notebooks at the commit of the last one.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "_ext"))

from notebooks.first_cell import setting, stamp_all  # noqa: E402


def main(book: Path) -> None:
    folder = book / "_build" / "html" / "notebooks"
    repository = setting(book)
    paths = stamp_all(folder, repository, book)
    print(f"{len(paths)} notebooks in {folder}")
    if not repository:
        print(
            "They say how to install chaingrad by hand: repository.url in _config.yml is not set."
        )


if __name__ == "__main__":
    main(ROOT)
