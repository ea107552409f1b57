"""NumPy's further functions of each entry, and those of nets: rules that few graphs need.

The slopes of inverse functions follow from f(f⁻¹(a)) = a: by the chain rule, f'(f⁻¹(a)) times the
slope sought is 1.
"""

import math
from functools import cache
from typing import Any

import numpy as np

from chaingrad import rules
from chaingrad._arguments import as_node
from chaingrad.rules import Rule, Value, rule

_LOG2, _LOG10 = math.log(2.0), math.log(10.0)


def _function(name: str, vjp: rules.Vjp, of_float: Any = None) -> Rule:
    """Make the rule of NumPy's function ``name``; a float is computed by ``math``."""
    of_float = of_float or getattr(math, name)
    return rule(name, rules.elementwise(of_float, getattr(np, name)), vjp)


tan: Rule = _function("tan", lambda g, out, a: g * (1.0 + out * out))
sinh: Rule = _function("sinh", lambda g, out, a: g * cosh(a))
cosh: Rule = _function("cosh", lambda g, out, a: g * sinh(a))
arcsin: Rule = _function(
    "arcsin", lambda g, out, a: rules.div(g, rules.sqrt((1.0 - a) * (1.0 + a))), math.asin
)
arccos: Rule = _function(
    "arccos", lambda g, out, a: -rules.div(g, rules.sqrt((1.0 - a) * (1.0 + a))), math.acos
)
arctan: Rule = _function("arctan", lambda g, out, a: g / (1.0 + a * a), math.atan)
arcsinh: Rule = _function("arcsinh", lambda g, out, a: g / hypot(a, 1.0), math.asinh)
arccosh: Rule = _function(
    "arccosh", lambda g, out, a: rules.div(g, rules.sqrt((a - 1.0) * (a + 1.0))), math.acosh
)
arctanh: Rule = _function(
    "arctanh", lambda g, out, a: rules.div(g, (1.0 - a) * (1.0 + a)), math.atanh
)
log2: Rule = _function("log2", lambda g, out, a: rules.div(g, a * _LOG2))
log10: Rule = _function("log10", lambda g, out, a: rules.div(g, a * _LOG10))
exp2: Rule = _function("exp2", lambda g, out, a: g * (out * _LOG2), lambda a: 2.0**a)


def _hypot_share(g: Value, out: Value, operand: Value) -> Value:
    # d hypot(a, b)/da = a / hypot(a, b): at the tip, where both are 0, the slope is taken as 0,
    # which nearby turns without bound
    tip = rules.value(out) == 0
    if not rules.may_hold(tip):
        return g * (operand / out)
    operand = rules.steep(operand, operand, condition=tip)
    return g * (operand / rules.where(1.0, out, condition=tip))


hypot: Rule = rule(
    "hypot",
    lambda a, b: math.hypot(a, b) if type(a) is type(b) is float else np.hypot(a, b),
    lambda g, out, a, b: _hypot_share(g, out, a),
    lambda g, out, a, b: _hypot_share(g, out, b),
)
arctan2: Rule = rule(
    "arctan2",
    lambda a, b: math.atan2(a, b) if type(a) is type(b) is float else np.arctan2(a, b),
    # the angle of (b, a) turns by b / r² as a moves, and by -a / r² as b does
    lambda g, out, a, b: g * rules.div(b, a * a + b * b),
    lambda g, out, a, b: -(g * rules.div(a, a * a + b * b)),
)

_FAR = 6.0  # from here on erf is 1 in float64
_PLACES = 64  # of the table, in each unit


@cache
def _erf_table() -> list[Any]:
    """Return the Taylor coefficients of erf at each place of a grid, an array for each power.

    The slope at c + h is 2/√π exp(-c²) times exp(-2ch - h²), whose coefficients follow from each
    other: its own slope is -2(c + h) times itself.
    """
    c = np.arange(int(_FAR) * _PLACES + 1) / _PLACES
    slope = [np.ones_like(c), -2.0 * c]
    for n in range(1, 7):
        slope.append(-2.0 * (c * slope[n] + slope[n - 1]) / (n + 1))
    size = 2.0 / math.sqrt(math.pi) * np.exp(-c * c)
    powers = [size * each / (n + 1) for n, each in enumerate(slope)]
    return [np.array([math.erf(x) for x in c.tolist()]), *powers]


def _erf_of_array(a: Any, dtype: Any) -> Any:
    """Compute erf within two units of float64's last place, or half a unit of a shorter dtype's.

    From the nearest place of the grid it's at most 1/128, so that eight powers are enough.
    """
    a = np.asarray(a, np.float64)
    size = np.fmin(np.abs(a), _FAR)
    at = np.rint(size * _PLACES).astype(np.intp)
    h = size - at / _PLACES
    first, *powers = _erf_table()
    change: Any = 0.0
    for power in reversed(powers[:4] if np.dtype(dtype).itemsize < 8 else powers):
        change = (change + power[at]) * h
    out = np.copysign(first[at] + change, a)
    return np.where(np.isnan(a), a, out).astype(dtype)


def _erf(a: Any) -> Any:
    if type(a) is float:
        return math.erf(a)
    if rules.is_symbol(a):
        return a.elementwise("erf")
    return _erf_of_array(a, rules.float_dtype(a))


# Of the normal distribution: erf'(a) = 2 exp(-a²) / sqrt(pi)
erf_: Rule = rule("erf", _erf, lambda g, out, a: g * (2.0 / math.sqrt(math.pi) * rules.exp(-a * a)))


def erf(x: Any) -> Any:
    """Compute the error function of each entry, 2/√π times the integral of exp(-t²) from 0."""
    return erf_(as_node(x))


def gelu(x: Any) -> Any:
    """Compute x Φ(x) of each entry, Φ the standard normal distribution's."""
    x = as_node(x)
    return 0.5 * x * (1.0 + erf_(x * math.sqrt(0.5)))


def silu(x: Any) -> Any:
    """Compute x σ(x) of each entry, σ the logistic function; also called swish."""
    x = as_node(x)
    return x * rules.sigmoid(x)
