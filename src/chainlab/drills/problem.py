"""One problem: a kind, a level and a seed settle its graph and its numbers."""

from chainlab.drills.draw.series import Series
from chainlab.drills.kinds.adjoints import Adjoints
from chainlab.drills.kinds.chain import Chain
from chainlab.drills.kinds.flops_and_bytes import Costs
from chainlab.drills.kinds.keep import Keep
from chainlab.drills.kinds.kind import LEVELS, Kind, Problem
from chainlab.drills.kinds.local import Local
from chainlab.drills.kinds.mlp import Mlp
from chainlab.drills.kinds.numpy_equations import Equations
from chainlab.drills.kinds.orders import Orders
from chainlab.drills.kinds.shapes import Shapes
from chainlab.drills.kinds.wrong_message import Messages

ALL: tuple[Kind, ...] = (
    Local(), Chain(), Adjoints(), Orders(), Messages(), Shapes(), Mlp(), Keep(), Costs(),
    Equations(),
)  # fmt: skip
KINDS = {kind.name: kind for kind in ALL}


def problem(kind: str, level: int, seed: int) -> Problem:
    """Draw a problem: the same for the same arguments.

    Args:
        kind: a name in ``chainlab.drills.KINDS``.
        level: 1, 2 or 3.
        seed: from 1 on; the page has the first 200.

    Raises:
        ValueError: there is no such problem.

    >>> drawn = problem("adjoints", 1, 7)
    >>> drawn.name, drawn.leaves, drawn.right
    ('adjoints-1-7', [3.0, 1.0], [3.0, 3.0, 3.0, 19.0])
    """
    if kind not in KINDS:
        raise ValueError(f"kind was {kind!r}; expected one of {', '.join(KINDS)}")
    if level not in LEVELS:
        raise ValueError(f"level was {level!r}; {kind} has the levels 1 to {len(LEVELS)}")
    if not (isinstance(seed, int) and 1 <= seed < 10**9):
        raise ValueError(f"seed was {seed!r}; expected a whole number from 1 on")
    return KINDS[kind].draw(level, Series(f"{kind}-{level}-{seed}", seed))
