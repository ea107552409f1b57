"""What is left out of the site, and that nothing else is."""

import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont
from pygments import highlight
from pygments.lexers import PythonLexer

from look import theme

SCRIPTS = '<script defer src="../a/one.js?v=1"></script>\n<script src="two.js"></script>'


def test_a_script_is_left_out_by_name() -> None:
    assert theme.without(SCRIPTS, "one.js") == '<script src="two.js"></script>'


def test_a_script_that_is_gone_is_told() -> None:
    with pytest.raises(ValueError, match=r"no longer loads three\.js"):
        theme.without(SCRIPTS, "three.js")


def test_the_theme_asks_no_more_what_scrolls(tmp_path) -> None:
    script = tmp_path / "theme.js"
    begins = '"complete"===document.readyState?I():window.addEventListener("load",I)'
    script.write_text(f"f(()=>{{g()}}),{begins}}})();")
    theme.spare_layout(script)
    assert script.read_text() == "f(()=>{g()}),0})();"
    with pytest.raises(ValueError, match=r"theme\.js no longer asks what scrolls"):
        theme.spare_layout(script)


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
