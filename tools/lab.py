"""Pages edited as notebooks in JupyterLab keep their own text wherever nothing was edited.

Jupytext writes a whole page anew on each save: front matter with its version number, options in
its own order and line breaks, blank lines between cells. What it would have made of the page
*before* the edit shows which of these changes are only its style; they are taken back here.
Jupytext's own filters don't help: they choose which options are written, not how. With them, as
without, saving the pages unedited changes 2,240 lines.
"""

import json
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from nbformat import NotebookNode

FORMAT = {"extension": ".md", "format_name": "myst"}


def read(text: str) -> NotebookNode:
    notebook: NotebookNode = jupytext.reads(text, fmt=FORMAT)
    return notebook


def write(notebook: NotebookNode) -> str:
    return str(jupytext.writes(notebook, fmt=FORMAT))


def content(notebook: NotebookNode) -> list[tuple[str, str, dict[str, Any]]]:
    """Return what an edit could change: the kind, source and options of every cell."""
    return [(cell.cell_type, cell.source.rstrip("\n"), cell.metadata) for cell in notebook.cells]


def reapply(before: list[str], after: list[str], to: list[str]) -> list[str]:
    """Apply to `to`, an edit of `before`, the changes that lead from `before` to `after`.

    A change is left out if the edit has touched the lines that it would change.
    """
    kept = SequenceMatcher(None, before, to, autojunk=False).get_matching_blocks()
    place = {block.a + i: block.b + i for block in kept for i in range(block.size)}
    place[len(before)] = len(to)
    changes = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    lines = list(to)
    for kind, start, end, first, last in reversed(changes):
        where = [place.get(line) for line in range(start, max(end, start + 1))]
        begin = where[0]
        if kind == "equal" or begin is None or where != [begin + i for i in range(len(where))]:
            continue
        lines[begin : begin + end - start] = after[first:last]
    return lines


def name_kernel(notebook: NotebookNode, kernel: NotebookNode | None) -> None:
    """Undo what Jupyter writes about a kernel if it is the page's own, or no cell needs it."""
    chosen = notebook.metadata.pop("kernelspec", None)
    if kernel and chosen and kernel["name"] == chosen["name"]:
        chosen = kernel
    if kernel or any(cell.cell_type == "code" for cell in notebook.cells):
        notebook.metadata["kernelspec"] = chosen


def sort_options(notebook: NotebookNode) -> None:
    """Order every cell's options by name: each program that writes notebooks orders its own way."""
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict(json.loads(json.dumps(cell.metadata, sort_keys=True)))


def keep_style(old: str, new: str) -> str:
    """Return the page `old` with the edit that jupytext has written as `new`."""
    page, edited = read(write(read(old))), read(new)  # both as jupytext writes them
    name_kernel(edited, page.metadata.get("kernelspec"))
    for notebook in (page, edited):
        sort_options(notebook)
    plain = write(edited)
    kept = "".join(reapply(*(text.splitlines(keepends=True) for text in (write(page), old, plain))))
    return kept if content(read(kept)) == content(read(plain)) else new


def is_page(model: dict[str, Any], path: Path) -> bool:
    """Return whether a file being saved is a page that jupytext just wrote from a notebook."""
    text = model.get("content")
    if model.get("type") != "file" or path.suffix != ".md" or not isinstance(text, str):
        return False
    header = text.split("\n---\n", 1)[0]
    return path.is_file() and "format_name: myst" in header and "jupytext_version:" in header


class PageManager(AsyncLargeFileManager):
    """Files on disk; jupytext's server extension derives its own manager from it."""

    async def save(self, model: dict[str, Any], path: str = "") -> dict[str, Any]:
        file = Path(self._get_os_path(path))  # type: ignore[no-untyped-call]
        if is_page(model, file):
            old = file.read_bytes().decode()
            model = model | {"content": keep_style(old, model["content"])}
        saved: dict[str, Any] = await super().save(model, path)  # type: ignore[no-untyped-call]
        return saved
