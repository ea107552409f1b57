"""A folder graded by the command: layouts, tables, pages, going on after a stop."""

import argparse
import csv
import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup

import coursework
from coursework import grade
from coursework.__main__ import _secret
from coursework.collect import submissions
from coursework.exercise.assignments import Assignment
from coursework.exercise.pages import parse
from coursework.mark import assess, batch, marks
from coursework.sandbox import jail
from tests.coursework.attacks import (
    ASSIGNMENT,
    GOOD,
    IMPORT,
    KINK,
    LAYER,
    PAGE,
    RELU,
    SECRET,
    WRONG,
    WRONG_LAYER,
    notebook,
)

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("isolated")]

OTHER = Assignment("a2", "Layers", ASSIGNMENT.problems[1:])
ASSIGNMENTS = {"a1": ASSIGNMENT, "a2": OTHER}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, "ann/a1.ipynb", GOOD)
    write(tmp_path, "bob/a1.ipynb", (KINK, WRONG_LAYER))
    write(tmp_path, "bob/a2.ipynb", GOOD)
    return tmp_path


def write(folder: Path, name: str, cells: Sequence[str]) -> Path:
    path = folder / "in" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(notebook(*cells), encoding="utf-8")
    return path


def token(name: str, **more: Any) -> dict[str, Any]:
    """Metadata of a notebook that was released for this assignment."""
    made = ASSIGNMENTS.get(name, ASSIGNMENT).token(SECRET)
    return {"coursework": {"token": replace(made, assignment=name, **more).signed(SECRET)}}


def arguments(folder: Path, *options: str) -> argparse.Namespace:
    """In one sandbox: to start another takes longer than the few notebooks of a test."""
    parser = argparse.ArgumentParser()
    grade.add_arguments(parser)
    places = [str(folder / "in"), "--output", str(folder / "out"), "--jobs", "1"]
    return parser.parse_args([*places, *options])


def run(folder: Path, *options: str) -> int:
    return grade.run(arguments(folder, *options), ASSIGNMENTS, lambda _: SECRET)


def table(folder: Path, name: str = "grades.csv") -> list[dict[str, str]]:
    with (folder / "out" / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_table_has_each_student_and_assignment(folder: Path) -> None:
    assert run(folder) == 0
    rows = [(r["student"], r["assignment"], r["score"], r["max_score"]) for r in table(folder)]
    assert rows == [
        ("ann", "a1", "5", "5"),
        ("bob", "a1", "2", "5"),
        ("ann", "a2", "", "2"),
        ("bob", "a2", "2", "2"),
    ]
    assert [row["ex-relu"] for row in table(folder)] == ["3", "2", "", ""]
    assert table(folder)[2]["remarks"] == "Nothing handed in."


def test_the_columns_are_those_of_nbgrader(folder: Path) -> None:
    (folder / "in" / "ann" / "timestamp.txt").write_text("2026-11-20 08:30:00.5 UTC\n")
    (folder / "in" / "bob" / "timestamp.txt").write_text("=cmd|' /C calc'!A0")
    run(folder)
    text = (folder / "out" / "grades-nbgrader.csv").read_text()
    assert text.splitlines()[:3] == [
        "assignment,duedate,timestamp,student_id,last_name,first_name,email,"
        "raw_score,late_submission_penalty,score,max_score",
        "a1,,2026-11-20 08:30:00.5,ann,,,,5.0,0.0,5.0,5.0",
        "a1,,,bob,,,,2.0,0.0,2.0,5.0",
    ]


LAYOUTS = {  # of the folder of all submissions: a file, and whose work it is
    "ann/a1.ipynb": "ann: a1",
    "bob/a1/any name.ipynb": "bob: a1",
    "cleo_a1.ipynb": "cleo: a1",
    "d_e-a2.ipynb": "d_e: a2",
    "a1/eve.ipynb": "eve: a1",
    "a1/fay_a1.ipynb": "fay: a1",
    "a2/gil/x.ipynb": "gil: a2",
    "hal/a2/unzipped/x.ipynb": "hal: a2",
    "ivo/unzipped/a1.ipynb": "ivo: a1",
    "a1/a1/x.ipynb": "a1: a1",  # a student who has the name of an assignment
    "a1/una/a1.IPYNB": "una: a1",
    "vic/A1.Ipynb": "vic: a1",
    "Zoe\u0308/a1.ipynb": "Zoë: a1",
    "Zoë_a2.ipynb": "Zoë: a2",
    "Ada Lovelace_4711_assignsubmission_file/a1.ipynb": "Ada Lovelace: a1",
    "Ada Lovelace_4899_assignsubmission_file_/a2.ipynb": "Ada Lovelace: a2",
    "Bo Li_1_assignsubmission_file_a1.ipynb": "Bo Li: a1",
    "lovelaceada_LATE_12345_67890_a1-1.ipynb": "lovelaceada_12345: a1",
    "lovelaceada_12345_77777_a2.ipynb": "lovelaceada_12345: a2",
    "ada_a1 (1).ipynb": "ada: a1",
    "submission_99/a1.ipynb": "c77: a1",
    "山田\u3000太郎/a1.ipynb": "山田\u3000太郎: a1",
    "علی\u200cرضا_a1.ipynb": "علی\u200cرضا: a1",
}


def test_every_layout_is_understood(tmp_path: Path) -> None:
    for name in LAYOUTS:
        write(tmp_path, name, GOOD)
    write(tmp_path, "ann/.ipynb_checkpoints/a1-checkpoint.ipynb", WRONG)
    (tmp_path / "in" / "submission_metadata.yml").write_text(
        "submission_99:\n  :submitters:\n  - :name: Cy Twombly\n    :sid: c77\n"
    )
    collection = submissions.collect(tmp_path / "in", list(ASSIGNMENTS))
    assert not collection.strays
    works = [f"{item.student}: {item.assignment}" for item in collection.submissions]
    assert sorted(works) == sorted(LAYOUTS.values())


def test_one_assignment_of_several_takes_no_other(tmp_path: Path) -> None:
    for name in ("a1", "a2"):
        text = notebook(*GOOD, metadata=token(name))
        write(tmp_path, f"ann/{name}.ipynb", GOOD).write_text(text)
    known: dict[str, list[str]] = {name: [] for name in ASSIGNMENTS}
    [found] = submissions.collect(
        tmp_path / "in", ["a1"], known, secret=lambda _: SECRET
    ).submissions
    assert found.path.name == "a1.ipynb"


def test_no_name_is_a_formula(tmp_path: Path) -> None:
    write(tmp_path, '=HYPERLINK("x")_a1.ipynb', GOOD)
    run(tmp_path)
    assert table(tmp_path)[0]["student"] == '\'=HYPERLINK("x")'
    assert table(tmp_path, "grades-nbgrader.csv")[0]["student_id"] == '\'=HYPERLINK("x")'


def test_a_notebook_of_another_name_is_known_by_its_token(tmp_path: Path) -> None:
    claims = {"one (1)": "a1", "two": "a2", "three": "a9"}
    for name, claim in claims.items():
        text = notebook(*GOOD, metadata=token(claim))
        write(tmp_path, f"ann/{name}.ipynb", GOOD).write_text(text)
    write(tmp_path, "bob.ipynb", GOOD).write_text("[1]")
    write(tmp_path, "cleo.ipynb", GOOD).write_text('{"metadata": [1]}')
    found = submissions.collect(
        tmp_path / "in", list(ASSIGNMENTS), secret=lambda _: SECRET
    ).submissions
    places = [(item.student, item.assignment, item.path.name) for item in found]
    assert places == [("ann", "a1", "one (1).ipynb"), ("ann", "a2", "two.ipynb")]


def test_one_assignment_needs_no_name(tmp_path: Path) -> None:
    for name in ("ann.ipynb", "bob/anything.ipynb", "cleo_a1.ipynb"):
        write(tmp_path, name, GOOD)
    found = submissions.collect(tmp_path / "in", ["a1"]).submissions
    assert [item.student for item in found] == ["ann", "bob", "cleo"]


def test_a_name_that_is_not_text_is_graded_too(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path / "in") + b"/\xff\xfe_a1.ipynb"
    os.makedirs(os.path.dirname(path))
    Path(os.fsdecode(path)).write_text(notebook(*GOOD))
    assert run(tmp_path) == 0
    assert table(tmp_path)[0]["score"] == "5"


def page(folder: Path, student: str) -> BeautifulSoup:
    text = (folder / "out" / "feedback" / f"{student}.html").read_text(encoding="utf-8")
    return BeautifulSoup(text, "html.parser")


def test_of_two_submissions_the_newest_counts(tmp_path: Path) -> None:
    old = write(tmp_path, "ann/a1.ipynb", GOOD)
    new = write(tmp_path, "ann/a1 (1).ipynb", WRONG)
    for seconds, path in enumerate((old, new)):
        os.utime(path, (seconds, seconds))
    run(tmp_path)
    [row] = table(tmp_path)
    assert row["score"] == "0"
    assert row["remarks"] == "Not graded beside it: ann/a1.ipynb."
    assert "This is graded, and not ann/a1.ipynb" in page(tmp_path, "ann").text
    os.utime(old, (9, 9))
    run(tmp_path)
    assert table(tmp_path)[0]["score"] == "5"


@pytest.mark.parametrize(
    "copy",
    [
        *("a1-Copy1", "a1-Copy12", "a1 - Copy", "a1 – Kopie", "a1 - Kopie (2)", "a1 Kopie"),
        *("a1 copy 2", "a1 - Copie", "a1 - copia", "a1(1)", "a1 (1)-Copy3", "A1-copy1"),
    ],
)
def test_a_copy_is_one_more_of_the_same_name(tmp_path: Path, copy: str) -> None:
    os.utime(write(tmp_path, "ann/a1.ipynb", WRONG), (1, 1))
    write(tmp_path, f"ann/{copy}.ipynb", GOOD)
    [found] = submissions.collect(tmp_path / "in", list(ASSIGNMENTS)).submissions
    assert found.path.stem == copy
    assert found.others == ("ann/a1.ipynb",)


@pytest.mark.parametrize("only", [["a1"], ["a1", "a2"]])
def test_the_right_name_comes_before_a_newer_file(tmp_path: Path, only: list[str]) -> None:
    right = write(tmp_path, "eve/a1/a1.ipynb", GOOD)
    write(tmp_path, "eve/a1/Untitled.ipynb", WRONG)
    write(tmp_path, "ann/a1.ipynb", GOOD)
    write(tmp_path, "ann/a2.ipynb", WRONG)
    os.utime(right, (1, 1))
    known = dict.fromkeys(ASSIGNMENTS, ())
    found = submissions.collect(tmp_path / "in", only, known).submissions
    paths = [str(item.path.relative_to(tmp_path / "in")) for item in found]
    assert [path for path in paths if "a2.ipynb" not in path] == ["ann/a1.ipynb", "eve/a1/a1.ipynb"]
    assert [item.others for item in found if item.student == "eve"] == [("eve/a1/Untitled.ipynb",)]


def test_what_is_not_graded_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder, "ann/notes.ipynb", [IMPORT])
    write(folder, "v/x.ipynb", ()).write_text(notebook(*GOOD, metadata=token("a9")))
    for name in ("cleo/a1.ipynb.gz", "dan/a1.zip", "list.csv", ".fay/a1.ipynb", "a1/gil.zip"):
        write(folder, name, GOOD)
    (folder / "in/dan/a1.zip").write_text("no zip")
    (folder / "in/a1/gil.zip").write_text("no zip")
    for name in ("ann/a2.ipynb.pdf", "a1/hal/a1.tar.gz", "a1/ida.pdf", "kim/work.py"):
        write(folder, name, GOOD)
    write(folder, "ann/data.csv", GOOD)  # lies beside a notebook, and is no answer
    for name in ("eve", "a1/lea", "__MACOSX", "ann/.ipynb_checkpoints"):
        (folder / "in" / name).mkdir()
    (folder / "in" / "mia").symlink_to(folder / "in" / "ann")
    assert run(folder) == 0
    said = [
        ".fay: a hidden folder: rename it without the dot",
        "a1/gil.zip: an archive that is not a zip of one notebook: unpack it",
        "a1/hal/a1.tar.gz: an archive that is not a zip of one notebook: unpack it",
        "a1/ida.pdf: not a notebook",
        "a1/lea: an empty folder",
        "ann/a2.ipynb.pdf: not a notebook by its name: rename it so that it ends in .ipynb",
        "ann/notes.ipynb: of no assignment: name it a1.ipynb or a2.ipynb",
        "cleo/a1.ipynb.gz: an archive that is not a zip of one notebook: unpack it",
        "dan/a1.zip: an archive that is not a zip of one notebook: unpack it",
        "eve: an empty folder",
        "kim/work.py: not a notebook",
        "list.csv: not a notebook",
        "mia: a link, which is not followed",
        "v/x.ipynb: of the assignment a9",
    ]
    told = capsys.readouterr().out.splitlines()
    assert told[:-2] == [f"Not graded, {line}" for line in said]
    assert "No notebook of a1, a2 has a token" in told[-2]
    soup = BeautifulSoup((folder / "out" / "summary.html").read_text(), "html.parser")
    assert [item.text for item in soup.find_all("li")] == said
    rows = {row["student"]: row for row in table(folder) if row["assignment"] == "a1"}
    for student in ("cleo", "dan", "eve", "fay", "gil", "hal", "ida", "kim", "lea", "mia"):
        assert rows[student]["score"] == ""  # an import must not take it for 0
        assert "Nothing handed in. Not graded, " in rows[student]["remarks"]
    assert "list" not in rows


def test_one_student_by_two_names_is_graded_once(folder: Path) -> None:
    """By the number, and as Canvas writes the name: the newest counts, the other is named."""
    (folder / "in" / "roster.csv").write_text("id,name,mail\nu1,Ann Ames,ann@example.org\n")
    os.utime(folder / "in" / "ann" / "a1.ipynb", (1, 1))
    write(folder, "u1/a1.ipynb", WRONG)
    os.utime(write(folder, "amesann_7_8_a1.ipynb", GOOD), (2, 2))
    assert run(folder) == 0
    [row] = [r for r in table(folder) if (r["student"], r["assignment"]) == ("u1", "a1")]
    assert row["score"] == "0"
    others = ("ann/a1.ipynb", "amesann_7_8_a1.ipynb")
    assert row["remarks"] == " ".join(f"Not graded beside it: {name}." for name in others)
    assert "This is graded, and not ann/a1.ipynb, amesann_7_8_a1.ipynb." in page(folder, "u1").text


def test_two_who_claim_to_be_one_are_named_first(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "in" / "roster.csv").write_text("id,name,mail\nu1,Ann Ames,\n")
    names = ("amesann_7_8_a1.ipynb", "amesann_9_8_a1.ipynb")
    for name in names:
        write(folder, name, GOOD)
    (folder / "in" / "0.zip").touch()
    assert run(folder) == 0
    said = capsys.readouterr().out.splitlines()[1:3]
    soup = BeautifulSoup((folder / "out" / "summary.html").read_text(), "html.parser")
    listed = [item.text for item in soup.find_all("ul")[0].find_all("li")]
    assert said == [f"Not graded, {line}" for line in listed]
    assert [line.partition(":")[0] for line in listed] == list(names)
    assert soup.find("h2").find_next("ul") == soup.find("ul")
    [row] = [r for r in table(folder) if (r["student"], r["assignment"]) == ("u1", "a1")]
    assert row["score"] == ""
    assert all(f"Not graded, {name}" in row["remarks"] for name in names)


def test_two_students_of_one_name_stay_two(tmp_path: Path) -> None:
    for number in (11, 12):
        write(tmp_path, f"Ada Li_{number}_assignsubmission_file/a1.ipynb", GOOD)
    found = submissions.collect(tmp_path / "in", list(ASSIGNMENTS)).submissions
    assert [item.student for item in found] == ["Ada Li", "Ada Li_12"]


ROSTER = """\
id,name,mail
u1,Ann Ames,ann@example.org
u2,Bob Boole,bob@example.org
u3,Cleo Cantor,cleo@example.org
"""


def test_the_roster_tells_who_is_absent(folder: Path) -> None:
    write(folder, "zoe/a1.ipynb", GOOD)
    (folder / "in" / "roster.csv").write_text(ROSTER)
    assert run(folder) == 0
    rows = [r for r in table(folder) if r["assignment"] == "a1"]
    assert [(r["student"], r["name"], r["score"], r["remarks"]) for r in rows] == [
        ("u1", "Ann Ames", "5", ""),
        ("u2", "Bob Boole", "2", ""),
        ("u3", "Cleo Cantor", "", "Nothing handed in."),
        ("zoe", "", "5", "Not on the roster."),
    ]
    assert "Ann Ames (u1)" in page(folder, "u1").text
    soup = BeautifulSoup((folder / "out" / "summary.html").read_text(), "html.parser")
    links = {a.text.strip(): a["href"] for a in soup.find_all("a")}
    assert "Cleo Cantor (u3)" in soup.text
    assert set(links) == {"Ann Ames (u1)", "Bob Boole (u2)", "zoe"}
    assert all((folder / "out" / link).exists() for link in links.values())
    moodle = (folder / "out" / "grades-moodle.csv").read_text().splitlines()
    assert moodle == [  # and not zoe, whose points Moodle would give to Cleo
        "ID number,Full name,Email address,Backward passes,Layers",
        "u1,Ann Ames,ann@example.org,5,",
        "u2,Bob Boole,bob@example.org,2,2",
        "u3,Cleo Cantor,cleo@example.org,,",
    ]
    canvas = (folder / "out" / "grades-canvas.csv").read_text().splitlines()
    assert canvas[0] == "Student,ID,SIS User ID,SIS Login ID,Section,Backward passes,Layers"
    assert canvas[1:3] == ["Points Possible,,,,,5,2", "Ann Ames,,u1,ann@example.org,,5,"]


def test_a_group_shares_what_one_of_it_handed_in(folder: Path) -> None:
    (folder / "in" / "roster.csv").write_text(
        "id,name,group\nann,Ann Ames,red\nbob,Bob Boole,blue\ncleo,Cleo Cantor,Red\ndan,,blue\n"
    )
    write(folder, "dan/a1.ipynb", WRONG)
    assert run(folder) == 0
    rows = {(r["student"], r["assignment"]): (r["score"], r["remarks"]) for r in table(folder)}
    assert rows["cleo", "a1"] == ("5", "Handed in with Ann Ames (ann).")
    assert rows["ann", "a1"] == ("5", "")
    assert (rows["bob", "a1"][0], rows["dan", "a1"][0]) == ("2", "0")
    assert rows["dan", "a2"] == ("2", "Handed in with Bob Boole (bob).")
    assert "Feedback for Cleo Cantor" in page(folder, "cleo").text
    assert "Alike" not in (folder / "out" / "summary.html").read_text()


def test_a_roster_of_ids_alone_is_enough_for_moodle(folder: Path) -> None:
    (folder / "in" / "roster.csv").write_text("id,name,mail\nann,,\nbob,,\n")
    assert run(folder) == 0
    moodle = (folder / "out" / "grades-moodle.csv").read_text().splitlines()
    assert moodle[1:] == ["ann,ann,,5,", "bob,bob,,2,2"]


def test_without_a_roster_platforms_get_what_their_names_tell(tmp_path: Path) -> None:
    write(tmp_path, "lovelaceada_LATE_12345_67890_a1-1.ipynb", GOOD)
    write(tmp_path, "Ann Ames_4711_assignsubmission_file/a2.ipynb", GOOD)
    assert run(tmp_path) == 0
    assert (tmp_path / "out" / "grades-moodle.csv").read_text().splitlines()[1:] == [
        ",Ann Ames,,,2",
        ",lovelaceada_12345,,5,",
    ]
    canvas = (tmp_path / "out" / "grades-canvas.csv").read_text().splitlines()
    assert canvas[3] == "lovelaceada_12345,12345,lovelaceada_12345,,,5,"


def test_feedback_of_an_earlier_run_goes(folder: Path) -> None:
    run(folder)
    own = folder / "out" / "feedback" / "letter.html"
    own.write_text("<p>from the teacher</p>")
    (folder / "in" / "roster.csv").write_text(ROSTER)
    (folder / "in" / "bob" / "a1.ipynb").unlink()
    (folder / "in" / "bob" / "a2.ipynb").unlink()
    run(folder)
    assert {path.name for path in own.parent.iterdir()} == {"u1.html", "letter.html"}


@pytest.mark.parametrize("name", ["delacruzmaria_777_8_a1", "Cruz Maria de la_a1", "m1_a1"])
def test_surnames_may_have_several_words(tmp_path: Path, name: str) -> None:
    write(tmp_path, f"{name}.ipynb", GOOD)
    (tmp_path / "in" / "roster.csv").write_text("id,name,mail\nm1,Maria de la Cruz,\n")
    run(tmp_path)
    assert [(row["student"], row["score"]) for row in table(tmp_path)] == [("m1", "5")]


def test_a_name_that_several_have_is_called_that(tmp_path: Path) -> None:
    write(tmp_path, "Ann Ames/a1.ipynb", GOOD)
    (tmp_path / "in" / "roster.csv").write_text("id,name,mail\nu1,Ann Ames,\nu2,Ann Ames,\n")
    run(tmp_path)
    assert table(tmp_path)[0]["remarks"] == "Several on the roster have this name."


def test_the_roster_that_is_used_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "in" / "roster.csv").write_text(ROSTER)
    run(folder)
    said = capsys.readouterr().out.splitlines()[0]
    assert said == f"Roster: {folder / 'in' / 'roster.csv'}, 3 students."


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("bob,a1,ex-relu,nan,x", "'nan' is no number"),
        ("bob,a1,ex-relu,1e999,x", "'1e999' is no number"),
        ("bob,a7,ex-relu,1,x", "no assignment 'a7'; there are a1, a2"),
        ("bob,a1,ex-relu,1,x\nbob,a1,ex-relu,2,y", "line 3: bob, a1, ex-relu for the second time"),
    ],
)
def test_points_that_cannot_be_given_are_refused(
    folder: Path, line: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "out").mkdir()
    (folder / "out" / "changes.csv").write_text(f"student,assignment,exercise,points,why\n{line}\n")
    assert run(folder) == 2
    assert said in capsys.readouterr().err
    assert not (folder / "out" / "grades.csv").exists()


def test_points_that_may_be_a_typing_error_are_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "out").mkdir()
    (folder / "out" / "changes.csv").write_text(
        "student,assignment,exercise,points,why\nbob,a1,ex-relu,99,x\nbbo,a1,ex-relu,1,x\n"
    )
    assert run(folder) == 0
    assert capsys.readouterr().out.splitlines()[1:3] == [
        "Given by hand: bbo, a1, ex-relu: bbo has handed in nothing here, and is on no roster",
        "Given by hand: bob, a1, ex-relu: 99 of 3 points",
    ]


def test_what_lies_in_the_wrong_place_is_said(tmp_path: Path) -> None:
    other = notebook(IMPORT, metadata=token("a2"))
    write(tmp_path, "ann/a1.ipynb", ()).write_text(other)
    write(tmp_path, "bob/a1.ipynb", ()).write_text(notebook(IMPORT, LAYER, checks=(RELU,)))
    run(tmp_path)
    [row] = [row for row in table(tmp_path) if row["student"] == "ann" and row["score"]]
    assert row["assignment"] == "a2"
    assert row["remarks"] == "Its name says a1, but by its token it is a2."
    assert "not defined: cell 3 is that of a check" in page(tmp_path, "bob").text


STUB = "def relu_backward(dH, Z):\n    raise NotImplementedError"


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ((IMPORT, RELU, STUB), "cell 2 defines relu_backward, too, but comes before cell 3"),
        ((STUB, IMPORT, f"{RELU}\n("), "cell 3 defines relu_backward, too, but raised SyntaxError"),
        ((STUB, f"%%cython\n{RELU}"), "cell 2 defines relu_backward, too, but begins with %%cyth"),
        ((STUB, STUB), "It still raises NotImplementedError."),
        ((IMPORT, RELU.replace("relu_", "relu")), "cell 2 defines relubackward: its name is to be"),
        ((f"%%bash\n{RELU}",), "relu_backward is not defined: cell 1 begins with %%bash"),
        (("import nowhere\nbase = nowhere.Base", "class relu_backward(base): pass"),
         "not defined: cell 2 raised NameError"),
    ],
)  # fmt: skip
def test_it_is_said_which_cell_may_hold_the_answer(
    tmp_path: Path, cells: Sequence[str], said: str
) -> None:
    write(tmp_path, "ann/a1.ipynb", cells)
    run(tmp_path)
    assert said in page(tmp_path, "ann").text


@pytest.mark.parametrize("kind", ["markdown", "raw"])
@pytest.mark.parametrize("stub", [(), (STUB,)])
def test_an_answer_in_a_cell_of_text_is_named(tmp_path: Path, kind: str, stub: Any) -> None:
    path = write(tmp_path, "ann/a1.ipynb", (*stub, RELU))
    made = json.loads(path.read_text())
    made["cells"][-1]["cell_type"] = kind
    path.write_text(json.dumps(made))
    run(tmp_path)
    said = f"cell {len(stub) + 1} {'defines relu_backward, too, but ' * len(stub)}is a cell of type"
    assert f"{said} {kind}" in page(tmp_path, "ann").text


@pytest.mark.parametrize(
    "body", ["raise ValueError('\\u202eevil')", "return '\u2066evil'", "(\u202e"]
)
def test_no_text_of_a_submission_turns_a_page_around(tmp_path: Path, body: str) -> None:
    path = write(
        tmp_path, "ann/a1.ipynb", (f"def relu_backward(dH, Z):\n    {body}  # \u202elive",)
    )
    made = json.loads(path.read_text())
    words = {"cell_type": "markdown", "metadata": {}, "source": "\u202eevil"}
    made["cells"][:0] = [{**words, "metadata": {"nbgrader": {"grade_id": "ex-relu"}}}, words]
    path.write_text(json.dumps(made))
    run(tmp_path)
    reports = [*(tmp_path / "out").glob("**/*.html"), *(tmp_path / "out").glob("*.csv")]
    assert len(reports) > 3
    for report in reports:
        text = report.read_text(encoding="utf-8")
        assert "\u202e" not in text
        assert "\u2066" not in text
    assert "\\u202eevil" in page(tmp_path, "ann").text


def test_many_strays_are_counted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for k in range(grade.STRAYS + 7):
        (folder / "in" / f"{k}.txt").touch()
    run(folder)
    lines = [x for x in capsys.readouterr().out.splitlines() if x.startswith("Not graded")]
    assert len(lines) == grade.STRAYS + 1
    assert lines[-1].startswith("Not graded: 7 more")


def test_a_submission_is_told_little_of_the_right_answer_s_length() -> None:
    told = [assess._most(length) for length in range(0, 2**20, 100)]
    assert {assess._most(length) for length in range(2**14)} == {2 * assess.RESULT_BYTES}
    assert len(set(told)) <= 5
    assert all(most >= 16 * 100 * k for k, most in enumerate(told))


def test_an_import_that_fails_costs_its_line_alone(tmp_path: Path) -> None:
    write(tmp_path, "ann/a1.ipynb", (f"import nowhere\n{IMPORT}\n{RELU}", LAYER))
    run(tmp_path)
    [row] = table(tmp_path)
    assert row["score"] == row["max_score"]
    assert "Cell 1 raised ModuleNotFoundError: No module named 'nowhere'" in row["remarks"]


def test_names_of_arguments_that_have_changed_are_said(tmp_path: Path) -> None:
    by_name = PAGE.replace('inputs["dH"], inputs["Z"])', 'Z=inputs["Z"], dH=inputs["dH"])')
    assignments = {"a1": Assignment("a1", "By name", tuple(parse(by_name).values()))}
    write(tmp_path, "ann/a1.ipynb", (IMPORT, RELU.replace("dH", "d"), LAYER))
    assert grade.run(arguments(tmp_path), assignments, lambda _: SECRET) == 0
    assert "; keep the names of the arguments" in page(tmp_path, "ann").text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name,mail\na,b\n", "has no column 'id'"),
        ("id,name,id\na,b,c\n", "has two columns 'id'"),
        ("id,name,mail\n1,a,\n1,b,\n", "line 3: the id 1 is that of an earlier line"),
        ("id,name,mail\n,a,\n", "line 2: a student without an id"),
    ],
)
def test_a_wrong_roster_is_refused(
    folder: Path, text: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "in" / "roster.csv").write_text(text)
    assert run(folder) == 2
    assert said in capsys.readouterr().err


def test_points_given_by_hand_stay(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(folder)
    changes = folder / "out" / "changes.csv"
    assert changes.read_text() == "student,assignment,exercise,points,why\n"
    changes.write_text(
        changes.read_text() + "bob,a1,ex-layer,1.5,a typing error\nkim,a1,ex-relu,3,was ill\n"
    )
    for _ in range(2):
        assert run(folder) == 0
        rows = {r["student"]: r for r in table(folder) if r["assignment"] == "a1"}
        assert (rows["bob"]["score"], rows["bob"]["ex-layer"]) == ("3.5", "1.5")
        assert rows["bob"]["remarks"] == "ex-layer: points given by hand. a typing error"
        assert (rows["kim"]["score"], rows["kim"]["ex-relu"]) == ("3", "3")
    assert "given by hand. a typing error" in page(folder, "bob").text
    summary = (folder / "out" / "summary.html").read_text()
    assert "2 handed in; mean 4.25" in summary  # kim did not
    changes.write_text(changes.read_text().replace("ex-layer", "ex-leyer"))
    assert run(folder) == 2
    said = capsys.readouterr().err
    assert "line 2: a1 has no exercise 'ex-leyer'; it has ex-relu, ex-layer" in said


DECOY = "def relu_backward(dH, Z):\n    return 'decoy'"
INDENTED = RELU.replace("\n", "\n    ")


@pytest.mark.parametrize(
    ("cells", "checks", "shown"),
    [
        ((f"exec({RELU!r})",), (DECOY,), "cannot be shown"),
        ((f"if True:\n    {INDENTED}",), (), "if True:"),
        ((RELU, f"{DECOY}\n("), (), "(Z > 0)"),
    ],
    ids=["exec", "in a block", "a failed cell"],
)
def test_what_came_is_what_ran(
    tmp_path: Path, cells: tuple[str, ...], checks: tuple[str, ...], shown: str
) -> None:
    text = notebook("import numpy as np", *cells, checks=checks)
    write(tmp_path, "ann/a1.ipynb", ()).write_text(text)
    run(tmp_path)
    came = page(tmp_path, "ann").find_all("details")[1].text
    assert shown in came
    assert "decoy" not in came
    assert table(tmp_path)[0]["ex-relu"] == "3"


def test_sentences_beside_an_answer_are_shown(tmp_path: Path) -> None:
    data = json.loads(notebook(*GOOD))
    mine = {"cell_type": "markdown", "metadata": {}, "source": "The kink, <b>because</b>."}
    named = {"nbgrader": {"grade_id": "ex-relu", "grade": False, "solution": True}}
    data["cells"][1]["metadata"] = named
    data["cells"].insert(2, mine)
    write(tmp_path, "ann/a1.ipynb", ()).write_text(json.dumps(data))
    run(tmp_path)
    whole = BeautifulSoup((tmp_path / "out" / "summary.html").read_text(), "html.parser")
    for soup in (page(tmp_path, "ann"), whole):
        assert "The kink, <b>because</b>." in soup.text


def test_a_long_list_of_alike_answers_is_folded(tmp_path: Path) -> None:
    for k in range(7):
        write(tmp_path, f"s{k}/a1.ipynb", (RELU, IMPORT, LONG))
    run(tmp_path)
    soup = BeautifulSoup((tmp_path / "out" / "summary.html").read_text(), "html.parser")
    assert "Alike: 7 answers" in [summary.text for summary in soup.find_all("summary")]


LONG = """\
def layer_backward(dO, X, W):
    rows = [sum(o * x for o, x in zip(a, b)) for a in dO.T for b in X.T]
    dW = np.array(rows).reshape(W.shape)
    if dW.shape != W.shape:
        raise ValueError("shapes")
    return dW, dO @ W
"""


def test_answers_that_are_alike_are_reported(tmp_path: Path) -> None:
    renamed = LONG.replace("rows", "lines").replace("    if", "    # mine\n    if")
    for student, code in {"ann": LONG, "bob": renamed, "cleo": LONG.replace("@", "@ 1 @")}.items():
        write(tmp_path, f"{student}/a1.ipynb", (RELU, "import numpy as np", code))
    run(tmp_path)
    text = (tmp_path / "out" / "summary.html").read_text()
    soup = BeautifulSoup(text, "html.parser")
    assert [p.text for p in soup.find_all("p") if p.text.startswith("Alike")] == ["Alike: ann, bob"]
    assert "no proof" in soup.text


def test_tables_are_safe_in_every_program(tmp_path: Path) -> None:
    nasty = "x;=cmd|' /C calc'!A0;\n=HYPERLINK(1)\x1b]0;a\x07\u202e" + "y" * 5000
    write(tmp_path, "ann/a1.ipynb", (*GOOD, f"raise ValueError({nasty!r})"))
    write(tmp_path, "a;=1+1;b/a1.ipynb", GOOD)
    run(tmp_path)
    for path in (tmp_path / "out").glob("grades*.csv"):
        lines = path.read_text(encoding="utf-8").splitlines()
        assert len(lines) == 3 + (path.name == "grades-canvas.csv")
        assert all(c.isprintable() for line in lines for c in line)
        for separator in ",;\t|":
            for row in csv.reader(lines, delimiter=separator):
                assert not [cell for cell in row if cell.startswith(("=", "+", "-", "@"))]
                assert max(map(len, row)) < 1200


def test_without_isolation_every_page_says_so(folder: Path) -> None:
    run(folder, "--no-isolation")
    for path in [folder / "out" / "summary.html", *(folder / "out" / "feedback").iterdir()]:
        assert "ran without isolation" in path.read_text()


def test_feedback_says_what_was_asked_what_came_and_what_is_wrong(folder: Path) -> None:
    run(folder)
    soup = page(folder, "bob")
    text = " ".join(soup.text.split())
    assert "Feedback for bob" in text
    assert "2 of 5 points" in text
    assert "Write relu_backward" in text
    assert soup.find("math") is not None
    assert "The first result that is wrong is dX: the shape is wrong" in text
    terms = [(t.text, t.find_next("dd").text) for t in soup.find_all("dt")][-2:]
    assert terms == [("expected", "(5, 3)"), ("got", "(5, 2)")]
    assert "return dO.T @ X, dO" in soup.find_all("pre")[-1].text


def test_feedback_holds_no_check_no_answer_no_secret(folder: Path) -> None:
    run(folder)
    for path in (folder / "out" / "feedback").iterdir():
        text = path.read_text(encoding="utf-8")
        for hidden in ("def driver", "rng.normal", SECRET, 'dO @ W"', "import coursework"):
            assert hidden not in text
    answer = ASSIGNMENT.problems[1].answer.splitlines()[-1].strip()
    assert answer not in page(folder, "bob").text.split("Layers")[0]


def test_pages_load_nothing_and_run_nothing(folder: Path) -> None:
    write(folder, "eve <script>x()</script>/a1.ipynb".replace("/script", "script"), GOOD)
    run(folder)
    for path in [folder / "out" / "summary.html", *(folder / "out" / "feedback").iterdir()]:
        soup = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        assert not soup.find_all(["script", "img", "link", "iframe", "object"])
        assert "default-src 'none'" in soup.find("meta", {"http-equiv": True})["content"]
        for link in soup.find_all("a"):
            assert link["href"].startswith("feedback/")


def test_the_summary_shows_the_distribution_and_the_commonest_failures(folder: Path) -> None:
    for name in ("cleo", "dan"):
        write(folder, f"{name}/a1.ipynb", WRONG)
    write(folder, "eve/notes.ipynb", [IMPORT])
    run(folder)
    text = (folder / "out" / "summary.html").read_text(encoding="utf-8")
    soup = BeautifulSoup(text, "html.parser")
    assert "4 handed in; mean 1.75, median 1.00 of 5 points." in soup.text
    label = soup.find("svg")["aria-label"]
    assert (
        label == "Submissions: 2 with 0 to 0.5 points, 1 with 2 to 2.5 points, "
        "1 with 4.5 to 5 points"
    )
    rows = [[c.text for c in row.find_all("td")] for row in soup.find("section").find_all("tr")]
    assert rows[1:] == [
        ["3", "at the kink", "dZ: entries are wrong"],
        ["2", "entries", "dZ: entries are wrong (what is the slope below 0?)"],
    ]
    assert "eve/notes.ipynb" in soup.text
    assert (folder / "out" / soup.find("a")["href"]).exists()


def times(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in (folder / "out" / "marks").iterdir()}


def test_a_second_run_grades_only_what_has_changed(folder: Path) -> None:
    run(folder)
    first = times(folder)
    assert len(first) == 3
    run(folder)
    assert times(folder) == first
    write(folder, "ann/a1.ipynb", WRONG)
    run(folder)
    assert len(times(folder)) == 4
    assert table(folder)[0]["score"] == "0"


@pytest.mark.walk
@pytest.mark.parametrize("what", ["secret", "problem", "limits", "broken"])
def test_what_a_mark_depends_on_is_graded_anew(folder: Path, what: str) -> None:
    run(folder)
    first = times(folder)
    options = arguments(folder)
    assignments, secret = dict(ASSIGNMENTS), SECRET
    if what == "secret":
        secret = "another secret than before"
    elif what == "problem":
        assignments["a1"] = Assignment("a1", "x", ASSIGNMENT.problems[:1])
        assignments.pop("a2")
    elif what == "limits":
        options.cpu = 5.0
    else:
        for path in (folder / "out" / "marks").iterdir():
            path.write_text('{"problems": [')
    assert grade.run(options, assignments, lambda _: secret) == 0
    assert times(folder) != first
    for path in (folder / "out" / "marks").iterdir():
        marks.from_json(path.read_text())


def test_marks_repeat(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    run(folder, "--jobs", "2")
    other = tmp_path_factory.mktemp("again")
    (other / "in").symlink_to(folder / "in")
    run(other)
    assert table(other) == table(folder)
    for path in (folder / "out" / "feedback").iterdir():
        assert (other / "out" / "feedback" / path.name).read_bytes() == path.read_bytes()


def started(folder: Path, *options: str) -> "subprocess.Popen[bytes]":
    """A run of its own process; interrupts reach it, which they do not in background jobs."""
    program = (
        "import signal, sys, tests.coursework.test_grade as t\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "sys.exit(t.run(t.Path(sys.argv[1]), *sys.argv[2:]))"
    )
    return subprocess.Popen(
        [sys.executable, "-c", program, str(folder), *options],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def test_of_two_that_make_a_secret_the_first_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(size: int) -> str:
        (tmp_path / "secret").write_text(f"{SECRET}\n")
        return "the second of two secrets"

    monkeypatch.setattr(secrets, "token_hex", late)
    assert _secret(argparse.Namespace(secret=tmp_path / "secret", book=tmp_path)) == SECRET
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]
    monkeypatch.undo()
    options = argparse.Namespace(secret=tmp_path / "other", book=tmp_path)
    assert len(_secret(options)) == 64
    assert (tmp_path / "other").stat().st_mode & 0o777 == 0o600


@pytest.mark.walk
def test_it_goes_on_after_an_interrupt(tmp_path: Path) -> None:
    for name in ("ann", "bob", "cleo", "dan"):
        write(tmp_path, f"{name}/a1.ipynb", GOOD)
    for name in ("sleepy", "slow", "zoe"):
        write(tmp_path, f"{name}/a1.ipynb", ("import time\ntime.sleep(60)", *GOOD))
    grader = started(tmp_path, "--jobs", "2")
    while len(list((tmp_path / "out" / "marks").glob("*.json"))) < 4:
        assert grader.poll() is None
        time.sleep(0.05)
    grader.send_signal(signal.SIGINT)
    assert grader.wait(timeout=60) == 130
    assert len(times(tmp_path)) == 4
    first = times(tmp_path)
    for name in ("sleepy", "slow", "zoe"):
        write(tmp_path, f"{name}/a1.ipynb", GOOD)
    assert run(tmp_path) == 0
    assert first.items() <= times(tmp_path).items()
    assert [row["score"] for row in table(tmp_path)] == ["5"] * 7


def test_without_isolation_it_refuses(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert run(folder) == 2
    assert "isolation needs Linux" in (said := capsys.readouterr().err)
    assert "--no-isolation" in said
    assert not (folder / "out" / "grades.csv").exists()
    assert run(folder, "--no-isolation") == 0
    assert [row["score"] for row in table(folder)] == ["5", "2", "", "2"]


def test_on_windows_it_refuses_in_any_case(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert run(folder, "--no-isolation") == 2
    assert "WSL" in capsys.readouterr().err


def test_folders_that_a_submission_could_read_are_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    everything = jail.visible_paths(("coursework",))
    assert str(Path(coursework.__file__).parent) in everything
    monkeypatch.setattr(batch, "_try_sandbox", partial(_see, folder))
    assert run(folder) == 2
    assert "which submissions can read; move it elsewhere" in capsys.readouterr().err


def _see(folder: Path, *_: object) -> tuple[Path, ...]:
    return (folder,)


def test_a_folder_that_is_not_there_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path) == 2
    assert f"no folder {tmp_path / 'in'}" in capsys.readouterr().err


def test_an_empty_folder_gives_empty_tables(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    assert run(tmp_path) == 0
    assert table(tmp_path) == []
