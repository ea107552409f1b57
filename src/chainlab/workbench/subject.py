"""What a view shows: a graph, and the text that made it."""

from dataclasses import dataclass
from functools import cached_property

from chaingrad.node import Node
from chainlab.workbench.running import run


@dataclass(frozen=True)
class Subject:
    """A graph, and the text that made it, which can be run again."""

    root: Node
    text: str = ""

    @cached_property
    def nodes(self) -> list[Node]:
        """The graph's nodes, children before parents."""
        return self.root.sorted_graph()

    @cached_property
    def leaves(self) -> list[Node]:
        """The leaves that require a gradient, in the order in which they were made."""
        return [x for x in reversed(self.nodes) if not x.parents and x.requires_grad]

    @property
    def entries(self) -> int:
        """How many numbers the leaves hold."""
        return sum(leaf.size for leaf in self.leaves)

    def require_at_most(self, most: int, what: str) -> None:
        """Refuse a graph of more than ``most`` nodes."""
        if len(self.nodes) > most:
            raise ValueError(
                f"the graph has {len(self.nodes):,} nodes, and {what} takes at most {most}: use "
                "arrays instead of numbers, or fewer turns of a loop"
            )

    def require_scalar(self, what: str) -> None:
        """Refuse a root that is not a single number, or that depends on no leaf to move."""
        if self.root.size != 1:
            raise ValueError(
                f"{what} takes the gradient of one number, and the last line gives an array of "
                f"shape {self.root.shape}: sum it, as in y.sum()"
            )
        if not self.root.requires_grad:
            raise TypeError(
                f"{what} needs a leaf to differentiate by, and there is none: make the inputs "
                "nodes, as in x = Node(2.0)"
            )

    def again(self) -> Node:
        """Run the text again.

        Raises:
            TypeError: this time it gives no node.
        """
        root = run(self.text).root
        if root is None:
            raise TypeError("run a second time, the program gives no node")
        return root
