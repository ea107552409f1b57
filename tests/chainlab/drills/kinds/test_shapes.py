"""Adjoints in tiles."""

import json
import unicodedata

import numpy as np
import pytest

from chaingrad.functional import vjp
from chainlab.drills import KINDS
from chainlab.drills.draw.tile_sums import BAR
from chainlab.drills.kinds import shapes
from chainlab.drills.kinds.kind import LEVELS
from tests.chainlab.drills.support import DRAWN, MANY, called, problem

pytestmark = DRAWN


@pytest.mark.parametrize("level", LEVELS)
def test_tiles_give_what_vjp_gives(level):
    for seed in MANY:
        drawn = problem("shapes", level, seed)
        of = shapes.layer(KINDS["shapes"].forms(level)[drawn.number])
        known = {name: x if len(of.dims.get(name, "nm")) > 1 else x[0]
                 for name, x in drawn.known.items()}  # fmt: skip
        leaves = [name for name in of.given if name in of.dims]

        def line(*given, of=of, known=known, leaves=leaves):
            phi = {"phi": lambda z: z * known[shapes.SLOPE]}
            return of.run(phi | dict(zip(leaves, given, strict=True)))[of.root]

        shares = vjp(line, *(known[name] for name in leaves))[1](known[of.root + BAR])
        for name, share in zip(leaves, shares, strict=True):
            right = known.get(name + BAR)
            np.testing.assert_allclose(share, np.reshape(right, np.shape(share)), atol=1e-9)


@pytest.mark.parametrize("level", LEVELS)
def test_tiles_are_judged_and_their_mistakes_named(page, level):
    for seed in range(1, 41):
        found = called(
            page,
            f"""(() => {{
            const entry = {json.dumps(problem("shapes", level, seed).entry)};
            const judged = (i, tiles) => judgeTiles(entry, matricesOf(entry), i, tiles);
            return entry.lines.map(({{ right, mistakes }}, i) => [judged(i, right),
                mistakes.map(([name, tiles]) => [name, judged(i, tiles)])]);
        }})()""",
        )
        assert len({name for _, made in found for name, _ in made}) >= 4
        for right, made in found:
            assert right["right"]
            for name, verdict in made:
                assert not verdict["right"]
                assert [made[0] for made in verdict["mistakes"]] == [name]


def test_tiles_that_do_not_fit_are_told(page):
    for typed, words in [
        (["Z̄", "X"], "columns meet"),
        (["Z̄", "⊙", "X"], "do not fit, entry by entry"),
        (["W", "W"], "columns meet"),
        (["X", "⊙"], "a factor is missing"),
        (["Z̄ᵀ", "Z̄"], " is "),
        (["W̄"], "still to be found"),
    ]:
        verdict = judged_tiles(page, problem("shapes", 1, 1), 1, typed)
        assert not verdict["right"], typed
        assert words in verdict["words"], typed


def judged_tiles(page, drawn, line, tiles):
    page.eval(f"globalThis.entry = {json.dumps(drawn.entry)}")
    return called(page, f"judgeTiles(entry, matricesOf(entry), {line}, {json.dumps(tiles)})")


def test_right_tiles_are_right_in_other_forms(page):
    """Of Y = X - c; Z = Y @ W.T, whose c̄ is − Σ rows Ȳ, and of Z = X @ W.T + b."""
    for seed, label, typed, is_right in [
        (6, "c̄", "− Σ-rows Ȳ", True),
        (6, "c̄", "Σ-rows − Ȳ", True),
        (6, "c̄", "− Σ-rows Z̄ W", True),
        (6, "c̄", "Σ-rows − Z̄ W", True),
        (6, "c̄", "+ − Σ-rows Ȳ", True),
        (6, "c̄", "− Σ-rows − Ȳ", False),
        (6, "c̄", "Σ-rows Ȳ", False),
        (6, "Ȳ", "Z̄ W", True),
        (6, "Ȳ", "Z̄ W − Z̄ W + Z̄ W", True),
        (1, "b̄", "Σ-rows Z̄ − Z̄ + Z̄", True),
        (1, "b̄", "Σ-rows Z̄ − Σ-rows Z̄ + Σ-rows Z̄", True),
        (1, "b̄", "Z̄ Σ-rows", False),
    ]:
        drawn = problem("shapes", 2, seed)
        name, tiles = (unicodedata.normalize("NFD", text) for text in (label, typed))
        [line] = [i for i, line in enumerate(drawn.entry["lines"]) if line["label"] == name]
        laid = [tile.replace("-", " ") for tile in tiles.split()]
        assert judged_tiles(page, drawn, line, laid)["right"] == is_right, typed
