"""JupyterLab: pages open as notebooks, run, and are saved as they were."""

import re
import subprocess

import pytest
from playwright.sync_api import Browser, expect

from tests.site import test_moving, test_player
from tests.site.jupyterlab import SETTINGS, Lab, ran, run_all, window
from tests.support import ROOT


def test_make_lab_starts_this_server() -> None:
    done = subprocess.run(
        ["make", "--dry-run", "lab"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert f'JUPYTER_CONFIG_PATH="{SETTINGS}$' in done.stdout
    assert "jupyter lab chapters" in done.stdout


VARY = """from chainview import vary
vary(lambda n: ([1, n], f"It ends at {n}."), {"n": [2, 3, 5]}, x="k", y="size")"""


@pytest.mark.walk
def test_figures_move_and_arrows_are_their_own(browser: Browser, lab: Lab) -> None:
    cells = [test_moving.CELL + "nudge(y)", "order(y)", VARY, test_player.CELL]
    with ran(browser, lab, *cells) as page:
        shown = page.locator(".jp-OutputArea")
        moving = shown.locator(".chaingrad-moving[data-ready]")
        expect(moving).to_have_count(2)
        test_moving.check_both(moving.nth(0), moving.nth(1))
        figure = shown.locator(".chaingrad-lookup").first
        slider = figure.get_by_role("slider", name="n")
        slider.press("ArrowUp")
        page.keyboard.press("ArrowRight")
        expect(slider).to_be_focused()
        expect(figure.locator(".cg-words")).to_have_text("It ends at 5.")
        player = shown.locator(".chaingrad-player")
        player.locator(".cg-live .cg-scroll").focus()
        last = test_player.play_by_keyboard(page, player)
        assert test_player.read_off(last) == test_player.expected()


@pytest.mark.walk
def test_a_double_click_opens_a_page_as_a_notebook_that_runs(browser: Browser, lab: Lab) -> None:
    page = window(browser, lab)
    page.goto(f"{lab.address}/lab?token={lab.token}&reset")
    before = lab.text("reference/notation")
    page.locator(".jp-DirListing-item", has_text="reference").dblclick()
    page.locator(".jp-DirListing-item", has_text="notation.md").dblclick()
    page.locator(".jp-MarkdownCell .myst-admonition").first.wait_for()
    run_all(page)
    last = page.locator(".jp-CodeCell .jp-InputPrompt").last
    expect(last).to_have_text(re.compile(r"\[\d+\]:"))
    assert not page.locator('.jp-OutputArea-output[data-mime-type*="error"]').count()
    page.keyboard.press("Control+s")
    expect(page.locator(".lm-TabBar-tab.jp-mod-dirty")).to_have_count(0)
    assert lab.text("reference/notation") == before
