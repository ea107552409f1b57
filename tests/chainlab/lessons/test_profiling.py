"""The timelines of *Profiling*: what the record holds, and what is said of it."""

from typing import Any

import pytest

from benchmarks.training_step import BATCHES, PHASES, bars, record
from chainlab.lessons.profiling import longest, parts, recorded, step_timeline
from tests.support import each

STEPS = recorded()["steps"]


def test_all_sizes_have_the_same_operations_in_the_same_order() -> None:
    names = [{p: [name for name, *_ in step["bars"][p]] for p in PHASES} for step in STEPS]
    assert [step["batch"] for step in STEPS] == list(BATCHES)
    assert all(each == names[0] for each in names)
    assert names[0]["forward"].count("addmm") == 3
    assert names[0]["backward"].count("mm") == 5


@each("step", STEPS)
def test_bars_lie_within_their_pass_and_the_parts_are_all_of_the_step(step: dict[str, Any]) -> None:
    for phase in PHASES:
        first, last = step["phases"][phase]
        assert all(first <= a <= b <= last for _, a, b in step["bars"][phase])
    found = parts(step)
    assert sum(found.values()) == pytest.approx(100)
    assert min(found.values()) > 0
    products = found["products of matrices"]
    named = {name: share for name, share in longest(step) if name in ("addmm", "mm")}
    assert sum(named.values()) <= products + 0.05


def test_products_grow_with_the_batch_and_the_optimizer_does_not() -> None:
    products = [parts(step)["products of matrices"] for step in STEPS]
    assert products == sorted(products)
    adam = [step["times"] * (b - a) for step in STEPS for a, b in [step["phases"]["optimizer"]]]
    assert max(adam) < 1.5 * min(adam)


def test_a_new_recording_has_the_operations_of_the_committed_one() -> None:
    found = record(2, tries=1)
    for phase in PHASES:
        there = sorted(name for name, *_ in STEPS[0]["bars"][phase])
        assert sorted(name for who, name, *_ in found["bars"] if who == phase) == there
    assert list(bars([])) == []


def test_the_picture_says_when_and_on_what_it_was_recorded() -> None:
    html = step_timeline().html
    assert recorded()["processor"] in html
    assert "2026" in html


def test_what_the_lesson_says_of_the_first_and_the_last_recording() -> None:
    first, last = STEPS[0], STEPS[-1]
    (start, end), products = first["phases"]["optimizer"], "products of matrices"
    assert end - start > 5000  # more than half of the step
    assert parts(first)[products] < 20
    assert parts(last)[products] > 80
