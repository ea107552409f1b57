"""The valley of *Computational graphs*: the neuron's loss over its two knobs, and steps through it.

The loss depends on w and b only through z = w x + b, so its contours are straight lines. They're
found by bisection on the formula, which the script has, too.
"""

import html
import math
from importlib.resources import files
from typing import Any

from chainlab.lessons.computational_graph import TARGET, B, W, X
from chainview import Figure

HERE = files(__package__)
SCALE = 170  # pixels for 1, along both axes, so that the gradient is at right angles to contours
LEFT, BOTTOM, WIDE, HIGH = -0.6, -1.1, 2.2, 1.7  # what is shown of w and b
MARGIN = (46, 10, 10, 40)  # pixels: left, top, right, bottom
LEVELS = (0.25, 1, 2.25, 4, 9)
STEPS = (0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09, 0.1, 0.15, 0.2, 0.3, 0.4)
STEP = 0.05
FAR = 4.0  # beyond the picture
ARROW = 0.09  # of the picture's units, for a gradient of 1


def loss_at(w: float, b: float) -> float:
    """Return the loss of the neuron.

    >>> round(loss_at(0.5, -0.2), 4)
    0.7234
    """
    z = w * X + b
    return (z + math.tanh(z) - TARGET) ** 2


def gradient_at(w: float, b: float) -> tuple[float, float]:
    """Return how fast the loss changes with w and with b.

    >>> [round(slope, 3) for slope in gradient_at(0.5, -0.2)]
    [4.464, 2.976]
    """
    z = w * X + b
    h = math.tanh(z)
    z_bar = 2 * (z + h - TARGET) * (1 + 1 - h * h)
    return X * z_bar, z_bar


def z_where(error: float) -> float:
    """Return the z at which the neuron's answer is too large by this much."""
    low, high = -9.0, 9.0
    for _ in range(60):
        z = (low + high) / 2
        low, high = (low, z) if z + math.tanh(z) - TARGET > error else (z, high)
    return low


def px(w: float, b: float) -> tuple[float, float]:
    """Return where a point is in the picture, from the upper left corner of its axes."""
    return round((w - LEFT) * SCALE, 1), round((BOTTOM + HIGH - b) * SCALE, 1)


def valley() -> Figure:
    """Show the loss over both knobs, with the gradient, and a step of a length that one chooses."""
    after = tuple(at - STEP * slope for at, slope in zip((W, B), gradient_at(W, B), strict=True))
    w_bar, b_bar = gradient_at(W, B)
    said = (
        f"A step of {STEP} against the gradient leads from here to w = {_sign(after[0])} and "
        f"b = {_sign(after[1])}, and the loss falls from {loss_at(W, B):.4f} to "
        f"{loss_at(*after):.4f}."
    )
    alt = (
        "The loss of a neuron over its weight w and its bias b: a straight valley. At "
        f"w = {W}, b = {_sign(B)} the loss is {loss_at(W, B):.4f} and the gradient {w_bar:.3f} "
        f"and {b_bar:.3f}. {said}"
    )
    rows = "".join(
        f'<div class="cg-row"><label>{name}<input type="range" min="{low}" max="{low + size}" '
        f'step="0.005" value="{at}" aria-label="{name}" autocomplete="off" hidden></label>'
        f'<span class="cg-at">{_sign(at)}</span>'
        f'<span class="g">gradient <b>{slope:.3f}</b></span></div>'
        for name, at, slope, low, size in (
            ("w", W, w_bar, LEFT, WIDE),
            ("b", B, b_bar, BOTTOM, HIGH),
        )
    )
    controls = (
        '<div class="cg-controls" hidden><label class="cg-size">step size <b>0.05</b>'
        f'<input type="range" min="0" max="{len(STEPS) - 1}" value="{STEPS.index(STEP)}" '
        'aria-label="step size" aria-valuetext="0.05" autocomplete="off"></label>'
        '<div class="cg-bar"><button type="button">Take the step</button>'
        '<button type="button">Start again</button></div></div>'
    )
    inside = (
        f'<div class="cg-both">{_picture(after)}<div class="cg-side">{rows}'
        f'<p class="cg-loss">loss <b>{loss_at(W, B):.4f}</b></p>{controls}'
        f'<p class="cg-words" role="status">{html.escape(said)}</p></div></div>'
    )
    data: dict[str, Any] = {
        "x": X, "target": TARGET, "start": [W, B], "steps": STEPS, "arrow": ARROW,
        "left": LEFT, "top": BOTTOM + HIGH, "wide": WIDE, "high": HIGH, "scale": SCALE,
    }  # fmt: skip
    title = "The loss over the two knobs w and b"
    sheets, script = [HERE / "valley.css"], HERE / "valley.bundle.js"
    return Figure(alt, data, inside, "valley", sheets, script, _title=title)


def _sign(value: float, digits: int = 3) -> str:
    return f"{value:.{digits}f}".replace("-", "−")


def _line(error: float, reach: float = 0.0) -> str:
    """Return a contour, or all that's beyond it: `reach` says on which side, and how far."""
    z, along = z_where(error), (1 / X, -1.0)  # w grows by 1/X where b falls by 1
    w = (z - B) / X
    ends = [(w + FAR * s * along[0], B + FAR * s * along[1]) for s in (-1, 1)]
    if reach:
        ends += [(u + reach, v) for u, v in reversed(ends)]
    return "M" + "L".join("{} {}".format(*px(*end)) for end in ends)


def _picture(after: tuple[float, ...]) -> str:
    """Draw the land, with the point where it begins."""
    left, top, right, bottom = MARGIN
    width, height = round(WIDE * SCALE), round(HIGH * SCALE)
    errors = [sign * math.sqrt(level) for level in LEVELS for sign in (-1, 1)]
    bands = "".join(f'<path d="{_line(e, math.copysign(FAR, e))}Z"/>' for e in errors)
    lines = "".join(f'<path d="{_line(e)}"/>' for e in errors)
    marks = []
    for error in [0.0, *errors]:  # each contour has its loss at one end of the picture
        z = z_where(error)
        w, b = (z - 0.52) / X, 0.52  # along the upper edge, and down the left one
        if w < LEFT + 0.08:
            w, b = LEFT + 0.12, z - X * (LEFT + 0.12)
        if LEFT < w < LEFT + WIDE - 0.08 and b > BOTTOM + 0.06:
            u, v = px(w, b)
            marks.append(f'<text x="{u}" y="{v + 4}">{error * error:g}</text>')
    ticks = [
        f'<text x="{px(w, 0)[0] + left}" y="{top + height + 17}">{_sign(w, 1)}</text>'
        for w in (-0.5, 0.0, 0.5, 1.0, 1.5)
    ] + [
        f'<text class="cg-end" x="{left - 6}" y="{px(0, b)[1] + top + 4}">{_sign(b, 1)}</text>'
        for b in (-1.0, -0.5, 0.0, 0.5)
    ]
    (u, v), (to_u, to_v) = px(W, B), px(*after)
    gu, gv = (slope * ARROW * SCALE for slope in gradient_at(W, B))
    return (
        '<svg class="cg-land" role="group" aria-label="The loss over w and b" '
        f'viewBox="0 0 {left + width + right} {top + height + bottom}">'
        f'<svg class="cg-inside" x="{left}" y="{top}" width="{width}" height="{height}">'
        '<marker id="cg-valley-head" viewBox="0 0 10 10" refX="8" refY="5" markerWidth="4.5" '
        'markerHeight="4.5" orient="auto"><path d="M0 0L10 5L0 10z"/></marker>'
        f'<rect class="cg-floor" width="{width}" height="{height}"/><g class="cg-bands">{bands}</g>'
        f'<g class="cg-lines">{lines}</g><path class="cg-bottom" d="{_line(0)}"/>'
        f'<g class="cg-marks">{"".join(marks)}</g><path class="cg-trail"/><g class="cg-been"></g>'
        f'<path class="cg-ahead" d="M{u} {v}L{to_u} {to_v}"/>'
        f'<circle class="cg-to" cx="{to_u}" cy="{to_v}" r="5"/>'
        f'<path class="cg-gradient" d="M{u} {v}l{gu:.1f} {-gv:.1f}" '
        'marker-end="url(#cg-valley-head)"/>'
        f'<g class="cg-point" transform="translate({u} {v})"><circle class="cg-hit" r="22"/>'
        '<circle r="7"/></g></svg>'
        f'<rect class="cg-frame" x="{left}" y="{top}" width="{width}" height="{height}"/>'
        f"{''.join(ticks)}"
        f'<text class="cg-name" x="{left + width / 2}" y="{top + height + 34}">w</text>'
        f'<text class="cg-name" x="10" y="{top + height / 2}">b</text></svg>'
    )
