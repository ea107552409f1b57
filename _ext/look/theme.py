"""A light site: what the theme brings is served only as far as a page uses it.

The theme writes its icons by a script that holds every icon there is (1.5 MB); its style sheet can
show them from a font, too, which is cut here to the icons that pages name. Search has an index of
its own, loaded when it is asked for. Code is coloured without a span for what has the text's
colour: Pygments has no setting for those that `LeanFormatter` saves.

Scripts that no page needs are left out by templates that take the place of the theme's, as Sphinx
provides for it.
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
# File names, from extensions of which the pages use only the style sheet, or nothing.
UNUSED = {"design-tabs.js", "proof.css"}
UNUSED_FILES = (
    "**/*.map",
    "**/*.ttf",
    "**/*webpack-macros.html",
    "**/fa-brands-*",
    "images/logo_*",  # logos of services that the book doesn't launch
    "locales",
    "scripts/fontawesome.js*",
)
PLAIN = {Name, Operator, Punctuation, Text, Text.Whitespace}
ICON_CLASS = re.compile(r"\bfa-([a-z0-9-]+)")
ICON_RULE = re.compile(r'((?:\.fa-[a-z0-9-]+:before,?)+)\{content:"\\([0-9a-f]+)"\}')
ICON_PROPERTY = re.compile('--pst-[a-z-]+:"([\ue000-\uf8ff])"')
ICON_OF_BOOK_THEME = re.compile(r'content:"\\(f[0-9a-f]{3})"')


class LeanFormatter(HtmlFormatter):  # type: ignore[type-arg]
    """Names, operators, punctuation and white space have the colour of the block: no span."""

    def _get_css_classes(self, ttype: _TokenType) -> str:
        own: str = super()._get_css_classes(ttype)  # type: ignore[misc]  # no stub has it
        return "" if ttype in PLAIN else own


def icons(pages: Iterable[str], sheet: str, book_sheet: str) -> set[int]:
    """Return the code points of the icons that pages name by class, or style sheets directly."""
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
    """Keep only these characters in a font."""
    options = subset.Options(flavor="woff2", notdef_outline=True)
    font = subset.load_font(str(path), options, lazy=False)
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=points)
    cutter.subset(font)
    subset.save_font(font, str(path), options)
    font.close()


def cut_icons(static: Path) -> None:
    """Cut the theme's icon fonts down to the icons that the site's pages show."""
    pages = [page.read_text() for page in static.parent.rglob("*.html")]
    scripts = [script.read_text() for script in (static / "scripts").glob("*-theme.js")]
    styles = static / "styles"
    sheets = [(styles / f"{name}.css").read_text() for name in
              ("pydata-sphinx-theme", "sphinx-book-theme")]  # fmt: skip
    points = icons(pages + scripts, *sheets)
    for font in static.glob("vendor/fontawesome/webfonts/*.woff2"):
        cut_font(font, points)


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


def configure(app: Sphinx, config: Any) -> None:
    config.templates_path.append(str(TEMPLATES))


def setup(app: Sphinx) -> dict[str, bool]:
    PygmentsBridge.html_formatter = LeanFormatter
    app.connect("config-inited", configure)
    app.connect("html-page-context", drop_from_page, priority=900)
    app.connect("build-finished", drop_unused)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
