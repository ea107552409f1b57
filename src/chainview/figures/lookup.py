"""A figure whose script looks up what was computed, and writes it where the rest stands anyway."""

import html
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from importlib.resources.abc import Traversable
from typing import Any

from chainview.figures.figure import HERE, Figure


def lookup(
    alt: str,
    data: Any,
    kind: str,
    inside: str,
    script: str = "lookup",
    sheets: Sequence[Traversable] = (),
) -> Figure:
    """Return a figure whose script changes what stands, by what it looks up in the data.

    Args:
        alt, data: as a `Figure` has them. The first sentence of the alt text is its title: the rest
            is true to begin with only.
        kind: what tells it from others with the same script.
        inside: what stands, as HTML.
        script: the name of its bundle.
        sheets: style sheets, before that of all such figures.
    """
    title = alt.partition(". ")[0]
    every = [*sheets, HERE / "lookup.css"]
    return Figure(alt, data, inside, "lookup", every, HERE / f"{script}.bundle.js", kind, title)


def escaped(text: Any) -> str:
    """Escape text for HTML."""
    return html.escape(str(text))


def path(name: str, d: str) -> ET.Element:
    """Return a line of a drawing, which its script finds by the name."""
    return ET.Element("path", {"class": f"cg-{name}", "d": d})
