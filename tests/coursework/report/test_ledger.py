"""What counts: attempts, lateness, judged parts, sheets of paper, and how all of it goes back."""

import csv
import json
import sqlite3
import zipfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from coursework import grade, sheet
from coursework.exercise.assignments import Assignment, Paper, load, load_papers
from coursework.exercise.lateness import Terms
from coursework.exercise.problems import Judged
from coursework.exercise.trusted import ProblemError
from coursework.release import student_notebook
from tests.coursework.attacks import ASSIGNMENT, GOOD, PAGE, SECRET, WRONG, notebook
from tests.coursework.test_grade import arguments
from tests.support import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("isolated")]

DUE = datetime.fromisoformat("2026-05-04T18:00:00+02:00")
TERMS = Terms((DUE,), timedelta(minutes=15), late=0.2, best=True)
DERIVATION = Judged("derivation", 3, {"writes the sum": 1, "says why": 2})
RELU, LAYER = ASSIGNMENT.problems
A1 = replace(ASSIGNMENT, terms=TERMS, problems=(replace(RELU, judged=(DERIVATION,)), LAYER))
PAPER = Paper("quiz", "A test on paper", "adjoints-2-1", (2, 3))
ROSTER = "id,name,mail\nu1,Ann Ames,ann@x.org\nu2,Bob Boole,\nu3,Cleo Cantor,\n"


def hand_in(
    folder: Path, name: str, cells: Sequence[str], attempt: int = 1, said: str = "", time: str = ""
) -> None:
    """Put a released notebook into the folder, with sentences below the first answer."""
    data = json.loads(notebook(*cells))
    token = replace(A1, attempt=attempt).token(SECRET).signed(SECRET)
    data["metadata"] = {"coursework": {"token": token}}
    if said:
        data["cells"][1]["metadata"] = {"nbgrader": {"grade_id": "ex-relu", "solution": True}}
        data["cells"].insert(2, {"cell_type": "markdown", "metadata": {}, "source": said})
    path = folder / "in" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data), encoding="utf-8")
    if time:
        (path.parent / "timestamp.txt").write_text(time)


def run(folder: Path, assignment: Assignment = A1, papers: Sequence[Paper] = (PAPER,)) -> int:
    (folder / "in" / "roster.csv").write_text(ROSTER)
    named = {paper.name: paper for paper in papers}
    return grade.run(arguments(folder), {"a1": assignment}, lambda _: SECRET, papers=named)


def by_hand(folder: Path, name: str, text: str) -> None:
    (folder / "out").mkdir(exist_ok=True)
    (folder / "out" / name).write_text(text)


def scores(folder: Path, assignment: str = "a1") -> dict[str, str]:
    with (folder / "out" / "grades.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["assignment"] == assignment]
    return {row["student"]: row["score"] for row in rows}


def remarks(folder: Path, student: str) -> str:
    with (folder / "out" / "grades.csv").open(encoding="utf-8", newline="") as file:
        return " ".join(row["remarks"] for row in csv.DictReader(file) if row["student"] == student)


def ask(folder: Path, question: str) -> list[Any]:
    with closing(sqlite3.connect(folder / "out" / "ledger.sqlite")) as ledger:
        return ledger.execute(question).fetchall()


def assert_the_ledger_adds_up(folder: Path) -> None:
    """Every score in the table is the sum of the ledger's rows that count, and none is missing."""
    with (folder / "out" / "grades.csv").open(encoding="utf-8", newline="") as file:
        table = {
            (row["student"], row["assignment"]): float(row["score"])
            for row in csv.DictReader(file)
            if row["score"]
        }
    found = ask(folder, "SELECT student, assignment, score FROM scores")
    assert len(found) == len(table)
    assert {(who, what): score for who, what, score in found} == pytest.approx(table)


@pytest.mark.parametrize(("best", "counts"), [(True, (1, "5")), (False, (2, "0"))])
def test_the_best_attempt_counts_or_the_last(
    tmp_path: Path, best: bool, counts: tuple[int, str]
) -> None:
    hand_in(tmp_path, "u1/a1.ipynb", GOOD)
    hand_in(tmp_path, "u1/again/a1.ipynb", WRONG, attempt=2)
    hand_in(tmp_path, "u2/a1.ipynb", WRONG)
    hand_in(tmp_path, "u2/again/a1.ipynb", GOOD, attempt=2)
    assert run(tmp_path, replace(A1, terms=Terms(best=best))) == 0
    assert scores(tmp_path) == {"u1": counts[1], "u2": "5", "u3": ""}
    assert f"Attempt {counts[0]} counts" in remarks(tmp_path, "u1")
    attempts = ask(tmp_path, "SELECT student, attempt, max(counts) FROM ledger GROUP BY 1, 2")
    assert attempts == [("u1", k, k == counts[0]) for k in (1, 2)] + [("u2", 1, 0), ("u2", 2, 1)]
    assert_the_ledger_adds_up(tmp_path)


def test_a_late_one_loses_what_the_terms_say(tmp_path: Path) -> None:
    hand_in(tmp_path, "u1/a1/x.ipynb", GOOD, time="2026-05-04 16:14:00 UTC")
    hand_in(tmp_path, "u2/a1/x.ipynb", GOOD, time="2026-05-04 16:16:00 UTC")
    hand_in(tmp_path, "u3/a1/x.ipynb", GOOD, time="2026-05-20 16:16:00 UTC")
    assert run(tmp_path) == 0
    assert scores(tmp_path) == {"u1": "5", "u2": "4", "u3": "0"}
    assert "1 day late, which takes 1 of 5 points" in remarks(tmp_path, "u2")
    assert "1 day late" in (tmp_path / "out" / "feedback" / "u2.html").read_text()
    with (tmp_path / "out" / "grades-nbgrader.csv").open() as file:
        taken = [row["late_submission_penalty"] for row in csv.DictReader(file)]
    assert taken == ["0.0", "1.0", "5.0"]
    assert_the_ledger_adds_up(tmp_path)
    by_hand(
        tmp_path,
        "dates.csv",
        "student,assignment,handed_in,due,why\nu2,a1,,2026-05-06 18:00 +0200,ill\n"
        "Cleo Cantor,a1,2026-05-05 18:00 +0200,,on a stick\n",
    )
    by_hand(tmp_path, "changes.csv", "student,assignment,exercise,points,why\nu3,a1,ex-relu,3,x\n")
    assert run(tmp_path) == 0
    assert scores(tmp_path) == {"u1": "5", "u2": "5", "u3": "4.6"}  # of 3 by hand nothing is taken
    assert_the_ledger_adds_up(tmp_path)


def test_a_second_attempt_is_not_late_for_the_first(tmp_path: Path) -> None:
    later = replace(TERMS, due=(DUE, DUE + timedelta(days=30)))
    hand_in(tmp_path, "u1/a1/x.ipynb", WRONG, time="2026-05-04 10:00:00")
    hand_in(tmp_path, "u1/again/x.ipynb", GOOD, attempt=2, time="2026-06-03 10:00:00")
    hand_in(tmp_path, "u2/again/x.ipynb", GOOD, attempt=2, time="2026-06-04 10:00:00")
    for terms, score in ((TERMS, "5"), (later, "4")):
        assert run(tmp_path, replace(A1, terms=terms)) == 0
        assert scores(tmp_path) == {"u1": "5", "u2": score, "u3": ""}
    by_hand(
        tmp_path,
        "dates.csv",
        "student,assignment,attempt,handed_in,due,why\n"
        "u1,a1,2,2026-06-05 10:00,,\nu1,a1,,2026-05-04 10:00,,\n",
    )
    assert run(tmp_path, replace(A1, terms=later)) == 0
    assert scores(tmp_path)["u1"] == "3"
    assert_the_ledger_adds_up(tmp_path)


def test_what_is_written_of_somebody_who_handed_in_nothing_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hand_in(tmp_path, "u1/a1.ipynb", GOOD, said="because")
    head = "student,assignment,attempt,exercise,part,points,comment"
    rows = "ul,a1,,ex-relu,derivation,3,\nu1,a1,2,ex-relu,derivation,3,\nu1,a1,1,ex-relu,,,good"
    by_hand(tmp_path, "judgements.csv", f"{head}\n{rows}\n")
    by_hand(tmp_path, "dates.csv", "student,assignment,handed_in,due,why\nu2,a1,,,ill\n")
    assert run(tmp_path) == 0
    said = [line for line in capsys.readouterr().out.splitlines() if ".csv: " in line]
    assert said == [
        "judgements.csv: ul, a1: nothing was handed in",
        "judgements.csv: u1, a1, attempt 2: nothing was handed in",
        "dates.csv: u2, a1: nothing was handed in",
    ]


def test_nobody_is_late_by_guess(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hand_in(tmp_path, "lovelaceada_LATE_12345_67890_a1.ipynb", GOOD)
    assert run(tmp_path) == 0
    assert scores(tmp_path)["lovelaceada_12345"] == "5"
    assert "Canvas marks this as late" in remarks(tmp_path, "lovelaceada_12345")
    assert "of 1 submissions nobody says when they came" in capsys.readouterr().out


def test_gradescope_says_when_it_came(tmp_path: Path) -> None:
    hand_in(tmp_path, "submission_1/a1.ipynb", GOOD)
    (tmp_path / "in" / "submission_metadata.yml").write_text(
        'submission_1:\n  :submitters:\n  - :name: Ann Ames\n    :sid: u1\n    :email: ""\n'
        "  :created_at: 2026-05-05 09:00:00 -0700\n"
    )
    assert run(tmp_path) == 0
    assert scores(tmp_path)["u1"] == "4"


SAID = r"""The sum is $\sum_i g_i$, <script>alert(1)</script> ![x](http://x.org/a.png),
$\text{<script>alert(1)</script>}$ $\text{<![CDATA[<img src=x>]]>}$
$\href{javascript:alert(1)}{x}$"""


def test_a_person_judges_sentences(tmp_path: Path) -> None:
    for name in ("u1", "u2", "u3"):
        hand_in(tmp_path, f"{name}/a1.ipynb", GOOD, said=SAID)
    assert run(tmp_path) == 0
    for page in (tmp_path / "out").rglob("*.html"):
        assert not any(text in page.read_text() for text in ("<script", "<img", 'href="java'))
    assert "1" in remarks(tmp_path, "u1")
    whole = (tmp_path / "out" / "judge" / "a1-ex-relu.html").read_text()
    assert whole.count("<math") >= 3
    assert all(text in whole for text in ("Ann Ames", "says why"))
    assert not any(text in whole for text in ("<script>", "<img", "href"))
    with (tmp_path / "out" / "judge" / "to-judge.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [line["student"] for line in lines] == ["u1", "u2", "u3"]
    for line, (rubric, points, comment) in zip(
        lines, [("2", "", "why is fine"), ("", "1,5", ""), ("", "", "see me")], strict=True
    ):
        line |= {"lines": rubric, "points": points, "comment": comment}
    with (tmp_path / "out" / "judgements.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, list(lines[0]))
        table.writeheader()
        table.writerows(lines)
    assert run(tmp_path) == 0
    assert scores(tmp_path) == {"u1": "7", "u2": "6.5", "u3": "5"}
    assert "why is fine" in (tmp_path / "out" / "feedback" / "u1.html").read_text()
    assert "see me" in (tmp_path / "out" / "feedback" / "u3.html").read_text()
    kinds = ask(tmp_path, "SELECT student, points FROM ledger WHERE kind = 'judged'")
    assert kinds == [("u1", 2.0), ("u2", 1.5), ("u3", None)]
    assert_the_ledger_adds_up(tmp_path)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("u1,a1,ex-relu,,,2,", "points without a judged part"),
        ("u1,a1,ex-relu,proof,,2,", "no judged part 'proof'"),
        ("u1,a1,ex-relu,derivation,3,,", "2 lines in its rubric, no 3"),
        ("u1,a1,ex-relu,derivation,,many,", "no number"),
        ("u1,a9,ex-relu,derivation,,1,", "no assignment 'a9'"),
        ("u1,a1,ex-relu,derivation,,1,\nu1,a1,ex-relu,derivation,,1,", "for the second time"),
    ],
)
def test_a_judgement_that_cannot_be_is_refused(
    tmp_path: Path, line: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    hand_in(tmp_path, "u1/a1.ipynb", GOOD)
    head = "student,assignment,exercise,part,lines,points,comment"
    by_hand(tmp_path, "judgements.csv", f"{head}\n{line}\n")
    assert run(tmp_path) == 2
    assert says in capsys.readouterr().err


def test_a_judgement_of_one_attempt_comes_first(tmp_path: Path) -> None:
    hand_in(tmp_path, "u1/a1.ipynb", GOOD, said="one")
    hand_in(tmp_path, "u1/again/a1.ipynb", WRONG, attempt=2, said="two")
    head = "student,assignment,attempt,exercise,part,points,comment"
    rows = "u1,a1,,ex-relu,derivation,1,\nu1,a1,2,ex-relu,derivation,3,"
    by_hand(tmp_path, "judgements.csv", f"{head}\n{rows}\n")
    assert run(tmp_path) == 0
    kinds = ask(tmp_path, "SELECT attempt, points FROM ledger WHERE kind = 'judged'")
    assert kinds == [(1, 1.0), (2, 3.0)]
    assert scores(tmp_path)["u1"] == "6"  # and not 0 + 3


def test_sheets_of_paper_are_entered_by_their_codes(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    codes = {who: sheet.code(SECRET, "adjoints-2-1", who) for who in ("u1", "u2", "u3")}
    misread = codes["u1"].lower().replace("0", "o").replace("1", "l").replace("-", " ")
    by_hand(
        tmp_path,
        "papers.csv",
        f"paper,student,code,1,2\nquiz,,{misread},2,3\nquiz,u2,{codes['u2']},1.5,\nquiz,u3,,0,1\n",
    )
    assert run(tmp_path) == 0
    assert scores(tmp_path, "quiz") == {"u1": "5", "u2": "1.5", "u3": "1"}
    assert "nobody has marked yet: 1" in remarks(tmp_path, "u2")
    assert "A test on paper" in (tmp_path / "out" / "feedback" / "u1.html").read_text()
    assert "A test on paper" in (tmp_path / "out" / "grades-moodle.csv").read_text()
    assert_the_ledger_adds_up(tmp_path)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("quiz,u1,{u2},1,1", "that of u2, and not of u1"),
        ("quiz,,AAAA-AAAA,1,1", "on no sheet of quiz"),
        ("quiz,u1,AAAA-AAAA,1,1", "on no sheet of quiz"),
        ("quiz,,,1,1", "neither a student nor a code"),
        ("quiz,,{all},1,1", "the same sheet for all"),
        ("exam,u1,,1,1", "no paper 'exam'"),
        ("quiz,u1,,1,1\nquiz,,{u1},1,1", "for the second time"),
    ],
)
def test_a_sheet_of_nobody_is_refused(
    tmp_path: Path, line: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in").mkdir()
    codes = {who: sheet.code(SECRET, "adjoints-2-1", who) for who in ("u1", "u2")}
    codes["all"] = sheet.code(SECRET, "adjoints-2-1")
    by_hand(tmp_path, "papers.csv", f"paper,student,code,1,2\n{line.format(**codes)}\n")
    assert run(tmp_path) == 2
    assert says in capsys.readouterr().err


def test_feedback_goes_back_under_the_platform_s_names(tmp_path: Path) -> None:
    hand_in(tmp_path, "Ann Ames_4711_assignsubmission_file/x.ipynb", GOOD)
    hand_in(tmp_path, "boolebob_61_99_a1.ipynb", WRONG)  # Bob Boole, by the roster
    hand_in(tmp_path, "u3/a1.ipynb", GOOD)
    assert run(tmp_path) == 0

    def pages(name: str) -> dict[str, bool]:
        with zipfile.ZipFile(tmp_path / "out" / f"feedback-{name}.zip") as archive:
            return {n: b"<h1>Feedback for " in archive.read(n) for n in archive.namelist()}

    assert pages("moodle") == {"Ann Ames_4711_assignsubmission_file_feedback.html": True}
    assert pages("canvas") == {"boolebob_61_99_feedback.html": True}
    folders = {"u1/feedback.html", "u2/feedback.html", "u3/feedback.html"}
    assert set(pages("folders")) == folders
    before = (tmp_path / "out" / "feedback-folders.zip").read_bytes()
    assert run(tmp_path) == 0
    assert (tmp_path / "out" / "feedback-folders.zip").read_bytes() == before


def test_no_name_in_a_zip_leads_elsewhere_or_to_another_s_page(tmp_path: Path) -> None:
    """Windows takes a backslash for a folder, and it and macOS ignore case."""
    hand_in(tmp_path, "Ann\\..\\Ames: 1\n_4711_assignsubmission_file/a1.ipynb", GOOD)
    hand_in(tmp_path, "Bo Li_4712_assignsubmission_file/a1.ipynb", GOOD)
    hand_in(tmp_path, "BO LI_4713_assignsubmission_file/a1.ipynb", WRONG)
    hand_in(tmp_path, "con\\x/a1.ipynb", GOOD)
    assert run(tmp_path) == 0
    for name, size in (("folders", 4), ("moodle", 3)):
        with zipfile.ZipFile(tmp_path / "out" / f"feedback-{name}.zip") as archive:
            names = archive.namelist()
        assert len({n.casefold() for n in names}) == size, names
        assert not [n for n in names if set(n) & set('\\:*?"<>|\n') or ".." in n.split("/")]


def test_the_released_notebook_says_what_a_person_reads() -> None:
    texts = ["".join(cell["source"]) for cell in student_notebook(A1, ROOT)["cells"]]
    assert any("**derivation** (3 points)" in text for text in texts)
    assert any("| The backward pass of relu | ★ | 6 |" in text for text in texts)


TOML = """
[[assignment]]
name = "a1"
due = 2026-05-04T18:00:00+02:00
grace = 15
late = 0.1
attempts = "best"
exercises = [{ id = "ex-relu", points = 6, judged = [{ part = "why", rubric = { a = 1, b = 2 } }] }]

[[paper]]
name = "quiz"
sheet = "adjoints-2-1"
points = [2, 2]
"""


def test_a_file_of_assignments_says_all_of_it(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "page.md").write_text(PAGE)
    path = tmp_path / "a.toml"
    path.write_text(TOML)
    found = load(path, tmp_path / "pages")["a1"]
    assert found.terms == Terms((DUE,), timedelta(minutes=15), 0.1, True)
    assert found.points == 9
    assert found.problems[0].judged == (Judged("why", 3, {"a": 1, "b": 2}),)
    assert load_papers(path) == {"quiz": Paper("quiz", "quiz", "adjoints-2-1", (2, 2))}


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("late =", "latte =", "no 'latte'"),
        ('part = "why"', 'parts = "why"', "no 'parts'"),
        (", rubric = { a = 1, b = 2 }", "", "worth 0"),
        ('name = "quiz"', 'name = "a1"', "have the name 'a1'"),
        ("points = [2, 2]", "points = 4", "those of each problem"),
    ],
)
def test_a_slip_in_the_file_of_assignments_is_named(
    tmp_path: Path, old: str, new: str, says: str
) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "page.md").write_text(PAGE)
    path = tmp_path / "a.toml"
    path.write_text(TOML.replace(old, new))
    reads = [lambda: load(path, tmp_path / "pages"), lambda: load_papers(path)]
    with pytest.raises(ProblemError, match=says):
        _ = [read() for read in reads]
