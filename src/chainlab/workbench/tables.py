"""Tables of views."""

import html
from collections.abc import Iterable, Sequence
from importlib.resources import files

from chainview.figures.figure import SHEET as MOVING
from chainview.piece import piece

SHEETS = (MOVING, files(__package__) / "views.css")


def table(name: str, words: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return some words and a table below them as HTML; its cells are HTML too."""
    head = "".join(f'<th scope="col">{html.escape(text)}</th>' for text in heads)
    body = "".join(
        f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in rest)}</tr>'
        for first, *rest in rows
    )
    inside = (
        f'<p>{html.escape(words)}</p><div class="cg-scroll" tabindex="0" role="group" '
        f'aria-label="{name}"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
        "</div>"
    )
    return piece("moving", name, inside, None, None, SHEETS, "table")
