"""The lines of a program as formulas, in the notation of the course's page on the MLP."""

import re

import numpy as np

from chaingrad.program.sparse_sums import taken_apart
from chaingrad.program.tape import Recorded
from chaingrad.program.writer import (
    ATOM,
    CHOICE,
    COMPARED,
    PLUS,
    POWER,
    TIMES,
    UNARY,
    Line,
    Writer,
    new_axis,
    signed,
)

_SIGNS = {
    "add": ("+", PLUS), "subtract": ("-", PLUS), "matmul": (r"\,", TIMES),
    "less": ("<", COMPARED), "less_equal": (r"\le", COMPARED), "greater": (">", COMPARED),
    "greater_equal": (r"\ge", COMPARED), "equal": ("=", COMPARED), "not_equal": (r"\ne", COMPARED),
    "bitwise_and": (r"\wedge", CHOICE), "bitwise_or": (r"\vee", CHOICE),
    "logical_and": (r"\wedge", CHOICE), "logical_or": (r"\vee", CHOICE),
}  # fmt: skip
# Operations that enclose their operands in signs of their own.
_FORMS = {
    "divide": (r"\frac{{{0}}}{{{1}}}", POWER), "exp": ("e^{{{0}}}", POWER),
    "invert": (r"\neg\left({0}\right)", UNARY), "logical_not": (r"\neg\left({0}\right)", UNARY),
    "sqrt": (r"\sqrt{{{0}}}", ATOM), "absolute": (r"\left|{0}\right|", ATOM),
    "maximum": (r"\max\left({1}, {0}\right)", ATOM),
    "where": (r"\begin{{cases}} {1} & {0} \\ {2} & \text{{else}} \end{{cases}}", ATOM),
}  # fmt: skip
_FUNCTIONS = {"log", "sin", "cos", "tanh", "max", "min"}
_GREEK = {"lambda", "alpha", "beta", "gamma", "delta", "epsilon", "eta", "theta", "mu", "sigma",
          "phi", "rho", "tau", "pi"}  # fmt: skip


class Equations(str):
    """Lines of LaTeX, which a notebook shows as formulas."""

    __slots__ = ()

    def _repr_latex_(self) -> str:
        aligned = (line.replace(" = ", " &= ", 1) for line in self.splitlines())
        rows = "\\\\\n".join(aligned)
        return f"$$\n\\begin{{aligned}}\n{rows}\n\\end{{aligned}}\n$$"


def equations(writer: Writer, answer: str) -> list[str]:
    """Write each line as a formula with the adjoints of ``answer``, "" if it computes nothing."""
    formulas = _Formulas(writer, answer)
    return [formulas.of(line) if line.within else "" for line in writer.lines]


class _Formulas:
    def __init__(self, writer: Writer, answer: str) -> None:
        self.writer = writer
        self.adjoint_of = {f"d{name}": x for x, name in writer.name.items()}
        self.answer = self._symbol("J" if answer == "value" else answer, 0)

    def of(self, line: Line) -> str:
        shape = line.target.shape
        size = r"\times".join(map(str, shape)) if len(shape) > 1 else ",".join(map(str, shape))
        shown = rf" \qquad ({size})" if shape else ""
        return f"{self._name(line.target)} = {self._said(line.target)[0]}{shown}"

    def _name(self, x: Recorded) -> str:
        name = self.writer.name[x]
        if name == "value":
            return self.answer
        of = self.adjoint_of.get(name)
        if of is not None and of.shape == x.shape and x.args and x not in self.writer.labels:
            return rf"\frac{{\partial {self.answer}}}{{\partial {self._name(of)}}}"
        return self._symbol(name, x.ndim)

    def _symbol(self, name: str, ndim: int) -> str:
        stem, number = re.fullmatch(r"(.*?)_?(\d*)", name).groups()  # type: ignore[union-attr]
        if stem in _GREEK:
            shown = f"\\{stem}"
        elif len(stem) == 1:
            shown = rf"\mathbf{{{stem}}}" if ndim else stem
        else:
            face = "mathbf" if ndim else "mathit"
            shown = rf"\{face}{{{stem.replace('_', chr(92) + '_')}}}"
        if not number:
            return shown
        return f"{shown}^{{({number})}}" if ndim else f"{shown}_{{{number}}}"

    def _operand(self, x: Recorded, above: int) -> str:
        text, binds = self._said(x) if x not in self.writer.name else (self._name(x), ATOM)
        return rf"\left({text}\right)" if binds < above else text

    def _said(self, x: Recorded) -> tuple[str, int]:
        op, args = x.op, x.args
        if op in ("input", "constant"):
            return self._number(x) if x not in self.writer.name else (self._name(x), ATOM)
        if op in _SIGNS:
            sign, binds = _SIGNS[op]
            left, right = self._operand(args[0], binds), self._operand(args[1], binds + 1)
            return f"{left} {signed(sign, right, args[1])}", binds
        if op in _FORMS:
            form, binds = _FORMS[op]
            return form.format(*(self._operand(y, CHOICE) for y in args)), binds
        index = self.writer.index(x) if op == "getitem" else new_axis(x)
        if index:
            index = index.replace("_", r"\_")
            return rf"{self._operand(args[0], ATOM)}\left[\texttt{{{index}}}\right]", ATOM
        if op == "assemble":
            return self._assembled(x)
        said = getattr(self, f"_say_{op}", None)
        if said:
            return said(*args)  # type: ignore[no-any-return]
        if op == "sum" and x.option("axis") is None and self._is_square(args[0]):
            return self._say_vdot(*args[0].args)
        if op in ("float", "astype", "broadcast_to"):
            inner = args[0]
            return self._said(inner) if inner not in self.writer.name else (self._name(inner), ATOM)
        listed = ", ".join(self._operand(y, CHOICE) for y in args)
        words = f"\\{op}" if op in _FUNCTIONS else rf"\operatorname{{{op.replace('_', ' ')}}}"
        words += f"^{{{x.option('shift')}}}" if op == "roll" else ""
        axis = x.option("axis")
        return f"{words}{'' if axis is None else f'_{{{axis}}}'}\\left({listed}\\right)", ATOM

    def _is_square(self, x: Recorded) -> bool:
        return x.op == "multiply" and x.args[0] is x.args[1] and x not in self.writer.name

    def _number(self, x: Recorded) -> tuple[str, int]:
        c = x.example
        if isinstance(c, np.ndarray):
            return rf"\texttt{{{self.writer.operand(x, ATOM)}}}", ATOM
        text = f"{float(c):.12g}".replace("inf", r"\infty")
        if "e" in text:
            digits, power = text.split("e")
            text = rf"{digits} \cdot 10^{{{int(power)}}}"
        return text, UNARY if text[0] == "-" else ATOM

    def _say_multiply(self, a: Recorded, b: Recorded) -> tuple[str, int]:
        if b.is_constant and not a.is_constant:
            a, b = b, a
        count = self.writer.divisor(a, b)
        if count:
            return rf"\frac{{1}}{{{count}}}\,{self._operand(b, TIMES)}", TIMES
        sign = r"\odot" if a.shape and b.shape else r"\,"
        if a.is_constant and b.is_constant:
            sign = r"\cdot"
        return f"{self._operand(a, TIMES)} {sign} {self._operand(b, TIMES)}", TIMES

    def _say_power(self, a: Recorded, b: Recorded) -> tuple[str, int]:
        return f"{self._operand(a, ATOM)}^{{{self._operand(b, CHOICE)}}}", POWER

    def _say_negative(self, a: Recorded) -> tuple[str, int]:
        return f"-{self._operand(a, TIMES)}", UNARY

    def _assembled(self, x: Recorded) -> tuple[str, int]:
        """Write the sum that it is, each part at its index."""
        base, parts = taken_apart(x)
        terms = [(sign, self._operand(y, PLUS + (sign < 0))) for sign, y in base]
        for sign, y in parts:
            index = self.writer.index(y).replace("_", r"\_")
            said = rf"\operatorname{{scatter}}_{{\texttt{{{index}}}}}"
            terms.append((sign, rf"{said}\left({self._operand(y.args[0], CHOICE)}\right)"))
        text = "".join(f" {'+' if sign > 0 else '-'} {said}" for sign, said in terms) or "0"
        return text.removeprefix(" + ").removeprefix(" "), PLUS

    def _say_transpose(self, a: Recorded) -> tuple[str, int]:
        inner = self._operand(a, ATOM)
        if inner.startswith(r"\frac"):
            inner = rf"\left({inner}\right)"
        elif inner.endswith(")}"):  # it has a number above: one superscript takes both
            return rf"{inner[:-1]}\top}}", POWER
        return rf"{inner}^\top", POWER

    def _say_outer(self, a: Recorded, b: Recorded) -> tuple[str, int]:
        return rf"{self._operand(a, TIMES)}\,{self._say_transpose(b)[0]}", TIMES

    def _say_vdot(self, a: Recorded, b: Recorded) -> tuple[str, int]:
        if a is b:
            return rf"\left\lVert {self._operand(a, CHOICE)} \right\rVert^2", POWER
        return (
            rf"\left\langle {self._operand(a, CHOICE)}, {self._operand(b, CHOICE)} \right\rangle",
            ATOM,
        )
