"""The first cell of a notebook: which Python it wants, and that it can be run again."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from coursework import release
from coursework.installation import python_check
from notebooks import first_cell, wheel
from tests.site.colab import carry
from tests.support import ROOT
from tools import foreign

KINDS = {
    "plain": "import numpy",
    "compares versions": "import torch",
    "leaves glue out": "from myst_nb import glue\nglue('answer', 42, display=False)",
}


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with what Colab carries: no chaingrad, and nothing of the book."""
    folder = tmp_path_factory.mktemp("colab")
    carry(folder / "carried")
    return foreign.overlay(folder / "venv", sys.executable, folder / "carried")


def notebook(*sources: str) -> dict[str, Any]:
    cells = [
        {"id": f"cell-{number}", "cell_type": "code", "source": source, "metadata": {}}
        | {"outputs": [], "execution_count": None}
        for number, source in enumerate(sources)
    ]
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def stamped(code: str, engine: str) -> str:
    """The first cell that a notebook of one cell gets."""
    content = notebook("", code)
    first_cell.stamp(content, first_cell.head(ROOT, engine))
    return "".join(content["cells"][0]["source"])


@pytest.mark.walk
@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", ["plain", *(pytest.param(k, marks=pytest.mark.full) for k in list(KINDS)[1:])]
)
def test_it_runs_again_in_the_same_kernel(
    kind: str, bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first time it installs the engine, the second time it finds all as it left it."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    engine = wheel.build(tmp_path / "built")
    shutil.copy(engine, tmp_path)
    source, code = stamped(KINDS[kind], engine.name), KINDS[kind]
    path = tmp_path / "page.ipynb"
    path.write_text(json.dumps(notebook(source, code, source, code, "import chaingrad")))
    assert foreign.run(path, bare, tmp_path) == ""


FIRST_CELLS = {
    "page": lambda: stamped("import numpy", "chaingrad-1-py3-none-any.whl"),
    "assignment that installs": lambda: release.INSTALL.format(check=python_check(), source="x"),
    "assignment that explains": lambda: release.EXPLAIN.format(check=python_check(), source=""),
}


@pytest.mark.parametrize("kind", FIRST_CELLS)
def test_an_old_python_is_told_before_anything_else(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = FIRST_CELLS[kind]()
    monkeypatch.setattr(sys, "version_info", (3, 10, 13, "final", 0))
    monkeypatch.setattr(sys, "version", "3.10.13 (main, Aug 24 2023, 00:00:00) [GCC]")
    names: dict[str, Any] = {}
    with pytest.raises(RuntimeError, match=r"needs Python 3\.11 or newer; .* runs 3\.10\.13\."):
        exec(first_cell.plain(source), names)
    assert names.keys() <= {"__builtins__", "sys"}
