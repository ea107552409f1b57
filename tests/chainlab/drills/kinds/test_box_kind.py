"""Numbers to fill in are right, small, and tell mistakes apart."""

import itertools
import json
import re

import numpy as np
import pytest

from chaingrad.messages import local_gradients
from chainlab.drills import KINDS
from chainlab.drills.draw.forms import Form
from chainlab.drills.draw.small_numbers import is_small
from chainlab.drills.kinds.kind import LEVELS
from tests.chainlab.drills.support import BOXES, DRAWN, MANY, called, problem

pytestmark = DRAWN


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("kind", [kind for kind in BOXES if kind != "costs"])
def test_what_is_right_is_what_the_backward_pass_gives(kind, level):
    for seed in MANY:
        drawn = problem(kind, level, seed)
        root = Form.parse(KINDS[kind].forms(level)[drawn.number]).run(drawn.leaves)
        root.backward()
        nodes = {node.label: node for node in root.sorted_graph()}
        for box, right in zip(drawn.entry["boxes"], drawn.right, strict=True):
            node = nodes[box["name"]]
            if box["slot"].startswith("grad"):
                known = node.grad
            elif box["slot"].startswith("data"):
                known = node.data
            else:
                known = local_gradients(node)[int(box["slot"][3:])][1]
            assert right == pytest.approx(known, abs=1e-12)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("kind", BOXES)
def test_numbers_are_small_and_mistakes_show(kind, level):
    for seed in MANY:
        drawn = problem(kind, level, seed)
        most = KINDS[kind].most(level)
        assert all(is_small(number, most) for number in [*drawn.leaves, *drawn.right])
        names = {name for box in drawn.entry["boxes"] for name, *_ in box["mistakes"]}
        assert len(names) >= 4
        shown = set()
        for box, right in zip(drawn.entry["boxes"], drawn.right, strict=True):
            gives = [(name, x) for name, x, *_ in box["mistakes"] if x is not None]
            for name, number in gives:
                others = [right, *(x for other, x in gives if other != name)]
                if not np.isclose(number, others, rtol=0).any():
                    shown.add(name)
        assert len(shown) >= 2  # of a sum and a difference: the sign, and nothing at all


@pytest.mark.parametrize("kind", BOXES)
def test_the_step_of_a_box_writes_its_number(page, kind):
    for level, seed in itertools.product(LEVELS, range(1, 21)):
        page.eval(f"globalThis.entry = {json.dumps(problem(kind, level, seed).entry)}")
        code = """entry.boxes.map((box) => {
            const [, , , , changes] = entry.steps[stepAt(entry.steps, box)];
            return [exact(box.right), changes.map(([, , text]) => text).join(" ")];
        })"""
        for right, texts in called(page, code):
            assert right in re.split(r"[ ,()]+", texts)
