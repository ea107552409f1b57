"""What *Checking a gradient* draws: how the error of a difference depends on the step."""

from collections.abc import Mapping, Sequence

import numpy as np

from chainview import plots


def draw_errors(steps: Sequence[float], errors: Mapping[str, Sequence[float]]) -> None:
    """Draw the errors of differences against their step, and the two lines that bound them.

    Args:
        steps: the steps h.
        errors: for each kind of difference, its relative error at each step.
    """
    h = np.asarray(steps)
    eps = np.finfo(float).eps
    plot, ax = plots.axes(height=360)
    for (name, error), look in zip(errors.items(), plots.POINTS, strict=False):
        ax.loglog(h, error, **look | {"linestyle": "none", "markersize": 3}, label=name)
    ink = plots.color("ink")
    ax.loglog(h, h**2 / 6, "-", color=ink, lw=1, label="truncation, h²/6")
    ax.loglog(h, eps / h, "--", color=ink, lw=1, label="rounding, ε/h")
    ax.axvline(eps ** (1 / 3), color=plots.color("muted"), lw=1, ls=":", label="h = ε^⅓")
    ax.set(xlabel="step h", ylabel="relative error of the derivative")
    ax.set(ylim=(1e-15, 10), xlim=(3e-13, 3))
    ax.figure.legend(loc="outside lower center", ncols=2)
    plot.show(
        "Log-log plot of relative error against the step h, from 1e-12 to 1. Central differences in"
        " float64 form a V: on the right the error follows the line h squared over 6, on the left "
        "the line epsilon over h, with the bottom near h = 6e-6 at an error of about 1e-11. "
        "One-sided differences have their bottom near 1e-8 at about 1e-8. Central differences in "
        "float32 have theirs near 5e-3 at about 1e-5."
    )


def draw_rounding(sizes: np.ndarray, errors: np.ndarray, allowed: float) -> None:
    """Draw the error of each entry of a gradient against the entry's size, and two tolerances."""
    plot, ax = plots.axes(height=280)
    ax.loglog(sizes, np.maximum(errors, 1e-9), **_DOTS, color=plots.color("edge"), label="entries")
    line = np.array([sizes.min(), sizes.max()])
    ax.loglog(line, 1e-5 * line, **plots.LINES[1], label="rtol=1e-5")
    ax.axhline(allowed, **plots.LINES[0], label="ε √k max|gradient|")
    ax.set(xlabel="size of the entry", ylabel="absolute error in float32")
    ax.legend(loc="upper left")
    plot.show(
        "Scatter plot on logarithmic axes: the error of each entry of a gradient in float32 against"
        " the size of the entry. The cloud is level: small entries have errors as large as those of"
        " large ones. The slanted line of a relative tolerance cuts through it, and the horizontal "
        "line of an absolute one lies above all points."
    )


_DOTS = {"marker": ".", "linestyle": "none", "markersize": 3}
