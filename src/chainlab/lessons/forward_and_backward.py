"""What *Forward and backward* shows: one example goes through its network, and gradients back."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from chaingrad import Node
from chainview import Drawing, draw_graph
from chainview.player.names import amount
from chainview.player.picture import Look, draw
from chainview.player.player import Player
from chainview.player.steps import BACKWARD, FORWARD, SlotChange, Step
from chainview.read.items import Item

WEIGHTS = ("W⁽¹⁾", "W⁽²⁾")
# In the order of the forward pass, what stands in the circle before each variable.
OPERATORS = {"z": "@", "h": "φ", "o": "@", "L": "l(o, y)", "s": "λ/2 ‖·‖²", "J": "add"}
OPERANDS = {  # of the page's six lines, in the order in which they are drawn
    "W⁽¹⁾": (), "x": (), "z": ("W⁽¹⁾", "x"), "h": ("z",), "W⁽²⁾": (), "o": ("W⁽²⁾", "h"), "y": (),
    "L": ("o", "y"), "s": ("W⁽¹⁾", "W⁽²⁾"), "J": ("L", "s"),
}  # fmt: skip
GAP = 22.0  # pixels between two ranks
LOOKS = {  # of the entries: a value, one that is being read, a gradient
    "data": "", "hot": "font-weight:700;text-decoration:underline", "grad": "fill:var(--g)",
}  # fmt: skip


def record(W1: Any, W2: Any, x: Any, y: Any, lam: float) -> tuple[Node, list[Node]]:
    """Run the six lines of the forward pass on nodes that bear their names.

    Args:
        W1, W2: weights, of shapes (h, d) and (q, h).
        x, y: the example and its target, of shapes (d,) and (q,).
        lam: the strength of weight decay.

    Returns:
        The node of J, and those of the two weight matrices.
    """
    V1, V2 = weights = [Node(W, name) for W, name in zip((W1, W2), WEIGHTS, strict=True)]
    z = V1 @ Node(x, "x", requires_grad=False)
    h = z.relu()
    o = V2 @ h
    L = (o - Node(y, "y", requires_grad=False)).squared_norm() / 2
    s = lam / 2 * (V1.squared_norm() + V2.squared_norm())
    J = L + s
    for node, name in zip((z, h, o, L, s, J), OPERATORS, strict=True):
        node.label = name
    return J, weights


def at(values: Mapping[str, Any], name: str, weight: float = 1.0) -> Callable[[Any], Any]:
    """Return J as a function of one variable of the network, wherever it is.

    What the forward pass computes before the variable is left alone, and what it computes from the
    variable is computed again.

    Args:
        values: x, y, lam, W1 and W2, and the variable itself.
        name: W1, W2, z, h, o, L or s.
        weight: what L counts in J.
    """

    def objective(given: Any) -> Any:
        v = {**values, name: given}
        z = given if name == "z" else v["W1"] @ v["x"]
        h = given if name == "h" else np.maximum(z, 0)
        o = given if name == "o" else v["W2"] @ h
        L = given if name == "L" else np.sum((o - v["y"]) ** 2) / 2
        squares = np.sum(v["W1"] ** 2) + np.sum(v["W2"] ** 2)
        return weight * L + (given if name == "s" else v["lam"] / 2 * squares)

    return objective


# --- what the page shows ------------------------------------------------------------------------

W1 = np.array([[0.5, 0.0], [0.2, 0.8], [-0.6, 0.1]])
W2 = np.array([[0.8, -0.4, 0.5], [0.2, 0.5, -0.3]])
X, Y, LAMBDA = np.array([1.5, 1.0]), np.array([1.0, 0.0]), 0.1

Reads = Sequence[tuple[str, int, int]]  # a variable's name, a row, a column
FIRST_ROW = {"z": [("W⁽¹⁾", 0, j) for j in range(2)], "o": [("W⁽²⁾", 0, j) for j in range(3)]}
FIRST_COLUMN = [("W⁽²⁾", i, 0) for i in range(2)]
GIVEN = "One example x, its target y, and two matrices of weights"
COMPUTED = {
    "z": "<b>z</b> = W⁽¹⁾ x. Unit 1 reads <b>across</b> row 1 of W⁽¹⁾: 0.5 · 1.5 + 0 · 1 = 0.75",
    "h": "<b>h</b> = max(0, z), entry by entry. Unit 3 has −0.8, so it's off and answers 0",
    "o": "<b>o</b> = W⁽²⁾ h. Output 1 reads <b>across</b> row 1 of W⁽²⁾: "
    "0.8 · 0.75 − 0.4 · 1.1 + 0.5 · 0 = 0.16",
    "L": "<b>L</b>, the loss, is half the squared distance of o from y: "
    "0.5 · (−0.84)² + 0.5 · 0.7² = 0.5978",
    "s": "<b>s</b>, the penalty on large weights, is 0.05 times the sum of their squares: "
    "0.05 · 2.73 = 0.1365",
    "J": "<b>J</b> = L + s is the number that training makes smaller: 0.5978 + 0.1365 = 0.7343",
}
ASKED = "Now backward: how much does J change for a small change of each number? ∂J/∂J = 1"
# From which variable to which, what is said, with local gradients between «», and what is read.
SENT: Sequence[tuple[str, str, str, Reads]] = [
    ("J", "L", "J is the sum of L and s, so ∂J/∂L = ∂J/∂s = «1»", ()),
    ("s", "W⁽²⁾", "∂J/∂W⁽²⁾ = «0.1 W⁽²⁾», so far: that's what the penalty asks for", ()),
    ("s", "W⁽¹⁾", "∂J/∂W⁽¹⁾ = «0.1 W⁽¹⁾», so far: that's what the penalty asks for", ()),
    ("L", "o", "∂J/∂o = «o − y»: output 1 is 0.84 too small, output 2 is 0.7 too large", ()),
    ("o", "W⁽²⁾", "∂J/∂W⁽²⁾ += ∂J/∂o «h»ᵀ, each error times each entry of h. "
     "Top left: 0.08 − 0.84 · 0.75 = −0.55", ()),
    ("o", "h", "∂J/∂h = «W⁽²⁾»ᵀ ∂J/∂o. Unit 1 reads <b>down</b> column 1 of W⁽²⁾: "
     "0.8 · (−0.84) + 0.2 · 0.7 = −0.532", FIRST_COLUMN),
    ("h", "z", "∂J/∂z = ∂J/∂h ⊙ «[z &gt; 0]»: unit 3 was off, so its −0.63 ends here", ()),
    ("z", "W⁽¹⁾", "∂J/∂W⁽¹⁾ += ∂J/∂z «x»ᵀ. Row 3, of the unit that was off, keeps what the penalty "
     "asked for", ()),
]  # fmt: skip
DONE = "Done: ∂J/∂W⁽¹⁾ and ∂J/∂W⁽²⁾ say how to change each weight of both layers"


def draw_network() -> Drawing:
    """Draw the page's network with a square for each variable and a circle for each operator."""
    nodes = _nodes()
    drawn: dict[str, Any] = {}
    for name, operands in OPERANDS.items():
        drawn[name] = SimpleNamespace(
            data=nodes[name].data, grad=0.0, requires_grad=nodes[name].requires_grad, label=name,
            op=OPERATORS.get(name, ""), parents=tuple(drawn[operand] for operand in operands),
        )  # fmt: skip
    drawing = draw_graph(drawn["J"], style="shapes", parameters=[drawn[name] for name in WEIGHTS])
    return replace(drawing, source=re.sub('ranksep="[^"]*"', 'ranksep="0.2"', drawing.source))


def _nodes() -> dict[str, Node]:
    """Return the variables of the page's network by name, after both passes."""
    root, _ = record(W1, W2, X, Y, LAMBDA)
    root.backward()
    return {node.label: node for node in root.sorted_graph() if node.label}


def passes() -> Player:
    """Play both passes of the page's network, with every entry of every array."""
    nodes = _nodes()
    data = {name: np.atleast_2d(nodes[name].data) for name in OPERANDS}
    grads = {name: np.atleast_2d(nodes[name].grad) for name in OPERANDS if name not in "xy"}
    steps = list(_standing_out([*_forward(data), *_backward(data, grads)], data))
    start: list[SlotChange] = [(name, "state", "todo") for name in OPERATORS]
    for kind, arrays in (("data", data), ("hot", data), ("grad", grads)):
        for name, array in arrays.items():
            start += [(name, slot, "") for _, slot, _ in _put(name, kind, array)]
    frames = [("Forward pass", len(OPERATORS)), ("Both passes", len(steps) - 1)]
    alt = f"Forward to J = {amount(nodes['J'].data)}, and back to both weights: {len(steps)} steps."
    return Player(alt, steps, lambda: _pictures(data, grads, alt), start, frames)


def _put(name: str, kind: str, array: Any) -> list[SlotChange]:
    """Write the entries of an array into the slots of a box, 0.75 and −0.8."""
    texts = {i: f"{x + 0.0:.4g}".replace("-", "−") for i, x in np.ndenumerate(np.atleast_2d(array))}
    return [(name, f"{kind}{row}{column}", text) for (row, column), text in texts.items()]


def _forward(data: Mapping[str, Any]) -> Iterator[tuple[Step, Reads]]:
    given = tuple(name for name, operands in OPERANDS.items() if not operands)
    changes = tuple(change for name in given for change in _put(name, "data", data[name]))
    yield Step(FORWARD, GIVEN, given, changes=changes), ()
    for name, words in COMPUTED.items():
        changes = (*_put(name, "data", data[name]), (name, "state", ""))
        step = Step(FORWARD, words, (*OPERANDS[name], name), changes=changes)
        yield step, FIRST_ROW.get(name, ())


def _backward(data: Mapping[str, Any], grads: Mapping[str, Any]) -> Iterator[tuple[Step, Reads]]:
    yield Step(BACKWARD, _marked(ASKED), ("J",), changes=tuple(_put("J", "grad", 1.0))), ()
    for child, parent, words, reads in SENT:
        changes = _put(parent, "grad", LAMBDA * data[parent] if child == "s" else grads[parent])
        if child == "J":
            changes += _put("s", "grad", grads["s"])
        nodes = dict.fromkeys((parent, child, *(name for name, *_ in reads)))
        edge = (parent, child, 0, "", "", ("", ""))
        yield Step(BACKWARD, _marked(words), tuple(nodes), edge, tuple(changes)), reads
    yield Step(BACKWARD, _marked(DONE), WEIGHTS), ()


def _marked(words: str) -> str:
    """Give gradients and local gradients their colours."""
    words = re.sub(r"∂J/∂(W⁽.⁾|\w)", r'<span class="g">\g<0></span>', words)
    return re.sub("«(.*?)»", r'<span class="l">\1</span>', words)


def _standing_out(told: Sequence[tuple[Step, Reads]], data: Mapping[str, Any]) -> Iterator[Step]:
    """Let the entries that a step reads stand out, until the next."""
    before: Reads = ()
    for step, reads in told:
        changes = [*step.changes]
        for kind, other, entries in (("data", "hot", before), ("hot", "data", reads)):
            for name, i, j in entries:
                [(*_, text)] = _put(name, kind, data[name][i, j])
                changes += [(name, f"{kind}{i}{j}", text), (name, f"{other}{i}{j}", "")]
        yield replace(step, changes=tuple(changes))
        before = reads


def _pictures(data: Mapping[str, Any], grads: Mapping[str, Any], alt: str) -> list[ET.Element]:
    """Draw a box for each variable, with its value and its gradient, from the left and down."""
    looks, columns = [], {}
    for name, operands in OPERANDS.items():
        kind = "operation" if operands else "parameter" if name in WEIGHTS else "input"
        arrays = (("data", "hot"), data[name]), (("grad",), grads.get(name, np.empty((0, 0))))
        slots = [
            tuple(f"{kind}{i}{j}" for kind in kinds for j in range(array.shape[1]))
            for kinds, array in arrays
            for i in range(len(array))
        ]
        given = [*_put(name, "", data[name]), *_put(name, "", grads.get(name, 0.0))]
        columns[name] = 6.2 * max(len(text) for *_, text in given) + 6
        width = "0" * round(columns[name] * data[name].shape[1] / 7.44)
        item = Item(name, name, "", kind, operands)
        looks.append(Look(item, name, "", tuple(slots), (width,), item.color))
    pictures = [draw(looks, way, GAP, alt) for way in ("LR", "TB")]
    for group in (group for picture in pictures for group in picture.iter("g")):
        for text in group.findall("text[@data-slot]") if group.get("data-node") else ():
            kind, column = text.attrib["data-slot"][:-2], text.attrib["data-slot"][-1]
            if kind in LOOKS:
                to_right = columns[group.attrib["data-node"]] * (int(column) + 1) - 3
                text.set("x", f"{float(text.attrib['x']) + to_right:.1f}")
                text.set("text-anchor", "end")
                text.set("style", LOOKS[kind])
    return pictures
