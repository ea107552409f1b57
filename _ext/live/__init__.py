"""Cells that run in the reader's browser: which they are, and the files that this takes.

A cell is live if it needs only the standard library, NumPy, matplotlib, chaingrad and a few small
packages that the site carries, and if the same is true of the earlier cells that it builds on. The
page says so to ``buttons.js``, which loads everything else on the first click. So it is with the
places where exercises are answered (`answers`), which need no cell of the page. Python itself comes
from the site where `make live` has put it there, and from Pyodide's own address otherwise.

A page can take a cell out, with a reason for the reader, in the cell's options::

    live: trains for minutes in the browser
"""

import json
import shutil
import zipfile
from collections.abc import Iterator
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from docutils import nodes
from jupyter_cache import get_cache
from sphinx.application import Sphinx
from sphinx_exercise.nodes import is_solution_node

import answers
import workbench
from common.cells import code_cells, source_of
from common.files import on_page, serve
from coursework.sources import sources
from live.carried import CARRIED
from live.dependencies import (
    ambiguous_names,
    asserts,
    cells_without_effect,
    judge,
    origins,
    shared_need,
    written,
)
from live.pyodide import PYODIDE

PARTS = Path(__file__).parent
ROOT = Path(__file__).resolve().parents[2]
RUNTIME = ROOT / ".venv" / "live" / PYODIDE["version"]  # filled by `make live`
ELSEWHERE = f"https://cdn.jsdelivr.net/pyodide/v{PYODIDE['version']}/full/"
# On the site they are all in one folder, where they import one another.
FILES = (
    "controller.js", "cell.js", "output.js", "turns.js", "drafts.js", "python.js", "worker.js",
    "runner.py", "../answers/answer.js", "../answers/checker.py", "../workbench/workbench.css",
    *(f"../workbench/{path.name}" for path in sorted((PARTS.parent / "workbench").glob("*.js"))),
    "vendor/editor.js", "vendor/graphviz.js", "vendor/LICENSES.txt", "vendor/LICENSE.graphviz",
    "../formulas/vendor/katex.min.js",
)  # fmt: skip
IN_BROWSER = 3  # a cell takes this many times as long as in plain Python
STEPS = (5, 10, 20, 30, 60, 120, 300)


def wait_notice(seconds: float) -> str:
    """Return how long a cell will take in a browser, in words; "" if it is quick."""
    here = IN_BROWSER * seconds
    return f"about {min(STEPS, key=lambda step: abs(step - here))} s" if here > 3 else ""


def seconds_of(app: Sphinx, page: str) -> list[float]:
    """Return the seconds that each code cell took when the page ran; [] if no run is kept."""
    config = app.env.mystnb_config  # type: ignore[attr-defined]
    if config.execution_mode != "cache":
        return []
    path = str(app.env.doc2path(page))
    records = get_cache(config.execution_cache_path).list_cache_records()
    return next((r.data.get("cell_seconds", []) for r in records if r.uri == path), [])


def describe(document: nodes.document, seconds: list[float]) -> list[dict[str, Any]]:
    """Return what the page tells ``buttons.js`` about each of its cells, in order."""
    cells = code_cells(document)
    sources = list(map(source_of, cells))
    options: list[dict[str, Any]] = [cell.get("cell_metadata", {}) for cell in cells]
    verdicts = judge(zip(sources, options, strict=True))
    told: list[dict[str, Any]] = []
    come_from = origins(sources)
    several = ambiguous_names(come_from)
    takes = map(wait_notice, seconds if len(seconds) == len(cells) else [0.0] * len(cells))
    for cell, source, verdict, origin, option, takes_here in zip(
        cells, sources, verdicts, come_from, options, takes, strict=True
    ):
        module = written(source)[0]
        about = vars(verdict) | {
            "uses": origin.cells,
            "gives": sorted(origin.gives & several),
            "reads": sorted(several & origin.uses.keys()),
            "late": sorted(several & origin.late),
            "within": answer_around(cell),
            "raises": "raises-exception" in option.get("tags", ()),
            "takes": takes_here,
            "file": f"{module}.py" if module else "",
        }
        told.append({key: value for key, value in about.items() if value})
    shows = [
        "why" not in about and (has_output(cell) or asserts(source))
        for cell, source, about in zip(cells, sources, told, strict=True)
    ]
    for place in cells_without_effect(told, shows):
        told[place]["idle"] = True
    for place, opens in workbench.usable_cells(sources, told).items():
        told[place]["opens"] = opens
    return told


def has_output(cell: nodes.Element) -> bool:
    parts = cell.findall(nodes.container)
    return any(part.get("nb_element") == "cell_code_output" and part.children for part in parts)


def answer_around(cell: nodes.Element) -> str:
    """Return the label of the folded answer around a cell; "" if there is none."""
    node: nodes.Node | None = cell
    while node is not None and not is_solution_node(node):
        node = node.parent
    return node["ids"][0] if isinstance(node, nodes.Element) and node["ids"] else ""


def add_to_page(app: Sphinx, page: str, context: dict[str, Any], document: nodes.document) -> None:
    cells = describe(document, seconds_of(app, page))
    exercises = answers.describe(app, document, page)
    if exercises or cells:
        told = {
            "page": page,
            "root": context["pathto"]("_live/", resource=True),
            "cells": cells,
            "answers": exercises,
            "need": shared_need([cell.get("why", "") for cell in cells]),
        }
        if workbench.HERE in app.env.found_docs and page != workbench.HERE:
            told["workbench"] = {
                "page": workbench.HERE,
                "address": context["pathto"](workbench.HERE),
            }
        data = json.dumps(told).replace("</", "<\\/")
        context["body"] += f'<script type="application/json" id="live-cells">{data}</script>'


def carried_files() -> Iterator[tuple[str, bytes]]:
    """Yield the files of the packages that the site carries to the browser."""
    for name in CARRIED:
        folder = Path(str(files(name)))
        for path in sources(folder):
            if path.suffix in (".py", ".css", ".json", ".npz") or path.name.endswith(".bundle.js"):
                yield path.relative_to(folder.parent).as_posix(), path.read_bytes()


def pack(target: Path) -> str:
    """Write the carried packages into an archive named by its content; return its name."""
    carried = list(carried_files())
    digest = sha256(b"".join(name.encode() + content for name, content in carried)).hexdigest()
    name = f"packages-{digest[:12]}.zip"
    with zipfile.ZipFile(target / name, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in carried:
            archive.writestr(zipfile.ZipInfo(path), content, zipfile.ZIP_DEFLATED)
    return name


def publish(target: Path) -> None:
    """Put everything that live cells need into the folder ``_live`` of a site."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for name in FILES:
        shutil.copyfile(PARTS / name, target / Path(name).name)
    assembled = RUNTIME.is_dir()
    if assembled:
        shutil.copytree(RUNTIME, target / "runtime")
    config = {
        "version": PYODIDE["version"],
        "runtimes": ["runtime/"] * assembled + [ELSEWHERE],
        "packages": pack(target),
        "sizes": PYODIDE["sizes"],
    }
    (target / "lock.json").write_text(json.dumps(PYODIDE["lock"], indent=1) + "\n")
    (target / "config.json").write_text(json.dumps(config, indent=1) + "\n")


def publish_with_site(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.format == "html":
        publish(Path(app.outdir) / "_live")


def setup(app: Sphinx) -> dict[str, bool]:
    on_page(app, add_to_page)
    app.connect("build-finished", publish_with_site)
    serve(app, PARTS / "buttons.js", PARTS / "live.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
