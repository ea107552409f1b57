"""The film of the net that sorts, in a real browser: its answers are the net's own."""

from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from chainlab.lessons.sorter import Transformer, answers, train
from chainlab.lessons.sorting_transformer import film_of, packed, stop
from tests.axe import severe
from tests.site.conftest import Show

STEPS = 40  # of which the film has a stop at every tenth


@pytest.fixture(scope="module")
def stops() -> list[dict[str, Any]]:
    """A net that has learned a little, and is often wrong."""
    net = Transformer(np.random.default_rng(0))
    found = [stop(net)]
    for step, _ in enumerate(train(net), 1):
        if step % 10 == 0:
            found.append(stop(net))
        if step == STEPS:
            break
    return found


def as_in_the_film(held: dict[str, Any]) -> Transformer:
    """The net with the parameters that the film carries, of a byte each."""
    net, (_, scales) = Transformer(np.random.default_rng(0)), packed(held)
    state = zip(held.items(), scales, strict=True)
    net.load_state_dict({k: np.rint(array / scale) * scale for (k, array), scale in state})
    return net


def type_in(page: Page, digits: str) -> None:
    page.get_by_role("textbox", name="Six digits to sort").fill(digits)


def test_it_answers_and_looks_as_the_net_does_at_each_stop(
    show: Show, stops: list[dict[str, Any]]
) -> None:
    page = show(film_of(stops).html)
    page.get_by_role("button", name="layer 1, head 2").click()
    wrong = 0
    for k, digits in enumerate(["720945", "000111", "987654", "310975", "555505"]):
        page.get_by_role("slider").fill(str(k))
        type_in(page, digits)
        net = as_in_the_film(stops[k]["held"])
        line = np.array([[int(digit) for digit in digits]])
        said = answers(net, line)
        text = "".join(map(str, said[0]))
        expect(page.locator(".cg-result")).to_have_text(text)
        right = "".join(sorted(digits))
        wrong += text != right
        expect(page.locator(".cg-verdict")).to_contain_text("✓" if text == right else right)
        net(np.hstack([line, said[:, :-1]]))
        rows = net.blocks[0].attention.map[0, 1, 5:]
        expected = [part for i, row in enumerate(rows) for part in row[: 6 + i]]
        shown = page.locator(".cg-fill").evaluate_all(
            "all => all.map((fill) => +fill.getAttribute('fill-opacity'))"
        )
        np.testing.assert_allclose(shown, expected, atol=0.006)
    assert wrong > 0


def test_it_works_by_keyboard_on_a_phone_and_with_too_few_digits(
    show: Show, stops: list[dict[str, Any]]
) -> None:
    page = show(film_of(stops).html)
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    type_in(page, "7a2")
    expect(page.locator(".cg-verdict")).to_have_text("4 more")
    page.get_by_role("slider").press("End")
    expect(page.locator(".cg-verdict")).to_have_text("4 more")  # it says nothing of other digits
    type_in(page, "720945")
    expect(page.locator(".cg-result")).to_have_text("".join(map(str, answers(
        as_in_the_film(stops[-1]["held"]), np.array([[7, 2, 0, 9, 4, 5]]))[0])))  # fmt: skip
    by_size = page.get_by_role("button", name="By size")
    by_size.press("Enter")
    expect(by_size).to_have_attribute("aria-pressed", "true")
    assert page.locator(".cg-digit").all_text_contents()[:6] == [*"024579"]
    assert severe(page) == []
