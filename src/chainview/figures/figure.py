"""A figure for a page: what stands there without scripts, and what its script makes of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from chainview.piece import Piece, piece
from chainview.player.picture import SHEET as PICTURE

HERE = files(__package__)
SHEET = HERE / "moving.css"


@dataclass(frozen=True, repr=False)
class Figure(Piece):
    """A figure that shows itself in a notebook or on a page, and moves there if it has data.

    Attributes:
        alt: what it shows, in words.
        data: what its script reads.
    """

    alt: str
    data: Any
    _inside: str  # as HTML
    _name: str  # of its style sheets' class
    _sheets: Sequence[Traversable]
    _script: Traversable | None = None
    _kind: str = ""  # what its script tells it by from others of the name
    _title: str = ""  # the part of the alt text that stays true when it moves, if not all

    def __repr__(self) -> str:
        return f"<Figure: {self.alt}>"

    @cached_property
    def html(self) -> str:
        """The figure as a piece of HTML."""
        title, script = self._title or self.alt, self._script
        return piece(self._name, title, self._inside, self.data, script, self._sheets, self._kind)


def moving(alt: str, data: Any, kind: str, still: str, controls: str) -> Figure:
    """Return a figure whose script moves a copy of what stands.

    Args:
        alt, data: as a `Figure` has them.
        kind: the name of its script.
        still: what stands without scripts and on paper, as HTML.
        controls: what the script fills, as HTML.
    """
    inside = f'<div class="cg-still">{still}</div><div class="cg-live" hidden>{controls}</div>'
    script = HERE / f"{kind}.bundle.js"
    return Figure(alt, data, inside, "moving", [PICTURE, SHEET], script, kind)
