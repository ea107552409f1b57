"""What `export` writes, opened as a file: it plays, asks for nothing, and runs no other script."""

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, expect

from chaingrad import Node
from chainlab import drill
from chainview import Player, export, nudge, order, play, play_toposort, transposes
from chainview.export import document, hashes
from tests.axe import severe
from tests.support import sampled


def square() -> Node:
    x = Node(3.0, "x </title><script>document.title='out'</script>")
    y = x * x
    y.label = "y"
    return y


def product() -> Node:
    A, B = Node(np.array([[1.0, 2.0]]), "A"), Node(np.array([[3.0], [4.0]]), "B")
    Z = A @ B
    Z.sum().backward()
    return Z


KINDS = {
    "a node": square,
    "player": lambda: play(square()),
    "sort": lambda: play_toposort(square()),
    "nudge": lambda: nudge(square()),
    "order": lambda: order(square()),
    "transposes": lambda: transposes(product()),
    "drill": lambda: drill("adjoints", 1, 1),
}


@pytest.mark.parametrize("kind", sampled(KINDS, next(iter(KINDS))))
def test_a_file_plays_and_asks_for_nothing(browser: Browser, tmp_path: Path, kind: str) -> None:
    shown = KINDS[kind]()
    path = export(shown, tmp_path / "piece.html")
    page = browser.new_page()
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    expect(page.locator("main button").first).to_be_visible()
    assert said == []
    assert [url for url in asked if not url.startswith("data:")] == [path.as_uri()]
    assert page.title() != "out"
    if isinstance(shown, Player | Node):
        before = page.locator("main").inner_text()
        page.get_by_role("button", name="One step forward").click()
        assert page.locator("main").inner_text() != before
    assert severe(page) == []
    page.close()


def test_no_other_script_of_the_file_runs(browser: Browser, tmp_path: Path) -> None:
    mine = play(square()).html
    bad = '<script>out = 1</script><img src="data:," onerror="out = 2"><svg onload="out = 3"></svg>'
    path = tmp_path / "piece.html"
    path.write_text(document(mine + bad, "Both", hashes(mine)))
    page = browser.new_page()
    page.goto(path.as_uri())
    expect(page.get_by_role("button", name="One step forward")).to_be_visible()
    assert page.evaluate("typeof out") == "undefined"
    page.close()
