"""Whose a file is: what a platform writes decides, and no text that a student chose."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from coursework.roster import Roster
from coursework.submissions import Collection, Submission, collect

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


@pytest.mark.parametrize("layout", PREFIXES)
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
