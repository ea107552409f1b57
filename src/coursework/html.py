"""Self-contained HTML pages from templates, which escape whatever they are not told to leave."""

import re
from collections.abc import Mapping
from html import escape
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from latex2mathml import converter
from markdown_it import MarkdownIt
from markupsafe import Markup
from mdit_py_plugins.dollarmath import dollarmath_plugin


def render(template: str, **values: Any) -> str:
    """The page that a template makes of the values."""
    return _environment.get_template(template).render(values)


def points(got: float, of: float) -> str:
    """Points out of how many.

    >>> points(2.5, 4.0)
    '2.5 of 4'
    """
    return f"{round(got, 2):g} of {round(of, 2):g}"


def markdown(text: str) -> Markup:
    """A statement as HTML, its formulas in MathML; HTML in it is shown, not used."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    return Markup(parser.use(dollarmath_plugin, renderer=_formula).render(text))


def verdict(word: str) -> Markup:
    """Right or not, in a word, a sign and a colour."""
    colour, sign = ("good", "✓") if word == "right" else ("bad", "✗")
    return Markup('<span class="{}">{} {}</span>').format(colour, sign, word)


def sentence(text: str) -> str:
    """A reason as a sentence; the names that some start with stay as they are."""
    return re.sub(r"^(it|the|there)\b", lambda word: word[0].capitalize(), text) + "."


def _formula(tex: str, options: Mapping[str, bool]) -> str:
    """MathML, which browsers show by themselves; TeX where it has no translation."""
    display = "block" if options["display_mode"] else "inline"
    try:
        return str(converter.convert(tex, display=display))
    except Exception:  # each of its many errors says that it does not know the formula
        return f"<code>{escape(tex)}</code>"


_environment = Environment(
    loader=PackageLoader("coursework"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_environment.globals.update(points=points, markdown=markdown, verdict=verdict, sentence=sentence)
