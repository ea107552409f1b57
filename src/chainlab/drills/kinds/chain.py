"""Adjoints of a graph in which every node is used once."""

from collections.abc import Sequence

from chainlab.drills.kinds.adjoints import Adjoints
from chainlab.drills.kinds.kind import NUMBERS

FORMS = (
    ("u = a * b; L = u + c", "u = a + b; L = u * c", "u = 3 * a; L = u - b", "u = a - b; L = 2 * u",
     "u = a - b; L = u * c", "u = a * b; L = 4 * u", "u = a * b; L = c - u"),
    ("u = a * b; v = u + c; L = v * d", "u = a - b; v = u ** 2; L = 3 * v",
     "u = a * b; v = relu(u); L = v * c", "u = a + b; v = u * c; L = d - v",
     "u = a ** 2; v = u - b; L = v * c", "u = a * b; v = c - u; L = v ** 2",
     "u = a + b; v = u / c; L = v * d"),
    ("u = a / b; v = u + c; w = v * d; L = w ** 2", "u = a - b; v = u ** 2; w = c - v; L = 2 * w",
     "u = a * b; v = u - c; w = relu(v); s = w * d; L = e - s",
     "u = a + b; v = sqrt(u); w = v * c; L = d - w", "u = a * b; v = u - c; w = v / d; L = w * e",
     "u = a - b; v = u * c; w = v ** 2; s = d - w; L = s / 2",
     "u = a * b; v = u + c; w = v ** 2; s = w * d; L = e - s"),
)  # fmt: skip


class Chain(Adjoints):
    name, title = "chain", "Adjoints on a chain"

    def asks(self, level: int) -> str:
        return (
            "Write the adjoint of every node into it: how fast <i>L</i> grows with that node. "
            f"The pass starts at <i>L</i>, with 1. {NUMBERS}"
        )

    def forms(self, level: int) -> Sequence[str]:
        return FORMS[level - 1]
