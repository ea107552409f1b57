"""NumPy's further functions of each entry, and those of nets: rules that few graphs need.

The slopes of inverse functions follow from f(f⁻¹(a)) = a: by the chain rule, f'(f⁻¹(a)) times the
slope sought is 1.
"""

import math
from typing import Any

import numpy as np

from chaingrad import rules
from chaingrad._arguments import as_node
from chaingrad.rules import BROADCASTS, INPUT, LEFT, RESULT, RIGHT, Rule, Value, rule

_LOG2, _LOG10 = math.log(2.0), math.log(10.0)


def _function(name: str, vjp: rules.Vjp, of_float: Any = None, **facts: Any) -> Rule:
    """Make the rule of NumPy's function ``name``; a float is computed by ``math``."""
    of_float = of_float or getattr(math, name)
    return rule(name, rules.elementwise(of_float, getattr(np, name)), vjp, **facts)


tan: Rule = _function(
    "tan", lambda g, out, a: g * (1.0 + out * out), reads=((RESULT,),), scratch=((1, 0),)
)
sinh: Rule = _function(
    "sinh", lambda g, out, a: g * cosh(a), reads=((INPUT,),), scratch=((1, 0),)
)  # fmt: skip
cosh: Rule = _function(
    "cosh", lambda g, out, a: g * sinh(a), reads=((INPUT,),), scratch=((1, 0),)
)  # fmt: skip
arcsin: Rule = _function(
    "arcsin", lambda g, out, a: rules.div(g, rules.sqrt((1.0 - a) * (1.0 + a))), math.asin,
    reads=((INPUT,),), scratch=((2, 1),),
)  # fmt: skip
arccos: Rule = _function(
    "arccos", lambda g, out, a: -rules.div(g, rules.sqrt((1.0 - a) * (1.0 + a))), math.acos,
    reads=((INPUT,),), scratch=((2, 1),),
)  # fmt: skip
arctan: Rule = _function(
    "arctan", lambda g, out, a: g / (1.0 + a * a), math.atan, reads=((INPUT,),), scratch=((1, 1),)
)
arcsinh: Rule = _function(
    "arcsinh", lambda g, out, a: g / hypot(a, 1.0), math.asinh, reads=((INPUT,),), scratch=((1, 1),)
)
arccosh: Rule = _function(
    "arccosh", lambda g, out, a: rules.div(g, rules.sqrt((a - 1.0) * (a + 1.0))), math.acosh,
    reads=((INPUT,),), scratch=((2, 1),),
)  # fmt: skip
arctanh: Rule = _function(
    "arctanh", lambda g, out, a: rules.div(g, (1.0 - a) * (1.0 + a)), math.atanh,
    reads=((INPUT,),), scratch=((2, 1),),
)  # fmt: skip
log2: Rule = _function(
    "log2", lambda g, out, a: rules.div(g, a * _LOG2), reads=((INPUT,),), scratch=((1, 1),)
)
log10: Rule = _function(
    "log10", lambda g, out, a: rules.div(g, a * _LOG10), reads=((INPUT,),), scratch=((1, 1),)
)
exp2: Rule = _function(
    "exp2", lambda g, out, a: g * (out * _LOG2), lambda a: 2.0**a,
    reads=((RESULT,),), scratch=((1, 0),),
)  # fmt: skip


def _hypot_share(g: Value, out: Value, operand: Value) -> Value:
    # d hypot(a, b)/da = a / hypot(a, b): at the tip, where both are 0, the slope is taken as 0
    tip = np.equal(rules.value(out), 0)
    if not rules.may_hold(tip):
        return g * (operand / out)
    return g * (operand / rules.where(1.0, out, condition=tip))


hypot: Rule = rule(
    "hypot", lambda a, b: math.hypot(a, b) if type(a) is type(b) is float else np.hypot(a, b),
    lambda g, out, a, b: _hypot_share(g, out, a),
    lambda g, out, a, b: _hypot_share(g, out, b),
    reads=((LEFT, RESULT), (RIGHT, RESULT)), scratch=((1, 0), (1, 0)), commutes=True, **BROADCASTS,
)  # fmt: skip
arctan2: Rule = rule(
    "arctan2", lambda a, b: math.atan2(a, b) if type(a) is type(b) is float else np.arctan2(a, b),
    # the angle of (b, a) turns by b / r² as a moves, and by -a / r² as b does
    lambda g, out, a, b: g * rules.div(b, a * a + b * b),
    lambda g, out, a, b: -(g * rules.div(a, a * a + b * b)),
    reads=((LEFT, RIGHT), (LEFT, RIGHT)), scratch=((2, 1), (2, 1)), **BROADCASTS,
)  # fmt: skip

_erf_of_array = np.frompyfunc(math.erf, 1, 1)


def _erf(a: Any) -> Any:
    if type(a) is float:
        return math.erf(a)
    if rules.is_symbol(a):
        return a.elementwise("erf")
    return np.asarray(_erf_of_array(a), rules.float_dtype(a))


# Of the normal distribution: erf'(a) = 2 exp(-a²) / sqrt(pi)
erf_: Rule = rule(
    "erf", _erf,
    lambda g, out, a: g * (2.0 / math.sqrt(math.pi) * rules.exp(-a * a)),
    reads=((INPUT,),), scratch=((1, 1),),
)  # fmt: skip


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
