"""Judges lines of NumPy that were typed for a problem, by what the engine's backward pass gives.

Each line is evaluated by itself, with NumPy, the names of its problem, a few functions of Python,
and nothing else. Adjoints of the lines before it have the values that are right: a line is wrong
only by its own fault.
"""

import ast
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from chainlab.drills.draw import rewrites
from chainlab.drills.kinds import numpy_equations
from chainlab.drills.kinds.kind import Problem
from chainlab.drills.kinds.numpy_equations import Form, Known, alike
from chainlab.drills.problem import KINDS, problem

# The built-in names of Python that compute, and what NumPy takes when a method runs first.
BUILTINS = {f.__name__: f for f in (abs, enumerate, float, int, len, range, sum, zip)}
MACHINERY = {"__import__": __import__}
COMPREHENSIONS = (ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)
# What keyboards make of signs. On numbers Python's own ^ is nothing but an error.
MEANT = str.maketrans(
    {"−": "-", "–": "-", "×": "*", "·": "*", "^": "**", "²": "**2", "\u00a0": " "}
)


class UnreadableError(ValueError):
    """A line gives no value; the message says why, and how to go on."""


@dataclass(frozen=True)
class Verdict:
    """What is said of the lines.

    Attributes:
        marks: of each line "right", "wrong" or "empty".
        at: the line that is spoken of: the first wrong one, or the first that is empty.
        wrong: the names of the mistakes that give the same as this line.
        words: what is said, with code in backquotes.
        error: why the line gives nothing, or an array of another shape.
        hint: where the value is used.
    """

    marks: tuple[str, ...]
    at: int = 0
    wrong: tuple[str, ...] = ()
    words: str = ""
    error: str = ""
    hint: str = ""

    def __repr__(self) -> str:
        return f"✗ {self.words}" if "wrong" in self.marks else self.words or "✓ Right."


def check(name: str, lines: Sequence[str]) -> Verdict:
    """Judge the lines of a problem, such as equations-2-7; an empty text is a line to be typed."""
    kind, level, seed = name.split("-")
    return judge(problem(kind, int(level), int(seed)), lines)


def judge(drawn: Problem, lines: Sequence[str]) -> Verdict:
    """Judge the lines of a problem, in the order in which it asks for them."""
    of = numpy_equations.form(KINDS[drawn.kind].forms(drawn.level)[drawn.number])
    sizes = [int(size) for size in drawn.leaves]
    draws = [
        numpy_equations.arrays(of, sizes, f"{drawn.name} {again}") for again in ("once", "again")
    ]
    faults = [_fault(of, place, line, draws) if line.strip() else None
              for place, line in enumerate(lines)]  # fmt: skip
    marks = tuple(
        "empty" if not line.strip() else "wrong" if fault else "right"
        for line, fault in zip(lines, faults, strict=True)
    )
    for at, fault in enumerate(faults):
        if fault:
            made = of.asked[at].made
            words = f"Line {at + 1}, `{made}`: {fault.words}."
            return Verdict(marks, at, fault.names, words, fault.error, _uses(of, made))
    if "empty" not in marks:
        return Verdict(marks)
    count = marks.count("right")
    verb = "are" if count > 1 else "is"
    words = f"{count} of {len(marks)} {verb} right so far. Type the others."
    return Verdict(marks, marks.index("empty"), words=words if count else "Nothing is typed yet.")


class Fault(NamedTuple):
    """What is wrong with a line: names of mistakes, all that is said, and why it gives nothing."""

    names: tuple[str, ...]
    words: str
    error: str = ""


def _fault(of: Form, place: int, line: str, draws: Sequence[Known]) -> Fault | None:
    """Return the fault of a line; None if it is right on every draw of the arrays."""
    name = of.asked[place].made
    try:
        tree = _parsed(line, name)
        _know_names(of, place, tree)
        values = [_value(tree, _before(of, place, known)) for known in draws]
    except UnreadableError as error:
        text = _normal(line, name)
        slips = [slip for slip in of.slips[place] if slip.gives == text]
        words = [str(error), *(slip.says for slip in slips)]
        return Fault(tuple(slip.name for slip in slips), "; ".join(words), str(error))
    pairs = list(zip(values, draws, strict=True))
    wrong = [(value, known) for value, known in pairs if not alike(value, known[name])]
    if not wrong:
        return None
    slips = [slip for slip in of.slips[place] if _gives(slip.gives, pairs)]
    names = tuple(slip.name for slip in slips)
    says = "; or ".join(slip.says for slip in slips)
    value, right = wrong[0][0], wrong[0][1][name]
    if np.shape(value) != np.shape(right):
        shapes = f"your line has the shape {np.shape(value)}, and `{name}` has {np.shape(right)}"
        return Fault(names, f"{shapes}; {says}" if says else shapes, shapes)
    return Fault(names, says or _entry(of, name, value, right))


def _gives(text: str, pairs: Sequence[tuple[Any, Known]]) -> bool:
    """Return whether a line gives these values."""
    results = [(numpy_equations.computed(text, known), value) for value, known in pairs]
    return all(result is not None and alike(result, value) for result, value in results)


def _entry(of: Form, name: str, value: Any, right: Any) -> str:
    """Describe the first entry that is wrong."""
    close = np.isclose(value, right, rtol=1e-7, atol=1e-9)
    at = tuple(map(int, np.argwhere(~close)[0]))
    which = f"{name}[{', '.join(map(str, at))}]" if at else name
    typed, right_entry = (f"{float(x[at]):.4g}".replace("-", "−") for x in (value, right))
    return (
        f"its shape is right, and its entries are not: `{which}` is {typed} by this line, and "
        f"{right_entry} by the engine; {_uses(of, name)}"
    )


def _uses(of: Form, name: str) -> str:
    uses = ", ".join(f"`{line}`" for line in of.users(name[1:]))
    return f"`{name[1:]}` is used in {uses}"


# --- evaluating ----------------------------------------------------------------------------------


def _meant(line: str, name: str) -> str:
    """Return the formula of a line, without the name on its left."""
    return re.sub(rf"^{name}\s*=(?!=)", "", line.translate(MEANT).strip()).strip()


def _parsed(line: str, name: str) -> ast.expr:
    text = _meant(line, name)
    if other := re.match(r"(\w+)\s*=(?!=)", text):
        raise UnreadableError(f"it begins with `{other[1]} =`, and is to give `{name}`")
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError) as error:
        words = getattr(error, "msg", str(error))
        raise UnreadableError(f"Python cannot read `{text}`: {words}") from None


def _normal(line: str, name: str) -> str:
    try:
        return rewrites.normal(_meant(line, name))
    except (SyntaxError, ValueError):
        return ""


def _know_names(of: Form, place: int, tree: ast.expr) -> None:
    """Refuse names that are not there."""
    known = of.names_at(place)
    late = [line.made for line in of.asked[place:]]
    allowed = {*known, *BUILTINS, *_bound(tree)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Name) or node.id in allowed:
            continue
        if node.id in late:
            raise UnreadableError(f"`{node.id}` is itself still to be found")
        meant = f" NumPy’s functions begin with np: `np.{node.id}`." if hasattr(np, node.id) else ""
        names = ", ".join(f"`{name}`" for name in known)
        raise UnreadableError(f"there is no `{node.id}`.{meant} There are {names}")


def _bound(tree: ast.expr) -> set[str]:
    """Return the variables of comprehensions."""
    targets = [node.target for node in ast.walk(tree) if isinstance(node, ast.comprehension)]
    return {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}


def _before(of: Form, place: int, known: Known) -> Known:
    return {name: known[name] for name in of.names_at(place) if name != "np"}


def _value(tree: ast.expr, known: Mapping[str, Any]) -> Any:
    """Compute an expression as an array of numbers."""
    try:
        result = _evaluated(tree, known)
    except Exception as error:
        raise UnreadableError(_told(tree, error, known)) from None
    try:
        return np.asarray(result, float)
    except (TypeError, ValueError):
        words = f"`{ast.unparse(tree)}` is no array of numbers: it is a {type(result).__name__}"
        raise UnreadableError(words) from None


def _evaluated(tree: ast.expr, known: Mapping[str, Any]) -> Any:
    code = compile(ast.fix_missing_locations(ast.Expression(tree)), "<line>", "eval")
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return eval(code, {"__builtins__": BUILTINS | MACHINERY, "np": np, **known})


def _told(tree: ast.expr, error: Exception, known: Mapping[str, Any]) -> str:
    """Describe where an expression fails, in plain words: its innermost part that fails."""
    for node in _inside_out(tree):
        try:
            _evaluated(node, known)
        except Exception as here:
            return _misfit(node, known) or f"Python stops at `{ast.unparse(node)}`: {here}"
    return f"Python stops at `{ast.unparse(tree)}`: {error}"


def _inside_out(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the parts of an expression that can be evaluated alone, the innermost first."""
    if not isinstance(node, COMPREHENSIONS):
        for child in ast.iter_child_nodes(node):
            yield from _inside_out(child)
    if isinstance(node, ast.expr):
        yield node


def _misfit(node: ast.expr, known: Mapping[str, Any]) -> str:
    """Describe two operands whose shapes do not fit."""
    if not isinstance(node, ast.BinOp):
        return ""
    sides = [(f"`{ast.unparse(x)}`", np.shape(_evaluated(x, known)))
             for x in (node.left, node.right)]  # fmt: skip
    (left, a), (right, b) = sides
    if isinstance(node.op, ast.MatMult) and len(a) == len(b) == 2:
        meet = f"{a[1]} columns meet {b[0]} rows"
        return f"there is no product of {left} {a} and {right} {b}: {meet}"
    return f"{left} {a} and {right} {b} do not fit"
