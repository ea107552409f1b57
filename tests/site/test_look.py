"""Where things stand on a page: its picture first, prose and boxes on one grid."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.site.built import toc_documents
from tests.site.test_pages import source

LESSONS = [
    name for name in toc_documents() if name.split("/")[1] not in ("intro", "practice", "reference")
]
WINDOWS = {(1440, 900): 700, (390, 844): 2 * 844}
# The lower edge of the first picture, once it has its size.
PICTURE = """() => [...document.querySelectorAll(
        'article :is(svg.chaingrad, .chaingrad-player, .chaingrad-moving, .chaingrad-lookup)')]
    .find((e) => e.checkVisibility()).getBoundingClientRect().bottom + scrollY"""
# How far to the right the children of sections reach, boxes left aside.
RIGHT = """(choice) => [...new Set([...document.querySelectorAll(`section > ${choice}`)]
    .filter((e) => e.checkVisibility() && !e.parentElement.closest('.admonition'))
    .map((e) => Math.round(e.getBoundingClientRect().right
        - e.parentElement.getBoundingClientRect().left)))]"""


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_opens_with_a_question(root: Path, lesson: str) -> None:
    _, _, page = source(root, lesson).partition("\n# ")
    _, question, then, *_ = page.split("\n\n")
    assert re.fullmatch(r"[A-Z][^.?!\n]{20,110}\?", question)
    assert then.startswith("```{code-cell}")


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_opens_with_its_picture(browser: Browser, address: str, lesson: str) -> None:
    for (width, height), within in WINDOWS.items():
        page = browser.new_page(viewport={"width": width, "height": height})
        page.goto(f"{address}/{lesson}.html", wait_until="domcontentloaded")
        assert page.evaluate(PICTURE) <= within, width
        page.close()


@pytest.mark.fonts
def test_text_and_boxes_have_one_width_each(browser: Browser, address: str) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(f"{address}/chapters/foundations/bug-museum.html")
    assert page.evaluate(RIGHT, "p") == [560]
    assert page.evaluate(RIGHT, ":is(.predict, .exercise)") == [704]
    assert min(page.evaluate(RIGHT, ".cell")) == 704
    page.close()
