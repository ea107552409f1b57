"""Formulas: set while building, wrong ones refused, punctuation kept with them."""

import pytest
from docutils import nodes
from docutils.utils import new_document

import formulas
from chainview.draw.palette import COLORS
from tests.support import each


def paragraph(before: str, after: str) -> nodes.paragraph:
    node = nodes.paragraph()
    node += nodes.Text(before)
    node += nodes.math("", "x")
    node += nodes.Text(after)
    new_document("page").append(node)
    return node


@each(
    ("before", "after", "bound"),
    [
        ("for ", ", which", "x,"),
        ("for ", ". Then", "x."),
        ("(see ", ") and", "x)"),
        ("at (", "), so", "(x),"),
        ("the ", "-th row", "x-th"),
        ("an ", "’s sum", "x’s"),
        ("at “", "”; it", "“x”;"),
    ],
)
def test_punctuation_stays_with_a_formula(before: str, after: str, bound: str) -> None:
    node = paragraph(before, after)
    formulas.bind(next(node.findall(nodes.math)))
    (box,) = (part for part in node.findall(nodes.inline) if "bound" in part["classes"])
    assert box.astext() == bound
    assert node.astext() == f"{before}x{after}"


def test_texts_that_say_the_same_keep_their_places() -> None:
    node = nodes.paragraph()
    for name in ("x", "y", "z"):
        node += [nodes.math("", name), nodes.Text(", ")]
    for formula in list(node.findall(nodes.math)):
        formulas.bind(formula)
    assert node.astext() == "x, y, z, "


@pytest.mark.parametrize(("before", "after"), [("for ", " which"), ("for ", " (1)"), ("", "")])
def test_a_formula_among_words_is_left_alone(before: str, after: str) -> None:
    node = paragraph(before, after)
    formulas.bind(next(node.findall(nodes.math)))
    assert not list(node.findall(nodes.inline))


@each(
    "tex",
    [
        r"\bar{\mathbf{W}}^\top",
        r"\frac{\partial\ell}{\partial w}",
        r"\begin{aligned} a &= b \\ c &= d \end{aligned}",
        r"f(x) = \begin{cases} 1 & x > 0 \\ 0 & \text{else} \end{cases}",
        r"\underbrace{a+b}_{n}",
        r"\cancel{x}\;\boxed{y}\;\textcolor{red}{z}\;\boldsymbol{\theta}",
    ],
)
def test_a_formula_is_for_eyes_and_for_screen_readers(tex: str) -> None:
    html = formulas.typeset(tex, True)
    assert "<math" in html
    assert 'aria-hidden="true"' in html
    assert "<annotation" in html  # what a reader copies


def test_no_attribute_is_empty() -> None:
    assert '=""' not in formulas.typeset(formulas.lines_of(r"a \\ b"), True)


def test_colours_are_those_of_the_figures() -> None:
    html = formulas.typeset(r"\textcolor{crimson}{x} + \textcolor{green}{y}")
    light, dark = COLORS["local"]
    assert f"color:light-dark({light},{dark})" in html
    assert "color:green" in html


def test_a_wrong_formula_is_refused_with_what_is_wrong() -> None:
    with pytest.raises(formulas.FormulaError, match=r"Undefined control sequence.*\\nosuch"):
        formulas.typeset(r"x + \nosuch{y}")


@each(
    ("tex", "rows"),
    [("a = b", 0), (r"a \\ b", 2), ("a\n\nb", 2), ("a\n\n" + r"b &= c \\ d &= e", 2)],
)
def test_lines_are_set_as_sphinx_reads_them(tex: str, rows: int) -> None:
    assert formulas.typeset(formulas.lines_of(tex), True).count("<mtr>") >= rows
