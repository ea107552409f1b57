"""A figure whose script looks up what was computed, and writes it where the rest stands anyway."""

import html
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from chainview.figures.figure import HERE, Figure
from chainview.piece import piece


@dataclass(frozen=True, repr=False)
class Lookup(Figure):
    """A figure whose picture stands in the page, and is changed by its script."""

    _script: str = "lookup"  # the name of its bundle

    @cached_property
    def html(self) -> str:
        """The figure as a piece of HTML."""
        title = self.alt.partition(". ")[0]  # the rest is true to begin with only
        script, sheet = HERE / f"{self._script}.bundle.js", HERE / "lookup.css"
        return piece("lookup", title, self._still, self.data, script, [sheet], self._kind)


def number(value: float) -> str:
    """Write a number with three digits and a minus sign.

    >>> number(-0.12345), number(2.0)
    ('−0.123', '2')
    """
    return f"{value:.3g}".replace("-", "−")


def escaped(text: Any) -> str:
    """Escape text for HTML."""
    return html.escape(str(text))


def path(name: str, d: str) -> ET.Element:
    """Return a line of a drawing, which its script finds by the name."""
    return ET.Element("path", {"class": f"cg-{name}", "d": d})
