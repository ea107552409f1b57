"""Lines of NumPy on arrays whose sizes have letters: what each reads, and the sizes of all."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from chaingrad.node import Node
from chainlab.drills.draw.looks import shape
from chainlab.drills.draw.rewrites import names_in

TRIAL = (5, 7, 11, 13, 17)  # sizes that tell letters apart


class Line(NamedTuple):
    """One line: ``made = text``."""

    made: str
    text: str

    @property
    def reads(self) -> list[str]:
        """The names in it, each once."""
        return names_in(self.text)

    def __str__(self) -> str:
        return f"{self.made} = {self.text}"

    def run(self, known: Mapping[str, Any]) -> Any:
        """Compute the result of the line, from arrays or nodes."""
        return eval(self.text, {"np": np}, dict(known))


def read(text: str) -> Iterator[Line]:
    """Yield the lines of a text."""
    for line in text.split("; "):
        made, _, formula = line.partition(" = ")
        yield Line(made, formula)


class Lines:
    """Lines, and their graph for arrays of the sizes in `TRIAL`.

    Attributes:
        lines: in the order in which they run.
        leaves: the names of what is given.
        dims: the letters of the sizes of everything, by name.
        letters: of these, each once.
        root: the last result.
        trial: the nodes of the graph, by name.
    """

    def __init__(self, text: str, sizes: str, frozen: str = "", **functions: Any) -> None:
        self.lines = list(read(text))
        self.dims = {name: tuple(of) for name, *of in map(str.split, sizes.split(", "))}
        self.leaves = list(self.dims)
        self.letters = list(dict.fromkeys(chain.from_iterable(self.dims.values())))
        self.root = self.lines[-1].made
        size = dict(zip(self.letters, TRIAL, strict=False))
        self._by_size = {n: letter for letter, n in size.items()}
        given = {
            name: Node(np.ones([size[x] for x in of]), name, requires_grad=name not in frozen)
            for name, of in self.dims.items()
        }
        with np.errstate(all="ignore"):
            self.trial = self.run({**functions, **size, **given})
        for line in self.lines:
            self.trial[line.made].label = line.made
            self.dims[line.made] = self.dims_of(self.trial[line.made])

    def run(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Run the lines on what is given and on what they call by name; return all by name."""
        known = dict(given)
        for line in self.lines:
            known[line.made] = line.run(known)
        return known

    def dims_of(self, node: Node) -> tuple[str, ...]:
        """Return the letters for the sizes of a node of the trial."""
        return tuple(self._by_size[size] for size in node.shape)

    def shape(self, dims: Sequence[str], sizes: Sequence[int]) -> str:
        """Write a shape, for a size of each letter."""
        return shape([str(sizes[self.letters.index(letter)]) for letter in dims])
