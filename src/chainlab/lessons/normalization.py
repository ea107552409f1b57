"""What *Normalization* draws: which parts of a gradient a normalized row deletes."""

import html
from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import Any

import numpy as np

from chainview import Figure

HERE = files(__package__)
ROW = (7.0, 1.0, 1.0, -1.0)
UPSTREAM = (1.7, -1.3, 0.5, 0.7)
EPS = 1e-5  # as in PyTorch
WIDE, HIGH, TOP, BAR = 176, 132, 16, 30  # of a panel, and of a bar, in pixels
WIDE_RANGE, RANGE = (-4.0, 10.0), (-2.6, 2.6)
# The panels: name, title, what their numbers reach, and the step by which one drags them.
PANELS = (
    ("x", "the row x", WIDE_RANGE, 0.5),
    ("hat", "normalized, x̂", RANGE, 0),
    ("d", "arrives at x̂", RANGE, 0.1),
    ("mean", "deleted: its mean", RANGE, 0),
    ("along", "deleted: along x̂", RANGE, 0),
    ("out", "the rest, divided by σ", RANGE, 0),
)
BUTTONS = ("Shift the row", "Stretch the row", "Let all ones arrive", "Let x̂ arrive", "Start again")


def parts(x: Sequence[float], d: Sequence[float]) -> dict[str, Any]:
    """Return a row, normalized, and the parts of the gradient that arrives at the result.

    >>> {name: np.round(part, 2).tolist() for name, part in parts(ROW, UPSTREAM).items()}
    ... # doctest: +NORMALIZE_WHITESPACE
    {'x': [7.0, 1.0, 1.0, -1.0], 'hat': [1.67, -0.33, -0.33, -1.0], 'd': [1.7, -1.3, 0.5, 0.7],
     'mean': [0.4, 0.4, 0.4, 0.4], 'along': [1.0, -0.2, -0.2, -0.6], 'out': [0.1, -0.5, 0.1, 0.3]}
    """
    row, upstream = np.array(x), np.array(d)
    centred = row - row.mean()
    sigma = np.sqrt((centred**2).mean() + EPS)
    hat = centred / sigma
    mean = np.full(len(row), upstream.mean())
    along = hat * (upstream * hat).mean()
    out = (upstream - mean - along) / sigma
    return {"x": row, "hat": hat, "d": upstream, "mean": mean, "along": along, "out": out}


def blind() -> Figure:
    """Show a row of four features and a gradient to drag, and what a layer norm deletes of it.

    >>> print(blind())  # doctest: +ELLIPSIS
    <Figure: A normalized row ... the row x 7.00, 1.00, 1.00, −1.00; ...
    """
    found = parts(ROW, UPSTREAM)
    told = "; ".join(f"{title} {', '.join(map(_written, found[name]))}"
                     for name, title, _, _ in PANELS)  # fmt: skip
    title = "A normalized row of four features, and which parts of a gradient it deletes"
    panels = ["".join(_panel(n, t, reach, step, found[n])) for n, t, reach, step in PANELS]
    buttons = "".join(f'<button type="button">{text}</button>' for text in BUTTONS)
    words = _words(ROW, UPSTREAM)
    inside = (
        f'<div class="cg-panels">{"".join(panels[:2])}<div class="cg-between">'
        f'<div class="cg-bar" hidden>{buttons}</div><p class="cg-words">{words}</p></div>'
        f'{"".join(panels[2:])}</div><p class="cg-said" role="status"></p>'
    )
    data = {
        "row": ROW,
        "upstream": UPSTREAM,
        "eps": EPS,
        "top": TOP,
        "high": HIGH - 2 * TOP,
        "panels": [{"name": name, "range": reach, "step": step} for name, _, reach, step in PANELS],
    }
    script, sheets = HERE / "normalization.bundle.js", [HERE / "normalization.css"]
    return Figure(f"{title}: {told}.", data, inside, "norm", sheets, script, _title=title)


def _panel(
    name: str, title: str, reach: tuple[float, float], step: float, bars: Sequence[float]
) -> Iterator[str]:
    """Write the bars of a panel; the script finds them by their place."""
    low, high = reach
    unit = (HIGH - 2 * TOP) / (high - low)
    zero = TOP + high * unit
    role = 'role="group"' if step else 'role="img"'
    yield (
        f'<div class="cg-panel cg-{name}"><p>{html.escape(title)}</p>'
        f'<svg viewBox="0 0 {WIDE} {HIGH}" {role} aria-label="{html.escape(title)}">'
        f'<path class="cg-zero" d="M0 {zero:.1f}H{WIDE}"/>'
    )
    if name == "x":
        mean = TOP + (high - np.mean(bars)) * unit
        yield f'<path class="cg-mu" d="M0 {mean:.1f}H{WIDE}"/>'
    for i, bar in enumerate(bars):
        at = zero - max(low, min(high, bar)) * unit
        ends = "" if not step else (
            f' role="slider" tabindex="0" aria-label="{title}, feature {i + 1}" '
            f'aria-orientation="vertical" '
            f'aria-valuemin="{low}" aria-valuemax="{high}" aria-valuenow="{bar:.2f}"'
        )  # fmt: skip
        yield (
            f'<g transform="translate({8 + i * 42})"{ends}>'
            f'<rect width="{BAR}" y="{min(at, zero):.1f}" height="{abs(at - zero):.1f}"/>'
            + '<circle class="cg-grip" r="5" '
              f'cx="{BAR / 2:g}" cy="{at:.1f}"/>' * (step > 0)
            + f'<text x="{BAR / 2:g}" y="{at + (17 if bar < 0 else -9):.1f}">{_written(bar)}</text>'
            "</g>"
        )  # fmt: skip
    yield "</svg></div>"


def _written(x: float) -> str:
    return f"{round(float(x), 2) + 0.0:.2f}".replace("-", "−")


def _words(x: Sequence[float], d: Sequence[float]) -> str:
    """Say the numbers that the bars don't."""
    row, upstream = np.array(x), np.array(d)
    sigma = np.sqrt(row.var() + EPS)
    along = (upstream * (row - row.mean()) / sigma).mean()
    numbers = (row.mean(), sigma, upstream.mean(), along)
    mu, sigma, mean, along = (f"<b>{_written(number)}</b>" for number in numbers)
    return (
        f"The row has mean μ = {mu} and deviation σ = {sigma}. Of what arrives, the mean "
        f"{mean} is deleted, and {along} times x̂."
    )
