"""Every operation once: how to compute it, and its vector-Jacobian products.

A rule holds one vector-Jacobian product (VJP) for each input. It is called with the gradient ``g``
of the final output with respect to the operation's result, the result ``out`` and the inputs, and
returns that input's share of the gradient. VJPs are written with operators and other rules, so that
fed numbers and arrays they give gradients, and fed nodes they give the graph of the gradient, which
can be differentiated again. How an operation is written stands in `chaingrad.facts`, what it costs
in `chaingrad.prices`.

A VJP may return its share in the broadcast shape: `unbroadcast` sums it back in one place. None
stands for the VJP that passes ``g`` on as it is.
Formulas not derived in the comments are standard derivatives; :cite:`griewank2008` chapter 3 lists
them. At kinks the values follow PyTorch: relu'(0) = 0, abs'(0) = 0, ties share equally.
"""

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np

from chaingrad._repeated import repeated_entry, uniform_entry
from chaingrad._scatter import add_at
from chaingrad.facts import FACTS, UNKNOWN, Facts
from chaingrad.prices import PRICES, UNPRICED, Price

Value = Any  # a float, an array, or a Traced
Vjp = Callable[..., Value]
Vjps = tuple[Vjp | None, ...]

_FLOAT64 = np.dtype(np.float64)


class Traced:
    """What records the rules applied to it, instead of computing them at once."""

    __slots__ = ()
    data: Any
    _constant: ClassVar[Callable[[Any], Any]]  # how plain data become a constant; `Node` sets it

    def apply(self, rule: "Rule", inputs: Sequence[Value], options: dict[str, Any]) -> "Traced":
        """Record ``rule`` applied to ``inputs``, of which this is one."""
        raise NotImplementedError


class TracingError(TypeError):
    """What cannot be written down as a program."""


class Symbol(Traced):
    """What stands for a number or an array while a program is written; a node may hold it.

    Rules compute with it as with an array. Beside what an array has, it tells whether it
    ``is_array`` or a plain number, and can be taken as ``floating``, ``settled`` as a node holds
    it, told to ``demand`` that it be true, to ``pick`` and ``scatter`` where it is an index, and to
    note an ``elementwise`` function that NumPy has not.
    """

    __slots__ = ()


def is_symbol(x: Any) -> bool:
    """Return whether ``x`` stands for another number or array at each call of a program."""
    return isinstance(x, Symbol)


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

    __slots__ = ("compute", "facts", "name", "options", "price", "vjps")

    def __init__(
        self,
        name: str,
        compute: Callable[..., Any],
        vjps: Sequence[Vjp | None],
        facts: Facts = UNKNOWN,
        price: Price = UNPRICED,
    ) -> None:
        self.name = name
        self.compute = compute
        self.vjps: Vjps = tuple(vjps)
        self.facts = facts
        self.price = price
        self.options: dict[str, Any] = {}

    def __call__(self, *inputs: Value, **options: Any) -> Value:
        for x in inputs:
            if isinstance(x, Traced):
                return x.apply(self, inputs, options)
        return self.compute(*inputs, **options)

    def bind(self, options: dict[str, Any]) -> "Rule":
        """Fix the options, such as the axis of a sum."""
        if not options:
            return self
        compute = partial(self.compute, **options)
        bound = type(self)(self.name, compute, self._bound_vjps(options), self.facts, self.price)
        bound.options = options
        return bound

    def _bound_vjps(self, options: dict[str, Any]) -> Any:
        return [vjp and partial(vjp, **options) for vjp in self.vjps]

    def pull(
        self, g: Value, out: Value, inputs: Sequence[Value], needed: Sequence[bool]
    ) -> Iterator[Value]:
        """Yield the share of ``g`` that each input takes, or None for one that needs none."""
        for vjp, takes in zip(self.vjps, needed, strict=True):
            yield (vjp(g, out, *inputs) if vjp else g) if takes else None

    def __repr__(self) -> str:
        return f"<rule {self.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        known = RULES.get(self.name)
        if not known or known.compute not in (self.compute, getattr(self.compute, "func", None)):
            raise TypeError(
                f"the rule {self.name} cannot be pickled: the table RULES does not have it, or has "
                "another rule of that name; enter it with chaingrad.rules.rule"
            )
        return _restore, (self.name, self.options)


def _restore(name: str, options: dict[str, Any]) -> Rule:
    return RULES[name].bind(options)


class JointRule(Rule):
    """An operation on any number of inputs, whose shares are found together by one function."""

    __slots__ = ("pull_all",)

    def __init__(
        self,
        name: str,
        compute: Callable[..., Any],
        pull_all: Callable[..., Any],
        facts: Facts = UNKNOWN,
        price: Price = UNPRICED,
    ) -> None:
        super().__init__(name, compute, (), facts, price)
        self.pull_all = pull_all

    def _bound_vjps(self, options: dict[str, Any]) -> Any:
        return partial(self.pull_all, **options)

    def pull(
        self, g: Value, out: Value, inputs: Sequence[Value], needed: Sequence[bool]
    ) -> Iterator[Value]:
        """Yield the share of ``g`` that each input takes, or None for one that needs none."""
        yield from self.pull_all(g, out, inputs, needed)


RULES: dict[str, Rule] = {}


def rule(
    name: str,
    compute: Callable[..., Any],
    *vjps: Vjp | None,
    replace: bool = False,
    facts: Facts = UNKNOWN,
    price: Price = UNPRICED,
) -> Rule:
    """Make a rule and add it to the table ``RULES``.

    Args:
        name: of the operation; the engine's own find their facts and price by it.
        compute: called with the data of the inputs, and options.
        vjps: one for each input, or None for one that passes the gradient on.
        replace: take the place of a rule of that name.
        facts: how it is written, for drawings and messages.
        price: what it costs, for a `~chaingrad.account.Ledger`.

    Raises:
        ValueError: the name is taken, and it is not said to ``replace`` what has it.
    """
    return register(Rule(name, compute, vjps, facts, price), replace)


def register(new: Rule, replace: bool = False) -> Rule:
    if new.name in RULES and not replace:
        raise ValueError(
            f"there is a rule named {new.name!r} already; choose another name, or pass replace=True"
        )
    if not replace:
        new.facts = FACTS.get(new.name, new.facts)
        new.price = PRICES.get(new.name, new.price)
    RULES[new.name] = new
    return new


def facts_of(name: str) -> Facts:
    """Return the facts of the rule with this name, or empty facts if no rule has it."""
    return RULES[name].facts if name in RULES else UNKNOWN


def value(x: Value) -> Any:
    """Return the number or array of ``x``, whether it is a node or plain data."""
    return x.data if isinstance(x, Traced) else x


def float_dtype(data: Any) -> np.dtype[Any]:
    """Return the dtype in which to differentiate by ``data``: its own, or float64 for integers."""
    dtype: np.dtype[Any] = getattr(data, "dtype", _FLOAT64)
    return dtype if dtype.kind == "f" else _FLOAT64


def shape_of(x: Value) -> tuple[int, ...]:
    """Return the shape of ``x``; a number's is ``()``."""
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


def is_number(data: Any) -> bool:
    """Return whether a node's data are a plain number, and not an array."""
    return type(data) is float or (is_symbol(data) and not data.is_array)


def may_hold(condition: Any) -> bool:
    """Return whether a condition holds for some entry, or may hold at another call of a program."""
    return is_symbol(condition) or bool(np.any(condition))


def symbol_in(index: Any) -> Any:
    """Return the first part of an index that changes from call to call, if there is one."""
    parts = index if type(index) is tuple else (index,)
    return next(filter(is_symbol, parts), None)


# --- arithmetic ---------------------------------------------------------------------------------


def _divide(a: Any, b: Any) -> Any:
    try:
        return a / b
    except ZeroDivisionError:  # floats raise where arrays give inf or nan and a warning
        return np.divide(a, b)


def _power(a: Any, b: Any) -> Any:
    if type(b) is float:
        if b == 2.0:
            return a * a
        if b == 3.0:  # pow() takes many times as long
            return a * a * a
        if b == 0.5:
            return sqrt.compute(a)  # as NumPy takes it, for numbers and arrays alike
    if type(a) is type(b) is float:
        try:
            return math.pow(a, b)
        except (ValueError, OverflowError):
            return np.power(a, b)
    return a**b


def _power_base(g: Value, out: Value, a: Value, b: Value) -> Value:
    # d(a^b)/da = b a^(b-1), but 0 wherever b = 0: a^0 is 1 for every a, and 0 * 0^-1 would be nan.
    # By b it changes like a^(b-1) log a, without bound near a = 0 where b <= 1.
    if type(b) is float and b == 0.5:
        return _divide(0.5 * g, sqrt(a))
    if type(b) is float and b:
        return (b * uniform_entry(g)) * (a if b == 2.0 else pow_(a, b - 1.0))
    if type(value(a)) is float and value(a) > 0:
        return g * (b * pow_(a, b - 1))
    sloped = value(b) != 0
    share = g * where(b * pow_(where(a, 1.0, condition=sloped), b - 1), 0.0, condition=sloped)
    return _steep_power(share, b, a, b)


def _power_exponent(g: Value, out: Value, a: Value, b: Value) -> Value:
    # d(a^b)/db = a^b log a, whose limit is 0 where a = 0 and b >= 0; its own slope is finite there
    # only where b > 1.
    if type(value(a)) is float and value(a) > 0:
        return g * (out * log(a))  # in the dtype of b
    limit = (value(a) == 0) & (value(b) >= 0)
    share = g * where(0.0, out * log(where(1.0, a, condition=limit)), condition=limit)
    return _steep_power(share, a, a, b)


def _steep_power(share: Value, by: Value, a: Value, b: Value) -> Value:
    if not isinstance(by, Traced):
        return share
    sharp = (value(a) == 0) & (value(b) >= 0) & (value(b) <= 1)
    return steep(share, by, condition=sharp) if may_hold(sharp) else share


add: Rule = rule("add", operator.add, None, None)
sub: Rule = rule("sub", operator.sub, None, lambda g, out, a, b: -g)
mul: Rule = rule("mul", operator.mul, lambda g, out, a, b: g * b, lambda g, out, a, b: g * a)
div: Rule = rule(
    "div", _divide, lambda g, out, a, b: _divide(g, b), lambda g, out, a, b: _divide(-g * out, b)
)
pow_: Rule = rule("pow", _power, _power_base, _power_exponent)
neg: Rule = rule("neg", operator.neg, lambda g, out, a: -g)


# --- elementwise functions ----------------------------------------------------------------------


def elementwise(
    of_float: Callable[[float], float], of_array: Callable[[Any], Any]
) -> Callable[[Any], Any]:
    """Use the quick function of ``math`` for a float; NumPy's for arrays, and if ``math`` raises.

    At log(0) or exp(1000) ``math`` raises, NumPy gives -inf or inf with a RuntimeWarning.
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


def _sigmoid(a: Any) -> Any:
    if is_symbol(a):
        if a.is_array:
            return 1.0 / (1.0 + np.exp(-a))
        power = np.exp(-abs(a))  # a number's would overflow
        return np.where(a >= 0, 1.0, power) / (1.0 + power)
    power = np.negative(a, out=np.empty_like(a))
    with np.errstate(over="ignore"):  # 1 / (1 + inf) is 0, which is right
        np.exp(power, out=power)
    power += 1.0
    return np.reciprocal(power, out=power)


def _tanh_vjp(g: Value, out: Value, a: Value) -> Value:
    if type(g) is not np.ndarray or type(out) is not np.ndarray or not g.ndim:
        return g * (1.0 - out * out)
    share = out * out  # the same in one array
    np.subtract(1.0, share, out=share)
    share *= g
    return share


def _sigmoid_vjp(g: Value, out: Value, a: Value) -> Value:
    if type(g) is not np.ndarray or type(out) is not np.ndarray or not g.ndim:
        return g * out * (1.0 - out)
    share = np.subtract(1.0, out)  # the same in one array
    share *= out
    share *= g
    return share


def _distance(a: Value, b: Value) -> Value:
    """Compute ``a - b``, but 0 between equal infinities."""
    x = value(a)
    if any(type(z) is float and math.isfinite(z) for z in (x, value(b))):
        return a - b
    alike = (x.elementwise("isinf") if is_symbol(x) else np.isinf(x)) & (x == value(b))
    return where(0.0, a - b, condition=alike) if may_hold(alike) else a - b


def _relu(a: Any) -> Any:
    if type(a) is float:
        return 0.0 if a <= 0 else a
    return np.maximum(a, 0)


def _relu_vjp(g: Value, out: Value, a: Value) -> Value:
    if type(out) is float:
        return g * (out > 0) if out == out else out
    if type(out) is not np.ndarray:
        return g * np.sign(value(out))
    share = np.sign(out)  # the slope of relu is its sign; of nan it is nan, where a mask has 0
    share *= g
    return share


def _where(a: Any, b: Any, condition: Any) -> Any:
    chosen: Any = np.where(condition, a, b)
    return chosen if chosen.ndim else chosen[()]  # of numbers a number


def _winner_takes(g: Value, beaten: Any, ties: Any) -> Value:
    """Give ``g`` to what is not beaten, half of it at a tie; nan is beaten by nothing."""
    if np.ndim(beaten) == 0:
        return g * (1.0 - beaten - 0.5 * ties)
    if not may_hold(ties):
        return g * ~beaten
    dtype = float_dtype(value(g))
    half = 0.5 if dtype == _FLOAT64 else dtype.type(0.5)  # booleans times 0.5 are of float64
    return g * (~beaten - half * ties)


exp: Rule = rule("exp", elementwise(math.exp, np.exp), lambda g, out, a: g * out)
log: Rule = rule("log", elementwise(math.log, np.log), lambda g, out, a: _divide(g, a))
sqrt: Rule = rule("sqrt", elementwise(math.sqrt, np.sqrt), lambda g, out, a: _divide(0.5 * g, out))
sin: Rule = rule("sin", elementwise(math.sin, np.sin), lambda g, out, a: g * cos(a))
cos: Rule = rule("cos", elementwise(math.cos, np.cos), lambda g, out, a: -g * sin(a))
tanh: Rule = rule("tanh", elementwise(math.tanh, np.tanh), _tanh_vjp)
sigmoid: Rule = rule("sigmoid", elementwise(_float_sigmoid, _sigmoid), _sigmoid_vjp)
relu: Rule = rule("relu", _relu, _relu_vjp)
abs_: Rule = rule("abs", abs, lambda g, out, a: g * np.sign(value(a)))
log1p: Rule = rule(
    "log1p", elementwise(math.log1p, np.log1p), lambda g, out, a: _divide(g, 1.0 + a)
)
expm1: Rule = rule("expm1", elementwise(math.expm1, np.expm1), lambda g, out, a: g * (out + 1.0))
logaddexp: Rule = rule(
    "logaddexp",
    np.logaddexp,
    lambda g, out, a, b: g * sigmoid(_distance(a, b)),
    lambda g, out, a, b: g * sigmoid(_distance(b, a)),
)
maximum: Rule = rule(
    "maximum",
    np.maximum,
    lambda g, out, a, b: _winner_takes(g, value(a) < value(b), value(a) == value(b)),
    lambda g, out, a, b: _winner_takes(g, value(b) < value(a), value(a) == value(b)),
)
minimum: Rule = rule(
    "minimum",
    np.minimum,
    lambda g, out, a, b: _winner_takes(g, value(a) > value(b), value(a) == value(b)),
    lambda g, out, a, b: _winner_takes(g, value(b) > value(a), value(a) == value(b)),
)
where: Rule = rule(
    "where",
    _where,
    lambda g, out, a, b, condition: where(g, 0.0, condition=condition),
    lambda g, out, a, b, condition: where(0.0, g, condition=condition),
)
clip: Rule = rule(
    "clip",
    lambda a, low, high: cast(np.clip(a, low, high), dtype=float_dtype(a)),
    lambda g, out, a, low, high: g * ((value(a) >= low) & (value(a) <= high)),
)
alias: Rule = rule("alias", lambda a: a, None)

# At the tip of a norm we take the slope 0, but near it the slope turns by 1/|x|, so the derivative
# of that slope is no number there. We mark such places, and only such: the slope of a corner, as
# of |x| or relu, is flat on both sides, and its derivative is taken as 0, as everybody takes it.
# `tip` marks where the slope of what is computed from ``a`` is chosen; `steep` marks a share ``g``
# that changes without bound with ``a``. Both change no value and no first derivative.
tip: Rule = rule(
    "tip",
    lambda a, condition: a,
    lambda g, out, a, condition: steep(g, a, condition=condition),
)
steep: Rule = rule(
    "steep",
    lambda g, a, condition: g,
    None,
    lambda g, out, share, a, condition: no_slope(a, condition=condition),
)


def _no_slope(a: Any, condition: Any) -> Any:
    dtype = float_dtype(a)
    kind = float if dtype == _FLOAT64 else dtype.type
    return _where(kind(math.nan), kind(0.0), condition)


no_slope: Rule = rule(
    "no_slope",
    _no_slope,
    lambda g, out, a, condition: no_slope(a, condition=condition),
)
cast: Rule = rule(
    "cast", lambda a, dtype: a.astype(dtype) if is_symbol(a) else np.asarray(a, dtype), None
)


# --- reductions ---------------------------------------------------------------------------------


def _broadcast(a: Any, shape: tuple[int, ...]) -> Any:
    if np.ndim(a) or is_symbol(a):
        return np.broadcast_to(a, shape)
    return repeated_entry(np.asarray(a), shape)


def _undo_reduction(g: Value, a: Value, axis: Any, keepdims: bool) -> Value:
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
        x, top = value(a), _undo_reduction(value(out), value(a), axis, keepdims)
        best = (x == top if is_symbol(x) else np.equal(x, top)).astype(float_dtype(value(g)))
        share = g / best.sum(axis=axis, keepdims=keepdims)
        return _undo_reduction(share, a, axis, keepdims) * best

    def compute(a: Any, axis: Any, keepdims: bool) -> Any:
        return of_array(a, axis=axis, keepdims=keepdims)

    return rule(name, compute, vjp)


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
    return _undo_reduction(g, a, axis, keepdims) * (powers / sum_(powers, axis=axis, keepdims=True))


def shared(g: Any, count: float) -> Any:
    """Divide ``g`` by ``count``; if float16 cannot hold the count, multiply by its inverse."""
    return g * (1 / count) if count > 65504 else _divide(g, count)


def _mean_vjp(g: Value, out: Value, a: Value, axis: Any, keepdims: bool) -> Value:
    count = max(np.size(value(a)), 1) / max(np.size(value(out)), 1)
    return _undo_reduction(shared(g, count), a, axis, keepdims)


def _sum(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    if type(a) is float and axis is None:
        return a
    return (a if is_symbol(a) else np.asarray(a)).sum(axis, keepdims=keepdims)


sum_: Rule = rule(
    "sum", _sum, lambda g, out, a, axis=None, keepdims=False: _undo_reduction(g, a, axis, keepdims)
)
squared_norm: Rule = rule(
    "squared_norm",
    lambda a: a * a if type(a) is float else np.vdot(a, a),
    lambda g, out, a: 2.0 * uniform_entry(g) * a,
)
mean: Rule = rule(
    "mean", lambda a, axis, keepdims: np.mean(a, axis=axis, keepdims=keepdims), _mean_vjp
)
max_ = _extremum("max", np.max)
min_ = _extremum("min", np.min)
logsumexp: Rule = rule("logsumexp", _logsumexp, _logsumexp_vjp)


def _cumsum_vjp(g: Value, out: Value, a: Value, axis: int) -> Value:
    # each entry is in all sums that come after it: the sums of g from the other end
    backwards = (*[slice(None)] * (axis % len(shape_of(a))), slice(None, None, -1))
    return getitem(cumsum(getitem(g, index=backwards), axis=axis), index=backwards)


cumsum: Rule = rule("cumsum", lambda a, axis: np.cumsum(a, axis=axis), _cumsum_vjp)


# --- shapes -------------------------------------------------------------------------------------


def pick(a: Any, index: Any) -> Any:
    """Return the entries at an index, which may hold a symbol."""
    symbol = symbol_in(index)
    if symbol is not None:
        return symbol.pick(a, index)
    if is_number(a):  # all that an index can do to a number is to give it axes
        return _broadcast(a, np.empty(())[index].shape)
    return a[index]


def _scatter(a: Any, index: Any, shape: tuple[int, ...]) -> Any:
    """Add the entries of ``a`` to zeros where the index points; repeated positions add up."""
    symbol = a if is_symbol(a) else symbol_in(index)
    if symbol is not None:
        return symbol.scatter(a, index, shape)
    out = np.zeros(shape, np.result_type(a))
    add_at(out, index, a)
    return out


def _pieces(
    g: Value, out: Value, inputs: Sequence[Value], needed: Sequence[bool], axis: int
) -> Iterator[Value]:
    """Yield the piece of ``g`` that came from each of the joined arrays."""
    before = (slice(None),) * (axis % len(shape_of(out)))
    start = 0
    for x, takes in zip(inputs, needed, strict=True):
        stop = start + shape_of(x)[axis]
        yield getitem(g, index=(*before, slice(start, stop))) if takes else None
        start = stop


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
    "getitem", pick, lambda g, out, a, index: scatter(g, index=index, shape=shape_of(a))
)
scatter: Rule = rule("scatter", _scatter, lambda g, out, a, index, shape: getitem(g, index=index))
concatenate: Rule = register(
    JointRule("concatenate", lambda *inputs, axis: np.concatenate(inputs, axis=axis), _pieces)
)


# --- matrix products ----------------------------------------------------------------------------


def _as_matrices(g: Value, a: Value, b: Value) -> tuple[Value, Value, Value]:
    """Treat a vector on the left as one row, on the right as one column, as ``@`` does."""
    shape = list(shape_of(g))
    if len(shape_of(b)) == 1:
        shape.append(1)
        b = reshape(b, shape=(-1, 1))
    if len(shape_of(a)) == 1:
        shape.insert(len(shape) - 1, 1)
        a = reshape(a, shape=(1, -1))
    return (g if shape == list(shape_of(g)) else reshape(g, shape=tuple(shape))), a, b


def swap_last(a: Value) -> Value:
    """Transpose the last two axes."""
    n = len(shape_of(a))
    return transpose(a) if n == 2 else transpose(a, axes=(*range(n - 2), n - 1, n - 2))


def _matmul_left(g: Value, out: Value, a: Value, b: Value) -> Value:
    if a.ndim == b.ndim == 2:
        return (b @ g.T).T if _by_columns(a) else g @ b.T
    if b.ndim == 1 and a.ndim < 3:
        return reshape(g, shape=(-1, 1)) * b if a.ndim == 2 else g * b
    if a.ndim == 1 and b.ndim == 2:
        return b @ g
    g, _, b = _as_matrices(g, a, b)
    return g @ swap_last(b)


def _matmul_right(g: Value, out: Value, a: Value, b: Value) -> Value:
    if a.ndim == b.ndim == 2:
        return (g.T @ a).T if _by_columns(b) else a.T @ g
    if a.ndim == 2 and b.ndim == 1:
        return a.T @ g
    if a.ndim == 1 and b.ndim < 3:
        return reshape(a, shape=(-1, 1)) * g if b.ndim == 2 else g * a
    was_vector = len(shape_of(b)) == 1
    g, a, _ = _as_matrices(g, a, b)
    share = swap_last(a) @ g
    return reshape(share, shape=shape_of(share)[:-1]) if was_vector else share


def _by_columns(x: Value) -> bool:
    """Return whether a matrix lies in memory column by column; its gradient then should, too."""
    data = x if type(x) is np.ndarray else value(x)
    return type(data) is np.ndarray and bool(data.flags.fnc)


# Y = AB has dL/dA = dL/dY B^T and dL/dB = A^T dL/dY, for each matrix of a stack.
matmul: Rule = rule("matmul", operator.matmul, _matmul_left, _matmul_right)
