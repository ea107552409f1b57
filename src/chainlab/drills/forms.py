"""The graphs of the problems, without their numbers: the lines that compute them.

Behind a bar stand the values that a leaf may have, where it may not have those of its level.
"""

import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from chaingrad.node import Node

FUNCTIONS = {
    "exp": np.exp, "log": np.log, "sqrt": np.sqrt, "tanh": np.tanh, "maximum": np.maximum,
    "relu": operator.methodcaller("relu"), "sigmoid": operator.methodcaller("sigmoid"),
}  # fmt: skip
POSITIVE = tuple(map(float, range(1, 6)))
SIGNED = tuple(map(float, (-4, -3, -2, -1, 1, 2, 3, 4, 5)))
DOMAINS = (POSITIVE, SIGNED, SIGNED)  # of the levels

LOCAL = (
    ("y = a + b", "y = a * b", "y = a - b", "u = a * b; y = u + c", "u = a - b; y = u * c",
     "u = a + b; y = u * c", "u = 3 * a; y = u * b", "u = a * b; y = c - u"),
    ("y = a / b", "y = a ** 2", "u = a ** 2; y = u * b", "u = a / b; y = u - c",
     "u = a * b; y = relu(u)", "u = relu(a); y = u * b", "u = a - b; y = u ** 2",
     "y = a ** 3", "u = a - b; y = u / c"),
    ("u = a + b; y = sqrt(u)", "u = a * b; y = log(u) | a: 2 4 5 | b: 0.5 0.25 0.2",
     "u = a - b; v = exp(u); y = v * c", "u = a - b; v = tanh(u); y = v * c",
     "u = a + b; v = sigmoid(u); y = c * v", "u = a ** 2; v = u + b; y = sqrt(v)",
     "u = a / b; v = u ** 2; y = v - c", "u = a * b; v = maximum(u, c); y = v / d"),
)  # fmt: skip
CHAIN = (
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
MEETING = (
    ("u = x * y; L = u + x", "u = x + y; L = u * x", "u = x - y; L = u * x", "u = x * y; L = u * y",
     "u = x * y; L = u - x", "u = x + 4; v = u * y; L = v + x", "u = 3 * x; v = u + y; L = v * x"),
    ("u = x * y; v = u + x; L = u * v", "u = x + y; v = u * x; L = v * u",
     "u = x - y; v = u * u; L = v + x", "u = x + y; v = u + u; L = v * x",
     "u = x * y; v = relu(u); w = v * x; L = w + u", "u = x - y; v = u * y; w = u + v; L = w - x",
     "u = x * y; v = x + u; w = v * u; L = w - y", "u = 2 * x; v = u - y; L = v * u"),
    ("u = x + y; v = u * x; w = u * y; L = v - w", "u = x + x; v = u * y; w = v - u; L = w * v",
     "u = x * y; v = y * z; w = u + v; s = w * w; L = s - u",
     "u = x ** 2; v = u * y; w = u - v; L = w * x", "u = x / y; v = u + x; w = u * v; L = w - y",
     "u = x + y; v = relu(u); w = u * v; s = w - x; L = s * y",
     "u = x - y; v = u * z; w = v + u; s = w * v; L = s - z",
     "u = x * y; v = u + z; w = v - u; s = w * v; L = s + u"),
)  # fmt: skip


@dataclass(frozen=True)
class Form:
    """A graph to be computed.

    Attributes:
        lines: assignments, parents before children; the last gives the root.
        domains: the values that some leaves may have.
    """

    lines: str
    domains: Mapping[str, Sequence[float]]

    @classmethod
    def parse(cls, text: str) -> "Form":
        lines, *domains = text.split("|")
        named = (part.split(":") for part in domains)
        return cls(lines.strip(), {n.strip(): tuple(map(float, x.split())) for n, x in named})

    @cached_property
    def leaves(self) -> list[str]:
        """The names of the leaves, in the order in which they are first used."""
        used = re.findall(r"[A-Za-z]\w*\b(?!\()", self.lines)
        return [name for name in dict.fromkeys(used) if name not in self._made]

    @cached_property
    def _made(self) -> list[str]:
        return [line.partition("=")[0].strip() for line in self.lines.split(";")]

    def run(self, values: Sequence[float], frozen: str = "") -> Node:
        """Compute the lines at these values of the leaves; return the root of a labelled graph."""
        known = {
            name: Node(x, name, requires_grad=name != frozen)
            for name, x in zip(self.leaves, values, strict=True)
        }
        for name, line in zip(self._made, self.lines.split(";"), strict=True):
            known[name] = eval(line.partition("=")[2].strip(), FUNCTIONS, known)
            known[name].label = name
        return known[self._made[-1]]
