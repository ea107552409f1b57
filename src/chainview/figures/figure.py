"""A figure that moves: what stands without scripts, and what its script fills."""

from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any

from chainview.piece import Piece, piece
from chainview.player.picture import SHEET as PICTURE

HERE = files(__package__)
SHEET = HERE / "moving.css"


@dataclass(frozen=True, repr=False)
class Figure(Piece):
    """A figure that shows itself in a notebook or on a page, and moves there.

    Attributes:
        alt: what it shows, in words.
        data: what its script reads.
    """

    alt: str
    data: Any
    _kind: str  # the name of its script
    _still: str  # what stands without scripts and on paper, as HTML
    _controls: str = ""  # what the script fills, as HTML

    def __repr__(self) -> str:
        return f"<Figure: {self.alt}>"

    @cached_property
    def html(self) -> str:
        """The figure as a piece of HTML."""
        inside = (
            f'<div class="cg-still">{self._still}</div>'
            f'<div class="cg-live" hidden>{self._controls}</div>'
        )
        script = HERE / f"{self._kind}.bundle.js"
        return piece("moving", self.alt, inside, self.data, script, [PICTURE, SHEET], self._kind)
