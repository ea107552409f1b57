"""One node of a drawing in words, and what a reader of graphs finds out about a thing."""

from dataclasses import dataclass
from typing import Any, NamedTuple


class NodeFacts(NamedTuple):
    """What is known of a thing in a graph."""

    kind: str  # operation, leaf, input, parameter, constant
    op: str
    label: str
    data: Any
    grad: Any
    is_output: bool = True  # a root, where a search starts with it
    marks: tuple[str, ...] = ()  # what was found wrong with it


@dataclass(frozen=True)
class Item:
    """One node in words; ``id`` is n0, n1, … in the order of creation, ``parents`` are ids."""

    id: str
    label: str
    op: str
    kind: str  # operation, leaf, input, parameter, constant
    parents: tuple[str, ...]
    value: str = ""
    gradient: str = ""
    reached: bool = False  # the gradient is not zero
    is_root: bool = False  # one of what was asked for
    is_typed: bool = False  # the value is a shape and a dtype, as all that a jaxpr knows
    node: Any = None
    marks: tuple[str, ...] = ()  # what was found wrong with it
    exponent: str = ""  # of a power, if it is a constant of its own: no other item stands for it

    @property
    def is_leaf(self) -> bool:
        return self.kind != "operation"

    @property
    def color(self) -> str:
        """The palette's name for its colour."""
        return {"operation": "node", "constant": "constant"}.get(self.kind, "leaf")

    @property
    def name(self) -> str:
        """The label, or v3 for an unlabelled node n3."""
        return self.label or "v" + self.id[1:]

    def edge_number(self, position: int) -> int:
        """Count the earlier edges from the operand at a position: 0 for its first edge."""
        return self.parents[:position].count(self.parents[position])

    @property
    def value_kind(self) -> str:
        """What the value is."""
        return "type" if self.is_typed else "data"
