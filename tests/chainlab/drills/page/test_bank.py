"""The page has the same problems as a notebook, in files."""

import json

import pytest

from chainlab.drills.page.bank import A_FILE, PROBLEMS, bank, names, pictures
from tests.chainlab.drills.support import CASES, DRAWN, called, problem
from tests.support import sampled

pytestmark = DRAWN


@pytest.mark.parametrize(("kind", "level"), sampled(CASES, ("adjoints", 3), ("shapes", 2)))
def test_the_page_has_the_same_problems(page, kind, level):
    firsts = [first for _, of, first in names(kind) if of == level]
    assert firsts == list(range(1, PROBLEMS + 1, A_FILE))
    for first in firsts:
        page.eval(f"globalThis.graphs = {bank(kind, level, first)}")
        theirs = called(
            page, f"Array.from({{length: {A_FILE}}}, (_, i) => pick(graphs, i + {first}))"
        )
        for seed, its in enumerate(theirs, start=first):
            ours = problem(kind, level, seed)
            assert its == json.loads(json.dumps(
                {"pictures": pictures(kind, level, ours.number), "entry": ours.entry,
                 "names": ours.names}
            ))  # fmt: skip
