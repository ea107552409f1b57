"""Hold what told pages say to what their cells show.

A displayed formula with a gradient has a cell that checks it (`look.checks`).

Which pages are told is known only when all have been read, so each page's faults are kept.
"""

import re
from collections.abc import Iterator

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from about.reading_time import told_pages

LOG = logging.getLogger(__name__)

GRADIENT = re.compile(r"\\(partial|bar|nabla)(?![a-zA-Z])")
Fault = tuple[int | None, str]  # the line, and what is wrong


def unchecked_formulas(document: nodes.document) -> Iterator[Fault]:
    """Yield the labelled formulas with a gradient that no cell checks."""
    for block in document.findall(nodes.math_block):
        label = block.get("label")
        numbered = label and "amsmath" not in block["classes"]  # those have labels nobody can name
        if numbered and "checked_by" not in block and GRADIENT.search(block.astext()):
            yield block.line, f"no cell checks {label}: give one the metadata `checks: {label}`"


def note_faults(app: Sphinx, document: nodes.document) -> None:
    app.env.metadata[app.env.docname]["faults"] = [*unchecked_formulas(document)]


def check(app: Sphinx, env: BuildEnvironment) -> None:
    for page in told_pages(env):
        for line, fault in env.metadata[page]["faults"]:
            LOG.warning(fault, location=(page, line))


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-read", note_faults)
    app.connect("env-check-consistency", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
