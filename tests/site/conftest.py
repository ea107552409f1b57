"""The site, built and served; JupyterLab as `make lab` starts it."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.site import live
from tests.site.built import Site
from tests.site.jupyterlab import Lab, start
from tests.support import ROOT, serve

Show = Callable[..., Page]


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def site() -> Site:
    """The site, built now unless it is up to date."""
    build = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "build.py")], capture_output=True, text=True
    )
    if build.returncode:
        pytest.fail(f"the book does not build:\n{build.stderr[-3000:]}", pytrace=False)
    return Site(ROOT / "_build" / "html")


@pytest.fixture(scope="session")
def address(site: Site) -> Iterator[str]:
    """The address under which the site is served to the browser."""
    with serve(site.folder) as address:
        yield address


@pytest.fixture(scope="session")
def live_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of one page whose cells run in the browser."""
    return live.build(tmp_path_factory.mktemp("book"))


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with start(tmp_path_factory.mktemp("lab")) as lab:
        yield lab


@pytest.fixture
def show(browser: Browser) -> Iterator[Show]:
    """Put pieces of HTML on a page of their own."""
    contexts = []

    def put(*pieces: str, head: str = "", **options: object) -> Page:
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.on("pageerror", lambda error: pytest.fail(f"script error: {error}"))
        page.set_content(
            f'<!doctype html><html lang="en"{head}><title>Pieces</title>'
            f'<meta name="viewport" content="width=device-width"><body><main><h1>Pieces</h1>'
            f"{''.join(pieces)}</main></body></html>"
        )
        return page

    yield put
    for context in contexts:
        context.close()


def themed(show: Show, theme: str, width: int, *pieces: str) -> Page:
    """Pieces on a light or a dark page, in a window of this width."""
    page = show(
        *pieces,
        head=f' data-theme="{theme}"',
        reduced_motion="reduce",
        viewport={"width": width, "height": 800},
    )
    if theme == "dark":
        page.add_style_tag(content="body { background: #14181e; color: #eee }")
    return page


def check_focus(page: Page, places: int) -> None:
    """Whatever Tab comes to first, so many times, shows that it has the focus."""
    for _ in range(places):
        page.keyboard.press("Tab")
        style = page.evaluate(
            """() => { const s = getComputedStyle(document.activeElement);
                return [s.outlineStyle, parseFloat(s.outlineWidth)] }"""
        )
        assert style[0] == "solid"
        assert style[1] >= 2
