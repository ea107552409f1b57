"""Numbers as pages write them."""

import re

NUMBER = re.compile(r"[-−]?\d(?:[\d,]*\d)?(?:\.\d+)?(?:e[-+]?\d+)?")


def as_number(text: str) -> float | None:
    """Read a text as a number, written as in a page: −2, 1,000, 1/3. Return None if it isn't one.

    >>> as_number("−1,000"), as_number("3/4"), as_number("e")
    (-1000.0, 0.75, None)
    """
    text = re.sub(r"(?<=\d),(?=\d{3})", "", text.strip().replace("−", "-"))
    above, line, below = text.partition("/")
    try:
        return float(above) / float(below) if line else float(above)
    except (ValueError, ZeroDivisionError):
        return None


def half_digit(text: str) -> float:
    """Return half of what the last digit of a number counts; 0 for a whole number or a fraction.

    >>> half_digit("5.351"), half_digit("1.20e-05"), half_digit("8"), half_digit("1/3")
    (0.0005, 5e-08, 0.0, 0.0)
    """
    mantissa, _, power = text.strip().lower().partition("e")
    places = len(mantissa.partition(".")[2])
    return 0.5 * 10.0 ** (int(power or 0) - places) if places and "/" not in text else 0.0


def numbers_in(text: str) -> dict[str, float]:
    """Return the numbers in a text, by how each is written.

    >>> numbers_in("from 1,000 to −0.5, in 3, or 4 steps")
    {'1,000': 1000.0, '−0.5': -0.5, '3': 3.0, '4': 4.0}
    """
    read = {written: as_number(written) for written in NUMBER.findall(text)}
    return {written: value for written, value in read.items() if value is not None}
