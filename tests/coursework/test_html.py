"""What a student writes is shown as text and formulas, and as nothing else."""

import random
from collections.abc import Sequence

import pytest
from playwright.sync_api import Browser

from coursework.html import ATTRIBUTES, ELEMENTS, markdown, words

PIECES = [
    "$", "$$", "\\text{", "\\href{javascript:alert(1)}{", "\\class{a}{", "\\style{x}{", "}", "{",
    "<", ">", "<script>", "</script>", "<img src=x onerror=alert(1)>", "<![CDATA[", "]]>", "<!--",
    "-->", "</mtext>", "</math>", "<a href='//x'>", "&lt;", "&#60;", "&", "a", "^", "_", "\\frac",
    "\\sqrt", "\\sum", "\\begin{matrix}", "\\end{matrix}", "\\\\", " ", "\n", "`", "*",
    "[x](//x)", "![x](//x)", "<//x.org>", '"', "'", "\\color{red}{", "\\unicode{x}",
    "\\hspace{9em}",
]  # fmt: skip
PROSE = {
    "p", "em", "strong", "code", "pre", "ul", "ol", "li", "blockquote", "br", "hr", "table",
    "thead", "tbody", "tr", "th", "td", "span", "div", "section", "h1", "h2", "h3", "h4", "h5",
    "h6",
}  # fmt: skip
FOUND = """texts => texts.map(text => {
    const body = new DOMParser().parseFromString(text, "text/html").body;
    return Array.from(body.querySelectorAll("*"), one => [
        one.localName, !!one.closest("math"), one.getAttributeNames(), one.getAttribute("style")
    ]);
})"""


def drawn(count: int) -> Sequence[str]:
    """Texts of pieces, half of them inside a formula."""
    rng = random.Random(0)
    made = ("".join(rng.choices(PIECES, k=rng.randrange(1, 14))) for _ in range(count))
    return [f"$\\text{{{text}}}$" if rng.random() < 0.5 else text for text in made]


@pytest.mark.slow
def test_no_words_make_an_element_that_could_run_load_or_link(browser: Browser) -> None:
    texts = drawn(3000)
    page = browser.new_page()
    for text, found in zip(
        texts, page.evaluate(FOUND, [str(words(t)) for t in texts]), strict=True
    ):
        for name, inside, attributes, style in found:
            assert name in (ELEMENTS if inside else PROSE), text
            assert set(attributes) <= (ATTRIBUTES if inside else {"class", "start", "style"}), text
            assert style is None or style.startswith("text-align:"), text
    page.close()


@pytest.mark.parametrize(
    "text", [r"$\sum_i g_i$", r"$$\frac{a}{b}$$", r"$x < y \text{ and } z > 0$"]
)
def test_formulas_are_set(text: str) -> None:
    assert "<math" in words(text)
    assert "<math" in markdown(text)


def test_a_formula_with_something_else_in_it_stays_tex() -> None:
    found = words(r"$\text{<script>alert(1)</script>}$")
    assert "<script" not in found
    assert "&lt;script&gt;" in found


BOMBS = {
    "braces": f"${'{' * 4000}{'}' * 4000}$",
    "fractions": "$" + r"\frac{1}{" * 1500 + "1" + "}" * 1500 + "$",
    "matrices": "$" + r"\begin{matrix}" * 900 + r"\end{matrix}" * 900 + "$",
    "brackets": "[" * 9000 + "]" * 9000,
    "quotes": ">" * 20_000 + "x",
    "lists": "\n".join(" " * k + "- x" for k in range(600)),
    "emphasis": "*a_ " * 9000,
    "ticks": " ".join("`" * k for k in range(1, 300)),
    "dollars": "$" * 9001,
    "columns": "|a" * 2000 + "|\n" + "|-" * 2000 + "|\n" + "|b" * 2000 + "|",
}


@pytest.mark.parametrize("name", BOMBS)
def test_words_that_nest_or_repeat_make_a_page_of_their_size(name: str) -> None:
    """The teacher's process makes these pages, so nothing a student writes may break or fill it."""
    assert 0 < len(words(BOMBS[name])) < 60 * len(BOMBS[name])
