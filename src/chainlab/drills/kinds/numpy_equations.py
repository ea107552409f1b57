"""The equations of a backward pass, typed in NumPy: forms, their numbers, and what is right.

The lines of a form are NumPy, and the engine runs the very same ones on nodes.
"""

import functools
import html
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from chaingrad.node import Node
from chainlab.drills.draw import rewrites
from chainlab.drills.draw.looks import look
from chainlab.drills.draw.numpy_lines import Line, Lines, read
from chainlab.drills.draw.series import Series
from chainlab.drills.kinds.kind import Kind, Problem
from chainlab.mistakes import Mistake
from chainview.player.picture import Look
from chainview.read.items import Item

SIZES = (3, 4, 5, 6, 7)  # with 2, a forgotten 2 / n would not show
TRIES = 200
LABELS, POSITIVE = "!", "+"  # behind a leaf: rows with a single 1, and numbers above 0

# The forward lines; the sizes of the given arrays; the lines of the adjoints that are asked for.
FORMS = (
    (
        "Z = X @ W | X n d, W d m | dW = X.T @ dZ; dX = dZ @ W.T",
        "Z = X @ W.T + b | X n d, W m d, b m | db = dZ.sum(axis=0); dW = dZ.T @ X; dX = dZ @ W",
        "Y = X * c + b | X n d, c d, b d"
        " | db = dY.sum(axis=0); dc = (dY * X).sum(axis=0); dX = dY * c",
        "C = A.T @ B | A k n, B k m | dA = B @ dC.T; dB = A @ dC",
        "m = X.mean(axis=0); C = X - m | X n d | dm = -dC.sum(axis=0); dX = dC + dm / n",
        "Y = P - X @ W | P n m, X n d, W d m | dW = -X.T @ dY; dX = -dY @ W.T",
        "s = X @ w | X n d, w d | dw = X.T @ ds; dX = np.outer(ds, w)",
        "S = 2 * Q @ K.T | Q n d, K m d | dQ = 2 * dS @ K; dK = 2 * dS.T @ Q",
    ),
    (
        "Z = X @ W.T + b; H = np.tanh(Z) | X n d, W m d, b m"
        " | dZ = dH * (1 - H ** 2); db = dZ.sum(axis=0); dW = dZ.T @ X; dX = dZ @ W",
        "Z = X @ W; H = np.maximum(Z, 0) | X n d, W d m"
        " | dZ = dH * (Z > 0); dW = X.T @ dZ; dX = dZ @ W.T",
        "R = X @ W - T; J = (R ** 2).sum() / n | X n d, W d m, T n m"
        " | dR = 2 * R / n; dW = X.T @ dR; dX = dR @ W.T",
        "Z = X @ W + b; H = 1 / (1 + np.exp(-Z)) | X n d, W d m, b m"
        " | dZ = dH * H * (1 - H); db = dZ.sum(axis=0); dW = X.T @ dZ",
        "Y = X / c | X n d, c+ d | dX = dY / c; dc = -(dY * X / c ** 2).sum(axis=0)",
        "E = np.exp(X); Y = E * c | X n d, c d"
        " | dE = dY * c; dc = (dY * E).sum(axis=0); dX = dE * E",
        "r = X @ w - t; J = (r ** 2).mean() | X n d, w d, t n"
        " | dr = 2 * r / n; dw = X.T @ dr; dX = np.outer(dr, w)",
        "H = X @ W.T; Y = H * V | X n d, W m d, V n m"
        " | dH = dY * V; dV = dY * H; dW = dH.T @ X; dX = dH @ W",
    ),
    (
        "S = X @ W + b; E = np.exp(S); P = E / E.sum(axis=1, keepdims=True); "
        "J = -(Y * np.log(P)).sum() / n | X n d, W d m, b m, Y! n m"
        " | dS = (P - Y) / n; db = dS.sum(axis=0); dW = X.T @ dS; dX = dS @ W.T",
        "Z = X @ W.T + b; H = np.tanh(Z); O = H @ V.T + c; J = ((O - T) ** 2).sum() / (2 * n)"
        " | X n d, W m d, b m, V k m, c k, T n k | dO = (O - T) / n; dc = dO.sum(axis=0); "
        "dV = dO.T @ H; dH = dO @ V; dZ = dH * (1 - H ** 2); db = dZ.sum(axis=0); dW = dZ.T @ X",
        "S = Q @ K.T / np.sqrt(d); E = np.exp(S); A = E / E.sum(axis=1, keepdims=True); O = A @ V"
        " | Q n d, K m d, V m k | dV = A.T @ dO; dA = dO @ V.T; "
        "dS = A * (dA - (dA * A).sum(axis=1, keepdims=True)); "
        "dQ = dS @ K / np.sqrt(d); dK = dS.T @ Q / np.sqrt(d)",
        "Z = X @ W + b; H = np.tanh(Z); Y = X + H | X n d, W d d, b d"
        " | dZ = dY * (1 - H ** 2); db = dZ.sum(axis=0); dW = X.T @ dZ; dX = dY + dZ @ W.T",
        "R = X @ W - T; J = (R ** 2).sum() / (2 * n) + a / 2 * (W ** 2).sum()"
        " | X n d, W d m, T n m, a+ | dR = R / n; dW = X.T @ dR + a * W; dX = dR @ W.T",
        "A = X @ W; G = 1 / (1 + np.exp(-A)); B = X @ U; Y = G * B | X n d, W d m, U d m"
        " | dG = dY * B; dB = dY * G; dA = dG * G * (1 - G); dW = X.T @ dA; dU = X.T @ dB; "
        "dX = dA @ W.T + dB @ U.T",
        "Z = X @ W; H = np.maximum(Z, 0); S = H @ V; E = np.exp(S); "
        "P = E / E.sum(axis=1, keepdims=True); J = -(Y * np.log(P)).sum() / n"
        " | X n d, W d m, V m k, Y! n k | dS = (P - Y) / n; dV = H.T @ dS; dH = dS @ V.T; "
        "dZ = dH * (Z > 0); dW = X.T @ dZ",
        "C = X - X.mean(axis=0); v = (C ** 2).mean(axis=0); N = C / np.sqrt(v) | X n d"
        " | dv = -(dN * C).sum(axis=0) / (2 * v ** 1.5); "
        "dC = dN / np.sqrt(v) + 2 * C * dv / n; dX = dC - dC.mean(axis=0)",
    ),
)

Known = dict[str, Any]  # arrays and sizes, by name


class Form(Lines):
    """Lines of NumPy, and the lines that give their adjoints.

    Attributes:
        asked: the lines that are right, each for an adjoint, in the order of the pass.
        marks: of each leaf what its entries are.
    """

    def __init__(self, form: str) -> None:
        forward, sizes, backward = form.split(" | ")
        super().__init__(forward, re.sub(f"[{LABELS}{POSITIVE}]", "", sizes))
        self.asked = list(read(backward))
        marks = [re.sub(r"\w", "", of.split()[0]) for of in sizes.split(", ")]
        self.marks = dict(zip(self.leaves, marks, strict=True))

    def adjoints(self, known: Mapping[str, Any]) -> Known:
        """Compute the adjoints that are asked for, with the engine's backward pass."""
        nodes = self.run({**known, **{name: Node(known[name], name) for name in self.leaves}})
        nodes[self.root].backward(known.get("d" + self.root))
        return {line.made: np.asarray(nodes[line.made[1:]].grad) for line in self.asked}

    @property
    def sizes_named(self) -> list[str]:
        """The sizes that its lines call by name."""
        named = {name for line in (*self.lines, *self.asked) for name in line.reads}
        return [letter for letter in self.letters if letter in named]

    def names_at(self, place: int) -> list[str]:
        """Return the names that may be typed into a line."""
        seed = ["d" + self.root] * bool(self.dims[self.root])
        before = [line.made for line in self.asked[:place]]
        return ["np", *self.dims, *seed, *before, *self.sizes_named]

    def drawn(self, sizes: Mapping[str, int], dice: Series) -> Known:
        """Draw the given arrays at random; compute everything else from them, and all adjoints."""
        given = {x: _array([sizes[k] for k in self.dims[x]], mark, dice)
                 for x, mark in self.marks.items()}  # fmt: skip
        known = self.run({**sizes, **given})
        if shape := [sizes[k] for k in self.dims[self.root]]:
            known["d" + self.root] = _array(shape, "", dice)
        known |= self.adjoints(known)
        for value in known.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
        return known

    def users(self, name: str) -> list[Line]:
        """Return the lines that use a value."""
        return [line for line in self.lines if name in line.reads]

    @functools.cached_property
    def slips(self) -> list[list[Mistake[str]]]:
        """The mistakes of each line that differ from the right line and from each other."""
        sizes = dict(zip(self.letters, SIZES[::-1], strict=False))
        known = self.drawn(sizes, Series("generic"))
        return [list(self._apart(place, known)) for place in range(len(self.asked))]

    def _apart(self, place: int, known: Known) -> Iterator[Mistake[str]]:
        name, right = self.asked[place]
        texts, names = {rewrites.normal(right)}, self.names_at(place)
        results = [known[name]]
        for slip in rewrites.mistakes(name, right, self.users(name[1:]), known, names):
            if slip.gives in texts or not set(names).issuperset(rewrites.names_in(slip.gives)):
                continue
            texts.add(slip.gives)
            value = computed(slip.gives, known)
            if value is None or not any(alike(value, other) for other in results):
                results += [] if value is None else [value]
                yield slip

    def is_fit(self, known: Known) -> bool:
        """Return whether every mistake differs from the right result and the others on these."""
        for (name, _), slips in zip(self.asked, self.slips, strict=True):
            values = [computed(slip.gives, known) for slip in slips]
            results = [known[name], *(value for value in values if value is not None)]
            if any(alike(a, b) for i, a in enumerate(results) for b in results[:i]):
                return False
        return True


def _array(shape: Sequence[int], mark: str, dice: Series) -> Any:
    if mark == LABELS:
        rows, columns = shape
        return np.eye(columns)[[dice.below(columns) for _ in range(rows)]]
    numbers = np.array([dice.below(2000) / 1000 - 0.9995 for _ in range(math.prod(shape))])
    return (abs(numbers) + 0.5 if mark == POSITIVE else numbers).reshape(shape)


def computed(text: str, known: Known) -> Any:
    """Return the result of a line as an array of numbers; None where it is none."""
    try:
        with np.errstate(all="ignore"):
            return np.asarray(eval(text, {"np": np}, dict(known)), float)
    except (ArithmeticError, TypeError, ValueError):
        return None


def alike(a: Any, b: Any) -> bool:
    """Return whether arrays have the same shape and entries, faster than `np.allclose` does."""
    if np.shape(a) != np.shape(b):
        return False
    with np.errstate(invalid="ignore"):  # infinity less infinity
        close = abs(a - b) < 1e-9 + 1e-7 * abs(b)
    return bool(np.all(close | (a == b) | ((a != a) & (b != b))))


@functools.cache
def form(text: str) -> Form:
    """Return the lines of a form."""
    return Form(text)


def draw_sizes(of: Form, dice: Series) -> list[int]:
    """Draw a size for each letter, no two of them the same."""
    left, sizes = list(SIZES), []
    for _ in of.letters:
        sizes.append(dice.choose(left))
        left.remove(sizes[-1])
    return sizes


def arrays(of: Form, sizes: Sequence[int], name: str) -> Known:
    """Draw arrays of a problem on which no mistake gives the right result."""
    dice, named = Series(name), dict(zip(of.letters, sizes, strict=True))
    for _ in range(TRIES):
        known = of.drawn(named, dice)
        if of.is_fit(known):
            return known
    raise RuntimeError(f"no numbers were found for {name}")


# --- as a page reads it ---------------------------------------------------------------------------


class Equations(Kind):
    name, title, sheet = "equations", "The equations, in NumPy", "typed"

    def asks(self, level: int) -> str:
        return (
            "Type every adjoint as one line of NumPy: <code>dW</code> is the adjoint of "
            "<code>W</code>. A line may use the names below, and the adjoints of the lines before "
            "it, which are taken to be right. The first <i>Check</i> loads Python."
        )

    def forms(self, level: int) -> Sequence[str]:
        return FORMS[level - 1]

    def looks(self, text: str) -> list[Look]:
        """Return the nodes of the drawing, with their shapes."""
        return [look(item, item.label, "", (("data",),), "(0, 0)") for item in _items(form(text))]

    def draw(self, level: int, dice: Series) -> Problem:
        number, text = dice.turn(self.forms(level))
        of = form(text)
        sizes = draw_sizes(of, dice)
        return Problem(self.name, level, dice.number, number, _entry(of, sizes), sizes)


def _items(of: Form) -> list[Item]:
    """Return a node for every name, in the order of the lines."""
    ids = {name: f"n{i}" for i, name in enumerate(of.dims)}
    operands = {line.made: tuple(ids[x] for x in line.reads if x in ids) for line in of.lines}
    asked = {line.made[1:] for line in of.asked}
    return [
        Item(ids[name], name, "",
             "operation" if name in operands else "parameter" if name in asked else "input",
             operands.get(name, ()))
        for name in of.dims
    ]  # fmt: skip


def _entry(of: Form, sizes: Sequence[int]) -> dict[str, Any]:
    """Return a problem as a page reads it."""
    ids = {item.label: item.id for item in _items(of)}
    shapes = {name: of.shape(dims, sizes) for name, dims in of.dims.items()}
    shapes |= {f"d{name}": shape for name, shape in shapes.items() if f"d{name}" not in shapes}
    return {
        "written": [(ids[name], "data", shapes[name]) for name in of.dims],
        "forward": [str(line) for line in of.lines],
        "names": [_described(of, name, sizes, shapes) for name in of.names_at(0)],
        "typed": [
            {"node": ids[line.made[1:]], "label": line.made, "shape": shapes[line.made],
             "right": line.text}
            for line in of.asked
        ],
        "steps": list(_steps(of, ids, shapes)),
    }  # fmt: skip


def _described(
    of: Form, name: str, sizes: Sequence[int], shapes: Mapping[str, str]
) -> tuple[str, str]:
    """Return a name that may be typed, and a description of it."""
    if name in of.sizes_named:
        return name, f"= {sizes[of.letters.index(name)]}"
    labels = " with a single 1 in each row" * (of.marks.get(name) == LABELS)
    return name, "" if name == "np" else shapes[name] + labels


def _steps(of: Form, ids: Mapping[str, str], shapes: Mapping[str, str]) -> Iterator[list[Any]]:
    """Yield one step for each line."""
    for line in of.asked:
        name = line.made[1:]
        users = of.users(name)
        read = ", ".join(f"{x} {shapes[x]}" for x in line.reads if x not in of.sizes_named)
        words = (
            f"{_code(map(str, users))}: <b>{_code([str(line)])}</b>, of shape "
            f"{shapes[line.made]}." + f" Here {read}." * bool(read)
        )
        yield ["Backward", words, [ids[name], *(ids[user.made] for user in users)], None, []]
    words = "<br>".join(_code([str(line)]) for line in of.asked)
    yield ["All lines", words, [], None, []]


def _code(lines: Iterable[str]) -> str:
    return ", ".join(f"<code>{html.escape(line, quote=False)}</code>" for line in lines)
