"""The page of the reader's own function: its starting points, and what its frame lets run."""

import json
import re
from pathlib import Path

import pytest

from chainlab.workbench import VIEWS, respond
from chainview.export import hashes
from tests.support import ROOT, each
from workbench import PLACE, as_starting_point, describe, frame, usable_cells, write

PAGE = (ROOT / "chapters/practice/workbench.md").read_text("utf-8")
CELLS = re.findall(r"### ([^\n]*)\n\n```\{code-cell\} ipython3\n(.*?)```", PAGE, re.S)
STARTS = {name: as_starting_point(cell) for name, cell in CELLS}
# What cannot be clicked through or dragged: arrays, and more operations than anybody would click.
TAKEN = {name for name, text in STARTS.items() if not re.search(r"\[|for _", text)}


def test_there_are_a_dozen_starting_points() -> None:
    assert len(STARTS) >= 12
    assert all(STARTS.values())


@pytest.mark.walk
@pytest.mark.slow
@each("name", STARTS)
def test_a_starting_point_runs_in_the_views(name: str) -> None:
    allowed = frame()
    for view in VIEWS:
        answer = respond(STARTS[name], view)
        assert bool(answer.html) is (view not in answer.refused)
        assert [found.message for found in answer.problems] == [
            "the result of exp is inf in an entry: the exponential is larger than the largest "
            "float, 1.8e308."
        ] * (name == "A log-sum-exp that overflows")
        assert answer.alt
        assert all(script in allowed for script in hashes(answer.html))


def test_a_check_finds_no_starting_point_wrong() -> None:
    said = {name: respond(text, "check").alt for name, text in STARTS.items()}
    wrong = {name for name, words in said.items() if not re.search(r" agrees? with", words)}
    assert wrong == {"A log-sum-exp that overflows"}


def test_the_build_sets_the_equations_of_what_is_written_out(tmp_path: Path) -> None:
    write([describe("A skip connection", STARTS["A skip connection"])], tmp_path / "bench")
    [made] = (tmp_path / "bench").glob("*.written out.json")
    answer = json.loads(made.read_text("utf-8"))
    assert answer["html"].count("<math") > 2
    assert answer["refused"] == {}


def test_a_page_whose_cells_build_on_all_before_them_is_read_in_time() -> None:
    cells = [{"uses": list(range(i))} for i in range(30)]
    sources = ["from chaingrad import Node"] + ["x = Node(2.0)"] * 28 + ["draw_graph(x)"]
    assert usable_cells(sources, cells) == {29: {"view": "graph", "cells": list(range(30))}}


def test_a_cell_ends_with_what_it_draws() -> None:
    assert (
        as_starting_point("x = Node(2.0)\ndraw_graph(x * x, direction='TB')")
        == "x = Node(2.0)\nx * x"
    )
    assert as_starting_point("import numpy as np") == ""


def test_the_frame_has_one_place_and_runs_no_other_script() -> None:
    text = frame()
    assert text.count(PLACE) == 1
    [policy] = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    rules = dict(rule.split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert all(source.startswith("'sha256-") for source in rules["script-src"].split())
    assert rules["img-src"] == "data:"
    assert "connect-src" not in rules
