"""How the numbers of problems are written and compared, and which are small enough for a pencil."""

import re
from collections.abc import Iterable
from fractions import Fraction

from chainview.player.names import amount

EXACT = 60  # numbers that are shown are multiples of one part of this
CLOSE = 1e-9
FACTOR = re.compile(r"([×+·]\s*(?:<[^>]*>)?)(−[\d./]+)")


def exact(x: float) -> str:
    """Return a number as we write it: −3, 0.5, 1/3, or four digits of any other.

    >>> exact(-3.0), exact(0.75), exact(1 / 3), exact(-5 / 12), exact(0.419974)
    ('−3', '0.75', '1/3', '−5/12', '0.42')
    """
    parts = round(EXACT * x) if abs(x) < 1 / CLOSE else 0
    if abs(EXACT * x - parts) > CLOSE:
        return amount(x)
    number = Fraction(parts, EXACT)
    text = str(number) if 20 % number.denominator else f"{float(number):.10g}"
    return text.replace("-", "−")


def bracketed(text: str) -> str:
    """Put a negative number in brackets where it is a factor or a further term.

    >>> bracketed("−2 × −3 + <b>−1</b>")
    '−2 × (−3) + <b>(−1)</b>'
    """
    return FACTOR.sub(r"\1(\2)", text)


def is_small(x: float, most: float) -> bool:
    """Return whether a number is a multiple of one sixtieth, and no larger than ``most``."""
    return abs(x) <= most and abs(EXACT * x - round(EXACT * x)) < CLOSE


def total(numbers: Iterable[float]) -> float:
    """Return the sum of numbers, in their order."""
    return sum(numbers, 0.0)
