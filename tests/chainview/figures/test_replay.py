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
LOSS = {"loss": np.geomspace(1, 0.01, STEPS), "batch": np.linspace(2, 0.5, STEPS)}
ROWS = {"w": np.outer(np.arange(STEPS), [0.5, -0.25]), "c": np.linspace(-1, 0, STEPS)}


def figure(**options: Any) -> Any:
    settings = {"numbers": ROWS, "columns": ["a", "<b>"], "points": (X, X)} | options
    return replay(X, LINES, LOSS, **settings)


def carried(moving: Any) -> Any:
    """The data that the script reads, as the page has them."""
    return json.loads(re.search(r'<script type="application/json">(.*?)</script>', moving.html)[1])


def still(moving: Any) -> str:
    """What stands without scripts."""
    return re.search(r"</style>(.*?)<script type", moving.html, re.DOTALL)[1]


def heights(letters: str) -> Any:
    places = np.array([LETTERS.index(letter) for letter in letters]).reshape(STEPS, len(X), 2)
    return places @ [len(LETTERS), 1]


def test_every_curve_at_every_step_is_carried() -> None:
    data = carried(figure())
    assert len(data["x"]) == len(X)
    steps = np.diff(data["x"])
    assert steps == pytest.approx(np.full(len(X) - 1, steps.mean()), abs=0.11)
    found = np.array([heights(letters) for letters in data["curves"]])
    given = np.array([*LINES.values()])
    # one straight line from values to heights, for all curves
    slope, zero = np.polyfit(given.ravel(), found.ravel(), 1)
    assert found == pytest.approx(slope * given + zero, abs=1)
    assert slope * data["fine"] > 30  # pixels for 1


def test_words_and_table_say_the_numbers_of_the_step() -> None:
    moving = figure()
    data = carried(moving)
    assert data["words"][0] == "step 0 of 11. loss: 1, batch: 2."
    assert data["words"][-1] == "step 11 of 11. loss: 0.01, batch: 0.5."
    assert data["numbers"][3] == [150, -75, -73]
    assert moving.alt == f"A run of 12 steps. {data['words'][-1]}"
    assert repr(moving) == f"<Figure: {moving.alt}>"


def test_it_stands_with_the_last_step() -> None:
    moving = figure()
    data, page = carried(moving), still(moving)
    assert f'<p class="cg-words">{data["words"][-1]}</p>' in page
    assert "hidden" in re.search(r'<div class="cg-controls cg-run"([^>]*)>', page)[1]
    assert re.findall(r"<td>(.*?)</td>", page.partition("<table")[2]) == [
        "",
        "5.50",
        "−2.75",
        "0.00",
    ]
    assert '<th scope="col">&lt;b&gt;</th>' in page
    assert 'max="11" value="11"' in page
    height = float(re.search(r'<svg class="chaingrad"[^>]*viewBox="0 0 \S+ (\S+)"', page)[1])
    for i, letters in enumerate(data["curves"]):
        d = re.search(rf'class="cg-curve cg-curve-{i}" d="M([^"]*)"', page)[1]
        tops = [float(point.split()[1]) for point in d.split("L")]
        box = re.search(r'<svg x="\S+" y="(\S+)" width="\S+" height="(\S+)"', page)
        base = data["bottom"] + float(box[2])
        assert tops == pytest.approx(base - data["fine"] * heights(letters)[-1], abs=0.1)
        assert max(tops) < height
    left, top = data["marks"][-1]
    assert f'transform="translate({left})"' in page
    assert f'cy="{top}"' in page


def test_what_leaves_the_axes_is_cut_and_still_carried() -> None:
    wild = {"line": np.outer([1e6, -1e6, 1.0], X)}
    found = replay(X, wild, {"loss": [1.0, 1.0, 1.0]}).data["curves"][0]
    assert len(found) == 3 * len(X) * 2
    assert "//" in found
    assert "AA" in found


def test_a_linear_axis_takes_zeros_and_a_table_may_be_missing() -> None:
    moving = replay(X, LINES, {"count": range(STEPS)}, log=False, step="round", ylim=(-3, 3))
    assert "<table" not in still(moving)
    assert moving.data["words"][5] == "round 5 of 11. count: 5."


@each(
    ("change", "message"),
    [
        ({"curves": {}}, "needs a curve"),
        ({"over": {}}, "measured at each step"),
        ({"over": {"loss": [1.0, 0.0]}}, "logarithmic axis takes positive numbers"),
        ({"over": {"loss": [1.0, np.nan]}}, "'loss' has numbers that aren't finite"),
        ({"over": {"loss": [1.0]}}, r"'line' must have the shape \(1, 9\); it has \(2, 9\)"),
        ({"numbers": {"w": [1.0, 2.0, 3.0]}}, r"'w' must have the shape \(2, 1\)"),
    ],
)
def test_errors_name_what_is_wrong(change: dict[str, Any], message: str) -> None:
    given = {"curves": {"line": np.zeros((2, len(X)))}, "over": {"loss": [1.0, 1.0]}} | change
    with pytest.raises(ValueError, match=message):
        replay(X, **given)


def test_too_many_points_are_refused() -> None:
    many = MOST_POINTS // len(X) + 1
    with pytest.raises(ValueError, match="more than the 100,000 that a page should carry"):
        replay(X, {"line": np.zeros((many, len(X)))}, {"loss": np.ones(many)})


def test_it_asks_for_nothing_and_leaks_no_style() -> None:
    html = figure().html
    assert not re.search(r"https?://(?!www\.w3\.org)|\bsrc=|\bimport\b", html)
    assert len((HERE / "replay.bundle.js").read_bytes()) <= 4_000
