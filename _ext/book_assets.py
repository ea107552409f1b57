"""The book's static files: its style sheet, and MathJax served from the site itself.

Links to the repository come from one setting, ``repository.url`` in ``_config.yml``: their
buttons are switched on here when it is set.
"""

from importlib.util import find_spec
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util.fileutil import copy_asset

STATIC = Path(__file__).parent / "static"
MATHJAX_PARTS = ("tex-chtml.js", "output/chtml/fonts/woff-v2", "input/tex/extensions")


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
    if app.builder.format != "html":
        return
    root = mathjax_root()
    target = Path(app.outdir) / "_static" / "mathjax"
    for part in MATHJAX_PARTS:
        source = root / part
        folder = target / part if source.is_dir() else (target / part).parent
        copy_asset(source, folder, excluded=lambda path: path.endswith("all-packages.js"))


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("config-inited", configure)
    app.connect("builder-inited", copy_mathjax)
    app.add_css_file("book.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
