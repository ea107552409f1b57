"""Where anchors are that have moved to another page."""

from look.moved import MOVED, lost
from tests.site.built import toc_documents
from tests.support import each

PAGES = {"old": {"old", "still-here"}, "new": {"new", "here-now"}}


@each(
    ("old", "new", "said"),
    [
        ("old#gone", "new#here-now", ""),
        ("old#still-here", "new#here-now", "the page still has it"),
        ("old#gone", "new#nowhere", "there is no such place"),
        ("old#gone", "newer#here-now", "there is no such place"),
    ],
)
def test_a_move_that_leads_nowhere_is_told(old: str, new: str, said: str) -> None:
    wrong = list(lost({old: new}, lambda page: PAGES.get(page, set())))
    assert len(wrong) == bool(said)
    assert said in "".join(wrong)


def test_moves_are_sorted() -> None:
    assert [*MOVED] == sorted(MOVED)


def test_moves_are_from_pages_of_the_book() -> None:
    assert {old.partition("#")[0] for old in MOVED} <= set(toc_documents())
