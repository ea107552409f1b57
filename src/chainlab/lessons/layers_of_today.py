"""What *Layers of today* draws: who uses what, and what a normalization lets through."""

from typing import Any

import numpy as np

from chainview import plots

TOKENS = (1, 3, 1, 0)  # the words of a sentence, as rows of a table
PLACES, WIDTH = 6, 3  # of a signal and of a filter


def draw_uses() -> None:
    """Draw who uses a row of a table, a weight of a filter and an input of a normalization."""
    plot, panels = plots.axes(3, width=250, height=200)
    ink, muted, teal = plots.color("ink"), plots.color("muted"), plots.color("teal")
    outputs = PLACES - WIDTH + 1
    drawn = (
        ("embedding", 4, len(TOKENS), [(row, i) for i, row in enumerate(TOKENS)], 1),
        ("convolution", WIDTH, outputs, [(k, i) for k in range(WIDTH) for i in range(outputs)], 0),
        ("normalization", 4, 4, [(j, i) for j in range(4) for i in range(4)], 2),
    )
    names = ("row", "weight", "input")
    for ax, (title, count, results, uses, shown), name in zip(panels, drawn, names, strict=True):
        for j, i in uses:
            look = {"color": teal, "lw": 2.4} if j == shown else {"color": muted, "lw": 0.8}
            ax.plot([0, 1], [-j, -i], ls="-", **look)
        for j in range(count):
            ax.plot(0, -j, "o", color=teal if j == shown else ink)
            ax.text(-0.12, -j, f"{name} {j}", ha="right", va="center", color=ink)
        for i in range(results):
            ax.plot(1, -i, "s", color=ink)
            ax.text(1.12, -i, f"{i}", ha="left", va="center", color=ink)
        ax.set(xlim=(-0.9, 1.4), ylim=(-3.5, 0.5), title=title)
        ax.set_axis_off()
    plot.show(
        "Three drawings with lines from what is used, on the left, to the results that use it, on "
        f"the right. Embedding: row 1 of the table goes to the places 0 and 2 of {TOKENS}. "
        f"Convolution: weight 0 of the filter goes to all {outputs} results. Normalization: input "
        "2 goes to all four results."
    )


def draw_norm(x_hat: Any, upstream: Any, back: Any) -> None:
    """Draw a normalized row, the gradient that arrives at it, and what is left of that.

    Args:
        x_hat, upstream, back: of shape (features,); ``back`` without the factor 1/σ.
    """
    plot, panels = plots.axes(3, width=250, height=180)
    titles = ("normalized row", "arrives", "goes on, times σ")
    for ax, title, bars in zip(panels, titles, (x_hat, upstream, back), strict=True):
        ax.bar(range(len(bars)), bars, color=plots.color("teal"))
        ax.axhline(0, color=plots.color("ink"), lw=0.8)
        ax.set(title=title, xlabel="feature", ylim=(-2, 2))
        ax.set_xticks(range(len(bars)))
    told = (
        ", ".join(f"{bar:.2f}" for bar in np.asarray(bars) + 0.0)
        for bars in (x_hat, upstream, back)
    )
    plot.show(
        "Three bar plots: the normalized row {}; what arrives {}; what goes on {}.".format(*told)
    )
