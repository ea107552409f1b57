"""The lines that unfold hidden code: each says what the code does, unless the page words it itself.

What the cell shows tells it (a figure, a table, lines), or else what it defines or computes. A line
of the page's own is `mystnb: {code_prompt_show: …}`; one that begins with "Checked" makes a claim,
which the cell behind it held when it ran: a mark ✓, with code and output in it.

Code that is folded stands below what it shows, for the eye and for the keyboard.
"""

import ast
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging

from chainview.read.words import joined
from common.cells import is_check

logger = logging.getLogger(__name__)

UNWORDED = "{type}"  # in MyST-NB's own lines, where it puts "source" or "output"
DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
NAMED = 3  # more names don't fit into a line on a phone
DRAWN, TABULATED = ("<svg", "<img"), ("<table",)


def visible_output(output: nodes.Node) -> str:
    """Describe what the reader sees of a cell's output; "" for nothing."""
    raw = "".join(node.astext() for node in output.findall(nodes.raw))
    if next(output.findall(nodes.image), None) or any(tag in raw for tag in DRAWN):
        return "of this figure"
    if next(output.findall(nodes.table), None) or any(tag in raw for tag in TABULATED):
        return "of this table"
    return "that prints this" if output.astext().strip() else ""


def assigned_names(statements: list[ast.stmt]) -> Iterator[str]:
    """Yield the names to which these statements assign values."""
    for statement in statements:
        targets = [
            *getattr(statement, "targets", []),
            *filter(None, [getattr(statement, "target", None)]),
        ]
        for target in targets:
            found = [node for node in ast.walk(target) if isinstance(node, ast.Name)]
            yield from (node.id for node in found if isinstance(node.ctx, ast.Store))


def done(source: str) -> str:
    """Describe what code does if it shows nothing."""
    try:
        statements = ast.parse(source).body
    except SyntaxError:  # a magic command
        return ""
    defined = [node.name for node in statements if isinstance(node, DEFINITIONS)]
    if defined:
        return f"that defines {listed(defined)}"
    if "glue(" in source:
        return "of numbers in the text"
    plain = [node for node in statements if not isinstance(node, ast.For | ast.AsyncFor)]
    computed = [name for name in dict.fromkeys(assigned_names(plain)) if not name.startswith("_")]
    if computed:
        return f"that computes {listed(computed)}"
    return "that checks this" if any(isinstance(s, ast.Assert) for s in statements) else ""


def listed(names: list[str]) -> str:
    if len(names) > NAMED:
        return f"{', '.join(names[:NAMED])} …"
    return joined(names)


class WordPrompts(SphinxPostTransform):
    """Word the lines of cells that have none of their own, and mark the cells that hold a claim."""

    default_priority = 100  # after outputs are chosen, before they are folded
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        for cell in self.document.findall(nodes.container):
            line = cell.get("prompt_show", "")
            if is_check(cell):
                cell["classes"].append("checked")
                cell["hide_mode"] = "all"
                if not cell["exec_count"] or "tag_raises-exception" in cell["classes"]:
                    logger.warning("“%s”: this cell has not run, or may fail", line, location=cell)
            if line and UNWORDED not in line:
                cell["prompt_hide"] = line
            elif line and cell.get("hide_mode") == "input":
                source, *outputs = cell.children
                what = next(filter(None, map(visible_output, outputs)), "") or done(source.astext())
                cell["prompt_show"] = f"Show the code {what}".strip()
                cell["prompt_hide"] = "Hide the code"


class FoldBelow(SphinxPostTransform):
    """Put folded code below what it shows."""

    default_priority = 200  # right after MyST-NB has folded it
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        for cell in self.document.findall(nodes.container):
            match cell.children:
                case [HideCodeCellNode() as fold, *outputs] if any(map(visible_output, outputs)):
                    cell.remove(fold)
                    cell.append(fold)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_post_transform(WordPrompts)
    app.add_post_transform(FoldBelow)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
