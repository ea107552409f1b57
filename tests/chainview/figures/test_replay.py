"""A run that is played again: what the figure carries is what it was given."""

import json
import re
from typing import Any

import numpy as np
import pytest

from chainview import replay
from chainview.figures.figure import HERE
from chainview.figures.replay import LETTERS, MOST_POINTS
from tests.support import each

X = np.linspace(-1, 1, 9)
STEPS = 12
LINES = {"whole": np.outer(np.linspace(0, 2, STEPS), X), "part": np.outer(np.ones(STEPS), X**2)}
LOSS = np.geomspace(1, 0.01, STEPS)
SWITCHES = {"size": [1, 2], "<b>": ["a", "b"]}


def record(size: int = 2, letter: str = "a") -> Any:
    curves = dict([*LINES.items()][:size])
    return curves, LOSS * (1 if letter == "a" else 0.5)


def figure(**options: Any) -> Any:
    settings = {"points": (X, X), "start": (2, "a")} | options
    return replay(X, record, SWITCHES, **settings)


def carried(moving: Any) -> Any:
    """The data that the script reads, as the page has them."""
    return json.loads(re.search(r'<script type="application/json">(.*?)</script>', moving.html)[1])


def still(moving: Any) -> str:
    """What stands without scripts."""
    return re.search(r"</style>(.*?)<script type", moving.html, re.DOTALL)[1]


def heights(letters: str) -> Any:
    return numbers(letters).reshape(STEPS, len(X))


def numbers(letters: str) -> Any:
    places = np.array([LETTERS.index(letter) for letter in letters]).reshape(-1, 2)
    return places @ [len(LETTERS), 1]


def test_every_curve_at_every_step_is_carried() -> None:
    data = carried(figure())
    left, right = data["panels"]
    assert len(left["x"]) == len(X)
    assert len(right["x"]) == STEPS
    *curves, loss = data["runs"][2]  # size 2, letter a
    found = np.array([heights(letters) for letters in curves])
    given = np.array([*LINES.values()])
    # one straight line from values to heights, for all curves
    slope, zero = np.polyfit(given.ravel(), found.ravel(), 1)
    assert found == pytest.approx(slope * given + zero, abs=1)
    assert slope * left["fine"] > 30  # pixels for 1
    falls = np.diff(numbers(loss))
    assert falls == pytest.approx(np.full(STEPS - 1, falls.mean()), abs=1)  # on a log axis
    assert [len(run) for run in data["runs"]] == [2, 2, 3, 3]
    assert data["measured"][3][:2] == ["0.5", "0.3290"]


def test_it_stands_with_the_last_step_of_its_start() -> None:
    moving = figure()
    data, page = carried(moving), still(moving)
    words = "size 2, &lt;b&gt; a, step 11 of 11. loss: 0.01."
    assert f'<p class="cg-setting">{words}</p>' in page
    assert repr(moving).startswith("<Figure: A run of 11 steps. size 2, <b> a, step 11 of 11.")
    assert data["chosen"] == [1, 0]
    for i, (panel, name) in enumerate([(0, "curve cg-curve-0"), (0, "curve cg-curve-1")]):
        d = re.search(rf'class="cg-{name}" d="M([^"]*)"', page)[1]
        tops = [float(point.split()[1]) for point in d.split("L")]
        base, fine = data["panels"][panel]["base"], data["panels"][panel]["fine"]
        assert tops == pytest.approx(base - fine * heights(data["runs"][2][i])[-1], abs=0.1)
    assert f'transform="translate({data["panels"][1]["x"][-1]})"' in page
    assert re.findall(r'class="cg-name"[^>]*>(.*?)<', page) == ["part", "whole"]


def test_names_stand_apart_within_the_axes() -> None:
    lines = {f"n{i}": np.full((2, len(X)), i / 100) for i in range(9)}
    page = still(replay(X, lambda: (lines, [1.0, 0.5]), ylim=(-3, 0.1)))
    tops = sorted(float(y) for y in re.findall(r'class="cg-name" x="\S+" y="(\S+)"', page))
    assert np.diff(tops) == pytest.approx(np.full(8, 14))
    assert min(tops) > 0


def test_what_leaves_the_axes_is_cut_and_still_carried() -> None:
    wild = {"line": np.outer([1e6, -1e6, 1.0], X)}
    found = replay(X, lambda: (wild, [1.0, 1.0, 1.0])).data["runs"][0][0]
    assert len(found) == 3 * len(X) * 2
    assert "//" in found
    assert "AA" in found


def test_a_linear_axis_takes_zeros_and_steps_may_be_left_out() -> None:
    counts = (LINES, range(STEPS))
    moving = replay(X, lambda: counts, log=False, step="round", every=5, measure="count")
    assert moving.alt == "A run of 55 rounds. round 55 of 55. count: 11."


@each(
    ("change", "message"),
    [
        ({"curves": {}}, "needs a curve"),
        ({"measured": []}, "a measurement at each step"),
        ({"measured": [1.0, 0.0]}, "logarithmic axis takes positive numbers"),
        ({"measured": [1.0, np.nan]}, "'measured' has numbers that aren't finite"),
        ({"measured": [1.0]}, r"'line' must have the shape \(1, 9\); it has \(2, 9\)"),
    ],
)
def test_errors_name_what_is_wrong(change: dict[str, Any], message: str) -> None:
    given = {"curves": {"line": np.zeros((2, len(X)))}, "measured": [1.0, 1.0]} | change
    with pytest.raises(ValueError, match=message):
        replay(X, lambda: (given["curves"], given["measured"]))


def test_a_start_is_one_of_the_settings() -> None:
    with pytest.raises(ValueError, match=r"start=\(3, 'a'\) is not one of the settings"):
        figure(start=(3, "a"))


def test_too_many_points_are_refused() -> None:
    many = MOST_POINTS // len(X) + 1
    with pytest.raises(ValueError, match="more than the 400,000 that a page should carry"):
        replay(X, lambda: ({"line": np.zeros((many, len(X)))}, np.ones(many)))


def test_it_asks_for_nothing_and_leaks_no_style() -> None:
    html = figure().html
    assert not re.search(r"https?://(?!www\.w3\.org)|\bsrc=|\bimport\b", html)
    assert len((HERE / "replay.bundle.js").read_bytes()) <= 8_500
