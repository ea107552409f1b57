"""The built site and its table of contents."""

import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from bs4 import BeautifulSoup

from tests.support import ROOT


def toc_documents(root: Path = ROOT) -> list[str]:
    """The documents that the table of contents lists, root page first."""
    toc = yaml.safe_load((root / "_toc.yml").read_text())
    chapters = [chapter["file"] for part in toc["parts"] for chapter in part["chapters"]]
    return [toc["root"], *chapters]


def numbered(root: Path = ROOT) -> list[str]:
    """The documents of the parts whose chapters have numbers."""
    toc = yaml.safe_load((root / "_toc.yml").read_text())
    parts = [part for part in toc["parts"] if part.get("numbered")]
    return [chapter["file"] for part in parts for chapter in part["chapters"]]


# The pages that `make test` looks at as a whole; `make walk` takes all.
SAMPLE = ("chapters/intro", "chapters/foundations/computational-graph")


def with_code() -> list[str]:
    """Those that are notebooks, by their first line: to read their cells takes long."""
    return [name for name in toc_documents() if (ROOT / f"{name}.md").read_text()[:3] == "---"]


@dataclass(frozen=True)
class Site:
    """The folder of the built site; pages parsed once each."""

    folder: Path

    def pages(self) -> list[Path]:
        """Every HTML page that a reader can come to."""
        static = self.folder / "_static"
        return sorted(p for p in self.folder.rglob("*.html") if not p.is_relative_to(static))

    def soup(self, page: Path) -> BeautifulSoup:
        return parse(page)

    def told(self, name: str) -> list[dict[str, Any]]:
        """What a document's page says of its live cells."""
        found = self.document(name).find(id="live-cells")
        return json.loads(found.string)["cells"] if found else []

    def document(self, name: str) -> BeautifulSoup:
        """The page of one document of the table of contents."""
        return parse(self.folder / f"{name}.html")


@functools.cache
def parse(page: Path) -> BeautifulSoup:
    return BeautifulSoup(page.read_text(), "html.parser")
