"""Whom a name stands for."""

from pathlib import Path

import pytest

from coursework.collect.platforms import Owner
from coursework.collect.roster import Roster, Student
from coursework.exercise.trusted import ProblemError


def roster(folder: Path, *lines: str) -> Roster:
    path = folder / "roster.csv"
    path.write_text("\n".join(["id,name,mail", *lines]) + "\n")
    return Roster(path)


@pytest.mark.parametrize(
    ("name", "who"), [("U000", "u000"), ("007", "7"), ("7", "7"), ("0", "00"), ("u0", "u0")]
)
def test_what_a_spreadsheet_changes_in_an_id_tells_nobody_apart(
    tmp_path: Path, name: str, who: str
) -> None:
    found = roster(tmp_path, "u000,,", "7,,", "00,,")
    assert found.find(name).id == who
    assert found.listed(Owner(name, name, id=name, platform="canvas")) == (
        "" if who == "u0" else who
    )


@pytest.mark.parametrize("twice", [("u000", "U000"), ("007", "7"), ("7", "7")])
def test_ids_that_differ_in_that_alone_are_refused(tmp_path: Path, twice: tuple[str, str]) -> None:
    with pytest.raises(ProblemError, match=f"line 3: the id {twice[1]} is that of"):
        roster(tmp_path, *(f"{name},," for name in twice))


def test_a_name_of_signs_is_nobody_s(tmp_path: Path) -> None:
    found = roster(tmp_path, "u000,,", "u001,Ada,ada@example.org")
    assert found.find("!!").id == "!!"
    assert found.listed(Owner("!!", "1", platform="moodle")) == ""


ADA, BO = ("u1", "Ada Ä. Lovelace", "ada@example.org"), ("u2", "Bo Li", "bo@example.org")
TABLES = {
    "ids alone": "id\nu1\nu2\n",
    "tabs": "id\tname\tmail\n" + "".join("\t".join(row) + "\n" for row in (ADA, BO)),
    "semicolons": "mail;ID;name;seat\n"
    "ada@example.org;u1;Ada Ä. Lovelace;7\nbo@example.org;u2;Bo Li;\n",
    "Moodle": "First name,Last name,ID number,Email address,Groups\n"
    "Ada Ä.,Lovelace,u1,ada@example.org,red\nBo,Li,u2,bo@example.org,\n",
    "Canvas": "Student,ID,SIS User ID,SIS Login ID,Section,a1 (12)\n"
    "    Points Possible,,,,,5\n"
    '"Lovelace, Ada Ä.",60,u1,ada@example.org,1,3\n"Li, Bo",61,u2,bo@example.org,1,\n',
}


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("table", TABLES)
def test_a_roster_is_read_as_programs_write_it(tmp_path: Path, table: str, encoding: str) -> None:
    path = tmp_path / "roster.csv"
    path.write_bytes(TABLES[table].replace("\n", "\r\n").encode(encoding))
    found = Roster(path)
    assert list(found.students) == ["u1", "u2"]
    if table == "ids alone":
        assert found.students["u1"] == Student("u1")
        return
    assert {student.mail for student in found.students.values()} == {ADA[2], BO[2]}
    for name in ("u1", "Ada Ä. Lovelace", "ada@example.org", "lovelaceadaä."):
        assert found.find(name).id == "u1"
    assert found.students["u1"].group == ("red" if table == "Moodle" else "")


def test_canvas_s_own_numbers_tell_two_of_one_name_apart(tmp_path: Path) -> None:
    path = tmp_path / "roster.csv"
    path.write_text("Student,ID,SIS User ID\nAda Li,60,u1\nAda Li,61,u2\nBo,62,60\n")
    found = Roster(path)
    for number, who in (("60", "u1"), ("61", "u2"), ("62", "60")):
        assert found.listed(Owner("liada", number, id=number, platform="canvas")) == who
