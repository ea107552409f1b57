"""The licences page: everything that the site carries, where it comes from, and under which terms.

`licences.toml` lists it. The texts are those of the installed packages and of what is vendored,
read while the book is built, so that they belong to the versions that are served.
"""

import tomllib
from collections.abc import Iterator
from html import escape
from importlib.metadata import distribution
from itertools import starmap
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from live.pyodide import PYODIDE

ROOT = Path(__file__).resolve().parents[2]
LIST = Path(__file__).with_suffix(".toml")
THEME = "pydata_sphinx_theme/theme/pydata_sphinx_theme/static/scripts/"
PAGE = "licences"
LICENCE_FILES = ("LICEN", "COPYING", "NOTICE")
HEADINGS = {
    "page": "On every page",
    "live": "Where a cell is run",
    "runtime": "Python itself, for cells that run in the page",
}
INTRODUCTION = """\
<h1>Licences</h1>
<p>The text of the course is under <a href="https://creativecommons.org/licenses/by/4.0/">CC BY
4.0</a>, its code under the BSD 3-Clause licence. The site carries the work of others, too,
unchanged where nothing else is said. Here are their notices, and where their source code is.</p>
"""

Work = dict[str, Any]


class MissingLicenceError(FileNotFoundError):
    """A work that the site carries has no licence text where it was looked for."""


def installed(package: str, file: str) -> Path:
    return Path(str(distribution(package).locate_file(file)))


def licence_files(package: str) -> list[Path]:
    """Return the licence texts that an installed package brings in its metadata."""
    return [
        installed(package, str(file))
        for file in distribution(package).files or ()
        if ".dist-info" in str(file) and any(part in file.name.upper() for part in LICENCE_FILES)
    ]


def texts(work: Work) -> list[str]:
    """Return the texts of a work's licence.

    Raises:
        MissingLicenceError: the list gives neither a text of the licence nor its terms.
    """
    paths = [ROOT / file for file in work.get("files", ())]
    if "theme_file" in work:
        paths.append(installed("pydata-sphinx-theme", THEME + work["theme_file"]))
    if "package" in work:
        paths += licence_files(work["package"])
    if not paths and "terms" not in work:
        raise MissingLicenceError(
            f"licences.toml: {work['name']} has no licence text: add its files or terms"
        )
    return [path.read_text(errors="replace").strip() for path in paths]


def version(work: Work) -> str:
    if work["name"] == "Pyodide":
        return str(PYODIDE["version"])
    if "package" in work and "version" not in work:
        return distribution(work["package"]).version
    return str(work.get("version", ""))


def notice(work: Work) -> str:
    """Return the part of the page that describes one work."""
    head = escape(f"{work['name']} {version(work)}".strip())
    source = work.get("source")
    where = f' Source: <a href="{source}">{source}</a>.' if source else ""
    text = "".join(f'<pre tabindex="0">{escape(text)}</pre>' for text in texts(work))
    fold = f"<details><summary>The licence of {head}</summary>{text}</details>" if text else ""
    terms = f"<p>{escape(work['terms'])}</p>" if "terms" in work else ""
    return f"<h3>{head}</h3><p>For {escape(work['use'])}.{where}</p>{terms}{fold}"


def in_the_browser(name: str, source: str) -> Work:
    """Describe a package of Pyodide: its version there, and the licence text installed here."""
    package = name.lower()
    return {
        "name": name,
        "use": "Python packages in live cells",
        "source": source,
        "package": package,
        "version": PYODIDE["lock"]["packages"][package]["version"],
    }


def body() -> str:
    listed = tomllib.loads(LIST.read_text())
    listed["runtime"] += starmap(in_the_browser, listed["pyodide"].items())
    parts = [INTRODUCTION]
    for key, heading in HEADINGS.items():
        parts += [f"<h2>{heading}</h2>", *map(notice, listed[key])]
    return "\n".join(parts)


def pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    yield PAGE, {"title": "Licences", "body": body()}, "page.html"


def link_in_footer(
    app: Sphinx, page: str, template: str, context: dict[str, Any], document: object
) -> None:
    link = f'<a href="{context["pathto"](PAGE)}">Licences of all that the site carries</a>.'
    context["theme_extra_footer"] = f"{context['theme_extra_footer']} {link}"


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-collect-pages", pages)
    app.connect("html-page-context", link_in_footer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
