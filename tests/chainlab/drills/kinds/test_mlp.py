"""The network of numbers is that of matrices."""

import json

import numpy as np
import pytest

from chaingrad.functional import value_and_grad
from chainlab.drills import KINDS
from chainlab.drills.draw.forms import Form
from chainlab.drills.kinds.kind import LEVELS
from tests.chainlab.drills.support import DRAWN, MANY, called, problem

pytestmark = DRAWN


@pytest.mark.parametrize("level", LEVELS)
def test_the_network_is_that_of_matrices(level):
    """In arrays: the objective, and the gradients of both weights."""
    for seed in MANY:
        drawn = problem("mlp", level, seed)
        form = Form.parse(KINDS["mlp"].forms(level)[drawn.number])
        leaves = dict(zip(form.leaves, drawn.leaves, strict=True))
        d, q = (sum(name[0] == letter for name in leaves) for letter in "xy")
        x, y, W, V = (np.array([leaves[name] for name in sorted(leaves) if name[0] == letter])
                      for letter in "xywv")  # fmt: skip
        lam = leaves.get("lam", 0.0)

        def objective(W, V, x=x, y=y, lam=lam):
            apart = V @ (W @ x).relu() - y
            return ((apart * apart).sum() + lam * ((W * W).sum() + (V * V).sum())) / 2

        value, shares = value_and_grad(objective, (0, 1))(W.reshape(-1, d), V.reshape(q, -1))
        asked = {(box["name"], box["slot"][:4]): right
                 for box, right in zip(drawn.entry["boxes"], drawn.right, strict=True)}  # fmt: skip
        assert asked["J" if lam else "L", "data"] == pytest.approx(value)
        for letter, share in zip("wv", shares, strict=True):
            for i, j in np.ndindex(share.shape):
                assert asked[f"{letter}{i + 1}{j + 1}", "grad"] == pytest.approx(share[i, j])


@pytest.mark.parametrize("level", [2, 3])
def test_slips_in_the_network_are_named(page, level):
    """By hand: of the penalty, of the difference, and of the first weight of the output."""
    for seed in range(1, 9):
        drawn = problem("mlp", level, seed)
        form = Form.parse(KINDS["mlp"].forms(level)[drawn.number])
        leaves = dict(zip(form.leaves, drawn.leaves, strict=True))
        W, V = (np.array([x for name, x in leaves.items() if name[0] == letter]) for letter in "wv")
        lam, squares, norms = leaves["lam"], W @ W + V @ V, np.sqrt(W @ W) + np.sqrt(V @ V)
        boxes = {(box["name"], box["slot"][:4]): box for box in drawn.entry["boxes"]}
        o = boxes["o1", "grad"]["right"]
        for asked, answer, name in [
            (("s", "data"), squares / 2, "decay"),
            (("s", "data"), lam * norms / 2, "unsquared"),
            (("s", "data"), lam * squares, "half"),
            (("s", "data"), lam * (V @ V) / 2, "matrix"),
            (("o1", "grad"), 2 * o, "half"),
            (("o1", "grad"), o / 2, "half"),
            (("v11", "grad"), o + lam * leaves["v11"], "unchanged"),
        ]:
            found = called(page, f"judge({json.dumps(boxes[asked])}, [{answer}])")
            assert found["right"] or name in [made[0] for made in found["mistakes"]]
