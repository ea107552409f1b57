"""What stands in a cell of a table."""

import csv

from hypothesis import given
from hypothesis import strategies as st

from coursework.report.grade_tables import CELL_CHARACTERS, cell


@given(st.text(st.sampled_from("a=+-@;,|\t\"' \uff1d\n"), max_size=12))
def test_no_cell_begins_a_formula_whatever_separates_it(text: str) -> None:
    line = ",".join(['"' + part.replace('"', '""') + '"' for part in ("x", cell(text))])
    for separator in ",;\t|":
        for found in next(csv.reader([line], delimiter=separator)):
            assert (
                not found.strip("\"' ").startswith(("=", "+", "-", "@", "\uff1d")) or "'" in found
            )
            assert not found.startswith(("=", "+", "-", "@", "\uff1d"))


def test_a_long_text_is_cut_where_spreadsheets_take_it() -> None:
    whole = "x" * CELL_CHARACTERS
    assert cell(whole) == whole
    assert cell(whole + "yz") == whole + " …"
    assert CELL_CHARACTERS < 32_767
