"""What *The chain rule* draws: a nudge, the neuron's gradient, two diamonds and four patterns."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import tanh
from typing import Any

from chainlab.lessons.engine import Node
from chainview import Drawing, color, plots
from chainview.draw.boxes import BACK, BARE, Direction, new_graph
from chainview.draw.layout import Markup, escape, font, row
from chainview.player.names import brief

W, X, B, TARGET = 0.5, 1.5, -0.2, 0.2  # the neuron of Parts I and II
NUDGE = 0.001
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


def nudged() -> list[tuple[str, float, float]]:
    """Return each number from w to h: what it is, its value, and how far a nudge of w moves it."""

    def steps(w: float) -> list[float]:
        p = w * X
        return [w, p, p + B, tanh(p + B)]

    before, after = steps(W), steps(W + NUDGE)
    moves = [new - old for old, new in zip(before, after, strict=True)]
    return list(zip(("w", "p = w·x", "z = p + b", "h = tanh(z)"), before, moves, strict=True))


def draw_nudge() -> None:
    """Draw a nudge of the neuron's w as it arrives at w * x, z and h, all at one scale."""
    numbers = nudged()
    plot, ax = plots.axes(width=340, height=200)
    ax.set_axis_off()
    ink, muted, dots = plots.color("ink"), plots.color("muted"), {"ls": ":", "lw": 1}
    for place, (name, value, move) in enumerate(numbers):
        ax.plot([0, 1.8], [-place, -place], color=muted, ls="-", lw=1)
        ax.plot([0, move / NUDGE], [-place, -place], color=plots.color("teal"), ls="-", lw=6)
        ax.text(-0.1, -place, f"{name} = {brief(value)}", ha="right", va="center", color=ink)
        ax.text(1.9, -place, f"+{move:.6f}", va="center", color=ink)
        if place:
            last = numbers[place - 1][2]
            ax.plot([last / NUDGE, move / NUDGE], [1 - place, -place], color=muted, **dots)
            ax.plot([0, 0], [1 - place, -place], color=muted, **dots)
            factor = brief(round(move / last, 4))
            ax.text(0.5, 0.5 - place, f"× {factor}", ha="center", va="center", color=ink)
    ax.set(xlim=(-1.9, 2.9), ylim=(-3.3, 0.3))
    told = ", ".join(f"{name[0]} by {move:.6f}" for name, _, move in numbers)
    plot.show(f"Four number lines at one scale, one below the other. A nudge moves {told}.")


def neuron() -> dict[str, Any]:
    """Return the nodes of the neuron by name, after a backward pass from its loss."""
    w, x, b, target = map(Node, (W, X, B, TARGET))
    p = w * x
    z = p + b
    h = z.tanh()
    out = z + h
    error = out - target
    loss = error**2
    loss.backward()
    nodes = {"w": w, "x": x, "b": b, "p": p, "z": z, "h": h, "out": out, "target": target}
    return nodes | {"error": error, "loss": loss}


def draw_neuron() -> Drawing:
    """Draw the neuron's graph with what comes back along each arrow."""
    nodes = neuron()
    names = {node: name for name, node in nodes.items()}
    boxes, arrows, words = [], [], []
    for node, name in names.items():
        kind = "" if node.parents else "leaf"
        received = "" if name == "target" else brief(node.grad)
        boxes.append(Box(name, brief(node.data), received, kind))
        for parent, local in zip(node.parents, node.local_grads, strict=True):
            if names[parent] == "target":
                arrows.append(Arrow("target", name))
                continue
            share = brief(node.grad * local)
            arrows.append(Arrow(names[parent], name, brief(local), share))
            words.append(f"{names[parent]} gets {share} from {name}")
    alt = "The graph of the neuron, from w, x and b to the loss. Back "
    return draw(boxes, arrows, f"{alt}along its arrows, {'; '.join(words)}.")


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
