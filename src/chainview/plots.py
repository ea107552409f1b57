"""Plots in the one style of the course, for pages, notebooks and live cells.

Two panels, for example::

    plot, (left, right) = plots.axes(2)
    left.semilogy(losses)
    right.plot(x, y, **plots.POINTS[0], label="net")
    plot.show("Two plots. Left, the loss falls from 0.5 to 0.01 in 300 steps. Right, …")

The axes are matplotlib's. A plot shows itself as inline SVG: sharp on any screen, its text as text,
its palette colours following the page's theme (see `chainview`). Panels stand side by side
where there is room, and one above the other on a phone; their type is never smaller than 11 px.

The first plot puts the style in force for all that matplotlib draws; ``matplotlib.rcdefaults()``
takes it back.
"""

import base64
import io
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable
from hashlib import blake2s
from typing import Any

import matplotlib
import numpy as np
from cycler import cycler
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.image import imsave
from matplotlib.ticker import LogFormatter, LogFormatterSciNotation, NullLocator

from chainview.draw.layout import MEASURED
from chainview.draw.palette import NAME, color, style, themed
from chainview.draw.svg import NAMESPACE, as_file, frame, write
from chainview.read.words import printable

__all__ = ["FILLS", "LINES", "POINTS", "SERIES", "Plot", "axes", "color", "grid"]

_TYPE = 12  # px, where a panel has the width that it was drawn for
_SMALLEST = 11  # px, where it has been shrunk
_LARGEST = 1.1  # how far a panel grows where there is room


#: Colours of series, which colour-blind readers can tell apart, too.
SERIES = ("teal", "orange", "ink", "rose", "moss")
#: Fills of areas that stand for neither a pass nor a node.
FILLS = [color("aqua"), color("sand"), color("constant")]
_DASHES = ("-", "--", "-.", ":", (0, (6, 1.5, 1.5, 1.5, 1.5, 1.5)))
#: Styles of lines without markers, to be told apart with and without colour.
LINES: list[dict[str, Any]] = [
    {"color": color(name), "linestyle": dash} for name, dash in zip(SERIES, _DASHES, strict=True)
]
#: Styles of lines through measured points, to be told apart with and without colour.
POINTS: list[dict[str, Any]] = [
    line | {"marker": marker} for line, marker in zip(LINES, "os^Dv", strict=True)
]

_SIZES = (
    "font.size axes.titlesize axes.labelsize xtick.labelsize ytick.labelsize figure.labelsize "
    "legend.fontsize legend.title_fontsize"
)
_TEXTS = "text.color axes.titlecolor axes.labelcolor xtick.labelcolor ytick.labelcolor"
_STYLE: dict[str, Any] = {
    **dict.fromkeys(_SIZES.split(), _TYPE),
    **dict.fromkeys(_TEXTS.split(), color("ink")),
    "font.family": MEASURED,
    "axes.titleweight": "bold",
    "xtick.color": color("edge"),
    "ytick.color": color("edge"),
    "axes.edgecolor": color("edge"),
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": color("grid"),
    "figure.facecolor": color("paper"),
    "axes.facecolor": "none",
    "axes.prop_cycle": cycler(
        color=[line["color"] for line in LINES], linestyle=[line["linestyle"] for line in LINES]
    ),
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
    "patch.edgecolor": color("ink"),
    "legend.frameon": False,
    "legend.handlelength": 2.2,
    "legend.labelspacing": 0.3,
    "image.cmap": "PuOr",
    "image.interpolation": "none",
    "path.simplify_threshold": 0.3,
    "svg.fonttype": "none",
    "svg.hashsalt": "chaingrad",
}


class Plot:
    """Panels and what they show, in words.

    Attributes:
        figures: matplotlib's figures, one for each panel that can stand on a line of its own.
        alt: what the plot shows; empty until `show` sets it.
    """

    def __init__(self, figures: list[Figure]) -> None:
        self.figures = figures
        self.alt = ""

    def __repr__(self) -> str:
        return f"<Plot: {self.alt}>"

    def show(self, alt: str) -> None:
        """Show the plot where it is called: below the cell, or in a terminal in words.

        Args:
            alt: what the plot shows, for those who do not see it.

        Raises:
            ValueError: ``alt`` says nothing.
        """
        if not alt.strip():
            raise ValueError(
                "a plot needs its text for those who do not see it: say what it shows, as in "
                'plot.show("The loss falls to 0.01 within 300 steps.")'
            )
        self.alt = printable(alt)
        try:
            from IPython.display import display
        except ImportError:
            print(self)
        else:
            display(self)

    def svg(self) -> str:
        """Return the plot as a separate SVG file, in the light colours."""
        panels = [_panel(figure, self.alt) for figure in self.figures]
        width = sum(int(panel.attrib["width"]) for panel in panels)
        height = max(int(panel.attrib["height"]) for panel in panels)
        size = {"width": str(width), "height": str(height), "viewBox": f"0 0 {width} {height}"}
        label = {"role": "img", "aria-label": self.alt, "xmlns": NAMESPACE}
        root, left = ET.Element("svg", label | size), 0
        for panel in panels:
            panel.set("x", str(left))
            left += int(panel.attrib["width"])
            root.append(panel)
        return as_file(root)

    def html(self) -> str:
        """Return the plot for a page: panels of inline SVG that wrap and follow its theme."""
        panels = [_panel(figure, self.alt) for figure in self.figures]
        used = sorted({name for panel in panels for name in _use_palette(panel)})
        smallest = max(_make_fluid(panel) for panel in panels)
        sheet = ET.Element("style")
        sheet.text = style(used)
        picture = ET.Element("div", {"role": "img", "aria-label": self.alt})
        picture.set("style", "display:flex;flex-wrap:wrap;justify-content:safe center;gap:8px")
        picture.extend([sheet, *panels])
        box = ET.Element("div", {"class": "chaingrad-plot", "style": "overflow-x:auto"})
        if smallest > 320:  # a phone has to scroll it, also by the keyboard
            box.attrib |= {"tabindex": "0", "role": "group", "aria-label": "Plot"}
        box.append(picture)
        return write(box)

    def png(self) -> bytes:
        """Return the plot as a bitmap of two pixels to each of the SVG's, in the light colours."""
        bitmaps = [_bitmap(figure) for figure in self.figures]
        tallest = max(len(bitmap) for bitmap in bitmaps)
        padded = [
            np.pad(b, ((0, tallest - len(b)), (0, 0), (0, 0)), constant_values=255) for b in bitmaps
        ]
        file = io.BytesIO()
        imsave(file, np.hstack(padded), format="png")
        return file.getvalue()

    def _repr_mimebundle_(
        self, include: Iterable[str] | None = None, exclude: Iterable[str] | None = None
    ) -> dict[str, Any]:
        makers: dict[str, Callable[[], str]] = {
            "text/html": self.html,
            "image/svg+xml": self.svg,
            "image/png": lambda: base64.b64encode(self.png()).decode(),
            "text/plain": lambda: repr(self),
        }
        wanted = set(include or makers) - set(exclude or ())
        return {kind: make() for kind, make in makers.items() if kind in wanted}


def axes(
    panels: int = 1, *, width: float = 340, height: float = 240, sharey: bool = False
) -> tuple[Plot, Any]:
    """Make a plot of panels that stand side by side where there is room for them.

    Args:
        panels: how many.
        width: of each panel, in pixels. One of at most 340 fits on a phone without scrolling.
        height: of each panel, in pixels.
        sharey: whether the panels have one scale on the vertical axis.

    Returns:
        The plot and matplotlib's axes, a list of them if there are several panels.
    """
    figures = [_figure(width, height) for _ in range(panels)]
    found = [figure.subplots() for figure in figures]
    for ax in found[1:] if sharey else []:
        ax.sharey(found[0])
    return Plot(figures), found[0] if panels == 1 else found


def grid(
    rows: int, columns: int, *, width: float = 340, height: float = 240, **options: Any
) -> tuple[Plot, Any]:
    """Make a plot of one panel that holds rows and columns of axes, which stay where they are.

    Args:
        rows: how many rows.
        columns: how many columns.
        width: of the whole, in pixels. At most 340 fits on a phone without scrolling.
        height: of the whole, in pixels.
        options: what matplotlib's ``Figure.subplots`` takes, such as ``sharex``.

    Returns:
        The plot and its axes, an array of shape (rows, columns).
    """
    figure = _figure(width, height)
    return Plot([figure]), figure.subplots(rows, columns, squeeze=False, **options)


def _figure(width: float, height: float) -> Figure:
    settings: Any = matplotlib.rcParams
    settings.update(_STYLE)
    return Figure(figsize=(width / 72, height / 72), dpi=72, layout="constrained")


class _PlainPowers(LogFormatter):
    """Powers of ten as one writes them in code, in type of one size: 0.01, 100, 1e-5."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        return _plain(x) if super().__call__(x, pos) else ""


def _plain(x: float) -> str:
    """Write a number briefly.

    >>> _plain(0.01), _plain(1e-5), _plain(2e6)
    ('0.01', '1e-5', '2e6')
    """
    text = f"{x:.6g}" if 1e-3 <= abs(x) < 1e4 else f"{x:.3e}"
    return re.sub(r"\.?0*e([-+])0*", r"e\1", text).replace("e+", "e")


def _format_ticks(figure: Figure) -> None:
    """Give logarithmic axes plain numbers, and ticks between powers of ten only if needed."""
    for axis in (axis for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)):
        if axis.get_scale() == "log":
            _format_log_ticks(axis)


def _format_log_ticks(axis: Axis) -> None:
    low, high = sorted(axis.get_view_interval())
    if isinstance(axis.get_minor_formatter(), LogFormatterSciNotation):
        if sum(low <= tick <= high for tick in axis.get_majorticklocs()) >= 2:
            axis.set_minor_locator(NullLocator())
        else:
            axis.set_minor_formatter(_PlainPowers(minor_thresholds=(2, 0.5)))
    if isinstance(axis.get_major_formatter(), LogFormatterSciNotation):
        axis.set_major_formatter(_PlainPowers())


def _bitmap(figure: Figure) -> Any:
    _format_ticks(figure)
    canvas: Any = FigureCanvasAgg(figure)
    figure.set_dpi(144)
    try:
        canvas.draw()
        return np.asarray(canvas.buffer_rgba()).copy()
    finally:
        figure.set_dpi(72)


def _panel(figure: Figure, alt: str) -> ET.Element:
    """Return a figure as an ``<svg>`` element in the light colours, with ids of its own."""
    _format_ticks(figure)
    file = io.BytesIO()
    figure.savefig(file, format="svg", dpi=144, metadata={"Date": None})
    root = ET.fromstring(file.getvalue())
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        for child in [e for e in element if e.tag.endswith(("}metadata", "}style"))]:
            element.remove(child)
        _simplify(element)
    _rename(root, blake2s(file.getvalue() + alt.encode(), digest_size=4).hexdigest())
    _flatten(root)
    root.attrib = {
        "class": "chaingrad",
        "aria-hidden": "true",
        **frame(root),
        "stroke-linejoin": "round",
    }
    return root


# A text keeps its size and its weight, and leaves its family to the page.
_FONT = re.compile(r"font:(?:(\w+) )?([\d.]+px) [^;]*")
_FAMILY = re.compile(r"font-family:[^;]*;?")
_DIGITS = re.compile(r"-?\d+\.\d+(?![\de])")


def _simplify(element: ET.Element) -> None:
    """Leave out what a page doesn't need: digits, spaces, fonts, rotations by no angle."""
    for name, value in list(element.attrib.items()):
        if name.endswith("}href"):
            element.set("href", element.attrib.pop(name).replace("\n", ""))
        elif name in ("d", "x", "y"):
            short = _DIGITS.sub(lambda number: f"{round(float(number[0]), 1):g}", value)
            element.set(name, re.sub(r"\s*([A-Za-z])\s*", r"\1", short))
        elif name == "transform":
            turned = re.sub(r" ?rotate\(-0 [^)]*\)", "", element.attrib.pop(name))
            if turned:
                element.set(name, _DIGITS.sub(lambda number: f"{float(number[0]):.2f}", turned))
        elif name == "style":
            look = re.sub(r"([;:]) +", r"\1", value)
            look = _FONT.sub(r"font-weight:\1;font-size:\2", look).replace("font-weight:;", "")
            element.set(name, _FAMILY.sub("", look))


def _flatten(element: ET.Element) -> None:
    """Remove groups that say nothing, and say once what all the marks of a line have in common."""
    for child in list(element):
        _flatten(child)
        if child.tag == "g" and not child.attrib:
            place = list(element).index(child)
            element[place : place + 1] = list(child)
    looks = {child.get("style") if child.tag == "use" else None for child in element}
    if element.tag == "g" and len(element) > 1 and len(looks) == 1 and None not in looks:
        element.set("style", str(looks.pop()))
        for child in element:
            del child.attrib["style"]


def _rename(root: ET.Element, prefix: str) -> None:
    """Drop ids that nothing refers to, and make the others unique to the figure."""
    text = ET.tostring(root, encoding="unicode")
    wanted = dict.fromkeys(re.findall(r'(?:href="#|url\(#)([\w-]+)', text))
    names = {old: f"cg-{prefix}-{number}" for number, old in enumerate(wanted)}
    for element in root.iter():
        old = element.attrib.pop("id", None)
        if old in names:
            element.set("id", names[old])
        for name, value in element.attrib.items():
            if "#" in value and name in ("href", "clip-path", "style"):
                element.set(
                    name, re.sub(r"#([\w-]+)", lambda m: "#" + names.get(m[1], m[1]), value)
                )


def _use_palette(root: ET.Element) -> set[str]:
    """Make the palette's colours custom properties, and return the names of those in use."""
    used: set[str] = set()
    ground = root.find("path")

    def replace(found: re.Match[str]) -> str:
        name = NAME.get(found[0])
        if name is None or (name == "paper" and element is not ground):
            return found[0]  # white on something dark stays white
        used.add(name)
        return themed(found[0])

    for element in root.iter():
        if "style" in element.attrib:
            element.set("style", re.sub(r"#[0-9a-f]{6}\b", replace, element.attrib["style"]))
    return used


def _make_fluid(panel: ET.Element) -> int:
    """Let a panel take the available width, within bounds; return the smallest, in pixels."""
    width = int(panel.attrib["width"])
    smallest = -(-width * _SMALLEST // _TYPE)
    widest = round(width * _LARGEST)
    panel.set("style", f"flex:1 1 {smallest}px;min-width:{smallest}px;max-width:{widest}px")
    return smallest
