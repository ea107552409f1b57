"""A light site: what the theme brings is served only as far as a page uses it.

The theme writes its icons by a script that holds every icon there is; its style sheet can show
them from a font, too, which is cut here to the icons that pages name. Its own script asks each box
of a page whether it scrolls, for which all that is folded is laid out: it no longer does, as
`book.js` asks when a box is seen. Search has an index of its own, loaded when it is asked for. Code
is coloured without a span for what has the text's colour.

Overridden are the theme's `layout.html` and `search.html`, as long as PyData's theme loads 1.5 MB
of icons and Sphinx its search on each page, and changed is its script, as long as it asks what
scrolls: where they no longer do, the build fails and says so.
Pygments has no setting for the spans that `LeanFormatter` saves.
"""

import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fontTools import subset
from pygments.formatters import HtmlFormatter
from pygments.token import Name, Operator, Punctuation, Text, _TokenType
from sphinx.application import Sphinx
from sphinx.highlighting import PygmentsBridge

TEMPLATES = Path(__file__).parent / "templates"
# By file name: of extensions of which the pages use the style sheet alone, or nothing.
UNUSED = {"design-tabs.js", "proof.css"}
UNUSED_FILES = (
    "**/*.map",
    "**/*.ttf",
    "**/*webpack-macros.html",
    "**/fa-brands-*",
    "images/logo_*",  # of services that the book does not launch
    "locales",
    "scripts/fontawesome.js*",
)
PLAIN = {Name, Operator, Punctuation, Text, Text.Whitespace}
ICON_CLASS = re.compile(r"\bfa-([a-z0-9-]+)")
ICON_RULE = re.compile(r'((?:\.fa-[a-z0-9-]+:before,?)+)\{content:"\\([0-9a-f]+)"\}')
ICON_PROPERTY = re.compile('--pst-[a-z-]+:"([\ue000-\uf8ff])"')
ASKS_WHAT_SCROLLS = re.compile(
    r'"complete"===document\.readyState\?(\w+)\(\):window\.addEventListener\("load",\1\)'
)
ICON_OF_BOOK_THEME = re.compile(r'content:"\\(f[0-9a-f]{3})"')


class LeanFormatter(HtmlFormatter):  # type: ignore[type-arg]
    """Names, operators, punctuation and white space have the colour of the block: no span."""

    def _get_css_classes(self, ttype: _TokenType) -> str:
        own: str = super()._get_css_classes(ttype)  # type: ignore[misc]  # no stub has it
        return "" if ttype in PLAIN else own


def without(html: str, *names: str) -> str:
    """HTML less the script elements that load files of these names.

    Raises:
        ValueError: the HTML loads no such script.
    """
    for name in names:
        element = rf'<script\b[^>]*\bsrc="[^"]*\b{re.escape(name)}[^"]*"[^>]*>\s*</script>\n?'
        html, found = re.subn(element, "", html)
        if not found:
            raise ValueError(f"the theme no longer loads {name}: take it out of layout.html")
    return html


def icons(pages: Iterable[str], sheet: str, book_sheet: str) -> set[int]:
    """The code points of the icons that pages name by class, or style sheets by themselves."""
    named = {name for page in pages for name in ICON_CLASS.findall(page)}
    by_class = {
        name: int(point, 16)
        for selectors, point in ICON_RULE.findall(sheet)
        for name in ICON_CLASS.findall(selectors)
    }
    points = {by_class[name] for name in named & by_class.keys()}
    points |= {ord(character) for character in ICON_PROPERTY.findall(sheet)}
    return points | {int(point, 16) for point in ICON_OF_BOOK_THEME.findall(book_sheet)}


def cut_font(path: Path, points: set[int]) -> None:
    """Leave only these characters in a font."""
    options = subset.Options(flavor="woff2", notdef_outline=True)
    font = subset.load_font(str(path), options, lazy=False)
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=points)
    cutter.subset(font)
    subset.save_font(font, str(path), options)
    font.close()


def cut_icons(static: Path) -> None:
    """Cut the theme's icon fonts to what the pages of the site show."""
    pages = [page.read_text() for page in static.parent.rglob("*.html")]
    scripts = [script.read_text() for script in (static / "scripts").glob("*-theme.js")]
    styles = static / "styles"
    sheets = [(styles / f"{name}.css").read_text() for name in
              ("pydata-sphinx-theme", "sphinx-book-theme")]  # fmt: skip
    points = icons(pages + scripts, *sheets)
    for font in static.glob("vendor/fontawesome/webfonts/*.woff2"):
        cut_font(font, points)


def spare_layout(script: Path) -> None:
    """Have the theme's script not ask what scrolls.

    Raises:
        ValueError: it does not, or not once.
    """
    text, found = ASKS_WHAT_SCROLLS.subn("0", script.read_text())
    if found != 1:
        raise ValueError(f"{script.name} no longer asks what scrolls: take spare_layout out")
    script.write_text(text)


def is_used(file: object) -> bool:
    address = str(getattr(file, "filename", file)).partition("?")[0]
    return Path(address).name not in UNUSED


def drop_from_page(
    app: Sphinx, page: str, template: str, context: dict[str, Any], document: object
) -> None:
    for key in ("script_files", "css_files"):
        context[key] = list(filter(is_used, context.get(key, [])))


def drop_unused(app: Sphinx, error: Exception | None) -> None:
    if error or app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    for path in {match for pattern in UNUSED_FILES for match in static.glob(pattern)}:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    cut_icons(static)
    spare_layout(static / "scripts" / "pydata-sphinx-theme.js")


def add_filter(app: Sphinx) -> None:
    if app.builder.format == "html":
        app.builder.templates.environment.filters["without"] = without


def configure(app: Sphinx, config: Any) -> None:
    config.templates_path.append(str(TEMPLATES))


def setup(app: Sphinx) -> dict[str, bool]:
    PygmentsBridge.html_formatter = LeanFormatter
    app.connect("config-inited", configure)
    app.connect("builder-inited", add_filter)
    app.connect("html-page-context", drop_from_page, priority=900)
    app.connect("build-finished", drop_unused)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
