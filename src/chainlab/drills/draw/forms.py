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
