"""What *A batch, and softmax* opens with: the arrays of both passes, to scale, for any batch."""

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from chainview import Figure

HERE = files(__package__)
SIZES = {"d": 2, "h": 3, "q": 2}  # inputs, hidden units and outputs, as on the page
START, MOST = 4, 8  # examples
# Each array by its axes, and how it is coloured.
AXES = {
    "X": "nd", "Y": "nq", "W1": "hd", "b1": "h", "W2": "qh", "Z": "nh", "H": "nh", "O": "nq",
    "dO": "nq", "dW2": "qh", "dH": "nh", "dZ": "nh", "dW1": "hd", "db1": "h",
}  # fmt: skip
LOOKS = {"X": "given", "Y": "given", "W1": "leaf", "b1": "leaf", "W2": "leaf"}


@dataclass(frozen=True)
class Line:
    """A line of code, and its arrays in the order in which they are drawn.

    Attributes:
        code: as it stands on the page.
        drawn: its arrays, with what stands between them.
        kind: a product, a sum over the rows, or the same entry of each array.
        over: the axis that is summed over, if one is.
    """

    code: str
    drawn: Sequence[str]
    kind: str
    over: str = ""


LINES = (
    Line("Z = X @ W1.T + b1", ("Z", "=", "X", "@", "W1.T", "+", "b1"), "product", "d"),
    Line("H = np.maximum(Z, 0)", ("H", "= max(", "Z", ", 0)"), "each"),
    Line("O = H @ W2.T", ("O", "=", "H", "@", "W2.T"), "product", "h"),
    Line("dO = (O - Y) / n", ("dO", "= (", "O", "−", "Y", ") / n"), "each"),
    Line("dW2 = dO.T @ H", ("dW2", "=", "dO.T", "@", "H"), "product", "n"),
    Line("dH = dO @ W2", ("dH", "=", "dO", "@", "W2"), "product", "q"),
    Line("dZ = np.where(Z > 0, dH, 0)", ("dZ", "=", "dH", "where", "Z", "> 0"), "each"),
    Line("dW1 = dZ.T @ X", ("dW1", "=", "dZ.T", "@", "X"), "product", "n"),
    Line("db1 = dZ.sum(axis=0)", ("db1", "= sum of", "dZ"), "sum", "n"),
)
OVER = {"d": "inputs", "h": "units", "q": "outputs", "n": "examples"}
TITLE = "The nine lines of both passes of a network, with their arrays drawn to scale"


def axes(name: str) -> str:
    """Return the axes of an array, or of its transpose.

    >>> axes("dZ"), axes("dZ.T"), axes("b1")
    ('nh', 'hn', 'h')
    """
    found = AXES[name.removesuffix(".T")]
    return found[::-1] if name.endswith(".T") else found


def is_array(name: str) -> bool:
    """Whether a part of a line is an array, and not what stands between two."""
    return name.removesuffix(".T") in AXES


def batch() -> Figure:
    """Show the arrays of both passes to scale; the reader drags how many examples there are.

    >>> batch().alt.split("dO")[0]
    'Z (4, 3), H (4, 3), O (4, 2), '
    """
    sizes = {**SIZES, "n": START}
    results = [line.drawn[0] for line in LINES]
    alt = ", ".join(
        f"{name} ({', '.join(str(sizes[axis]) for axis in axes(name))}"
        f"{',' * (len(axes(name)) == 1)})" for name in results
    )  # fmt: skip
    inside = (
        '<div class="cg-controls" hidden><label>Examples in the batch, <b>n = '
        f'<i data-size="n">{START}</i></b> <input type="range" min="1" max="{MOST}" '
        f'value="{START}" autocomplete="off"></label></div>'
        f'<div class="cg-lines" style="--n:{START}">{"".join(map(_tile, LINES))}</div>'
        '<p class="cg-words" role="status">Blue arrays are gradients. Those of the weights and the '
        "bias have the shapes of W2, W1 and b1, however large the batch is.</p>"
    )
    lines = [{"names": [*filter(is_array, line.drawn)], "kind": line.kind, "over": line.over}
             for line in LINES]  # fmt: skip
    data = {"lines": lines, "axes": AXES, "sizes": sizes, "over": OVER}
    script, sheets = HERE / "batch.bundle.js", [HERE / "batch.css"]
    return Figure(alt, data, inside, "batch", sheets, script, _title=TITLE)


def _tile(line: Line) -> str:
    """Write a line of code, its arrays, their shapes, and what is summed over."""
    at = {name: i for i, name in enumerate(filter(is_array, line.drawn))}
    parts = "".join(
        _array(name, line, at[name]) if name in at else f'<span class="cg-op">{name}</span>'
        for name in line.drawn
    )
    says = "entry by entry"
    if line.over:
        size = f"{line.over} = {_size(line.over, {**SIZES, 'n': START})}"
        says = f"sums over the {OVER[line.over]}, {size}"
    batch = " cg-batch" * (line.over == "n")
    return (
        f'<div class="cg-tile{batch}"><code>{html.escape(line.code)}</code>'
        f'<div class="cg-drawn">{parts}</div><span class="cg-over">{says}</span></div>'
    )


def _array(name: str, line: Line, place: int) -> str:
    """Draw an array as a grid of cells; one with a row an example grows with the batch."""
    its = axes(name)
    rows, columns = its[:-1], its[-1]
    look = LOOKS.get(name.removesuffix(".T"), "grad" if name.startswith("d") else "value")
    edge = ""
    if line.over and 1 <= place <= 2:  # an operand
        edge = " cg-last" if line.kind == "product" and place == 1 else " cg-first"
    spans = [
        f"var(--{axis})" if axis == "n" else str(SIZES.get(axis, 1)) for axis in (rows, columns)
    ]
    sizes = {**SIZES, "n": START}
    shape = ", ".join(_size(axis, sizes) for axis in its) + "," * (len(its) == 1)
    return (
        f'<span class="cg-grid cg-{look}{edge}" style="--r:{spans[0]};--c:{spans[1]}">'
        f'<i class="cg-lit" hidden></i></span><span class="cg-tag">{name}<br>({shape})</span>'
    )


def _size(axis: str, sizes: Mapping[str, int]) -> str:
    return f'<i data-size="n">{sizes["n"]}</i>' if axis == "n" else str(sizes[axis])
