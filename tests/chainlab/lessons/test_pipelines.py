"""What *Pipelines* draws: schedules, against the page's own simulation and the known formulas."""

import itertools
from typing import Any

import pytest

from chainlab.lessons.pipelines import JOINED, SCHEDULES, SPLIT, draw, ends, held, idle, pipeline
from tests.support import ROOT, each
from tools.build import code_cells

SIZES = list(itertools.product(range(1, 9), [1, 2, 3, 5, 8, 12, 24]))


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    names: dict[str, Any] = {}
    cells = code_cells(ROOT / "chapters" / "cost" / "pipelines.md")
    (cell,) = [cell for cell in cells if "def pipeline(" in cell]
    exec(cell, names)
    return names


@pytest.mark.parametrize("message", [0, 1, 3])
def test_the_page_runs_the_same_simulation(page: dict[str, Any], message: int) -> None:
    for (p, m), (_, rule, length) in itertools.product(SIZES, SCHEDULES):
        for room in ([m] * p, [p - s for s in range(p)], [p + 1] * p):
            ours = pipeline(p, m, rule, room, length, message)
            assert page["pipeline"](p, m, rule, room, length, message) == ours


@each(("p", "m"), SIZES)
def test_schedules_keep_to_what_is_known(p: int, m: int) -> None:
    gpipe, alternate, halves = (
        pipeline(p, m, its.rule, its.room(p, m), its.length) for its in SCHEDULES
    )
    for pieces in gpipe, alternate:
        assert ends(pieces, JOINED) == 3 * (m + p - 1)
        assert idle(pieces, JOINED) == pytest.approx((p - 1) / (m + p - 1))
    assert held(gpipe) == [m] * p
    assert held(alternate) == [min(m, p - s) for s in range(p)]
    assert max(held(halves)) <= min(m, p + 1)
    assert ends(halves, SPLIT) <= ends(alternate, JOINED)
    if p <= m and p <= 4:
        assert ends(halves, SPLIT) == 3 * m + p - 1


@each(("p", "m"), SIZES)
def test_each_piece_is_done_once_and_after_what_it_needs(p: int, m: int) -> None:
    for _, rule, length in SCHEDULES:
        for message in (0, 2):
            pieces = pipeline(p, m, rule, [p] * p, length, message)
            begin = {(kind, i, s): at for s, kind, i, at in pieces}
            assert len(begin) == len(pieces) == len(rule) * p * m
            for (kind, i, s), at in begin.items():
                if kind == "F" and s > 0:
                    assert at >= begin["F", i, s - 1] + length["F"] + message
                if kind == "B":
                    assert at >= begin["F", i, s] + length["F"]
                if kind == "B" and s < p - 1:
                    assert at >= begin["B", i, s + 1] + length["B"] + message
                if kind == "W":
                    assert at >= begin["B", i, s] + length["B"]
            for s in range(p):
                spans = sorted((at, at + length[kind]) for q, kind, _, at in pieces if q == s)
                assert all(until <= at for (_, until), (at, _) in itertools.pairwise(spans))


def test_a_drawing_says_what_it_shows() -> None:
    figure = draw(pipeline(4, 8, "BFW", [5] * 4, SPLIT), SPLIT)
    assert "27 turns" in figure.alt
    assert figure.html.count('class="cg-W"') == 4 * 8 + 1  # and one in the key


@pytest.mark.parametrize("room", [[1, 0], [1]])
def test_a_device_without_room_is_refused(room: list[int]) -> None:
    with pytest.raises(ValueError, match="room for one microbatch or more on each of 2"):
        pipeline(2, 3, "FB", room, JOINED)
