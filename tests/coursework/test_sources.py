"""Which files of a folder are sources."""

from pathlib import Path

import pytest

from coursework.exercise.pages import read_problems
from coursework.sources import copy, is_source, sources
from tests.support import ROOT, litter

NAMES = ("page.md", "part/page.md", "part/node.py", "2026/img-1.svg", "a.b.json", "x~y.md", "7.md")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder, within a hidden one, with files of people and strays beside each."""
    root = tmp_path / ".hidden" / "course"
    for name in NAMES:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
        for stray in litter(path):
            assert not is_source(stray, root)
    return root


def test_strays_are_no_sources(folder: Path) -> None:
    assert sources(folder) == sorted(folder / name for name in NAMES)
    assert sources(folder, "*.md") == sorted(folder / n for n in NAMES if n.endswith(".md"))


def test_sources_are_copied_alone(folder: Path, tmp_path: Path) -> None:
    copy(folder, tmp_path / "copy")
    found = [path for path in (tmp_path / "copy").rglob("*") if path.is_file()]
    assert sorted(found) == sorted(tmp_path / "copy" / name for name in NAMES)


def test_exercises_are_read_once_however_the_folder_was_left(tmp_path: Path) -> None:
    page = tmp_path / "autograd-engine.md"
    page.write_bytes((ROOT / "chapters" / "foundations" / "autograd-engine.md").read_bytes())
    before = read_problems(tmp_path)
    assert before
    litter(page)
    assert read_problems(tmp_path) == before
