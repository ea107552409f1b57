"""What stands in a cell of a table."""

from coursework.tables import CELL_CHARACTERS, cell


def test_a_long_text_is_cut_where_spreadsheets_take_it() -> None:
    whole = "x" * CELL_CHARACTERS
    assert cell(whole) == whole
    assert cell(whole + "yz") == whole + " …"
    assert CELL_CHARACTERS < 32_767
