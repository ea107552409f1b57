"""A run of many steps, played again: what was recorded is drawn as it was at each step."""

import itertools
import math
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from chainview.draw.palette import themed
from chainview.figures.figure import Figure
from chainview.figures.lookup import escaped, lookup, path
from chainview.piece import TRANSPORT
from chainview.player.names import brief

MOST_POINTS = 400_000  # of all curves at all steps: some 800 kB
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
FINEST = len(LETTERS) ** 2 - 1  # two letters write a height from 0 to this
COLORS = ("orange", "rose", "moss", "umber")  # of curves after the first, which is ink
ROOM = 0.83  # of the left panel's width is for its axes, the rest for the curves' names
WIDEST = 520  # px that a panel grows to
APART = 14  # px between two names

Record = tuple[Mapping[str, Any], Any]  # curves by name, and what was measured


def replay(
    x: Any,
    record: Callable[..., Record],
    switches: Mapping[str, Sequence[Any]] | None = None,
    *,
    start: Sequence[Any] | None = None,
    points: tuple[Any, Any] | None = None,
    xlabel: str = "x",
    ylabel: str = "y",
    measure: str = "loss",
    step: str = "step",
    every: int = 1,
    log: bool = True,
    ylim: tuple[float, float] | None = None,
) -> Figure:
    """Show a run again: it plays, and its steps can be dragged through.

    On the left stand the curves as they were at the chosen step, each with its name at its end. On
    the right is what was measured at every step: dragging along it chooses the step. The figure
    plays once when it comes into view, unless the reader asked for less motion. Without scripts
    and on paper it shows the last step.

    Args:
        x: where the curves were computed, P places.
        record: called with a value of each switch. It gives the curves by name, each of shape
            (steps, P), and what was measured, a number for each step. The first curve is drawn
            heavily. A setting may have fewer curves than another: its names are the first of those.
        switches: the values of each, by the name that stands beside it.
        start: the setting to begin with; by default the first.
        points: what stands behind the curves, as x and y.
        xlabel, ylabel: what the axes of the curves are.
        measure: what was measured.
        step: what a step is called.
        every: how many steps of the run lie between two that were recorded.
        log: a logarithmic axis for what was measured.
        ylim: the ends of the curves' vertical axis, beyond which they leave the picture; by default
            curves of the last step and points stay within.

    Returns:
        A figure, which shows itself in a notebook or on a page.

    Raises:
        ValueError: there are no curves, shapes don't agree, ``start`` is none of the settings, a
            number isn't finite (or not positive, on a logarithmic axis), or there are too many.

    >>> lines = np.outer([0.0, 0.5, 1.0], [0.0, 1.0])
    >>> replay([0, 1], lambda: ({"line": lines}, [1.0, 0.25, 0.1]), measure="error")
    <Figure: A run of 2 steps. step 2 of 2. error: 0.1.>
    """
    at, options = np.asarray(x, float), [list(values) for values in (switches or {}).values()]
    settings = list(itertools.product(*options))
    first = settings[0] if start is None else tuple(start)
    if first not in settings:
        raise ValueError(f"replay: start={first} is not one of the settings, which go from "
                         f"{settings[0]} to {settings[-1]}")  # fmt: skip
    records = [_arrays(record(*setting)) for setting in settings]
    count = _check(at, records, log)
    shown = records[settings.index(first)]
    said = [f"{name} {value}" for name, value in zip(switches or {}, first, strict=True)]
    last = every * (count - 1)
    words = ", ".join([*said, f"{step} {last} of {last}"])
    words += f". {measure}: {brief(shown[1][-1])}."
    steps = every * np.arange(count)
    labels = (xlabel, ylabel, step, measure)
    plot, left, right = _axes(at, records, steps, points, labels, log, ylim)
    plot.alt = words
    root = ET.fromstring(plot.html())  # html() also lays the axes out
    panels = [svg for svg in root.iter("svg") if svg.get("class") == "chaingrad"]
    for panel in panels:  # the figure takes the width that it gets
        panel.set("style", f"{panel.get('style')};max-width:{WIDEST}px")
    places = [_Panel(left, panels[0], at), _Panel(right, panels[1], steps)]
    names = max((list(curves) for curves, _ in records), key=len)
    _draw(places, names, shown)
    data = {
        "switches": list(switches or {}),
        "options": [[str(value) for value in values] for values in options],
        "chosen": [values.index(value) for values, value in zip(options, first, strict=True)],
        "measure": measure,
        "step": step,
        "every": every,
        "panels": [place.data for place in places],
        "runs": [
            [*map(places[0].letters, curves.values()), places[1].letters(measured)]
            for curves, measured in records
        ],
        "measured": [[brief(value) for value in measured] for _, measured in records],
    }
    body = (
        f'<div class="cg-bar cg-switches"></div>{ET.tostring(root, encoding="unicode")}'
        f'<div class="cg-live"></div><p class="cg-setting">{escaped(words)}</p>'
    )
    title = f"A run of {last} {step}s"
    return lookup(f"{title}. {words}", data, "replay", body, "replay", [TRANSPORT])


def _arrays(record: Record) -> tuple[dict[str, Any], Any]:
    curves, measured = record
    lines = {name: np.asarray(curve, float) for name, curve in curves.items()}
    return lines, np.asarray(measured, float)


def _check(at: Any, records: Sequence[tuple[dict[str, Any], Any]], log: bool) -> int:
    """Return how many steps there are."""
    count = len(records[0][1])
    for curves, measured in records:
        if not curves or not count:
            raise ValueError("replay: it needs a curve, and a measurement at each step")
        shapes = {name: (line, (count, len(at))) for name, line in curves.items()}
        for name, (array, shape) in (shapes | {"measured": (measured, (count,))}).items():
            if array.shape != shape:
                raise ValueError(
                    f"replay: {name!r} must have the shape {shape}; it has {array.shape}"
                )
            if not np.isfinite(array).all():
                raise ValueError(f"replay: {name!r} has numbers that aren't finite")
        if log and (measured <= 0).any():
            raise ValueError("replay: a logarithmic axis takes positive numbers: pass log=False")
    total = sum(line.size for curves, _ in records for line in curves.values())
    if total > MOST_POINTS:
        raise ValueError(
            f"replay: the curves at {count:,} steps have {total:,} points, more than the "
            f"{MOST_POINTS:,} that a page should carry: take fewer steps, or fewer places"
        )
    return count


def _axes(
    at: Any, records: Any, steps: Any, points: Any, labels: Any, log: bool, ylim: Any
) -> tuple[Any, Any, Any]:
    """Make both panels, with all that stays as it is."""
    from chainview import plots  # imported here: the player works without matplotlib

    xlabel, ylabel, step, measure = labels
    plot, (left, right) = plots.axes(2, height=280)
    left.figure.get_layout_engine().set(rect=(0, 0, ROOM, 1))
    drawn = [line[-1] for curves, _ in records for line in curves.values()]
    if points:
        left.plot(*points, "o", color=plots.color("edge"), ms=3)
        drawn.append(np.asarray(points[1], float))
    lowest, highest = min(map(np.min, drawn)), max(map(np.max, drawn))
    room = 0.06 * (highest - lowest) or 1.0
    left.set(xlabel=xlabel, ylabel=ylabel, xlim=(at[0], at[-1]))
    left.set_ylim(ylim or (lowest - room, highest + room))
    for _, measured in records:
        right.plot(steps, measured, alpha=0)  # the axes have room for each
    right.set(xlabel=step, ylabel=measure, **({"yscale": "log"} if log else {}))
    return plot, left, right


class _Panel:
    """A panel in its own pixels: where its axes are, and how heights in them are written.

    Heights count from one axis' height below the axes, in fine steps: curves may leave the axes by
    as much.
    """

    def __init__(self, ax: Any, svg: ET.Element, x: Any) -> None:
        self.ax, box = ax, ax.bbox
        bottom = float(svg.attrib["viewBox"].split()[3]) - box.y0
        self.fine = round(3 * float(box.height) / FINEST, 6)
        self.base = round(float(bottom + box.height), 1)
        sizes = {"x": box.x0, "y": bottom - box.height, "width": box.width, "height": box.height}
        self.sizes = {name: f"{size:.1f}" for name, size in sizes.items()}
        pixels = ax.transData.transform(np.stack([x, np.ones(len(x))], axis=1))[:, 0]
        self.x = [round(float(pixel), 1) for pixel in pixels]
        view = {"viewBox": " ".join(self.sizes.values())}
        self.inside = ET.SubElement(svg, "svg", self.sizes | view)
        self.around = ET.SubElement(svg, "g")

    @property
    def data(self) -> dict[str, Any]:
        return {"x": self.x, "base": self.base, "fine": self.fine}

    def heights(self, values: Any) -> Any:
        flat = np.stack([np.zeros(values.size), values.ravel()], axis=1)
        above = self.ax.transData.transform(flat)[:, 1] - self.ax.bbox.y0 + self.ax.bbox.height
        return np.clip(np.rint(above / self.fine), 0, FINEST).astype(int).reshape(values.shape)

    def letters(self, values: Any) -> str:
        size = len(LETTERS)
        return "".join(LETTERS[h // size] + LETTERS[h % size] for h in self.heights(values).flat)

    def tops(self, values: Any) -> list[float]:
        """Return how far below the panel's upper edge values stand."""
        return [round(self.base - self.fine * int(height), 1) for height in self.heights(values)]


def _draw(panels: Sequence[_Panel], names: Sequence[str], shown: Any) -> None:
    """Draw the last step: the curves with their names, the measurements and a mark."""
    left, right = panels
    curves, measured = shown
    tops = [left.tops(line[-1]) for line in curves.values()]
    ends = _apart([line[-1] for line in tops], left)
    beside = f"{float(left.sizes['x']) + float(left.sizes['width']) + 6:.1f}"
    for i, name in reversed([*enumerate(names)]):
        has = i < len(tops)
        line = path(f"curve cg-curve-{i}", _line(left.x, tops[i]) if has else "M0 0")
        color = _color(i)
        width = "1.6" if i else "2.8"
        line.set("style", f"fill:none;stroke:{color};stroke-width:{width}")
        if i > len(COLORS):
            line.set("stroke-dasharray", "5 3")
        left.inside.append(line)
        y = f"{ends[i] + 4:.1f}" if has else "-99"
        label = ET.SubElement(left.around, "text", {"class": "cg-name", "x": beside, "y": y})
        label.set("style", f"fill:{color}")
        label.text = name
    heights = right.tops(measured)
    right.inside.append(path("over", _line(right.x, heights)))
    top, bottom = float(right.sizes["y"]), right.base - float(right.sizes["height"])
    place = {"class": "cg-mark", "transform": f"translate({right.x[-1]})"}
    mark = ET.SubElement(right.around, "g", place)
    mark.append(path("through", f"M0 {top:.1f}V{bottom:.1f}"))
    ET.SubElement(mark, "circle", {"r": "7", "cy": f"{heights[-1]}"})
    value = ET.SubElement(mark, "text", {"x": "-8", "y": f"{heights[-1] - 12:.1f}"})
    value.set("text-anchor", "end")
    value.text = brief(measured[-1])


def _line(x: Sequence[float], tops: Sequence[float]) -> str:
    return "M" + "L".join(f"{left} {top}" for left, top in zip(x, tops, strict=True))


def _color(i: int) -> str:
    from chainview import plots

    return themed(plots.color(COLORS[(i - 1) % len(COLORS)] if i else "ink"))


def _apart(ends: Sequence[float], panel: _Panel) -> list[float]:
    """Move names that would overlap from each other, within the height of the axes.

    The script does the same at each step.
    """
    top = float(panel.sizes["y"])
    bottom = top + float(panel.sizes["height"])
    order = sorted(range(len(ends)), key=lambda i: ends[i])
    moved, last = list(ends), -math.inf
    for i in order:
        last = moved[i] = max(ends[i], top, last + APART)
    last = bottom + APART
    for i in reversed(order):
        last = moved[i] = min(moved[i], last - APART)
    return moved
