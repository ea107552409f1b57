"""Every page runs in the reader's browser, and shows there what the book shows."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.site.audit import IDLE
from tests.site.built import Site, toc_documents, with_code
from tests.site.live import put_python
from tests.site.walk import walk
from tests.support import serve

CONTROLS = "button, summary, select, input"
# Run and Check start what the other tests here wait for.
PRESS = """([selector, i]) => {
    const control = document.querySelectorAll(selector)[i];
    if (!control?.checkVisibility() || control.matches(".live-run, :disabled")) return false;
    control.scrollIntoView();
    control.focus();
    control.click();
    return true;
}"""


@pytest.fixture(scope="session")
def with_python(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the site, with Python in it; other tests read the site as it was built."""
    folder = tmp_path_factory.mktemp("site")
    for path in site.folder.iterdir():
        if path.name != "_live":
            (folder / path.name).symlink_to(path)
    put_python(folder)
    with serve(folder) as address:
        yield address


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page in a profile in which nothing has run."""
    with browser.new_context(reduced_motion="reduce") as context:
        yield context.new_page()


@pytest.mark.walk
@pytest.mark.parametrize("name", with_code())
def test_a_page_runs_and_shows_what_the_book_shows(page: Page, with_python: str, name: str) -> None:
    found = walk(page, with_python, name)
    assert not found, "\n".join(map(str, found))


@pytest.mark.full
@pytest.mark.parametrize("name", toc_documents())
def test_each_control_of_a_page_can_be_pressed(page: Page, with_python: str, name: str) -> None:
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{with_python}/{name}.html")
    page.evaluate(IDLE)
    pressed, place = 0, 0
    while place < page.locator(CONTROLS).count():  # what one press opens is pressed, too
        pressed += page.evaluate(PRESS, [CONTROLS, place])
        place += 1
    assert pressed
    assert errors == []
