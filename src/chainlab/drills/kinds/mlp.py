"""The network with one hidden layer and weight decay, forward and back, on small numbers.

The engine computes it number by number; here its numbers are put into arrays again, and asked.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from chainlab.drills.draw import fit
from chainlab.drills.draw.box import Box, Place
from chainlab.drills.draw.looks import look, room
from chainlab.drills.draw.recording import Recording, graph_of
from chainlab.drills.draw.small_numbers import exact
from chainlab.drills.draw.tile_sums import BAR
from chainlab.drills.kinds import graph_kind
from chainlab.drills.kinds.box_kind import BoxKind
from chainlab.drills.kinds.kind import NUMBERS, Step, Written
from chainlab.mistakes import Mistake
from chainview.player.picture import Look
from chainview.read.items import Item

Array = np.ndarray[Any, Any]
Wrong = Mistake[Array]

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
DECAYS = (
    ", <i>s</i>&nbsp;=&nbsp;½&nbsp;λ&nbsp;(‖<i>W</i>‖²&nbsp;+&nbsp;‖<i>V</i>‖²), "
    "<i>J&nbsp;=&nbsp;L&nbsp;+&nbsp;s</i>"
)
PARTS = {
    **dict.fromkeys(["z", "h"], "Forward, hidden layer"),
    **dict.fromkeys(["o", "L", "s", "J"], "Forward, output"),
    **dict.fromkeys(["o" + BAR, "V" + BAR], "Backward, output"),
    **dict.fromkeys(["h" + BAR, "z" + BAR, "W" + BAR], "Backward, hidden layer"),
}
ENTRY = "0000000"  # as wide as a place for a number


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


class Network:
    """The arrays of a network, and what is asked of them, whatever its numbers are.

    Attributes:
        variables: the arrays, by name.
        asked: the names of what is asked, forward, and then back, with a bar.
    """

    def __init__(self, text: str) -> None:
        self.graph = graph_of(text)
        self.items = {item.label: item for item in self.graph.items if item.label}
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
        self.places = list(self._places())

    def variable(self, called: str) -> Variable:
        return self.variables[called.removesuffix(BAR)]

    def formula(self, called: str) -> str:
        """Return the formula of a variable: z = W x."""
        right_side = FORMULAS[called]
        return f"{called} = {right_side if self.decays else right_side.partition(' + λ')[0]}"

    def _places(self) -> Iterator[tuple[str, tuple[int, ...], Place]]:
        """Yield a place for each computed entry, forward and then backward."""
        for called in self.asked:
            variable, formula = self.variable(called), self.formula(called)
            what = "adjoint of " * called.endswith(BAR) + variable.item.label
            for index, label in np.ndenumerate(variable.labels):
                places = label[1:]
                which = f", entry {', '.join(places)}" if places else ""
                place = Place(
                    variable.item,
                    f"{_slot(called)}{index[0]}",
                    f"{called}<sub>{places}</sub>" if places else called,
                    f"{what}{which}. {formula}",
                    formula,
                    label,
                    (index[1] if len(index) == 2 else 0, variable.columns),
                    PARTS[called],
                )
                yield called, index, place


network = functools.cache(Network)


class Net:
    """The arrays of a network with numbers: their values, and their adjoints."""

    def __init__(self, of: Network, rec: Recording) -> None:
        self.of, self.rec, self.decays = of, rec, of.decays
        self._known: dict[str, Array] = {}

    def __getitem__(self, called: str) -> Array:
        """Return the numbers of a variable; with a bar, the numbers of its adjoint."""
        if called not in self._known:
            labels = self.of.variable(called).labels
            number = self.rec.adjoint if called.endswith(BAR) else self.rec.value
            numbers = [number(self.of.items[label]) for label in labels.flat]
            self._known[called] = np.array(numbers).reshape(labels.shape)
        return self._known[called]

    @functools.cache  # noqa: B019
    def wrong(self, called: str) -> list[Wrong]:
        """Return what people compute by mistake instead of a variable."""
        return list(_wrong(self, called))


def _labels(name: str, shape: Sequence[int]) -> Array:
    """Return the names of the entries: w11, w12, … of W; x1, x2, … of x."""
    if not shape:
        return np.array([{"λ": "lam"}.get(name, name)], object)
    places = ("".join(str(i + 1) for i in index) for index in np.ndindex(*shape))
    return np.array([name.lower() + place for place in places], object).reshape(shape)


def _slot(called: str) -> str:
    return "grad" if called.endswith(BAR) else "data"


# --- what is asked -------------------------------------------------------------------------------


def _mistakes(net: Net, called: str, index: tuple[int, ...]) -> Iterator[Mistake[float]]:
    for name, made, says, _ in net.wrong(called):
        if made.ndim == len(index) and all(i < n for i, n in zip(index, made.shape, strict=True)):
            yield Mistake(name, float(made[index]), says)


def _wrong(net: Net, name: str) -> Iterator[Wrong]:
    """Yield what people compute by mistake."""
    yield from WRONG[name](net)
    if not name.endswith(BAR):
        return
    yield Mistake("value", net[name.removesuffix(BAR)], "that is the value, and not the adjoint")


def _z(net: Net) -> Iterator[Wrong]:
    W, x = net["W"], net["x"]
    if W.shape[0] == W.shape[1]:
        yield Mistake("transposed", W.T @ x, "that takes a column of W: the product is row by row")
    if len(x) > 1:
        says = "a product is missing: a unit adds one up for each input"
        yield Mistake("term", W[:, 0] * x[:1], says)
        yield Mistake("term", W[:, 1] * x[1:2], says)
    yield Mistake("added", W[:, 0] + x[:1], "a weight multiplies its input")


def _h(net: Net) -> Iterator[Wrong]:
    yield Mistake("linear", net["z"], "where z is negative, ReLU gives 0")
    yield Mistake("linear", -net["z"], "ReLU leaves a positive z, and makes a negative one 0")
    yield Mistake("slope", net["h"] * 0.0 + 1.0, "1 is the slope of ReLU, and not its value")


def _o(net: Net) -> Iterator[Wrong]:
    V, h = net["V"], net["h"]
    says = "that is V z: the output is made of h, after the activation"
    yield Mistake("before", V @ net["z"], says)
    if V.shape[0] == V.shape[1]:
        yield Mistake("transposed", V.T @ h, "that takes a column of V: the product is row by row")
    says = "a product is missing: an output adds one up for each unit"
    for j in range(len(h)):
        yield Mistake("term", V[:, j] * h[j : j + 1], says)


def _loss(net: Net) -> Iterator[Wrong]:
    apart = net["o"] - net["y"]
    yield Mistake("half", _sum(apart * apart), "the half is missing")
    yield Mistake("unsquared", _sum(apart) * 0.5, "the differences are squared")
    yield Mistake("unsquared", _sum(apart), "the differences are squared, and halved")


def _penalty(net: Net) -> Iterator[Wrong]:
    lam, W, V = net["λ"], net["W"], net["V"]
    first, second = _sum(W * W), _sum(V * V)
    yield Mistake("half", lam * (first + second), "the half is missing")
    yield Mistake("unsquared", lam * (_sum(W) + _sum(V)) * 0.5, "the weights are squared")
    norms = np.sqrt(first) + np.sqrt(second)
    yield Mistake("unsquared", lam * norms * 0.5, "the norms are squared")
    yield Mistake("matrix", lam * first * 0.5, "V is penalized, too")
    yield Mistake("matrix", lam * second * 0.5, "W is penalized, too")
    yield Mistake("decay", (first + second) * 0.5, "λ is missing")


def _objective(net: Net) -> Iterator[Wrong]:
    yield Mistake("decay", net["L"], "that is L alone: the penalty belongs to the objective")
    yield Mistake("sign", net["L"] - net["s"], "the penalty is added")


def _of_o(net: Net) -> Iterator[Wrong]:
    o, y = net["o"], net["y"]
    yield Mistake("sign", y - o, "the sign: L grows with o where o is above y")
    yield Mistake("half", (o - y) * 2.0, "the half before the square takes the 2 away")
    yield Mistake("half", (o - y) * 0.5, "the 2 of the square takes the half before it away")
    yield Mistake("unchanged", o * 0.0 + 1.0, "only a sum passes on unchanged what it receives")


def _sum(x: Array) -> Array:
    return np.array([x.sum()])


def _weights(
    net: Net, left: Array, right: Array, name: str, instead: tuple[str, Array, Array, str]
) -> Iterator[Wrong]:
    """Yield the mistakes in ``left rightᵀ``, and in the share of the penalty."""
    weight, share = net[name], np.multiply.outer(left, right)
    decay = net["λ"] * weight if net.decays else weight * 0.0
    adjoint = net.of.variables[name].item.label
    if weight.shape[0] == weight.shape[1]:
        says = "that is the transpose: the row is that of the unit that receives"
        yield Mistake("transposed", share.T + decay, says)
    yield Mistake(instead[0], np.multiply.outer(*instead[1:3]) + decay, instead[3])
    says = "that has the local gradient alone: it is multiplied by the adjoint above"
    yield Mistake("local", np.multiply.outer(left * 0.0 + 1.0, right) + decay, says)
    says = "that has the adjoint above alone: it is multiplied by what the weight multiplied"
    yield Mistake("unchanged", np.multiply.outer(left, right * 0.0 + 1.0) + decay, says)
    says = "the sign of the share of the loss"
    yield Mistake("sign", decay - share if net.decays else -share, says)
    if net.decays:
        yield Mistake("sign", share - decay, "the sign of the penalty’s share")
        yield Mistake("decay", share, f"the penalty's share is missing: {adjoint} has two children")
        says = f"that is the penalty's share alone: {adjoint} has two children"
        yield Mistake("loss", decay, says)
        says = "the 2 of the square takes the half of the penalty away"
        yield Mistake("half", share + decay * 0.5, says)
        says = "the half before the square takes the 2 away"
        yield Mistake("doubled", share + decay + decay, says)


def _of_V(net: Net) -> Iterator[Wrong]:  # noqa: N802
    o, z = net["o" + BAR], net["z"]
    before = ("before", o, z, "that has z: V multiplied h, after the activation")
    yield from _weights(net, o, net["h"], "V", before)


def _of_h(net: Net) -> Iterator[Wrong]:
    V, o = net["V"], net["o" + BAR]
    if V.shape[0] == V.shape[1]:
        yield Mistake("untransposed", V @ o, "that is V ō: it is to be a column of V with ō")
    if len(o) > 1:
        says = "a path is missing: a unit reaches every output"
        for i in range(len(o)):
            yield Mistake("forgotten", V[i] * o[i : i + 1], says)
    yield Mistake("unchanged", V[0] * 0.0 + o[:1], "along an edge one multiplies by the weight")
    yield Mistake("local", V.sum(axis=0), "that is the local gradient alone, without ō")
    yield Mistake("sign", -(V.T @ o), "the sign")


def _of_z(net: Net) -> Iterator[Wrong]:
    h = net["h" + BAR]
    yield Mistake("inactive", h, "the unit is inactive: z is not above 0, so nothing passes")
    yield Mistake("operand", h * net["z"], "that has z itself: the slope of ReLU is 1 or 0")
    yield Mistake("zero", h * 0.0, "the unit is active: all of it passes")
    yield Mistake("slope", (net["h"] * 0.0) + 1.0, "that is the slope alone, without h̄")


def _of_W(net: Net) -> Iterator[Wrong]:  # noqa: N802
    z, h, x = net["z" + BAR], net["h" + BAR], net["x"]
    before = ("inactive", h, x, "that passes through a unit that is inactive")
    yield from _weights(net, z, x, "W", before)
    if net.decays:
        says = "an inactive unit receives nothing from the loss, and its weights decay all the same"
        yield Mistake("zero", net["W"] * 0.0, says)


WRONG: dict[str, Callable[[Net], Iterator[Wrong]]] = {
    "z": _z, "h": _h, "o": _o, "L": _loss, "s": _penalty, "J": _objective,
    "o" + BAR: _of_o, "V" + BAR: _of_V, "h" + BAR: _of_h, "z" + BAR: _of_z, "W" + BAR: _of_W,
}  # fmt: skip


# --- how it is drawn, and played ------------------------------------------------------------------


def _rows(net: Net, called: str) -> list[Written]:
    """Return the rows of an array, and their places in the drawing."""
    id, slot, numbers = net.of.variable(called).item.id, _slot(called), net[called]
    rows = numbers.reshape(len(numbers), -1)
    return [
        (id, f"{slot}{i}", f"{slot} {', '.join(map(exact, row))}") for i, row in enumerate(rows)
    ]


class Mlp(BoxKind):
    name, title = "mlp", "The whole network"

    def asks(self, level: int) -> str:
        return (
            "Compute the network forward, and then back: <i>z&nbsp;=&nbsp;W&nbsp;x</i>, "
            "<i>h</i>&nbsp;=&nbsp;max(<i>z</i>,&nbsp;0), <i>o&nbsp;=&nbsp;V&nbsp;h</i>, "
            f"<i>L</i>&nbsp;=&nbsp;½&nbsp;‖<i>o&nbsp;−&nbsp;y</i>‖²{DECAYS * (level > 1)}. A bar "
            f"says adjoint: how fast the last node grows with it. {NUMBERS}"
        )

    @functools.cache  # noqa: B019
    def forms(self, level: int) -> Sequence[str]:
        """Return the networks of a level, number by number."""
        return [_lines(*sizes) for sizes in SIZES[level - 1]]

    def set_up(self, text: str, level: int, choose: fit.Choose) -> Net:
        return Net(network(text), graph_kind.set_up(text, level, choose))

    def is_small(self, net: Net, level: int) -> bool:
        return not net.rec.is_at_kink

    def boxes(self, net: Net) -> list[Box]:
        return [
            Box(place, float(net[called][index]), functools.partial(_mistakes, net, called, index))
            for called, index, place in net.of.places
        ]

    def leaves(self, net: Net) -> Sequence[float]:
        return net.rec.leaves

    def written(self, net: Net) -> list[Written]:
        """Return the text in the drawing: the rows of the leaves."""
        given = [name for name in net.of.variables if name not in net.of.asked]
        return [row for name in given for row in _rows(net, name)]

    def steps(self, net: Net) -> Iterator[Step]:
        """Yield one step for each variable, forward and backward."""
        for called in net.of.asked:
            changes = tuple(_rows(net, called))
            numbers = "; ".join(text.partition(" ")[2] for *_, text in changes)
            result = f"({numbers})" if net[called].size > 1 else numbers
            words = f"{net.of.formula(called)} = <b>{result}</b>"
            phase = "Backward" if called.endswith(BAR) else "Forward"
            yield phase, words, (net.of.variable(called).item.id,), None, changes

    def looks(self, text: str) -> list[Look]:
        """Return the nodes of the drawing, with room for the numbers to fill in."""
        of = network(text)
        drawing = []
        for name, variable in of.variables.items():
            slots = {
                x: [f"{_slot(x)}{i}" for i in range(len(variable.labels))]
                for x in (name, name + BAR)
            }
            asked = [slot for called in slots if called in of.asked for slot in slots[called]]
            given = slots[name] if name not in of.asked else []
            widest = ENTRY * variable.columns, "data " + ", ".join(["−00"] * variable.columns)
            drawing.append(look(variable.item, name, "", room(given, asked), *widest))
        return drawing
