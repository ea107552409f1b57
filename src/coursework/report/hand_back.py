"""Feedback as zips: as Moodle and Canvas take it back, and with a folder for each student."""

import zipfile
from collections.abc import Mapping, Sequence
from itertools import chain, count
from pathlib import Path

from coursework.collect.platforms import platform_prefix
from coursework.printing import printable
from coursework.report.results import ResultRow
from coursework.safe_files import file_name, portable, replaced

PAGE = "feedback.html"
EPOCH = (1980, 1, 1, 0, 0, 0)  # so that the same feedback makes the same file


def write(
    output: Path, submissions: Path, rows: Sequence[ResultRow], pages: Mapping[str, str]
) -> None:
    """Write `feedback-folders.zip`, and one for each platform that submissions came from.

    Args:
        output: the folder of the zips.
        submissions: the folder of submissions, whose names the platforms wrote.
        rows: who handed in which file.
        pages: each student's feedback, by id.

    A page is named as the platform named the student's file, so that it goes back to its owner;
    for an assignment that several handed in together, to whoever uploaded it.
    """
    zips: dict[str, dict[str, str]] = {"folders": {}}
    folders = set[str]()
    for student, page in pages.items():
        zips["folders"][f"{_unlike(file_name(student), folders)}/{PAGE}"] = page
    for row in rows:
        if not (row.submission and row.is_owner and row.student.id in pages):
            continue
        parts = row.submission.path.relative_to(submissions).parts
        for platform, prefix in filter(None, map(platform_prefix, parts)):
            zips.setdefault(platform, {})[f"{portable(prefix)}{PAGE}"] = pages[row.student.id]
    for name in ("folders", "moodle", "canvas"):
        path = output / f"feedback-{name}.zip"
        if zips.get(name):
            _write(path, zips[name])
        else:
            path.unlink(missing_ok=True)  # of an earlier run


def _unlike(name: str, taken: set[str]) -> str:
    """Return a name that no other becomes where a system ignores case, and take it."""
    numbered = (f"{name} ({k})" for k in count(2))
    free = next(n for n in chain([name], numbered) if n.casefold() not in taken)
    taken.add(free.casefold())
    return free


def _write(path: Path, files: Mapping[str, str]) -> None:
    with replaced(path) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(printable(name), EPOCH), text, zipfile.ZIP_DEFLATED)
