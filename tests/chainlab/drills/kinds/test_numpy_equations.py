"""Lines of NumPy give adjoints, and mistakes in them differ."""

import numpy as np
import pytest

from chaingrad.functional import vjp
from chainlab.drills.kinds import numpy_equations
from chainlab.drills.kinds.kind import LEVELS
from chainlab.drills.page import typed
from tests.chainlab.drills.support import DRAWN, MANY, lines_typed, right_lines
from tests.support import sampled

pytestmark = DRAWN


@pytest.mark.parametrize("level", sampled(LEVELS, 3))
def test_lines_of_numpy_give_what_vjp_gives(level):
    for seed in MANY:
        drawn, of, sizes, known = lines_typed(level, seed)
        names = [name for name in of.leaves if "d" + name in known]
        seeded = known.get("d" + of.root, 1.0)
        given = {name: known[name] for name in of.leaves}

        def last(*leaves, of=of, sizes=sizes, names=names, given=given):
            return of.run(sizes | given | dict(zip(names, leaves, strict=True)))[of.root]

        shares = vjp(last, *(known[name] for name in names))[1](seeded)
        rights = dict(zip((line.made for line in of.asked), right_lines(drawn), strict=True))
        for name, share in zip(names, shares, strict=True):
            right = numpy_equations.computed(rights["d" + name], known)
            np.testing.assert_allclose(right, share, rtol=1e-9, atol=1e-11)
        assert typed.judge(drawn, right_lines(drawn)).marks == ("right",) * len(of.asked)


@pytest.mark.parametrize("level", LEVELS)
def test_mistakes_in_lines_differ_from_what_is_right_and_from_each_other(level):
    for seed in MANY:
        _, of, _, known = lines_typed(level, seed)
        assert sum(map(len, of.slips)) >= 4
        for (name, _), slips in zip(of.asked, of.slips, strict=True):
            values = [numpy_equations.computed(slip.gives, known) for slip in slips]
            found = [known[name], *(value for value in values if value is not None)]
            assert not any(
                numpy_equations.alike(a, b) for i, a in enumerate(found) for b in found[:i]
            )
            assert len({slip.gives for slip in slips}) == len(slips)
