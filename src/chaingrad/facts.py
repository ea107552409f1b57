"""What an operation is: how it is written, what it expects, and whether its operands may change.

``FACTS`` has a row for each of the engine's rules that drawings and messages say more of than its
name; a rule of your own brings its facts along (`chaingrad.rules.rule`). What an operation costs
stands in `chaingrad.prices`.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Facts:
    """How an operation is written and used; by default its name says it all.

    Attributes:
        symbol: the sign that drawings have for it.
        formula: how it is written in its operands {0}, {1}, as HTML; ``:f`` for an operand that
            stands as a factor, ``:b`` as a base, ``:e`` as an exponent.
        shares: how the share of each input is written: {g} the result's gradient, {a} and {b} the
            operands, {y} the result.
        commutes: whether the order of the operands does not matter.
        expects: what the operands must be, for messages.
    """

    symbol: str = ""
    formula: str = ""
    shares: tuple[str, ...] = ()
    commutes: bool = False
    expects: str = ""


UNKNOWN = Facts()

_SHAPES = "shapes must broadcast: trailing sizes equal, or 1"
_SQUARE = "square matrices"
_REGULAR = "square matrices that are not singular"

FACTS: dict[str, Facts] = {
    # arithmetic
    "add": Facts("+", "{0} + {1:f}", commutes=True, expects=_SHAPES),
    "sub": Facts("−", "{0} − {1:f}", ("", "−{g}"), expects=_SHAPES),
    "mul": Facts(
        "×", "{0:f} ⊙ {1:f}", ("{g} ⊙ {b}", "{g} ⊙ {a}"), commutes=True, expects=_SHAPES
    ),
    "div": Facts("÷", "{0:f} / {1:f}", ("{g} / {b}",), expects=_SHAPES),
    "pow": Facts("^", "{0:b}<sup>{1:e}</sup>", ("{g} ⊙ {p}",), expects=_SHAPES),
    "neg": Facts("−", "−{0:f}", ("−{g}",)),
    # functions of each entry
    "exp": Facts(formula="e<sup>{0}</sup>", shares=("{g} ⊙ {y}",)),
    "log": Facts(shares=("{g} / {a}",)),
    "sqrt": Facts(formula="√{0:f}"),
    "tanh": Facts(shares=("{g} ⊙ (1 − {y}²)",)),
    "sigmoid": Facts(formula="σ({0})", shares=("{g} ⊙ {y} ⊙ (1 − {y})",)),
    "relu": Facts(formula="max(0, {0})", shares=("{g} ⊙ [{a} > 0]",)),
    "abs": Facts(formula="|{0}|"),
    "log1p": Facts(formula="log(1 + {0})"),
    "expm1": Facts(formula="e<sup>{0}</sup> − 1"),
    "hypot": Facts(commutes=True, expects=_SHAPES),
    "arctan2": Facts(expects=_SHAPES),
    "logaddexp": Facts(
        formula="log(e<sup>{0}</sup> + e<sup>{1}</sup>)", commutes=True, expects=_SHAPES
    ),
    "maximum": Facts(formula="max({0}, {1})", commutes=True, expects=_SHAPES),
    "minimum": Facts(formula="min({0}, {1})", commutes=True, expects=_SHAPES),
    "where": Facts(expects=_SHAPES),
    # reductions
    "sum": Facts(formula="Σ {0}", shares=("{g} · {1} for each entry summed",)),
    "squared_norm": Facts(formula="‖{0}‖²", shares=("{g} · 2 {a}",)),
    "mean": Facts(formula="mean {0}", shares=("{g} · {1/n} for each entry averaged",)),
    "logsumexp": Facts(formula="log Σ e<sup>{0}</sup>"),
    "cross_entropy": Facts(expects="logits of shape (n, c) and n labels"),
    "binary_cross_entropy": Facts(expects="logits and labels of one shape"),
    # moving entries
    "alias": Facts(formula="{0}"),
    "tip": Facts(formula="{0}"),
    "steep": Facts(formula="{0}"),
    "reshape": Facts(expects="the number of entries must stay the same"),
    "broadcast_to": Facts(expects=_SHAPES),
    "transpose": Facts("T", "{0}ᵀ", ("({g})ᵀ",)),
    "getitem": Facts(expects="the index must fit the shape"),
    "concatenate": Facts(expects="all sizes but that of the axis must agree"),
    # products of matrices, and linear algebra
    "matmul": Facts(
        "@", "{0:f} {1:f}", ("{g} {b}ᵀ", "{a}ᵀ {g}"),
        expects="matmul (@) needs arrays whose inner sizes agree: (..., n, k) @ (..., k, m)",
    ),
    "einsum": Facts(expects="einsum(subscripts, *operands)"),
    "inv": Facts(expects=_REGULAR),
    "solve": Facts(expects=f"{_REGULAR}, and on the right as many rows"),
    "det": Facts(expects=_SQUARE),
    "cofactors": Facts(expects=_SQUARE),
    "cofactors_slope": Facts(expects=_SQUARE),
}  # fmt: skip
