"""What a watched run keeps for its backward pass, layer by layer: counted, and in bars."""

from typing import TYPE_CHECKING

from chainview.draw.palette import color
from chainview.frameworks.run import WatchedNode
from chainview.frameworks.watched import Watched
from chainview.read.words import listed, shortened, size_text

if TYPE_CHECKING:
    from chainview.plots import Plot

_MOST = 24  # bars
_LONGEST = 24  # characters of a name, so that bars have half of the width


def saved_by_layer(run: Watched, depth: int | None = None) -> dict[str, int]:
    """Count the bytes that each module keeps for the backward pass, in the order they ran.

    What several read is counted once, at the first function that holds it, so that the sum is what
    `chaingrad.account.saved_bytes` measures. What is in no module is called ``"(no module)"``.

    Args:
        run: what `chainview.frameworks.watch_torch` or ``watch_jax`` saw.
        depth: how many parts of a module's path make a layer: with 2 ``"blocks.0.norm"`` and
            ``"blocks.0.mlp.1"`` are ``"blocks.0"``. By default the innermost modules are layers.
    """
    found: dict[str, int] = {}
    for value in sorted(run.values, key=lambda value: not value.parents):  # operations first
        name = layer_of(value, depth)
        found[name] = found.get(name, 0) + value.kept
    return found


def layer_of(value: WatchedNode, depth: int | None = None) -> str:
    """Name the module that was running when a watched value was computed, or first read."""
    call = value.call
    path = ".".join(call.path.split(".")[:depth])
    return path or call.kind or "(no module)"


def draw_kept(run: Watched, depth: int | None = None) -> "Plot":
    """Draw the bytes that each layer keeps for the backward pass, the first layer on top.

    Layers that keep nothing have no bar. Needs matplotlib.

    Args:
        run: what `chainview.frameworks.watch_torch` or ``watch_jax`` saw.
        depth: how many parts of a module's path make a layer, as `saved_by_layer` has it; by
            default as many as 24 bars allow.

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


def _layers(run: Watched, depth: int | None) -> dict[str, int]:
    deepest = max(len(value.call.path.split(".")) for value in run.values)
    depths = [depth] if depth is not None else range(deepest, 0, -1)
    for parts in depths:
        kept = {name: count for name, count in saved_by_layer(run, parts).items() if count}
        if len(kept) <= _MOST:
            break
    return kept
