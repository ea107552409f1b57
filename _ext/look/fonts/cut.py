"""Cut the site's three font files from the families that they come from.

The families are on PyPI, whole and variable:

    pip install --no-deps --target FOLDER fontpkg-source-serif-4==4.4 fontpkg-source-code-pro==1.26
    python _ext/look/fonts/cut.py FOLDER

What stays: the weights 400 to 600, one optical size, and the characters that the course's texts and
programs use. The licence reserves the name Source for fonts that nobody has changed.
"""

import sys
from io import BytesIO
from pathlib import Path
from typing import Any

from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.varLib.instancer import instantiateVariableFont

HERE = Path(__file__).parent
TEXT: dict[str, Any] = {"opsz": 14, "wght": (400, 600)}  # points, of the optical sizes from 8 to 60
SERIF, MONO = "fontpkg_source_serif_4/files", "fontpkg_source_code_pro/files"
Face = tuple[str, dict[str, Any]]  # where it comes from, and what is left of its axes
FACES: dict[str, Face] = {
    "course-serif": (f"{SERIF}/SourceSerif4[opsz,wght].ttf", TEXT),
    "course-serif-italic": (f"{SERIF}/SourceSerif4-Italic[opsz,wght].ttf", TEXT | {"wght": 400}),
    "course-mono": (f"{MONO}/SourceCodePro[wght].ttf", {"wght": (400, 600)}),
}
# Latin, its accents (x̄, ŵ), Greek, quotation marks, raised and lowered digits, fractions, arrows,
# and signs of operations, as far as a face has them.
CHARACTERS = """
20-7e a0-ff 131 14d 152-153 2c6 2c9 2d9 302-304 307-308 393 394 398 39b 39e 3a0 3a3 3a6 3a8 3a9
3b1-3c9 1d4f 1d57 2010-2016 2018-201a 201c-201e 2020 2022 2026 2032-2033 203a 2044 2070-2089 2113
2150 2153-2154 215b-215e 2190-2195 2202 2206 220f 2211-2212 221a 221e 222b 2248 2260 2264-2265 25b8
25cf 2713"""
FEATURES = ["kern", "liga", "mark", "mkmk", "ccmp", "locl", "tnum"]
NAMES = {1, 3, 4, 6, 16}  # what a font is called, in its own table of names


def points() -> set[int]:
    """Return the code points of the characters that stay."""
    ends = (part.partition("-") for part in CHARACTERS.split())
    return {point for first, _, last in ends
            for point in range(int(first, 16), int(last or first, 16) + 1)}  # fmt: skip


def cut(source: Path, axes: dict[str, Any], target: Path) -> None:
    """Write a part of a font as WOFF2, under the file's name."""
    whole = BytesIO()
    instantiateVariableFont(TTFont(source), axes).save(whole)
    font = TTFont(whole)  # read again: of tables in memory the subsetter misses parts
    options = subset.Options(flavor="woff2", hinting=False, layout_features=FEATURES)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=points())
    subsetter.subset(font)
    for name in font["name"].names:
        if name.nameID in NAMES:
            name.string = target.stem
    subset.save_font(font, str(target), options)


if __name__ == "__main__":
    for name, (source, axes) in FACES.items():
        cut(Path(sys.argv[1], source), axes, HERE / f"{name}.woff2")
