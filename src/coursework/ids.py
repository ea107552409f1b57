"""What spellings of one id, or of one name, have in common."""

import unicodedata


def id_key(text: str) -> str:
    """Remove from an id what a spreadsheet changes in it: case, and zeros in front.

    >>> id_key("U007"), id_key("007"), id_key("000")
    ('u007', '7', '0')
    """
    bare = folded(text) or text
    return bare.lstrip("0") or bare[:1]


def folded(name: str) -> str:
    """Remove what spellings of a name differ in: case, spaces, commas, combining characters."""
    lower = unicodedata.normalize("NFKC", name).casefold()
    return "".join(c for c in lower if c.isalnum() or c in "@.+-_")
