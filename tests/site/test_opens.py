"""Cells that open in the workbench: what they hand over runs there, and shows their view."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

import workbench
from chainlab.workbench import respond
from tests.site.built import Site
from tests.support import each

N = "from chaingrad import Node\nx = Node(1.0)\n"


def handed(site: Site) -> Iterator[tuple[str, int, str, str]]:
    """The page, the place, the view and the text of each cell that opens in the workbench."""
    for path in site.pages():
        if '"opens": ' not in path.read_text():  # to parse a page takes long
            continue
        soup = site.soup(path)
        told = soup.find(id="live-cells")
        cells = soup.select("div.cell:has(.cell_input)")
        sources = [cell.select_one(".highlight pre").get_text().rstrip() for cell in cells]
        for place, about in enumerate(json.loads(told.string)["cells"]):
            if "opens" in about:
                text = "\n".join(sources[i] for i in about["opens"]["cells"])
                where = path.relative_to(site.folder).as_posix()
                yield where, place, about["opens"]["view"], text


@pytest.mark.walk
def test_what_a_cell_hands_over_shows_its_view(site: Site) -> None:
    cells = list(handed(site))
    assert cells
    for page, place, view, text in cells:
        answer = respond(text, view)
        assert answer.html, f"{page}, cell {place + 1}: {answer.problems or answer.alt}"


def test_the_link_of_a_cell_opens_it(browser: Browser, site: Site, address: str) -> None:
    page = browser.new_page()
    where, _, view, text = next(handed(site))
    last = text.splitlines()[-1]
    page.goto(f"{address}/{where}")
    link = page.locator(".live-bar a", has_text="Open in the workbench").first
    link.evaluate("link => link.click()")  # it may be folded
    page.wait_for_url(f"**/{Path(workbench.HERE).name}.html*")
    expect(page.locator(".cm-content")).to_contain_text(last)
    expect(page.get_by_role("button", name=view, pressed=True)).to_have_count(1)
    assert page.locator(".bench-from").is_hidden()
    page.reload()
    expect(page.locator(".cm-content")).not_to_contain_text(last)
    page.close()


@each(
    ("sources", "cells", "expected"),
    [
        ([N, "play(x)"], [{}, {"uses": [0]}], {1: {"view": "play", "cells": [0, 1]}}),
        ([N + "play(x)"], [{"why": "needs torch"}], {}),
        (["import torch", N + "nudge(x)"], [{"why": "needs torch"}, {"uses": [0]}], {}),
        ([N + "order(x)"], [{"within": "sol-a"}], {}),
        ([N + "nudge(f, 2.0)"], [{}], {}),
        ([N + "nudge(lambda x: x)"], [{}], {}),
        (["plot(x)", "x", "", "1 +"], [{}, {}, {}, {}], {}),
        (["play(x)"], [{}], {}),
        ([N + "x = 1\n" * 50 + "play(x)"], [{}], {}),
    ],
)
def test_what_can_be_taken(
    sources: list[str], cells: list[dict[str, object]], expected: dict[int, object]
) -> None:
    assert workbench.usable_cells(sources, cells) == expected
