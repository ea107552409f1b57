"""A piece of HTML that holds its own style sheet, data and scripts, and asks for nothing else."""

import html
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from chainview.draw.palette import COLORS, style

HERE = files(__package__)
TRANSPORT = HERE / "transport.css"  # of the bar below a figure that has steps


class Piece(ABC):
    """What shows itself in a notebook or on a page.

    Attributes:
        alt: what it shows, in words.
    """

    alt: str

    @property
    @abstractmethod
    def html(self) -> str:
        """The piece of HTML."""

    def _repr_mimebundle_(
        self, include: Iterable[str] | None = None, exclude: Iterable[str] | None = None
    ) -> dict[str, Any]:
        return {"text/html": self.html, "text/plain": self._text()}

    def _text(self) -> str:
        return self.alt


def piece(
    name: str,
    label: str,
    inside: str,
    data: Any,
    script: Traversable | None,
    sheets: Iterable[Traversable],
    kind: str = "",
) -> str:
    """Write an element of the class ``chaingrad-name``, in which no text is read as a formula.

    Args:
        name: the class by which its style sheets find it.
        label: what it is called.
        inside: what it shows, as HTML.
        data: what its script reads.
        script: a bundle of scripts, see ``tools/bundle.py``.
        sheets: style sheets, after that of all pieces.
        kind: what distinguishes pieces of one name.
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    kind = kind and f' data-kind="{kind}"'
    runs = f"<script>{script.read_text('utf-8')}</script>" if script else ""
    return (
        f'<div class="chaingrad-{name} tex2jax_ignore mathjax_ignore"{kind} role="group" '
        f'aria-label="{html.escape(label)}"><style>{_style(name, sheets)}</style>{inside}'
        f'<script type="application/json">{text}</script>{runs}</div>'
    )


def _style(name: str, sheets: Iterable[Traversable]) -> str:
    dark = COLORS["paper"][1]
    theme = style().replace("svg.chaingrad", f".chaingrad-{name}")
    theme = theme.replace("--cg-ink:", f"--cg-solid:{dark};--cg-ink:")
    texts = (each.read_text("utf-8") for each in (HERE / "piece.css", *sheets))
    sheet = "".join(texts).replace(".chaingrad-piece", f".chaingrad-{name}")
    light = "".join(f"--cg-{key}:{color};" for key, (color, _) in COLORS.items())
    return f".chaingrad-{name}{{{light}--cg-solid:#fff}}{theme}{sheet}"
