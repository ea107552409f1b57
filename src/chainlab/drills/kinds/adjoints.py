"""Adjoints of a graph in which paths meet."""

import functools
from collections.abc import Iterable, Iterator, Sequence

from chainlab.drills.draw.box import Box, Place
from chainlab.drills.draw.recording import FormGraph, Recording
from chainlab.drills.draw.slips import of_adjoint
from chainlab.drills.draw.small_numbers import exact
from chainlab.drills.kinds.graph_kind import GraphKind, formula_of, surroundings
from chainlab.drills.kinds.kind import NUMBERS, Step, Written
from chainview.read.items import Item
from chainview.read.words import listed

FORMS = (
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


class Adjoints(GraphKind):
    name, title = "adjoints", "Adjoints where paths meet"

    def asks(self, level: int) -> str:
        return (
            "Write the adjoint of every node into it. Where a node is used more than once, a share "
            f"comes along each edge. {NUMBERS}"
        )

    def forms(self, level: int) -> Sequence[str]:
        return FORMS[level - 1]

    @functools.cache  # noqa: B019
    def places(self, graph: FormGraph) -> Sequence[Place]:
        return [
            Place(
                item,
                "grad",
                graph.names.adjoint(item),
                f"adjoint of {graph.names.text(item)}. {surroundings(graph, item)}",
                f"{graph.names.adjoint(item)} = {_sum(graph, item)}, where {_uses(graph, item)}",
            )
            for item in graph.moving[1:]
        ]

    def boxes(self, rec: Recording) -> list[Box]:
        """Return boxes for the adjoints of all nodes except the root, in the order of the pass."""
        return [
            Box(place, rec.adjoint(place.item), functools.partial(of_adjoint, rec, place.item))
            for place in self.places(rec.graph)
        ]

    def written(self, rec: Recording) -> Iterable[Written]:
        return [*super().written(rec), (rec.graph.root.id, "grad", "grad 1")]

    def steps(self, rec: Recording) -> Iterator[Step]:
        return steps(rec)


def steps(rec: Recording) -> Iterator[Step]:
    """Yield a step for the seed, and one for each message."""
    names, root = rec.names, rec.graph.root
    seed = f"The backward pass starts at the root: {names.adjoint(root)} = <b>1</b>"
    yield "Backward", seed, (root.id,), None, ((root.id, "grad", "grad 1"),)
    sums: dict[str, float] = {}
    for edge in rec.graph.edges:
        share, to = rec.right[edge], edge.parent
        known = exact(sums[to.id]) if to.id in sums else ""
        sums[to.id] = sums.get(to.id, 0.0) + share
        numbers = [exact(x) for x in (rec.adjoint(edge.child), rec.local(edge), share, sums[to.id])]
        sent = f'<span class="g">{numbers[0]}</span> × <span class="l">{numbers[1]}</span>'
        words = (
            f"{names.adjoint(to)} += {names.adjoint(edge.child)} · "
            f"{names.local(edge.child, to)} = {sent} = {numbers[2]}, now <b>{numbers[3]}</b>"
        )
        addition = (f"grad {known}", f"{known} + {numbers[2]}".replace("+ −", "− "))
        carries = (*edge.ends, numbers[0], numbers[1], addition if known else ("", ""))
        change = (to.id, "grad", f"grad {numbers[3]}")
        yield "Backward", words, (to.id, edge.child.id), carries, (change,)


def _sum(graph: FormGraph, item: Item) -> str:
    """Return an adjoint as the sum over the edges to the children, in words."""
    return " + ".join(_term(graph, edge.child, item) for edge in graph.uses[item.id])


def _term(graph: FormGraph, child: Item, item: Item) -> str:
    names = graph.names
    if child is graph.root:  # the local gradient there is written as the adjoint asked for is
        return f"1 · the local gradient of {names.html(child)}"
    return f"{names.adjoint(child)} · {names.local(child, item)}"


def _uses(graph: FormGraph, item: Item) -> str:
    children = dict.fromkeys(edge.child for edge in graph.uses[item.id])
    return listed([f"{graph.names.html(child)} = {formula_of(graph, child)}"
                   for child in children], 6)  # fmt: skip
