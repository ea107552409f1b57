"""Controls against a line: what was computed for each of their settings is looked up."""

import itertools
import math
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from chainview.figures.figure import Figure
from chainview.figures.lookup import escaped, lookup, path

MOST_NUMBERS = 20_000  # on one page: some 100 kB
_DOTS_UP_TO = 60  # numbers of a line

Curve = tuple[list[float], str]  # the numbers of a line, and what is said of them


def vary(
    compute: Callable[..., tuple[Any, str]],
    controls: Mapping[str, Sequence[float | str]],
    *,
    x: str,
    y: str,
    start: Sequence[float | str] | None = None,
    log: bool = False,
    ylim: tuple[float, float] | None = None,
) -> Figure:
    """Plot numbers that depend on a few settings, with a control for each of these.

    All of them are computed now, for each combination of settings, and rounded to three digits;
    a moved control looks them up.

    Args:
        compute: called with a value of each control, in their order. It gives the numbers, which
            are plotted against 1, 2, …, and one sentence on what they show.
        controls: the values of each, by the name that stands beside it: a slider if they are
            numbers, else a list to choose from.
        x: what the numbers are counted by.
        y: what they are.
        start: the setting to begin with, which is also what paper shows; by default the first.
        log: a logarithmic axis. On a linear one, the largest number is marked.
        ylim: the ends of the vertical axis, beyond which a line leaves the picture; by default all
            lines stay within.

    Returns:
        A figure, which shows itself in a notebook or on a page.

    Raises:
        ValueError: a control has no values, ``start`` is none of the settings, a number is not
            finite (or not positive, on a logarithmic axis), or there are too many.

    >>> def powers(base, count):
    ...     line = [base**k for k in range(1, count + 1)]
    ...     return line, f"The last is {line[-1]}."
    >>> vary(powers, {"base": [1, 2, 3], "count": [2, 4]}, x="k", y="power", start=(2, 4))
    <Figure: power against k. base 2, count 4. The last is 16.>
    """
    options = [list(values) for values in controls.values()]
    settings = list(itertools.product(*options))
    if not controls or not settings:
        raise ValueError("vary: controls needs names, and for each the values that it can take")
    first = settings[0] if start is None else tuple(start)
    if first not in settings:
        raise ValueError(f"vary: start={first} is not one of the settings, which go from "
                         f"{settings[0]} to {settings[-1]}")  # fmt: skip
    rows = [_row(compute, setting, log) for setting in settings]
    count = sum(len(line) for line, _ in rows)
    if count > MOST_NUMBERS:
        raise ValueError(
            f"vary: {len(settings)} settings have {count:,} numbers, more than the "
            f"{MOST_NUMBERS:,} that a page should carry: take fewer values, or shorter lines"
        )
    at = settings.index(first)
    words, longest = rows[at][1], max((words for _, words in rows), key=len)
    setting = ", ".join(f"{name} {value}" for name, value in zip(controls, first, strict=True))
    picture, axes = _picture(rows, at, x, y, log, ylim, f"{setting}. {words}")
    chosen = [values.index(value) for values, value in zip(options, first, strict=True)]
    sides = "".join(map(_control, controls, options, chosen))
    body = (
        f'<div class="cg-side"><div class="cg-said"><div class="cg-controls" hidden>{sides}</div>'
        f'<p class="cg-setting">{escaped(setting)}</p>'
        f'<p class="cg-words" aria-live="polite" data-longest="{escaped(longest)}">'
        f"{escaped(words)}</p></div>{picture}</div>"
    )
    data = {
        "names": list(controls),
        "options": [[str(value) for value in values] for values in options],
        "rows": rows,
        "axes": axes,
    }
    return lookup(f"{y} against {x}. {setting}. {words}", data, "vary", body)


def _row(compute: Callable[..., tuple[Any, str]], setting: Sequence[Any], log: bool) -> Curve:
    numbers, words = compute(*setting)
    line = [float(f"{value:.3g}") for value in np.asarray(numbers, float).ravel()]
    wrong = [v for v in line if not math.isfinite(v) or (log and v <= 0)]
    if wrong or not line:
        kind = "positive, finite numbers" if log else "finite numbers"
        raise ValueError(f"vary: the setting {tuple(setting)} must give {kind}; it gave "
                         f"{wrong[0] if line else 'none'}")  # fmt: skip
    return line, words


def _control(name: str, values: Sequence[float | str], at: int) -> str:
    """Write a slider for numbers, and a list for anything else."""
    title = f"{escaped(name)} "
    if any(isinstance(value, str) for value in values):
        options = "".join(
            f'<option value="{i}"{" selected" * (i == at)}>{escaped(value)}</option>'
            for i, value in enumerate(values)
        )
        return f'<label>{title}<select autocomplete="off">{options}</select></label>'
    return (
        f'<label>{title}<b aria-hidden="true">{values[at]}</b><input type="range" min="0" '
        f'max="{len(values) - 1}" value="{at}" autocomplete="off"></label>'
    )


def _picture(
    rows: Sequence[Curve],
    at: int,
    x: str,
    y: str,
    log: bool,
    ylim: tuple[float, float] | None,
    alt: str,
) -> tuple[str, list[float]]:
    """Draw the axes with the line of one row, and say where the script finds them.

    The places: x = 1, the distance from one x to the next, the right end, y = 0 (or its logarithm),
    and the height of one unit.
    """
    from chainview import plots  # imported here: the player works without matplotlib

    longest = max(len(line) for line, _ in rows)
    numbers = [value for line, _ in rows for value in line]
    plot, ax = plots.axes(height=260)
    margin = 0.03 * max(longest - 1, 1)
    ax.set(xlabel=x, ylabel=y, xlim=(1 - margin, longest + margin))
    if log:
        ax.set_yscale("log")
    lowest, highest = (min(numbers) / 2, 2 * max(numbers)) if log else (0, 1.15 * max(numbers))
    ax.set_ylim(ylim or (min(lowest, *numbers), highest))
    plot.alt = alt
    root = ET.fromstring(plot.html())  # html() also lays the axes out
    panel = next(root.iter("svg"))
    bottom = float(panel.attrib["height"])
    points = [(1, 1), (2, 10)] if log else [(1, 0), (2, 1)]
    (left, zero), (second, one) = ax.transData.transform(points)
    axes = [left, second - left, ax.bbox.x1, bottom - zero, one - zero, int(log)]
    axes = [round(float(place), 3) for place in axes]
    frame = {"x": ax.bbox.x0, "y": bottom - ax.bbox.y1, "width": ax.bbox.width}
    frame |= {"height": ax.bbox.height}
    sizes = {name: f"{size:.1f}" for name, size in frame.items()}
    inner = ET.SubElement(panel, "svg", sizes | {"viewBox": " ".join(sizes.values())})
    inner.extend(_marks(rows[at][0], axes, longest <= _DOTS_UP_TO))
    return ET.tostring(root, encoding="unicode"), axes


def _marks(line: Sequence[float], axes: Sequence[float], dots: bool) -> Iterator[ET.Element]:
    """Yield what the script draws again for each setting."""
    left, step, right, zero, up, log = axes
    heights = [zero - up * (math.log10(value) if log else value) for value in line]
    points = [f"{left + step * i:.1f} {height:.1f}" for i, height in enumerate(heights)]
    through = "L".join(points)
    if not log:
        yield path("fill", f"M{left} {zero}L{through}V{zero}z")
        yield path("peak", f"M0 {min(heights):.1f}H{right}")
    yield path("line", f"M{through}")
    if dots:
        yield path("dots", "".join(f"M{point}h0" for point in points))
    if not log:
        place = {"x": f"{right - 4:.1f}", "y": f"{min(heights) - 5:.1f}"}
        text = ET.Element("text", {"class": "cg-at-peak"} | place)
        text.text = f"peak {max(line):g}"
        yield text
