"""What is quoted of a submission, told that something stands in a certain place."""

import pytest

from coursework.collect.notebooks import CELL_CHARACTERS, Cell
from coursework.mark.quotes import CODE_CHARACTERS, called, defines, line
from coursework.sandbox.worker import CELL_NAME

CELLS = (
    Cell(1, "import math"),
    Cell(3, "x = 1\n\n@cached\ndef f():\n    return x"),
    Cell(4, "%timeit g\nclass g:\n    pass"),
)
SECOND, THIRD = (CELL_NAME.format(number) for number in (3, 4))
HIDDEN = "# f is defined in a way that cannot be shown here"


def test_a_line_is_quoted_where_there_is_one() -> None:
    assert line(CELLS, SECOND, 5) == " (cell 3, line 5: return x)"
    for file, number in ((SECOND, 0), (SECOND, 6), (CELL_NAME.format(2), 1), ("<check>", 1)):
        assert line(CELLS, file, number) == ""


@pytest.mark.parametrize("number", [3, 4, 5])
def test_the_cell_of_a_definition_is_shown(number: int) -> None:
    assert called(CELLS, {"f": (SECOND, number)}) == CELLS[1].source


@pytest.mark.parametrize("place", [(SECOND, 1), (SECOND, 6), (THIRD, 2), ("<string>", 3)])
def test_a_place_where_nothing_defines_the_name_is_not_believed(place: tuple[str, int]) -> None:
    assert called(CELLS, {"f": place}) == HIDDEN


def test_what_is_made_is_shown_with_what_makes_it() -> None:
    cells = [*CELLS, Cell(5, "h = make(f)"), Cell(6, "h = 1", is_check=True)]
    assert called(cells, {"h": (SECOND, 5)}) == f"{CELLS[1].source}\n\nh = make(f)"
    assert "cannot be shown" in called(cells, {"h": ("<string>", 1)})


def test_several_cells_are_shown_in_their_order_and_cut() -> None:
    shown = called(CELLS, {"g": (THIRD, 2), "f": (SECOND, 4), "x": (SECOND, 1)})
    assert shown == f"{CELLS[1].source}\n\n{CELLS[2].source}"
    long = Cell(1, f"f = {'1' * CODE_CHARACTERS}")
    assert len(called([long], {"f": (CELL_NAME.format(1), 1)})) == CODE_CHARACTERS


def test_a_cell_that_is_too_large_to_run_is_not_looked_at() -> None:
    large = [Cell(1, "f = 1\n" + "x\n" * (CELL_CHARACTERS // 2))]
    place = (CELL_NAME.format(1), 1)
    assert called(large, {"f": place}) == HIDDEN
    assert line(large, *place) == ""


def test_a_cell_defines_what_its_lines_begin_with() -> None:
    assert [cell.number for cell in CELLS if defines(cell, ["f", "g"])] == [3, 4]
    assert not defines(Cell(1, "f == 1\n    def g(): pass"), ["f", "g"])
