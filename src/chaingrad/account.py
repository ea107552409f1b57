"""What a graph costs: bytes and floating-point operations, node by node, read off the graph.

The bytes are those of the entries of arrays. The objects around them (some 100 bytes an array, and
as many a node) and Python floats are left out; they matter for scalar graphs alone.

An operation on numbers is one FLOP, so a multiply-add is two and ``(n, k) @ (k, m)`` is ``2nkm``. A
function such as exp is one an entry; moving, comparing and choosing entries is none.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from chaingrad.backward import _one_pass_at_a_time as one_pass_at_a_time
from chaingrad.backward import children_first, propagate
from chaingrad.node import Node

Role = Literal["parameter", "input", "constant", "value"]
Inputs = tuple[Node, ...]

# What the VJP of each input reads: the first input "a", the second "b", the result "o".
_READS = {
    "mul": ("b", "a"), "matmul": ("b", "a"), "div": ("b", "bo"), "pow": ("ab", "abo"),
    "maximum": ("ab", "ab"), "minimum": ("ab", "ab"),
    "log": ("a",), "sin": ("a",), "cos": ("a",), "abs": ("a",),
    "exp": ("o",), "sqrt": ("o",), "tanh": ("o",), "sigmoid": ("o",), "relu": ("o",),
    "max": ("ao",), "min": ("ao",), "logsumexp": ("a",), "squared_norm": ("a",),
}  # fmt: skip
_READS_NOTHING = {
    "add", "sub", "neg", "alias", "cast", "sum", "mean", "where", "concatenate", "getitem",
    "scatter", "reshape", "transpose", "broadcast_to",
}  # fmt: skip

# The inputs whose share of the gradient is the gradient itself, or a view of it: no new array.
_PASSES_ON = {
    "add": (0, 1), "sub": (0,), "alias": (0,), "reshape": (0,), "transpose": (0,),
    "broadcast_to": (0,), "sum": (0,), "mean": (0,),
}  # fmt: skip

# What a VJP holds beside its share while it computes, in arrays of the result's size. The second
# number is for arrays so large that NumPy writes a result over a temporary operand.
_LARGE = 256 * 1024  # bytes: NPY_MIN_ELIDE_BYTES
_SCRATCH = {
    ("div", 1): (1, 1), ("sqrt", 0): (1, 1), ("tanh", 0): (1, 1),
    ("sigmoid", 0): (2, 1), ("sin", 0): (1, 0), ("cos", 0): (2, 1), ("abs", 0): (1, 0),
    ("logsumexp", 0): (2, 1),
}  # fmt: skip

_STATE = {"sgd": 0, "momentum": 1, "adam": 2}  # arrays an optimizer keeps for each parameter

_FREE = {
    "alias", "broadcast_to", "cast", "concatenate", "getitem", "reshape", "transpose", "where",
}  # fmt: skip


_FLOPS: dict[str, Callable[[Node, Inputs], int]] = {
    "matmul": lambda out, inputs: 2 * out.size * inputs[0].shape[-1],
    "sum": lambda out, inputs: inputs[0].size - out.size,
    "mean": lambda out, inputs: inputs[0].size,
    "squared_norm": lambda out, inputs: 2 * inputs[0].size - 1,
    "max": lambda out, inputs: 0,
    "min": lambda out, inputs: 0,
    "maximum": lambda out, inputs: 0,
    "minimum": lambda out, inputs: 0,
    "relu": lambda out, inputs: 0,
    "abs": lambda out, inputs: 0,
    # exp(a - max) of each entry and their sum, then log and + max of each result
    "logsumexp": lambda out, inputs: 3 * inputs[0].size + out.size,
    "scatter": lambda out, inputs: inputs[0].size,
}


def flops(node: Node) -> int:
    """Count the floating-point operations that computed ``node`` from its parents.

    >>> flops(Node(np.ones((2, 3))) @ np.ones((3, 4)))
    48
    """
    if not node.parents or node.op in _FREE:
        return 0
    count = _FLOPS.get(node.op)
    return max(count(node, node.parents), 0) if count else node.size


@dataclass(frozen=True)
class Row:
    """One node of a ledger.

    Attributes:
        name: the label, or the operation and a number.
        role: parameter, input (any other leaf), constant, or value (computed).
        bytes: of the array it owns; 0 for a number and for a view of another node's array.
        needed: whether the backward pass reads the data, so that they must be kept or recomputed.
        flops: of the operation that made it.
    """

    node: Node
    name: str
    role: Role
    bytes: int
    needed: bool
    flops: int


class Ledger:
    """The account of the graph of ``root``, one row a node, parents before children.

    A `~chaingrad.remat.checkpoint` is one node of it: what it computes within is not counted.

    Args:
        root: the loss.
        parameters: the nodes that are trained; by default the leaves that are
            `chaingrad.nn.Parameter`, or all leaves that require a gradient where none is.

    >>> W = Node(np.ones((10, 4)), "W")
    >>> loss = (Node(np.ones((8, 4)), "X", requires_grad=False) @ W.T).tanh().sum()
    >>> account = Ledger(loss)
    >>> account.parameter_bytes, account.input_bytes, account.value_bytes, account.needed_bytes
    (320, 256, 1280, 640)
    >>> account.forward_flops["matmul"], account.backward_flops["matmul"]
    (640, 640)
    """

    def __init__(self, root: Node, parameters: Iterable[Node] | None = None) -> None:
        order = root.sorted_graph()[::-1]
        leaves = [node for node in order if not node.parents and node.requires_grad]
        if parameters is None:
            marked = [node for node in leaves if node.is_parameter]
            parameters = marked or leaves
        self.root = root
        self.parameters = list(parameters)
        trained = set(self.parameters)
        for parameter in trained.difference(order):
            raise ValueError(
                f"the loss does not depend on {parameter!r}, so it has no place in its account"
            )
        needed = _needed(order)
        self.rows = [
            Row(node, name, _role(node, trained), _owned(node), node in needed, flops(node))
            for node, name in _named(order)
        ]

    # --- bytes ----------------------------------------------------------------------------------

    def bytes_of(self, role: Role) -> int:
        """Add up the bytes of the rows with this role."""
        return sum(row.bytes for row in self.rows if row.role == role)

    @property
    def parameter_bytes(self) -> int:
        """The bytes of the parameters."""
        return sum(_nbytes(node.data) for node in self.parameters)

    @property
    def input_bytes(self) -> int:
        """The bytes of the other leaves and constants: examples, targets."""
        return sum(_nbytes(row.node.data) for row in self.rows if row.role in ("input", "constant"))

    @property
    def value_bytes(self) -> int:
        """The bytes of all computed values: what this engine keeps until the loss is dropped."""
        return self.bytes_of("value")

    @property
    def needed_bytes(self) -> int:
        """The bytes of the computed values that the backward pass reads."""
        return sum(row.bytes for row in self.rows if row.role == "value" and row.needed)

    def state_bytes(self, optimizer: str) -> int:
        """The bytes that an optimizer keeps between steps: sgd, momentum or adam.

        Raises:
            ValueError: another optimizer.
        """
        if optimizer not in _STATE:
            raise ValueError(f"unknown optimizer {optimizer!r}; expected one of {sorted(_STATE)}")
        return _STATE[optimizer] * self.parameter_bytes

    def prediction_peak(self) -> int:
        """Predict the most bytes of values alive at once without recording.

        A value is dropped as soon as the last node that reads it has been computed; parameters and
        inputs are not counted.
        """
        nodes = [row.node for row in self.rows if row.role == "value"]
        last_use = {_buffer(parent): node for node in nodes for parent in (*node.parents, node)}
        live = peak = 0
        sizes = {_buffer(node): _owned(node) for node in nodes if _owned(node)}
        for node in nodes:
            live += _owned(node)
            peak = max(peak, live)
            for buffer in {_buffer(parent) for parent in (*node.parents, node)}:
                if last_use[buffer] is node and node is not self.root:
                    live -= sizes.pop(buffer, 0)
        return peak

    def training_peak(self, release: bool = False) -> int:
        """Predict the most bytes alive at once in a forward and a backward pass.

        Counts values, gradients of computed values and gradients of parameters; not the parameters,
        the inputs and the optimizer's state. With ``release`` as `~chaingrad.node.Node.backward`
        has it. Not for graphs with `~chaingrad.remat.checkpoint`, whose second run it cannot see.
        """
        return _Replay(self, release).peak

    # --- operations -----------------------------------------------------------------------------

    @property
    def forward_flops(self) -> Counter[str]:
        """The operations of the forward pass, by kind of node."""
        return _by_operation(row.node for row in self.rows)

    @property
    def backward_flops(self) -> Counter[str]:
        """The operations of the backward pass, by kind of node.

        Counted on the graph of the gradients, which is made for it: the VJPs that really run are
        what is counted. Additions that join the shares of several children are among them.
        """
        seed = Node(np.ones(self.root.shape, self.root.dtype) if self.root.ndim else 1.0)
        leaves = [row.node for row in self.rows if not row.node.parents]
        found = propagate(self.root, seed, create_graph=True, wanted=set(leaves))
        seen = {row.node for row in self.rows}
        new: dict[Node, None] = {}
        todo = list(found.values())
        while todo:
            node = todo.pop()
            if node not in seen and node not in new:
                new[node] = None
                todo += node.parents
        return _by_operation(new)

    # --- as text --------------------------------------------------------------------------------

    def __str__(self) -> str:
        """A table of the rows."""
        lines = [f"{'node':14} {'role':10} {'shape':>14} {'bytes':>12}  {'needed':6} {'flops':>14}"]
        for row in self.rows:
            shape = "×".join(map(str, row.node.shape)) or "scalar"
            needed = "yes" if row.needed else ""
            lines.append(
                f"{row.name:14} {row.role:10} {shape:>14} {row.bytes:>12,}  {needed:6} "
                f"{row.flops:>14,}"
            )
        return "\n".join(lines)


class _Replay:
    """The allocations of a backward pass, replayed on sizes alone to find their peak."""

    def __init__(self, ledger: Ledger, release: bool) -> None:
        self.size: dict[Any, int] = {}
        self.users: Counter[Any] = Counter()
        self.live = self.peak = 0
        self.adjoint: dict[Node, Any] = {}
        self.views: set[Node] = set()  # whose adjoint is also another node's
        for row in ledger.rows:
            if row.role == "value":
                self.hold(_buffer(row.node), row.bytes)
        self.adjoint[ledger.root] = self.new(_nbytes(ledger.root.data))
        for node in _backward_order(ledger.root):
            g = self.adjoint[node]
            for position, parent in enumerate(node.parents):
                if parent.requires_grad:
                    self.send(node, position, parent, g)
            if release:
                self.drop(g)
                if node is not ledger.root:
                    self.drop(_buffer(node))
        for node in self.views:
            if not node.parents:
                self.new(_nbytes(node.data))  # a leaf's gradient is its own

    def new(self, size: int) -> object:
        buffer = object()
        self.hold(buffer, size)
        return buffer

    def hold(self, buffer: Any, size: int = 0) -> None:
        if size:
            self.size[buffer] = size
            self.live += size
            self.peak = max(self.peak, self.live)
        self.users[buffer] += 1

    def drop(self, buffer: Any) -> None:
        self.users[buffer] -= 1
        if not self.users[buffer]:
            self.live -= self.size.pop(buffer, 0)

    def send(self, node: Node, position: int, parent: Node, g: Any) -> None:
        size = _nbytes(parent.data)
        stretched = node.op in ("add", "sub", "mul", "div") and parent.shape != node.shape
        passed = node.op == "concatenate" or position in _PASSES_ON.get(node.op, ())
        if passed:
            share = g
            self.hold(share)
        else:
            scratch = self.new(_scratch(node, position, self.size.get(g, 0)))
            share = self.new(_nbytes(node.data) if stretched else size)
            self.drop(scratch)
        if stretched:
            share = self.replace(share, size)
        self.views.discard(parent)
        if parent in self.adjoint:
            share = self.replace(share, size)  # by the sum with what came before
            self.drop(self.adjoint[parent])
        elif passed and not stretched:
            self.views.add(parent)
        self.adjoint[parent] = share

    def replace(self, buffer: Any, size: int) -> Any:
        new = self.new(size)
        self.drop(buffer)
        return new


def _backward_order(root: Node) -> list[Node]:
    """The computed nodes in the order in which the backward pass comes to them."""
    with one_pass_at_a_time:
        order: list[Node] = children_first(root)
        for node in order:
            node._adjoint = None
    return order


def _scratch(node: Node, position: int, incoming: int) -> int:
    """The bytes of temporary arrays beside the share while the VJP of one input computes.

    ``incoming`` is the size of the gradient, which is small where one entry stands for all.
    """
    size = _nbytes(node.parents[0].data if node.op == "logsumexp" else node.data)
    if node.op == "pow" and position == 0:  # the exponent times the gradient, and the power
        arrays = (incoming >= size) + (node.parents[1].data != 2.0)
        return int(size * max(0, arrays - (size >= _LARGE)))
    return size * _SCRATCH.get((node.op, position), (0, 0))[size >= _LARGE]


def _role(node: Node, trained: set[Node]) -> Role:
    if node.parents:
        return "value"
    if node in trained:
        return "parameter"
    return "input" if node.ndim or node.requires_grad else "constant"


def _nbytes(data: Any) -> int:
    return data.nbytes if isinstance(data, np.ndarray) else 0


def _memory(node: Node) -> Any:
    """What holds a node's data: of a view the array that it shows."""
    data = node.data
    while isinstance(data, np.ndarray) and isinstance(data.base, np.ndarray):
        data = data.base
    return data


def _buffer(node: Node) -> int:
    """What stands for the memory that holds a node's data."""
    return id(_memory(node))


def _owned(node: Node) -> int:
    """The bytes of a node's array, 0 where it is a view of an operand's or of one given to it."""
    memory = _memory(node)
    if not isinstance(memory, np.ndarray) or memory.base is not None:
        return 0  # a number, or one entry repeated
    if node.parents:
        is_view = _buffer(node) in map(_buffer, node.parents)
    else:
        is_view = memory is not node.data
    return 0 if is_view else memory.nbytes


def _needed(order: Sequence[Node]) -> set[Node]:
    """The nodes whose data some VJP of the backward pass reads, itself or through a view."""
    read: set[Any] = set()
    for node in order:
        if node.parents and node.requires_grad:
            for position, parent in enumerate(node.parents):
                if parent.requires_grad:
                    read |= {_buffer(x) for x in _read_for(node, position)}
    return {node for node in order if isinstance(node.data, np.ndarray) and _buffer(node) in read}


def _read_for(node: Node, position: int) -> Sequence[Node]:
    """What the VJP of that input reads; for a rule that is not known here, all there is."""
    if node.op in _READS_NOTHING:
        return ()
    if node.op not in _READS:
        return (*node.parents, node)
    data = {"a": node.parents[0], "b": node.parents[-1], "o": node}
    return [data[letter] for letter in _READS[node.op][position]]


def _named(order: Iterable[Node]) -> Iterator[tuple[Node, str]]:
    counts: Counter[str] = Counter()
    for node in order:
        kind = node.op or "leaf"
        counts[kind] += 1
        yield node, node.label or f"{kind} {counts[kind]}"


def _by_operation(nodes: Iterable[Node]) -> Counter[str]:
    total: Counter[str] = Counter()
    for node in nodes:
        if count := flops(node):
            total[node.op] += count
    return total
