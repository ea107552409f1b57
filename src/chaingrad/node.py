"""The node: a value, and the operation and operands that it came from."""

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from chaingrad import _copies, _elsewhere, arrays, modes, operations, rules
from chaingrad._floats import Data, as_data, floats, numeric, result_data
from chaingrad._wording import describe, explain_error
from chaingrad.backward import backward_pass
from chaingrad.graph import toposort
from chaingrad.rules import JointRule, Rule, Traced, is_number, is_symbol

Operator = Callable[["Node", Any], "Node"]

ndarray = np.ndarray
_new_object = object.__new__
_pauses = modes.pauses
_OPERANDS = (float, int, ndarray, np.generic, list, tuple)


def _operator(rule: Rule) -> tuple[Operator, Operator]:
    """Make the methods for ``node ∘ other`` and ``other ∘ node``."""
    compute = rule.compute

    def forward(self: "Node", other: Any) -> "Node":
        if type(other) is not Node:
            other = _leaf(other) if type(other) is float else _operand(other, self.data)
            if other is NotImplemented:
                return NotImplemented  # type: ignore[no-any-return]
        try:
            data = compute(self.data, other.data)
        except (ValueError, TypeError) as error:
            raise explain_error(error, rule, (self, other)) from None
        if modes.watches:
            return _record(rule, data, (self, other))
        # _record, written out: a scalar graph spends its forward pass here
        node = _new_object(Node)
        is_plain = type(data) is float or (type(data) is ndarray and data.dtype.kind == "f")
        node.data = data if is_plain else result_data(data, rule, (self, other))
        node.grad = 0.0
        node.label = None
        if (self.requires_grad or other.requires_grad) and not _pauses():
            node.parents = (self, other)
            node.requires_grad = True
            node.rule = rule
        else:
            node.parents = ()
            node.requires_grad = False
            node.rule = None
        return node

    def reflected(self: "Node", other: Any) -> "Node":
        other = _operand(other, self.data)
        return other if other is NotImplemented else forward(other, self)

    name = {"div": "truediv"}.get(rule.name, rule.name)
    forward.__qualname__, reflected.__qualname__ = f"Node.__{name}__", f"Node.__r{name}__"
    return forward, reflected


def _function(rule: Rule, doc: str | None = None) -> Callable[["Node"], "Node"]:
    """Make the method for a function of one node."""
    compute = rule.compute

    def method(self: "Node") -> "Node":
        data = self.data
        is_plain = type(data) is float or (type(data) is ndarray and data.dtype.kind == "f")
        try:
            data = compute(data if is_plain else floats(self))
        except (ValueError, TypeError) as error:
            raise explain_error(error, rule, (self,)) from None
        return _record(rule, data, (self,))

    method.__doc__ = doc
    method.__name__ = rule.name
    method.__qualname__ = f"Node.{rule.name}"
    return method


class Node(Traced):
    """A value in a computational graph.

    Arithmetic with nodes, numbers and arrays gives nodes that remember their operands, so the graph
    is built as the computation runs. `backward` then finds the gradient of one node with respect to
    every node that it was computed from.

    Args:
        data: a number, or an array of numbers. float16, float32 and float64 are kept, integers and
            booleans become float64, a plain number is held as a Python float. An array is kept and
            not copied, here as where it stands beside a node, as in ``w * batch``: do not change it
            before the backward pass, which would give the gradient of another function. Make each
            batch anew, or copy it; `~chaingrad.modes.detect_anomaly` finds such a change.
        label: a name for drawings and error messages.
        requires_grad: False makes a constant, for which no gradient is computed.

    Attributes:
        data: a Python float or a NumPy array of floats. A leaf's may be set anew.
        grad: 0.0 until a backward pass reaches the node; then a float, an array of the shape and
            dtype of ``data``, or a node (under ``create_graph``). An interior node's may share
            memory with another node's: copy it before changing it in place.
        label: a name, or None.
        requires_grad: whether gradients flow to this node.

    Operators: ``+ - * / ** @``, unary ``-``, ``abs()`` and indexing. ``<``, ``<=``, ``>`` and
    ``>=`` compare values and give booleans. ``==`` compares identity, so that nodes can be keys,
    and refuses numbers and arrays: compare ``data``. NumPy's functions take nodes, as
    ``np.exp(x)`` for ``x.exp()``, or say that they have no derivative here.

    Raises:
        TypeError: data that is not numeric, is complex or masked, or is a node already.

    >>> x = Node(3.0, label="x")
    >>> y = x * x + 2 * x
    >>> y.backward()
    >>> y.data, x.grad
    (15.0, 8.0)
    """

    __slots__ = (
        "_is_parameter",
        "data",
        "grad",
        "label",
        "parents",
        "requires_grad",
        "rule",
    )
    data: Any
    grad: Any
    label: str | None
    requires_grad: bool
    _is_parameter: bool  # set on parameters alone

    def __init__(self, data: Any, label: str | None = None, requires_grad: bool = True) -> None:
        self.data = as_data(data)
        self.grad = 0.0
        self.label = label
        self.parents: tuple[Node, ...] = ()
        self.requires_grad = requires_grad
        self.rule: Rule | None = None

    # --- what a node is -------------------------------------------------------------------------

    @property
    def op(self) -> str:
        """The name of the operation that made this node, ``""`` for a leaf."""
        return self.rule.name if self.rule else ""

    @property
    def is_parameter(self) -> bool:
        """Whether this is a `chaingrad.nn.Parameter`, a leaf that an optimizer trains."""
        return getattr(self, "_is_parameter", False)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the data; ``()`` for a number."""
        return getattr(self.data, "shape", ())

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
        return rules.float_dtype(self.data)

    def item(self) -> float:
        """Return the only entry of the data, as a Python float.

        Raises:
            ValueError: the data has more than one entry, or none.
        """
        if self.size != 1:
            raise ValueError(
                f"item() needs a node with one entry, but {describe(self)} has {self.size}"
            )
        return float(np.reshape(self.data, ()))

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in _elsewhere.NODE]

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
        kind = "Parameter" if self.is_parameter else type(self).__name__
        return f"{kind}({', '.join(parts)})"

    def __float__(self) -> float:
        modes.refuse_loss(self, "float()")
        return self.item()

    def __int__(self) -> int:
        modes.refuse_loss(self, "int()")
        return int(self.item())

    def __round__(self, digits: int | None = None) -> float:
        modes.refuse_loss(self, "round()")
        return round(self.item(), digits)

    def __format__(self, spec: str) -> str:
        """Format the value: a number as Python does, an array entry by entry."""
        if not spec:
            return str(self)
        if self.ndim == 0:
            return format(self.item(), spec)
        return np.array2string(self.data, formatter={"float_kind": lambda x: format(x, spec)})

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(
                f"{describe(self)} has no truth value; compare entries, say with (node > 0).all()"
            )
        return bool(self.data)

    def __len__(self) -> int:
        if self.ndim == 0:
            raise TypeError(f"{describe(self)} is a scalar, so it has no len()")
        return len(self.data)

    def __iter__(self) -> Iterator["Node"]:
        return (self[i] for i in range(len(self)))

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(
            f"{describe(self)} cannot become a NumPy array without losing its graph; "
            "use node.data for its value, or chaingrad.stack to join nodes"
        )

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        reflected = _REFLECTED.get(ufunc)
        if reflected and not options and type(inputs[0]) is ndarray and method == "__call__":
            return reflected(self, inputs[0])  # array @ node
        return operations.ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return operations.function(function, args, kwargs)

    # Comparisons look at values and give plain booleans; == and hash() still use identity, so
    # that nodes can be members of sets and keys of dictionaries.
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if isinstance(other, float | int | ndarray | np.generic | list | tuple):
            raise TypeError(
                f"== of {describe(self)} compares identity, not values: compare its data, "
                "say x.data == 2.0"
            )
        return False

    def __lt__(self, other: Any) -> Any:
        return _compared(self.data < rules.value(other))

    def __le__(self, other: Any) -> Any:
        return _compared(self.data <= rules.value(other))

    def __gt__(self, other: Any) -> Any:
        return _compared(self.data > rules.value(other))

    def __ge__(self, other: Any) -> Any:
        return _compared(self.data >= rules.value(other))

    # --- operations -----------------------------------------------------------------------------

    def apply(self, rule: Rule, inputs: Sequence[Any], options: dict[str, Any]) -> "Node":
        """Compute ``rule`` on ``inputs`` and record it; inputs that are not nodes become constants.

        Raises:
            ValueError: the shapes do not fit; the message names the operation and the operands.
            TypeError: an input is not numeric.
        """
        nodes = tuple([x if isinstance(x, Node) else _constant(x, self.data) for x in inputs])
        if options:
            rule = rule.bind(options)
        if len(rule.vjps) != len(nodes) and not isinstance(rule, JointRule):
            raise TypeError(
                f"the rule {rule.name} has {len(rule.vjps)} VJPs, one for each input; it was "
                f"called with {len(nodes)} inputs"
            )
        try:
            data = rule.compute(*map(floats, nodes))
        except (ValueError, TypeError, IndexError) as error:
            raise explain_error(error, rule, nodes) from None
        return _record(rule, numeric(data, rule), nodes)

    __add__, __radd__ = _operator(rules.add)
    __sub__, __rsub__ = _operator(rules.sub)
    __mul__, __rmul__ = _operator(rules.mul)
    __truediv__, __rtruediv__ = _operator(rules.div)
    __pow__, __rpow__ = _operator(rules.pow_)
    __matmul__, __rmatmul__ = _operator(rules.matmul)

    __neg__ = _function(rules.neg)
    __abs__ = _function(rules.abs_)

    def __isub__(self, other: Any) -> Any:
        leaf = self.rule is None and self.requires_grad
        return self - self._operand_for("-=", other, leaf and modes.paused())

    def __iadd__(self, other: Any) -> Any:
        return self + self._operand_for("+=", other)

    def __imul__(self, other: Any) -> Any:
        return self * self._operand_for("*=", other)

    def __itruediv__(self, other: Any) -> Any:
        return self / self._operand_for("/=", other)

    def _operand_for(self, sign: str, other: Any, refused: bool = False) -> Any:
        """Return ``other``; raise an error if ``sign`` was meant to change a parameter in place."""
        if refused or (self.rule is None and self.is_parameter):
            raise TypeError(
                f"{sign} would make a new node and leave {describe(self)} as it is: to take a "
                "step, change its data, as in w.data -= 0.1 * w.grad, or use chaingrad.optim"
            )
        return other

    def __pos__(self) -> "Node":
        return self

    abs = _function(rules.abs_, "Take the absolute value of each entry; its slope at 0 is 0.")
    exp = _function(rules.exp, "Compute the exponential of each entry.")
    log = _function(rules.log, "Compute the natural logarithm of each entry.")
    sqrt = _function(rules.sqrt, "Compute the square root of each entry.")
    sin = _function(rules.sin, "Compute the sine of each entry.")
    cos = _function(rules.cos, "Compute the cosine of each entry.")
    tanh = _function(rules.tanh, "Compute the hyperbolic tangent of each entry.")
    sigmoid = _function(
        rules.sigmoid, "Compute 1 / (1 + exp(-x)) of each entry, the logistic function."
    )
    relu = _function(
        rules.relu, "Take the positive part max(0, x) of each entry; the slope at 0 is taken as 0."
    )

    def sum(self, axis: Any = None, keepdims: bool = False) -> "Node":
        """Sum over ``axis``: an int, a tuple of ints, or None for all axes."""
        if axis is None and not keepdims:
            return _sum_of_all(self)
        return self.apply(rules.sum_, (self,), {"axis": axis, "keepdims": keepdims})

    squared_norm = _function(
        rules.squared_norm, "‖x‖², the sum of the squares of all entries, in one operation."
    )

    def mean(self, axis: Any = None, keepdims: bool = False) -> "Node":
        """Average over ``axis``: an int, a tuple of ints, or None for all axes."""
        return self.apply(rules.mean, (self,), {"axis": axis, "keepdims": keepdims})

    def max(self, axis: Any = None, keepdims: bool = False) -> "Node":
        """Return the largest entry along ``axis``; tied entries share the gradient equally."""
        return self.apply(rules.max_, (self,), {"axis": axis, "keepdims": keepdims})

    def min(self, axis: Any = None, keepdims: bool = False) -> "Node":
        """Return the smallest entry along ``axis``; tied entries share the gradient equally."""
        return self.apply(rules.min_, (self,), {"axis": axis, "keepdims": keepdims})

    def logsumexp(self, axis: Any = None, keepdims: bool = False) -> "Node":
        """Compute log(sum(exp(x))) along ``axis``, without overflow :cite:`blanchard2021`."""
        return self.apply(rules.logsumexp, (self,), {"axis": axis, "keepdims": keepdims})

    var, std, norm, prod = operations.var, operations.std, operations.norm, operations.prod
    cumsum, sort, clip = operations.cumsum, operations.sort, operations.clip
    softplus, logsigmoid = operations.softplus, operations.logsigmoid
    flatten, squeeze = operations.flatten, operations.squeeze
    expand_dims, ravel, dot = operations.expand_dims, operations.flatten, operations.dot
    swapaxes, repeat, take = arrays.swapaxes, arrays.repeat, arrays.take
    diagonal, trace, cumprod = arrays.diagonal, arrays.trace, arrays.cumprod

    log1p = _function(rules.log1p, "Compute log(1 + x) of each entry, precise near 0.")
    expm1 = _function(rules.expm1, "Compute exp(x) - 1 of each entry, precise near 0.")

    def argmax(self, axis: int | None = None, keepdims: bool = False) -> Any:
        """Return where the largest entry is, as plain integers, which have no derivative."""
        return np.argmax(self.data, axis, keepdims=keepdims)

    def argmin(self, axis: int | None = None, keepdims: bool = False) -> Any:
        """Return where the smallest entry is, as plain integers."""
        return np.argmin(self.data, axis, keepdims=keepdims)

    def reshape(self, *shape: Any) -> "Node":
        """Give the same entries another shape: ``x.reshape(2, 3)`` or ``x.reshape((2, 3))``."""
        return self.apply(rules.reshape, (self,), {"shape": _unpacked(shape)})

    def transpose(self, *axes: Any) -> "Node":
        """Reorder the axes, as in NumPy; reverse them if you give none.

        ``transpose(0, 1)`` leaves a matrix as it is: it names the axes in order, not two to swap.
        """
        return self.apply(rules.transpose, (self,), {"axes": _unpacked(axes) or None})

    @property
    def T(self) -> "Node":  # noqa: N802 (as in NumPy)
        """The array with its axes reversed."""
        return _transposed(self)

    @property
    def mT(self) -> "Node":  # noqa: N802 (as in NumPy)
        """The array with its last two axes exchanged."""
        return arrays.matrix_transpose(self)  # type: ignore[no-any-return]

    def broadcast_to(self, *shape: Any) -> "Node":
        """Repeat the entries to fill ``shape``, by NumPy's broadcasting rules."""
        return self.apply(rules.broadcast_to, (self,), {"shape": _unpacked(shape)})

    def astype(self, dtype: Any) -> "Node":
        """Convert the entries to another floating dtype; the gradient comes back in the old one."""
        if not np.issubdtype(np.dtype(dtype), np.floating):
            raise TypeError(f"astype: nodes hold floats, so dtype cannot be {np.dtype(dtype)}")
        return self.apply(rules.cast, (self,), {"dtype": np.dtype(dtype)})

    def __getitem__(self, index: Any) -> "Node":
        return self.apply(rules.getitem, (self,), {"index": _copied_index(index)})

    def __setitem__(self, index: Any, new: Any) -> None:
        raise TypeError(
            f"{describe(self)} cannot be changed entry by entry: make a new node with "
            "chaingrad.where or chaingrad.concatenate, or give a leaf new data"
        )

    def detach(self) -> "Node":
        """Return a constant with the same data, through which no gradient flows."""
        return Node(self.data, label=self.label, requires_grad=False)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Node":
        return _copies.deepcopied(self, memo)  # type: ignore[no-any-return]

    def __reduce__(self) -> tuple[Any, ...]:
        return _copies.reduced(self)

    # --- differentiation ------------------------------------------------------------------------

    def sorted_graph(self) -> list["Node"]:
        """Sort the graph of this node: itself first, every child before its parents.

        See `chaingrad.graph.toposort`.
        """
        return toposort(self, lambda node: node.parents)

    def backward(
        self,
        gradient: Any = None,
        create_graph: bool = False,
        release: bool = False,
        *,
        retain_graph: None = None,
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
            retain_graph: not to be given: a graph is kept unless it is released.

        Raises:
            ValueError: ``gradient`` is missing for data with more than one entry, or has the wrong
                shape; or the graph was released.
            TypeError: nothing here requires a gradient; or ``retain_graph`` is given.
        """
        if retain_graph is not None:
            raise TypeError(
                "backward: leave retain_graph out; chaingrad keeps the graph, and you can run it "
                "again, unless release=True frees it"
            )
        if release and create_graph:
            raise ValueError(
                "backward: release frees the graph, but create_graph needs it; choose one"
            )
        backward_pass(self, self.seed(gradient, create_graph), create_graph, release)

    def seed(self, gradient: Any = None, create_graph: bool = False) -> Any:
        """Check and complete the argument ``gradient`` of `backward`, which lists the errors."""
        if not self.requires_grad:
            raise TypeError(
                f"backward: {describe(self)} does not depend on any node that requires a gradient; "
                "was it made of constants alone, detached, or computed under no_grad()?"
            )
        if gradient is None:
            data = floats(self)
            if not is_number(data) and data.size != 1:
                raise ValueError(
                    f"backward: {describe(self)} is not a scalar, so the gradient of what? Reduce "
                    f"it first, say with .sum(), or pass gradient= of shape {self.shape}"
                )
            one = 1.0 if is_number(data) else np.array(1.0, data.dtype, ndmin=data.ndim)
            return _leaf(one) if create_graph else one
        if not isinstance(gradient, Node):
            gradient = Node(gradient, requires_grad=False)
        if gradient.shape != self.shape:
            raise ValueError(
                f"backward: gradient= must have the shape {self.shape} of {describe(self)}; got "
                f"shape {gradient.shape}"
            )
        if create_graph:
            return gradient
        data = gradient.data
        if is_symbol(data):
            return data if data.dtype == self.dtype else rules.cast(data, dtype=self.dtype)
        return float(data) if type(self.data) is float else np.array(data, self.dtype)


for _name, _hint in _elsewhere.NODE.items():
    setattr(Node, _name, _elsewhere.Elsewhere(_name, _hint))

_REFLECTED: dict[Any, Operator] = {
    np.add: Node.__radd__,
    np.subtract: Node.__rsub__,
    np.multiply: Node.__rmul__,
    np.divide: Node.__rtruediv__,
    np.power: Node.__rpow__,
    np.matmul: Node.__rmatmul__,
}


# --- recording ----------------------------------------------------------------------------------


def _operand(x: Any, beside: Any) -> Any:
    """Return a node for what stands beside one; for other types, which get Python's own TypeError,
    ``NotImplemented``.
    """
    if type(x) is float:
        return _leaf(x)
    if isinstance(x, Node):
        return x
    if isinstance(x, _OPERANDS) or hasattr(x, "__array__"):
        return _constant(x, beside)
    return NotImplemented


def _constant(x: Any, beside: Any) -> Node:
    """Make a constant; integers and booleans take the dtype of the data that they stand beside."""
    if type(x) is int or type(x) is float:
        return _leaf(float(x))
    if isinstance(x, np.ndarray | np.generic) and x.dtype.kind in "iub":
        x = x.astype(rules.float_dtype(beside))
    return _leaf(x.floating(beside) if is_symbol(x) else as_data(x))


def _leaf(data: Data) -> Node:
    """Make a constant of data that need no check."""
    node = _new_object(Node)
    node.data = data
    node.grad = 0.0
    node.label = node.rule = None
    node.parents = ()
    node.requires_grad = False
    return node


def _record(rule: Rule, data: Any, parents: tuple[Node, ...]) -> Node:
    """Make the node of a result; it records its parents if one of them requires a gradient."""
    watch = modes.watch() if modes.watches else None
    if watch:
        watch.forward(rule, data, parents)
    node = _new_object(Node)
    is_plain = type(data) is float or (type(data) is ndarray and data.dtype.kind == "f")
    node.data = data if is_plain else result_data(data, rule, parents)
    node.grad = 0.0
    node.label = None
    for parent in parents:
        if parent.requires_grad:
            if _pauses():
                break
            node.parents = parents
            node.requires_grad = True
            node.rule = rule
            if watch:
                watch.recorded(node)
            return node
    node.parents = ()
    node.requires_grad = False
    node.rule = None
    return node


Traced._constant = staticmethod(lambda x: _leaf(as_data(x)))
_sum_of_all = _function(rules.sum_)
_transposed = _function(rules.transpose)


def _copied_index(index: Any) -> Any:
    """Copy an index, so that later changes to its arrays and lists don't change it."""
    if isinstance(index, Node):
        raise TypeError(
            f"an index must be made of integers, slices or booleans; got {describe(index)}: use "
            "its data as integers, x.data.astype(int)"
        )
    if type(index) is tuple:
        return tuple(map(_copied_index, index))
    return copy.deepcopy(index) if isinstance(index, ndarray | list) else index


def _compared(found: Any) -> Any:
    """Return a truth of numbers as NumPy's, which ``~`` negates: of Python's it makes -2 or -1."""
    return np.bool_(found) if type(found) is bool else found


def _unpacked(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return ``(2, 3)`` for both f(2, 3) and f((2, 3)), and ``()`` for f(None) and f()."""
    if len(args) == 1 and (args[0] is None or isinstance(args[0], tuple | list)):
        return tuple(args[0] or ())
    return args
