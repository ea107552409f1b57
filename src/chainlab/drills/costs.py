"""What a network costs: the FLOPs of its matrix products, and the bytes that are kept.

The engine's ledger says which values are read again, and counts 2abc FLOPs for a product of (a, b)
and (b, c), as is done here with sizes that are drawn: they are the leaves of the form.
"""

import functools
import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from chaingrad.account import Ledger
from chaingrad.facts import RESULT
from chainlab.drills.formulas import BAR
from chainlab.drills.lines import Lines
from chainlab.drills.looks import room, shape
from chainlab.drills.mistakes import Slip
from chainlab.drills.recording import Number, Recording, total
from chainlab.drills.tasks import Box, Words
from chainview.player.names import NodeNames, is_plain_number
from chainview.player.picture import Look
from chainview.read.items import Item
from chainview.read.reading import read

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
RATIO = "backward / forward"
WRITTEN = {"np.": "", " @ ": " ", ".T": "ᵀ", " ** 2": "²", " * ": " ⊙ "}  # of NumPy, in formulas


@functools.cache
def forms(level: int) -> Sequence[str]:
    """Return a level's networks, by the sizes that are drawn: letters, which net, bytes."""
    first, found = sum(map(len, NETS[: level - 1])), []
    for which, net in enumerate(NETS[level - 1], first):
        letters = Lines(*net).letters
        lines = f"t = {' * '.join(letters)} * which * itemsize"
        domains = [f"{letter}: {SIZES}" for letter in letters]
        found.append(" | ".join([lines, *domains, f"which: {which}", f"itemsize: {ITEMSIZES}"]))
    return found


class Net:
    """A network's graph, what the ledger says of it, and its sizes as they were recorded."""

    def __init__(self, rec: Recording) -> None:
        self.rec = rec
        drawn = {item.label: item for item in rec.items}
        which = int(drawn["which"].node.data)
        self.counts_bytes = which >= len(ALL) - len(NETS[-1])
        self.compares = which >= len(NETS[0]) and not self.counts_bytes
        self.of = Lines(*ALL[which])
        self.size = {letter: rec.value(drawn[letter]) for letter in self.of.letters}
        self.itemsize = rec.value(drawn["itemsize"])
        self.lines = {line.made: str(line) for line in self.of.lines}
        root = self.of.trial[self.of.root].sum()
        root.label = "L"
        self.items = read(root, "drill", 10**9)
        self.names = NodeNames(self.items)
        self.needed = {row.node for row in Ledger(root).rows if row.needed}

    def shape(self, item: Item) -> list[Number]:
        return [self.size[letter] for letter in self.of.dims_of(item.node)]

    def told(self, numbers: Sequence[Number], between: str = " · ") -> str:
        return between.join(map(self.rec.tell, numbers))

    def formula(self, item: Item) -> str:
        """Return the formula of a value: Z = X W."""
        text = self.lines[item.label]
        for python, written in WRITTEN.items():
            text = text.replace(python, written)
        return text

    def operands(self, item: Item) -> list[Item]:
        """Return the factors of a product, without their transposes."""
        found = self.names.parents(item)
        return [self.names.parents(x)[0] if x.op == "transpose" else x for x in found]

    def sizes(self, product: Item) -> list[Number]:
        """Return a, b and c of a product of (a, b) and (b, c)."""
        left, right = self.names.parents(product)
        return [*self.shape(left), self.shape(right)[1]]

    def flops(self, product: Item) -> Number:
        """Return the FLOPs of a product; each of its two adjoints takes as many."""
        return 2.0 * _all(self.sizes(product))

    def readers(self, value: Item) -> str:
        """Return the adjoints whose formulas read a value, in words."""
        parents = self.names.parents
        found = [
            operand.label + BAR
            for item in self.values
            for operand, places in zip(
                parents(item), item.node.rule.facts.reads or (), strict=False
            )
            if operand.node.requires_grad
            and value in [item if i == RESULT else parents(item)[i] for i in places]
        ]
        return " and ".join(dict.fromkeys(found))

    @property
    def values(self) -> list[Item]:
        """All arrays that are computed."""
        return [item for item in self.items if item.label in self.lines]

    @property
    def asked(self) -> list["Count"]:
        """The numbers to fill in, in the order of the passes."""
        if self.counts_bytes:
            return [_bytes(self, item) for item in self.values]
        products = [item for item in self.items if item.op == "matmul"]
        forward = [_forward(self, item) for item in products]
        back = [
            _backward(self, operand, item)
            for item in reversed(products)
            for operand in reversed(self.operands(item))
        ]
        counts = [*forward, *back, *[_ratio(self, forward, back)] * self.compares]
        return [replace(x, part=PHASES[x.slot] * self.compares) for x in counts]


def _all(numbers: Sequence[Number]) -> Number:
    return functools.reduce(operator.mul, numbers)


# --- what is counted ------------------------------------------------------------------------------

PHASES = {"forward": "Forward", "backward": "Backward", "ratio": "Both", "bytes": "Kept"}
UNITS = {"forward": "FLOPs", "backward": "FLOPs", "ratio": "× forward", "bytes": "bytes"}


@dataclass(frozen=True)
class Count(Box):
    """A number, and where it comes from, as HTML."""

    why: str = ""


def _forward(net: Net, item: Item) -> Count:
    formula = net.formula(item)
    return Count(
        item,
        "forward",
        f"FLOPs of {item.label}",
        f"FLOPs of {item.label}, where {formula}",
        net.flops(item),
        "A product of (a, b) and (b, c) takes 2 a b c",
        tuple(_of_product(net, item, item)),
        why=f"{formula}: 2 · {net.told(net.sizes(item))}",
    )


def _backward(net: Net, node: Item, item: Item) -> Count:
    is_made = node.node.requires_grad
    return Count(
        node,
        "backward",
        f"FLOPs of {node.label}{BAR}",
        f"FLOPs of the adjoint of {node.label}, where {net.formula(item)}",
        net.flops(item) if is_made else 0.0,
        "It is a product of three sizes again, those of the product that went forward",
        tuple(_of_adjoint(net, node, item)),
        why=_adjoint(net, node, item)
        if is_made
        else f"{node.label} needs no gradient, so no product is made for one",
    )


def _adjoint(net: Net, node: Item, item: Item) -> str:
    """Return the product that gives the adjoint of an operand, and its FLOPs, in words."""
    (first, second), (a, b, c) = net.operands(item), net.sizes(item)
    bar, flips = item.label + BAR, net.names.parents(item)[1] is not second
    if node is first:
        formula, sizes = f"{bar} {second.label}{'ᵀ' * (not flips)}", [a, c, b]
    elif flips:
        formula, sizes = f"{bar}ᵀ {first.label}", [c, a, b]
    else:
        formula, sizes = f"{first.label}ᵀ {bar}", [b, a, c]
    return f"{node.label}{BAR} = {formula}: 2 · {net.told(sizes)}"


def _of_product(net: Net, node: Item, item: Item) -> Iterator[Slip]:
    """Yield the mistakes in the FLOPs of a product whose result has the shape of ``node``."""
    a, b, c = net.sizes(item)
    says = "a multiply-add is two operations: that counts one"
    yield Slip("multiply-add", net.flops(item) * 0.5, says)
    says = f"that is for one row of {item.label}: each of the others takes as many"
    yield Slip("one row", 2.0 * (b * c), says)
    says = "that is two for each entry of the result: each entry adds up several products"
    yield Slip("an entry", 2.0 * _all(net.shape(node)), says)
    says = "that adds up the entries of the factors: each of them is used more than once"
    yield Slip("entries added", 2.0 * (a * b + b * c), says)


def _of_adjoint(net: Net, node: Item, item: Item) -> Iterator[Slip]:
    whole = net.flops(item)
    if not node.node.requires_grad:
        says = f"{node.label} needs no gradient: nobody asks for that product"
        yield Slip("not asked", whole, says)
        return
    yield from _of_product(net, node, item)
    says = "that is both products: each adjoint has one of its own"
    yield Slip("both products", whole * 2.0, says)
    says = f"{node.label} needs a gradient, which takes a product"
    yield Slip("no product", 0.0 * whole, says)


def _ratio(net: Net, forward: Sequence[Count], back: Sequence[Count]) -> Count:
    passes = [[count.right for count in counts] for counts in (back, forward)]
    ratio = total(passes[0]) / total(passes[1])
    above, below = (net.told(flops, " + ") for flops in passes)
    return Count(
        net.items[-1],
        "ratio",
        RATIO,
        "FLOPs of the backward pass over those of the forward pass",
        ratio,
        "Add up the FLOPs of each pass",
        tuple(_of_ratio(ratio, len(forward), [count.item for count in back])),
        why=f"({above}) / ({below})",
    )


def _of_ratio(ratio: Number, forward: int, operands: Sequence[Item]) -> Iterator[Slip]:
    spared = sorted(item.label for item in operands if not item.node.requires_grad)
    says = (
        f"that is two products back for each one forward: there is none for {' and '.join(spared)}"
    )
    yield Slip("two back", 2.0, says)  # which is right if none is spared
    says = "that is the number of products, and they are not equally large"
    yield Slip("products", (len(operands) - len(spared)) / forward, says)
    yield Slip("both passes", ratio + 1.0, "that has the forward pass in it, too")
    yield Slip("inverse", 1.0 / ratio, "that is forward over backward")


def _bytes(net: Net, item: Item) -> Count:
    entries, is_read = _all(net.shape(item)), item.node in net.needed
    return Count(
        item,
        "bytes",
        f"bytes of {item.label}",
        f"bytes of {item.label}, where {net.formula(item)}",
        entries * net.itemsize if is_read else 0.0,
        "It is the entries times the bytes of each, where a formula of the pass reads them",
        tuple(_of_bytes(net, item, entries, is_read)),
        why=f"it is read for {net.readers(item)}: {net.told(net.shape(item))} entries of "
        f"{net.rec.tell(net.itemsize)} bytes"
        if is_read
        else "no formula of the backward pass reads it",
    )


def _of_bytes(net: Net, item: Item, entries: Number, is_read: bool) -> Iterator[Slip]:
    if not is_read:
        says = f"no formula of the pass reads {item.label}"
        yield Slip("unread", entries * net.itemsize, says)
        return
    yield Slip("no bytes", entries * 0.0, f"a formula of the backward pass reads {item.label}")
    says = "that is the number of entries: each takes several bytes"
    yield Slip("entries", entries, says)
    says = "float32 takes 4 bytes an entry, float64 takes 8"
    yield Slip("itemsize", entries * (12.0 - net.itemsize), says)
    says = "that is one row: the batch is kept"
    yield Slip("one example", net.shape(item)[1] * net.itemsize, says)


# --- as a page reads it ---------------------------------------------------------------------------


def boxes(rec: Recording) -> Sequence[Box]:
    """Return a box for each product, forward and backward, or for the bytes of each value."""
    return Net(rec).asked


def given(rec: Recording) -> list[list[str]]:
    """Return the text in the drawing: shapes, and the dtype where the problem asks for bytes."""
    net = Net(rec)
    unit = f" float{rec.tell(net.itemsize * 8.0)}" if net.counts_bytes else ""
    arrays = [item for item in net.items if item.node.ndim]
    return [[x.id, "data", shape(list(map(rec.tell, net.shape(x)))) + unit] for x in arrays]


def steps(rec: Recording) -> Iterator[Words]:
    """Yield one step for each number."""
    for x in Net(rec).asked:
        number = rec.tell(x.right)
        words = f"{x.label}: {x.why} = <b>{number}</b>"
        change = x.item.id, x.slot, f"{number} {UNITS[x.slot]}"
        yield PHASES[x.slot], words, (x.item.id,), None, (change,)


def looks(text: str) -> list[Look]:
    """Return the nodes of the drawing, with room for the numbers to fill in."""
    net, found = Net(Recording(text)), []
    for item in net.items:
        asked = [x.slot for x in net.asked if x.item is item]
        slots = room(["data"] * bool(item.node.ndim), asked)
        title = f"{item.node.data:g}" if is_plain_number(item) else net.names.full_name(item)
        is_spared = not item.node.requires_grad and item.node.ndim > 0
        color = "node" if item.parents else "leaf" if item.node.requires_grad else "constant"
        note = {"matmul": "product", "transpose": ""}.get(item.op, item.op)
        note = "no gradient" if is_spared else note
        widest = f"{RATIO} 00" if "ratio" in asked else "(00, 00) float00"
        found.append(Look(item, title, note, slots, (widest,), color))
    return found
