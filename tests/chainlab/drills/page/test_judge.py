"""A wrong number is called by the mistakes that give it."""

import json

from chainlab.drills import KINDS
from chainlab.drills.draw.small_numbers import exact
from tests.chainlab.drills.support import DRAWN, called, problem

pytestmark = DRAWN


def test_a_number_is_written_the_same_in_both_languages(page):
    numbers = [0.0, -3.0, 0.25, -1 / 3, 7 / 12, 1 / 60, 99.0, -0.05]
    assert called(page, f"{json.dumps(numbers)}.map(exact)") == list(map(exact, numbers))


def test_a_wrong_number_is_called_by_the_mistakes_that_give_it(page):
    for kind in KINDS:
        for seed in range(1, 41):
            boxes = problem(kind, 2, seed).entry.get("boxes", [])
            page.eval(f"globalThis.boxes = {json.dumps(boxes)}")
            found = called(
                page, "boxes.map((box) => box.mistakes.map(([, gives]) => judge(box, [gives])))"
            )
            for box, verdicts in zip(boxes, found, strict=True):
                for (name, gives, *_), verdict in zip(box["mistakes"], verdicts, strict=True):
                    if gives is None:
                        continue
                    assert verdict["right"] == (abs(gives - box["right"]) < 1e-9)
                    named = [made[0] for made in verdict["mistakes"]]
                    assert verdict["right"] or name in named


def test_usual_mistakes_have_names_and_two_that_give_a_number_are_both_said(page):
    """Of y = a - b; y = a / b at −3, 2; y = a ** 2; and a ** 3."""
    for seeds, box, answer, names in [
        ((1, 3), 1, lambda a, b: 1.0, ["sign", "swapped"]),
        ((2, 1), 1, lambda a, b: -a / b, ["denominator"]),
        ((2, 2), 0, lambda a: a, ["brought down", "operand"]),
        ((2, 8), 0, lambda a: 3 * a**3, ["exponent"]),
        ((2, 8), 0, lambda a: a**2, ["brought down"]),
    ]:
        drawn = problem("local", *seeds)
        asked = json.dumps(drawn.entry["boxes"][box])
        verdict = called(page, f"judge({asked}, [{answer(*drawn.leaves)}])")
        assert not verdict["right"]
        assert [made[0] for made in verdict["mistakes"]][: len(names)] == names
