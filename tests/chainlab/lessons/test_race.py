"""The race: what its lanes have to do is what the engine and a program really do."""

import re
from collections.abc import Iterator

import numpy as np
import pytest

from chaingrad import Node
from chaingrad.messages import messages
from chainlab.lessons import computational_graph
from chainlab.lessons.race import (
    HERE,
    KNOBS,
    NEURONS,
    arrows,
    contests,
    in_words,
    race,
    sent_at_once,
    stack,
    tower,
)
from tests.support import each

SMALL = (5, 7, 10)


def pass_on(node: Node) -> Iterator[Node]:
    """Send at once, as the first page does; yield who gets each message."""
    for parent in node.parents:
        yield parent
        yield from pass_on(parent)


def arrows_of(root: Node) -> int:
    return sum(1 for _ in messages(root))


# --- the nets -----------------------------------------------------------------------------------


def test_the_smallest_net_is_the_neuron_of_the_first_page() -> None:
    ours, its = tower(1), computational_graph.neuron()
    assert ours.data == its.data
    assert arrows_of(ours) == arrows_of(its) == arrows(2)


@each("neurons", (1, 2, 3, 50, 500))
def test_arrows_are_the_messages_of_a_pass(neurons: int) -> None:
    assert arrows(2 * neurons) == arrows_of(tower(neurons))


@each("neurons", SMALL)
def test_messages_that_are_sent_at_once(neurons: int) -> None:
    root = stack(neurons)
    assert sent_at_once(root) == sum(1 for _ in pass_on(root))
    assert arrows_of(root) == 5 * neurons


def test_the_numbers_of_the_first_page() -> None:
    sent = {setting.size: setting.totals[0][0] for setting in contests()[1].settings}
    assert [sent[k] for k in (5, 10, 15, 30)] == [155, 5_115, 163_835, 5_368_709_115]
    assert list(sent) == list(NEURONS)


@each("knobs", (2, 4, 10))
def test_nudging_takes_a_run_for_each_knob_and_one_more(knobs: int) -> None:
    """And it finds what the sweep finds."""
    runs = []

    def loss(values: np.ndarray) -> float:
        runs.append(values)
        out = 1.5
        for w, b in values.reshape(-1, 2):
            z = w * out + b
            out = z + np.tanh(z)
        return float((out - 0.2) ** 2)

    at = np.tile([0.5, -0.2], knobs // 2)
    first = loss(at)
    slopes = [(loss(at + 1e-7 * one) - first) / 1e-7 for one in np.eye(knobs)]
    setting = contests()[0].settings[KNOBS.index(knobs)]
    assert setting.totals[0] == (len(runs), len(runs) * arrows(knobs), len(slopes))
    root = tower(knobs // 2)
    root.backward()
    found = [node.grad for node in reversed(root.sorted_graph()) if node.label in ("w", "b")]
    np.testing.assert_allclose(sorted(slopes), sorted(found), rtol=1e-4)


# --- what is said -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "words"),
    {
        0.4: "0 seconds", 1: "1 second", 59.6: "1 minute", 61: "1 minute and 1 second",
        3599.7: "1 hour", 86_399: "1 day", 90_000: "1 day and 1 hour", 365 * 86_400: "1 year",
        400 * 86_400: "1 year and 35 days", 1e12: "31,709 years and 289 days",
    }.items(),
)  # fmt: skip
def test_a_time_is_said_in_its_two_largest_units(seconds: float, words: str) -> None:
    assert in_words(seconds) == words


def test_the_clock_is_the_same_in_both_lanes() -> None:
    """Arrows per second: a lane that has more to do takes as much longer."""
    nudging, sending = contests()
    for setting in nudging.settings:
        _, all_arrows, _ = setting.totals[0]
        assert setting.seconds == all_arrows / setting.arrows == setting.size + 1
        assert setting.totals[1][1] == setting.behind[1] == nudging.sweep * setting.arrows
        assert f"had {in_words(setting.seconds - 2)} to go" in setting.swept
    for setting in sending.settings:
        assert setting.seconds == setting.totals[0][0] / setting.arrows
        assert setting.totals[1] == setting.behind == (setting.arrows,)
    assert "11 days and 14 hours" in nudging.settings[-1].swept


# --- the piece of HTML --------------------------------------------------------------------------


@each("small", (False, True))
def test_it_stands_without_scripts(small: bool) -> None:
    """As it is when the sweep has arrived."""
    figure = race(small=small)
    assert "<b>2</b> <span>of 1,001</span>" in figure.html
    assert "16 minutes and 39 seconds to go" in figure.html
    assert 'class="cg-controls" hidden' in figure.html
    assert ("<svg" in figure.html) != small


def test_it_asks_for_nothing_and_leaks_no_style() -> None:
    page = race().html
    assert not re.search(r"\sid=\"|https?://(?!www\.w3\.org)|\bsrc=|\bimport\b|currentScript", page)
    style = re.search(r"<style>(.*?)</style>", page, re.S)
    assert style
    for selector in re.findall(r"(?:^|[{};])\s*([^{};@]+)\{", style[1]):
        for part in re.sub(r":is\([^()]*\)", "", selector).split(","):
            assert "chaingrad-race" in part, selector
    assert len(page.encode()) < 75_000
    assert len((HERE / "race.bundle.js").read_bytes()) < 8_000
