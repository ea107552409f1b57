"""Hold what told pages say to what their cells show.

A decimal number in the main line's prose, or in a formula there, stands to its last digit in what
some cell of the page shows or in its source; a percentage may stand there as a fraction. Versions,
numbers of sections and the choices of predictions are left out: a wrong choice stands nowhere.

A displayed formula with a gradient has a cell that checks it (`formulas.check_links`).

Which pages are told is known only when all have been read, so each page's faults are kept.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from about.reading_time import Reader, told_pages
from common.cells import code_cells, output_of, source_of
from common.numbers import as_number, half_digit, numbers_in

LOG = logging.getLogger(__name__)

GRADIENT = re.compile(r"\\(partial|bar|nabla)(?![a-zA-Z])")
DECIMAL = re.compile(r"(?<![\w.])\d[\d,]*\.\d+(?:e[-+]?\d+)?(?!\d|\.\d|\s*(?:em|ex|pt|mu)\b)")
POWER = re.compile(r"\s*(?:\\cdot|\\times|×|·)\s*10\^\{?([-+]?\d+)")
PERCENT = re.compile(r"\s*\\?%")
NUMBERED = re.compile(r"(Python|NumPy|PyTorch|JAX|CUDA|[Vv]ersion|[Ss]ection|[Cc]hapter)\s+$")
LEFT_OUT = {"predict-choices", "at-a-glance"}
NO_PROSE = (nodes.literal, nodes.raw, addnodes.pending_xref)
Fault = tuple[int | None, str]  # the line, and what is wrong


def unchecked_formulas(document: nodes.document) -> Iterator[Fault]:
    """Yield the labelled formulas with a gradient that no cell checks."""
    for block in document.findall(nodes.math_block):
        label = block.get("label")
        numbered = label and "amsmath" not in block["classes"]  # those have labels nobody can name
        if numbered and "checked_by" not in block and GRADIENT.search(block.astext()):
            yield block.line, f"no cell checks {label}: give one the metadata `checks: {label}`"


def shown_numbers(document: nodes.document) -> list[float]:
    """Return the numbers in what the cells of a page show, and in their sources, without signs."""
    texts = (text(cell) for cell in code_cells(document) for text in (output_of, source_of))
    return sorted({abs(value) for text in texts for value in numbers_in(text).values()})


def decimals(text: str) -> Iterator[tuple[int, str, list[str]]]:
    """Yield each decimal number of a text: its place, as it's written, and what may show it.

    >>> [*decimals("19.8 % of 1.50 in PyTorch 2.13, with 2.13.0")]
    [(0, '19.8', ['19.8', '19.8e-2']), (10, '1.50', ['1.50'])]
    """
    for found in DECIMAL.finditer(text):
        if NUMBERED.search(text[: found.start()]):
            continue
        number, power = found[0], POWER.match(text, found.end())
        ways = [f"{number}e{power[1]}" if power else number]
        if PERCENT.match(text, found.end()):
            ways.append(f"{number}e-2")
        yield found.start(), number, ways


def is_among(values: list[float], number: str) -> bool:
    """Return whether a number is, to its last digit, among sorted values."""
    value = as_number(number) or 0.0
    within = half_digit(number) + 1e-9 * value  # rounding
    place = bisect_left(values, value - within)
    return place < len(values) and values[place] <= value + within


def upward(node: nodes.Node) -> Iterator[nodes.Node]:
    """Yield a node, what it stands in, and so on up to the document."""
    while node is not None:
        yield node
        node = node.parent


def is_prose(text: nodes.Text) -> bool:
    """Return whether a text is the page's own, and no code, reference or choice."""
    return not any(
        isinstance(node, NO_PROSE)
        or (isinstance(node, nodes.Element) and LEFT_OUT & {*node["classes"]})
        for node in upward(text)
    )


def unseen_numbers(document: nodes.document) -> Iterator[Fault]:
    """Yield the decimal numbers of the main line that no cell shows."""
    shown = shown_numbers(document)
    for block in Reader(document).prose:
        line = next((node.line for node in upward(block) if node.line), 0)
        for text in filter(is_prose, block.findall(nodes.Text)):
            written = text.astext().replace("{,}", ",")
            for place, number, ways in decimals(written):
                if not any(is_among(shown, way) for way in ways):
                    where = line + written.count("\n", 0, place)
                    yield where, f"no cell has {number} in its source or shows it"
            line += written.count("\n")


def note_faults(app: Sphinx, document: nodes.document) -> None:
    faults = [*unseen_numbers(document), *unchecked_formulas(document)]
    app.env.metadata[app.env.docname]["faults"] = faults


def check(app: Sphinx, env: BuildEnvironment) -> None:
    for page in told_pages(env):
        for line, fault in env.metadata[page]["faults"]:
            LOG.warning(fault, location=(page, line))


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-read", note_faults)
    app.connect("env-check-consistency", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
