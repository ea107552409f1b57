"""A reader who presses Run on a page, and holds what comes to what the book shows.

    python -m tests.site.walk        lists the cells whose output may be another, and why

Printed text is the same if its words are and its numbers agree as far as both are shown; what
is drawn, if it is described by the same words; what is raised, if it ends in the same line, but
for the module of the error, which only Python itself names.
"""

import math
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest
from typing import Any

from playwright.sync_api import Page

from tests.site.built import with_code
from tests.support import ROOT
from tools.execute import Page as Source

LONG = 600_000  # ms that a page's cells may take in a browser, on any machine
LITTLE = 1e-9  # what rounding may leave of 0, and by what part of itself a number may differ
SHOWN = 20  # words of an output that parts from the book's

BOXES = "div.cell:has(.cell_input)"
SAID = """(output) => {
    const copy = output.cloneNode(true);
    const skipped = "script, style, button.copybtn, [role=status], [aria-live]";
    for (const part of copy.querySelectorAll(skipped)) part.remove();
    for (const drawing of copy.querySelectorAll("[role=img]"))
        drawing.replaceWith(` drawing ${drawing.ariaLabel ?? drawing.querySelector("title")?.textContent} `);
    for (const picture of copy.querySelectorAll("img")) picture.replaceWith(` picture ${picture.alt} `);
    for (const formula of copy.querySelectorAll("math, .katex, .math")) formula.replaceWith(" formula ");
    for (const cell of copy.querySelectorAll("td, th, p, li, button")) cell.append(" ");
    if (copy.matches(".traceback") || copy.querySelector(".traceback"))
        return copy.textContent.trimEnd().split("\\n").at(-1).replace(/^(\\w+\\.)+(?=\\w+:)/, "");
    return copy.textContent;
}"""  # noqa: E501
READ = f"""(box) => [...box.querySelectorAll(".cell_output > *")]
    .filter((output) => output.closest("div.cell") === box).map({SAID}).join("\\n")"""
BUILT = f"() => [...document.querySelectorAll('{BOXES}')].map({READ})"
RUN = f"""() => [...document.querySelectorAll('{BOXES}')].map((box) => ({{
    status: box.querySelector(".live-status")?.textContent ?? "",
    text: box.querySelector(".live-output") && ({READ})(box),
}}))"""
TOLD = "() => JSON.parse(document.getElementById('live-cells')?.textContent ?? '{\"cells\": []}')"
ENDED = """(box) => box.querySelector(".live-status").textContent
    && !document.querySelector(".live-busy, .live-waiting")"""

NUMBER = re.compile(r"[-−]?(?:\d[\d,]*\.?\d*|\.\d+)(?:e[-+−]?\d+)?")
PLACES = re.compile(r"0x[0-9a-f]+")  # where an object lies, in one run

Told = list[dict[str, Any]]  # what the page says of its cells


@dataclass(frozen=True)
class Difference:
    """A cell that shows something else in the browser than in the book."""

    page: str
    cell: int  # as readers count
    book: str
    browser: str

    def __str__(self) -> str:
        return (
            f"{self.page}, cell {self.cell}\n"
            f"    in the book: {self.book}\n    in the browser: {self.browser}"
        )


# --- what is the same -----------------------------------------------------------------------------


def words(text: str) -> list[str]:
    return PLACES.sub("", text).replace("\u200b", "").split()


def value(number: str) -> tuple[float, float]:
    """A number as it is shown, and what its last digit counts: nothing in a whole number."""
    mantissa, _, power = number.replace(",", "").replace("−", "-").partition("e")
    places = len(mantissa.partition(".")[2])
    step = 10.0 ** (int(power or 0) - places) if places or power else 0.0
    return float(f"{mantissa}e{power or 0}"), step


def near(one: str, other: str) -> bool:
    """Whether two numbers are the same as far as both are shown.

    >>> near("0.1250", "0.125"), near("1.25e-3", "1.26e-3"), near("3", "4"), near("2e-12", "7e-16")
    (True, True, False, True)
    """
    (a, step), (b, other_step) = value(one), value(other)
    if abs(a) < LITTLE and abs(b) < LITTLE:
        return True
    return math.isclose(a, b, rel_tol=LITTLE, abs_tol=1.01 * max(step, other_step))


def same(one: str, other: str) -> bool:
    """Whether two texts tell a reader the same.

    >>> same("loss  0.31, 5 steps", "loss 0.32, 5 steps"), same("loss 0.31", "lost 0.31")
    (True, False)
    """
    one, other = (" ".join(words(text)) for text in (one, other))
    numbers, others = NUMBER.findall(one), NUMBER.findall(other)
    return words(NUMBER.sub(" # ", one)) == words(NUMBER.sub(" # ", other)) and all(
        map(near, numbers, others)
    )


def part(one: str, other: str) -> tuple[str, str]:
    """Two texts from a little before the word in which they part."""
    pairs = list(zip_longest(words(one), words(other), fillvalue=""))
    place = next((i for i, pair in enumerate(pairs) if not same(*pair)), 0)
    left, right = zip(*pairs[max(0, place - 5) :][:SHOWN], strict=True)
    return " ".join(left), " ".join(right)


# --- what the pages say ---------------------------------------------------------------------------


@cache
def varying(document: str) -> dict[int, str]:
    """The cells of a page whose output may be another, by place, and on what it depends."""
    cells = Source(ROOT, ROOT / f"{document}.md").code
    return {i: cell.metadata["varies"] for i, cell in enumerate(cells) if "varies" in cell.metadata}


def runnable(told: Told) -> list[int]:
    """The places of the cells that have a button Run."""
    return [i for i, about in enumerate(told) if not about.keys() & {"why", "idle"}]


def last_ones(told: Told) -> list[int]:
    """The last of them in the main text, and in each solution."""
    last = {told[i].get("within", ""): i for i in runnable(told)}
    return [
        last[within] for within in sorted(last, key=lambda within: (within != "", last[within]))
    ]


# --- what a reader does ---------------------------------------------------------------------------


def press(page: Page, place: int) -> None:
    """Run a cell, and wait until nothing runs."""
    box = page.locator(BOXES).nth(place)
    box.locator(".live-run").evaluate("button => button.click()")  # which may lie in a fold
    page.wait_for_function(ENDED, arg=box.element_handle(), timeout=LONG)


def walk(page: Page, address: str, document: str) -> list[Difference]:
    """Run the last cell of the main text and of each solution of a page; what is not as built."""
    page.goto(f"{address}/{document}.html")
    told, built = page.evaluate(TOLD)["cells"], page.evaluate(BUILT)
    if not told:  # a browser can run none of its cells
        return []
    for place in last_ones(told):
        press(page, place)
    return list(differences(page, document, told, built))


def differences(page: Page, document: str, told: Told, built: list[str]) -> Iterator[Difference]:
    """The cells that ran and are not as built, and those that did not come to an end."""
    for i, (about, book, now) in enumerate(zip(told, built, page.evaluate(RUN), strict=True)):
        ends = "Ended with an error." if about.get("raises") else "Done."
        if now["text"] is None:
            if "did not finish" in now["status"]:
                yield Difference(document, i + 1, ends, now["status"])
        elif now["status"] != ends:
            yield Difference(document, i + 1, ends, f"{now['status']} {now['text'][-500:]}")
        elif i not in varying(document) and not same(book, now["text"]):
            yield Difference(document, i + 1, *part(book, now["text"]))


if __name__ == "__main__":
    listed = [
        f"{document}, cell {place + 1}: {why}"
        for document in with_code()
        for place, why in varying(document).items()
    ]
    print(f"Cells whose output may be another in the browser ({len(listed)}):", file=sys.stderr)
    print("\n".join(listed))
