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
    colour, sign = ("good", "✓") if word == "right" else ("bad", "✗")
    return Markup('<span class="{}">{} {}</span>').format(colour, sign, word)


def sentence(text: str) -> str:
    """Return a reason as a sentence, keeping a name at its start as it is."""
    return re.sub(r"^(it|the|there)\b", lambda word: word[0].capitalize(), text) + "."


def _formula(tex: str, options: Mapping[str, bool]) -> str:
    """Convert a formula to MathML, which browsers show by themselves; keep TeX if that fails."""
    display = "block" if options["display_mode"] else "inline"
    try:
        return str(converter.convert(tex, display=display))
    except Exception:  # it has many errors, and each means that it can't read the formula
        return f"<code>{escape(tex)}</code>"


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
