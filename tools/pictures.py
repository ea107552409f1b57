"""Take the README's pictures of the built site: its first page and the player, light and dark.

    python tools/pictures.py [FOLDER]    into img/ where no other folder is named

Each fits into 150 kB: where it would not, it gets fewer colours.
"""

import sys
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.sync_api import Page

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools.browser import ADDRESS, opened  # noqa: E402

LIMIT = 150_000  # bytes
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


def first_page(page: Page) -> bytes:
    """Take the page from its title to the end of the race, at the moment when the sweep is done."""
    page.set_viewport_size({"width": 1280, "height": 1200})
    race = page.locator(".chaingrad-race[data-ready]")
    race.get_by_role("slider").press("End")
    page.evaluate("document.activeElement.blur()")
    box = race.bounding_box()
    assert box is not None
    height = box["y"] + box["height"] + 8
    return page.screenshot(clip={"x": 0, "y": 0, "width": 1280, "height": height})


def player(page: Page) -> bytes:
    """Take the player, wide, in the backward pass, at the step when the gradient comes to `w`."""
    page.set_viewport_size({"width": 1440, "height": 900})
    player = page.locator(".chaingrad-player").first
    player.get_by_role("button", name="Backward").click()
    while not player.locator(".cg-words").inner_text().startswith("w.grad"):
        player.get_by_role("button", name="One step forward").click()
    page.evaluate("document.activeElement.blur()")
    page.mouse.move(0, 0)
    return player.screenshot()


PICTURES: dict[str, tuple[str, Callable[[Page], bytes]]] = {  # by what they are named
    "page": ("intro", first_page),
    "player": ("foundations/autograd-engine", player),
}


def within_limit(png: bytes) -> bytes:
    """Reduce a picture to as many colours as the limit allows, at most 256."""
    picture = Image.open(BytesIO(png)).convert("RGB")
    for colours in (256, 128, 64, 32):
        file = BytesIO()
        picture.quantize(colours, dither=Image.Dither.NONE).save(file, "PNG", optimize=True)
        if file.tell() <= LIMIT:
            return file.getvalue()
    raise ValueError(f"a picture of {picture.size} takes more than {LIMIT} bytes in 32 colours")


def take(site: Path, target: Path) -> None:
    with opened(site, device_scale_factor=1.5, reduced_motion="reduce") as page:
        for theme in THEMES:
            page.emulate_media(color_scheme=theme)
            for name, (chapter, picture) in PICTURES.items():
                page.goto(f"{ADDRESS}chapters/{chapter}.html")
                page.evaluate("document.fonts.ready")
                (target / f"{name}-{theme}.png").write_bytes(within_limit(picture(page)))


if __name__ == "__main__":
    take(ROOT / "_build" / "html", Path(*sys.argv[1:]) if sys.argv[1:] else ROOT / "img")
