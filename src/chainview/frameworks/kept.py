"""What a watched run keeps for its backward pass, layer by layer, in bars."""

from typing import TYPE_CHECKING, Any

from chaingrad.account import saved_by_layer
from chainview.draw.palette import color
from chainview.read.words import listed, shortened, size_text

if TYPE_CHECKING:
    from chainview.plots import Plot

_MOST = 24  # bars
_LONGEST = 24  # characters of a name, so that bars have half of the width


def draw_kept(run: Any, depth: int | None = None) -> "Plot":
    """Draw the bytes that each layer keeps for the backward pass, the first layer on top.

    Layers that keep nothing have no bar. Needs matplotlib.

    Args:
        run: what `chainview.frameworks.watch_torch` or ``watch_jax`` saw.
        depth: how many parts of a module's path make a layer, as
            `chaingrad.account.saved_by_layer` has it; by default as many as 24 bars allow.

    Raises:
        ValueError: nothing is kept.
    """
    from chainview import plots

    kept = _layers(run, depth)
    if not kept:
        raise ValueError("draw_kept: nothing is kept for the backward pass")
    total = sum(kept.values())
    plot, ax = plots.axes(height=50 + 22 * len(kept))
    names = shortened(list(kept), lambda name: len(name) <= _LONGEST)
    bars = ax.barh(
        range(len(names)), list(kept.values()), color=color("backward"), ec=color("ink"), lw=0.6
    )
    ax.bar_label(bars, [size_text(count) for count in kept.values()], padding=3)
    ax.set(yticks=range(len(names)), yticklabels=names, xticks=[])
    ax.tick_params(length=0)
    ax.set(xlim=(0, 1.6 * max(kept.values())))
    plot.figures[0].supxlabel(f"bytes kept, {size_text(total)} in all")
    ax.invert_yaxis()
    ax.grid(visible=False)
    told = listed([f"{name} {size_text(count)}" for name, count in kept.items()], 12)
    plot.alt = f"Bars: bytes kept by layer, {size_text(total)} in all. {told}."
    return plot


def _layers(run: Any, depth: int | None) -> dict[str, int]:
    deepest = max(len(value.call.path.split(".")) for value in run.values)
    depths = [depth] if depth is not None else range(deepest, 0, -1)
    for parts in depths:
        kept = {name: count for name, count in saved_by_layer(run, parts).items() if count}
        if len(kept) <= _MOST:
            break
    return kept
