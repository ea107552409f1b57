"""Whom a name stands for."""

from pathlib import Path

import pytest

from coursework.names import Owner
from coursework.roster import Roster
from coursework.trusted import ProblemError


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
