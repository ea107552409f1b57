"""A piece of HTML that holds its own style sheet, data and scripts, and asks for nothing else."""

import html
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from importlib import resources
from typing import Any

from chaingrad.draw.palette import COLORS, style


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
    scripts: Iterable[str],
    kind: str = "",
    sheets: Iterable[str] = (),
) -> str:
    """An element of the class ``chaingrad-name``, in which no text is taken for a formula.

    Args:
        name: also that of its style sheet.
        label: what it is called.
        inside: what it shows, as HTML.
        data: what its scripts read.
        scripts: the names of these, in their order; they share one scope.
        kind: what tells apart those of one name.
        sheets: the names of further style sheets.
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    kind = kind and f' data-kind="{kind}"'
    return (
        f'<div class="chaingrad-{name} tex2jax_ignore mathjax_ignore"{kind} role="group" '
        f'aria-label="{html.escape(label)}"><style>{_style(name, sheets)}</style>{inside}'
        f'<script type="application/json">{text}</script>'
        f'<script>(() => {{"use strict";\n{"".join(map(script, scripts))}}})()</script></div>'
    )


def script(name: str) -> str:
    """A script without what is there for its readers."""
    return re.sub(r"^\s*(//.*\n)?|(?<=[;{]) // .*$", "", _asset(f"{name}.js"), flags=re.M)


def _style(name: str, more: Iterable[str]) -> str:
    dark = COLORS["paper"][1]
    theme = style().replace("svg.chaingrad", f".chaingrad-{name}")
    theme = theme.replace("--cg-ink:", f"--cg-solid:{dark};--cg-ink:")
    sheet = _asset("piece.css").replace("-piece", f"-{name}") + "".join(
        _asset(f"{each}.css") for each in (name, *more)
    )
    light = "".join(f"--cg-{key}:{color};" for key, (color, _) in COLORS.items())
    return f".chaingrad-{name}{{{light}--cg-solid:#fff}}{theme}{sheet}"


def _asset(name: str) -> str:
    return resources.files("chaingrad.step").joinpath(name).read_text("utf-8")
