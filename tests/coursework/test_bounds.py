"""Texts that a grader would have read for hours: each is read in a bounded number of steps."""

import ast
from pathlib import Path
from typing import Any

import pytest

from coursework.collect.notebooks import CELL_CHARACTERS, Cell
from coursework.collect.roster import table_rows
from coursework.exercise.assignments import Paper
from coursework.exercise.trusted import ProblemError
from coursework.mark import by_hand, quotes, smuggling
from coursework.sandbox import worker


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The characters that each parse of a cell takes."""
    sizes = []

    def counting(source: str, *others: Any) -> Any:
        sizes.append(len(source))
        return compile(source, *others)

    monkeypatch.setattr(worker, "compile", counting, raising=False)
    return sizes


def test_lines_below_a_stub_are_searched_once() -> None:
    assert not quotes.is_stub(Cell(1, "def f():\n" + "\n" * 1_000_000 + "x", kind="markdown"))
    assert quotes.is_stub(Cell(1, "def f():\n\n    raise NotImplementedError"))


@pytest.mark.parametrize("apart", ["", "x = 1\n"])
def test_a_cell_of_magics_is_parsed_a_bounded_number_of_times(
    apart: str, parsed: list[int]
) -> None:
    source = ("!a\n" + apart) * 10_000
    try:
        worker.parse_cell(source, "cell")
    except SyntaxError:
        assert apart
    assert sum(parsed) <= 2 * worker.PARSED


def test_a_cell_is_parsed_once_for_a_name_and_not_for_one_that_is_not_in_it(
    parsed: list[int],
) -> None:
    cell = Cell(7, "def once():\n    pass\n")
    for _ in range(3):
        assert quotes.binding(cell, "once") is not None
        assert quotes.binding(cell, "twice") is None
    assert len(parsed) == 1


def test_magics_below_one_another_are_all_turned(parsed: list[int]) -> None:
    tree = worker.parse_cell('x = """\n%no\n"""\n%time f()\n!ls \\\n  -l\ny = %pwd\nz = 1', "cell")
    assert [type(statement).__name__ for statement in tree.body] == [
        "Assign", "Expr", "Pass", "Assign", "Assign",
    ]  # fmt: skip
    assert len(parsed) == 2


def test_a_cell_too_long_to_be_run_is_named_and_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(source: str) -> Any:
        raise AssertionError("parsed")

    monkeypatch.setattr(ast, "parse", refuse)
    (remark,) = smuggling.remarks([Cell(1, "a;" * CELL_CHARACTERS)])
    assert remark.startswith("Cell 1 has 200,000 characters")


def test_the_table_of_papers_begins_with_a_column_for_each_problem(tmp_path: Path) -> None:
    papers = {"a": Paper("a", "A", "sheet-1", (1.0, 2.0)), "b": Paper("b", "B", "sheet-2", (1.0,))}
    by_hand.read(tmp_path, {}, papers)
    assert (tmp_path / "papers.csv").read_text() == "paper,student,code,1,2\n"


@pytest.mark.parametrize("row", ["a,ada,,1,0,1,0", "a,ada,,1,,,0"])
def test_what_stands_in_no_column_is_refused_with_its_line(tmp_path: Path, row: str) -> None:
    table = tmp_path / "papers.csv"
    table.write_text(f"paper,student,code,1,2\na,eve,,1,0,,\n{row}\n")
    with pytest.raises(ProblemError, match=r"papers\.csv, line 3: .*0' stands in no column"):
        list(table_rows(table, ("paper",)))
