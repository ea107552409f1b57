"""What a network costs: the FLOPs of its matrix products, and the bytes that are kept.

The engine's ledger says which values are read again, and counts 2abc FLOPs for a product of (a, b)
and (b, c), as is done here with sizes that are drawn.
"""

import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from chaingrad.account import Ledger
from chaingrad.prices import RESULT
from chainlab.drills.draw import fit
from chainlab.drills.draw.box import Box, Place
from chainlab.drills.draw.looks import room, shape
from chainlab.drills.draw.numpy_lines import Lines
from chainlab.drills.draw.small_numbers import exact
from chainlab.drills.draw.tile_sums import BAR
from chainlab.drills.kinds.box_kind import BoxKind
from chainlab.drills.kinds.kind import Step, Written
from chainlab.mistakes import Mistake
from chainview.player.names import NodeNames, is_plain_number
from chainview.player.picture import Look
from chainview.read.items import Item
from chainview.read.reading import read
from chainview.read.terms import word

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
SIZES, ITEMSIZES = (2.0, 3.0, 4.0, 5.0, 8.0, 10.0), (4.0, 8.0)
MOST = 999.0
RATIO = "back / forth"
WRITTEN = {"np.": "", " @ ": " ", ".T": "ᵀ", " ** 2": "²", " * ": " ⊙ "}  # of NumPy, in formulas


class Network:
    """A network's graph, and what the ledger says of it, whatever its sizes are."""

    def __init__(self, level: int, lines: str, sizes: str, frozen: str) -> None:
        self.counts_bytes, self.compares = level == len(NETS), level == 2
        self.of = Lines(lines, sizes, frozen)
        self.lines = {line.made: str(line) for line in self.of.lines}
        root = self.of.trial[self.of.root].sum()
        root.label = "L"
        self.items = read(root, "drill", 10**9)
        self.names = NodeNames(self.items)
        self.needed = {row.node for row in Ledger(root).rows if row.needed}
        self.values = [item for item in self.items if item.label in self.lines]
        self.products = [item for item in self.items if item.op == "matmul"]

    def formula(self, item: Item) -> str:
        """Return the formula of a value: Z = X W."""
        text = self.lines[item.label]
        for python, written in WRITTEN.items():
            text = text.replace(python, written)
        return text

    def operands(self, item: Item) -> list[Item]:
        """Return the factors of a product, without their transposes."""
        factors = self.names.parents(item)
        return [self.names.parents(x)[0] if x.op == "transpose" else x for x in factors]

    def readers(self, value: Item) -> str:
        """Return the adjoints whose formulas read a value, in words."""
        parents = self.names.parents
        adjoints = [
            operand.label + BAR
            for item in self.values
            for operand, places in zip(
                parents(item), item.node.rule.price.reads or (), strict=False
            )
            if operand.node.requires_grad
            and value
            in [x for i in places for x in ([item] if i == RESULT else parents(item)[i : i + 1])]
        ]
        return " and ".join(dict.fromkeys(adjoints))

    @functools.cached_property
    def places(self) -> list[Place]:
        """The numbers to fill in, in the order of the passes."""
        if self.counts_bytes:
            return [_bytes_place(self, item) for item in self.values]
        forward = [_forward_place(self, item) for item in self.products]
        back = [
            _backward_place(self, operand, item)
            for item in reversed(self.products)
            for operand in reversed(self.operands(item))
        ]
        places = [*forward, *back, *[_ratio_place(self)] * self.compares]
        return [replace(place, part=PHASES[place.slot] * self.compares) for place in places]


@functools.cache
def network(text: str) -> Network:
    """Return the network of a form."""
    level, lines, sizes, frozen = text.split(" | ")
    return Network(int(level), lines, sizes, frozen)


class Net:
    """A network with sizes.

    Attributes:
        size: the number that each letter stands for.
        itemsize: the bytes of an entry.
    """

    def __init__(self, of: Network, size: Mapping[str, float], itemsize: float) -> None:
        self.of, self.size, self.itemsize = of, size, itemsize

    def shape(self, item: Item) -> list[float]:
        return [self.size[letter] for letter in self.of.of.dims_of(item.node)]

    def sizes(self, product: Item) -> list[float]:
        """Return a, b and c of a product of (a, b) and (b, c)."""
        left, right = self.of.names.parents(product)
        return [*self.shape(left), self.shape(right)[1]]

    def flops(self, product: Item) -> float:
        """Return the FLOPs of a product; each of its two adjoints takes as many."""
        return 2.0 * math.prod(self.sizes(product))

    @property
    def asked(self) -> list["Count"]:
        """The numbers to fill in, in the order of the passes."""
        places, of = iter(self.of.places), self.of
        if of.counts_bytes:
            return [_bytes(self, next(places), item) for item in of.values]
        forward = [_forward(self, next(places), item) for item in of.products]
        back = [
            _backward(self, next(places), operand, item)
            for item in reversed(of.products)
            for operand in reversed(of.operands(item))
        ]
        return [*forward, *back, *(_ratio(self, place, forward, back) for place in places)]


def joined(numbers: Sequence[float], between: str = " · ") -> str:
    return between.join(map(exact, numbers))


# --- what is counted ------------------------------------------------------------------------------

PHASES = {"forward": "Forward", "backward": "Backward", "ratio": "Both", "bytes": "Kept"}
UNITS = {"forward": "FLOPs", "backward": "FLOPs", "ratio": "× forward", "bytes": "bytes"}


@dataclass(frozen=True)
class Count(Box):
    """A number, and where it comes from, as HTML."""

    why: str = ""


def _forward_place(of: Network, item: Item) -> Place:
    return Place(
        item,
        "forward",
        f"FLOPs of {item.label}",
        f"FLOPs of {item.label}, where {of.formula(item)}",
        "A product of (a, b) and (b, c) takes 2 a b c",
    )


def _backward_place(of: Network, node: Item, item: Item) -> Place:
    return Place(
        node,
        "backward",
        f"FLOPs of {node.label}{BAR}",
        f"FLOPs of the adjoint of {node.label}, where {of.formula(item)}",
        "It is a product of three sizes again, those of the product that went forward",
    )


def _ratio_place(of: Network) -> Place:
    return Place(
        of.items[-1],
        "ratio",
        RATIO,
        "FLOPs of the backward pass over those of the forward pass",
        "Add up the FLOPs of each pass",
    )


def _bytes_place(of: Network, item: Item) -> Place:
    return Place(
        item,
        "bytes",
        f"bytes of {item.label}",
        f"bytes of {item.label}, where {of.formula(item)}",
        "It is the entries times the bytes of each, where a formula of the pass reads them",
    )


def _forward(net: Net, place: Place, item: Item) -> Count:
    why = f"{net.of.formula(item)}: 2 · {joined(net.sizes(item))}"
    mistakes = functools.partial(_of_product, net, item, item)
    return Count(place, net.flops(item), mistakes, why)


def _backward(net: Net, place: Place, node: Item, item: Item) -> Count:
    is_made = node.node.requires_grad
    why = f"{node.label} needs no gradient, so no product is made for one"
    return Count(
        place,
        net.flops(item) if is_made else 0.0,
        functools.partial(_of_adjoint, net, node, item),
        _adjoint(net, node, item) if is_made else why,
    )


def _adjoint(net: Net, node: Item, item: Item) -> str:
    """Return the product that gives the adjoint of an operand, and its FLOPs, in words."""
    (first, second), (a, b, c) = net.of.operands(item), net.sizes(item)
    bar, flips = item.label + BAR, net.of.names.parents(item)[1] is not second
    if node is first:
        formula, sizes = f"{bar} {second.label}{'ᵀ' * (not flips)}", [a, c, b]
    elif flips:
        formula, sizes = f"{bar}ᵀ {first.label}", [c, a, b]
    else:
        formula, sizes = f"{first.label}ᵀ {bar}", [b, a, c]
    return f"{node.label}{BAR} = {formula}: 2 · {joined(sizes)}"


def _of_product(net: Net, node: Item, item: Item) -> Iterator[Mistake[float]]:
    """Yield the mistakes in the FLOPs of a product whose result has the shape of ``node``."""
    a, b, c = net.sizes(item)
    says = "a multiply-add is two operations: that counts one"
    yield Mistake("multiply-add", net.flops(item) * 0.5, says)
    says = f"that is for one row of {item.label}: each of the others takes as many"
    yield Mistake("one row", 2.0 * (b * c), says)
    says = f"that is for one column of {item.label}: each of the others takes as many"
    yield Mistake("one column", 2.0 * (a * b), says)
    says = "that is two for each entry of the result: each entry adds up several products"
    yield Mistake("an entry", 2.0 * math.prod(net.shape(node)), says)
    says = "that adds up the entries of the factors: each of them is used more than once"
    yield Mistake("entries added", 2.0 * (a * b + b * c), says)
    yield Mistake("entries added", a * b + b * c, says)


def _of_adjoint(net: Net, node: Item, item: Item) -> Iterator[Mistake[float]]:
    whole = net.flops(item)
    if not node.node.requires_grad:
        says = f"{node.label} needs no gradient: nobody asks for that product"
        yield Mistake("not asked", whole, says)
        return
    yield from _of_product(net, node, item)
    says = "that is both products: each adjoint has one of its own"
    yield Mistake("both products", whole * 2.0, says)
    says = f"{node.label} needs a gradient, which takes a product"
    yield Mistake("no product", 0.0 * whole, says)


def _ratio(net: Net, place: Place, forward: Sequence[Count], back: Sequence[Count]) -> Count:
    passes = [[count.right for count in counts] for counts in (back, forward)]
    ratio = sum(passes[0]) / sum(passes[1])
    above, below = (joined(flops, " + ") for flops in passes)
    operands = [count.place.item for count in back]
    mistakes = functools.partial(_of_ratio, ratio, len(forward), operands)
    return Count(place, ratio, mistakes, f"({above}) / ({below})")


def _of_ratio(ratio: float, forward: int, operands: Sequence[Item]) -> Iterator[Mistake[float]]:
    spared = sorted(item.label for item in operands if not item.node.requires_grad)
    says = (
        f"that is two products back for each one forward: there is none for {' and '.join(spared)}"
    )
    yield Mistake("two back", 2.0, says)  # which is right if none is spared
    says = "that is the number of products, and they are not equally large"
    yield Mistake("products", (len(operands) - len(spared)) / forward, says)
    yield Mistake("both passes", ratio + 1.0, "that has the forward pass in it, too")
    yield Mistake("inverse", 1.0 / ratio, "that is forward over backward")


def _bytes(net: Net, place: Place, item: Item) -> Count:
    entries, is_read = math.prod(net.shape(item)), item.node in net.of.needed
    why = (
        f"it is read for {net.of.readers(item)}: {joined(net.shape(item))} entries of "
        f"{exact(net.itemsize)} bytes"
        if is_read
        else "no formula of the backward pass reads it"
    )
    right = entries * net.itemsize if is_read else 0.0
    return Count(place, right, functools.partial(_of_bytes, net, item, entries, is_read), why)


def _of_bytes(net: Net, item: Item, entries: float, is_read: bool) -> Iterator[Mistake[float]]:
    if not is_read:
        says = f"no formula of the pass reads {item.label}"
        yield Mistake("unread", entries * net.itemsize, says)
        return
    yield Mistake("no bytes", entries * 0.0, f"a formula of the backward pass reads {item.label}")
    says = "that is the number of entries: each takes several bytes"
    yield Mistake("entries", entries, says)
    says = "float32 takes 4 bytes an entry, float64 takes 8"
    yield Mistake("itemsize", entries * (12.0 - net.itemsize), says)
    says = "that is one row: the batch is kept"
    yield Mistake("one example", net.shape(item)[1] * net.itemsize, says)


# --- as a page reads it ---------------------------------------------------------------------------


class Costs(BoxKind):
    name, title = "costs", "FLOPs and bytes"

    def asks(self, level: int) -> str:
        if level == len(NETS):
            return (
                "Count the bytes of every computed value that the backward pass reads. Write 0 for "
                "a value that it doesn’t read."
            )
        ratio = "In <i>L</i>, divide the FLOPs of the backward pass by those of the forward pass. "
        return (
            "Count the FLOPs of every matrix product. A product of the forward pass counts in the "
            "node that it makes, and one of the backward pass in the node whose adjoint it gives. "
            f"{ratio * (level == 2)}Write 0 for a product that isn’t made."
        )

    @functools.cache  # noqa: B019
    def forms(self, level: int) -> Sequence[str]:
        """Return a level's networks: the level, lines, sizes, and what needs no gradient."""
        return [" | ".join([str(level), *net]) for net in NETS[level - 1]]

    def most(self, level: int) -> float:
        return MOST

    def set_up(self, text: str, level: int, choose: fit.Choose) -> Net:
        of = network(text)
        size = {letter: choose(SIZES) for letter in of.of.letters}
        return Net(of, size, choose(ITEMSIZES))

    def boxes(self, net: Net) -> Sequence[Box]:
        """Return a box for each product, forward and backward, or for the bytes of each value."""
        return net.asked

    def leaves(self, net: Net) -> Sequence[float]:
        return [*net.size.values(), net.itemsize]

    def written(self, net: Net) -> Iterator[Written]:
        """Yield the text in the drawing: shapes, and the dtype where the problem asks for bytes."""
        unit = f" float{exact(net.itemsize * 8.0)}" if net.of.counts_bytes else ""
        for item in net.of.items:
            if item.node.ndim:
                yield item.id, "data", shape(list(map(exact, net.shape(item)))) + unit

    def steps(self, net: Net) -> Iterator[Step]:
        """Yield one step for each number."""
        for count in net.asked:
            item, slot = count.place.item, count.place.slot
            number = exact(count.right)
            words = f"{count.place.label}: {count.why} = <b>{number}</b>"
            change = item.id, slot, f"{number} {UNITS[slot]}"
            yield PHASES[slot], words, (item.id,), None, (change,)

    def looks(self, text: str) -> list[Look]:
        """Return the nodes of the drawing, with room for the numbers to fill in."""
        of, looks = network(text), []
        for item in of.items:
            asked = [place.slot for place in of.places if place.item is item]
            slots = room(["data"] * bool(item.node.ndim), asked)
            title = f"{item.node.data:g}" if is_plain_number(item) else of.names.full_name(item)
            is_spared = not item.node.requires_grad and item.node.ndim > 0
            color = "node" if item.parents else "leaf" if item.node.requires_grad else "constant"
            note = {"matmul": "product", "transpose": ""}.get(item.op, word(item))
            note = note if item.parents else ""
            note = "no gradient" if is_spared else note
            widest = f"{RATIO} 00" if "ratio" in asked else "(00, 00) float00"
            looks.append(Look(item, title, note, slots, (widest,), color))
        return looks
