r"""Formulas, set by KaTeX while the book is built: pages carry them ready, and no script for them.

A formula that KaTeX does not understand is a warning with its place. What it writes is HTML for
the eye and MathML for screen readers, each with the TeX that a reader copies. The library is
JavaScript; a V8 that pip installs runs it, so that building needs no Node.
"""

import re
import shutil
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from py_mini_racer import MiniRacer
from sphinx.application import Sphinx
from sphinx.locale import _
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

from chainview.draw.palette import COLORS

VENDOR = Path(__file__).parent / "vendor"
# The browser treats the box around a formula as a word of its own. Without these patterns, a line
# could start with the punctuation after a formula, or end with the bracket before it.
CLOSING = re.compile(r"^[.,;:!?)\]}’”…'\"-]+[\w’]{0,2}(?=\s|$|[.,;:!?)\]}’”…])|^[.,;:!?)\]}’”…]+")
OPENING = re.compile(r"[(\[{‘“]+$")
# The names of the formulas' colours, and the figures' names for them.
COLOURED = {"crimson": "local", "royalblue": "global"}
# Beside a formula: the link to the cell that checks it.
CHECK = '<a class="check" href="#{}" aria-label="How this formula is checked">✓</a>'
logger = logging.getLogger(__name__)


class FormulaError(ValueError):
    """KaTeX does not understand a formula."""


@cache
def engine() -> MiniRacer:
    racer = MiniRacer()
    racer.eval((VENDOR / "katex.min.js").read_text())
    racer.eval(
        """const typeset = (tex, displayMode) => {
            try {
                return [katex.renderToString(tex, { displayMode, strict: "error" }), ""];
            } catch (error) {
                return ["", error.message];
            }
        };
        const mathml = (tex) =>
            katex.renderToString(tex, { output: "mathml", throwOnError: false });"""
    )
    return racer


@cache
def typeset(tex: str, display: bool = False) -> str:
    """Set a formula as HTML and MathML.

    Raises:
        FormulaError: KaTeX does not understand the formula.
    """
    html, wrong = engine().call("typeset", tex, display)
    if wrong:
        raise FormulaError(wrong)
    html = html.replace(' columnspacing=""', "")  # if empty, an error in Firefox
    return re.sub(rf"(?<=color:)({'|'.join(COLOURED)})\b", as_in_figures, html)


@cache
def mathml(tex: str) -> str:
    """Set a formula as MathML alone, as the workbench does in the browser."""
    return str(engine().call("mathml", tex))


def as_in_figures(name: re.Match[str]) -> str:
    """Return a colour of the figures' palette, for the light and the dark theme."""
    return f"light-dark({','.join(COLORS[COLOURED[name[0]]])})"


def lines_of(tex: str) -> str:
    """Align the lines of a displayed formula as Sphinx does, and return its TeX."""
    parts = [part.strip() for part in tex.split("\n\n") if part.strip()]
    parts = [rf"\begin{{split}}{part}\end{{split}}" if r"\\" in part else part for part in parts]
    rows = r" \\ ".join(parts)
    return rows if len(parts) == 1 else rf"\begin{{gathered}}{rows}\end{{gathered}}"


def written(node: nodes.Element, tex: str, display: bool = False) -> str:
    """Return a formula's HTML, or warn and return its TeX if KaTeX can't set it."""
    try:
        return typeset(tex, display)
    except FormulaError as error:
        logger.warning("%s", error, location=node, type="formula")
        return nodes.unescape(tex)


def visit_math(self: HTML5Translator, node: nodes.math) -> None:
    self.body.append(self.starttag(node, "span", "", CLASS="math notranslate nohighlight"))
    self.body.append(f"{written(node, node.astext())}</span>")
    raise nodes.SkipNode


def visit_display(self: HTML5Translator, node: nodes.math_block) -> None:
    self.body.append(self.starttag(node, "div", CLASS="math notranslate nohighlight"))
    if node["number"] and not node["nowrap"]:
        self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})')
        if "checked_by" in node:
            self.body.append(CHECK.format(node["checked_by"]))
        self.add_permalink_ref(node, _("Link to this equation"))
        self.body.append("</span>")
    tex = node.astext() if node["nowrap"] else lines_of(node.astext())
    self.body.append(f"{written(node, tex, display=True)}</div>\n")
    raise nodes.SkipNode


class KeepPunctuation(SphinxPostTransform):
    """Hold an inline formula and the punctuation around it together on one line."""

    default_priority = 900
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        for formula in list(self.document.findall(nodes.math)):
            bind(formula)


def bind(formula: nodes.math) -> None:
    """Put a formula and the punctuation that touches it into one box."""
    parent = formula.parent
    place = parent.index(formula)
    before = parent[place - 1] if place else None
    after = parent[place + 1] if place + 1 < len(parent) else None
    opening = OPENING.search(before.astext()) if isinstance(before, nodes.Text) else None
    closing = CLOSING.match(after.astext()) if isinstance(after, nodes.Text) else None
    if not opening and not closing:
        return
    box = nodes.inline(classes=["bound"])
    parent[place] = box  # by index: two texts may be equal, and a search finds the first
    if opening:
        parent[place - 1] = nodes.Text(opening.string[: opening.start()])
        box += nodes.Text(opening[0])
    box += formula
    if closing:
        parent[place + 1] = nodes.Text(closing.string[closing.end() :])
        box += nodes.Text(closing[0])


def copy_library(app: Sphinx) -> None:
    """Copy what formulas need in a browser: a style sheet, fonts, and the script to copy TeX."""
    if app.builder.format != "html":
        return
    target = Path(app.outdir) / "_static" / "katex"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(VENDOR / "fonts", target / "fonts")
    for name in ("katex.min.css", "copy-tex.min.js"):
        shutil.copyfile(VENDOR / name, target / name)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("katex", (visit_math, None), (visit_display, None))
    app.add_post_transform(KeepPunctuation)
    app.connect("builder-inited", copy_library)
    app.add_css_file("katex/katex.min.css")
    app.add_js_file("katex/copy-tex.min.js", loading_method="defer")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
