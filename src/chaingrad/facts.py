"""What is known of each operation beside its formulas: what drawings, messages and accounts ask.

``FACTS`` has a row for each of the engine's rules, by name; a rule of your own brings its facts
along (`chaingrad.rules.rule`). ``tests/chaingrad/test_facts.py`` holds every row to what is
measured.

Bytes are those of the entries of arrays. NumPy's own buffers are left out: 8,192 entries of each
operand that it has to cast, or to bring into the order of another.
"""

import sys
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

import numpy as np

from chaingrad._subscripts import sizes_of, terms_of

Node = Any  # `chaingrad.node.Node` of an operation: it has result, operands, and options
Array = Any
Counts = tuple[tuple[int, ...], ...]

INPUT = LEFT = 0  # operands by their position, and what was made of them
RIGHT = 1
RESULT = -1
EVERY = range(sys.maxsize)

NUMPY_2_0 = np.__version__.startswith("2.0")  # whose reshape cannot be told not to copy
LARGE = 256 * 1024  # bytes from which on NumPy reuses a temporary: NPY_MIN_ELIDE_BYTES


class Share(NamedTuple):
    """The memory of a share: its bytes, and whether it is a view of them or of the gradient."""

    bytes: int
    is_view: bool = False
    of_gradient: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of an operation beside how it computes; tests hold it to the truth.

    Attributes:
        flops: counts the floating-point operations, called with the result and the inputs; the
            result is a node, whose rule has the options. None where that is unknown.
        reads: for the VJP of each input, the positions of the operands whose data it reads, and
            RESULT where it reads the result's; none for inputs beyond the last. None where that is
            unknown, and may be all.
        passes_on: the inputs whose share is the gradient itself or a view of it: no new array.
        share: called with the node, an input's position and a gradient without entries, says what
            memory that share takes, if it is neither passed on nor a new array of the result's
            size.
        scratch: for the VJP of each input, how many arrays of the result's size it holds beside its
            share while it computes; how many if they are so large that NumPy writes a result over
            a temporary operand; and, if any, how many masks, of a byte an entry. Or a function of
            the node and the gradient, as above, that gives the bytes for each input. None where
            that is unknown.
        working: counts the bytes that the computation itself holds beside its result and what the
            rule keeps, called with the node. None where that is unknown.
        broadcasts: whether the operands' shapes broadcast to the result's.
        commutes: whether the order of the operands does not matter.
        expects: what the operands must be, for messages.
        symbol: the sign that Python writes it with.
        formula: how it is written in its operands {0}, {1}, as HTML; ``:f`` for an operand that
            stands as a factor, ``:b`` as a base, ``:e`` as an exponent.
        shares: how the share of each input is written: {g} the result's gradient, {a} and {b} the
            operands, {y} the result.
    """

    flops: Callable[..., int] | None = None
    reads: tuple[tuple[int, ...], ...] | None = None
    passes_on: Container[int] = ()
    share: Callable[[Node, int, Array], Share] | None = None
    scratch: Counts | Callable[[Node, Array], Sequence[int]] | None = None
    working: Callable[[Node], int] | None = None
    broadcasts: bool = False
    commutes: bool = False
    expects: str = ""
    symbol: str = ""
    formula: str = ""
    shares: tuple[str, ...] = ()


UNKNOWN = Facts()


def nbytes(data: Any) -> int:
    """Return the bytes of an array's entries; a number counts as none."""
    return data.nbytes if isinstance(data, np.ndarray) else 0


def _is_large(data: Any) -> bool:
    return nbytes(data) >= LARGE


# --- floating-point operations ------------------------------------------------------------------


def flops_a_result(out: Node, *inputs: Node) -> int:
    """Count one operation for each entry of the result."""
    return int(out.size)


def no_flops(out: Node, *inputs: Node) -> int:
    """Count no operations: entries are only moved, compared or chosen."""
    return 0


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


# --- memory of shares ---------------------------------------------------------------------------


def _new(node: Node, position: int, g: Array) -> Share:
    """Take a new array, of the operand's size."""
    return Share(nbytes(node.parents[position].data))


def _repeated(node: Node, position: int, g: Array) -> Share:
    """Take a view that repeats an array of the result's size."""
    return Share(nbytes(node.data), is_view=True)


def _reshaped(node: Node, position: int, g: Array) -> Share:
    """Take a view of the gradient, or of a copy in another order."""
    if _is_view(g, node.parents[0].shape):
        return Share(0, is_view=True, of_gradient=True)
    return Share(nbytes(node.data), is_view=True)


def _is_view(array: Array, shape: Any) -> bool:
    """Return whether NumPy can give an array this shape without a copy."""
    try:
        if NUMPY_2_0:
            array.view().shape = shape
        else:
            np.reshape(array, shape, copy=False)
    except (AttributeError, ValueError):
        return False
    return True


def _turned(node: Node, position: int, g: Array) -> Share:
    """Take a view of a new array, which has another order."""
    return Share(nbytes(node.parents[position].data), is_view=True)


def _matmul_share(node: Node, position: int, g: Array) -> Share:
    """Of a stack one share for each matrix of the result, before they are added up."""
    a, b = node.parents
    x = node.parents[position]
    if a.ndim == b.ndim == 2:
        return Share(
            nbytes(x.data), is_view=bool(getattr(x.data, "flags", None) and x.data.flags.fnc)
        )
    rows, columns = x.shape[-2:] if x.ndim > 1 else (1, x.shape[-1])
    matrix = (1 if a.ndim == 1 else node.shape[-2 if b.ndim > 1 else -1]) * (
        1 if b.ndim == 1 else node.shape[-1]
    )
    count = node.size // matrix if matrix else 0
    return Share(count * rows * columns * node.dtype.itemsize, is_view=b.ndim == 1 < position + 1)


def _picked(node: Node, position: int, g: Array) -> Share:
    """Take what an index picks of the gradient: by slices a view."""
    if any(isinstance(i, np.ndarray | list) for i in _parts(node.rule.options["index"])):
        return Share(nbytes(node.parents[0].data))
    return Share(0, is_view=True, of_gradient=True)


def _einsum_share(node: Node, position: int, g: Array) -> Share:
    """Sum over what other operands have; repeat what none has."""
    shapes = [x.shape for x in node.parents]
    if len(shapes) == 1:
        return Share(0, is_view=True, of_gradient=True)
    *terms, result = terms_of(node.rule.options["subscripts"], shapes)
    others = "".join(term for i, term in enumerate(terms) if i != position) + result
    known = [c for c in terms[position] if c in others]
    of_others = sizes_of(
        [t for i, t in enumerate(terms) if i != position] + [result],
        [s for i, s in enumerate(shapes) if i != position] + [node.shape],
    )
    size = prod(of_others[c] for c in known) * node.dtype.itemsize
    own = dict(zip(terms[position], shapes[position], strict=True))
    repeats = len(known) < len(own) or any(of_others[c] < own[c] for c in known)
    return Share(size, is_view=repeats)


# --- temporary memory ---------------------------------------------------------------------------


def none(node: Node) -> int:
    """Count no bytes."""
    return 0


def _power_scratch(node: Node, g: Array) -> Sequence[int]:
    n, large = nbytes(node.data), _is_large(node.data)
    base, exponent = (parent.data for parent in node.parents)
    if type(base) is float:
        return n, n * (not large)
    if type(exponent) is not float:
        return n + nbytes(exponent) + np.size(exponent), n + node.size
    # the exponent times the gradient, where that is no single entry, and the power
    arrays = any(g.strides) + (exponent != 2.0)
    arrays = 2 if exponent in (0.0, 0.5) else max(arrays - 1, 0) if large else arrays
    return n * arrays, n + node.size


def _of_scalars(count: int) -> Callable[[Node, Array], Sequence[int]]:
    """Count arrays, of which NumPy reuses one beside a Python float, in float64 alone."""

    def scratch(node: Node, g: Array) -> Sequence[int]:
        reused = _is_large(node.data) and node.dtype == np.float64
        return (nbytes(node.data) * (count - reused),)

    return scratch


def _winner_scratch(node: Node, g: Array) -> Sequence[int]:
    # What is beaten, what ties, and what is not beaten; and at ties two arrays, one of them reused.
    a, b = (parent.data for parent in node.parents)
    n = nbytes(node.data)
    return [n * bool(np.any(np.equal(a, b))) + 3 * node.size * bool(n)] * 2


def _hypot_scratch(node: Node, g: Array) -> Sequence[int]:
    n = nbytes(node.data)
    tip = bool(np.any(np.equal(node.data, 0)))
    return [n * (tip or not _is_large(node.data)) + node.size * bool(n)] * 2


def _extremum_scratch(node: Node, g: Array) -> Sequence[int]:
    return (nbytes(node.parents[0].data) + nbytes(node.data),)


def _cross_entropy_scratch(node: Node, g: Array) -> Sequence[int]:
    rows, itemsize = len(node.parents[0].data), node.parents[0].dtype.itemsize
    return (rows * (8 + 2 * itemsize),)  # where the labels are, sums, and what is taken off there


def _logsumexp_scratch(node: Node, g: Array) -> Sequence[int]:
    data = node.parents[0].data
    n = nbytes(data)
    return (n + nbytes(node.data) if _is_large(data) else 2 * n,)


def _squared_norm_working(node: Node) -> int:
    data = node.parents[0].data
    return 0 if _is_view(data, -1) else 2 * nbytes(data)  # np.vdot copies both its operands


def _times_input(count: int) -> Callable[[Node], int]:
    return lambda node: count * nbytes(node.parents[0].data)


def _parts(index: Any) -> Sequence[Any]:
    return index if type(index) is tuple else (index,)


def _added_scratch(index: Any, picked: int, whole: tuple[int, ...]) -> int:
    """Count the bytes that it takes to add up rows that are picked more than once."""
    parts = _parts(index)
    rows: Any = np.asarray(parts[0]) if len(parts) == 1 else np.zeros(0)
    if rows.dtype.kind not in "iu" or not rows.size:
        return 0
    r, u = rows.size, len(np.unique(np.mod(rows, max(whole[0], 1))))
    sums = (picked // r + 8) * u if u < r else 0
    return int(max(32 * r, 16 * r + 8 * u + picked + sums))


def _getitem_scratch(node: Node, g: Array) -> Sequence[int]:
    index = node.rule.options["index"]
    return (_added_scratch(index, nbytes(node.data), node.parents[0].shape),)


def _scatter_working(node: Node) -> int:
    index = node.rule.options["index"]
    return _added_scratch(index, nbytes(node.parents[0].data), node.shape)


def _doubled(node: Node, *arrays: int) -> int:
    """Count what LAPACK takes of float32, which NumPy computes in float64: copies of the operands.

    ``arrays`` are the bytes of operands and result.
    """
    return 2 * sum(arrays) if node.dtype != np.float64 else 0


def _inv_working(node: Node) -> int:
    n = nbytes(node.data)
    return max(_doubled(node, n, n) - n, 0)


def _det_working(node: Node) -> int:
    return _doubled(node, nbytes(node.parents[0].data))


def _det_scratch(node: Node, g: Array) -> Sequence[int]:
    n = nbytes(node.parents[0].data)
    return (max(n, _doubled(node, n, n) - n),)


def _inv_scratch(node: Node, g: Array) -> Sequence[int]:
    return (nbytes(node.data),)


def _solve_working(node: Node) -> int:
    r = nbytes(node.data)
    return max(_doubled(node, r, *[nbytes(x.data) for x in node.parents]) - r, 0)


def _solve_scratch(node: Node, g: Array) -> Sequence[int]:
    a, _ = node.parents
    r = nbytes(node.data)
    solved = _doubled(node, nbytes(a.data), r, r)
    n = _solve_share(node, LEFT, g).bytes
    left = max(r + (0 if n >= LARGE else n), solved - n)
    return left, max(solved - r, 0)


def _solve_share(node: Node, position: int, g: Array) -> Share:
    a, b = node.parents
    if position == RIGHT:
        return Share(nbytes(node.data), is_view=b.ndim == 1)
    columns = 1 if b.ndim == 1 else b.shape[-1]
    return Share(nbytes(node.data) // max(columns, 1) * a.shape[-1])


# --- the table ----------------------------------------------------------------------------------

_SHAPES = "shapes must broadcast: trailing sizes equal, or 1"


def _of_entries(**facts: Any) -> Facts:
    return Facts(**({"flops": flops_a_result, "working": none} | facts))


def _broadcasting(**facts: Any) -> Facts:
    return _of_entries(broadcasts=True, expects=_SHAPES, **facts)


def _moving(**facts: Any) -> Facts:
    return _of_entries(**({"flops": no_flops, "reads": ((),), "scratch": ()} | facts))


FACTS: dict[str, Facts] = {
    # arithmetic
    "add": _broadcasting(
        reads=((), ()), passes_on=(LEFT, RIGHT), scratch=(), commutes=True,
        symbol="+", formula="{0} + {1:f}",
    ),
    "sub": _broadcasting(
        reads=((), ()), passes_on=(LEFT,), scratch=(),
        symbol="−", formula="{0} − {1:f}", shares=("", "−{g}"),
    ),
    "mul": _broadcasting(
        reads=((RIGHT,), (LEFT,)), scratch=(), commutes=True,
        symbol="×", formula="{0:f} ⊙ {1:f}", shares=("{g} ⊙ {b}", "{g} ⊙ {a}"),
    ),
    "div": _broadcasting(
        reads=((RIGHT,), (RIGHT, RESULT)), scratch=((0, 0), (1, 1)),
        symbol="÷", formula="{0:f} / {1:f}", shares=("{g} / {b}",),
    ),
    "pow": _broadcasting(
        reads=((LEFT, RIGHT), (LEFT, RIGHT, RESULT)), scratch=_power_scratch,
        symbol="^", formula="{0:b}<sup>{1:e}</sup>", shares=("{g} ⊙ {p}",),
    ),
    "neg": _of_entries(
        reads=((),), scratch=(), symbol="−", formula="−{0:f}", shares=("−{g}",),
    ),
    # functions of each entry
    "exp": _of_entries(
        reads=((RESULT,),), scratch=(), formula="e<sup>{0}</sup>", shares=("{g} ⊙ {y}",),
    ),
    "log": _of_entries(reads=((INPUT,),), scratch=(), shares=("{g} / {a}",)),
    "sqrt": _of_entries(reads=((RESULT,),), scratch=((1, 1),), formula="√{0:f}"),
    "sin": _of_entries(reads=((INPUT,),), scratch=((1, 0),)),
    "cos": _of_entries(reads=((INPUT,),), scratch=((2, 1),)),
    "tanh": _of_entries(reads=((RESULT,),), scratch=(), shares=("{g} ⊙ (1 − {y}²)",)),
    "sigmoid": _of_entries(
        reads=((RESULT,),), scratch=(), formula="σ({0})", shares=("{g} ⊙ {y} ⊙ (1 − {y})",),
    ),
    "relu": _of_entries(
        reads=((RESULT,),), scratch=(), flops=no_flops,
        formula="max(0, {0})", shares=("{g} ⊙ [{a} > 0]",),
    ),
    "abs": _of_entries(reads=((INPUT,),), scratch=((1, 0),), flops=no_flops, formula="|{0}|"),
    "log1p": _of_entries(reads=((INPUT,),), scratch=((1, 1),), formula="log(1 + {0})"),
    "expm1": _of_entries(reads=((RESULT,),), scratch=((1, 0),), formula="e<sup>{0}</sup> − 1"),
    "tan": _of_entries(reads=((RESULT,),), scratch=_of_scalars(1)),
    "sinh": _of_entries(reads=((INPUT,),), scratch=((1, 0),)),
    "cosh": _of_entries(reads=((INPUT,),), scratch=((1, 0),)),
    "arcsin": _of_entries(reads=((INPUT,),), scratch=((2, 1),)),
    "arccos": _of_entries(reads=((INPUT,),), scratch=((2, 1),)),
    "arctan": _of_entries(reads=((INPUT,),), scratch=((1, 1),)),
    "arcsinh": _of_entries(reads=((INPUT,),), scratch=((1, 1),)),
    "arccosh": _of_entries(reads=((INPUT,),), scratch=((2, 1),)),
    "arctanh": _of_entries(reads=((INPUT,),), scratch=((2, 1),)),
    "log2": _of_entries(reads=((INPUT,),), scratch=((1, 1),)),
    "log10": _of_entries(reads=((INPUT,),), scratch=((1, 1),)),
    "exp2": _of_entries(reads=((RESULT,),), scratch=((1, 0),)),
    "erf": _of_entries(
        reads=((INPUT,),), scratch=((1, 1),),
        working=lambda node: 32 * node.size * bool(node.ndim),  # of each entry a Python float
    ),
    "hypot": _broadcasting(
        reads=((LEFT, RESULT), (RIGHT, RESULT)), scratch=_hypot_scratch, commutes=True,
    ),
    "arctan2": _broadcasting(reads=((LEFT, RIGHT), (LEFT, RIGHT)), scratch=((2, 1), (2, 1))),
    "logaddexp": _broadcasting(
        reads=((LEFT, RIGHT), (LEFT, RIGHT)), scratch=((1, 1), (1, 1)), commutes=True,
        formula="log(e<sup>{0}</sup> + e<sup>{1}</sup>)",
    ),
    "maximum": _broadcasting(
        reads=((LEFT, RIGHT), (LEFT, RIGHT)), scratch=_winner_scratch, flops=no_flops,
        commutes=True, formula="max({0}, {1})",
    ),
    "minimum": _broadcasting(
        reads=((LEFT, RIGHT), (LEFT, RIGHT)), scratch=_winner_scratch, flops=no_flops,
        commutes=True, formula="min({0}, {1})",
    ),
    "where": _broadcasting(reads=((), ()), scratch=(), flops=no_flops),
    "clip": _of_entries(reads=((INPUT,),), scratch=((0, 0, 1),), flops=no_flops),
    # reductions
    "sum": _of_entries(
        flops=lambda out, a: a.size - out.size, reads=((),), passes_on=(INPUT,), scratch=(),
        formula="Σ {0}", shares=("{g} · {1} for each entry summed",),
    ),
    "squared_norm": _of_entries(
        flops=lambda out, a: 2 * a.size - 1, reads=((INPUT,),), scratch=(),
        working=_squared_norm_working, share=_new,
        formula="‖{0}‖²", shares=("{g} · 2 {a}",),
    ),
    "mean": _of_entries(
        flops=lambda out, a: a.size, reads=((),), share=_repeated, scratch=(),
        # NumPy adds up float16 in float32
        working=lambda node: 2 * nbytes(node.data) * (node.dtype == np.float16),
        formula="mean {0}", shares=("{g} · {1/n} for each entry averaged",),
    ),
    "max": _of_entries(flops=no_flops, reads=((INPUT, RESULT),), scratch=_extremum_scratch,
                       share=_new),
    "min": _of_entries(flops=no_flops, reads=((INPUT, RESULT),), scratch=_extremum_scratch,
                       share=_new),
    "logsumexp": _of_entries(
        # exp(a - max) of each entry and their sum, then log and + max of each result
        flops=lambda out, a: 3 * a.size + out.size, reads=((INPUT,),),
        share=_new,
        scratch=_logsumexp_scratch, working=_times_input(2), formula="log Σ e<sup>{0}</sup>",
    ),
    "cross_entropy": _of_entries(
        # a - max, exp and + of each entry but one a row; then log, - and the mean of each row
        flops=lambda out, a: 3 * a.size + 2 * len(a.data), reads=((INPUT,),),
        share=_new, scratch=_cross_entropy_scratch,
        working=lambda node: _cross_entropy_scratch(node, None)[0],
        expects="logits of shape (n, c) and n labels",
    ),
    "binary_cross_entropy": _of_entries(
        flops=lambda out, a: 9 * a.size, reads=((INPUT,),),
        share=_new,
        scratch=_inv_scratch, working=_times_input(3), expects="logits and labels of one shape",
    ),
    "cumsum": _of_entries(flops=_cumsum_flops, reads=((),), share=_turned, scratch=()),
    # moving entries
    "alias": _moving(passes_on=(INPUT,), formula="{0}"),
    "tip": _moving(passes_on=(INPUT,), formula="{0}"),
    "steep": _moving(reads=((), ()), passes_on=(LEFT,), formula="{0}"),
    "no_slope": _moving(),
    "cast": _moving(passes_on=(INPUT,)),
    "reshape": _moving(
        passes_on=(INPUT,), share=_reshaped, expects="the number of entries must stay the same",
    ),
    "broadcast_to": _moving(
        passes_on=(INPUT,), expects=_SHAPES,
    ),
    "transpose": _moving(passes_on=(INPUT,), symbol="T", formula="{0}ᵀ", shares=("({g})ᵀ",)),
    "getitem": _moving(
        scratch=_getitem_scratch, share=_new,
        expects="the index must fit the shape",
    ),
    "scatter": _moving(flops=_scatter_flops, share=_picked, working=_scatter_working),
    "concatenate": _moving(
        reads=(), passes_on=EVERY, expects="all sizes but that of the axis must agree",
    ),
    # products of matrices
    "matmul": _of_entries(
        flops=lambda out, a, b: 2 * out.size * a.shape[-1], reads=((RIGHT,), (LEFT,)),
        share=_matmul_share, scratch=(),
        expects="matmul (@) needs arrays whose inner sizes agree: (..., n, k) @ (..., k, m)",
        symbol="@", formula="{0:f} {1:f}", shares=("{g} {b}ᵀ", "{a}ᵀ {g}"),
    ),
    "einsum": _of_entries(
        flops=_einsum_flops, share=_einsum_share, scratch=(),
        expects="einsum(subscripts, *operands)",
    ),
    # linear algebra
    "inv": _of_entries(
        flops=_of_matrices(8 / 3), reads=((RESULT,),),  # LAPACK solves for n right-hand sides
        scratch=_inv_scratch, working=_inv_working,
        expects="square matrices that are not singular",
    ),
    "solve": _of_entries(
        flops=_solve_flops, reads=((LEFT, RESULT), (LEFT,)),
        share=_solve_share, scratch=_solve_scratch, working=_solve_working,
        expects="square matrices that are not singular, and on the right as many rows",
    ),
    "det": _of_entries(
        flops=_of_matrices(2 / 3), reads=((INPUT, RESULT),),
        share=_new,
        scratch=_det_scratch, working=_det_working, expects="square matrices",
    ),
    # These are rare, and what they hold while they compute isn't counted.
    "product": Facts(reads=((INPUT,),)),
    "without_each": Facts(reads=((INPUT,),)),
    "up_to_each": Facts(reads=((INPUT,),)),
    "cofactors": Facts(reads=((INPUT,),), expects="square matrices"),
    "cofactors_slope": Facts(reads=((RIGHT,), ()), expects="square matrices"),
}  # fmt: skip
