"""What is left out of the site, and that nothing else is."""

from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont
from pygments import highlight
from pygments.lexers import PythonLexer

from look import theme


def test_only_coloured_code_has_spans() -> None:
    html = highlight("def f(x):\n    return x[0] + 1\n", PythonLexer(), theme.LeanFormatter())
    assert '<span class="k">def</span>' in html
    assert '<span class="nf">f</span>(x):' in html
    assert 'class="n"' not in html
    assert 'class="p"' not in html
    assert 'class="o"' not in html


def test_icons_are_those_that_pages_and_style_sheets_name() -> None:
    sheet = (
        '.fa-bars:before,.fa-navicon:before{content:"\\f0c9"}'
        '.fa-sun:before{content:"\\f185"}.fa-moon:before{content:"\\f186"}'
        ':root{--pst-icon-bell:"\uf0f3"}'
    )
    pages = ['<i class="fa-solid fa-bars"></i>', 'x.classList="fa-solid fa-moon"']
    points = theme.icons(pages, sheet, 'a:after{content:"\\f107"}')
    assert points == {0xF0C9, 0xF186, 0xF0F3, 0xF107}


def test_a_font_is_cut_to_its_characters(tmp_path) -> None:
    names = [".notdef", "A", "B"]
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder(names)
    builder.setupCharacterMap({65: "A", 66: "B"})
    builder.setupGlyf({name: TTGlyphPen(None).glyph() for name in names})
    builder.setupHorizontalMetrics(dict.fromkeys(names, (500, 0)))
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": "Icons", "styleName": "Regular"})
    builder.setupOS2()
    builder.setupPost()
    builder.font.flavor = "woff2"
    path = tmp_path / "icons.woff2"
    builder.save(path)
    theme.cut_font(path, {65})
    with TTFont(path) as font:
        assert set(font.getBestCmap()) == {65}
