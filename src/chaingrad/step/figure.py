"""A figure that moves: what stands without scripts, and what its script fills."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from chaingrad.step.piece import Piece, piece


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
    _scripts: Sequence[str] = ()  # what that script needs

    def __repr__(self) -> str:
        return f"<Figure: {self.alt}>"

    @cached_property
    def html(self) -> str:
        """The figure as a piece of HTML."""
        inside = (
            f'<div class="cg-still">{self._still}</div>'
            f'<div class="cg-live" hidden>{self._controls}</div>'
        )
        scripts = ("drawing", "figure", *self._scripts, self._kind)
        return piece("moving", self.alt, inside, self.data, scripts, self._kind)
