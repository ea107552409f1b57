"""A run of many steps, with a slider over all of them: what it computed is shown again."""

import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from chainview.draw.palette import themed
from chainview.figures.figure import Figure
from chainview.figures.lookup import escaped, lookup, path
from chainview.player.names import brief

MOST_POINTS = 100_000  # of all curves at all steps: some 200 kB
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
FINEST = len(LETTERS) ** 2 - 1  # two letters write a height from 0 to this
DECIMALS = 2  # of the numbers in the table


def replay(
    x: Any,
    curves: Mapping[str, Any],
    over: Mapping[str, Any],
    *,
    numbers: Mapping[str, Any] | None = None,
    columns: Sequence[str] = (),
    points: tuple[Any, Any] | None = None,
    xlabel: str = "x",
    ylabel: str = "y",
    step: str = "step",
    log: bool = True,
    ylim: tuple[float, float] | None = None,
) -> Figure:
    """Show a run again, with a slider over all its steps and a button that plays them.

    On the left stand the curves as they were at the chosen step, on the right what was measured at
    every step, with a mark at the chosen one, and below them a table of numbers. The figure starts
    at the first step. Without scripts and on paper it shows the last one.

    Args:
        x: where the curves were computed, P places.
        curves: what they were, each of shape (steps, P), by name. The first is drawn heavily.
        over: what was measured, a number for each step, by name. The first has the mark.
        numbers: rows of a table by name, each of shape (steps, columns).
        columns: what stands above the columns of the table.
        points: what stands behind the curves, as x and y.
        xlabel, ylabel: what the axes of the curves are.
        step: what a step is called.
        log: a logarithmic axis for what was measured.
        ylim: the ends of the curves' vertical axis, beyond which they leave the picture; by default
            curves of the last step and points stay within.

    Returns:
        A figure, which shows itself in a notebook or on a page.

    Raises:
        ValueError: there are no curves or nothing was measured, shapes don't agree, a number isn't
            finite (or not positive, on a logarithmic axis), or there are too many.

    >>> lines = np.outer([0.0, 0.5, 1.0], [0.0, 1.0])
    >>> replay([0, 1], {"line": lines}, {"error": [1.0, 0.25, 0.1]}, numbers={"slope": [0, 0.5, 1]})
    <Figure: A run of 3 steps. step 2 of 2. error: 0.1.>
    """
    at = np.asarray(x, float)
    lines = {name: np.asarray(curve, float) for name, curve in curves.items()}
    measured = {name: np.asarray(values, float) for name, values in over.items()}
    rows = {name: _columns(row) for name, row in (numbers or {}).items()}
    count = _check(at, lines, measured, rows, log)
    words = [
        f"{step} {k} of {count - 1}. "
        + ", ".join(f"{name}: {brief(values[k])}" for name, values in measured.items())
        + "."
        for k in range(count)
    ]
    plot, left, right = _axes(at, lines, measured, points, (xlabel, ylabel, step), log, ylim)
    plot.alt = words[-1]
    root = ET.fromstring(plot.html())  # html() also lays the axes out
    panels = [svg for svg in root.iter("svg") if svg.get("class") == "chaingrad"]
    places, steps = _places(left, at), _marks(right, panels[1], measured)
    heights = {name: _heights(left, curve) for name, curve in lines.items()}
    _draw(left, panels[0], places, heights)
    _mark(right, panels[1], steps)
    table, integers = _table(rows, columns)
    last = count - 1
    body = (
        '<div class="cg-controls cg-run" hidden><button type="button">Play</button>'
        f'<label><span class="cg-said">{escaped(step)}</span><input type="range" min="0" '
        f'max="{last}" value="{last}" aria-valuetext="{escaped(words[-1])}" autocomplete="off">'
        f'</label></div><p class="cg-words">{escaped(words[-1])}</p>'
        f"{ET.tostring(root, encoding='unicode')}{table}"
    )
    data = {
        "words": words,
        "x": places,
        "bottom": round(_frame(left, panels[0])["bottom"], 1),
        "fine": _fine(left),
        "curves": ["".join(map(_letters, np.ravel(curve))) for curve in heights.values()],
        "marks": steps,
        "numbers": integers,
    }
    title = f"A run of {count} {step}s"
    return lookup(f"{title}. {words[-1]}", data, "replay", body, script="replay")


def _columns(row: Any) -> Any:
    array = np.asarray(row, float)
    return array[:, None] if array.ndim == 1 else array


def _check(at: Any, lines: Any, measured: Any, rows: Any, log: bool) -> int:
    """Return how many steps there are."""
    if not lines or not measured:
        raise ValueError("replay: it needs a curve, and something that was measured at each step")
    count = len(next(iter(measured.values())))
    shapes = {name: (line, (count, len(at))) for name, line in lines.items()}
    shapes |= {name: (values, (count,)) for name, values in measured.items()}
    shapes |= {name: (row, (count, row.shape[-1])) for name, row in rows.items()}
    for name, (array, shape) in shapes.items():
        if array.shape != shape or not count:
            raise ValueError(f"replay: {name!r} must have the shape {shape}; it has {array.shape}")
        if not np.isfinite(array).all():
            raise ValueError(f"replay: {name!r} has numbers that aren't finite")
    if log and any((values <= 0).any() for values in measured.values()):
        raise ValueError("replay: a logarithmic axis takes positive numbers: pass log=False")
    total = sum(line.size for line in lines.values())
    if total > MOST_POINTS:
        raise ValueError(
            f"replay: {len(lines)} curves at {count:,} steps have {total:,} points, more than the "
            f"{MOST_POINTS:,} that a page should carry: take fewer steps, or fewer places"
        )
    return int(count)


def _axes(
    at: Any, lines: Any, measured: Any, points: Any, labels: Any, log: bool, ylim: Any
) -> tuple[Any, Any, Any]:
    """Make both panels, with all that stays as it is."""
    from chainview import plots  # imported here: the player works without matplotlib

    xlabel, ylabel, step = labels
    plot, (left, right) = plots.axes(2, height=300)
    drawn = [line[-1] for line in lines.values()]
    if points:
        left.plot(*points, "o", color=plots.color("muted"), ms=3, label="points")
        drawn.append(np.asarray(points[1], float))
    for i, name in enumerate(lines):
        left.plot([], [], **_look(i), label=name)
    lowest, highest = min(map(np.min, drawn)), max(map(np.max, drawn))
    room = 0.06 * (highest - lowest) or 1.0
    margin = 0.03 * (at[-1] - at[0])
    left.set(xlabel=xlabel, ylabel=ylabel, xlim=(at[0] - margin, at[-1] + margin))
    left.set_ylim(ylim or (lowest - room, highest + room))
    for i, (name, values) in reversed([*enumerate(measured.items())]):
        dots = {"color": plots.color("muted"), "marker": ".", "ls": "", "ms": 2.5}
        right.plot(values, **(dots if i else plots.LINES[0]), label=name)
    right.set(xlabel=step, **({"yscale": "log"} if log else {}))
    for ax in (left, right):
        ax.figure.legend(loc="outside lower center", ncols=3)
    return plot, left, right


def _look(i: int) -> dict[str, Any]:
    """Return the look of curve ``i``: the first is heavy."""
    from chainview import plots

    looks = plots.LINES
    return looks[0] | {"lw": 2.8} if i == 0 else looks[1 + (i - 1) % (len(looks) - 1)]


def _frame(ax: Any, panel: ET.Element) -> dict[str, float]:
    """Return where the axes stand in their panel, in its pixels."""
    height = float(panel.attrib["viewBox"].split()[3])
    box = ax.bbox
    return {"left": box.x0, "top": height - box.y1, "right": box.x1, "bottom": height - box.y0,
            "height": height}  # fmt: skip


def _fine(ax: Any) -> float:
    """Return the height of one step between two heights: curves may leave the axes by as much."""
    return round(3 * float(ax.bbox.height) / FINEST, 6)


def _heights(ax: Any, curve: Any) -> Any:
    """Return heights above one axis' height below the axes, in fine steps."""
    pixels = ax.transData.transform(np.stack([0 * curve.ravel(), curve.ravel()], axis=1))[:, 1]
    above = pixels - ax.bbox.y0 + ax.bbox.height
    return np.clip(np.rint(above / _fine(ax)), 0, FINEST).astype(int).reshape(curve.shape)


def _letters(height: int) -> str:
    return LETTERS[height // len(LETTERS)] + LETTERS[height % len(LETTERS)]


def _places(ax: Any, at: Any) -> list[float]:
    pixels = ax.transData.transform(np.stack([at, 0 * at], axis=1))[:, 0]
    return [round(float(pixel), 1) for pixel in pixels]


def _marks(ax: Any, panel: ET.Element, measured: Any) -> list[list[float]]:
    """Return where the first of what was measured stands, at each step."""
    values = next(iter(measured.values()))
    pixels = ax.transData.transform(np.stack([np.arange(len(values)), values], axis=1))
    height = _frame(ax, panel)["height"]
    return [[round(float(left), 1), round(height - float(up), 1)] for left, up in pixels]


def _draw(ax: Any, panel: ET.Element, places: list[float], heights: Mapping[str, Any]) -> None:
    """Draw the curves of the last step, the first of them on top."""
    frame = _frame(ax, panel)
    box = {
        "x": frame["left"],
        "y": frame["top"],
        "width": frame["right"] - frame["left"],
        "height": frame["bottom"] - frame["top"],
    }
    sizes = {name: f"{size:.1f}" for name, size in box.items()}
    inner = ET.SubElement(panel, "svg", sizes | {"viewBox": " ".join(sizes.values())})
    base = frame["bottom"] + box["height"]
    for i, curve in reversed([*enumerate(heights.values())]):
        tops = [base - _fine(ax) * height for height in curve[-1]]
        d = "M" + "L".join(f"{x} {top:.1f}" for x, top in zip(places, tops, strict=True))
        look = _look(i)
        width = look.get("lw", 1.6)
        pattern = _dashes(look["linestyle"])
        line = path(f"curve cg-curve-{i}", d)
        line.set("style", f"fill:none;stroke:{themed(look['color'])};stroke-width:{width}")
        if pattern:
            line.set("stroke-dasharray", " ".join(f"{width * part:.1f}" for part in pattern))
        inner.append(line)


def _dashes(style: Any) -> Sequence[float]:
    """Return the lengths of a line style's dashes and gaps, in widths of the line."""
    import matplotlib

    if not isinstance(style, str):
        return style[1]  # type: ignore[no-any-return]
    settings: Any = matplotlib.rcParams
    names = {"--": "dashed", "-.": "dashdot", ":": "dotted"}
    return settings[f"lines.{names[style]}_pattern"] if style in names else ()


def _mark(ax: Any, panel: ET.Element, steps: Sequence[Sequence[float]]) -> None:
    """Mark the last step: a line through all of the axes, and a dot."""
    frame = _frame(ax, panel)
    left, top = steps[-1]
    through = f"M0 {frame['top']:.1f}V{frame['bottom']:.1f}"
    marks = [path("through", through), ET.Element("circle", {"r": "5", "cy": f"{top}"})]
    group = ET.SubElement(panel, "g", {"class": "cg-mark", "transform": f"translate({left})"})
    group.extend(marks)


def _table(rows: Mapping[str, Any], columns: Sequence[str]) -> tuple[str, list[list[int]]]:
    """Write the table of the last step, and the numbers of all steps as whole numbers."""
    if not rows:
        return "", []
    every = np.rint(np.concatenate([*rows.values()], axis=1) * 10**DECIMALS).astype(int)
    cells = iter(_decimals(every[-1]))
    lines = "".join(
        f'<tr><th scope="row">{escaped(name)}</th>'
        + "".join(f"<td>{next(cells)}</td>" for _ in range(row.shape[1]))
        + "</tr>"
        for name, row in rows.items()
    )
    if columns:
        heads = "".join(f'<th scope="col">{escaped(name)}</th>' for name in columns)
        lines = f"<tr><td></td>{heads}</tr>{lines}"
    return f'<table class="cg-numbers">{lines}</table>', every.tolist()


def _decimals(integers: Sequence[int]) -> Iterator[str]:
    for number in integers:
        yield f"{number / 10**DECIMALS:.{DECIMALS}f}".replace("-", "−")
