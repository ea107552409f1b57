"""What others show of a page: sentences of it, and addresses only where they are known."""

from pathlib import Path
from types import SimpleNamespace

from docutils import nodes
from docutils.utils import new_document

from about import previews
from tests.support import ROOT, each


def page(*content: nodes.Element) -> nodes.document:
    document = new_document("page")
    document += nodes.section("", nodes.title("", "A page"), *content)
    return document


def outcomes(*texts: str) -> list[nodes.Element]:
    items = (nodes.list_item("", nodes.paragraph("", text)) for text in texts)
    return [nodes.paragraph("", "After this page you can"), nodes.bullet_list("", *items)]


BOX = nodes.admonition("", nodes.title("", "At a glance"), nodes.paragraph("", "Level core."))
LONG = "do " + "so and " * 40 + "rest"


@each(
    ("content", "said"),
    [
        (outcomes("draw it;", "sort it."), "After this page you can draw it; sort it."),
        (outcomes("draw it;", f"{LONG}."), "After this page you can draw it."),
        ([nodes.paragraph("", "It’s one.\nIt runs pip install . too.")],
         "It’s one. It runs pip install . too."),
        ([nodes.paragraph("", f"One. Then {LONG}.")], "One."),
        ([nodes.paragraph("", f"They {LONG}. Two.")], f"They {LONG}."),
        ([nodes.paragraph("", "How does it know?"), nodes.paragraph("", "We build it.")],
         "We build it."),
        ([nodes.paragraph("", "You called it. How does it know?")], "You called it."),
        ([], ""),
    ],
)  # fmt: skip
def test_a_description_is_whole_sentences(content: list[nodes.Element], said: str) -> None:
    assert previews.description(page(BOX.deepcopy(), *content)) == said


def test_formulas_are_characters() -> None:
    paragraph = nodes.paragraph("", "Take ")
    paragraph += [nodes.math("", r"\bar{w}"), nodes.Text(" once.")]
    assert previews.description(page(paragraph)) == "Take w̄ once."


def head(baseurl: str) -> str:
    """The tags that a page gets."""
    config = SimpleNamespace(
        html_title="The course", html_baseurl=baseurl, html_static_path=[],
        ogp_description_length=200, ogp_type="website", ogp_site_url="", ogp_canonical_url="",
        ogp_image=None, ogp_image_alt=None, ogp_use_first_image=False,
        ogp_enable_meta_description=True, ogp_custom_meta_tags=(),
    )  # fmt: skip
    previews.configure(None, config)  # type: ignore[arg-type]
    builder = SimpleNamespace(name="html", get_target_uri=lambda name: f"{name}.html")
    app = SimpleNamespace(config=config, builder=builder, srcdir="", outdir="", env=None)
    context = {"meta": None, "metatags": "", "title": "A page", "pagename": "a/page"}
    document = page(nodes.paragraph("", 'About "<" & more.'))
    previews.describe(app, "a/page", context, document)  # type: ignore[arg-type]
    previews.opengraph.html_page_context(app, "a/page", "page.html", context, document)  # type: ignore[arg-type]
    previews.forget_address(app, "a/page", context, document)  # type: ignore[arg-type]
    return str(context["metatags"])


def test_without_an_address_there_is_none_in_the_head() -> None:
    tags = head("")
    assert tags.count('content="About &quot;&lt;&quot; &amp; more."') == 2
    assert '<meta property="og:title" content="A page" />' in tags
    assert '<meta property="og:site_name" content="The course" />' in tags
    assert "og:url" not in tags
    assert "og:image" not in tags


def test_where_the_site_will_lie_there_is_a_picture() -> None:
    tags = head("https://example.org/course/")
    assert 'og:url" content="https://example.org/course/a/page.html"' in tags
    assert 'og:image" content="https://example.org/course/_static/page-light.png"' in tags
    assert previews.PICTURE == ROOT / "img" / "page-light.png"


def test_the_address_of_the_site_shows_its_first_page(tmp_path: Path) -> None:
    builder = SimpleNamespace(format="html", get_target_uri=lambda name: f"{name}.html")
    config = SimpleNamespace(root_doc="first")
    app = SimpleNamespace(config=config, builder=builder, outdir=tmp_path)
    shown = '<title>First &#8212;\nCourse</title>\n<meta name="description" content="It is.">\n'
    shown += '<meta property="og:title" content="First" />\n'
    (tmp_path / "first.html").write_text(
        f"<html><head>{shown}<meta name='x'></head><svg><title>A drawing</title></svg></html>"
    )
    previews.show_first_page(app, None)  # type: ignore[arg-type]
    index = (tmp_path / "index.html").read_text()
    assert shown in index
    assert index.count("<title>") == 1
    assert "name='x'" not in index
    assert '<meta http-equiv="refresh" content="0; url=first.html">' in index
