"""Every mistake has a row in the table, and every row is used."""

import re

from chainlab.drills import KINDS
from chainlab.drills.draw import random_fault, random_graph
from chainlab.drills.kinds import keep, numpy_equations, orders
from chainlab.drills.kinds.kind import LEVELS
from chainlab.mistakes import MISTAKES
from tests.chainlab.drills.support import DRAWN, problem
from tests.support import ROOT

pytestmark = DRAWN


def typed_slips(kind, level, number):
    """The mistakes of each line of NumPy."""
    text = KINDS[kind].forms(level)[number]
    return numpy_equations.form(text).slips if KINDS[kind].sheet == "typed" else []


def made_by_drills():
    """The names of all mistakes that any graph of any kind knows, and those of a choice unnamed."""
    return {
        name
        for kind, task in KINDS.items()
        for level in LEVELS
        for seed in range(1, 41)
        for entry in [problem(kind, level, seed).entry]
        for name in [
            *(made[0] for box in entry.get("boxes", []) for made in box["mistakes"]),
            *(made[0] for line in entry.get("lines", []) for made in line["mistakes"]),
            *(made[0] for made in entry.get("wrong", [])),
            *([entry["name"]] if "name" in entry else []),
            *(edge["alike"] or "right" for edge in entry.get("edges", [])),
            *(
                slip.name
                for slips in typed_slips(kind, level, (seed - 1) % len(task.forms(level)))
                for slip in slips
            ),
        ]
    }


def test_every_mistake_has_a_row_and_every_row_is_used():
    declared = (orders.MISTAKES, keep.MISTAKES, random_graph.MISTAKES, random_fault.FAULTS)
    assert made_by_drills().union(*declared) == MISTAKES.keys()


def test_a_row_has_three_parts_and_a_lesson_that_is_there():
    for name, row in MISTAKES.items():
        assert row.did.startswith("You probably "), name
        for part in (row.did, row.fails, row.look):
            assert re.search(r"[.?]$", part), name
            assert not re.search(r"[<>&\d]{2}", re.sub("float(32|64)", "", part)), name
        page, _, anchor = row.lesson.partition("#")
        lines = (ROOT / "chapters" / f"{page}.md").read_text().splitlines()
        titles = [line.lstrip("#. 0123456789") for line in lines if line.startswith("##")]
        assert anchor in [re.sub(r"\W+", "-", title.lower()) for title in titles], name
