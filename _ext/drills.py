"""Problems to practise on: ``{drills}`` shows them, and the build writes their banks.

The graphs of a kind are one file, fetched when a reader chooses the kind. Drawing them takes
seconds, so they are kept beside the site until the code that draws them changes.
"""

from hashlib import sha256
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import chaingrad
from chaingrad.step.drills import KINDS
from chaingrad.step.drills.drill import bank, practice

CODE = Path(chaingrad.__file__).parent
PAGE = "chapters/practice/drills"  # its banks lie beside it: no other loads them


def digest() -> str:
    """Of all that banks are made by."""
    files = sorted(path for path in CODE.rglob("*") if path.suffix in (".py", ".js", ".css"))
    return sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:12]


def banks(app: Sphinx) -> dict[str, Path]:
    """The bank of each kind, written now unless it is there."""
    made = digest()
    folder = Path(app.outdir).parent / ".drills" / made
    folder.mkdir(parents=True, exist_ok=True)
    found = {kind: folder / f"{kind}-{made}.json" for kind in KINDS}
    for kind, path in found.items():
        if not path.exists():
            part = path.with_suffix(".part")
            part.write_text(bank(kind), encoding="utf-8")
            part.rename(path)
    return found


class Drills(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        for path in CODE.joinpath("step").rglob("*"):
            self.env.note_dependency(str(path))
        made = digest()
        addresses = {kind: f"{PAGE}/{kind}-{made}.json" for kind in KINDS}
        return [nodes.raw("", practice(addresses, self.env.docname), format="html")]


def publish(app: Sphinx, error: Exception | None) -> None:
    """Put the banks into the site, and nothing older."""
    if error or app.builder.format != "html":
        return
    target = Path(app.outdir) / PAGE
    target.mkdir(parents=True, exist_ok=True)
    found = banks(app).values()
    for old in set(target.iterdir()) - {target / path.name for path in found}:
        old.unlink()
    for path in found:
        (target / path.name).write_bytes(path.read_bytes())


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("drills", Drills)
    app.connect("build-finished", publish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
