"""Notebooks on another Python than the course's own."""

import sys
import sysconfig
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tools import foreign

SHOW = "import os, sys\nassert (sys.prefix, os.getcwd()) == ({prefix!r}, {work!r})"


@pytest.mark.slow
def test_a_notebook_runs_on_the_other_python_and_its_error_comes_back(tmp_path: Path) -> None:
    packages = Path(sysconfig.get_path("purelib"))
    python = foreign.overlay(tmp_path / "venv", sys.executable, packages)
    ends = {"sound": "print('done')", "broken": "[].pop()"}
    for name, last in ends.items():
        folder = tmp_path / name
        folder.mkdir()
        show = SHOW.format(prefix=str(tmp_path / "venv"), work=str(folder / "work"))
        nbformat.write(
            new_notebook(cells=[new_code_cell(show), new_code_cell(last)]), folder / "page.ipynb"
        )
        error = foreign.run(folder / "page.ipynb", python, folder)
        assert ("pop from empty list" in error) == (name == "broken"), error
        assert bool(error) == (name == "broken"), error
