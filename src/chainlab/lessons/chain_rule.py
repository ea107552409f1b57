"""What *The chain rule* draws: a nudge, the neuron's gradient, two diamonds and four patterns."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from math import tanh

from chainlab.lessons.computational_graph import B, X, neuron
from chainview import Drawing, Figure, color, draw_graph
from chainview.draw.boxes import BACK, BARE, Direction, new_graph
from chainview.draw.layout import Markup, escape, font, row
from chainview.player.names import brief

HERE = files(__package__)
AT = (0.5, 0.75, 0.55, tanh(0.55))  # its w, p, z and h
SLOPES = (X, 1.0, 1 - AT[3] ** 2)
STEPS = (("w", ""), ("p", "times x"), ("z", "plus b"), ("h", "tanh"))
START = 0.6  # the nudge to begin with
SCALES = (1, 0.1, 0.01, 0.001)
UNIT = 100  # how far the largest nudge of a scale reaches in the drawing
PLACES = (15, 81, 147, 213)  # of the number lines, in pixels
# What operations give at a = 3 and b = 5, and their slopes with respect to a and b.
PATTERNS = {"sum": (8.0, 1.0, 1.0), "product": (15.0, 5.0, 3.0), "maximum": (5.0, 0.0, 1.0)}
POINTS = 12  # type
KINDS = {"leaf": ("leaf", "leaf-line"), "constant": ("constant", "constant-line")}


@dataclass(frozen=True)
class Box:
    """A node as it is drawn: its name, a value, and what it has received."""

    name: str
    value: str = ""
    received: str = ""
    kind: str = ""  # a leaf, a constant, or neither
    acts: bool = False


@dataclass(frozen=True)
class Arrow:
    """An arrow from parent to child, the local gradient along it, and what it brings back."""

    parent: str
    child: str
    local: str = ""
    share: str = ""
    is_used: bool = False


def draw(
    boxes: Sequence[Box], arrows: Sequence[Arrow], alt: str, direction: Direction = "LR"
) -> Drawing:
    """Draw boxes and arrows, with local gradients in red and adjoints in blue."""
    graph = new_graph(direction)
    graph.defaults("graph", nodesep="0.2", ranksep="0.2")
    for box in boxes:
        graph.node(box.name, shape="plain", label=_box(box))
    for arrow in arrows:
        rows = row(font(f"× {escape(arrow.local)}", color("local"))) if arrow.local else ""
        rows += (
            row(f"{BACK[direction]} {font(escape(arrow.share), color('global'))}")
            if arrow.share
            else ""
        )
        label = {"label": Markup(f"{BARE}{rows}</TABLE>")} if rows else {}
        used = {"color": color("global"), "penwidth": "2.4"} if arrow.is_used else {}
        graph.edge(arrow.parent, arrow.child, **label, **used)
    return Drawing(graph.source, alt)


def _box(box: Box) -> Markup:
    fill, line = map(color, KINDS.get(box.kind, ("node", "node-line")))
    border, line = (3, color("ink")) if box.acts else (1, line)
    shape = "" if box.kind else ' STYLE="ROUNDED"'
    rows = row(f"<B>{escape(box.name)}</B>")
    for text, name in ((box.value, "ink"), (box.received, "global")):
        rows += row(font(escape(text), color(name), POINTS)) if text else ""
    return Markup(
        f'<TABLE BORDER="{border}" CELLBORDER="0" CELLSPACING="0" CELLPADDING="3"'
        f' COLOR="{line}" BGCOLOR="{fill}"{shape}>{rows}</TABLE>'
    )


def drag() -> Figure:
    """Show how far a nudge of the neuron's w moves w * x, z and h, for the reader to drag.

    Threads join places of the four number lines: where they stay equally far apart, a step only
    stretches. Beside each step stand its local gradient and what this nudge measures.

    >>> print(drag().alt)
    w moves by 0.6, h by 0.3952: 0.6586 times as far. By their slopes it would be 1.124 times.
    """
    moves = moved(START)
    ratio, by_slopes = moves[-1] / START, brief(math.prod(SLOPES))
    picks = "".join(
        f'<button type="button" aria-pressed="{str(scale == 1).lower()}">{scale:g}</button>'
        for scale in SCALES
    )
    rows = []
    for i, (name, operation) in enumerate(STEPS):
        at = f' style="grid-row:{2 * i + 1}"'
        now = AT[i] + moves[i]
        rows.append(f'<span class="cg-name"{at}><b>{name}</b> = <i>{now:.4f}</i></span>')
        rows.append(f'<span class="cg-move"{at}>{_signed(moves[i])}</span>')
        if i:
            at = f' style="grid-row:{2 * i}"'
            slope, got = SLOPES[i - 1], f"{moves[i] / moves[i - 1]:.4f}"
            rows.append(f'<span class="cg-name cg-step"{at}>{operation}</span>')
            rows.append(
                f'<span class="cg-factor"{at}><span class="l">slope × {brief(slope)}</span> '
                f"<span>nudge × <i>{got}</i></span></span>"
            )
    inside = (
        '<div class="cg-controls" hidden><span id="cg-up-to">Nudges up to</span><div class="cg-bar"'
        f' role="group" aria-labelledby="cg-up-to">{picks}</div></div>'
        f'<div class="cg-lines">{_drawing(moves)}<input type="range" min="-100" max="100" value="'
        f'{START * 100:g}" aria-label="Nudge of w" autocomplete="off" hidden>{"".join(rows)}</div>'
        f'<div class="cg-words">h moves <b>{ratio:.4f}</b> times as far as w. The slopes say '
        f'<span class="l">1.5 × 1 × 0.7495 = {by_slopes}</span>.</div>'
    )
    alt = (
        f"w moves by {START:g}, h by {moves[-1]:.4f}: {ratio:.4f} times as far. By their slopes it "
        f"would be {by_slopes} times."
    )
    data = {"at": AT, "x": X, "b": B, "slopes": SLOPES, "scales": SCALES, "unit": UNIT, "y": PLACES}
    title = "A nudge of w on its way through w times x, plus b, and tanh, for you to drag"
    sheets, script = [HERE / "chain_rule.css"], HERE / "chain_rule.bundle.js"
    return Figure(alt, data, inside, "chain", sheets, script, _title=title)


def moved(nudge: float) -> list[float]:
    """Return how far w, p, z and h move when w moves by a nudge."""
    p = (AT[0] + nudge) * X
    return [nudge, p - AT[1], p + B - AT[2], tanh(p + B) - AT[3]]


def _signed(move: float) -> str:
    return f"{move:+#.4g}".replace("-", "−")


def _drawing(moves: Sequence[float]) -> str:
    """Draw the number lines, threads between them at each scale, and a nudge on its way."""
    threads = "".join(
        f'<path class="cg-threads"{" hidden" * (scale != 1)} d="'
        f'{"".join(_thread(moved(scale * tens / 10), scale) for tens in range(-10, 11))}"/>'
        for scale in SCALES
    )
    lines = "".join(f"M-160 {y}H160" for y in PLACES)
    bars = "".join(f"M0 {y}H{UNIT * move:.1f}" for y, move in zip(PLACES, moves, strict=True))
    (from_y, to_y), z = PLACES[-2:], UNIT * moves[2]
    expected = f"M{z:.1f} {from_y}L{z * SLOPES[-1]:.1f} {to_y - 9}V{to_y + 9}"
    return (
        f'<svg class="cg-drawing" viewBox="-160 0 320 {PLACES[-1] + PLACES[0]}" aria-hidden="true" '
        f'preserveAspectRatio="none">{threads}<path class="cg-axes" d="{lines}"/>'
        f'<path class="cg-slope" d="{expected}"/><path class="cg-went" d="{_thread(moves, 1)}"/>'
        f'<path class="cg-moved" d="{bars}"/></svg>'
    )


def _thread(moves: Sequence[float], scale: float) -> str:
    places = (f"{UNIT * move / scale:.1f} {y}" for y, move in zip(PLACES, moves, strict=True))
    return f"M{'L'.join(places)}"


def draw_neuron() -> Drawing:
    """Draw the neuron's graph with its adjoints."""
    root = neuron()
    root.backward()
    return draw_graph(root)


def draw_pull_and_push() -> Drawing:
    """Draw two diamonds in a row twice: y collects from its children, and a child hands out."""
    boxes, arrows = [], []
    for pulls in (False, True):  # Graphviz puts the later above
        end = " " * pulls  # and knows a node by its name
        received = {"y": "γ + δ" if pulls else "γ so far", "c": "1", "d": "1", "ℓ": "1"}
        acting = "y" if pulls else "c"
        boxes += [
            Box(name + end, "", received.get(name, ""), "leaf" * (name == "u"), name == acting)
            for name in "uabycdℓ"
        ]
        for parent, child, local in ("uaα", "ubβ", "ay1", "by1", "ycγ", "ydδ", "cℓ1", "dℓ1"):
            used = parent == "y" and (pulls or child == "c")
            share = f"1 · {local}" if used else ""
            arrows.append(Arrow(parent + end, child + end, local, share, used))
    return draw(
        boxes,
        arrows,
        "Two diamonds in a row, drawn twice: from u through a and b, with the local gradients α "
        "and β, to y, and from y through c and d, with γ and δ, to ℓ. Above, y pulls: it collects "
        "γ from c and δ from d, and has γ + δ. Below, c pushes: it hands γ to y, which has γ so "
        "far and waits for d.",
    )


def four_patterns() -> Drawing:
    """Draw a sum, a product, a maximum and a fan-out, each reached by an adjoint of 2."""
    at = {"a": 3.0, "b": 5.0}
    boxes, arrows, words = [], [], []
    for place, (name, (value, *slopes)) in enumerate(PATTERNS.items()):
        boxes.append(Box(name, brief(value), "2"))
        for (letter, number), slope in zip(at.items(), slopes, strict=True):
            unique = letter + " " * place  # Graphviz knows a node by its name
            boxes.append(Box(unique, brief(number), brief(2 * slope), "leaf"))
            arrows.append(Arrow(unique, name, brief(slope), brief(2 * slope)))
            words.append(f"{letter} gets {brief(2 * slope)} from the {name}")
    boxes += [Box("fan-out", "3", "4", "leaf"), Box("one use", "", "2"), Box("another", "", "2")]
    arrows += [Arrow("fan-out", user, "1", "2") for user in ("one use", "another")]
    words.append("a value with two uses gets 2 from each, 4 together")
    alt = f"Operations with the adjoint 2, at a = 3 and b = 5: {'; '.join(words)}."
    return draw(boxes, arrows, alt, "TB")
