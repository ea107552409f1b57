"""What a graph costs: bytes and floating-point operations, node by node, read off the graph.

The bytes are those of the entries of arrays. The objects around them (some 100 bytes an array, and
as many a node) and Python floats are left out; they matter for scalar graphs alone.

An operation on numbers is one FLOP, so a multiply-add is two and ``(n, k) @ (k, m)`` is ``2nkm``. A
function such as exp is one an entry; moving, comparing and choosing entries is none. ``einsum`` of
two operands that sums over an index is 2 for each value of all its indices, of three 3, since that
is how it is computed here: in one loop, without intermediate results.
"""

import gc
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from chaingrad._tree import leaves
from chaingrad.backward import adjoints, children_first
from chaingrad.node import Node
from chaingrad.rules import RESULT, UNKNOWN, Facts

Role = Literal["parameter", "input", "constant", "value"]

_LARGE = 256 * 1024  # bytes: NPY_MIN_ELIDE_BYTES
_STATE = {"sgd": 0, "momentum": 1, "adam": 2}  # arrays an optimizer keeps for each parameter


def flops(node: Node) -> int:
    """Count the floating-point operations that computed ``node`` from its parents.

    >>> flops(Node(np.ones((2, 3))) @ np.ones((3, 4)))
    48
    """
    return max(_facts(node).flops(node, *node.parents), 0) if node.parents else 0


@dataclass(frozen=True)
class Row:
    """One node of a ledger.

    Attributes:
        name: the label, or the operation and a number.
        role: parameter, input (any other leaf), constant, or value (computed).
        bytes: of the array it owns, 0 for a number and for a view of another node's array; and of
            what its rule keeps for the backward pass, as cross-entropy its exponentials.
        needed: whether the backward pass reads the data, or what the rule keeps: it must be kept
            or recomputed.
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
        graph = set(order)
        if strange := [parameter for parameter in self.parameters if parameter not in graph]:
            raise ValueError(
                f"the loss does not depend on {strange[0]!r}: leave it out of the parameters"
            )
        needed = _nodes_read_backward(order)
        self.rows = [
            Row(
                node, name, role, _own_bytes(node) + _cache_bytes(node), node in needed, flops(node)
            )
            for node, name in _named(order)
            for role in [_role(node, trained)]
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
        inputs are not counted, nor is what a variable of the function keeps longer.
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

        Counts values, gradients of computed values and gradients of parameters; not the parameters,
        the inputs and the optimizer's state. With ``release`` as `~chaingrad.node.Node.backward`
        has it. Not for graphs with `~chaingrad.remat.checkpoint`, whose second run it cannot see.

        Of the arrays that an operation or its VJP drops again before it ends, those are counted
        that a rule states. The rules of maximum and minimum, max and min, logaddexp, powers of a
        variable exponent, cumsum, indices in arrays, and einsum of three operands or more state
        none, nor do the functions that are made of them, as clip and sort: there the prediction is
        a lower bound, and what is measured can be more by several arrays of the operation's size.
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
                self.hold(_memory_key(row.node), _own_bytes(row.node))
                self.hold(row.node, _cache_bytes(row.node))
        self.adjoint[ledger.root] = self.new(_nbytes(ledger.root.data))
        for node in children_first(ledger.root):
            g = self.adjoint[node]
            for position, parent in enumerate(node.parents):
                if parent.requires_grad:
                    self.send(node, position, parent, g)
            if release:
                self.drop(g)
                if node is not ledger.root:
                    self.drop(_memory_key(node))
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
        facts = _facts(node)
        stretched = facts.broadcasts and parent.shape != node.shape
        passed = position in facts.passes_on
        if passed:
            share = g
            self.hold(share)
        else:
            self.drop(node)  # what its rule keeps
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


def _scratch(node: Node, position: int, incoming: int) -> int:
    """Count the bytes of temporary arrays, besides the share, that the VJP of one input needs.

    ``incoming`` is the size of the gradient, which is small where one entry stands for all.
    """
    array, arrays = node.data, _facts(node).scratch
    if callable(arrays):
        array, arrays = arrays(incoming, array, *[parent.data for parent in node.parents])
    size = _nbytes(array)
    return size * arrays[position][size >= _LARGE] if position < len(arrays) else 0


def _role(node: Node, trained: set[Node]) -> Role:
    if node.parents:
        return "value"
    if node in trained:
        return "parameter"
    return "input" if node.ndim or node.requires_grad else "constant"


def _nbytes(data: Any) -> int:
    return data.nbytes if isinstance(data, np.ndarray) else 0


def _memory_owner(node: Node) -> Any:
    """Return the object that holds a node's data: for a view, the array that it shows."""
    data = node.data
    while isinstance(data, np.ndarray) and isinstance(data.base, np.ndarray):
        data = data.base
    return data


def _memory_key(node: Node) -> int:
    """Return an id for the memory that holds a node's data; a number counts as its node's own."""
    memory = _memory_owner(node)
    return id(memory if isinstance(memory, np.ndarray) else node)


def _own_bytes(node: Node) -> int:
    """Count the bytes of a node's array: 0 if it is a view of an operand's or of a given array."""
    memory = _memory_owner(node)
    if not isinstance(memory, np.ndarray) or memory.base is not None:
        return 0  # a number, or one entry repeated
    if node.parents:
        is_view = _memory_key(node) in map(_memory_key, node.parents)
    else:
        is_view = memory is not node.data
    return 0 if is_view else memory.nbytes


def _cache_bytes(node: Node) -> int:
    """Count the bytes of the arrays that a node's rule keeps for its VJP, which uses them up."""
    kept = node.rule.options.get("kept", ()) if node.rule else ()
    return sum(_nbytes(data) for arrays in kept for data in arrays)


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
    if _cache_bytes(node):
        return (node,)
    reads = _facts(node).reads
    if reads is None:
        return (*node.parents, node)
    if position >= len(reads):
        return ()
    return [node if i == RESULT else node.parents[i] for i in reads[position]]


def _facts(node: Node) -> Facts:
    return node.rule.facts if node.rule else UNKNOWN


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

# The tensors that make up PyTorch's sparse tensors.
_ROWS = ("crow_indices", "col_indices", "values")
_COLUMNS = ("ccol_indices", "row_indices", "values")
SPARSE = {
    "torch.sparse_coo": ("_indices", "_values"),
    "torch.sparse_csr": _ROWS,
    "torch.sparse_bsr": _ROWS,
    "torch.sparse_csc": _COLUMNS,
    "torch.sparse_bsc": _COLUMNS,
}


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
        return alive() - before - _nbytes(result.data)
    finally:
        if not tracing:
            tracemalloc.stop()


def _saved_by_torch(f: Callable[..., Any], args: Sequence[Any], known: Sequence[Any]) -> int:
    import torch

    saved: dict[int, Any] = {}

    def storages(tensor: Any) -> dict[int, Any]:
        parts = [getattr(tensor, name)() for name in SPARSE.get(str(tensor.layout), ())] or [tensor]
        return {part.untyped_storage().data_ptr(): part.untyped_storage() for part in parts}

    def pack(tensor: Any) -> Any:
        saved.update(storages(tensor))
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        _result = f(*args)  # keep it alive, so that no address is used again
    own = {address for x in known if isinstance(x, torch.Tensor) for address in storages(x)}
    return sum(storage.nbytes() for address, storage in saved.items() if address not in own)


def _saved_by_jax(f: Callable[..., Any], args: Sequence[Any], known: Sequence[Any]) -> int:
    import jax

    _, pullback = jax.vjp(f, *args)
    kept = {id(x): x for x in jax.tree.leaves(pullback)}
    own = {id(x) for x in known}
    return sum(x.nbytes for key, x in kept.items() if key not in own)


def saved_by_layer(run: Any, depth: int | None = None) -> dict[str, int]:
    """Count the bytes that each module keeps for the backward pass, in the order they ran.

    What several read is counted once, at the first function that holds it, so that the sum is what
    `saved_bytes` measures. What is in no module goes by the name ``"(no module)"``.

    Args:
        run: what `chainview.frameworks.watch_torch` or ``watch_jax`` saw.
        depth: how many parts of a module's path make a layer: with 2 ``"blocks.0.norm"`` and
            ``"blocks.0.mlp.1"`` are ``"blocks.0"``. By default the innermost modules are layers.
    """
    found: dict[str, int] = {}
    for value in sorted(run.values, key=lambda value: not value.parents):  # operations first
        name = layer_of(value, depth)
        found[name] = found.get(name, 0) + value.kept
    return found


def layer_of(value: Any, depth: int | None = None) -> str:
    """Name the module that was running when a watched value was computed, or first read."""
    call = value.call
    path = ".".join(call.path.split(".")[:depth])
    return path or call.kind or "(no module)"
