"""A figure that moves: what stands without scripts, and what its script fills."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from chainview.piece import Piece, piece
from chainview.player.player import DRAWING

HERE = files(__package__)
PROGRAM = HERE / "program.js"  # runs what a figure computes
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
    _scripts: Sequence[Traversable] = ()  # what that script needs

    def __repr__(self) -> str:
        return f"<Figure: {self.alt}>"

    @cached_property
    def html(self) -> str:
        """The figure as a piece of HTML."""
        inside = (
            f'<div class="cg-still">{self._still}</div>'
            f'<div class="cg-live" hidden>{self._controls}</div>'
        )
        scripts = (DRAWING, HERE / "figure.js", *self._scripts, HERE / f"{self._kind}.js")
        return piece("moving", self.alt, inside, self.data, scripts, [SHEET], self._kind)
