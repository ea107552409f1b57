"""A recorded function as the Python that a person would write."""

import keyword
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from chaingrad.program.sparse_sums import Term, taken_apart
from chaingrad.program.tape import (
    BITS,
    VIEWS,
    Recorded,
    Slot,
    in_order,
    may_repeat,
    reached,
)

WIDTH = 84  # of what a line computes; a longer one is written in two
FEW = 12  # entries of an array that is written out
TERMS = 5  # of a sum in a line, where an array is made of parts
SHORT = 46  # what is used once and longer than that gets a line of its own

# How tightly Python's operators bind. // and % do as * does, but no sign may pass them: -(x // y)
# isn't -x // y.
(
    ATOM, POWER, UNARY, TIMES, WHOLE, PLUS, AND, OR, COMPARED, NOT, BOTH, EITHER, CHOICE
) = range(20, 7, -1)  # fmt: skip
_BINARY = {
    "add": ("+", PLUS), "subtract": ("-", PLUS), "multiply": ("*", TIMES), "divide": ("/", TIMES),
    "matmul": ("@", TIMES), "floor_divide": ("//", WHOLE), "remainder": ("%", WHOLE),
    "less": ("<", COMPARED), "less_equal": ("<=", COMPARED), "greater": (">", COMPARED),
    "greater_equal": (">=", COMPARED), "equal": ("==", COMPARED), "not_equal": ("!=", COMPARED),
    "bitwise_and": ("&", AND), "bitwise_or": ("|", OR),
    "logical_and": ("and", BOTH), "logical_or": ("or", EITHER),
}  # fmt: skip
_UNARY = {"negative": ("-", UNARY), "invert": ("~", UNARY), "logical_not": ("not ", NOT)}
_METHODS = {"sum", "mean", "max", "min", "prod", "all", "any"}
_OF_MATH = {name: name for name in (
    "exp", "log", "log2", "log10", "log1p", "expm1", "sqrt", "hypot", "sin", "cos", "tan", "sinh",
    "cosh", "tanh", "isinf", "isnan", "isfinite")}  # fmt: skip
_OF_MATH |= {f"arc{x}": f"a{x}" for x in ("sin", "cos", "tan", "tan2", "sinh", "cosh", "tanh")}
MADE = {"scatter", "assemble"}  # what is no part of a longer expression
USED = {"np", "math", "abs", "float", "max", "min"}  # names that a source reads


def _shown(x: Recorded) -> list[Recorded]:
    """List ``x`` and the values it may be a view of, down to the one whose memory it shows."""
    chain = [x]
    while x.op in VIEWS and not _is_copied(x):
        x = x.args[0]
        chain.append(x)
    return chain


def _is_copied(x: Recorded) -> bool:
    """Return whether an array or a mask picks entries, or several operands make the result."""
    if x.op == "getitem":
        return any(y.shape or y.dtype.kind == "b" for y in x.args[1:])
    return x.op == "einsum" and len(x.args) > 1


def memory_of(x: Recorded) -> Recorded:
    """Return the value whose memory ``x`` may show: ``x`` itself if it is newly made."""
    return _shown(x)[-1]


class Names:
    """Names for values: labels as far as Python takes them, and none twice."""

    def __init__(self, reserved: Iterable[str]) -> None:
        self.taken = {*reserved, *keyword.kwlist}

    def of(self, wanted: str) -> str:
        """Return ``wanted`` as a name, with a number appended if it is taken."""
        name = re.sub(r"\W+", "_", wanted.translate(_DIGITS)).strip("_") or "z"
        name = f"z{name}" if name[0].isdigit() else name
        if name in self.taken:
            return self.numbered(f"{name}_" if name[-1].isdigit() else name)
        self.taken.add(name)
        return name

    def numbered(self, stem: str) -> str:
        """Append the first free number to the stem."""
        name = next(name for i in count(1) if (name := f"{stem}{i}") not in self.taken)
        self.taken.add(name)
        return name


_DIGITS = str.maketrans("₀₁₂₃₄₅₆₇₈₉⁰¹²³⁴⁵⁶⁷⁸⁹", "01234567890123456789", "⁽⁾()")


@dataclass
class Line:
    """A line of a program, which gives the value of ``target`` its name."""

    target: Recorded
    name: str
    text: str  # the right-hand side; for what needs more than one statement, all of them
    within: list[Recorded]  # all values that it computes, the target among them

    def __str__(self) -> str:
        code = self.text if "\n" in self.text else f"{self.name} = {self.text}"
        return f"{code}  # {self.target.shape}" if self.target.shape else code


class Writer:
    """Puts recorded values into lines.

    Args:
        inputs: the values that the program is given, and their names.
        outputs: what it gives.
        forward: those of them that the forward pass gives.
        labels: names that values would like to have.
        adjoint_of: the value that each adjoint belongs to.
        results: names for outputs.
        demands: what must hold of the values at each call, and what to say if it does not.

    Attributes:
        plain: whether all values are plain numbers, so that NumPy is not needed.
        constants: the arrays that are not computed from the inputs, by name.
        shown: the lines that write out those of few entries.
        lines: in order.
        forward: how many of the lines come before the backward pass.
    """

    def __init__(
        self,
        inputs: dict[Recorded, str],
        outputs: Sequence[Recorded],
        forward: Sequence[Recorded],
        labels: dict[Recorded, str],
        adjoint_of: dict[Recorded, Recorded],
        results: dict[Recorded, str],
        demands: Sequence[tuple[Recorded, str]] = (),
    ) -> None:
        self.inputs, self.outputs = inputs, list(outputs)
        self._demands = dict(demands)
        self.values = reached([*outputs, *(x for x, _ in demands), *inputs])
        self.plain = not any(x.is_array for x in self.values)
        self.names = Names({*USED, *inputs.values()})
        self.name: dict[Recorded, str] = dict(inputs)
        self.constants: dict[str, np.ndarray] = {}
        self.shown: list[str] = []
        self.lines: list[Line] = []
        self._texts: dict[Recorded, tuple[str, int]] = {}
        self._uses = Counter(self.outputs)
        for x in self.values:
            self._uses.update(x.args)
        self._exact = {x.dtype for x in self.values if x.is_array and x.dtype.kind == "f"} <= {
            np.dtype(np.float64)
        }
        self.labels, self.results = (
            {self._bare(x): name for x, name in given.items()} for given in (labels, results)
        )
        self.adjoint_of = {self._bare(g): x for g, x in adjoint_of.items()}
        self._named_adjoints = {
            g for g, x in self.adjoint_of.items() if x in self.labels or x in self.results
        }
        self.order, first = in_order(self.values, [*forward, *self._demands])
        self._is_back = False
        self._write(self.order[:first])
        self.forward, self._is_back = len(self.lines), True
        self._write(self.order[first:])

    @property
    def read(self) -> set[Recorded]:
        """All that something is computed from, or that is given."""
        return {*self.outputs, *(y for x in self.values for y in x.args)}

    # --- which values get a line ----------------------------------------------------------------

    def _write(self, values: Sequence[Recorded]) -> None:
        for x in values:
            if x in self._demands:
                self._demand(x)
            if x in self.name or self._is_trivial(x) or not self._uses[x]:
                continue
            text, _ = self._text(x)
            wanted = x in self.labels or x in self.results
            wanted = wanted or (self._is_back and x in self._named_adjoints)
            if self._uses[x] > 1 or wanted or len(text) > SHORT or x.op in MADE:
                self._line(x)

    def _is_trivial(self, x: Recorded) -> bool:
        """Return whether ``x`` is written out wherever it is used."""
        if x.op in ("input", "constant", "part"):
            return True
        if x.op == "float":
            y = x.args[0]
            return not self._needs_float(x) and (y in self.name or self._is_trivial(y))
        if x.op == "broadcast_to":
            return x.args[0].is_constant and x not in self.results
        cheap = (x.op == "transpose" and x.option("axes") is None) or (
            x.op == "getitem" and len(x.args) == 1 and isinstance(x.option("index"), int)
        )
        cheap = cheap or bool(new_axis(x))
        return cheap and (x.args[0] in self.name or self._is_trivial(x.args[0]))

    def _bare(self, x: Recorded) -> Recorded:
        while x.op == "float" and not self._needs_float(x):
            x = x.args[0]
        return x

    def _needs_float(self, x: Recorded) -> bool:
        return not self._exact or not isinstance(x.args[0].example, np.generic)

    def _demand(self, x: Recorded) -> None:
        text = f"if not {self.operand(x, NOT)}:\n    raise ValueError({self._demands[x]!r})"
        self.lines.append(Line(x, "", text, []))

    def _line(self, x: Recorded) -> None:
        text, _ = self._text(x)
        while len(text) > WIDTH and (longest := self._longest(x)) is not None:
            self._line(longest)
            del self._texts[x]
            text, _ = self._text(x)
        self.name[x] = name = self._named(x)
        if x.op in MADE:
            text = self._made(x, name)
        elif "\n" in text:
            text = f"{name} = {text}"
        self.lines.append(Line(x, name, text, self._covered(x)))

    def _longest(self, x: Recorded) -> Recorded | None:
        """Return the longest operand that has no line yet."""
        inlined = [y for y in x.args if y not in self.name and not self._is_trivial(y)]
        return max(inlined, key=lambda y: len(self._text(y)[0]), default=None)

    def _covered(self, x: Recorded) -> list[Recorded]:
        found, stack = [x], list(x.args)
        while stack:
            y = stack.pop()
            if y not in self.name and y.op not in ("input", "constant"):
                found.append(y)
                stack += y.args
        return found

    def _named(self, x: Recorded) -> str:
        if x in self.results:
            return self.names.of(self.results[x])
        if x in self.labels:
            return self.names.of(self.labels[x])
        of = self.adjoint_of.get(x) if self._is_back else None
        if of is not None and of in self.name:
            return self.names.of(f"d{self.name[of]}")
        return self.names.numbered("z" if of is None else "g")

    # --- what a line says -----------------------------------------------------------------------

    def operand(self, x: Recorded, above: int, beside: Recorded | None = None) -> str:
        """Write an operand, in parentheses if it binds less tightly than the code around it."""
        return parenthesised(*self._put_down(x, beside), above)

    def _put_down(self, x: Recorded, beside: Recorded | None = None) -> tuple[str, int]:
        """Write an operand bare, and say how tightly that binds."""
        if x.op == "constant":
            return self._constant(x, beside)
        return (self.name[x], ATOM) if x in self.name else self._text(x)

    def _binds(self, x: Recorded) -> int:
        return self._put_down(x)[1]

    def listed(self, operands: Iterable[Recorded]) -> str:
        """Write the operands as arguments of a call."""
        return ", ".join(self.operand(x, CHOICE) for x in operands)

    def _text(self, x: Recorded) -> tuple[str, int]:
        if x not in self._texts:
            self._texts[x] = self._said(x)
        return self._texts[x]

    def _said(self, x: Recorded) -> tuple[str, int]:
        op, args = x.op, x.args
        if op == "multiply":
            return self._product(args)
        # Python's ``and`` asks an array for one truth, so arrays take np.logical_and.
        has_sign = not (x.is_array and op in BITS.values())
        if has_sign and op in _BINARY:
            sign, binds = _BINARY[op]
            left = self.operand(args[0], binds + (binds == COMPARED), args[1])
            right = self.operand(args[1], (TIMES if binds == WHOLE else binds) + 1, args[0])
            if self._binds(args[1]) == WHOLE:
                return f"{left} {sign} {right}", binds
            return f"{left} {signed(sign, right, args[1])}", binds
        if has_sign and op in _UNARY:
            sign, binds = _UNARY[op]
            if op == "negative" and self._bare(args[0]).op in ("multiply", "divide"):
                binds = TIMES  # -(x * y) is (-x) * y, to the bit
            return f"{sign}{self.operand(args[0], binds)}", binds
        said = getattr(self, f"_say_{op}", None)
        if said:
            return said(x)  # type: ignore[no-any-return]
        if factors := self.summed_product(x):
            a, b = factors
            if a.ndim == 1:
                return f"{self.operand(a, TIMES)} @ {self.operand(b, TIMES + 1)}", TIMES
            return f"np.vdot({self.listed(factors)})", ATOM
        if op in _METHODS:
            words = [f"axis={x.option('axis')}"] if x.option("axis") is not None else []
            words += ["keepdims=True"] if x.option("keepdims") else []
            return f"{self.operand(args[0], ATOM)}.{op}({', '.join(words)})", ATOM
        listed = self.listed(args)
        if op in _OF_MATH and (self.plain or self._widens(x)):
            return f"math.{_OF_MATH[op]}({listed})", ATOM
        if self.plain and op in ("maximum", "minimum") and args[1].is_constant:
            # the first, if it is nan; and a float in any case
            return f"{op[:3]}({self.operand(args[0], CHOICE)}, {float(args[1].example)!r})", ATOM
        options = [(key, value) for key, value in x.options if value is not None]
        listed += "".join(f", {key}={value!r}" for key, value in options)
        return self._widened(x, f"np.{op}({listed})"), ATOM

    def summed_product(self, x: Recorded) -> Sequence[Recorded]:
        """Return the factors of which ``x`` adds up the products, if it does."""
        y = x.args[0] if x.args else x
        if x.op != "sum" or x.option("axis") is not None or x.option("keepdims"):
            return ()
        if y.op != "multiply" or y in self.name or y.dtype.kind != "f":
            return ()
        a, b = y.args
        same = a.shape == b.shape and a.dtype == b.dtype
        return y.args if same and a.is_array and a.shape and not a.is_constant else ()

    def _widened(self, x: Recorded, text: str) -> str:
        """Make a call's NumPy number a plain one if it would widen float32 beside it."""
        return f"float({text})" if self._widens(x) else text

    def _widens(self, x: Recorded) -> bool:
        return type(x.example) is float and not self._exact and not self.plain

    def _product(self, args: Sequence[Recorded]) -> tuple[str, int]:
        a, b = args if args[0].is_constant or not args[1].is_constant else args[::-1]
        if count := self.divisor(a, b):
            return f"{self.operand(b, TIMES)} / {count}", TIMES
        return f"{self.operand(a, TIMES, b)} * {self.operand(b, TIMES + 1, a)}", TIMES

    def divisor(self, a: Recorded, b: Recorded) -> int:
        """Return the whole number n > 1 if ``a`` is 1/n, a factor of ``b``; else 0."""
        if not a.is_constant or a.shape or b.dtype.kind != "f" or not 0 < a.example < 1:
            return 0
        count = round(1 / float(a.example))
        exact = type(a.example)(1.0 / count) == a.example and count <= np.finfo(b.dtype).max
        return count if exact and (not a.is_array or _is_written_bare(a, b)) else 0

    def _say_absolute(self, x: Recorded) -> tuple[str, int]:
        return f"abs({self.operand(x.args[0], CHOICE)})", ATOM

    def _say_erf(self, x: Recorded) -> tuple[str, int]:
        if not x.is_array:
            return f"math.erf({self.operand(x.args[0], CHOICE)})", ATOM
        inner = self.operand(x.args[0], CHOICE)
        return f"np.frompyfunc(math.erf, 1, 1)({inner}).astype(np.{x.dtype.name})", ATOM

    def _say_power(self, x: Recorded) -> tuple[str, int]:
        base, exponent = x.args
        is_plain = not any(self._bare(y).is_array for y in x.args)
        is_whole = exponent.is_constant and not exponent.shape and exponent.example % 1 == 0
        if is_plain and not is_whole:  # a negative float ** a fraction is complex in Python
            library = "math.pow" if self.plain else "np.power"
            return self._widened(x, f"{library}({self.listed(x.args)})"), ATOM
        return f"{self.operand(base, POWER + 1)}**{self.operand(exponent, POWER, base)}", POWER

    def _say_float(self, x: Recorded) -> tuple[str, int]:
        if self._needs_float(x):
            return f"float({self.operand(x.args[0], CHOICE)})", ATOM
        y = x.args[0]
        return (self.name[y], ATOM) if y in self.name else self._text(y)

    def _say_where(self, x: Recorded) -> tuple[str, int]:
        if x.is_array:
            return f"np.where({self.listed(x.args)})", ATOM
        condition, a, b = (self.operand(y, CHOICE + 1) for y in x.args)
        # Python's 0.0 would raise where something is divided by it; np.float64 widens float32.
        if self._exact and not self.plain:
            a, b = ("np.float64(0)" if text == "0.0" else text for text in (a, b))
        return f"{a} if {condition} else {b}", CHOICE

    def _say_transpose(self, x: Recorded) -> tuple[str, int]:
        inner = self.operand(x.args[0], ATOM)
        axes = x.option("axes")
        return (f"{inner}.transpose{tuple(axes)}" if axes else f"{inner}.T"), ATOM

    def _say_reshape(self, x: Recorded) -> tuple[str, int]:
        inner = self.operand(x.args[0], ATOM)
        if index := new_axis(x):
            return f"{inner}[{index}]", ATOM
        shape = str(x.shape) if len(x.shape) > 1 else f"({x.shape[0] if x.shape else '()'})"
        return f"{inner}.reshape{shape}", ATOM

    def _say_astype(self, x: Recorded) -> tuple[str, int]:
        dtype = f"np.{x.option('dtype').name}" if x.dtype.kind != "b" else "bool"
        if not x.args[0].is_array:
            return f"{dtype}({self.operand(x.args[0], CHOICE)})", ATOM
        return f"{self.operand(x.args[0], ATOM)}.astype({dtype})", ATOM

    def _say_broadcast_to(self, x: Recorded) -> tuple[str, int]:
        inner = x.args[0]
        if inner.is_constant:
            name = {0.0: "zeros", 1.0: "ones"}.get(inner.example, "full")
            entry = f", {self._number(inner.example, None)}"
            entry = entry if name == "full" else ""
            return f"np.{name}({_size(x.shape)}{entry}{_named_dtype(x.dtype)})", ATOM
        return f"np.broadcast_to({self.operand(inner, CHOICE)}, {x.shape})", ATOM

    def _say_full(self, x: Recorded) -> tuple[str, int]:
        return f"np.full({x.shape}, {self.operand(x.args[0], CHOICE)})", ATOM

    def _say_concatenate(self, x: Recorded) -> tuple[str, int]:
        axis = f", axis={x.option('axis')}" if x.option("axis") else ""
        return f"np.{x.op}([{self.listed(x.args)}]{axis})", ATOM

    def _say_stack(self, x: Recorded) -> tuple[str, int]:
        if any(y.shape for y in x.args):
            return self._say_concatenate(x)
        return f"np.array([{self.listed(x.args)}]{_named_dtype(x.dtype)})", ATOM

    def _say_einsum(self, x: Recorded) -> tuple[str, int]:
        subscripts = x.option("subscripts")
        return f'np.einsum("{subscripts}", {self.listed(x.args)})', ATOM

    def _say_getitem(self, x: Recorded) -> tuple[str, int]:
        return f"{self.operand(x.args[0], ATOM)}[{self.index(x)}]", ATOM

    def index(self, x: Recorded) -> str:
        """Write the index of an operation on its first operand."""
        index = x.option("index")
        texts = [self.operand(y, CHOICE) for y in x.args[1:]]

        def part(piece: Any) -> str:
            if isinstance(piece, Slot):
                return texts[piece.number]
            if isinstance(piece, slice):
                ends = ["" if end is None else str(end) for end in (piece.start, piece.stop)]
                step = "" if piece.step is None else f":{piece.step}"
                return ":".join(ends) + step
            return {Ellipsis: "...", None: "None"}.get(piece) or str(piece)

        if isinstance(index, tuple):
            return ", ".join(map(part, index)) or "()"
        return part(index)

    # --- arrays that are made of parts ----------------------------------------------------------

    def _made(self, x: Recorded, name: str) -> str:
        """Write the statements that make an array and put its parts where they belong."""
        base, scattered = taken_apart(x)
        parts: dict[str, list[Term]] = {}
        for sign, y in scattered:
            parts.setdefault(self.index(y), []).append((sign, y))
        if base:
            lines = self._base(x, name, base)
        elif rows := self._rows(x, parts.values()):
            return rows
        else:
            lines = [f"{name} = np.zeros({_size(x.shape)}{_named_dtype(x.dtype)})"]
        is_more = bool(base)
        for index, terms in parts.items():
            operands = terms[0][1].args[1:]
            repeats = may_repeat([z.example for z in operands]) and not _are_distinct(operands)
            for some in _in_lines(_put_there(terms)):
                lines.append(self._put(name, index, some, is_more, repeats))
                is_more = True
        return "\n".join(lines) if len(lines) > 1 else lines[0].removeprefix(f"{name} = ")

    def _base(self, whole: Recorded, name: str, terms: Sequence[Term]) -> list[str]:
        """Write a sum as the first value of an array of its own."""
        sign, x = terms[0]
        if x.shape != whole.shape:
            dtype = _named_dtype(whole.dtype)
            if any(y.shape for _, y in terms):
                zeros = f"{name} = np.zeros({_size(whole.shape)}{dtype})"
                return [zeros, f"{name} += {self._sum(terms)}"]
            return [f"{name} = np.full({_size(whole.shape)}, {self._sum(terms)}{dtype})"]
        shown = x in self.name or memory_of(x) is not x or x.op in ("input", "constant")
        if len(terms) == 1 and sign > 0 and shown and not _is_repeated(x):
            return [f"{name} = {self.operand(x, ATOM)}.copy()"]
        lines = map(self._sum, _in_lines(terms))
        return [f"{name} {'+=' if i else '='} {line}" for i, line in enumerate(lines)]

    def _sum(self, terms: Sequence[Term]) -> str:
        """Write a sum with its signs; a number stands for an array that repeats it."""
        text = ""
        for sign, x in terms:
            x = x.args[0] if _is_repeated(x) and (text or len(terms) == 1) else x
            if x.op == "negative" and x not in self.name:
                x, sign = x.args[0], -sign
            said, binds = self._put_down(x)
            if said[0] == "-" and binds >= TIMES:
                said, sign = said[1:], -sign
            if sign < 0 or len(terms) > 1:
                said = parenthesised(said, binds, PLUS if sign > 0 else PLUS + 1)
            if not text:
                text = said if sign > 0 else f"-{said}"
            else:
                text += f" {'+' if sign > 0 else '-'} {said}"
        return text

    def _rows(self, x: Recorded, parts: Collection[Sequence[Term]]) -> str:
        """Write an array all of whose rows are given, one each, or "" if it is no such array."""
        indices = [terms[0][1].option("index") for terms in parts]
        if any(type(index) is not int for index in indices):
            return ""
        rows = {index: _put_there(terms) for index, terms in zip(indices, parts, strict=True)}
        if sorted(rows) != list(range(x.shape[0])):
            return ""
        if any(_is_repeated(a) for terms in rows.values() for _, a in terms):
            return ""
        listed = f"[{', '.join(self._sum(rows[i]) for i in range(len(rows)))}]"
        text = f"np.stack({listed})" if x.ndim > 1 else f"np.array({listed}{_named_dtype(x.dtype)})"
        return text if len(text) <= WIDTH else ""

    def _put(
        self, name: str, index: str, terms: Sequence[Term], is_more: bool, repeats: bool
    ) -> str:
        """Write that something goes into a part of the array, or is added to what stands there."""
        said = self._sum(terms)
        opposite = self._sum([(-sign, x) for sign, x in terms])
        takes = said[0] == "-" and opposite[0] != "-" and len(terms) == 1 and (is_more or repeats)
        said = opposite if takes else said
        if repeats:
            index = f"np.s_[{index}]" if ":" in index or "..." in index else index
            index = f"({index})" if "," in index and "np.s_" not in index else index
            return f"np.{'subtract' if takes else 'add'}.at({name}, {index}, {said})"
        return f"{name}[{index}] {'-=' if takes else '+=' if is_more else '='} {said}"

    def _say_scatter(self, x: Recorded) -> tuple[str, int]:
        return "", ATOM  # `_line` writes it when its name is known

    _say_assemble = _say_scatter

    def _constant(self, x: Recorded, beside: Recorded | None) -> tuple[str, int]:
        c = x.example
        if isinstance(c, np.ndarray):
            return self._array(x, c), ATOM
        text = self._number(c, beside)
        if x.is_array and not _is_written_bare(x, beside):
            return f"np.{x.dtype.name}({text})", ATOM
        return text, UNARY if text[0] == "-" else ATOM

    def _number(self, c: Any, beside: Recorded | None) -> str:
        if not isinstance(c, float | np.floating):
            return repr(c.item() if isinstance(c, np.generic) else c)
        number = float(c)
        if not math.isfinite(number):
            library = "math" if self.plain else "np"
            return f"{'-' if number < 0 else ''}{library}.{'nan' if number != number else 'inf'}"
        if beside is None or beside.dtype.kind != "f" or beside.is_constant:
            return str(c) if isinstance(c, np.generic) else repr(number)
        if number.is_integer() and abs(number) < 1e15:
            return str(int(number))
        shorter = beside.dtype.type(number)  # NumPy takes no more of the number
        return str(shorter) if np.isfinite(shorter) and shorter else repr(number)

    def _array(self, x: Recorded, c: np.ndarray) -> str:
        if c.dtype == np.intp and c.size == max(c.shape) and (c.ravel() == np.arange(c.size)).all():
            return f"np.arange({c.size}){f'.reshape{c.shape}' if c.ndim > 1 else ''}"
        if c.ndim == 2 and c.dtype == np.float64 and np.array_equal(c, np.eye(*c.shape)):
            return f"np.eye({', '.join(map(str, dict.fromkeys(c.shape)))})"
        if x not in self.name:
            self.name[x] = name = self.names.numbered("c")
            text = re.sub(r"\b(nan|inf)\b", r"np.\1", repr(c.tolist()))
            if 0 < c.size <= FEW and len(text) <= WIDTH and c.dtype.isnative:
                text = f"np.array({text}{_named_dtype(c.dtype, np.int64, np.bool_)})"
                self.shown.append(f"{name} = {text}")
            else:
                self.constants[name] = c
        return self.name[x]


def _named_dtype(dtype: np.dtype[Any], *understood: Any) -> str:
    """Write a dtype as the last argument of a call, "" for float64 and what else is understood."""
    return "" if dtype in (np.float64, *understood) else f", np.{dtype.name}"


def _size(shape: tuple[int, ...]) -> str:
    return str(shape if len(shape) > 1 else shape[0])


def _is_repeated(x: Recorded) -> bool:
    """Return whether ``x`` is an array of one number again and again."""
    return x.op == "broadcast_to" and x.args[0].is_constant


def _in_lines(terms: Sequence[Term]) -> list[Sequence[Term]]:
    """Divide the terms of a long sum into those of each line."""
    return [terms[i : i + TERMS] for i in range(0, len(terms), TERMS)]


def _put_there(parts: Iterable[Term]) -> list[Term]:
    """Return what parts of an array put where they belong, each with its sign."""
    return [(sign, y.args[0]) for sign, y in parts]


def parenthesised(text: str, binds: int, needed: int) -> str:
    """Put a text into parentheses if it binds less tightly than the code around it needs."""
    return f"({text})" if binds < needed else text


def signed(sign: str, text: str, x: Recorded) -> str:
    """Write what is added or subtracted behind its sign: ``- 2 * x`` for ``+ -2 * x``."""
    if sign in ("+", "-") and re.match(r"-\d", text) and x.dtype.kind == "f":
        return f"{'-' if sign == '+' else '+'} {text[1:]}"
    return f"{sign} {text}"


def new_axis(x: Recorded) -> str:
    """Write the index that makes the column or row ``x`` of a vector, "" if it is none."""
    if x.op != "reshape" or x.args[0].ndim != 1 or x.ndim != 2 or 1 not in x.shape:
        return ""
    return ":, None" if x.shape[1] == 1 else "None, :"


def _are_distinct(parts: Sequence[Recorded]) -> bool:
    """Return whether indices side by side cannot meet: one is a constant without repeats."""
    if len({x.shape for x in parts}) != 1 or parts[0].ndim != 1:
        return False
    constants = (x.example for x in parts if x.is_constant and x.dtype.kind in "iu")
    return any(c.min(initial=0) >= 0 and len(np.unique(c)) == c.size for c in constants)


def _is_written_bare(x: Recorded, beside: Recorded | None) -> bool:
    """Return whether a NumPy number can be a Python one: beside an array whose dtype stays."""
    if beside is None or not beside.is_array:
        return False
    if x.dtype.kind == "f":
        return x.dtype == beside.dtype
    return np.result_type(x.dtype, beside.dtype) == beside.dtype


def indented(body: str) -> str:
    """Move the lines of a block to the right."""
    return "\n".join(f"    {line}" if line else "" for line in body.split("\n"))


def fresh(writer: Writer) -> Callable[[Recorded], str]:
    """Make the text of each output, so that no two share memory, nor one with an input."""
    taken: set[Recorded] = set()

    def given(x: Recorded) -> str:
        text = writer.operand(x, CHOICE)
        if not x.is_array or not (x.shape or x.op in (*VIEWS, "input", "constant")):
            return text
        if x.op == "broadcast_to" and x.args[0].is_constant:  # np.zeros and the like
            is_new = x not in writer.name or x not in taken
            taken.add(x)
            return text if is_new else f"{text}.copy()"
        base = memory_of(x)
        repeats = any(y.op == "broadcast_to" for y in _shown(x))  # one entry in many places
        known = base.op in ("input", "constant") or base in taken or repeats
        taken.add(base)
        return f"{writer.operand(x, ATOM)}.copy()" if known else text

    return given
