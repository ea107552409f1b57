"""The network with one hidden layer and weight decay, forward and back, on small numbers.

The engine computes it number by number; here its numbers are put into arrays again, and asked.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from chainlab.drills.formulas import BAR
from chainlab.drills.looks import look, room
from chainlab.drills.mistakes import Slip
from chainlab.drills.recording import Recording, total
from chainlab.drills.tasks import Box, Words
from chainview.player.picture import Look
from chainview.read.items import Item

Array = np.ndarray[Any, Any]  # of recorded numbers
Wrong = tuple[str, Array, str]  # a mistake: its name, what it gives, what is said of it

SIZES = (  # inputs, hidden units, outputs; whether weights decay
    ((1, 2, 1, False), (2, 2, 1, False), (1, 3, 1, False)),
    ((2, 2, 1, True), (1, 2, 2, True), (1, 3, 1, True)),
    ((2, 2, 2, True), (2, 3, 1, True)),
)
NAMES, DECAY = "xWzhVoyL", "λsJ"  # of all arrays, and where weights decay of these, too
SHAPES = {"x": "d", "W": "hd", "z": "h", "h": "h", "V": "qh", "o": "q", "y": "q"}
MADE_OF = {"z": "Wx", "h": "z", "o": "Vh", "L": "oy", "s": "λWV", "J": "Ls"}
FORMULAS = {
    "z": "W x", "h": "max(z, 0)", "o": "V h", "L": "½ ‖o − y‖²", "s": "½ λ (‖W‖² + ‖V‖²)",
    "J": "L + s", "o" + BAR: "o − y", "V" + BAR: f"o{BAR} hᵀ + λ V", "h" + BAR: f"Vᵀ o{BAR}",
    "z" + BAR: f"h{BAR} ⊙ [z > 0]", "W" + BAR: f"z{BAR} xᵀ + λ W",
}  # fmt: skip
PARTS = {
    **dict.fromkeys(["z", "h"], "Forward, hidden layer"),
    **dict.fromkeys(["o", "L", "s", "J"], "Forward, output"),
    **dict.fromkeys(["o" + BAR, "V" + BAR], "Backward, output"),
    **dict.fromkeys(["h" + BAR, "z" + BAR, "W" + BAR], "Backward, hidden layer"),
}
ENTRY = "0000000"  # as wide as a place for a number


def forms(level: int) -> Sequence[str]:
    """Return the networks of a level, number by number."""
    return [_lines(*sizes) for sizes in SIZES[level - 1]]


def _lines(d: int, h: int, q: int, decays: bool) -> str:
    def row(name: str, i: int, by: str, count: int) -> str:
        return " + ".join(f"{name}{i}{j} * {by}{j}" for j in range(1, count + 1))

    units, outputs = range(1, h + 1), range(1, q + 1)
    lines = [f"z{i} = {row('w', i, 'x', d)}" for i in units]
    lines += [f"h{i} = relu(z{i})" for i in units]
    lines += [f"o{i} = {row('v', i, 'h', h)}" for i in outputs]
    lines += [f"L = ({' + '.join(f'(o{i} - y{i}) ** 2' for i in outputs)}) / 2"]
    weights = [f"w{i}{j}" for i in units for j in range(1, d + 1)]
    weights += [f"v{i}{j}" for i in outputs for j in units]
    given = [f"x{j}: -2 -1 1 2 3" for j in range(1, d + 1)]
    given += [f"y{i}: -2 -1 0 1 2" for i in outputs]
    given += [f"{weight}: -3 -2 -1 1 2 3" for weight in weights]
    if decays:
        lines += [
            f"s = lam * ({' + '.join(f'{weight} ** 2' for weight in weights)}) / 2",
            "J = L + s",
        ]
        given += ["lam: 1 2 3"]
    return " | ".join(["; ".join(lines), *given])


class Variable(NamedTuple):
    """An array of the network.

    Attributes:
        item: its node in the drawing.
        labels: what its numbers are called in the engine's graph; a single one is a row.
    """

    item: Item
    labels: Array

    @property
    def columns(self) -> int:
        return int(self.labels.shape[1]) if self.labels.ndim == 2 else 1


class Net:
    """The arrays of a recorded network, their values, their adjoints, and what is asked of them.

    Attributes:
        asked: the names of what is asked, forward, and then back, with a bar.
    """

    def __init__(self, rec: Recording) -> None:
        self.rec = rec
        self.items = {item.label: item for item in rec.items if item.label}
        size = {
            letter: sum(label[0] == name and len(label) == 2 for label in self.items)
            for letter, name in ("dx", "hh", "qo")
        }
        self.decays = "s" in self.items
        names = NAMES + DECAY * self.decays
        self.variables = {}
        for i, name in enumerate(names):
            kind = "operation" if name in MADE_OF else "parameter" if name in "WV" else "input"
            operands = tuple(f"n{names.index(x)}" for x in MADE_OF.get(name, ""))
            labels = _labels(name, [size[letter] for letter in SHAPES.get(name, "")])
            self.variables[name] = Variable(Item(f"n{i}", name, "", kind, operands), labels)
        back = [name + BAR for name in "oVhzW"]
        self.asked = ["z", "h", "o", "L", *["s", "J"] * self.decays, *back]

    def variable(self, called: str) -> Variable:
        return self.variables[called.removesuffix(BAR)]

    def __getitem__(self, called: str) -> Array:
        """Return the numbers of a variable; with a bar, the numbers of its adjoint."""
        labels = self.variable(called).labels
        of = self.rec.adjoint if called.endswith(BAR) else self.rec.value
        return _boxed([of(self.items[label]) for label in labels.flat]).reshape(labels.shape)

    def formula(self, called: str) -> str:
        """Return the formula of a variable: z = W x."""
        found = FORMULAS[called]
        return f"{called} = {found if self.decays else found.partition(' + λ')[0]}"


def _labels(name: str, shape: Sequence[int]) -> Array:
    """Return the names of the entries: w11, w12, … of W; x1, x2, … of x."""
    if not shape:
        return np.array([{"λ": "lam"}.get(name, name)], object)
    places = ("".join(str(i + 1) for i in index) for index in np.ndindex(*shape))
    return _boxed([name.lower() + place for place in places]).reshape(shape)


def _slot(called: str) -> str:
    return "grad" if called.endswith(BAR) else "data"


# --- what is asked -------------------------------------------------------------------------------


def boxes(rec: Recording) -> list[Box]:
    """Return a number box for each computed entry, forward and then backward."""
    net, found = Net(rec), list[Box]()
    for called in net.asked:
        variable, right = net.variable(called), net[called]
        wrong, formula = list(_wrong(net, called)), net.formula(called)
        what = "adjoint of " * called.endswith(BAR) + variable.item.label
        for index, label in np.ndenumerate(variable.labels):
            places = label[1:]
            which = f", entry {', '.join(places)}" if places else ""
            found.append(
                Box(
                    variable.item,
                    f"{_slot(called)}{index[0]}",
                    f"{called}<sub>{places}</sub>" if places else called,
                    f"{what}{which}. {formula}",
                    right[index],
                    formula,
                    tuple(_slips(wrong, index)),
                    label,
                    (index[1] if len(index) == 2 else 0, variable.columns),
                    PARTS[called],
                )
            )
    return found


def _slips(wrong: Sequence[Wrong], index: tuple[int, ...]) -> Iterator[Slip]:
    for name, made, says in wrong:
        if made.ndim == len(index) and all(i < n for i, n in zip(index, made.shape, strict=True)):
            yield Slip(name, made[index], says)


def _wrong(net: Net, name: str) -> Iterator[Wrong]:
    """Yield what people compute by mistake."""
    yield from WRONG[name](net)
    if not name.endswith(BAR):
        return
    yield "value", net[name.removesuffix(BAR)], "that is the value, and not the adjoint"


def _z(net: Net) -> Iterator[Wrong]:
    W, x = net["W"], net["x"]
    if W.shape[0] == W.shape[1]:
        yield "transposed", W.T @ x, "that takes a column of W: the product is row by row"
    if len(x) > 1:
        says = "a product is missing: a unit adds one up for each input"
        yield "term", W[:, 0] * x[:1], says
        yield "term", W[:, 1] * x[1:2], says
    yield "added", W[:, 0] + x[:1], "a weight multiplies its input"


def _h(net: Net) -> Iterator[Wrong]:
    yield "linear", net["z"], "where z is negative, ReLU gives 0"
    yield "linear", -net["z"], "ReLU leaves a positive z, and makes a negative one 0"
    yield "slope", net["h"] * 0.0 + 1.0, "1 is the slope of ReLU, and not its value"


def _o(net: Net) -> Iterator[Wrong]:
    V, h = net["V"], net["h"]
    yield "before", V @ net["z"], "that is V z: the output is made of h, after the activation"
    if V.shape[0] == V.shape[1]:
        yield "transposed", V.T @ h, "that takes a column of V: the product is row by row"
    says = "a product is missing: an output adds one up for each unit"
    for j in range(len(h)):
        yield "term", V[:, j] * h[j : j + 1], says


def _loss(net: Net) -> Iterator[Wrong]:
    apart = net["o"] - net["y"]
    yield "half", _sum(apart * apart), "the half is missing"
    yield "unsquared", _sum(apart) * 0.5, "the differences are squared"
    yield "unsquared", _sum(apart), "the differences are squared, and halved"


def _penalty(net: Net) -> Iterator[Wrong]:
    lam, W, V = net["λ"], net["W"], net["V"]
    first, second = _sum(W * W), _sum(V * V)
    yield "half", lam * (first + second), "the half is missing"
    yield "unsquared", lam * (_sum(W) + _sum(V)) * 0.5, "the weights are squared"
    yield "matrix", lam * first * 0.5, "V is penalized, too"
    yield "matrix", lam * second * 0.5, "W is penalized, too"
    yield "decay", (first + second) * 0.5, "λ is missing"


def _objective(net: Net) -> Iterator[Wrong]:
    yield "decay", net["L"], "that is L alone: the penalty belongs to the objective"
    yield "sign", net["L"] - net["s"], "the penalty is added"


def _of_o(net: Net) -> Iterator[Wrong]:
    o, y = net["o"], net["y"]
    yield "sign", y - o, "the sign: L grows with o where o is above y"
    yield "half", (o - y) * 2.0, "the half before the square takes the 2 away"
    yield "unchanged", o * 0.0 + 1.0, "only a sum passes on unchanged what it receives"


def _sum(x: Array) -> Array:
    return _boxed([total(x.flat)])


def _boxed(numbers: Sequence[Any]) -> Array:
    return np.fromiter(numbers, object)


def _weights(
    net: Net, left: Array, right: Array, name: str, instead: tuple[str, Array, Array, str]
) -> Iterator[Wrong]:
    """Yield the mistakes in ``left rightᵀ``, and in the share of the penalty."""
    weight, share = net[name], np.multiply.outer(left, right)
    decay = net["λ"] * weight if net.decays else weight * 0.0
    adjoint = net.variables[name].item.label
    if weight.shape[0] == weight.shape[1]:
        says = "that is the transpose: the row is that of the unit that receives"
        yield "transposed", share.T + decay, says
    yield instead[0], np.multiply.outer(*instead[1:3]) + decay, instead[3]
    says = "that has the local gradient alone: it is multiplied by the adjoint above"
    yield "local", np.multiply.outer(left * 0.0 + 1.0, right) + decay, says
    yield "sign", decay - share if net.decays else -share, "the sign of the share of the loss"
    if net.decays:
        yield "decay", share, f"the penalty's share is missing: {adjoint} has two children"
        yield "loss", decay, f"that is the penalty's share alone: {adjoint} has two children"
        yield "half", share + decay * 0.5, "the 2 of the square takes the half of the penalty away"
        yield "doubled", share + decay + decay, "the half before the square takes the 2 away"


def _of_V(net: Net) -> Iterator[Wrong]:  # noqa: N802
    o, z = net["o" + BAR], net["z"]
    before = ("before", o, z, "that has z: V multiplied h, after the activation")
    yield from _weights(net, o, net["h"], "V", before)


def _of_h(net: Net) -> Iterator[Wrong]:
    V, o = net["V"], net["o" + BAR]
    if V.shape[0] == V.shape[1]:
        yield "untransposed", V @ o, "that is V ō: it is to be a column of V with ō"
    if len(o) > 1:
        says = "a path is missing: a unit reaches every output"
        for i in range(len(o)):
            yield "forgotten", V[i] * o[i : i + 1], says
    yield "unchanged", V[0] * 0.0 + o[:1], "along an edge one multiplies by the weight"
    yield "local", V.sum(axis=0), "that is the local gradient alone, without ō"
    yield "sign", -(V.T @ o), "the sign"


def _of_z(net: Net) -> Iterator[Wrong]:
    h = net["h" + BAR]
    yield "inactive", h, "the unit is inactive: z is not above 0, so nothing passes"
    yield "operand", h * net["z"], "that has z itself: the slope of ReLU is 1 or 0"
    yield "zero", h * 0.0, "the unit is active: all of it passes"
    yield "slope", (net["h"] * 0.0) + 1.0, "that is the slope alone, without h̄"


def _of_W(net: Net) -> Iterator[Wrong]:  # noqa: N802
    z, h, x = net["z" + BAR], net["h" + BAR], net["x"]
    before = ("inactive", h, x, "that passes through a unit that is inactive")
    yield from _weights(net, z, x, "W", before)
    if net.decays:
        says = "an inactive unit receives nothing from the loss, and its weights decay all the same"
        yield "zero", net["W"] * 0.0, says


WRONG: dict[str, Callable[[Net], Iterator[Wrong]]] = {
    "z": _z, "h": _h, "o": _o, "L": _loss, "s": _penalty, "J": _objective,
    "o" + BAR: _of_o, "V" + BAR: _of_V, "h" + BAR: _of_h, "z" + BAR: _of_z, "W" + BAR: _of_W,
}  # fmt: skip


# --- how it is drawn, and played ------------------------------------------------------------------


def given(rec: Recording) -> list[list[str]]:
    """Return the text in the drawing: the rows of the leaves."""
    net = Net(rec)
    return [
        list(row) for name in net.variables if name not in net.asked for row in _rows(net, name)
    ]


def _rows(net: Net, called: str) -> list[tuple[str, str, str]]:
    """Return the rows of an array, and their places in the drawing."""
    id, slot, numbers = net.variable(called).item.id, _slot(called), net[called]
    rows = numbers.reshape(len(numbers), -1)
    return [
        (id, f"{slot}{i}", f"{slot} {', '.join(map(net.rec.tell, row))}")
        for i, row in enumerate(rows)
    ]


def steps(rec: Recording) -> Iterator[Words]:
    """Yield one step for each variable, forward and backward."""
    net = Net(rec)
    for called in net.asked:
        changes = tuple(_rows(net, called))
        numbers = "; ".join(text.partition(" ")[2] for *_, text in changes)
        words = f"{net.formula(called)} = <b>({numbers})</b>"
        phase = "Backward" if called.endswith(BAR) else "Forward"
        yield phase, words, (net.variable(called).item.id,), None, changes


def looks(text: str) -> list[Look]:
    """Return the nodes of the drawing, with room for the numbers to fill in."""
    net = Net(Recording(text))
    found = []
    for name, variable in net.variables.items():
        slots = {
            x: [f"{_slot(x)}{i}" for i in range(len(variable.labels))] for x in (name, name + BAR)
        }
        asked = [slot for called in slots if called in net.asked for slot in slots[called]]
        shown = slots[name] if name not in net.asked else []
        widest = ENTRY * variable.columns, "data " + ", ".join(["−00"] * variable.columns)
        found.append(look(variable.item, name, "", room(shown, asked), *widest))
    return found
