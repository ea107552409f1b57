"""VJPs of matrix expressions, to be put together from tiles.

The engine writes the formulas: that of each operand of a line, given the adjoint of its result.
"""

import contextlib
import functools
import math
import operator
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from chaingrad.functional import vjp
from chaingrad.node import Node
from chaingrad.program import program
from chainlab.drills.draw import tile_sums
from chainlab.drills.draw.looks import look
from chainlab.drills.draw.numpy_lines import Line, Lines
from chainlab.drills.draw.series import Series
from chainlab.drills.draw.tile_sums import BAR, ENTRIES, REDUCED, Matrix, Sum, Term, flipped
from chainlab.drills.kinds.kind import Kind, Problem
from chainlab.mistakes import Mistake
from chainview.player.names import NodeNames, is_plain_number
from chainview.player.picture import Look
from chainview.read.items import Item
from chainview.read.reading import read as items_of
from chainview.read.terms import word

SIZES = (2, 3, 4)
NUMBERS = (-3, -2, -1, 1, 2, 3)
TRIES = 4000
SLOPE = "φ′(Z)"

# The lines, and behind the bar the sizes of the given arrays.
FORMS = (
    ("Z = X @ W | X n d, W d m", "Z = X @ W.T | X n d, W m d", "C = A.T @ B | A k n, B k m",
     "S = Q @ K.T | Q n d, K m d", "C = (A @ B).T | A n k, B k m", "Z = 2 * X @ W | X n d, W d m",
     "C = A.T @ B.T | A k n, B m k", "Y = P - X @ W | P n m, X n d, W d m"),
    ("Z = X @ W.T + b | X n d, W m d, b m", "Y = A @ B @ C | A n k, B k m, C m d",
     "Y = X * V | X n d, V n d", "S = Q @ K.T / 2 | Q n d, K m d",
     "Y = X * c + b | X n d, c d, b d", "Y = X - c; Z = Y @ W.T | X n d, c d, W m d",
     "Y = X @ W.T - V @ U | X n d, W m d, V n k, U k m", "Y = A.T @ B @ C.T | A k n, B k m, C d m"),
    ("Z = X @ W.T + b; H = phi(Z) | X n d, W m d, b m", "H = X @ W.T; O = H @ V.T | X n d, W m d, "
     "V k m", "Z = X @ W.T + b; Y = Z + X | X n d, W d d, b d", "S = X @ X.T | X n d",
     "Y = A @ X @ A.T | A n d, X d d", "H = X @ W.T; Y = H * X | X n d, W d d",
     "Z = X @ W; H = phi(Z); O = H @ V + c | X n d, W d m, V m k, c k",
     "S = X @ W @ X.T / 2 | X n d, W d d"),
)  # fmt: skip


def as_formula(line: Line) -> str:
    """Return a line as a formula: Z = X Wᵀ + b."""
    text = re.sub(r"\.T\b", "ᵀ", str(line).replace("2 * ", "2 ").replace(" @ ", " "))
    return text.replace(" * ", " ⊙ ").replace("phi", "φ").replace("-", "−")


def is_activation(line: Line) -> bool:
    return "phi" in line.text


def in_tiles(line: Line) -> Sum:
    """Return the result of a line in tiles; an activation becomes a slope for each entry."""
    slope = tile_sums.plain(SLOPE)
    known = {"phi": lambda z: z * slope, **{name: tile_sums.plain(name) for name in line.reads}}
    made: Sum = line.run(known)
    return made


def pulled(line: Line, known: Mapping[str, Node]) -> Sequence[Sum]:
    """Return each operand's share, given the result's adjoint, from the engine's program."""
    names = [line.made + BAR, *line.reads, *[SLOPE] * is_activation(line)]
    given = [known[name if name in known else line.made].data for name in names]

    def back(g: Any, *operands: Any) -> Any:
        slope = operands[-1]

        def run(*x: Any) -> Any:
            return line.run({"phi": lambda z: z * slope, **dict(zip(line.reads, x, strict=True))})

        return vjp(run, *operands[: len(line.reads)])[1](g)

    written: dict[str, Any] = {}
    exec(program(back, argnums=None).trace(*given).source, written)
    shares: Sequence[Sum] = written["back"](*map(tile_sums.plain, names))
    return shares


@dataclass(frozen=True)
class Asked:
    """An adjoint: of what, the sum that is right, and the lines that send the shares."""

    name: str
    right: Sum
    senders: Sequence[Line]

    @property
    def uses(self) -> str:
        """The lines that use it."""
        return " and ".join(dict.fromkeys(map(as_formula, self.senders)))


class Layer(Lines):
    """Lines of matrices, and the adjoint of everything by that of the last."""

    def __init__(self, form: str) -> None:
        lines, sizes = form.split(" | ")
        super().__init__(lines, sizes, phi=Node.relu)
        self.nodes = items_of(self.trial[self.root], "drill", 10**9)

    @property
    def given(self) -> dict[str, tuple[str, ...]]:
        """The randomly drawn names, and their sizes: leaves, slopes, the adjoint of the result."""
        sizes = {name: self.dims[name] for name in self.leaves}
        for line in self.lines:
            if is_activation(line):
                sizes[SLOPE] = self.dims[line.made]
        return sizes | {self.root + BAR: self.dims[self.root]}

    @functools.cached_property
    def asked(self) -> list[Asked]:
        """Every adjoint except the given one, in the order of the pass."""
        shares: dict[str, list[tuple[Line, Sum]]] = {}
        adjoints: list[Asked] = []
        for k, line in reversed(list(enumerate(self.lines))):
            for name, share in zip(line.reads, pulled(line, self.trial), strict=True):
                shares.setdefault(name, []).append((line, share))
            earlier = [name for other in self.lines[:k] for name in other.reads]
            for name in line.reads:
                if name not in earlier:
                    senders = [sender for sender, _ in shares[name]]
                    total = functools.reduce(operator.add, (x for _, x in shares[name]))
                    adjoints.append(Asked(name, total, senders))
        return adjoints

    @functools.cached_property
    def slips(self) -> dict[str, list[Mistake[Sum]]]:
        """The mistakes of each adjoint that differ from the right sum and from each other."""
        values = self.drawn([4] * len(self.letters), Series("generic"))
        slips: dict[str, list[Mistake[Sum]]] = {}
        for asked in self.asked:
            results, apart = [asked.right.value(values)], list[Mistake[Sum]]()
            for each in mistakes(asked):
                with contextlib.suppress(ValueError):  # no sizes fit
                    wrong = each.gives.value(values)
                    if tile_sums.distinct([wrong, *results]):
                        results.append(wrong)
                        apart.append(each)
            slips[asked.name] = apart
        return slips

    def drawn(self, sizes: Sequence[int], dice: Series) -> dict[str, Matrix]:
        """Draw the given numbers at random, and compute everything else from them."""
        matrices: dict[str, Matrix] = {}
        for name, dims in self.given.items():
            shape = [sizes[self.letters.index(x)] for x in dims]
            entries = [float(dice.choose(NUMBERS)) for _ in range(math.prod(shape))]
            matrices[name] = np.array(entries).reshape((1, *shape)[-2:])
        for line in self.lines:
            matrices[line.made] = in_tiles(line).value(matrices)
        for asked in self.asked:
            matrices[asked.name + BAR] = asked.right.value(matrices)
        return matrices

    def is_fit(self, known: Mapping[str, Matrix]) -> bool:
        """Return whether every mistake differs from the right result and the others on these."""
        for asked in self.asked:
            results = [asked.right.value(known)]
            for slip in self.slips[asked.name]:
                with contextlib.suppress(ValueError):  # its shapes do not fit
                    results.append(slip.gives.value(known))
            if not tile_sums.distinct(results):
                return False
        return True


@functools.cache
def layer(form: str) -> Layer:
    """Return the lines of a form."""
    return Layer(form)


def _is_apart(form: str) -> bool:
    """Return whether no two sizes are the same; shapes then show most mistakes."""
    return form in FORMS[0]


def _drawn(form: str, dice: Series) -> tuple[list[int], dict[str, Matrix]]:
    """Draw the sizes and matrices of a problem."""
    of = layer(form)
    for _ in range(TRIES):
        sizes = [dice.choose(SIZES) for _ in of.letters]
        if not _is_apart(form) or len(set(sizes)) == len(sizes):
            known = of.drawn(sizes, dice)
            if of.is_fit(known):
                return sizes, known
    raise RuntimeError(f"no numbers were found for {form}")


# --- mistakes -------------------------------------------------------------------------------------


def mistakes(asked: Asked) -> Iterator[Mistake[Sum]]:
    """Yield the sums that people write by mistake."""
    right, v = asked.right.terms, asked.name
    for i, term in enumerate(right):
        for name, wrong, says, _ in (*_of_products(v, term), *_of_term(v, term)):
            if wrong.chains:
                yield Mistake(name, Sum((*right[:i], wrong, *right[i + 1 :])), says)
    if len(right) > 1:
        says = f"a path is missing: {v} is used more than once in {asked.uses}"
        for i in range(len(right)):
            yield Mistake("forgotten", Sum((*right[:i], *right[i + 1 :])), says)
    for sender in asked.senders:
        says = "only a sum passes on unchanged what it receives"
        yield Mistake("unchanged", tile_sums.plain(sender.made + BAR), says)


def _of_products(v: str, term: Term) -> Iterator[Mistake[Term]]:
    """Yield the mistakes in a matrix product."""
    for i, chain in enumerate(term.chains):
        put = functools.partial(_put, term, i)
        if len(chain) > 1:
            says = f"that is the transpose: {v}{BAR} has the shape of {v}"
            yield Mistake("transposed", put(flipped(chain)), says)
            yield Mistake("order", put(chain[::-1]), "the factors are in the wrong order")
        for k, (name, turned) in enumerate(chain):
            before, after = chain[:k], chain[k + 1 :]
            if len(chain) > 1:
                says = f"{name} is to be transposed" if turned else f"{name} is not transposed here"
                yield Mistake("untransposed", put((*before, (name, not turned), *after)), says)
            if not name.endswith(BAR):
                says = f"that has {v} itself as a factor, and not what {v} was multiplied by"
                yield Mistake("factor", put((*before, (v, turned), *after)), says)
                yield Mistake("local", put((*before, *after)), f"the factor {name} is missing")
        if len(chain) == 2:
            says = "⊙ multiplies entry by entry; a matrix product sends a matrix product"
            yield Mistake("entry", put(chain[:1], chain[1:]), says)


def _of_term(v: str, term: Term) -> Iterator[Mistake[Term]]:
    """Yield the mistakes in a term that is made of products."""
    if len(term.chains) > 1:
        product = tuple(factor for chain in term.chains for factor in chain)
        says = "what was multiplied entry by entry sends so, too: with ⊙"
        yield Mistake("entry", replace(term, chains=(product,)), says)
        turned = (flipped(term.chains[0]), *term.chains[1:])
        says = "nothing is transposed around ⊙"
        yield Mistake("untransposed", replace(term, chains=turned), says)
    if term.summed:
        says = f"every row uses {v}: the shares of the rows are still to be added up"
        yield Mistake("batch", replace(term, summed=""), says)
        says = f"that adds up each row by itself; the shares of all rows go to {v}"
        yield Mistake("axis", replace(term, summed=tile_sums.COLUMNS), says)
        says = "shares are added up, and not averaged"
        yield Mistake("mean", replace(term, summed=tile_sums.MEAN), says)
    if term.sign < 0:
        yield Mistake("sign", replace(term, sign=1), f"the sign: {v} is subtracted")
    if term.scale:
        yield Mistake("scale", replace(term, scale=""), f"the factor {term.scale} is missing")


def _put(term: Term, i: int, *chains: tile_sums.Chain) -> Term:
    """Return the term with other products in the place of one."""
    chains = tuple(chain for chain in chains if chain)
    return replace(term, chains=(*term.chains[:i], *chains, *term.chains[i + 1 :]))


# --- as a page reads it ---------------------------------------------------------------------------


class Shapes(Kind):
    name, title, sheet = "shapes", "Shapes and transposes", "tiles"

    def asks(self, level: int) -> str:
        return (
            "Put every adjoint together from tiles. Neighbours are multiplied as matrices, before "
            "⊙ multiplies entry by entry. Σ adds up all that follows it."
        )

    def forms(self, level: int) -> Sequence[str]:
        return FORMS[level - 1]

    def looks(self, text: str) -> list[Look]:
        """Return the nodes of the drawing, with their shapes."""
        of = layer(text)
        return [_look(NodeNames(of.nodes), item) for item in of.nodes]

    def draw(self, level: int, dice: Series) -> Problem:
        number, text = dice.turn(self.forms(level))
        sizes, known = _drawn(text, dice)
        entry = _entry(layer(text), sizes, known)
        return Problem(self.name, level, dice.number, number, entry, sizes, known=known)


def _look(names: NodeNames, item: Item) -> Look:
    title = (
        names.full_name(item)
        if item.label or item.op == "transpose" or is_plain_number(item)
        else ""
    )
    note = "" if item.op in ("", "transpose") else word(item).replace("relu", "φ")
    return look(item, title, note, (("data",),) * (not is_plain_number(item)), "(0, 0)")


def _entry(of: Layer, sizes: Sequence[int], known: Mapping[str, Matrix]) -> dict[str, Any]:
    """Return a problem as a page reads it."""
    ids = {item.label: item.id for item in of.nodes if item.label}
    shapes = {name: of.shape(dims, sizes) for name, dims in (of.given | of.dims).items()}
    lines = [
        {
            "node": ids[asked.name],
            "label": asked.name + BAR,
            "shape": shapes[asked.name],
            "right": asked.right.tiles(),
            "hint": f"{asked.uses}; {asked.name}{BAR} has the shape of {asked.name}",
            "mistakes": [
                [slip.name, slip.gives.tiles(), slip.says] for slip in of.slips[asked.name]
            ],
        }
        for asked in of.asked
    ]
    return {
        "written": [
            (item.id, "data", of.shape(of.dims_of(item.node), sizes))
            for item in of.nodes
            if item.node.ndim
        ],
        "matrices": {name: known[name].astype(int).tolist() for name in of.given},
        "made": [[line.made, in_tiles(line).tiles()] for line in of.lines],
        "text": "; ".join(map(as_formula, of.lines)),
        "seed": f"{of.root}{BAR} {shapes[of.root]}",
        "tray": _tray(of, lines, shapes),
        "lines": lines,
        "steps": list(_steps(of, ids, shapes)),
    }


def _tray(of: Layer, lines: Sequence[Mapping[str, Any]], shapes: Mapping[str, str]) -> list[str]:
    """Return the tiles that the right and wrong formulas are made of."""
    said = [[line["right"], *(slip[1] for slip in line["mistakes"])] for line in lines]
    used = {tile for formulas_ in said for formula in formulas_ for tile in formula}
    bases = {tile.rstrip("ᵀ") for tile in used}
    names = [of.root + BAR, *(line["label"] for line in lines), *of.dims]
    tray: list[str] = []
    for name in names:
        if name in bases:
            tray += [name, name + "ᵀ"] if "," in shapes[name.removesuffix(BAR)][:-2] else [name]
    others = (SLOPE, ENTRIES, *REDUCED, "2", "1/2", tile_sums.PLUS, tile_sums.MINUS)
    return tray + [tile for tile in others if tile in used]


def _steps(of: Layer, ids: Mapping[str, str], shapes: Mapping[str, str]) -> Iterator[list[Any]]:
    """Yield one step for each adjoint."""
    for asked in of.asked:
        formula = asked.right.tiles()
        here = [
            f"{name} {shapes[name if name in shapes else name.removesuffix(BAR)]}"
            for name in dict.fromkeys(tile.rstrip("ᵀ") for tile in formula)
            if name in of.given or name.removesuffix(BAR) in of.dims
        ]
        words = (
            f'{asked.uses}: <span class="g">{asked.name}{BAR}</span> = <b>{" ".join(formula)}</b>, '
            f"of shape {shapes[asked.name]}. Here {', '.join(here)}."
        )
        nodes = [ids[asked.name], *(ids[sender.made] for sender in asked.senders)]
        yield ["Backward", words, nodes, None, []]
