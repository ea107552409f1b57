"""What an operation costs: floating-point operations, and the memory that its VJPs read and take.

``PRICES`` has a row for each of the engine's rules; a rule of your own brings its price along
(`chaingrad.rules.rule`). How `chaingrad.account` counts, it says there.
"""

import sys
from collections.abc import Callable, Container
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from chaingrad._subscripts import sizes_of, terms_of

Node = Any  # `chaingrad.node.Node` of an operation: it has a rule, operands, and a result

INPUT = LEFT = 0  # operands by their position, and what was made of them
RIGHT = 1
RESULT = -1
EVERY = range(sys.maxsize)


@dataclass(frozen=True, slots=True)
class Price:
    """What is known of an operation's costs; `~chaingrad.account.Ledger` refuses what is not.

    Attributes:
        flops: counts the floating-point operations, called with the result and the inputs; the
            result is a node, whose rule has the options.
        reads: for the VJP of each input, the positions of the operands whose data it reads, and
            RESULT where it reads the result's; none for inputs beyond the last. None where that is
            unknown, and may be all.
        passes_on: the inputs whose share takes no new array: the gradient itself, a view of it, or
            one number repeated.
    """

    flops: Callable[..., int] | None = None
    reads: tuple[tuple[int, ...], ...] | None = None
    passes_on: Container[int] | None = None


UNPRICED = Price()


# --- floating-point operations ------------------------------------------------------------------


def one_an_entry(out: Node, *inputs: Node) -> int:
    """Count one operation for each entry of the result."""
    return int(out.size)


def no_flops(out: Node, *inputs: Node) -> int:
    """Count no operations: entries are only moved, compared or chosen."""
    return 0


def _logsumexp_flops(out: Node, a: Node) -> int:
    """Count exp(a - max) of each entry and their sum, then log and + max of each result."""
    return int(3 * a.size + out.size)


def _cross_entropy_flops(out: Node, a: Node) -> int:
    """Count a - max, exp and + of each entry but one a row; then log, - and mean of each row."""
    return int(3 * a.size + 2 * len(a.data))


def _matmul_flops(out: Node, a: Node, b: Node) -> int:
    """Count a product and a sum for each triple of indices."""
    return int(2 * out.size * a.shape[-1])


def _of_matrices(share: float) -> Callable[..., int]:
    """Make a count of ``share`` n³ operations for each matrix: what LAPACK takes for large n."""
    return lambda out, a: round(share * a.size * a.shape[-1])


def _solve_flops(out: Node, a: Node, b: Node) -> int:
    """Count 2 n² for each right-hand side, after the factorization, once for each solution."""
    n = a.shape[-1]
    systems = out.size // (n if b.ndim == 1 else n * b.shape[-1]) if out.size else 0
    return int(round(2 / 3 * n**3 * systems) + 2 * out.size * n)


def _cumsum_flops(out: Node, a: Node) -> int:
    """Count one addition for each entry but the first along the axis."""
    return int(a.size - a.size // max(int(a.shape[out.rule.options["axis"]]), 1))


def _scatter_flops(out: Node, a: Node) -> int:
    """Count one addition for each entry beyond the first that comes to a place."""
    places = np.zeros(out.shape, bool)
    places[out.rule.options["index"]] = True
    return int(a.size - np.count_nonzero(places))


def _einsum_flops(out: Node, *inputs: Node) -> int:
    """Count a product of all operands, and its addition, for each value of all indices together."""
    shapes = [x.shape for x in inputs]
    *terms, result = terms_of(out.rule.options["subscripts"], shapes)
    sizes = sizes_of(terms, shapes)
    steps = prod(sizes.values())
    if len(inputs) == 1:
        return steps - int(out.size)  # as a sum
    return (len(inputs) - 1 + (len(result) < len(sizes))) * steps


# --- the table ----------------------------------------------------------------------------------

_BOTH = (LEFT, RIGHT)
_NONE: tuple[int, ...] = ()


def _price(
    flops: Callable[..., int] | None,
    *reads: tuple[int, ...],
    passes_on: Container[int] = _NONE,
) -> Price:
    return Price(flops, reads, passes_on)


PRICES: dict[str, Price] = {
    # arithmetic
    "add": _price(one_an_entry, (), (), passes_on=_BOTH),
    "sub": _price(one_an_entry, (), (), passes_on=(LEFT,)),
    "mul": _price(one_an_entry, (RIGHT,), (LEFT,)),
    "div": _price(one_an_entry, (RIGHT,), (RIGHT, RESULT)),
    "pow": _price(one_an_entry, _BOTH, (LEFT, RIGHT, RESULT)),
    "neg": _price(one_an_entry, ()),
    # functions of each entry
    **dict.fromkeys(
        ("exp", "sqrt", "tanh", "sigmoid", "expm1", "tan", "exp2"),
        _price(one_an_entry, (RESULT,)),
    ),
    **dict.fromkeys(
        ("log", "sin", "cos", "log1p", "sinh", "cosh", "arcsin", "arccos", "arctan", "arcsinh",
         "arccosh", "arctanh", "log2", "log10", "erf"),
        _price(one_an_entry, (INPUT,)),
    ),
    "hypot": _price(one_an_entry, (LEFT, RESULT), (RIGHT, RESULT)),
    "arctan2": _price(one_an_entry, _BOTH, _BOTH),
    "logaddexp": _price(one_an_entry, _BOTH, _BOTH),
    # what only compares and chooses
    "relu": _price(no_flops, (RESULT,)),
    "abs": _price(no_flops, (INPUT,)),
    "clip": _price(no_flops, (INPUT,)),
    "maximum": _price(no_flops, _BOTH, _BOTH),
    "minimum": _price(no_flops, _BOTH, _BOTH),
    "where": _price(no_flops, (), ()),
    # reductions
    "sum": _price(lambda out, a: a.size - out.size, (), passes_on=(INPUT,)),
    "squared_norm": _price(lambda out, a: 2 * a.size - 1, (INPUT,)),
    "mean": _price(lambda out, a: a.size, (), passes_on=(INPUT,)),  # repeated
    "max": _price(no_flops, (INPUT, RESULT)),
    "min": _price(no_flops, (INPUT, RESULT)),
    "logsumexp": _price(_logsumexp_flops, (INPUT,)),
    "cross_entropy": _price(_cross_entropy_flops, (INPUT,)),
    "binary_cross_entropy": _price(lambda out, a: 9 * a.size, (INPUT,)),
    "cumsum": _price(_cumsum_flops, ()),
    # moving entries
    **dict.fromkeys(
        ("alias", "tip", "steep", "cast", "reshape", "broadcast_to", "transpose"),
        _price(no_flops, (), passes_on=(INPUT,)),
    ),
    "no_slope": _price(no_flops, ()),
    "getitem": _price(no_flops, ()),
    "scatter": _price(_scatter_flops, ()),
    "concatenate": _price(no_flops, passes_on=EVERY),
    # products of matrices, and linear algebra
    "matmul": _price(_matmul_flops, (RIGHT,), (LEFT,)),
    "einsum": Price(_einsum_flops, passes_on=()),
    "inv": _price(_of_matrices(8 / 3), (RESULT,)),  # LAPACK solves for n right-hand sides
    "solve": _price(_solve_flops, (LEFT, RESULT), (LEFT,)),
    "det": _price(_of_matrices(2 / 3), (INPUT, RESULT)),
    # parts of derivatives whose work depends on the values
    "product": _price(None, (INPUT,)),
    "without_each": _price(None, (INPUT,)),
    "up_to_each": _price(None, (INPUT,)),
    "cofactors": _price(None, (INPUT,)),
    "cofactors_slope": _price(None, (RIGHT,), ()),
}  # fmt: skip
