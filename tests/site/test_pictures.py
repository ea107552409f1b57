"""The README's pictures are there, small, and show what they should, in both themes."""

from pathlib import Path

import numpy as np
from PIL import Image

from chainview.draw.palette import COLORS
from tests.support import ROOT

SHOWN = {  # colours of the palette, and pixels that have them
    "page": {"leaf": 20_000, "global": 4_000, "ink": 2_000},
    "player": {"leaf": 10_000, "node-line": 1_000, "global": 2_000, "local": 100},
}
THEMES = ("light", "dark")


def pixels(picture: Path, colour: str) -> int:
    """How many have a colour, as far as a picture of few colours has it."""
    wanted = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    shown = np.asarray(Image.open(picture).convert("RGB"), dtype=int)
    return int((abs(shown - wanted).max(axis=2) <= 8).sum())


def check(folder: Path) -> None:
    for name, colours in SHOWN.items():
        for place, theme in enumerate(THEMES):
            picture = folder / f"{name}-{theme}.png"
            assert picture.stat().st_size <= 150_000
            for colour, least in colours.items():
                assert pixels(picture, COLORS[colour][place]) >= least, (picture.name, colour)


def test_the_readme_shows_them() -> None:
    check(ROOT / "img")
    text = (ROOT / "README.md").read_text()
    for name in SHOWN:
        assert f'(prefers-color-scheme: dark)" srcset="img/{name}-dark.png"' in text
        assert f'src="img/{name}-light.png" alt="' in text
