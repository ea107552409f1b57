"""What the page of problems says and where it leads."""

import re

from chainlab.drills import KINDS
from chainlab.drills.kinds.kind import LEVELS
from chainlab.drills.page.drill import PATH
from chainlab.mistakes import PAGES
from tests.support import ROOT


def test_the_path_leads_to_pages_by_their_titles():
    for kind, level, page in PATH:
        assert kind in KINDS
        assert level in LEVELS
        assert page in PAGES
    for page, title in PAGES.items():
        assert f"# {title}\n" in (ROOT / "chapters" / f"{page}.md").read_text()


def test_what_is_asked_speaks_of_its_level_alone():
    for (kind, level), others in {
        ("costs", 1): "bytes|<i>L</i>",
        ("costs", 2): "bytes",
        ("costs", 3): "FLOPs|product",
        ("mlp", 1): "λ",
        ("keep", 1): "grey|quotient",
        ("keep", 2): "grey",
    }.items():
        assert not re.search(rf"{others}|levels? \d", KINDS[kind].asks(level)), (kind, level)
