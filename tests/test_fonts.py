"""The fonts in which a browser shows text are those that a test asks for."""

import pytest
from playwright.sync_api import Browser

from tests.fonts import ASKED_FOR, used


@pytest.mark.fonts
@pytest.mark.parametrize("family", ASKED_FOR)
def test_pages_are_shown_in_the_font_that_is_asked_for(
    browser: Browser, font: str, family: str
) -> None:
    assert used(browser, family) == font
