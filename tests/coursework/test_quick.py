"""Grading from notebooks to a table and pages, as quickly as it goes: nothing is isolated here."""

from pathlib import Path

from tests.coursework.attacks import GOOD, KINK, WRONG_LAYER
from tests.coursework.test_grade import run, table, write


def test_a_right_and_a_wrong_submission_are_graded(tmp_path: Path) -> None:
    write(tmp_path, "ann/a1.ipynb", GOOD)
    write(tmp_path, "bob/a1.ipynb", (KINK, WRONG_LAYER))
    assert run(tmp_path, "--no-isolation", "--jobs", "1") == 0
    rows = [(row["student"], row["score"], row["ex-relu"]) for row in table(tmp_path)]
    assert [row for row in rows if row[2]] == [("ann", "5", "3"), ("bob", "2", "2")]
    page = (tmp_path / "out" / "feedback" / "bob.html").read_text(encoding="utf-8")
    assert "at the kink" in page
