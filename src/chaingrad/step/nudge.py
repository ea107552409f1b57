"""Drag a leaf: every value and every gradient of the graph follows."""

import html
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from chaingrad.backward import adjoints
from chaingrad.draw.boxes import Direction
from chaingrad.draw.items import Item
from chaingrad.draw.words import cut, listed
from chaingrad.node import Node
from chaingrad.step.figure import Figure, graphs, read_numbers
from chaingrad.step.names import Names, amount
from chaingrad.step.program import Program, record

MOST_NODES = 60
PLOT = (270, 186)  # its width and height, without what is written around it
STEPS = 100  # of a slider, to either side
ROOM = "−0.001234"  # the widest that a number gets


def nudge(
    root: Node,
    *,
    leaves: Sequence[Node] = (),
    reach: float | None = None,
    direction: Direction | None = None,
    max_nodes: int = MOST_NODES,
) -> Figure:
    """Show the graph of ``root`` with leaves to drag; values and gradients follow.

    Beside it stands ``root`` against the leaf that was moved last, with the tangent, whose slope is
    that leaf's gradient. The engine's rules are run once, forward and back, and written down as a
    program of primitive operations, which is what the page runs: there is no other derivative in
    it. Gradients in the nodes stay what they were.

    Args:
        root: a node that holds a number; so must all that it was computed from.
        leaves: those that can be moved; by default all that require a gradient.
        reach: how far a leaf can be moved to either side; by default one and a half times its
            value, and at least 1.
        direction: which way the data flows, in Graphviz's terms; by default from left to right,
            and downwards where there is no room for that.
        max_nodes: a larger graph is refused.

    Raises:
        TypeError: ``root`` is not a node or requires no gradient; the graph holds an array; or an
            operation that a page cannot follow: it is named.
        ValueError: the graph has more than ``max_nodes`` nodes; one of the ``leaves`` is no leaf of
            it that requires a gradient; ``reach`` is not positive and finite; or a leaf was changed
            after the graph was computed.

    >>> x = Node(3.0, "x")
    >>> figure = nudge(x * x + 2.0 * x)
    >>> print(figure)
    <Figure: Graph of v4 = 15.0 with leaves to move: x = 3.0.>
    """
    items = read_numbers(root, "nudge", max_nodes)
    names = Names(items)
    movable = [item.node for item in items if item.is_leaf and item.node.requires_grad]
    for leaf in leaves:
        if not any(leaf is known for known in movable):
            raise ValueError(
                f"nudge: {leaf!r:.60} is not a leaf of the graph that requires a gradient"
            )
    if reach is not None and not 0 < reach < math.inf:
        raise ValueError(f"nudge: reach must be positive and finite, and was {reach!r}")
    chosen = list(leaves or movable)
    nodes = [item.node for item in items]
    program = record(nodes, chosen, "nudge")
    found = adjoints(root, root.seed(), nodes)
    _check(program, chosen, items, found)
    places = {
        item.id: (data, grad if item.node in found else None)
        for item, data, grad in zip(items, program.data, program.grads, strict=True)
    }
    top = items[-1]

    def told(node: Any) -> dict[str, Any]:
        item = names.item(node)
        at = float(node.data)
        return {
            "id": item.id,
            "html": names.html(item),
            "text": names.text(item),
            "at": at,
            "reach": reach or max(1.0, 1.5 * abs(at)),
            "grad": places[item.id][1],
        }

    data = {
        "program": {"constants": list(map(_json, program.constants)), "code": program.code,
                    "forward": program.forward},
        "leaves": [told(leaf) for leaf in chosen],
        "shown": [[item.id, *places[item.id]] for item in items if item.node in found],
        "top": {"html": names.html(top), "text": names.text(top), "at": places[top.id][0]},
        "plot": PLOT,
        "steps": STEPS,
    }  # fmt: skip
    drawn = graphs(items, names, direction, found, ROOM)
    values = [f"{names.text(names.item(leaf))} = {amount(leaf.data)}" for leaf in chosen]
    start = f"{names.text(top)} = {amount(root.data)}"
    alt = cut(f"Graph of {start} with leaves to move: {listed(values, 6)}.")
    gradients = [
        f"{names.adjoint(names.item(leaf))} = {amount(found[leaf])}"
        for leaf in chosen
        if leaf in found
    ]
    controls = _controls([names.item(leaf) for leaf in chosen], names.text(top), names)
    words = f"{names.top} = <b>{amount(root.data)}</b> and the gradients {listed(gradients, 12)}."
    return Figure(alt, data, "nudge", f"{drawn}<p>{words}</p>", controls, ("program",))


def _controls(leaves: Sequence[Item], top: str, names: Names) -> str:
    """A plot to be filled, and a slider for each leaf."""
    wide, high = PLOT
    ticks = ((0, high + 15, "start"), (wide, high + 15, "end"), (-5, high, "end"), (-5, 10, "end"),
             (wide / 2, high + 29, "middle"), (-12, high / 2, "end"))  # fmt: skip
    texts = [f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}">' for x, y, anchor in ticks]
    sliders = "".join(
        f'<label class="cg-row"><span>{names.html(leaf)}</span>'
        f'<input type="range" min="{-STEPS}" max="{STEPS}"><output aria-hidden="true"></output>'
        "</label>"
        for leaf in leaves
    )
    return (
        f'<div class="cg-below"><svg class="cg-plot" viewBox="-66 -9 {wide + 80} {high + 42}" '
        f'role="img" aria-label="{html.escape(top)} against a leaf, with the tangent">'
        f'<path class="cg-axes" d="M0 0V{high}H{wide}"/>'
        f'<svg width="{wide}" height="{high}"><path class="cg-curve"/><path class="cg-tangent"/>'
        f'</svg><circle r="5.5"/>{"</text>".join(texts)}{html.escape(top)}</text></svg>'
        f'<div class="cg-controls">{sliders}<button type="button">Start again</button></div></div>'
        '<p class="cg-words"></p><p class="cg-said" aria-live="polite"></p>'
    )


def _check(
    program: Program, leaves: Sequence[Node], items: Sequence[Item], found: Mapping[Any, Any]
) -> None:
    """Hold the program to the numbers of the graph."""
    values = program.run([leaf.data for leaf in leaves])
    for item, data, grad in zip(items, program.data, program.grads, strict=True):
        pairs = [(values[data], item.node.data)]
        if grad is not None and item.node in found:
            pairs.append((values[grad], found[item.node]))
        for got, known in pairs:
            if not np.isclose(float(got), float(known), rtol=1e-5, atol=1e-12, equal_nan=True):
                raise ValueError(
                    f"nudge: from the leaves {item.name} comes to {float(got):.6g}, and the graph "
                    f"has {float(known):.6g}: was a leaf changed after the graph was computed, or "
                    "does a rule look at more than its operands?"
                )


def _json(x: float) -> float | str:
    """A number that JSON has, or what JavaScript calls it."""
    if math.isfinite(x):
        return x
    return "NaN" if math.isnan(x) else "Infinity" if x > 0 else "-Infinity"
