"""Problems to practise on: ``{drills}`` shows them, ``{practice}`` leads there from other pages.

The build writes banks: files of fifty problems, of which a reader's browser fetches what it shows.
Drawing them takes a minute, so they are kept beside the site until the code behind them changes.
"""

import re
import shutil
from hashlib import sha256
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from chainlab.drills import KINDS
from chainlab.drills.page.bank import bank, names
from chainlab.drills.page.drill import practice
from coursework.sources import PACKAGES, package, sources

PAGE = "chapters/practice/drills"  # its banks are beside it: no other page loads them


def code() -> list[Path]:
    """Return the files that decide how problems look: the engine's, and its displays'."""
    paths = [path for name in PACKAGES for path in sources(package(name))]
    return [path for path in paths if path.suffix in (".py", ".js", ".css")]


def digest() -> str:
    return sha256(b"".join(path.read_bytes() for path in code())).hexdigest()[:12]


def banks(app: Sphinx) -> list[Path]:
    """Return the banks of all kinds and levels; write those that are missing."""
    made = digest()  # in their names, so that no browser takes an older one
    folder = Path(app.outdir).parent / ".drills" / made
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for kind in KINDS:
        for name, level, first in names(kind):
            path = folder / f"{name}-{made}.json"
            paths.append(path)
            if not path.exists():
                part = path.with_suffix(".part")
                part.write_text(bank(kind, level, first), encoding="utf-8")
                part.rename(path)
    return paths


class Drills(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        for path in code():  # the banks' addresses depend on these files
            self.env.note_dependency(str(path))
        page = practice(f"{PAGE}/{{}}-{digest()}.json", self.env.docname)
        return [nodes.raw("", page, format="html")]


class Practice(SphinxDirective):
    """A line that leads to problems, named as in their addresses, from what a page has taught."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        line = nodes.paragraph("", "", nodes.strong("", "To practise"))
        before = ": "
        for name in self.arguments[0].split():
            kind, _, rest = name.partition("-")
            if kind not in KINDS or not re.fullmatch(r"[1-3]-[1-9]\d*", rest):
                raise self.error(f"there is no problem {name!r}: write a name like adjoints-2-7")
            says = f"{KINDS[kind].title}, level {rest[0]}"
            link = nodes.reference("", says, drill=name, internal=True)
            line += [nodes.Text(before), link]
            before = " · "
        return [line]


def resolve_links(app: Sphinx, document: nodes.document, page: str) -> None:
    """Give the links to problems their addresses, which depend on the format being built."""
    for link in document.findall(nodes.reference):
        if "drill" in link:
            link["refuri"] = f"{app.builder.get_relative_uri(page, PAGE)}#{link['drill']}"


def publish(app: Sphinx, error: Exception | None) -> None:
    """Replace the banks in the site, if the site has the page that uses them."""
    if error or app.builder.format != "html":
        return
    target = Path(app.outdir) / PAGE
    shutil.rmtree(target, ignore_errors=True)
    if PAGE not in app.env.found_docs:
        return
    target.mkdir(parents=True)
    for path in banks(app):
        shutil.copy(path, target)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("drills", Drills)
    app.add_directive("practice", Practice)
    app.connect("doctree-resolved", resolve_links)
    app.connect("build-finished", publish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
