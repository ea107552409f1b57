"""Costs are those of the ledger."""

from collections import Counter

import numpy as np
import pytest

from chaingrad.account import Ledger
from chaingrad.node import Node
from chainlab.drills.kinds import flops_and_bytes
from chainlab.drills.kinds.kind import LEVELS
from tests.chainlab.drills.support import DRAWN, MANY, problem

pytestmark = DRAWN


@pytest.mark.parametrize("level", LEVELS)
def test_costs_are_those_of_the_ledger(level):
    """Of the same lines, computed on arrays of the sizes that were drawn."""
    for seed in MANY:
        drawn = problem("costs", level, seed)
        *sizes, itemsize = drawn.leaves
        lines, shapes, frozen = flops_and_bytes.NETS[level - 1][drawn.number]
        leaves = [leaf.split() for leaf in shapes.split(",")]
        names = dict.fromkeys(letter for _, *of in leaves for letter in of)
        letters, known = dict(zip(names, sizes, strict=True)), {}
        for name, *of in leaves:
            data = np.zeros([int(letters[x]) for x in of], f"f{int(itemsize)}")
            known[name] = Node(data, name, requires_grad=name not in frozen)
        for line in lines.split("; "):
            name, text = line.split(" = ")
            known[name] = eval(text, {"np": np}, known)
        account = Ledger(known[name].sum())
        sums = Counter()
        for box, right in zip(drawn.entry["boxes"], drawn.right, strict=True):
            sums[box["slot"]] += right
            [row] = [row for row in account.rows if row.node is known.get(box["name"])] or [None]
            if box["slot"] == "forward":
                assert right == row.flops
            elif box["slot"] == "backward":
                assert bool(right) == row.node.requires_grad
            elif box["slot"] == "bytes":
                assert right == row.bytes * row.needed
        passes = {"forward": account.forward_flops["matmul"],
                  "backward": account.backward_flops["matmul"]}  # fmt: skip
        ratio = {"ratio": pytest.approx(passes["backward"] / passes["forward"])}
        assert sums == [passes, passes | ratio, {"bytes": account.needed_bytes}][level - 1]
