"""The figure of *What `backward` does in PyTorch* in a browser, by mouse and keyboard."""

import pytest
from playwright.sync_api import Page, expect

from chainlab.lessons.pytorch_backward import play
from tests.axe import severe
from tests.site.conftest import Show, themed


def keeps(page: Page, at: str) -> str:
    return page.locator(f".cg-wide [data-at={at}] .cg-keeps").text_content() or ""


def test_a_second_call_stops_where_saved_tensors_are_gone(show: Show) -> None:
    page = show(play().html)
    again = page.get_by_role("button", name="Call backward again")
    words = page.locator(".cg-words")
    page.get_by_role("slider").press("End")
    assert keeps(page, "w") == "w.grad 4.464"
    assert keeps(page, "h") == "freed"
    again.press("Enter")
    page.get_by_role("slider").press("End")
    expect(words).to_contain_text("Specify retain_graph=True")
    expect(again).to_be_disabled()
    assert keeps(page, "w") == "w.grad 4.464"


def test_with_the_switch_on_the_leaves_add_up(show: Show) -> None:
    page = show(play().html)
    page.get_by_role("checkbox").check()
    page.get_by_role("slider").press("End")
    assert keeps(page, "h") == "h = 0.5005"
    page.get_by_role("button", name="Call backward again").click()
    page.get_by_role("slider").press("End")
    assert (keeps(page, "w"), keeps(page, "b")) == ("w.grad 8.928", "b.grad 5.952")
    assert keeps(page, "h") == "freed"
    page.get_by_role("checkbox").uncheck()
    assert keeps(page, "w") == "w.grad None"


def test_arrow_keys_walk_and_z_waits_for_two(show: Show) -> None:
    page = show(play().html)
    got = page.locator(".cg-wide [data-at=z] .cg-got")
    page.get_by_role("slider").press("Home")
    seen = []
    for _ in range(5):
        page.get_by_role("slider").press("ArrowRight")
        seen.append(got.text_content())
    assert seen == ["", "", "1.701", "1.701 + 1.275", "1.701 + 1.275"]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [800, 390])
def test_it_fits_and_can_be_read(show: Show, theme: str, width: int) -> None:
    page = themed(show, theme, width, play().html)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert severe(page) == []


def test_without_scripts_the_first_call_has_been_made(show: Show) -> None:
    page = show(play().html, java_script_enabled=False)
    assert keeps(page, "w") == "w.grad 4.464"
    expect(page.locator(".cg-controls")).to_be_hidden()
