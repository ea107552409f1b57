"""A piece as a file of its own: for slides, for mail, for a page on another site."""

import base64
import html
import re
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from chaingrad.graph import GraphNode
from chainview.piece import Piece
from chainview.player.passes import play

_SCRIPT = re.compile(r"<script>(.*?)</script>", re.S)
SHEET = ":root{color-scheme:light dark}body{margin:0 auto;max-width:1200px;padding:8px}"


def export(shown: Piece | GraphNode, path: str | Path) -> Path:
    """Write a player or a figure that moves as one HTML file, which loads nothing.

    The file's own policy lets it run the scripts of the piece, and no other, and reach no address.

    Args:
        shown: a player or a figure; a node is played.
        path: where to; a file that is there is replaced.

    Returns:
        The path.

    Raises:
        TypeError, ValueError: a node cannot be played, as `play` says.

    >>> from chaingrad import Node
    >>> x = Node(3.0, "x")
    >>> export(x * x, "square.html")  # doctest: +SKIP
    PosixPath('square.html')
    """
    piece = shown if isinstance(shown, Piece) else play(shown)
    path = Path(path)
    path.write_text(document(piece.html, piece.alt, hashes(piece.html)), encoding="utf-8")
    return path


def hashes(inside: str) -> set[str]:
    """Return the scripts in some HTML, as a content security policy names them."""
    digests = (sha256(script.encode()).digest() for script in _SCRIPT.findall(inside))
    return {f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests}


def document(inside: str, title: str, allowed: Iterable[str], sheet: str = SHEET) -> str:
    """Write a page that loads nothing and runs only the ``allowed`` scripts."""
    policy = (
        f"default-src 'none';script-src {' '.join(sorted(allowed)) or chr(39) + 'none' + chr(39)};"
        "style-src 'unsafe-inline';img-src data:;base-uri 'none';form-action 'none'"
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{sheet}</style></head>"
        f"<body><main>{inside}</main></body></html>\n"
    )
