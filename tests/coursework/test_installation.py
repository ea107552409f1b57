"""Where the engine comes from, as pages and assignments are told."""

import re
import sys
from pathlib import Path

import pytest

from coursework.exercise.assignments import Assignment
from coursework.installation import engine_source
from coursework.release import student_notebook
from tests.coursework.course import exercises
from tests.support import ROOT, git

sys.path.insert(0, str(ROOT / "_ext"))

from notebooks import first_cell

HOSTED = "https://example.org/course"


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """The folder of a book, with spaces and an umlaut, that is no repository yet."""
    folder = tmp_path / "my böok"
    folder.mkdir()
    return folder


def source(book: Path, named: object) -> str:
    (book / "_config.yml").write_text(f"title: Über\nrepository: {{url: '{named}'}}")
    return engine_source(book)


def test_a_repository_is_installed_at_the_commit_checked_out(book: Path) -> None:
    assert source(book, HOSTED) == f"git+{HOSTED}"
    git(book, "init", "-q")
    git(book, "commit", "-q", "--allow-empty", "-m", "A book")
    head = git(book, "rev-parse", "HEAD").strip()
    assert source(book, f"{HOSTED}/") == f"git+{HOSTED}@{head}"


def test_pages_and_assignments_install_the_same_commit(book: Path) -> None:
    git(book, "init", "-q")
    git(book, "commit", "-q", "--allow-empty", "-m", "A book")
    wanted = source(book, HOSTED)
    problem = exercises()["ex-engine-atan2"]
    made = student_notebook(Assignment("a", "A", (problem,)), book)
    assert f'"chaingrad @ {wanted}"' in made["cells"][1]["source"]
    page = first_cell.head(book, "chaingrad-1-py3-none-any.whl")
    assert re.findall("^repository = (.*)$", page, re.MULTILINE) == [f'"{wanted}"']


def test_a_wheel_and_a_folder_are_installed_from_where_they_are(book: Path) -> None:
    wheel = book / "chaingrad-1-py3-none-any.whl"
    wheel.touch()
    assert source(book, wheel) == source(book, wheel.name) == wheel.as_uri()
    assert source(book, ".") == book.as_uri()
    address = f"{HOSTED}/{wheel.name}"
    assert source(book, address) == address


def test_nothing_named_is_no_place(book: Path) -> None:
    assert source(book, "") == ""
    (book / "_config.yml").write_text("title: A book")
    assert engine_source(book) == ""


def test_a_place_that_is_not_there_is_refused(book: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"repository\.url in _config\.yml is 'nowhere'"):
        source(book, "nowhere")
