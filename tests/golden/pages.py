"""Text, links and anchors of each page of the built site, but those that show the source."""

import re
from collections.abc import Iterator

from bs4 import BeautifulSoup, Tag

from tests.golden.record import Entry
from tests.site.built import Site
from tests.site.walk import NUMBER, varying
from tests.support import ROOT

BLOCKS = {
    "h1",
    "h2",
    "h3",
    "h4",
    "p",
    "li",
    "dt",
    "dd",
    "tr",
    "pre",
    "figcaption",
    "summary",
    "div",
}
STATUS = "chapters/reference/status"  # when each page ran, and how long
TIMED = {  # nearly all that their cells show is times
    "chapters/atlas/compiled-backward",
    "chapters/atlas/reading-a-profile",
    "chapters/atlas/slow-steps",
    "chapters/frameworks/pytorch-profiling",
}
# Lines with times, rates, numbers of processes and what is computed from them.
MEASURED = re.compile(
    r"\d ?(µs|us|ms|GB/s|GFLOP/s)\b|it/s|EADDRINUSE|\bPID \d|copies' time|byte copied|^m = \d"
    r"|operations a byte|processor time|the recorded value|array operations, not"
    r"|as fast as the scalar one|time grows faster|of the epoch lies in"
    r"|(equal layers|layer dominates|the input's gradient) \d"
)
DROPPED = "script, style, template, svg, math, [class^=chaingrad-], .headerlink, .copybtn"


def entries() -> Iterator[Entry]:
    site = Site(ROOT / "_build" / "html")
    for page in site.pages():
        name = str(page.relative_to(site.folder).with_suffix(""))
        if name.startswith("_modules") or name == STATUS:  # the first are the package's source
            continue
        soup = BeautifulSoup(page.read_text(), "html.parser")
        article = soup.select_one("article.bd-article") or soup.body
        if article is None:  # it sends readers to another page
            continue
        for output in varying_outputs(name, soup):
            output.decompose()
        yield f"{name}: links", [a["href"] for a in article.select("a[href]:not(.headerlink)")]
        yield f"{name}: anchors", [tag["id"] for tag in article.select("[id]:not(math *, svg *)")]
        yield f"{name}: text", list(_lines(article))


def varying_outputs(name: str, soup: BeautifulSoup) -> list[Tag]:
    """What those cells show whose output may be another in the next build."""
    if name in TIMED:
        return soup.select(".cell_output")
    if not (ROOT / f"{name}.md").is_file() or not varying(name):
        return []
    cells = soup.select("div.cell:has(.cell_input)")
    return [part for i in varying(name) for part in cells[i].select(".cell_output")]


def _lines(article: Tag) -> Iterator[str]:
    """The words, one block a line; formulas as they were written, drawings left to the figures."""
    for formula in article.select(".katex"):
        written = formula.select_one("annotation")
        formula.replace_with(f"${written.get_text() if written else formula.get_text()}$")
    for part in article.select(DROPPED):
        part.decompose()
    for picture in article.select("img[alt]"):
        picture.replace_with(f"[{picture['alt']}]")
    for row in article.select("tr"):
        cells = (" ".join(cell.get_text(" ").split()) for cell in row.select("td, th"))
        row.string = " | ".join(cells)
    for block in article.find_all(BLOCKS):
        block.insert_before("\n")
        block.append("\n")
    for line in article.get_text().splitlines():
        words = re.sub(r"\s+", " ", line).strip()
        if words and not words.startswith("Run with Python"):  # and the day of the run
            yield NUMBER.sub("#", words) if MEASURED.search(words) else words
