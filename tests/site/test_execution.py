"""Every page shows its cells, and the errors that it means to show."""

import re
from pathlib import Path

from jupyter_cache import get_cache

from tests.site.built import Site, toc_documents, with_code
from tests.support import each
from tools.build import code_cells

COLOR = re.compile(r"\x1b\[[\d;]*m")  # which a page shows as colours


@each("document", toc_documents)
def test_every_cell_shows_its_source(root: Path, site: Site, document: str) -> None:
    cells = code_cells(root / f"{document}.md")
    assert len(site.document(document).select("div.cell div.cell_input")) == len(cells)


@each("document", toc_documents)
def test_expected_exceptions_are_raised(site: Site, document: str) -> None:
    """A cell that announces an exception raises one: otherwise the page's point is lost."""
    announced = site.document(document).select("div.cell.tag_raises-exception")
    assert not [cell.get_text()[:200] for cell in announced if not cell.select(".traceback")]


@each("name", with_code)
def test_what_is_printed_stands_there_to_the_letter(root: Path, site: Site, name: str) -> None:
    """However the kernel cut it, and with its spaces; empty lines around it are left out."""
    cache = get_cache(str(root / "_build" / ".jupyter_cache"))
    records = [r for r in cache.list_cache_records() if r.uri == str(root / f"{name}.md")]
    cells = cache.get_cache_bundle(records[0].pk).nb.cells
    printed = [
        COLOR.sub("", output.text)
        for cell in cells
        for output in cell.get("outputs", ())
        if output.output_type == "stream"
    ]
    shown = site.document(name).select("div.cell .output.stream pre")
    assert [pre.get_text().strip("\n") for pre in shown] == [text.strip("\n") for text in printed]
