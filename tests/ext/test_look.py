"""Small repairs of what docutils and Sphinx write, each beside what it repairs."""

from types import SimpleNamespace

from docutils.core import publish_parts
from docutils.writers.html5_polyglot import Writer
from sphinx.ext.napoleon import Config, GoogleDocstring

from look import free_bibliography_entries, keep_first_colon, number_from_one

CITED = "As in [A2]_ and [B1]_.\n\n.. [A2] One work.\n.. [B1] Another.\n"


def test_entries_of_the_bibliography_take_no_role() -> None:
    """docutils puts entries of a kind into a list that may hold none of that kind."""
    body = publish_parts(CITED, writer=Writer())["body"]
    assert body.count('role="doc-biblioentry"') == 2
    context = {"body": body}
    free_bibliography_entries(None, "page", "page.html", context, None)  # type: ignore[arg-type]
    assert "doc-biblioentry" not in context["body"]
    assert '<div class="citation-list">' in context["body"]
    assert context["body"].count('class="citation"') == 2


def napoleon(what: str, lines: list[str]) -> str:
    return str(GoogleDocstring(lines, Config(), what=what, name="Node.shape"))


def test_a_property_keeps_what_stands_before_its_colon() -> None:
    """Napoleon takes it for a type."""
    lines = ["The shape: of a number, ().", "", "More: of it."]
    assert ":type: The shape" in napoleon("property", lines)
    for what in ("property", "attribute"):
        mended = [*lines]
        keep_first_colon(None, what, "Node.shape", None, None, mended)  # type: ignore[arg-type]
        said = napoleon(what, mended)
        assert "The shape: of a number, ()." in said
        assert ":type:" not in said


def test_other_docstrings_stay_as_they_are() -> None:
    for what, lines in (("method", ["Result: a node."]), ("property", [])):
        mended = [*lines]
        keep_first_colon(None, what, "Node.f", None, None, mended)  # type: ignore[arg-type]
        assert mended == lines


def test_exercises_of_a_page_without_a_number_count_from_one() -> None:
    """Sphinx counts them on from the page before."""
    env = SimpleNamespace(
        toc_secnumbers={"second": {"": (2,)}, "glossary": {}},
        toc_fignumbers={
            "second": {"exercise": {"ex-a": (2, 1), "ex-b": (2, 2)}},
            "glossary": {"exercise": {"ex-c": (3,), "ex-d": (4,)}, "figure": {"f": (7,)}},
        },
    )
    assert number_from_one(None, env) == []  # type: ignore[arg-type]
    assert env.toc_fignumbers["second"]["exercise"] == {"ex-a": (2, 1), "ex-b": (2, 2)}
    assert env.toc_fignumbers["glossary"] == {
        "exercise": {"ex-c": (1,), "ex-d": (2,)},
        "figure": {"f": (1,)},
    }
