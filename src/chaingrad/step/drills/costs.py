"""What a network costs: the FLOPs of its matrix products, and the bytes that are kept.

The engine's ledger says which values are read again, and counts 2abc FLOPs for a product of (a, b)
and (b, c), as is done here with sizes that are drawn: they are the leaves of the form.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from chaingrad.account import Ledger
from chaingrad.draw.items import Item
from chaingrad.draw.reading import read
from chaingrad.node import Node
from chaingrad.rules import RESULT
from chaingrad.step.drills.formulas import BAR
from chaingrad.step.drills.recording import Number, Recording, total
from chaingrad.step.drills.slips import Slip
from chaingrad.step.drills.tasks import Box, Words
from chaingrad.step.names import Names, is_bare
from chaingrad.step.picture import Look

# Lines; the sizes of the leaves; which of these need no gradient.
LAYER = "X n d, W d h, V h q"
NETS = (
    (("Z = X @ W", "X n d, W d h", "X"), ("Z = X @ W", "X n d, W d h", ""),
     ("S = Q @ K.T", "Q n d, K m d", ""), ("A = B @ C", "B n m, C m d", "C")),
    (("Z = X @ W; H = np.tanh(Z); O = H @ V", LAYER, "X"),
     ("Z = X @ W; H = np.tanh(Z); O = H @ V", LAYER, ""),
     ("Z = X @ W; H = np.tanh(Z); O = H @ V", LAYER, "XV"),
     ("H = X @ W; O = H @ V; Y = O @ U", f"{LAYER}, U q m", "X"),
     ("S = Q @ K.T; Y = S @ V", "Q n d, K m d, V m q", "")),
    (("Z = X @ W; H = np.tanh(Z); O = H @ V", LAYER, "X"),
     ("Z = X @ W; H = Z.relu(); O = H @ V", LAYER, "XV"),
     ("Z = X @ W; A = Z + b; H = np.tanh(A); O = H @ V; S = O * O", f"{LAYER}, b h", "X"),
     ("Z = X @ W; H = Z ** 2; O = H @ V; P = np.exp(O)", LAYER, "X"),
     ("Z = X @ W; H = np.tanh(Z); O = H @ V; R = O + X", "X n d, W d h, V h d", "X"),
     ("Z = X @ W; H = np.exp(Z); G = H * M; O = G @ V", f"{LAYER}, M n h", "XM")),
)  # fmt: skip
SIZES, ITEMSIZES = "2 3 4 5 8 10", "4 8"
MOST = 999.0
ALL = [net for level in NETS for net in level]
TRIAL = (5, 7, 11, 13, 17)  # sizes that tell dimensions apart


def forms(level: int) -> Sequence[str]:
    """The networks of a level, by the sizes that are drawn: their letters, which net, bytes."""
    first, found = sum(map(len, NETS[: level - 1])), []
    for which, (_, sizes, _) in enumerate(NETS[level - 1], first):
        letters = _letters(sizes)
        lines = f"t = {' * '.join(letters)} * which * itemsize"
        domains = [f"{letter}: {SIZES}" for letter in letters]
        found.append(" | ".join([lines, *domains, f"which: {which}", f"itemsize: {ITEMSIZES}"]))
    return found


def _letters(sizes: str) -> list[str]:
    return list(dict.fromkeys(x for leaf in sizes.split(",") for x in leaf.split()[1:]))


class Net:
    """A network's graph, what the ledger says of it, and its sizes as they were recorded."""

    def __init__(self, rec: Recording) -> None:
        self.rec = rec
        drawn = {item.label: item for item in rec.items}
        which = int(drawn["which"].node.data)
        self.counts_bytes = which >= len(ALL) - len(NETS[-1])
        self.compares = which >= len(NETS[0]) and not self.counts_bytes
        lines, sizes, frozen = ALL[which]
        letters = dict(zip(_letters(sizes), TRIAL, strict=False))
        self.size = {size: rec.value(drawn[letter]) for letter, size in letters.items()}
        self.itemsize = rec.value(drawn["itemsize"])
        known: dict[str, Any] = {
            name: Node(np.zeros([letters[x] for x in of]), name, requires_grad=name not in frozen)
            for name, *of in map(str.split, sizes.split(","))
        }
        self.lines = dict(line.split(" = ") for line in lines.split("; "))
        for name, text in self.lines.items():
            known[name] = eval(text, {"np": np}, known)
            known[name].label = name
        root = known[name].sum()
        root.label = "L"
        self.items = read(root, "drill", 10**9)
        self.names = Names(self.items)
        self.needed = {row.node for row in Ledger(root).rows if row.needed}

    def shape(self, item: Item) -> list[Number]:
        return [self.size[size] for size in item.node.shape]

    def told(self, item: Item) -> str:
        sizes = ", ".join(map(self.rec.tell, self.shape(item)))
        return f"({sizes}{',' * (item.node.ndim == 1)})"

    def formula(self, item: Item) -> str:
        """How a value is made: Z = X W."""
        text = self.lines[item.label]
        for python, written in (
            ("np.", ""),
            (" @ ", " "),
            (".T", "ᵀ"),
            (" ** 2", "²"),
            (" * ", " ⊙ "),
        ):
            text = text.replace(python, written)
        return f"{item.label} = {text}"

    def product(self, what: str, node: Item, item: Item) -> tuple[str, list[Number]]:
        """The product that is counted, and its three sizes: that of an adjoint, if backward."""
        (a, b), (left, right) = self.operands(item), self.names.parents(item)
        (n, k), m = self.shape(left), self.shape(right)[1]
        if what == "forward":
            return self.formula(item), [n, k, m]
        bar, flips = item.label + BAR, right.op == "transpose"
        if node is a:
            return f"{a.label}{BAR} = {bar} {b.label}{'ᵀ' * (not flips)}", [n, m, k]
        if flips:
            return f"{b.label}{BAR} = {bar}ᵀ {a.label}", [m, n, k]
        return f"{b.label}{BAR} = {a.label}ᵀ {bar}", [k, n, m]

    def operands(self, item: Item) -> list[Item]:
        """What is multiplied, behind transposes."""
        found = self.names.parents(item)
        return [self.names.parents(x)[0] if x.op == "transpose" else x for x in found]

    @property
    def products(self) -> list[Item]:
        """The matrix products, in the order of the forward pass."""
        return [item for item in self.items if item.op == "matmul"]

    @property
    def values(self) -> list[Item]:
        """All arrays that are computed."""
        return [item for item in self.items if item.label in self.lines]

    @property
    def asked(self) -> list[tuple[str, Item, Item]]:
        """What for, in which node, and of which operation, in the order of the passes."""
        if self.counts_bytes:
            return [("bytes", item, item) for item in self.values]
        forward = [("forward", item, item) for item in self.products]
        back = [
            ("backward", operand, item)
            for item in reversed(self.products)
            for operand in reversed(self.operands(item))
        ]
        root = self.items[-1]
        return [*forward, *back, *[("ratio", root, root)] * self.compares]

    def parts(self, what: str) -> list[Number]:
        """The FLOPs of the products of a pass."""
        return [self.right(*asked) for asked in self.asked if asked[0] == what]

    def readers(self, value: Item) -> str:
        """The adjoints whose formulas read a value."""
        found = [
            operand.label + BAR
            for item in self.values
            for operand, places in zip(
                self.names.parents(item), item.node.rule.facts.reads or (), strict=False
            )
            if operand.node.requires_grad
            and value in [item if i == RESULT else self.names.parents(item)[i] for i in places]
        ]
        return " and ".join(dict.fromkeys(found))

    def flops(self, item: Item) -> Number:
        """Of a product of (a, b) and (b, c), and of each of the two that its adjoints take."""
        left, right = self.names.parents(item)
        return 2.0 * (_all(self.shape(left)) * self.shape(right)[1])

    def right(self, what: str, node: Item, item: Item) -> Number:
        if what == "bytes":
            return _all(self.shape(node)) * self.itemsize if node.node in self.needed else 0.0
        if what == "ratio":
            return total(self.parts("backward")) / total(self.parts("forward"))
        return self.flops(item) if what == "forward" or node.node.requires_grad else 0.0

    def why(self, what: str, node: Item, item: Item) -> str:
        """Where a number comes from, as HTML."""
        if what == "bytes":
            if node.node not in self.needed:
                return "no formula of the backward pass reads it"
            entries = " · ".join(map(self.rec.tell, self.shape(node)))
            bytes_ = self.rec.tell(self.itemsize)
            return f"it is read for {self.readers(node)}: {entries} entries of {bytes_} bytes"
        if what == "ratio":
            back, forward = (
                " + ".join(map(self.rec.tell, self.parts(x))) for x in ("backward", "forward")
            )
            return f"({back}) / ({forward})"
        if what == "backward" and not node.node.requires_grad:
            return f"{node.label} needs no gradient, so no product is made for one"
        formula, sizes = self.product(what, node, item)
        return f"{formula}: 2 · " + " · ".join(map(self.rec.tell, sizes))


def _all(numbers: Sequence[Number]) -> Number:
    first, *others = numbers
    for number in others:
        first = first * number
    return first


PHASES = {"forward": "Forward", "backward": "Backward", "ratio": "Both", "bytes": "Kept"}
UNITS = {"forward": "FLOPs", "backward": "FLOPs", "ratio": "× forward", "bytes": "bytes"}
HINTS = {
    "forward": "A product of (a, b) and (b, c) takes 2 a b c",
    "backward": "It is a product of three sizes again, those of the product that went forward",
    "ratio": "Add up the FLOPs of each pass",
    "bytes": "It is the entries times the bytes of each, where a formula of the pass reads them",
}
RATIO = "backward / forward"


def _label(what: str, node: Item) -> str:
    if what == "ratio":
        return RATIO
    return f"{UNITS[what]} of {node.label}{BAR * (what == 'backward')}"


def _says(net: Net, what: str, node: Item, item: Item) -> str:
    if what == "ratio":
        return "FLOPs of the backward pass over those of the forward pass"
    adjoint = "the adjoint of " * (what == "backward")
    return f"{UNITS[what]} of {adjoint}{node.label}, where {net.formula(item)}"


def boxes(rec: Recording) -> list[Box]:
    """A box for each product, forward and for each adjoint, or for the bytes of each value."""
    net = Net(rec)
    return [
        Box(
            node,
            what,
            _label(what, node),
            _says(net, what, node, item),
            net.right(what, node, item),
            HINTS[what],
            tuple(_slips(net, what, node, item)),
        )
        for what, node, item in net.asked
    ]


def _slips(net: Net, what: str, node: Item, item: Item) -> Iterator[Slip]:
    if what == "bytes":
        yield from _of_bytes(net, node)
        return
    if what == "ratio":
        yield from _of_ratio(net)
        return
    whole = net.flops(item)
    left, right = net.names.parents(item)
    rows, inner, columns = *net.shape(left), net.shape(right)[1]
    if what == "backward" and not node.node.requires_grad:
        says = f"{node.label} needs no gradient: nobody asks for that product"
        yield Slip("not asked", whole, says)
        return
    yield Slip("multiply-add", whole * 0.5, "a multiply-add is two operations: that counts one")
    says = f"that is for one row of {item.label}: each of the others takes as many"
    yield Slip("one row", 2.0 * (inner * columns), says)
    says = "that is two for each entry of the result: each entry adds up several products"
    made = {"forward": (rows, columns), "backward": net.shape(node)}[what]
    yield Slip("an entry", 2.0 * _all(made), says)
    says = "that adds up the entries of the factors: each of them is used more than once"
    yield Slip("entries added", 2.0 * (rows * inner + inner * columns), says)
    if what == "backward":
        says = "that is both products: each adjoint has one of its own"
        yield Slip("both products", whole * 2.0, says)
        yield Slip(
            "no product", 0.0 * whole, f"{node.label} needs a gradient, which takes a product"
        )


def _of_ratio(net: Net) -> Iterator[Slip]:
    back, forward = net.parts("backward"), net.parts("forward")
    ratio = total(back) / total(forward)
    operands = [x for item in net.products for x in net.operands(item)]
    spared = " and ".join(sorted(x.label for x in operands if not x.node.requires_grad))
    says = f"that is two products back for each one forward: there is none for {spared}"
    yield Slip("two back", 2.0, says)  # which is right if none is spared
    made = sum(x.node.requires_grad for x in operands)
    says = "that is the number of products, and they are not equally large"
    yield Slip("products", made / len(forward), says)
    yield Slip("both passes", ratio + 1.0, "that has the forward pass in it, too")
    yield Slip("inverse", 1.0 / ratio, "that is forward over backward")


def _of_bytes(net: Net, node: Item) -> Iterator[Slip]:
    entries = _all(net.shape(node))
    if node.node not in net.needed:
        yield Slip("unread", entries * net.itemsize, f"no formula of the pass reads {node.label}")
        return
    yield Slip("no bytes", entries * 0.0, f"a formula of the backward pass reads {node.label}")
    yield Slip("entries", entries, "that is the number of entries: each takes several bytes")
    other = 12.0 - net.itemsize
    yield Slip("itemsize", entries * other, "float32 takes 4 bytes an entry, float64 takes 8")
    yield Slip(
        "one example", net.shape(node)[1] * net.itemsize, "that is one row: the batch is kept"
    )


# --- how it is drawn, and played ------------------------------------------------------------------


def given(rec: Recording) -> list[list[str]]:
    """What stands in the drawing: shapes, and the dtype where bytes are asked."""
    net = Net(rec)
    unit = f" float{rec.tell(net.itemsize * 8.0)}" if net.counts_bytes else ""
    return [[x.id, "data", net.told(x) + unit] for x in net.items if x.node.ndim]


def steps(rec: Recording) -> Iterator[Words]:
    """One step a number."""
    net = Net(rec)
    for what, node, item in net.asked:
        number = rec.tell(net.right(what, node, item))
        words = f"{_label(what, node)}: {net.why(what, node, item)} = <b>{number}</b>"
        yield PHASES[what], words, (node.id,), None, ((node.id, what, f"{number} {UNITS[what]}"),)


def looks(rec: Recording) -> list[Look]:
    """The nodes of the drawing, with room for what is asked."""
    net, found = Net(rec), []
    for item in net.items:
        lines: list[tuple[str, ...]] = [("data",)] * bool(item.node.ndim)
        for what, node, _ in net.asked:
            if node is item:
                lines += [(what,), ()]
        title = f"{item.node.data:g}" if is_bare(item) else net.names.whole(item)
        is_spared = not item.node.requires_grad and item.node.ndim > 0
        color = "node" if item.parents else "leaf" if item.node.requires_grad else "constant"
        note = {"matmul": "product", "transpose": ""}.get(item.op, item.op)
        note = "no gradient" if is_spared else note
        room = f"{RATIO} 00" if net.compares and item is net.items[-1] else "(00, 00) float00"
        found.append(Look(item, title, note, tuple(lines), (room,), color))
    return found
