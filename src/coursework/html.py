"""Self-contained HTML pages from templates, which escape whatever they are not told to leave."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from html import escape
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from latex2mathml import converter
from markdown_it import MarkdownIt
from markupsafe import Markup
from mdit_py_plugins.dollarmath import dollarmath_plugin

# What a formula may hold. `latex2mathml` leaves what stands in \\text{…} as it is, tags included.
ELEMENTS = {
    "math", "mrow", "mi", "mn", "mo", "ms", "mtext", "mspace", "mfrac", "msqrt", "mroot",
    "msub", "msup", "msubsup", "munder", "mover", "munderover", "mmultiscripts",
    "mprescripts", "none", "mtable", "mtr", "mtd", "mpadded", "mphantom", "menclose",
    "mstyle", "semantics",
}  # fmt: skip
ATTRIBUTES = {
    "display", "mathvariant", "stretchy", "fence", "separator", "form", "lspace", "rspace",
    "minsize", "maxsize", "movablelimits", "accent", "accentunder", "linethickness",
    "displaystyle", "scriptlevel", "columnalign", "rowspacing", "columnspacing",
    "columnlines", "rowlines", "notation", "width", "height", "depth", "voffset", "symmetric",
    "largeop",
}  # fmt: skip


def render(template: str, **values: Any) -> str:
    """Return the page that a template makes from the values."""
    return _environment.get_template(template).render(values)


def points(got: float, of: float) -> str:
    """Return points out of a maximum, as text.

    >>> points(2.5, 4.0)
    '2.5 of 4'
    """
    return f"{round(got, 2):g} of {round(of, 2):g}"


def markdown(text: str) -> Markup:
    """Convert a statement to HTML, its formulas to MathML; escape any HTML in it."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    return Markup(parser.use(dollarmath_plugin, renderer=_formula).render(text))


def words(text: str) -> Markup:
    """Convert what a student wrote: formulas are set, and links and images stay text."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.disable(["link", "image", "autolink"])
    return Markup(parser.use(dollarmath_plugin, renderer=_formula).render(text))


def verdict(word: str) -> Markup:
    """Show whether a part is right, with a word, a sign and a colour."""
    if word in ("judged", "open"):
        return Markup("{}").format("judged" if word == "judged" else "not judged yet")
    colour, sign = ("good", "✓") if word in ("right", "follows") else ("bad", "✗")
    return Markup('<span class="{}">{} {}</span>').format(colour, sign, word)


def sentence(text: str) -> str:
    """Return a reason as a sentence, keeping a name at its start as it is."""
    return re.sub(r"^(it|the|there)\b", lambda word: word[0].capitalize(), text) + "."


def _formula(tex: str, options: Mapping[str, bool]) -> str:
    """Convert a formula to MathML, which browsers show by themselves; keep TeX if that fails."""
    display = "block" if options["display_mode"] else "inline"
    try:
        return _only_math(converter.convert(tex, display=display))
    except Exception:  # it has many errors, and each means that it can't read the formula
        return f"<code>{escape(tex)}</code>"


def _only_math(text: str) -> str:
    """Return MathML with nothing else in it; raise `ValueError` if it holds another element.

    It is written anew from what was parsed, because browsers read HTML by other rules than XML.
    """
    root = ET.fromstring(text)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        if element.tag not in ELEMENTS:
            raise ValueError(f"{element.tag} is no formula")
        element.attrib = {name: x for name, x in element.attrib.items() if name in ATTRIBUTES}
    return ET.tostring(root, encoding="unicode")


_environment = Environment(
    loader=PackageLoader("coursework"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_environment.globals.update(
    points=points, markdown=markdown, words=words, verdict=verdict, sentence=sentence
)
