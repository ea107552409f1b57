"""Every page shows its cells, and the errors that it means to show."""

from pathlib import Path

from tests.site.built import Site
from tools.build import code_cells


def test_every_cell_shows_its_source(root: Path, site: Site, document: str) -> None:
    cells = code_cells(root / f"{document}.md")
    assert len(site.document(document).select("div.cell div.cell_input")) == len(cells)


def test_expected_exceptions_are_raised(site: Site, document: str) -> None:
    """A cell that announces an exception raises one: otherwise the page's point is lost."""
    announced = site.document(document).select("div.cell.tag_raises-exception")
    assert not [cell.get_text()[:200] for cell in announced if not cell.select(".traceback")]
