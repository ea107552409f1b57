"""Local gradients: what each operation passes on for each of its operands."""

import functools
from collections.abc import Iterator, Sequence

from chainlab.drills.draw.box import Box, Place
from chainlab.drills.draw.recording import FormGraph, Recording
from chainlab.drills.draw.slips import of_local
from chainlab.drills.draw.small_numbers import exact
from chainlab.drills.kinds.graph_kind import GraphKind, computation, formula_of
from chainlab.drills.kinds.kind import NUMBERS, Step

FORMS = (
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


class Local(GraphKind):
    name, title = "local", "Local gradients"

    def asks(self, level: int) -> str:
        return (
            "Write every local gradient into the node that it belongs to: how fast the node grows "
            f"with that operand, at these values. {NUMBERS}"
        )

    def forms(self, level: int) -> Sequence[str]:
        return FORMS[level - 1]

    @functools.cache  # noqa: B019
    def places(self, graph: FormGraph) -> Sequence[Place]:
        names = graph.names
        return [
            Place(
                edge.child,
                f"box{edge.position}",
                names.local(edge.child, edge.parent),
                f"local gradient of {names.text(edge.child)} with respect to "
                f"{names.text(edge.parent)}. {computation(graph, edge.child)}",
                f"{names.html(edge.child)} = {formula_of(graph, edge.child)}",
            )
            for edge in graph.edges
        ]

    def boxes(self, rec: Recording) -> list[Box]:
        """Return boxes for the local gradients of every operation, the last operation first."""
        return [
            Box(place, rec.local(edge), functools.partial(of_local, rec, edge))
            for place, edge in zip(self.places(rec.graph), rec.graph.edges, strict=True)
        ]

    def steps(self, rec: Recording) -> Iterator[Step]:
        """Yield one step for each local gradient."""
        names = rec.names
        for edge in rec.graph.edges:
            local = names.local(edge.child, edge.parent)
            number = exact(rec.local(edge))
            y = names.html(edge.child)
            values = [
                f"{names.html(x)} = {exact(rec.value(x))}"
                for x in dict.fromkeys([*names.parents(edge.child), edge.child])
                if x.label
            ]
            at = f"{y} = {formula_of(rec.graph, edge.child)} at {', '.join(values)}"
            words = f"{at}: {local} = <b>{number}</b>"
            change = (edge.child.id, f"box{edge.position}", number)
            yield "Local gradients", words, (edge.parent.id, edge.child.id), edge.ends, (change,)
