"""Spell out the characters of a student's text that would do something where it is shown."""

import re
import unicodedata

DIRECTIONS = re.compile("[\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    r"""Spell out what a terminal would obey and what UTF-8 cannot write.

    Spaces and joiners that writing systems need are kept.

    >>> printable("Zoë\x1b[2J"), printable("山田\u3000太郎")
    ('Zoë\\x1b[2J', '山田\u3000太郎')
    """
    return "".join(c if _is_harmless(c) else ascii(c)[1:-1] for c in text)


def undirected(text: str) -> str:
    r"""Spell out the characters by which a text could stand on a page in another order.

    >>> undirected("if x:\u202e # tahw\n\u2066y")
    'if x:\\u202e # tahw\n\\u2066y'
    """
    return DIRECTIONS.sub(lambda found: ascii(found[0])[1:-1], text)


def _is_harmless(character: str) -> bool:
    if character.isprintable() or character in "\u200c\u200d":
        return True
    return unicodedata.category(character) == "Zs"
