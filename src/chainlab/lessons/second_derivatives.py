"""What *Second derivatives* draws: from one point a gradient step and Newton's, on three surfaces.

A surface is a polynomial, so that the script has its slopes and its curvatures from the same terms.
"""

import html
from importlib.resources import files
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from contourpy import contour_generator

from chaingrad import grad, hessian
from chainview import Figure

HERE = files(__package__)
SCALE = 100  # pixels for 1, along both axes, so that the gradient is at right angles to contours
LEFT, BOTTOM, WIDE, HIGH = -2.0, -1.25, 4.0, 3.0
STEPS = (0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.07, 0.09, 0.1, 0.11, 0.15, 0.2, 0.5, 1.0)
MARGIN = (34, 6, 6, 36)  # pixels: left, top, right, bottom


class Surface(NamedTuple):
    """A function of two variables, and where its figure begins."""

    terms: tuple[tuple[float, int, int], ...]  # factor, power of x0, power of x1
    start: tuple[float, float]
    step: float
    minima: tuple[tuple[float, float], ...]
    levels: tuple[float, ...]

    def loss(self, x: Any) -> Any:
        """Return the value at `x`, an array of two numbers or a node."""
        return sum(c * x[0] ** i * x[1] ** j for c, i, j in self.terms)


SURFACES = {
    "narrow bowl": Surface(
        ((0.5, 2, 0), (10, 0, 2)), (-1.8, 0.5), 0.09, ((0, 0),),
        (0.15, 0.6, 1.5, 3, 6, 10, 16, 24),
    ),
    "curved valley": Surface(
        ((10, 0, 2), (-20, 2, 1), (10, 4, 0), (1, 0, 0), (-2, 1, 0), (1, 2, 0)),
        (-1.2, 1.0), 0.01, ((1, 1),), (0.3, 0.7, 1.5, 4, 8, 16, 32, 64, 120),
    ),
    "saddle": Surface(
        ((1, 2, 0), (-0.5, 0, 2), (0.25, 0, 4)), (1.0, 0.3), 0.2, ((0, 1), (0, -1)),
        (-0.2, -0.1, 0, 0.1, 0.3, 0.7, 1.3, 2, 3),
    ),
}  # fmt: skip


def landings(surface: Surface, at: tuple[float, float], step: float) -> tuple[Any, Any]:
    """Return where a gradient step and Newton's step end, from our engine's derivatives.

    >>> [end.round(2).tolist() for end in landings(SURFACES["narrow bowl"], (-1.8, 0.5), 0.09)]
    [[-1.64, -0.4], [0.0, 0.0]]
    """
    x = np.array(at)
    slope, curvature = grad(surface.loss)(x), hessian(surface.loss, x)
    return x - step * slope, x - np.linalg.solve(curvature, slope)


def two_steps() -> Figure:
    """Show a gradient step and Newton's from a point that readers drag, on three surfaces."""
    name, surface = next(iter(SURFACES.items()))
    ends = landings(surface, surface.start, surface.step)
    losses = [f"{surface.loss(x):.3f}" for x in (surface.start, *ends)]
    choices = "".join(
        f'<button type="button" aria-pressed="{str(each == name).lower()}">{each}</button>'
        for each in SURFACES
    )
    rows = "".join(
        f'<div class="cg-row cg-{kind}"><span>{step} step <i>{mark}</i></span> '
        f'<span>loss <b>{loss}</b></span><button type="button" aria-label="Take the {step} step" '
        "hidden>Take it</button></div>"
        for kind, step, mark, loss in (
            ("g", "gradient", "●", losses[1]),
            ("n", "Newton", "■", losses[2]),
        )
    )
    said = "Here the surface bends by 20.00 one way and by 1.00 the other."
    inside = (
        f'<div class="cg-controls cg-bar" hidden>{choices}</div>'
        f'<div class="cg-both">{_picture(surface, ends)}<div class="cg-side">'
        f'<div class="cg-row"><span>the point</span><span>loss <b>{losses[0]}</b></span>'
        f'<button type="button" hidden>Start again</button></div>{rows}'
        f'<label class="cg-controls" hidden>step size <b>{surface.step}</b><input type="range" '
        f'min="0" max="{len(STEPS) - 1}" value="{STEPS.index(surface.step)}" aria-valuetext='
        f'"{surface.step}" aria-label="step size" autocomplete="off"></label>'
        f'<p class="cg-words" role="status">{html.escape(said)}</p></div></div>'
    )
    data: dict[str, Any] = {
        "surfaces": [[s.terms, s.start, STEPS.index(s.step)] for s in SURFACES.values()],
        "steps": STEPS, "scale": SCALE, "box": [LEFT, BOTTOM, WIDE, HIGH],
    }  # fmt: skip
    title = "A gradient step and a Newton step from the same point"
    alt = (
        f"{title}, on a {name} whose loss is {losses[0]} there. A gradient step of size "
        f"{surface.step} ends at a loss of {losses[1]}, across the valley. The Newton step ends "
        f"at {losses[2]}, the lowest point. Readers can drag the point, and change to "
        f"{' or '.join([*SURFACES][1:])}."
    )
    sheets, script = [HERE / "second_derivatives.css"], HERE / "second_derivatives.bundle.js"
    return Figure(alt, data, inside, "two-steps", sheets, script, _title=title)


def _px(x: Any) -> tuple[float, float]:
    return round((x[0] - LEFT) * SCALE, 1), round((BOTTOM + HIGH - x[1]) * SCALE, 1)


def _land(surface: Surface) -> str:
    """Draw what lies above each level, one sheet over the other, and the lowest points."""
    x, y = np.linspace(LEFT, LEFT + WIDE, 81), np.linspace(BOTTOM, BOTTOM + HIGH, 61)
    heights = surface.loss(np.array(np.meshgrid(x, y)))
    contours = contour_generator(x, y, heights, fill_type="OuterOffset")
    paths = []
    for level in surface.levels:
        d = "".join(
            "M" + "L".join("{:g} {:g}".format(*_px(p)) for p in points[a : b - 1]) + "Z"
            for points, offsets in zip(*contours.filled(level, float("inf")), strict=True)
            for a, b in pairwise(offsets)
        )
        paths.append(f'<path d="{d}"/>')
    stars = "".join('<circle cx="{}" cy="{}" r="3"/>'.format(*_px(x)) for x in surface.minima)
    return f"{''.join(paths)}<g>{stars}</g>"


def _picture(surface: Surface, ends: tuple[Any, Any]) -> str:
    left, top, right, bottom = MARGIN
    width, height = round(WIDE * SCALE), round(HIGH * SCALE)
    lands = "".join(
        f'<g class="cg-heights"{"" if each is surface else " hidden"}>{_land(each)}</g>'
        for each in SURFACES.values()
    )
    u, v = _px(surface.start)
    (gu, gv), (nu, nv) = map(_px, ends)
    ticks = "".join(
        f'<text x="{_px((k, 0))[0] + left}" y="{top + height + 16}">{_sign(k)}</text>'
        for k in range(-2, 3)
    ) + "".join(
        f'<text x="{left - 12}" y="{_px((0, k))[1] + top + 5}">{_sign(k)}</text>'
        for k in range(-1, 2)
    )
    return (
        '<svg class="cg-land" role="group" aria-label="Contours, and the two steps" '
        f'viewBox="0 0 {left + width + right} {top + height + bottom}">'
        f'<svg class="cg-inside" x="{left}" y="{top}" width="{width}" height="{height}">{lands}'
        f'<path class="cg-to-n" d="M{u} {v}L{nu} {nv}"/><path class="cg-to-g" d="M{u} {v}L{gu} '
        f'{gv}"/><rect class="cg-end-n" x="{nu - 6}" y="{nv - 6}" width="12" height="12"/>'
        f'<circle class="cg-end-g" cx="{gu}" cy="{gv}" r="6"/>'
        f'<g class="cg-point" transform="translate({u} {v})"><circle class="cg-hit" r="22"/>'
        '<circle r="8"/></g></svg>'
        f'<rect class="cg-frame" x="{left}" y="{top}" width="{width}" height="{height}"/>{ticks}'
        f'<text class="cg-name" x="{left + width / 2}" y="{top + height + 32}">x₀</text>'
        f'<text class="cg-name" x="10" y="{_px((0, 0.5))[1] + top}">x₁</text></svg>'
    )


def _sign(k: int) -> str:
    return str(k).replace("-", "−")
