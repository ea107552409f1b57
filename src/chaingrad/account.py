"""What a graph costs: bytes and floating-point operations, node by node, read off the graph.

The bytes are those of the entries of arrays. The objects around them (some 100 bytes an array, and
as many a node) and Python floats are left out; they matter for scalar graphs alone.

An operation on numbers is one FLOP, so a multiply-add is two and ``(n, k) @ (k, m)`` is ``2nkm``. A
function such as exp is one an entry; moving, comparing and choosing entries is none. ``einsum`` of
two operands that sums over an index is 2 for each value of all its indices, of three 3, since that
is how it is computed here: in one loop, without intermediate results.
"""

import gc
import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from chaingrad._tree import leaves
from chaingrad.backward import adjoints, children_first
from chaingrad.node import Node
from chaingrad.prices import RESULT, UNPRICED, Price

Role = Literal["parameter", "input", "constant", "value"]

_STATE = {"sgd": 0, "momentum": 1, "adam": 2}  # arrays an optimizer keeps for each parameter


def flops(node: Node) -> int:
    """Count the floating-point operations that computed ``node`` from its parents.

    Raises:
        TypeError: its rule does not say how many they are.

    >>> flops(Node(np.ones((2, 3))) @ np.ones((3, 4)))
    48
    """
    if not node.parents:
        return 0
    count = _price(node).flops
    if count is None:
        raise _unknown(node, "how many operations it takes", "flops")
    return max(count(node, *node.parents), 0)


@dataclass(frozen=True)
class Row:
    """One node of a ledger.

    Attributes:
        name: the label, or the operation and a number.
        role: parameter, input (any other leaf), constant, or value (computed).
        bytes: of the array it owns, 0 for a number and for a view of another node's array; and of
            what its rule keeps.
        kept: of these the bytes of what its rule keeps for the backward pass: a mask, indices,
            labels, the exponentials of cross-entropy.
        needed: whether the backward pass reads the data, or what the rule keeps: it must be kept
            or recomputed.
    """

    node: Node
    name: str
    role: Role
    bytes: int
    kept: int
    needed: bool

    @property
    def flops(self) -> int:
        """The operations that made it; see `flops`."""
        return flops(self.node)


class Ledger:
    """The account of the graph of ``root``, one row a node, parents before children.

    A `~chaingrad.remat.checkpoint` is one node of it, with the operations of its function. What is
    not known of a rule of your own is refused when it is asked for: a `TypeError` names the rule,
    and what its `~chaingrad.prices.Price` should say.

    Attributes:
        root: the loss.
        parameters: the leaves that are `chaingrad.nn.Parameter`; where none is, all leaves that
            require a gradient.

    >>> W = Node(np.ones((10, 4)), "W")
    >>> loss = (Node(np.ones((8, 4)), "X", requires_grad=False) @ W.T).tanh().sum()
    >>> account = Ledger(loss)
    >>> account.parameter_bytes, account.input_bytes, account.value_bytes, account.needed_bytes
    (320, 256, 1280, 640)
    >>> account.forward_flops["matmul"], account.backward_flops["matmul"]
    (640, 640)
    """

    def __init__(self, root: Node) -> None:
        order = root.sorted_graph()[::-1]
        leaves = [node for node in order if not node.parents and node.requires_grad]
        self.root = root
        self.parameters = [node for node in leaves if node.is_parameter] or leaves
        trained = set(self.parameters)
        self.read = _nodes_read_backward(order)
        self.rows = []
        counted: set[int] = set()
        for node, name in _named(order):
            arrays = {id(x): nbytes(x) for x in _kept(node)}
            kept = sum(size for key, size in arrays.items() if key not in counted)
            counted |= set(arrays)
            needed = node in self.read or bool(arrays)
            self.rows.append(
                Row(node, name, _role(node, trained), _own_bytes(node) + kept, kept, needed)
            )

    # --- bytes ----------------------------------------------------------------------------------

    @property
    def parameter_bytes(self) -> int:
        """The bytes of the parameters."""
        return sum(nbytes(node.data) for node in self.parameters)

    @property
    def input_bytes(self) -> int:
        """The bytes of the other leaves and constants: examples, targets."""
        return sum(nbytes(row.node.data) for row in self.rows if row.role in ("input", "constant"))

    @property
    def value_bytes(self) -> int:
        """The bytes of all computed values: what this engine keeps until the loss is dropped."""
        return sum(row.bytes for row in self.rows if row.role == "value")

    @property
    def needed_bytes(self) -> int:
        """The bytes of the computed values that the backward pass reads."""
        values = [row for row in self.rows if row.role == "value"]
        return sum(row.bytes if row.node in self.read else row.kept for row in values)

    def state_bytes(self, optimizer: str) -> int:
        """Return the bytes that an optimizer keeps between steps: sgd, momentum or adam.

        Raises:
            ValueError: another optimizer.
        """
        if optimizer not in _STATE:
            raise ValueError(f"unknown optimizer {optimizer!r}; expected one of {sorted(_STATE)}")
        return _STATE[optimizer] * self.parameter_bytes

    def prediction_peak(self) -> int:
        """Predict the most bytes of values alive at once without recording.

        A value is dropped as soon as the last node that reads it has been computed; parameters and
        inputs are not counted, nor is what a variable of the function keeps longer, nor what an
        operation drops again before it ends.
        """
        nodes = [row.node for row in self.rows if row.role == "value"]
        last_use = {_memory_key(parent): node for node in nodes for parent in (*node.parents, node)}
        live = peak = 0
        sizes = {_memory_key(node): _own_bytes(node) for node in nodes if _own_bytes(node)}
        for node in nodes:
            live += _own_bytes(node)
            peak = max(peak, live)
            for buffer in {_memory_key(parent) for parent in (*node.parents, node)}:
                if last_use[buffer] is node and node is not self.root:
                    live -= sizes.pop(buffer, 0)
        return peak

    def training_peak(self, release: bool = False) -> int:
        """Predict the most bytes alive at once in a forward and a backward pass.

        Counts values, what rules keep, adjoints, and the gradients of the parameters; not the
        parameters, the inputs and the optimizer's state. With ``release`` as
        `~chaingrad.node.Node.backward` has it.

        What an operation or its VJP drops again before it ends isn't counted. Beside all values of
        a network that is little, and the prediction holds to 10 %.

        Raises:
            TypeError: a rule does not say what its VJPs pass on; nor can a checkpoint, whose second
                run is not seen here.
        """
        return _Replay(self, release).memory.peak

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
        found = adjoints(self.root, seed, leaves, create_graph=True)
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
        """Format the rows as a table."""
        lines = [f"{'node':14} {'role':10} {'shape':>14} {'bytes':>12}  {'needed':6} {'flops':>14}"]
        for row in self.rows:
            shape = "×".join(map(str, row.node.shape)) or "scalar"
            needed = "yes" if row.needed else ""
            known = not row.node.parents or _price(row.node).flops
            count = f"{row.flops:,}" if known else "unknown"
            lines.append(
                f"{row.name:14} {row.role:10} {shape:>14} {row.bytes:>12,}  {needed:6} {count:>14}"
            )
        return "\n".join(lines)


class _Memory:
    """Buffers, who holds them, and the most bytes that were alive at once."""

    def __init__(self) -> None:
        self.size: dict[Any, int] = {}
        self.holders: Counter[Any] = Counter()
        self.live = self.peak = 0

    def new(self, size: int) -> object:
        buffer = object()
        self.hold(buffer, size)
        return buffer

    def hold(self, buffer: Any, size: int = 0) -> None:
        if size:
            self.size[buffer] = size
            self.live += size
            self.peak = max(self.peak, self.live)
        self.holders[buffer] += 1

    def drop(self, buffer: Any) -> None:
        self.holders[buffer] -= 1
        if not self.holders[buffer]:
            self.live -= self.size.pop(buffer, 0)


class _Adjoint(NamedTuple):
    """The memory of an adjoint, and whether it is a view of another's."""

    buffer: object
    is_view: bool = False


class _Replay:
    """The allocations of both passes, replayed on sizes alone."""

    def __init__(self, ledger: Ledger, release: bool) -> None:
        self.memory = memory = _Memory()
        for row in ledger.rows:
            if row.role == "value":
                saved = _saved_bytes(row.node)
                memory.hold(_memory_key(row.node), _own_bytes(row.node))
                memory.hold((row.node, "saved"), saved)
                memory.hold((row.node, "options"), row.kept - saved)
        root = ledger.root
        self.adjoints = {root: _Adjoint(memory.new(nbytes(root.data)))}
        for node in children_first(root):
            for position, parent in enumerate(node.parents):
                if parent.requires_grad:
                    self.send(node, position, parent)
            if release:
                memory.drop(self.adjoints[node].buffer)
                memory.drop((node, "options"))
                if node is not root:
                    memory.drop(_memory_key(node))
        for node, adjoint in self.adjoints.items():
            if not node.parents and adjoint.is_view:
                memory.new(nbytes(node.data))  # a leaf's gradient is its own
                memory.drop(adjoint.buffer)

    def send(self, node: Node, position: int, parent: Node) -> None:
        """Add a node's share to the adjoint of one parent."""
        share = self.share(node, position, parent)
        before = self.adjoints.get(parent)
        if before:
            total = _Adjoint(self.memory.new(nbytes(parent.data)))
            self.memory.drop(before.buffer)
            self.memory.drop(share.buffer)
            share = total
        self.adjoints[parent] = share

    def share(self, node: Node, position: int, parent: Node) -> _Adjoint:
        """Hold what the VJP of one input makes: a view of the adjoint, or a new array."""
        passes_on = _price(node).passes_on
        if passes_on is None:
            raise _unknown(node, "whose share is a view of the gradient", "passes_on")
        if position in passes_on:
            # an operand that was repeated takes a sum; a piece of a concatenation is a view
            is_summed = parent.size < node.size and None in node.rule.vjps  # type: ignore[union-attr]
            if not is_summed and node.dtype == parent.dtype:
                self.memory.hold(self.adjoints[node].buffer)
                return _Adjoint(self.adjoints[node].buffer, is_view=True)
        else:
            self.memory.drop((node, "saved"))  # the VJP uses it up
        return _Adjoint(self.memory.new(nbytes(parent.data)))


def _unknown(node: Node, what: str, fact: str) -> TypeError:
    return TypeError(
        f"the rule {node.op} does not say {what}: give chaingrad.rules.rule a price=Price({fact}=…)"
    )


def nbytes(data: Any) -> int:
    """Return the bytes of an array's entries; a number counts as none."""
    return data.nbytes if isinstance(data, np.ndarray) else 0


def _role(node: Node, trained: set[Node]) -> Role:
    if node.parents:
        return "value"
    if node in trained:
        return "parameter"
    return "input" if node.ndim or node.requires_grad else "constant"


def _owner(data: Any) -> Any:
    """Return the object that holds some data: for a view, the array that it shows."""
    while isinstance(data, np.ndarray) and isinstance(data.base, np.ndarray):
        data = data.base
    return data


def _memory_key(node: Node) -> int:
    """Return an id for the memory that holds a node's data; a number counts as its node's own."""
    memory = _owner(node.data)
    return id(memory if isinstance(memory, np.ndarray) else node)


def _own_bytes(node: Node) -> int:
    """Count the bytes of a node's array: 0 if it is a view of an operand's or of a given array."""
    memory = _owner(node.data)
    if not isinstance(memory, np.ndarray) or memory.base is not None:
        return 0  # a number, or one entry repeated
    if node.parents:
        is_view = _memory_key(node) in map(_memory_key, node.parents)
    else:
        is_view = memory is not node.data
    return 0 if is_view else memory.nbytes


def _saved_bytes(node: Node) -> int:
    """Count the bytes of the arrays that a node's rule saves for its VJP, which uses them up."""
    return sum(nbytes(data) for arrays in getattr(node.rule, "saved", ()) for data in arrays)


def _kept(node: Node) -> Iterator[Any]:
    """Yield the arrays that a node's rule keeps: in its options, or saved for its VJP."""
    todo = [*node.rule.options.values(), *getattr(node.rule, "saved", ())] if node.rule else []
    while todo:
        option = todo.pop()
        if isinstance(option, tuple | list):
            todo += option
        elif isinstance(option, np.ndarray):
            yield _owner(option)


def _nodes_read_backward(order: Sequence[Node]) -> set[Node]:
    """Find the nodes whose data some VJP of the backward pass reads, directly or through a view."""
    read: set[Any] = set()
    for node in order:
        if node.parents and node.requires_grad:
            for position, parent in enumerate(node.parents):
                if parent.requires_grad:
                    read |= {_memory_key(x) for x in _read_for(node, position)}
    return {node for node in order if _memory_key(node) in read}


def _read_for(node: Node, position: int) -> Sequence[Node]:
    """List what the VJP of one input reads: if its rule doesn't say, all operands and the result.

    A rule that keeps arrays reads these, which belong to its node.
    """
    if _saved_bytes(node):
        return (node,)
    reads = _price(node).reads
    if reads is None:
        return (*node.parents, node)
    if position >= len(reads):
        return ()
    return [node if i == RESULT else node.parents[i] for i in reads[position]]


def _price(node: Node) -> Price:
    return node.rule.price if node.rule else UNPRICED


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


# --- what engines keep ------------------------------------------------------------------------


def saved_bytes(f: Callable[..., Any], *args: Any, given: Any = ()) -> int:
    """Run a forward pass and count the bytes of the arrays it keeps for the backward pass.

    Of nodes these are the arrays that the graph of the result holds, of PyTorch the tensors that
    operations save, each storage once, and of JAX what ``jax.vjp`` hands to the pullback (a
    compiler that is given both passes may decide otherwise). Arguments count for nothing, nor does
    a result that is kept by nobody else.

    Args:
        f: a function of ``args`` that computes the loss.
        args: nodes, tensors or JAX's arrays, or lists and dictionaries of them.
        given: other arrays that exist anyway: parameters that ``f`` reads, examples.

    Raises:
        TypeError: no argument is of a known engine.

    >>> W, X = Node(np.ones((10, 4)), "W"), np.ones((8, 4))
    >>> saved_bytes(lambda W: (X @ W.T).tanh().sum(), W)
    1280
    """
    known = [leaf for x in (*args, *given) for leaf in leaves(x)]
    engines = {type(x).__module__.partition(".")[0] for x in known}
    for engine, count in (("torch", _saved_by_torch), ("jaxlib", _saved_by_jax)):
        if engine in engines:
            return count(f, args, known)
    if any(isinstance(x, Node) for x in known):
        return _saved_by_nodes(f, args)
    if "jax" in sys.modules and any(isinstance(x, float) for x in known):
        return _saved_by_jax(f, args, known)
    raise TypeError(
        f"saved_bytes: expected nodes, PyTorch's tensors or JAX's arrays among the arguments; "
        f"got {', '.join(sorted({type(x).__name__ for x in known})) or 'none'}"
    )


def _saved_by_nodes(f: Callable[..., Any], args: Sequence[Any]) -> int:
    numpy_arrays = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)

    def alive() -> int:
        snapshot = tracemalloc.take_snapshot().filter_traces([numpy_arrays])
        return sum(trace.size for trace in snapshot.traces)

    gc.collect()  # so that older cycles, freed meanwhile, don't count as negative bytes
    tracing = tracemalloc.is_tracing()
    if not tracing:
        tracemalloc.start()
    try:
        before = alive()
        result = f(*args)
        return alive() - before - nbytes(result.data)
    finally:
        if not tracing:
            tracemalloc.stop()


def _saved_by_torch(f: Callable[..., Any], args: Sequence[Any], known: Sequence[Any]) -> int:
    import torch

    saved: dict[int, Any] = {}

    def pack(tensor: Any) -> Any:
        storage = tensor.untyped_storage()
        saved[storage.data_ptr()] = storage
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        _result = f(*args)  # keep it alive, so that no address is used again
    own = {x.untyped_storage().data_ptr() for x in known if isinstance(x, torch.Tensor)}
    return sum(storage.nbytes() for address, storage in saved.items() if address not in own)


def _saved_by_jax(f: Callable[..., Any], args: Sequence[Any], known: Sequence[Any]) -> int:
    import jax

    own = {id(x) for x in known}
    args = jax.tree.map(lambda x: jax.numpy.asarray(x) if id(x) in own else x, args)
    _, pullback = jax.vjp(f, *args)
    kept = {id(x): x for x in jax.tree.leaves(pullback)}
    own |= {id(x) for x in jax.tree.leaves(args)}
    return sum(x.nbytes for key, x in kept.items() if key not in own)
