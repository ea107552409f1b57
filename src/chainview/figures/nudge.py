"""Drag a leaf: every value and every gradient of the graph follows."""

import functools
import html
import inspect
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chaingrad.node import Node
from chainview.draw.boxes import Direction
from chainview.figures.figure import Figure, moving
from chainview.figures.number_graph import NumberGraph, size
from chainview.figures.program import PageProgram, follow, record
from chainview.player.backward_steps import is_close
from chainview.player.names import amount, index_text
from chainview.read.items import Item
from chainview.read.words import listed, truncate

MOST_NODES = 60
MOST_LEAVES = 12  # sliders
PLOT = (270, 186)  # its width and height, without what is written around it
STEPS = 100  # of a slider, to either side
ROOM = "−0.001234"  # the widest that a number gets


def nudge(
    root: Node | Callable[..., Node],
    *values: Any,
    leaves: Sequence[Node] = (),
    direction: Direction | None = None,
    max_nodes: int = MOST_NODES,
) -> Figure:
    """Show the graph of ``root`` with leaves to drag; values and gradients follow.

    Beside it stands ``root`` against the leaf that was moved last, with the tangent, whose slope is
    that leaf's gradient. The engine's rules are run once, forward and back, and written down as a
    program of primitive operations, which is what the page runs: there is no other derivative in
    it. Gradients in the nodes stay what they were.

    What is done with arrays is written out entry by entry; in the drawing they have their norms.

    Args:
        root: a node that holds a number, or a function that gives one. In a function ``where``
            chooses anew as leaves move; of a graph that stands, what it chose is settled, and it
            is refused.
        values: what the function is called with, numbers or arrays: its leaves, which have the
            names of its arguments.
        leaves: those that can be moved, an array by each of its entries; by default all that
            require a gradient.
        direction: which way the data flows, in Graphviz's terms; by default from left to right,
            and downwards where there is no room for that.
        max_nodes: a larger graph is refused.

    Raises:
        TypeError: ``root`` is not a node, holds an array or requires no gradient; there are values
            for a node; or an operation that a page cannot follow: it is named, as where the entries
            take more than 2,000 operations.
        ValueError: the graph has more than ``max_nodes`` nodes, or the leaves more than 12 entries;
            one of the ``leaves`` is no leaf of it that requires a gradient; or a leaf was changed
            after the graph was computed.

    >>> x = Node(3.0, "x")
    >>> figure = nudge(x * x + 2.0 * x)
    >>> print(figure)
    <Figure: Graph of v4 = 15.0 with leaves to move: x = 3.0.>
    >>> from chaingrad import where
    >>> print(nudge(lambda a, b: where(a > b, a * a, b), 2.0, 1.0))
    <Figure: Graph of v3 = 4.0 with leaves to move: a = 2.0, b = 1.0.>
    >>> print(nudge(lambda w: (w @ w).exp(), [0.0, 1.0]))
    <Figure: Graph of v2 = 2.718 with leaves to move: w[0] = 0.0, w[1] = 1.0.>
    """
    program: Callable[..., PageProgram] = functools.partial(record, caller="nudge")
    if not isinstance(root, Node) and callable(root):
        root, program = follow(_called(root, values), "nudge")
    elif values:
        raise TypeError("nudge: values are for a function to be called with, as in nudge(f, 3.0)")
    graph = NumberGraph.read(root, "nudge", max_nodes, takes_arrays=True)
    movable = graph.leaves()
    for leaf in leaves:
        if not any(leaf is item.node for item in movable):
            raise ValueError(
                f"nudge: {leaf!r:.60} is not a leaf of the graph that requires a gradient"
            )
    movable = [graph.names.item(leaf) for leaf in leaves] or movable
    count = sum(np.size(item.node.data) for item in movable)
    if count > MOST_LEAVES:
        raise ValueError(
            f"nudge: the leaves hold {count:,} numbers, more than {MOST_LEAVES} sliders: name "
            "some of them in leaves=[…], or give the others requires_grad=False"
        )
    drag = _Drag(graph, movable, program)
    drag.check()
    controls = drag.controls()
    return moving(drag.alt(), drag.data(), "nudge", drag.static_html(direction), controls)


def _called(f: Callable[..., Node], values: Sequence[float]) -> Callable[[], Node]:
    """Return the function with its leaves filled in, named after its arguments."""
    try:
        inspect.signature(f).bind(*values)
    except TypeError as error:
        raise TypeError(f"nudge: the function cannot be called with {values}: {error}") from None
    names = itertools.chain(inspect.signature(f).parameters, itertools.repeat(None))
    return functools.partial(f, *map(Node, map(_number, values), names))


def _number(x: Any) -> Any:
    return np.asarray(x, float) if np.ndim(x) else float(x)


@dataclass(frozen=True)
class _MovableNumber:
    """A number that can be moved: a leaf, or an entry of one."""

    item: Item
    index: tuple[int, ...]

    @property
    def value(self) -> float:
        return float(np.asarray(self.item.node.data)[self.index])


class _Drag:
    """A graph with leaves to move, and the program that follows them."""

    def __init__(
        self,
        graph: NumberGraph,
        leaves: Sequence[Item],
        program: Callable[..., PageProgram],
    ) -> None:
        self.graph, self.names = graph, graph.names
        self.leaves = [
            _MovableNumber(item, i) for item in leaves for i in np.ndindex(item.node.shape)
        ]
        nodes = [item.node for item in graph.items]
        self.program = program(nodes, [item.node for item in leaves])
        ids = [item.id for item in graph.items]
        self.entries = dict(zip(ids, self.program.entries, strict=True))

    def check(self) -> None:
        """Check that the program gives the values of the graph."""
        values = self.program.run([leaf.value for leaf in self.leaves])
        for item in self.graph.items:
            data, grad = ([values[place] for place in places] for places in self.entries[item.id])
            _check(item, data, item.node.data)
            if item.node in self.graph.grads:
                _check(item, grad, self.graph.grads[item.node])

    def alt(self) -> str:
        start = f"{self.names.text(self.graph.top)} = {amount(self.graph.top.node.data)}"
        values = [f"{self._named(leaf)['text']} = {amount(leaf.value)}" for leaf in self.leaves]
        return truncate(f"Graph of {start} with leaves to move: {listed(values, 6)}.")

    def data(self) -> dict[str, Any]:
        """Return what the script reads."""
        program = self.program
        return {
            "program": {
                "constants": list(map(_json, program.constants)),
                "code": program.code,
                "forward": program.forward,
            },
            "leaves": list(map(self._leaf, self.leaves)),
            "shown": [
                list(places)
                for places in zip(self.entries, program.data, program.grads, strict=True)
                if None not in places
            ],
            "top": self._named(_MovableNumber(self.graph.top, ())) | {"at": program.data[-1]},
            "plot": PLOT,
            "steps": STEPS,
        }

    def _leaf(self, leaf: _MovableNumber) -> dict[str, Any]:
        reach = max(1.0, 1.5 * abs(leaf.value))  # to either side
        _, grads = self.entries[leaf.item.id]
        grad = grads[np.ravel_multi_index(leaf.index, leaf.item.node.shape) if leaf.index else 0]
        place = {"at": leaf.value, "reach": reach, "grad": grad}
        return {"id": leaf.item.id} | self._named(leaf) | place

    def _named(self, leaf: _MovableNumber) -> dict[str, str]:
        behind = index_text(leaf.index)
        return {name: getattr(self.names, name)(leaf.item) + behind for name in ("html", "text")}

    def static_html(self, direction: Direction | None) -> str:
        """Draw the graph, and write its gradients in words."""
        gradients = listed(
            self.graph.gradients_html((leaf.item, leaf.index) for leaf in self.leaves), 12
        )
        top = f"{self.names.top} = <b>{amount(self.graph.top.node.data)}</b>"
        return f"{self.graph.draw(direction, ROOM)}<p>{top} and the gradients {gradients}.</p>"

    def controls(self) -> str:
        """Write an empty plot, and a slider for each leaf."""
        sliders = "".join(
            f'<label class="cg-row"><span>{self._named(leaf)["html"]}</span>'
            f'<input type="range" min="{-STEPS}" max="{STEPS}"><output aria-hidden="true"></output>'
            "</label>"
            for leaf in self.leaves
        )
        return (
            f'<div class="cg-below">{_plot(html.escape(self.names.text(self.graph.top)))}'
            f'<div class="cg-controls">{sliders}<button type="button">Start again</button></div>'
            '</div><p class="cg-words"></p><p class="cg-said" aria-live="polite"></p>'
        )


def _plot(top: str) -> str:
    wide, high = PLOT
    ticks = ((0, high + 15, "start"), (wide, high + 15, "end"), (-5, high, "end"), (-5, 10, "end"),
             (wide / 2, high + 29, "middle"), (-12, high / 2, "end"))  # fmt: skip
    texts = [f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}">' for x, y, anchor in ticks]
    return (
        f'<svg class="cg-plot" viewBox="-66 -9 {wide + 80} {high + 42}" '
        f'role="img" aria-label="{top} against a leaf, with the tangent">'
        f'<path class="cg-axes" d="M0 0V{high}H{wide}"/>'
        f'<svg width="{wide}" height="{high}"><path class="cg-curve"/><path class="cg-tangent"/>'
        f'</svg><circle r="5.5"/>{"</text>".join(texts)}{top}</text></svg>'
    )


def _check(item: Item, got: Sequence[Any], known: Any) -> None:
    came = np.reshape(np.asarray(got, float), np.shape(known))
    if not is_close(came, known):
        raise ValueError(
            f"nudge: computed from the leaves, {item.name} is {size(came):.6g}, but the graph has "
            f"{size(known):.6g}: was a leaf changed after the graph was computed, or does a rule "
            "look at more than its operands?"
        )


def _json(x: float) -> float | str:
    """Return a number that JSON can hold, or else JavaScript's name for it."""
    if math.isfinite(x):
        return x
    return "NaN" if math.isnan(x) else "Infinity" if x > 0 else "-Infinity"
