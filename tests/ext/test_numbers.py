"""Numbers as pages write them."""

from common.numbers import as_number
from tests.support import each


@each(
    ("text", "number"),
    [("6", 6.0), ("−0.5", -0.5), ("1,000,000", 1e6), ("1/4", 0.25), ("twice", None), ("1/0", None)],
)
def test_numbers_are_read_as_pages_write_them(text: str, number: float | None) -> None:
    assert as_number(text) == number
