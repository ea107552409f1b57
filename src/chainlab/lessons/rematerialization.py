"""What *Memory and rematerialization* draws: the arrays alive in a training step, over time."""

from collections.abc import Iterable
from importlib.resources import files
from typing import NamedTuple

from chainview import Figure

HERE = files(__package__)
LAYERS, EXAMPLES, WIDTH = 16, 512, 256
MIB = EXAMPLES * WIDTH * 4 / 2**20  # of the result of one layer, in float32
FLOPS = 2 * EXAMPLES * WIDTH * WIDTH  # of one layer's product
LEFT, TOP, HIGH, STEP = 34, 12, 9, 12  # of the drawing: an array is HIGH, an operation STEP


class Moment(NamedTuple):
    """What is alive while a layer is computed: results of layers, and adjoints."""

    kind: str  # forward, again or backward
    layer: int
    results: int
    adjoints: int


def moments(kept: Iterable[int], layers: int = LAYERS) -> list[Moment]:
    """Return what is alive at each operation of a step that keeps the results of these layers.

    The last result is kept in any case. A layer whose result is dropped makes a piece with those
    after it, up to the next one that is kept, and a piece is run again as a whole. The examples,
    the weights and their gradients, which are there in any case, don't count.

    >>> max(m.results + m.adjoints for m in moments(range(1, 17)))
    18
    >>> max(m.results + m.adjoints for m in moments([4, 8, 12]))
    9
    """
    marks = sorted({*kept, layers})
    step, held = [], 0
    for layer in range(1, layers + 1):
        before = layer > 1 and layer - 1 not in marks  # dropped as soon as it has been used
        step.append(Moment("forward", layer, held + before + 1, 0))
        held += layer in marks
    for start, end in reversed(list(zip([0, *marks], marks, strict=False))):
        held -= 1
        if end - start > 1:
            again = range(start + 1, end + 1)
            step += [Moment("again", layer, held + layer - start, 1) for layer in again]
        back = range(end, start, -1)
        step += [Moment("backward", layer, held + layer - start, 2) for layer in back]
    return step


def alive() -> Figure:
    """Draw the arrays alive over a step, and let readers choose what is kept.

    >>> print(alive())  # doctest: +ELLIPSIS
    <Figure: The arrays alive in a training step of 16 layers... At most 18 arrays are alive, ...
    """
    title = "The arrays alive in a training step of 16 layers, operation by operation"
    everything = moments(range(1, LAYERS + 1))
    words = _words(everything)
    top = max(m.results + m.adjoints for m in everything)
    height, width = TOP + top * HIGH, LEFT + 3 * LAYERS * STEP
    axis = "".join(
        f'<text class="cg-tick" x="{LEFT - 6}" y="{height - n * HIGH + 4}">{n}</text>'
        f'<path class="cg-line" d="M{LEFT} {height - n * HIGH}H{width}"/>'
        for n in (0, 5, 10, 15)
    )
    drawing = (
        f'<svg viewBox="0 0 {width + 4} {height + 22}" role="img" aria-label="{title}">{axis}'
        f'<path class="cg-before" d="{_outline(everything, height)}"/>'
        f'<g class="cg-columns">{"".join(_column(m, i, height) for i, m in enumerate(everything))}'
        f'</g><path class="cg-peak" d="M{LEFT} {TOP}H{width}"/>'
        f'<text x="{LEFT + 4}" y="{TOP + 14}">arrays alive</text>'
        f'<text class="cg-end" x="{width}" y="{height + 17}">operations, one after the other →'
        "</text></svg>"
    )
    boxes = "".join(
        f'<button type="button" aria-pressed="true" aria-label="keep layer {n}"'
        f"{' disabled' if n == LAYERS else ''}>{n}</button>"
        for n in range(1, LAYERS + 1)
    )
    inside = (
        f'{drawing}<ul class="cg-keys"><li class="cg-forward">results, on the way forward</li>'
        '<li class="cg-again">while layers run again</li><li class="cg-backward">on the way back'
        '</li><li class="cg-adjoint">adjoints</li></ul>'
        f'<div class="cg-layers" role="group" aria-label="layers whose result is kept" hidden>'
        f'{boxes}</div><div class="cg-presets" hidden>'
        '<button type="button" data-every="1">Keep all</button>'
        '<button type="button" data-every="4">Keep every 4th (√16)</button>'
        '<button type="button" data-every="16">Keep only the last</button></div>'
        f'<p class="cg-words" role="status">{words}</p>'
    )
    data = {
        "layers": LAYERS, "mib": MIB, "flops": FLOPS,
        "left": LEFT, "top": TOP, "high": HIGH, "step": STEP, "most": top,
    }  # fmt: skip
    script, sheets = HERE / "rematerialization.bundle.js", [HERE / "rematerialization.css"]
    told = words.replace("<b>", "").replace("</b>", "")
    return Figure(f"{title}. {told}", data, inside, "alive", sheets, script, _title=title)


def _words(step: list[Moment]) -> str:
    most = max(m.results + m.adjoints for m in step)
    again = sum(m.kind == "again" for m in step)
    plain = 3 * LAYERS - 1  # products: the examples need no gradient
    more = f"{100 * again / plain:.0f} % more than the step's {plain} products"
    return (
        f"At most <b>{most} arrays</b> are alive, {most * MIB:.1f} MiB. "
        f"Run again: <b>{again} layers</b>, {again * FLOPS / 1e9:.2f} GFLOPs, {more}."
    )


def _column(moment: Moment, i: int, height: int) -> str:
    x, results = LEFT + i * STEP, moment.results * HIGH
    adjoints = moment.adjoints * HIGH
    return (
        f'<rect class="cg-{moment.kind}" x="{x}" y="{height - results}" '
        f'width="{STEP - 1}" height="{results}"/><rect class="cg-adjoint" x="{x}" '
        f'y="{height - results - adjoints}" width="{STEP - 1}" height="{adjoints}"/>'
    )


def _outline(step: list[Moment], height: int) -> str:
    tops = "".join(f"V{height - (m.results + m.adjoints) * HIGH}h{STEP}" for m in step)
    return f"M{LEFT} {height}{tops}V{height}"
