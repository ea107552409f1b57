"""Cells that run in the reader's browser: which they are, and the files that this takes.

A cell is live if it needs only the standard library, NumPy, matplotlib, chaingrad and a few small
packages that the site carries, and if the same is true of the earlier cells that it builds on. The
page says so to ``live.js``, which loads everything else on the first click. Python itself comes
from the site where `make live` has put it there, and from Pyodide's own address otherwise.

A page can take a cell out, with a reason for the reader, in the cell's options::

    live: trains for minutes in the browser
"""

import json
import shutil
import symtable
import sys
import zipfile
from collections.abc import Iterable, Iterator
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

PARTS = Path(__file__).parent / "live"
ROOT = Path(__file__).resolve().parent.parent
PYODIDE = "314.0.3"
RUNTIME = ROOT / ".venv" / "live" / PYODIDE  # filled by `make live`
ELSEWHERE = f"https://cdn.jsdelivr.net/pyodide/v{PYODIDE}/full/"
FILES = (
    "controller.js", "worker.js", "runner.py", "lock.json",
    "vendor/editor.js", "vendor/graphviz.js", "vendor/LICENSES.txt",
)  # fmt: skip

CARRIED = ("chaingrad", "tqdm")
PROVIDED = {"numpy", "matplotlib", "mpl_toolkits", "IPython", "myst_nb", *CARRIED}
NEEDS_A_SYSTEM = {  # what of the standard library wants processes, threads or sockets
    "_thread", "asyncio", "concurrent", "multiprocessing", "resource", "signal", "socket",
    "socketserver", "subprocess", "threading",
}  # fmt: skip
AVAILABLE = (set(sys.stdlib_module_names) - NEEDS_A_SYSTEM) | PROVIDED


# --- which cells ---------------------------------------------------------------------------------


class Names:
    """The modules that a cell imports, and the names of the page that it uses and gives."""

    def __init__(self, source: str) -> None:
        self.imports = set(imported(source))
        self.used: set[str] = set()
        self.given: set[str] = set()
        self._read(symtable.symtable(source, "<cell>", "exec"), top=True)

    def _read(self, table: symtable.SymbolTable, top: bool = False) -> None:
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (top or symbol.is_global()):
                self.used.add(symbol.get_name())
            if (symbol.is_assigned() or symbol.is_imported()) and (
                top or symbol.is_declared_global()
            ):
                self.given.add(symbol.get_name())
        for child in table.get_children():
            self._read(child)


def imported(source: str) -> Iterator[str]:
    """The top-level names of the modules that the code imports, wherever it does."""
    import ast

    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def obstacles(cells: Iterable[tuple[str, dict[str, Any]]]) -> list[str]:
    """For each cell, given by source and options: why it cannot run in the page, "" if it can."""
    reasons: list[str] = []
    spoiled: dict[str, str] = {}  # names whose last definition the page cannot run, and why
    for source, options in cells:
        try:
            names = Names(source)
        except SyntaxError:  # a magic such as %%writefile, or an error shown on purpose
            reasons.append("needs Jupyter")
            continue
        missing = sorted(names.imports - AVAILABLE)
        inherited = sorted(names.used & spoiled.keys())
        if "live" in options:
            reason = str(options["live"])
        elif missing:
            reason = "needs " + listed(missing)
        elif inherited:
            reason = spoiled[inherited[0]]
        else:
            reason = ""
        for name in names.given:
            spoiled.pop(name, None)
            if reason:
                spoiled[name] = reason if "cell" in reason else f"{reason}, or a cell that does"
        reasons.append(reason)
    return reasons


def listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def code_cells(document: nodes.document) -> list[nodes.Element]:
    return [
        node for node in document.findall(nodes.container) if node.get("nb_element") == "cell_code"
    ]


def source_of(cell: nodes.Element) -> str:
    return next(cell.findall(nodes.literal_block)).astext()


def describe(document: nodes.document) -> list[dict[str, Any]]:
    """What the page tells ``live.js`` of each of its cells, in order."""
    cells = code_cells(document)
    options = [cell.get("cell_metadata", {}) for cell in cells]
    reasons = obstacles(zip(map(source_of, cells), options, strict=True))
    return [
        {"why": reason} if reason else {"raises": "raises-exception" in option.get("tags", ())}
        for reason, option in zip(reasons, options, strict=True)
    ]


def add_to_page(
    app: Sphinx, page: str, template: str, context: dict[str, Any], document: nodes.document | None
) -> None:
    if app.builder.format != "html" or document is None:
        return
    cells = describe(document)
    if any("why" not in cell for cell in cells):
        root = context["pathto"]("_live/", resource=True)
        data = json.dumps({"root": root, "cells": cells}).replace("</", "<\\/")
        context["body"] += f'<script type="application/json" id="live-cells">{data}</script>'


# --- which files ---------------------------------------------------------------------------------


def carried_files() -> Iterator[tuple[str, bytes]]:
    """The packages that the site carries to the browser, file by file."""
    for name in CARRIED:
        spec = find_spec(name)
        if spec is None or spec.origin is None:
            raise ModuleNotFoundError(f"{name} is missing: run `make book`")
        folder = Path(spec.origin).parent
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.suffix in (".py", ".js", ".css"):
                yield path.relative_to(folder.parent).as_posix(), path.read_bytes()


def pack(target: Path) -> str:
    """Write the carried packages into one archive, named by its content; returns the name."""
    files = list(carried_files())
    digest = sha256(b"".join(name.encode() + content for name, content in files)).hexdigest()
    name = f"packages-{digest[:12]}.zip"
    with zipfile.ZipFile(target / name, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files:
            archive.writestr(zipfile.ZipInfo(path), content, zipfile.ZIP_DEFLATED)
    return name


def publish(target: Path) -> None:
    """Put all that live cells need into the folder ``_live`` of a site."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for name in FILES:
        shutil.copyfile(PARTS / name, target / Path(name).name)
    assembled = RUNTIME.is_dir()
    if assembled:
        shutil.copytree(RUNTIME, target / "runtime")
    config = {
        "version": PYODIDE,
        "runtimes": ["runtime/"] * assembled + [ELSEWHERE],
        "packages": pack(target),
    }
    (target / "config.json").write_text(json.dumps(config, indent=1) + "\n")


def publish_with_site(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.format == "html":
        publish(Path(app.outdir) / "_live")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", add_to_page)
    app.connect("build-finished", publish_with_site)
    app.add_js_file("live.js", loading_method="defer")
    app.add_css_file("live.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
