"""Every operation once: how to compute it, and its vector-Jacobian products.

A rule holds one vector-Jacobian product (VJP) for each input. It is called with the gradient ``g``
of the final output with respect to the operation's result, the result ``out`` and the inputs, and
returns that input's share of the gradient. VJPs are written with operators and other rules, so that
fed numbers and arrays they give gradients, and fed nodes they give the graph of the gradient, which
can be differentiated again.

A VJP may return its share in the broadcast shape: `unbroadcast` sums it back in one place. None
stands for the VJP that passes ``g`` on as it is.
Formulas not derived in the comments are standard derivatives; :cite:`griewank2008` chapter 3 lists
them. At kinks the values follow PyTorch: relu'(0) = 0, abs'(0) = 0, ties share equally.
"""

import itertools
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

Value = Any  # a float, an array, or a Traced


class Traced:
    """What records the rules applied to it, instead of computing them at once."""

    __slots__ = ()
    data: Any

    def apply(self, rule: "Rule", inputs: Sequence[Value], options: dict[str, Any]) -> "Traced":
        """Record ``rule`` applied to ``inputs``, of which this is one."""
        raise NotImplementedError


class Rule:
    """An operation: its name, how to compute it and the VJP of each input.

    Called with plain numbers and arrays it computes; called with a node among its inputs it gives
    a new node.

    >>> mul(2.0, 3.0)
    6.0
    >>> of_left, of_right = mul.vjps
    >>> of_left(1.0, 6.0, 2.0, 3.0)  # d(ab)/da = b
    3.0
    """

    __slots__ = ("compute", "name", "options", "vjps")

    def __init__(self, name: str, compute: Callable[..., Any], vjps: Any) -> None:
        self.name = name
        self.compute = compute
        self.vjps = vjps
        self.options: dict[str, Any] = {}

    def __call__(self, *inputs: Value, **options: Any) -> Value:
        for x in inputs:
            if isinstance(x, Traced):
                return x.apply(self, inputs, options)
        return self.compute(*inputs, **options)

    def bind(self, options: dict[str, Any], arity: int) -> "Rule":
        """Fix the options, such as the axis of a sum, for ``arity`` inputs."""
        if not options:
            return self
        vjps = tuple(vjp and partial(vjp, **options) for vjp in itertools.islice(self.vjps, arity))
        bound = Rule(self.name, partial(self.compute, **options), vjps)
        bound.options = options
        return bound

    def __repr__(self) -> str:
        return f"<rule {self.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.name, self.options, len(self.vjps) if self.options else 0)


def _restore(name: str, options: dict[str, Any], arity: int) -> Rule:
    return RULES[name].bind(options, arity)


RULES: dict[str, Rule] = {}


def rule(name: str, compute: Callable[..., Any], *vjps: Any, replace: bool = False) -> Rule:
    """Make a rule and enter it in the table ``RULES``.

    Raises:
        ValueError: the name is taken, and it is not said to ``replace`` what has it.
    """
    if name in RULES and not replace:
        raise ValueError(
            f"there is a rule named {name!r} already; choose another name, or pass replace=True"
        )
    RULES[name] = Rule(name, compute, vjps)
    return RULES[name]


def value(x: Value) -> Any:
    """Give the number or array of ``x``, whether it is a node or plain data."""
    return x.data if isinstance(x, Traced) else x


def shape_of(x: Value) -> tuple[int, ...]:
    """Give the shape of ``x``; a number's is ``()``."""
    return getattr(x, "shape", ())


def unbroadcast(g: Value, shape: tuple[int, ...]) -> Value:
    """Sum ``g`` over the axes that broadcasting added or stretched, back to ``shape``.

    Broadcasting copies an input along an axis, and the gradients of copies add up.

    >>> unbroadcast(np.ones((4, 2, 3)), (2, 1)).tolist()
    [[12.0], [12.0]]

    Raises:
        ValueError: ``shape`` does not broadcast to that of ``g``: the VJP that gave ``g`` is wrong.
    """
    g_shape = shape_of(g)
    added = len(g_shape) - len(shape)
    if added < 0 or any(n not in (1, m) for n, m in zip(shape, g_shape[added:], strict=True)):
        raise ValueError(f"a share of shape {g_shape} does not fit an operand of shape {shape}")
    if added:
        g = sum_(g, axis=tuple(range(added)))
    stretched = tuple(i for i, n in enumerate(shape) if n == 1 != g_shape[added + i])
    return sum_(g, axis=stretched, keepdims=True) if stretched else g


# --- arithmetic ---------------------------------------------------------------------------------


def _divide(a: Any, b: Any) -> Any:
    try:
        return a / b
    except ZeroDivisionError:  # floats raise where arrays give inf or nan and a warning
        return np.divide(a, b)


def _power(a: Any, b: Any) -> Any:
    if type(a) is type(b) is float:
        try:
            return math.pow(a, b)
        except (ValueError, OverflowError):
            return np.power(a, b)
    return a * a if type(b) is float and b == 2.0 else a**b


def _repeated(entry: Any, shape: tuple[int, ...]) -> Any:
    """A read-only array that holds one entry for all: np.broadcast_to in a fraction of the time."""
    return np.ndarray(shape, entry.dtype, entry.tobytes(), 0, (0,) * len(shape))


def _entry(g: Value) -> Value:
    """The entry of a gradient that has one, or repeats it, as a float: quick to multiply with."""
    if type(g) is np.ndarray:
        base: Any = g.base
        if g.ndim == 0 or (type(base) is bytes and len(base) == g.itemsize and g.size):
            return g.item(0)
    return g


def _power_base(g: Value, out: Value, a: Value, b: Value) -> Value:
    # d(a^b)/da = b a^(b-1), but 0 wherever b = 0: a^0 is 1 for every a, and 0 * 0^-1 would be nan.
    if type(b) is float and b:
        return (b * _entry(g)) * (a if b == 2.0 else pow_(a, b - 1.0))
    sloped = np.not_equal(value(b), 0)
    return g * where(b * pow_(where(a, 1.0, condition=sloped), b - 1), 0.0, condition=sloped)


def _power_exponent(g: Value, out: Value, a: Value, b: Value) -> Value:
    # d(a^b)/db = a^b log a, whose limit is 0 where a = 0 and b >= 0.
    limit = np.equal(value(a), 0) & np.greater_equal(value(b), 0)
    return g * where(0.0, out * log(where(1.0, a, condition=limit)), condition=limit)


add: Rule = rule("add", operator.add, None, None)
sub: Rule = rule("sub", operator.sub, None, lambda g, out, a, b: -g)
mul: Rule = rule("mul", operator.mul, lambda g, out, a, b: g * b, lambda g, out, a, b: g * a)
div: Rule = rule(
    "div",
    _divide,
    lambda g, out, a, b: _divide(g, b),
    lambda g, out, a, b: _divide(-g * out, b),
)
pow_: Rule = rule("pow", _power, _power_base, _power_exponent)
neg: Rule = rule("neg", operator.neg, lambda g, out, a: -g)


# --- elementwise functions ----------------------------------------------------------------------


def _elementwise(
    of_float: Callable[[float], float], of_array: Callable[[Any], Any]
) -> Callable[[Any], Any]:
    """Use the quick function of `math` for a float; NumPy's for arrays, and where `math` raises.

    At log(0) or exp(1000) `math` raises, NumPy gives -inf or inf with a RuntimeWarning.
    """

    def compute(a: Any) -> Any:
        if type(a) is float:
            try:
                return of_float(a)
            except (ValueError, OverflowError):
                pass
        return of_array(a)

    return compute


def _float_sigmoid(a: float) -> float:
    if a >= 0:
        return 1.0 / (1.0 + math.exp(-a))
    return math.exp(a) / (1.0 + math.exp(a))


def _relu(a: Any) -> Any:
    if type(a) is float:
        return 0.0 if a <= 0 else a
    return np.maximum(a, 0)


def _relu_vjp(g: Value, out: Value, a: Value) -> Value:
    if type(out) is float:
        return g * (out > 0) if out == out else out
    if type(out) is not np.ndarray:
        return g * np.sign(value(out))
    share = np.sign(out)  # the slope of relu is its sign: quicker than a mask of booleans
    share *= g
    return share


def _where(a: Any, b: Any, condition: Any) -> Any:
    chosen: Any = np.where(condition, a, b)
    return chosen if chosen.ndim else chosen[()]  # of numbers a number


def _share(wins: Any, ties: Any) -> Any:
    return wins + 0.5 * ties


exp: Rule = rule("exp", _elementwise(math.exp, np.exp), lambda g, out, a: g * out)
log: Rule = rule("log", _elementwise(math.log, np.log), lambda g, out, a: _divide(g, a))
sqrt: Rule = rule("sqrt", _elementwise(math.sqrt, np.sqrt), lambda g, out, a: _divide(0.5 * g, out))
sin: Rule = rule("sin", _elementwise(math.sin, np.sin), lambda g, out, a: g * cos(a))
cos: Rule = rule("cos", _elementwise(math.cos, np.cos), lambda g, out, a: -g * sin(a))
tanh: Rule = rule("tanh", _elementwise(math.tanh, np.tanh), lambda g, out, a: g * (1.0 - out * out))
sigmoid: Rule = rule(
    "sigmoid",
    _elementwise(_float_sigmoid, lambda a: np.exp(-np.logaddexp(0, -a))),
    lambda g, out, a: g * out * (1.0 - out),
)
relu: Rule = rule("relu", _relu, _relu_vjp)
abs_: Rule = rule("abs", abs, lambda g, out, a: g * np.sign(value(a)))
maximum: Rule = rule(
    "maximum",
    np.maximum,
    lambda g, out, a, b: g * _share(value(a) > value(b), value(a) == value(b)),
    lambda g, out, a, b: g * _share(value(b) > value(a), value(a) == value(b)),
)
minimum: Rule = rule(
    "minimum",
    np.minimum,
    lambda g, out, a, b: g * _share(value(a) < value(b), value(a) == value(b)),
    lambda g, out, a, b: g * _share(value(b) < value(a), value(a) == value(b)),
)
where: Rule = rule(
    "where",
    _where,
    lambda g, out, a, b, condition: where(g, 0.0, condition=condition),
    lambda g, out, a, b, condition: where(0.0, g, condition=condition),
)
alias: Rule = rule("alias", lambda a: a, None)
cast: Rule = rule("cast", lambda a, dtype: np.asarray(a, dtype), None)


# --- reductions ---------------------------------------------------------------------------------


def _broadcast(a: Any, shape: tuple[int, ...]) -> Any:
    if np.ndim(a):
        return np.broadcast_to(a, shape)
    return _repeated(np.asarray(a), shape)


def _spread(g: Value, a: Value, axis: Any, keepdims: bool) -> Value:
    """Repeat ``g``, the gradient or the result of a reduction, over the axes that were reduced."""
    shape = shape_of(a)
    if axis is None and not isinstance(g, Traced):
        return _broadcast(g, shape)
    if not keepdims and axis is not None:
        axes = {i % max(len(shape), 1) for i in np.atleast_1d(axis)}
        g = reshape(g, shape=tuple(1 if i in axes else n for i, n in enumerate(shape)))
    return broadcast_to(g, shape=shape)


def _extremum(name: str, of_array: Callable[..., Any]) -> Rule:
    def vjp(g: Value, out: Value, a: Value, axis: Any, keepdims: bool) -> Value:
        best = np.equal(value(a), _spread(value(out), value(a), axis, keepdims))
        share = best / np.sum(best, axis=axis, keepdims=True)
        return _spread(g, a, axis, keepdims) * share

    return rule(name, lambda a, axis, keepdims: of_array(a, axis=axis, keepdims=keepdims), vjp)


def _finite_top(a: Any, axis: Any) -> Any:
    top = np.max(a, axis=axis, keepdims=True)
    return np.where(np.isfinite(top), top, 0.0).astype(np.result_type(a))


def _logsumexp(a: Any, axis: Any, keepdims: bool) -> Any:
    # log sum exp(a) = m + log sum exp(a - m), safe for every m near the maximum (blanchard2021)
    top = _finite_top(a, axis)
    total = np.log(np.sum(np.exp(a - top), axis=axis, keepdims=True)) + top
    return total if keepdims else np.squeeze(total, axis=axis)


def _logsumexp_vjp(g: Value, out: Value, a: Value, axis: Any, keepdims: bool) -> Value:
    # softmax(a), divided rather than as exp(a - out), which loses digits where a is large
    powers = exp(a - _finite_top(value(a), axis))
    return _spread(g, a, axis, keepdims) * (powers / sum_(powers, axis=axis, keepdims=True))


def _mean_vjp(g: Value, out: Value, a: Value, axis: Any, keepdims: bool) -> Value:
    count = np.size(value(a)) / max(np.size(value(out)), 1)
    return _spread(_divide(g, count), a, axis, keepdims)


def _sum(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return a if type(a) is float and axis is None else np.asarray(a).sum(axis, keepdims=keepdims)


sum_: Rule = rule(
    "sum",
    _sum,
    lambda g, out, a, axis=None, keepdims=False: _spread(g, a, axis, keepdims),
)
squared_norm: Rule = rule(
    "squared_norm",
    lambda a: a * a if type(a) is float else np.vdot(a, a),
    lambda g, out, a: 2.0 * _entry(g) * a,
)
mean: Rule = rule(
    "mean",
    lambda a, axis, keepdims: np.mean(a, axis=axis, keepdims=keepdims),
    _mean_vjp,
)
max_ = _extremum("max", np.max)
min_ = _extremum("min", np.min)
logsumexp: Rule = rule("logsumexp", _logsumexp, _logsumexp_vjp)


# --- shapes -------------------------------------------------------------------------------------


def _scatter(a: Any, index: Any, shape: tuple[int, ...]) -> Any:
    out = np.zeros(shape, np.result_type(a))
    np.add.at(out, index, a)  # an element indexed twice gets both
    return out


class _Concatenated:
    """The VJPs of concatenate: one for each input, however many there are."""

    def __iter__(self) -> Iterator[Callable[..., Value]]:
        bounds: list[int] = []  # where each input starts and stops; found once for all of them

        def of_input(position: int, g: Value, out: Value, *inputs: Value, axis: int) -> Value:
            if not bounds:
                sizes = (shape_of(x)[axis] for x in inputs)
                bounds.extend(itertools.accumulate(sizes, initial=0))
            before = (slice(None),) * (axis % len(shape_of(out)))
            return getitem(g, index=(*before, slice(*bounds[position : position + 2])))

        return (partial(of_input, position) for position in itertools.count())


reshape: Rule = rule(
    "reshape",
    lambda a, shape: np.reshape(a, shape),
    lambda g, out, a, shape: reshape(g, shape=shape_of(a)),
)
broadcast_to: Rule = rule("broadcast_to", _broadcast, None)
transpose: Rule = rule(
    "transpose",
    lambda a, axes=None: np.transpose(a, axes) if axes else getattr(a, "T", a),
    lambda g, out, a, axes=None: (
        transpose(g, axes=np.argsort(np.mod(axes, len(axes))).tolist())
        if axes
        else getattr(g, "T", g)
    ),
)
getitem: Rule = rule(
    "getitem",
    lambda a, index: a[index],
    lambda g, out, a, index: scatter(g, index=index, shape=shape_of(a)),
)
scatter: Rule = rule("scatter", _scatter, lambda g, out, a, index, shape: getitem(g, index=index))
concatenate: Rule = rule("concatenate", lambda *inputs, axis: np.concatenate(inputs, axis=axis))
concatenate.vjps = _Concatenated()


# --- matrix products ----------------------------------------------------------------------------


def _as_matrices(g: Value, a: Value, b: Value) -> tuple[Value, Value, Value]:
    """See a vector on the left as one row, on the right as one column, as ``@`` does."""
    shape = list(shape_of(g))
    if len(shape_of(b)) == 1:
        shape.append(1)
        b = reshape(b, shape=(-1, 1))
    if len(shape_of(a)) == 1:
        shape.insert(len(shape) - 1, 1)
        a = reshape(a, shape=(1, -1))
    return (g if shape == list(shape_of(g)) else reshape(g, shape=tuple(shape))), a, b


def _swap(a: Value) -> Value:
    """Transpose the last two axes."""
    n = len(shape_of(a))
    return transpose(a) if n == 2 else transpose(a, axes=(*range(n - 2), n - 1, n - 2))


def _matmul_left(g: Value, out: Value, a: Value, b: Value) -> Value:
    if a.ndim == b.ndim == 2:
        return (b @ g.T).T if _by_columns(a) else g @ b.T
    g, _, b = _as_matrices(g, a, b)
    return g @ _swap(b)


def _matmul_right(g: Value, out: Value, a: Value, b: Value) -> Value:
    if a.ndim == b.ndim == 2:
        return (g.T @ a).T if _by_columns(b) else a.T @ g
    was_vector = len(shape_of(b)) == 1
    g, a, _ = _as_matrices(g, a, b)
    share = _swap(a) @ g
    return reshape(share, shape=shape_of(share)[:-1]) if was_vector else share


def _by_columns(x: Value) -> bool:
    """Whether a matrix lies in memory column by column; its gradient then should, too."""
    flags: Any = (x if type(x) is np.ndarray else value(x)).flags
    return bool(flags.fnc)


# Y = AB has dL/dA = dL/dY B^T and dL/dB = A^T dL/dY, for each matrix of a stack.
matmul: Rule = rule("matmul", operator.matmul, _matmul_left, _matmul_right)
