"""With its veil down, no page gives an answer away."""

from bs4 import BeautifulSoup

from tests.site.built import Site
from tests.site.giveaways import giveaways

PAGE = """<article><p>{above}</p><div class="predict" data-veil="x" data-asked="{asked}">
<p>{asked}</p>{choices}<details><summary>Answer</summary><p><strong>{right}</strong></p></details>
</div>{below}<section>{right}</section></article>"""


def found(
    asked: str, right: str, below: str, above: str = "", others: tuple[str, ...] = ()
) -> bool:
    listed = "".join(f"<li><p>{choice}</p></li>" for choice in [right, *others])
    choices = f'<ul class="predict-choices">{listed}</ul>' if others else ""
    html = PAGE.format(asked=asked, right=right, below=below, above=above, choices=choices)
    box = BeautifulSoup(html, "html.parser").select_one(".predict")
    assert box is not None
    return any(giveaways(box))


def test_what_gives_an_answer_away() -> None:
    assert found("What is x?", "1.750", "<svg><text>1.750</text></svg>")
    assert found("What is x?", "1024", "<p>A thousand products.</p>")
    assert found("How many arrows leave?", "2", "<p>From each, two arrows leave.</p>")
    assert found("How many different neurons?", "1", '<pre>print("different neuron")</pre>')
    assert found(
        "Which is first on the list?", "w", "<p>On the list w is first.</p>", others=("z",)
    )
    others = ("they add up to 1",)
    assert found("And so?", "they add up to 0", "<p>All add up to 0.</p>", others=others)


def test_what_does_not_give_an_answer_away() -> None:
    number = "<p>It is 1.750.</p>"
    assert not found("What is x?", "1.750", number, above="1.75 is known: 1.750")
    assert not found("What is x?", "1.750", number.replace("<p", '<p class="answers-x"'))
    assert not found("What is x?", "1.750", f"<details>{number}</details>")
    assert not found("How many arrows leave?", "2", "<p>Two nodes.</p>")
    assert not found("How many times as many?", "3", "<p>It took 2.3 times as long.</p>")
    others = ("they add up to 1",)
    assert not found("And so?", "they add up to 0", "<p>They add up to much.</p>", others=others)


def test_no_page_gives_an_answer_away(site: Site) -> None:
    told = {
        (page.stem, str(box["data-name"])): list(giveaways(box))
        for page in site.pages()
        for box in site.soup(page).select("[data-veil]")
    }
    assert {where: what for where, what in told.items() if what} == {}
    assert len(told) > 20
