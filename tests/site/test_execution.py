"""Every page ran, and shows no error that it did not mean to show."""

from pathlib import Path

from tests.site.built import Site
from tools.build import code_cells

STATUS = "chapters/reference/status"


def test_every_page_ran(root: Path, site: Site, document: str) -> None:
    """The status page says of each page with cells that it ran and succeeded."""
    if not code_cells(root / f"{document}.md"):
        return
    rows = [row.get_text(" ", strip=True) for row in site.document(STATUS).select("tbody tr")]
    own = [row for row in rows if row.startswith(document)]
    assert own, f"{document} is not on the status page"
    assert "✅" in own[0]


def test_every_cell_shows_its_source(root: Path, site: Site, document: str) -> None:
    cells = code_cells(root / f"{document}.md")
    assert len(site.document(document).select("div.cell div.cell_input")) == len(cells)


def test_tracebacks_are_meant(site: Site, document: str) -> None:
    shown = site.document(document).select("div.cell:has(.traceback)")
    stray = [cell for cell in shown if "tag_raises-exception" not in cell["class"]]
    assert not [cell.get_text()[:200] for cell in stray]


def test_expected_exceptions_are_raised(site: Site, document: str) -> None:
    """A cell that announces an exception raises one: otherwise the page's point is lost."""
    announced = site.document(document).select("div.cell.tag_raises-exception")
    assert not [cell.get_text()[:200] for cell in announced if not cell.select(".traceback")]


def test_no_page_shows_a_warning(site: Site, document: str) -> None:
    messages = [block.get_text() for block in site.document(document).select(".output.stderr")]
    assert not [text for text in messages if "Warning" in text]
