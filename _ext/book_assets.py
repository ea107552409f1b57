"""The book's static files: its style sheet, and MathJax served from the site itself.

Links to the repository come from one setting, ``repository.url`` in ``_config.yml``: their
buttons are switched on here when it is set. What no reader's browser asks for (source maps,
legacy fonts, templates, logos of services, translation catalogues) is dropped from the built site.
"""

import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment

STATIC = Path(__file__).parent / "static"
# MathJax loads an extension when a formula first uses one of its macros.
EXTENSIONS = "boldsymbol cancel cases color enclose html mathtools unicode"
MATHJAX = (
    "tex-chtml.js",
    "output/chtml/fonts/woff-v2/*",
    *(f"input/tex/extensions/{name}.js" for name in EXTENSIONS.split()),
)
UNUSED = (
    "**/*.map",
    "**/*.ttf",
    "**/*webpack-macros.html",
    "**/fa-brands-*",
    "images/logo_*",  # of services that the book does not launch
    "locales",
)
STATUS_PAGE = "chapters/reference/status"


def mathjax_root() -> Path:
    """The folder of MathJax files that the ``sphinx-mathjax-offline`` package carries."""
    spec = find_spec("sphinx-mathjax-offline")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("sphinx-mathjax-offline is missing: run `make book`")
    return Path(spec.origin).parent / "static" / "mathjax"


def configure(app: Sphinx, config: Config) -> None:
    config.html_static_path.append(str(STATIC))
    config.mathjax_path = "mathjax/tex-chtml.js"
    options = config.html_theme_options
    if options.get("repository_url"):
        options.update(use_repository_button=True, use_issues_button=True)
    else:
        options.pop("repository_url", None)


def copy_mathjax(app: Sphinx) -> None:
    """Copy the parts of MathJax that the site uses before pages refer to them."""
    if app.builder.format != "html":
        return
    root = mathjax_root()
    target = Path(app.outdir) / "_static" / "mathjax"
    shutil.rmtree(target, ignore_errors=True)
    for source in (path for part in MATHJAX for path in root.glob(part)):
        copy = target / source.relative_to(root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, copy)


def drop_unused(app: Sphinx, error: Exception | None) -> None:
    if error or app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    for path in {match for pattern in UNUSED for match in static.glob(pattern)}:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def free_bibliography_entries(
    app: Sphinx, name: str, template: str, context: dict[str, Any], document: object
) -> None:
    """Drop the roles that docutils gives to references: lists may not hold entries of that kind."""
    body = context.get("body", "")
    body = body.replace('<div role="list" class="citation-list">', '<div class="citation-list">')
    context["body"] = body.replace(' role="doc-biblioentry"', "")


def refresh_status(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Write the status page again in every build: it tells how the other pages ran."""
    return [STATUS_PAGE] if STATUS_PAGE in env.found_docs else []


def keep_first_colon(
    app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]
) -> None:
    """Napoleon reads a property's docstring up to its first colon as a type: give it none."""
    if what in ("attribute", "property") and lines:
        lines[0] = f": {lines[0]}"


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("config-inited", configure)
    app.connect("builder-inited", copy_mathjax)
    app.connect("autodoc-process-docstring", keep_first_colon, priority=400)
    app.connect("html-page-context", free_bibliography_entries)
    app.connect("env-updated", refresh_status)
    app.connect("build-finished", drop_unused)
    app.add_css_file("book.css")
    app.add_js_file("book.js")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
