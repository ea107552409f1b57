"""What a drawing is, and Graphviz's SVG made fit for a page: themed colours, alt text, no ids.

A page gets a wide drawing twice, one of them turned, and the style sheet shows the one for which
there is room. It needs no script, and paper always has the wide one.

A drawing is written in the light colours of `COLORS`. Inline, each becomes a CSS custom property
with the light colour as its fallback, and a small style sheet inside the SVG gives the dark ones
where the page is dark. A page may set the same properties to have colours of its own.
"""

import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from chainview.draw.boxes import turned
from chainview.draw.layout import SHOWN, layout
from chainview.draw.palette import NAME, style, themed
from chainview.read.words import printable

NAMESPACE = "http://www.w3.org/2000/svg"
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_LEGIBLE = 11.0  # pixels: a wide drawing shrinks until its smallest type has this size
_PHONE = 320.0  # pixels: anything up to this width never needs to scroll
_COLUMN = 780.0  # pixels: a window of 1280 cuts anything wider
_RANKS = re.compile(r'(?<=\branksep=")[\d.]+')
_NEIGHBOURS = re.compile(r'(?<=\bnodesep=")[\d.]+')


@dataclass(frozen=True, repr=False)
class Drawing:
    """A drawing that shows itself in a notebook, a page, LaTeX or a terminal.

    Attributes:
        source: the graph in the DOT language.
        alt: what the drawing shows, in words.
        titles: the tooltip of each node, by its id.
    """

    source: str
    alt: str
    titles: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Drawing: {self.alt}>"

    @cached_property
    def _laid_out(self) -> bytes:
        """Graphviz's SVG, with shorter arrows if it wouldn't fit its column otherwise."""
        svg = layout(self.source, "svg")
        return svg if _fits(svg) else layout(_RANKS.sub("0.16", self.source), "svg")

    @cached_property
    def _narrow(self) -> bytes | None:
        """Graphviz's SVG for a phone, or None if the drawing fits one or can't be narrower."""
        least = _smallest(self._laid_out)
        if least <= _PHONE:
            return None
        other = turned(self.source)
        sources = other, _NEIGHBOURS.sub("0.12", other), _RANKS.sub("0.16", self.source)
        found = None
        for svg in (layout(source, "svg") for source in sources):
            if _smallest(svg) < least:
                found, least = svg, _smallest(svg)
            if least <= _PHONE:
                break
        return found

    @property
    def fits(self) -> bool:
        """Whether a page 1280 pixels wide shows the whole drawing beside its contents."""
        return _fits(self._laid_out)

    def svg(self, theme: bool = True) -> str:
        """Return the drawing as SVG.

        With ``theme``, for a page: an ``<svg>`` element whose colours follow the page's theme and
        whose nodes carry ``data-node="n0"``, ``"n1"``, …. Without, a file of its own.

        Raises:
            GraphvizMissingError: there is no Graphviz to lay the drawing out.
        """
        rewrite = inline if theme else standalone
        return rewrite(self._laid_out, self.alt, self.titles)

    def save(self, path: str | Path) -> Path:
        """Write the drawing to a ``.svg``, ``.pdf``, ``.png`` or ``.dot`` file.

        Raises:
            ValueError: the file's suffix is another one.
        """
        path = Path(path)
        path.write_bytes(self._render(path.suffix.removeprefix(".")))
        return path

    def _render(self, format: str) -> bytes:
        if format == "svg":
            return self.svg(theme=False).encode()
        if format == "dot":
            return self.source.encode()
        if format == "pdf":
            return layout(self.source, "pdf")
        if format == "png":
            return layout(self.source.replace("{", "{ dpi=192", 1), "png")
        raise ValueError(f"cannot save a drawing as {format!r}: expected .svg, .pdf, .png or .dot")

    def _repr_mimebundle_(
        self, include: Iterable[str] | None = None, exclude: Iterable[str] | None = None
    ) -> dict[str, Any]:
        bundle: dict[str, Any] = {
            "text/html": self._html(),
            "image/svg+xml": self.svg(theme=False),
            "text/plain": self.alt,
        }
        if include is not None and "application/pdf" in include:
            bundle["application/pdf"] = self._render("pdf")
        return bundle

    def _html(self) -> str:
        if self._narrow is None:
            return scrolling(self.svg())
        return either(self.svg(), inline(self._narrow, self.alt, self.titles))


def inline(svg: bytes, alt: str, titles: Mapping[str, str]) -> str:
    """Rewrite Graphviz's SVG for a page: themed, without ids, no wider than its place."""
    root = _clean(svg, alt, titles)
    used = set()
    for element in root.iter():
        for attribute in {"fill", "stroke"} & element.attrib.keys():
            color = element.attrib[attribute]
            used.add(NAME.get(color, "paper"))
            element.set(attribute, themed(color))
    root.set("style", f"max-width:100%;min-width:{_smallest_width(root)}px;height:auto")
    sheet = ET.Element("style")
    sheet.text = style(sorted(used))
    root.insert(0, sheet)
    return write(root)


def _smallest_width(root: ET.Element) -> int:
    """Return the width in pixels below which nobody could read the drawing's smallest type."""
    sizes = [float(text.attrib["font-size"]) for text in root.iter("text")]
    return math.ceil(float(root.attrib["width"]) * _LEGIBLE / min(sizes, default=_LEGIBLE))


def _smallest(svg: bytes) -> int:
    return _smallest_width(_clean(svg, "", {}))


def _fits(svg: bytes) -> bool:
    return _smallest(svg) <= _COLUMN


def scrolling(svg: str) -> str:
    """Put an inline SVG in a box of its own that scrolls where the drawing is too wide.

    The box can be reached by the keyboard only if a phone may need to scroll it.
    """
    reach = ' tabindex="0" role="group" aria-label="Drawing"' if _written(svg) > _PHONE else ""
    return f'<div class="chaingrad-drawing" style="overflow-x:auto"{reach}>{svg}</div>'


def either(wide: str, narrow: str) -> str:
    """Show the wide one of two inline SVGs where it can be read whole, and else the narrow one.

    What strips style sheets leaves the wide one, as only a style sheet shows the narrow one.
    """
    least = _written(wide)
    narrow = re.sub(r"<style>.*?</style>", "", narrow, count=1)  # the wide one's holds for both
    sheet = (
        f"@media screen{{@container (width<{least}px){{.cg-from-{least}{{display:none}}"
        f".cg-below-{least}{{display:block!important}}}}}}"
    )
    return (
        f'<div class="chaingrad-either" style="container-type:inline-size"><style>{sheet}</style>'
        f'<div class="chaingrad-drawing cg-from-{least}" style="overflow-x:auto">{wide}</div>'
        f'<div class="cg-below-{least}" style="display:none">{scrolling(narrow)}</div></div>'
    )


def _written(svg: str) -> int:
    """Return the smallest width that is written in an inline SVG."""
    return int(svg.partition("min-width:")[2].partition("px")[0])


def standalone(svg: bytes, alt: str, titles: Mapping[str, str]) -> str:
    """Rewrite Graphviz's SVG as a file of its own, in the light colours."""
    root = _clean(svg, alt, titles)
    root.set("xmlns", NAMESPACE)
    return as_file(root)


def _clean(svg: bytes, alt: str, titles: Mapping[str, str]) -> ET.Element:
    """Drop what a page doesn't need, and say in ``data-`` attributes what each group draws."""
    root = ET.fromstring(svg)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        for attribute in ("id", "font-family", _SPACE):
            element.attrib.pop(attribute, None)
        for blank in [e for e in element if e.tag.endswith("text") and not (e.text or "").strip()]:
            element.remove(blank)
        if element.tag == "text":
            text = (element.text or "").rstrip()
            indent = len(text) - len(text.lstrip())  # which a browser would drop
            element.text = "\N{NO-BREAK SPACE}" * indent + text.lstrip()
            element.set("font-size", f"{float(element.get('font-size', 14)):g}")
    for group in root.iter("g"):
        _name(group, titles)
    root.attrib = {
        "class": "chaingrad",
        "role": "img",
        "aria-label": printable(alt),
        **frame(root),
        "text-rendering": "geometricPrecision",  # the same widths at every size
    }
    return root


def frame(root: ET.Element) -> dict[str, str]:
    """Return the attributes of a Graphviz or matplotlib picture, with one pixel for each point."""
    *_, width, height = map(float, root.attrib["viewBox"].split())
    return {
        "width": f"{width:.0f}",
        "height": f"{height:.0f}",
        "viewBox": f"0 0 {width:g} {height:g}",
        "font-family": SHOWN,
    }


def _name(group: ET.Element, titles: Mapping[str, str]) -> None:
    title = group.find("title")
    name = (title.text or "") if title is not None else ""
    if title is not None:
        group.remove(title)
    tail, _, head = (node.removesuffix("_op") for node in name.partition("->"))
    if group.get("class") == "node":
        group.set("data-node", tail)
        _centre(group)
        if tail in titles:
            tooltip = ET.Element("title")
            tooltip.text = printable(titles[tail])
            group.insert(0, tooltip)
    elif group.get("class") == "edge":
        group.set("data-from", tail)
        group.set("data-to", head)


def _centre(group: ET.Element) -> None:
    """Centre the lines in the one shape around them, however wide they are shown."""
    shapes = [element for element in group if element.tag in ("polygon", "path", "ellipse")]
    texts = group.findall("text")
    if len(shapes) != 1 or len({text.get("y") for text in texts}) < len(texts):
        return
    place = shapes[0].attrib
    outline = place.get("cx") or place.get("points") or place["d"]
    across = [float(x) for x in re.findall(r"-?[\d.]+", outline)[::2]]
    for text in texts:
        text.set("x", f"{(min(across) + max(across)) / 2:.2f}")
        text.set("text-anchor", "middle")


def as_file(root: ET.Element) -> str:
    """Write a picture as the text of a separate file."""
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + write(root) + "\n"


def write(root: ET.Element) -> str:
    """Write an element as text, without the indentation that Graphviz or matplotlib added."""
    return re.sub(r">\s+<", "><", ET.tostring(root, encoding="unicode"))
