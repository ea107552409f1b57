"""The node: a value, the operation and operands it came from, and the backward pass."""

import contextlib
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from chaingrad import rules
from chaingrad.rules import Rule, Traced, unbroadcast

Data = float | npt.NDArray[np.floating[Any]]

_REACHED: Any = object()  # the adjoint of a node that the sort has seen and no gradient has reached
_backward_lock = threading.RLock()
_recording = threading.local()
_pauses = 0  # how many no_grad blocks are open, in all threads together: 0 spares a look-up


class Node(Traced):
    """A value in a computational graph.

    Arithmetic with nodes, numbers and arrays gives nodes that remember their operands, so the graph
    is built as the computation runs. `backward` then finds the gradient of one node with respect to
    every node that it was computed from.

    Args:
        data: a number, or an array of numbers. float16, float32 and float64 are kept, integers and
            booleans become float64, a plain number is held as a Python float.
        label: a name for drawings and error messages.
        requires_grad: False makes a constant, for which no gradient is computed.

    Attributes:
        data: a Python float or a NumPy array of floats (the very array given: not a copy).
        grad: 0.0 until a backward pass reaches the node; then a float, an array of the shape and
            dtype of ``data``, or a node (under ``create_graph``).
        parents: the operands, in order; empty for a leaf.
        label: a name, or None.
        requires_grad: whether gradients flow to this node.

    Raises:
        TypeError: data that is not numeric, is complex, or is a node already.

    >>> x = Node(3.0, label="x")
    >>> y = x * x + 2 * x
    >>> y.backward()
    >>> y.data, x.grad
    (15.0, 8.0)
    """

    __slots__ = (
        "_adjoint",
        "_options",
        "_rule",
        "data",
        "grad",
        "label",
        "parents",
        "requires_grad",
    )
    __array_ufunc__ = None  # array * node asks the node

    data: Any
    grad: Any
    parents: tuple["Node", ...]
    label: str | None
    requires_grad: bool

    def __init__(self, data: Any, label: str | None = None, requires_grad: bool = True) -> None:
        self.data = as_data(data)
        self.grad = 0.0
        self.parents = ()
        self.label = label
        self.requires_grad = requires_grad
        self._rule: Rule | None = None
        self._options: dict[str, Any] | None = None
        self._adjoint: Any = None

    # --- what a node is -------------------------------------------------------------------------

    @property
    def op(self) -> str:
        """The name of the operation that made this node, ``""`` for a leaf."""
        return self._rule.name if self._rule else ""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the data; ``()`` for a number."""
        return np.shape(self.data)

    @property
    def ndim(self) -> int:
        """The number of axes of the data."""
        return np.ndim(self.data)

    @property
    def size(self) -> int:
        """The number of entries of the data."""
        return int(np.size(self.data))

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the data; a number's is float64."""
        return np.result_type(self.data) if type(self.data) is not float else np.dtype(np.float64)

    def item(self) -> float:
        """The only entry of the data, as a Python float.

        Raises:
            ValueError: the data has more than one entry, or none.
        """
        if self.size != 1:
            raise ValueError(
                f"item() needs a node with one entry, but {_describe(self)} has {self.size}"
            )
        return float(np.reshape(self.data, ()))

    def __repr__(self) -> str:
        data = (
            repr(self.data)
            if self.ndim == 0
            else np.array2string(self.data, separator=", ", prefix="Node(", threshold=20)
        )
        parts = [data]
        if self.label is not None:
            parts.append(f"label={self.label!r}")
        if self.op:
            parts.append(f"op={self.op!r}")
        if not self.requires_grad:
            parts.append("requires_grad=False")
        return f"{type(self).__name__}({', '.join(parts)})"

    def __float__(self) -> float:
        return self.item()

    def __len__(self) -> int:
        if self.ndim == 0:
            raise TypeError(f"{_describe(self)} is a scalar, so it has no len()")
        return len(self.data)

    def __iter__(self) -> Iterator["Node"]:
        return (self[i] for i in range(len(self)))

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(
            f"{_describe(self)} cannot become a NumPy array without losing its graph; "
            "use node.data for its value, or chaingrad.stack to join nodes"
        )

    # Comparisons look at values and give plain booleans; == and hash() stay those of identity, so
    # that nodes can be members of sets and keys of dictionaries.
    def __lt__(self, other: Any) -> Any:
        return self.data < rules.value(other)

    def __le__(self, other: Any) -> Any:
        return self.data <= rules.value(other)

    def __gt__(self, other: Any) -> Any:
        return self.data > rules.value(other)

    def __ge__(self, other: Any) -> Any:
        return self.data >= rules.value(other)

    # --- operations -----------------------------------------------------------------------------

    def apply(self, rule: Rule, inputs: Sequence[Any], options: dict[str, Any]) -> "Node":
        """Compute ``rule`` on ``inputs`` and record it; inputs that are not nodes are constants.

        Raises:
            ValueError: the shapes do not fit; the message names the operation and the operands.
            TypeError: an input is not numeric.
        """
        nodes = tuple([x if isinstance(x, Node) else _constant(x, self.data) for x in inputs])
        try:
            data = rule.compute(*[node.data for node in nodes], **options)
        except (ValueError, TypeError, IndexError) as error:
            raise _explained(error, rule, nodes, options) from None
        return _record(rule, data, nodes, options)

    def __add__(self, other: Any) -> "Node":
        return _binary(rules.add, self, other)

    def __radd__(self, other: Any) -> "Node":
        return _reflected(rules.add, other, self)

    def __sub__(self, other: Any) -> "Node":
        return _binary(rules.sub, self, other)

    def __rsub__(self, other: Any) -> "Node":
        return _reflected(rules.sub, other, self)

    def __mul__(self, other: Any) -> "Node":
        return _binary(rules.mul, self, other)

    def __rmul__(self, other: Any) -> "Node":
        return _reflected(rules.mul, other, self)

    def __truediv__(self, other: Any) -> "Node":
        return _binary(rules.div, self, other)

    def __rtruediv__(self, other: Any) -> "Node":
        return _reflected(rules.div, other, self)

    def __pow__(self, other: Any) -> "Node":
        return _binary(rules.pow_, self, other)

    def __rpow__(self, other: Any) -> "Node":
        return _reflected(rules.pow_, other, self)

    def __matmul__(self, other: Any) -> "Node":
        return _binary(rules.matmul, self, other)

    def __rmatmul__(self, other: Any) -> "Node":
        return _reflected(rules.matmul, other, self)

    def __neg__(self) -> "Node":
        return self.apply(rules.neg, (self,), {})

    def __pos__(self) -> "Node":
        return self

    def __abs__(self) -> "Node":
        return self.apply(rules.abs_, (self,), {})

    def abs(self) -> "Node":
        """The absolute value; its slope at 0 is taken as 0."""
        return self.apply(rules.abs_, (self,), {})

    def exp(self) -> "Node":
        """The exponential of each entry."""
        return self.apply(rules.exp, (self,), {})

    def log(self) -> "Node":
        """The natural logarithm of each entry."""
        return self.apply(rules.log, (self,), {})

    def sqrt(self) -> "Node":
        """The square root of each entry."""
        return self.apply(rules.sqrt, (self,), {})

    def sin(self) -> "Node":
        """The sine of each entry."""
        return self.apply(rules.sin, (self,), {})

    def cos(self) -> "Node":
        """The cosine of each entry."""
        return self.apply(rules.cos, (self,), {})

    def tanh(self) -> "Node":
        """The hyperbolic tangent of each entry."""
        return self.apply(rules.tanh, (self,), {})

    def sigmoid(self) -> "Node":
        """The logistic function 1 / (1 + exp(-x)) of each entry."""
        return self.apply(rules.sigmoid, (self,), {})

    def relu(self) -> "Node":
        """The positive part max(0, x) of each entry; its slope at 0 is taken as 0."""
        return self.apply(rules.relu, (self,), {})

    def sum(self, axis: Any = None, keepdims: bool = False) -> "Node":
        """The sum over ``axis``: an int, a tuple of ints, or None for all axes."""
        return self.apply(rules.sum_, (self,), {"axis": axis, "keepdims": keepdims})

    def mean(self, axis: Any = None, keepdims: bool = False) -> "Node":
        """The mean over ``axis``: an int, a tuple of ints, or None for all axes."""
        return self.apply(rules.mean, (self,), {"axis": axis, "keepdims": keepdims})

    def max(self, axis: Any = None, keepdims: bool = False) -> "Node":
        """The largest entry along ``axis``; entries that tie share the gradient equally."""
        return self.apply(rules.max_, (self,), {"axis": axis, "keepdims": keepdims})

    def min(self, axis: Any = None, keepdims: bool = False) -> "Node":
        """The smallest entry along ``axis``; entries that tie share the gradient equally."""
        return self.apply(rules.min_, (self,), {"axis": axis, "keepdims": keepdims})

    def logsumexp(self, axis: Any = None, keepdims: bool = False) -> "Node":
        """log(sum(exp(x))) along ``axis``, computed without overflow :cite:`blanchard2021`."""
        return self.apply(rules.logsumexp, (self,), {"axis": axis, "keepdims": keepdims})

    def reshape(self, *shape: Any) -> "Node":
        """The same entries in another shape: ``x.reshape(2, 3)`` or ``x.reshape((2, 3))``."""
        return self.apply(rules.reshape, (self,), {"shape": _unpacked(shape)})

    def transpose(self, *axes: Any) -> "Node":
        """The axes in another order; reversed when none are given."""
        return self.apply(rules.transpose, (self,), {"axes": _unpacked(axes) or None})

    @property
    def T(self) -> "Node":  # noqa: N802 (as in NumPy)
        """The transpose: the axes reversed."""
        return self.apply(rules.transpose, (self,), {})

    def broadcast_to(self, *shape: Any) -> "Node":
        """The entries repeated to fill ``shape``, by NumPy's broadcasting rules."""
        return self.apply(rules.broadcast_to, (self,), {"shape": _unpacked(shape)})

    def astype(self, dtype: Any) -> "Node":
        """The entries in another floating dtype; the gradient comes back in this one's."""
        if not np.issubdtype(np.dtype(dtype), np.floating):
            raise TypeError(f"astype: nodes hold floats, so dtype cannot be {np.dtype(dtype)}")
        return self.apply(rules.cast, (self,), {"dtype": np.dtype(dtype)})

    def __getitem__(self, index: Any) -> "Node":
        return self.apply(rules.getitem, (self,), {"index": index})

    def detach(self) -> "Node":
        """A constant with the same data, through which no gradient flows."""
        return Node(self.data, label=self.label, requires_grad=False)

    # --- differentiation ------------------------------------------------------------------------

    def sorted_graph(self) -> list["Node"]:
        """Sort the graph of this node: itself first, every child before its parents.

        See `chaingrad.graph.toposort`.
        """
        from chaingrad.graph import toposort

        return toposort(self, lambda node: node.parents)

    def backward(
        self, gradient: Any = None, create_graph: bool = False, release: bool = False
    ) -> None:
        """Find the gradient of this node with respect to every node it was computed from.

        Fills ``grad`` of each node that requires a gradient. At interior nodes (self among them) it
        is replaced on each call; at leaves it is added to what is there, so that gradients of
        several losses accumulate. Set ``leaf.grad = 0.0`` to start afresh.

        Args:
            gradient: the vector of the vector-Jacobian product, of the shape of ``data``; may be
                left out where ``data`` has one entry, and is 1 then.
            create_graph: make the gradients nodes, to be differentiated again. The graph then
                refers to itself, and Python's cyclic collector has to free it;
                `chaingrad.functional.grad` avoids that.
            release: free the values, gradients and graph of interior nodes as the pass leaves
                them; this node keeps its value. They cannot be used again.

        Raises:
            ValueError: ``gradient`` is missing for data with more than one entry, or has the wrong
                shape; or the graph was released.
            TypeError: nothing here requires a gradient.
        """
        if release and create_graph:
            raise ValueError(
                "backward: release frees the graph that create_graph is to keep; choose one"
            )
        propagate(self, gradient, create_graph=create_graph, release=release)


def as_data(x: Any) -> Data:
    """Turn ``x`` into what a node holds: a Python float, or an array of floats.

    Raises:
        TypeError: ``x`` is not numeric, is complex, or is a node.
    """
    if type(x) is float:
        return x
    if isinstance(x, Node):
        raise TypeError(
            f"{_describe(x)} is a node already; use it as it is, or node.detach() for "
            "a constant with its value"
        )
    if isinstance(x, int | float):
        return float(x)
    try:
        array = np.asarray(x)
    except ValueError as error:
        raise TypeError(
            f"a node holds a number or an array of numbers; got {_kind(x)} that is no "
            f"array: {error}"
        ) from None
    if array.dtype.kind in "iub":
        array = array.astype(np.float64)
    if array.dtype.kind != "f":
        hint = "; differentiate real and imaginary parts apart" if array.dtype.kind == "c" else ""
        raise TypeError(
            f"a node holds a float or an array of floats; got {_kind(x)} of dtype "
            f"{array.dtype}{hint}"
        )
    if not isinstance(x, np.ndarray) and array.ndim == 0 and array.dtype == np.float64:
        return float(array)
    return array


@contextlib.contextmanager
def no_grad() -> Iterator[None]:
    """Compute without recording: results inside are constants. Also works as a decorator.

    Holds for the thread that enters it.

    >>> w = Node(2.0)
    >>> with no_grad():
    ...     y = w * 3
    >>> y.requires_grad, y.parents
    (False, ())
    """
    global _pauses
    with _backward_lock:
        _pauses += 1
    _recording.pauses = getattr(_recording, "pauses", 0) + 1
    try:
        yield
    finally:
        _recording.pauses -= 1
        with _backward_lock:
            _pauses -= 1


# --- recording ----------------------------------------------------------------------------------


def _binary(rule: Rule, a: Node, b: Any) -> Node:
    if not isinstance(b, Node):
        if not _operand(b):
            return NotImplemented  # type: ignore[no-any-return]
        b = _constant(b, a.data)
    try:
        data = rule.compute(a.data, b.data)
    except (ValueError, TypeError) as error:
        raise _explained(error, rule, (a, b), {}) from None
    return _record(rule, data, (a, b), None)


def _reflected(rule: Rule, a: Any, b: Node) -> Node:
    return _binary(rule, _constant(a, b.data), b) if _operand(a) else NotImplemented


def _operand(x: Any) -> bool:
    """Whether ``x`` may stand beside a node; others get Python's own TypeError."""
    return isinstance(x, int | float | np.ndarray | np.generic | list | tuple) or hasattr(
        x, "__array__"
    )


def _constant(x: Any, beside: Data) -> Node:
    """A constant; integers and booleans take the dtype of the data that they stand beside."""
    if isinstance(x, np.ndarray | np.generic) and x.dtype.kind in "iub":
        x = x.astype(np.result_type(beside) if type(beside) is not float else np.float64)
    return Node(x, requires_grad=False)


def _record(
    rule: Rule, data: Any, parents: tuple[Node, ...], options: dict[str, Any] | None
) -> Node:
    """Make the node of a result. Creating the object by hand is faster than Node()."""
    node: Node = object.__new__(Node)
    if type(data) is not float and type(data) is not np.ndarray:
        data = float(data) if type(data) is np.float64 else np.asarray(data)
    node.data = data
    node.grad = 0.0
    node.label = None
    node._adjoint = None
    if not (_pauses and getattr(_recording, "pauses", 0)):
        for parent in parents:
            if parent.requires_grad:
                node.parents = parents
                node.requires_grad = True
                node._rule = rule
                node._options = options
                return node
    node.parents = ()
    node.requires_grad = False
    node._rule = None
    node._options = None
    return node


# --- the backward pass --------------------------------------------------------------------------


def _children_first(root: Node) -> tuple[list[Node], list[Node]]:
    """Sort as `chaingrad.graph.toposort` does, for nodes that require a gradient only.

    The mark of a visit is kept on the node, where the gradient will be; leaves need no order and
    come apart. Returns the interior nodes, children before parents, and the leaves.
    """
    order: list[Any] = []
    leaves: list[Node] = []
    stack: list[Any] = [root]
    push, pop = stack.append, stack.pop
    while stack:
        node = pop()
        if node is None:  # the parents of the node below have all been pushed
            order.append(pop())
        elif node._adjoint is None:
            node._adjoint = _REACHED
            if node._rule is None:
                leaves.append(node)
                continue
            push(node)
            push(None)
            for parent in node.parents:
                if parent._adjoint is None and parent.requires_grad:
                    push(parent)
    order.reverse()
    return order, leaves


def propagate(
    root: Node,
    gradient: Any = None,
    *,
    create_graph: bool = False,
    release: bool = False,
    wanted: Sequence[Node] | None = None,
) -> dict[Node, Any]:
    """Run the backward pass that `Node.backward` describes.

    Args:
        root, gradient, create_graph, release: as there.
        wanted: nodes whose gradients to return, leaving every ``grad`` as it was. None stores them.

    Returns:
        The gradients of the wanted nodes that the root depends on.
    """
    seed = _seed(root, gradient, create_graph)
    found: dict[Node, Any] = {}
    order: list[Node] = []
    leaves: list[Node] = []
    with _backward_lock:  # marks and adjoints live on the nodes: one pass at a time
        try:
            order, leaves = _children_first(root)
            root._adjoint = seed
            for node in order:
                g = node._adjoint
                node._adjoint = None
                if wanted is None:
                    node.grad = g
                elif node in wanted:
                    found[node] = g
                parents = node.parents
                if len(parents) == 2 and not (create_graph or node._options):
                    # The loop below, unrolled: most nodes of a scalar graph come this way.
                    a, b = parents
                    x, y, out = a.data, b.data, node.data
                    of_a, of_b = node._rule.vjps  # type: ignore[union-attr]
                    if (known := a._adjoint) is not None:
                        share = of_a(g, out, x, y)
                        if type(share) is float and type(x) is float:
                            a._adjoint = share if known is _REACHED else known + share
                        else:
                            _add_to_adjoint(a, share)
                    if (known := b._adjoint) is not None:
                        share = of_b(g, out, x, y)
                        if type(share) is float and type(y) is float:
                            b._adjoint = share if known is _REACHED else known + share
                        else:
                            _add_to_adjoint(b, share)
                else:
                    for parent, share in _shares(node, g, create_graph):
                        _add_to_adjoint(parent, share)
                if release:
                    _release(node, keep_data=node is root)
            for leaf in leaves:
                if wanted is None:
                    leaf.grad = _total(leaf.grad, leaf._adjoint)
                elif leaf in wanted:
                    found[leaf] = leaf._adjoint
                leaf._adjoint = None
        except BaseException:
            for node in (*order, *leaves) or root.sorted_graph():
                node._adjoint = None
            raise
    return found


def local_gradients(node: Node) -> list[tuple[Node, float | None]]:
    """Give the local gradient ∂node/∂parent for each operand of a scalar node.

    None stands where there is none to give as a number: the operand is a constant, or the node or
    the operand is an array.

    >>> a, b = Node(2.0, "a"), Node(3.0, "b")
    >>> [(parent.label, local) for parent, local in local_gradients(a * b)]
    [('a', 3.0), ('b', 2.0)]
    """
    if node.ndim or not node.parents:
        return [(parent, None) for parent in node.parents]
    scalar = [parent.ndim == 0 and parent.requires_grad for parent in node.parents]
    data = [parent.data for parent in node.parents]
    vjps = zip(scalar, node._rule.vjps, strict=False)  # type: ignore[union-attr]
    options = node._options or {}
    shares = [float(vjp(1.0, node.data, *data, **options)) if ok else None for ok, vjp in vjps]
    return list(zip(node.parents, shares, strict=True))


def _seed(root: Node, gradient: Any, create_graph: bool) -> Any:
    if not root.requires_grad:
        raise TypeError(
            f"backward: {_describe(root)} does not depend on any node that requires a "
            "gradient; was it made by constants alone, detached, or computed under "
            "no_grad()?"
        )
    if gradient is None:
        if root.size != 1:
            raise ValueError(
                f"backward: {_describe(root)} is not a scalar, so the gradient of "
                "what? Reduce it first, say with .sum(), or pass gradient= of shape "
                f"{root.shape}"
            )
        gradient = 1.0 if type(root.data) is float else np.ones(root.shape, root.dtype)
    elif isinstance(gradient, Node) and not create_graph:
        gradient = gradient.data
    if not isinstance(gradient, Node):
        gradient = as_data(gradient)
    if np.shape(rules.value(gradient)) != root.shape:
        raise ValueError(
            f"backward: gradient= must have the shape {root.shape} of "
            f"{_describe(root)}; got shape {np.shape(rules.value(gradient))}"
        )
    if create_graph:
        return gradient if isinstance(gradient, Node) else Node(gradient, requires_grad=False)
    return float(gradient) if type(root.data) is float else np.asarray(gradient, root.dtype)


def _shares(node: Node, g: Any, create_graph: bool) -> Iterator[tuple[Node, Any]]:
    """Yield each parent that takes part in the pass with its share of the gradient ``g``."""
    rule, parents, options = node._rule, node.parents, node._options or {}
    if rule is None:
        return
    if rule is _RELEASED:
        raise ValueError(
            f"backward: {_describe(node)} was freed by backward(release=True); compute "
            "it again, or leave release out of the earlier call"
        )
    inputs = parents if create_graph else [parent.data for parent in parents]
    out = node if create_graph else node.data
    for parent, vjp in zip(parents, rule.vjps, strict=False):
        if parent._adjoint is not None:
            yield parent, vjp(g, out, *inputs, **options)


def _add_to_adjoint(parent: Node, share: Any) -> None:
    """Bring ``share`` to the shape and dtype of the parent's data, and add it to its adjoint."""
    data, known = parent.data, parent._adjoint
    shape = np.shape(data)
    if np.shape(rules.value(share)) != shape:
        share = unbroadcast(share, shape)
    if isinstance(share, Node):
        if type(data) is not float and share.dtype != data.dtype:
            share = share.astype(data.dtype)
    elif type(data) is float:
        share = float(share)
    else:
        share = np.asarray(share, data.dtype)
    if known is not _REACHED:
        share = known + share
        if isinstance(share, np.generic):  # NumPy turns sums of 0-d arrays into scalars
            share = np.asarray(share)
    parent._adjoint = share


def _total(grad: Any, more: Any) -> Any:
    """Add ``more`` to the gradient of a leaf, as an array that no other node shares."""
    if isinstance(more, Node) and type(grad) is float and grad == 0.0:
        return more
    total = grad + more
    return np.asarray(total) if isinstance(total, np.generic) else total


_RELEASED = Rule("released", lambda *inputs: None, ())


def _release(node: Node, keep_data: bool) -> None:
    node.parents = ()
    node._rule = _RELEASED
    node._options = None
    if not keep_data:
        node.data = None
        node.grad = 0.0


# --- words for messages -------------------------------------------------------------------------


def _describe(node: Node) -> str:
    name = repr(node.label) if node.label is not None else (node.op or "a leaf")
    return f"node {name} of shape {np.shape(node.data)}"


def _kind(x: Any) -> str:
    return f"{type(x).__name__} {x!r:.60}"


def _brief(option: Any) -> str:
    if isinstance(option, np.ndarray):
        return f"<array of shape {option.shape}>"
    return repr(option)


def _explained(
    error: Exception, rule: Rule, inputs: Sequence[Node], options: dict[str, Any]
) -> Exception:
    """The error of a computation that failed, with the operation, operands and shapes named."""
    gone = [node for node in inputs if node.data is None]
    if gone:
        return ValueError(
            f"{rule.name}: a node that backward(release=True) freed cannot be used "
            "again; compute it anew"
        )
    what = " and ".join(_describe(node) for node in inputs[:6])
    given = ", ".join(f"{key}={_brief(option)}" for key, option in options.items())
    expected = {
        "matmul": "matmul (@) needs arrays whose inner sizes agree: (..., n, k) @ (..., k, m)",
        "getitem": "the index must fit the shape",
        "reshape": "the number of entries must stay the same",
        "concatenate": "all sizes but that of the axis must agree",
    }.get(rule.name, "shapes must broadcast: trailing sizes equal, or 1")
    return type(error)(f"{rule.name}({given}) of {what} failed: {error}. Expected: {expected}.")


def _unpacked(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """``(2, 3)`` for both f(2, 3) and f((2, 3)); f(None) and f() give ``()``."""
    if len(args) == 1 and (args[0] is None or isinstance(args[0], tuple | list)):
        return tuple(args[0] or ())
    return args
