"""Whatever a submission answers, its neighbours' marks, the exit status and the memory stay."""

import csv
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings

from tests.coursework.attacks import GOOD, notebook
from tests.coursework.hostile import SCRIPTS, Scripts, liar
from tests.support import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("isolated")]

HONEST = ("aaa", "liar-05-a", "zoe")
PEAK = 512  # MiB


def graded(folder: Path) -> tuple[int, int, dict[str, dict[str, str]]]:
    """The exit status of a whole run, the grader's peak memory, and the rows of its table."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.coursework.hostile", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert "Traceback" not in done.stderr, done.stderr
    status, peak = done.stdout.splitlines()[-1].split()
    with (folder / "out" / "grades.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    return int(status), int(peak), rows


def hand_in(folder: Path, student: str, text: str) -> None:
    path = folder / "in" / student / "a1.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")


@pytest.mark.walk
@settings(max_examples=3, phases=[Phase.generate])  # each grades a class
@given(SCRIPTS)
def test_no_reply_changes_what_others_get(scripts: Scripts) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for student in HONEST:
            hand_in(folder, student, notebook(*GOOD))
        for k, script in enumerate(scripts):
            hand_in(folder, f"liar-{k:02}", liar(script))
        status, peak, rows = graded(folder)
    assert status == 0
    assert peak <= PEAK
    assert [rows[student]["score"] for student in HONEST] == ["5"] * len(HONEST)
    assert len(rows) == len(HONEST) + len(scripts)
    assert {s: r["remarks"] for s, r in rows.items() if "the grader failed" in r["remarks"]} == {}
