"""The record: what it takes for the same, and how it says what is not."""

from pathlib import Path

import pytest

from tests.golden import record
from tests.golden.__main__ import PARTS
from tests.golden.functions import FUNCTIONS


@pytest.mark.parametrize("part", PARTS)
def test_every_part_is_kept(part: str) -> None:
    assert len(record.read(part)) > 30


def test_functions_of_all_kinds_are_written_down() -> None:
    assert len(FUNCTIONS) >= 25
    assert {f"functions: {name}" for name in FUNCTIONS} <= record.read("programs").keys()


@pytest.mark.parametrize(
    ("kept", "now", "is_same"),
    [
        (["loss 0.31"], ["loss 0.31"], True),
        (["loss 0.31"], ["loss 0.311"], True),  # as far as both are shown
        (["loss 0.31"], ["loss 0.33"], False),
        (["loss 3"], ["loss 4"], False),
        (["loss 0.31"], ["lost 0.31"], False),
        ({"a": 1.0}, {"a": 1.0 + 1e-12}, True),
        ({"a": 1.0}, {"a": 1.001}, False),
        ({"a": 1}, {"b": 1}, False),
        ([1, 2], [1], False),
        ("1", 1, False),
    ],
)
def test_what_is_the_same(kept: object, now: object, is_same: bool) -> None:
    assert record.same(kept, now) == is_same
    assert [name for name, _ in record.differences({"x": kept}, {"x": now})] == ["x"] * (
        not is_same
    )


def test_a_difference_shows_the_lines_that_differ() -> None:
    same = "a line of more than half a line's width, which stays as it is"
    kept, now = {"x": [same, same, "b"], "gone": 1}, {"x": [same, same, "c"], "new": [2]}
    lines = dict(record.differences(kept, now))
    assert lines.keys() == {"x", "gone", "new"}
    assert {'"b"', '"c"'} <= {line.strip("+- ") for line in lines["x"]}


def test_what_is_written_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "FOLDER", tmp_path)
    entries = {"a/b: c": {"": None, "é": ["x" * 99, None, [], {}, 1.5]}, "lessons": ["y" * 120]}
    record.write("part", entries)
    assert record.read("part") == entries
    assert (tmp_path / "part" / "a" / "b.json").is_file()
