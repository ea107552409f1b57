"""Whose a file is: what a platform writes decides, and no text that a student chose."""

import io
import json
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from coursework.collect.notebooks import read_bytes, read_work
from coursework.collect.roster import Roster
from coursework.collect.submissions import Collection, Submission, collect
from coursework.exercise.tokens import Token
from tests.support import sampled

ROSTER = """\
id,name,mail
u000,Ada Lovelace,ada@example.org
u061,Eve Evil,eve@example.org
u062,Bo Li,bo@example.org
"""
GRADESCOPE = """\
submission_1:
  :submitters:
  - :name: Ada Lovelace
    :sid: u000
submission_2:
  :submitters:
  - :name: u000
    :email: eve@example.org
"""
MOODLE = "assignsubmission_file"
# What stands in front of the text that a student chooses: Ada's, and Eve's.
PREFIXES = {
    "canvas": ("lovelaceada_60_98_", "evileve_61_99_"),
    "canvas, late": ("lovelaceada_LATE_60_98_", "evileve_LATE_61_99_"),
    "canvas, in a folder": ("a1/lovelaceada_60_98_", "a1/evileve_61_99_"),
    "moodle": (f"Ada Lovelace_4712_{MOODLE}_", f"Eve Evil_4713_{MOODLE}_"),
    "moodle, folders": (f"Ada Lovelace_4712_{MOODLE}/", f"Eve Evil_4713_{MOODLE}/"),
    "moodle, in a folder": (f"a1/Ada Lovelace_4712_{MOODLE}/", f"a1/Eve Evil_4713_{MOODLE}/"),
    "gradescope": ("submission_1/", "submission_2/"),
    "nbgrader": ("u000/a1/", "u061/a1/"),
    "plain": ("u000/", "u061/"),
    "plain, in a folder": ("a1/u000/", "a1/u061/"),
}
WORDS = ["u000", "U000", "Ada Lovelace", "lovelaceada", "ada@example.org", "ada", "60", "98", "1"]
WORDS += ["_", "-", " ", "_LATE_", "_60_98_", f"_1_{MOODLE}", "layers", "a1", ".ipynb", ".zip"]
WORDS += ["submission_1", "(1)", "-Copy1", "-2", "timestamp", "ä"]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=8).map("".join)


def hand_in(folder: Path, names: Sequence[str]) -> Collection:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    (folder / "roster.csv").write_text(ROSTER)
    return collect(folder, ["a1"], listed=Roster(folder / "roster.csv").listed)


def of(found: Collection, student: str) -> list[Submission]:
    return [item for item in found.submissions if item.student == student]


@pytest.mark.parametrize("layout", sampled(PREFIXES, "canvas", "moodle", "gradescope"))
@given(text=TEXTS, inside=TEXTS)
@example(text=f"u000_1_{MOODLE}_layers", inside="")
@example(text=f"Ada Lovelace_1_{MOODLE}_layers", inside="")
def test_no_text_behind_a_prefix_changes_the_owner(layout: str, text: str, inside: str) -> None:
    ada, eve = PREFIXES[layout]
    names = [f"{ada}a1.ipynb", f"{eve}{text}.ipynb"]
    if eve.endswith("/") and text.strip(". "):
        names.append(f"{eve}{text}.d/{inside}.ipynb")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if layout == "gradescope":
            (folder / "submission_metadata.yml").write_text(GRADESCOPE)
        found = hand_in(folder, names)
        [hers] = of(found, "u000")
        assert (str(hers.path.relative_to(folder)), hers.others) == (names[0], ())
        assert hers.canvas == ("60" if "canvas" in layout else "")
        assert {item.student for item in found.submissions} <= {"u000", "u061"}
        assert {who for stray in found.strays for who in stray.students} <= {"u061"}


@pytest.mark.parametrize(
    "shown",
    [
        *("u000", "U000", "ada", "ada@example.org", "lovelaceada_60_98_x", "u000_1_2_layers"),
        f"Ada Lovelace_1_{MOODLE}_x",
        f"u000_1_{MOODLE}",
    ],
)
def test_a_display_name_is_no_id(tmp_path: Path, shown: str) -> None:
    others = [f"{name}_{MOODLE}/a1.ipynb" for name in ("Ada Lovelace_4712", "Bo Li_4714")]
    found = hand_in(tmp_path, [*others, f"{shown}_4713_{MOODLE}/a1.ipynb"])
    assert [item.others for item in of(found, "u000")] == [()]
    [eve] = [item for item in found.submissions if item.student not in ("u000", "u062")]
    roster = Roster(tmp_path / "roster.csv")
    assert roster.find(eve.student).id not in roster.students


@pytest.mark.parametrize(
    "claims",
    [
        (f"Ada Lovelace_4712_{MOODLE}/a1.ipynb", f"Lovelace Ada_4713_{MOODLE}/a1.ipynb"),
        ("lovelaceada_60_98_a1.ipynb", "lovelaceada_61_99_a1.ipynb"),
    ],
)
def test_what_two_claim_is_neither_s(tmp_path: Path, claims: tuple[str, str]) -> None:
    found = hand_in(tmp_path, [*claims, "u062/a1.ipynb", "u062/a1.zip"])
    assert [item.student for item in found.submissions] == ["u062"]
    places = [(stray.path, *stray.students, stray.disputed) for stray in found.strays]
    assert places[:2] == [(name, "u000", True) for name in sorted(claims)]
    assert places[2:] == [("u062/a1.zip", "u062", False)]


def test_a_number_that_a_platform_wrote_comes_before_a_name(tmp_path: Path) -> None:
    (tmp_path / "roster.csv").write_text("id,name,mail\n60,Ada Lovelace,\n61,Eve Evil,\n")
    listed = Roster(tmp_path / "roster.csv").listed
    for name in ("lovelaceada_60_98_a1.ipynb", "lovelaceada_61_99_a1.ipynb"):
        (tmp_path / name).write_text("{}")
    found = collect(tmp_path, ["a1"], listed=listed).submissions
    assert [(item.student, item.path.name[:14]) for item in found] == [
        ("60", "lovelaceada_60"),
        ("61", "lovelaceada_61"),
    ]


# --- tokens ---------------------------------------------------------------------------------------

SECRET = "the words of one teacher"


def released(student: str = "", assignment: str = "a1", secret: str = SECRET) -> str:
    return Token(assignment, 1, student, "0" * 16).signed(secret)


def hand_in_told(folder: Path, tokens: dict[str, str]) -> Collection:
    """What is collected of files with these tokens, {path: token}."""
    for name, token in tokens.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"cells": [{"source": f"`{token}`"}], "nbformat": 4}))
    (folder / "roster.csv").write_text(ROSTER)
    roster = Roster(folder / "roster.csv")
    known: dict[str, list[str]] = {"a1": [], "a2": []}
    return collect(folder, ["a1"], known, roster.listed, lambda _: SECRET)


@pytest.mark.parametrize("layout", sampled(PREFIXES, "canvas", "moodle", "gradescope"))
@given(text=TEXTS, forged=st.booleans())
def test_no_name_and_no_copied_token_takes_another_s_place(
    layout: str, text: str, forged: bool
) -> None:
    """Eve hands in what carries Ada's token, or one of her own with Ada's id written into it."""
    ada, eve = PREFIXES[layout]
    theirs = released("u061").replace("u061", "u000") if forged else released("u000")
    names = {f"{ada}a1.ipynb": released("u000"), f"{eve}{text}a1.ipynb": theirs}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if layout == "gradescope":
            (folder / "submission_metadata.yml").write_text(GRADESCOPE)
        found = hand_in_told(folder, names)
        [hers] = of(found, "u000")
        assert (str(hers.path.relative_to(folder)), hers.others) == (next(iter(names)), ())
        assert {item.student for item in found.submissions} <= {"u000", "u061"}
        assert forged or not of(found, "u061")
        assert all("altered" in item.notes[0] for item in of(found, "u061"))
        assert {who for stray in found.strays for who in stray.students} <= {"u061"}
        assert len(found.submissions) + len(found.strays) == 2


@pytest.mark.parametrize("name", ["download.ipynb", "HA2_final (3).ipynb", "x/y/a2-Copy1.ipynb"])
def test_a_name_that_is_nobody_s_is_no_matter(tmp_path: Path, name: str) -> None:
    found = hand_in_told(tmp_path, {name: released("U000")})
    [item] = found.submissions
    assert (item.student, item.assignment, item.asked) == ("u000", "a1", "U000")
    assert "by its token it was drawn for u000" in item.notes[-1]


def test_a_file_with_token_and_name_comes_before_one_with_either(tmp_path: Path) -> None:
    names = {
        "u000/a1.ipynb": released("u000"),
        "nobody/a1.ipynb": released("u000"),
        f"Ada Lovelace_9_{MOODLE}/a1.ipynb": "",
    }
    found = hand_in_told(tmp_path, names)
    assert [str(item.path.relative_to(tmp_path)) for item in found.submissions] == ["u000/a1.ipynb"]
    assert sorted(stray.path for stray in found.strays if stray.disputed) == sorted([*names][1:])


def test_two_of_which_nothing_says_who_wrote_them_are_nobody_s(tmp_path: Path) -> None:
    found = hand_in_told(tmp_path, {"x.ipynb": released("u000"), "y.ipynb": released("u000")})
    assert found.submissions == []
    assert [stray.path for stray in found.strays] == ["x.ipynb", "y.ipynb"]


def test_another_secret_is_said_unless_it_is_one_of_many(tmp_path: Path) -> None:
    other = released("u061", secret="the words of another teacher")
    with pytest.raises(ValueError, match=r"1 of 1 notebooks .* \(u061/a1.ipynb\)"):
        hand_in_told(tmp_path, {"u061/a1.ipynb": other})
    found = hand_in_told(tmp_path, {"u000/a1.ipynb": released("u000")})
    assert [item.student for item in found.submissions] == ["u000"]
    assert [stray.students for stray in found.strays] == [("u061",)]


def test_a_token_that_is_lost_is_said_where_others_have_theirs(tmp_path: Path) -> None:
    found = hand_in_told(tmp_path, {"u000/a1.ipynb": released(), "u061/a1.ipynb": ""})
    assert [bool(item.notes) for item in found.submissions] == [False, True]
    assert found.untold == ()
    assert hand_in_told(tmp_path, {"u000/a1.ipynb": ""}).untold == ("a1",)


# --- groups, formats ------------------------------------------------------------------------------


def test_all_who_submitted_at_gradescope_have_submitted(tmp_path: Path) -> None:
    group = "submission_1:\n  :submitters:\n  - :sid: u000\n  - :email: bo@example.org\n"
    (tmp_path / "submission_metadata.yml").write_text(group)
    for token in ("", released("u062")):
        [item] = hand_in_told(tmp_path, {"submission_1/a1.ipynb": token}).submissions
        assert (item.student, item.partners) == ("u000", ("u062",))
    assert item.asked == "u062"


JSON = '{"nbformat": 4, "cells": [{"cell_type": "code", "source": ["x = 1"]}], "é": 1}'


def zipped(*names: str, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        for name in names:
            # Of one date, because the bytes name tests, and each worker makes them anew.
            archive.writestr(zipfile.ZipInfo(name), JSON, method)
    return made.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a1.ipynb", JSON.encode("utf-16")),
        ("a1.ipynb", JSON.encode("latin-1")),
        ("a1.ipynb.txt", JSON.encode()),
        ("a1.json", JSON.encode("utf-8-sig")),
        ("a1.ipynb.json", JSON.encode()),
        ("a1.py", b"x = 1"),
        ("a1.zip", zipped("mine/a1.ipynb", "__MACOSX/mine/._a1.ipynb", "mine/data.csv")),
    ],
)
def test_a_notebook_may_come_in_other_formats(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / "ann").mkdir()
    (tmp_path / "ann" / name).write_bytes(content)
    [item] = collect(tmp_path, ["a1", "a2"]).submissions
    [cell] = read_work(item.path, read_bytes(item.path)).cells
    assert cell.source.strip() == "x = 1"


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"no zip", b"PK", zipped(), zipped("a.txt"), zipped("a.ipynb", "b.ipynb")),
        *(zipped("a.ipynb")[:-30], zipped("a.ipynb", method=zipfile.ZIP_LZMA)),
        zipped(*(f"{k}.txt" for k in range(200)), "a.ipynb"),
    ],
)
def test_another_zip_is_left_to_the_teacher(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "ann").mkdir()
    (tmp_path / "ann" / "a1.zip").write_bytes(content)
    found = collect(tmp_path, ["a1"])
    assert found.submissions == []
    assert ["unpack it" in stray.why for stray in found.strays] == [True]


def test_functions_say_what_a_notebook_is(tmp_path: Path) -> None:
    (tmp_path / "ann").mkdir()
    text = '{"cells": [{"source": ["def relu(x):\\n", "    return x"]}]}'
    (tmp_path / "ann" / "HA2_final.ipynb").write_text(text)
    known = {"a1": ["relu", "dense"], "a2": ["graph"], "a3": []}
    [item] = collect(tmp_path, ["a1", "a2"], known).submissions
    assert item.assignment == "a1"
    [stray] = collect(tmp_path, ["a1"], known | {"a4": ["relu"]}).strays
    assert "of no assignment" in stray.why
