"""What *Training on digits* draws: losses by weight decay, and weights as images."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from chainview import plots

Run = tuple[Any, Any, Any]  # both weight matrices, and a history


def draw_losses(
    runs: Mapping[tuple[float, int], Run], lams: Sequence[float], seeds: Sequence[int]
) -> None:
    """Draw losses against the steps of training, and at its end against weight decay.

    Args:
        runs: by weight decay and seed. A history has a row for each step that was kept, with the
            step, the loss and the share of right answers in training, and the two in the test.
        lams, seeds: what to draw; the first of the seeds is drawn against the steps, without
            decay and with the middle one of `lams`.
    """
    plot, (left, right) = plots.axes(2, height=260)
    shown = lams[0], lams[len(lams) // 2]
    told = []
    for lam, name in zip(shown, ("orange", "teal"), strict=True):
        step, fit, _, test, _ = runs[lam, seeds[0]][2].T
        left.plot(step, test, "-", color=plots.color(name), label=f"test, λ = {lam:g}")
        left.plot(step, fit, "--", color=plots.color(name), label=f"training, λ = {lam:g}")
        told.append(f"with λ = {lam:g} they end at {fit[-1]:.3f} and {test[-1]:.3f}")
    left.set(xlabel="step", ylabel="loss L", ylim=(0, 0.3))
    left.legend()

    ticks, ends = range(len(lams)), {}
    for column, look, name in ((3, "o-", "test"), (1, "s--", "training")):
        losses = np.array([[runs[lam, seed][2][-1, column] for lam in lams] for seed in seeds])
        for i, line in enumerate(losses):
            label = None if i else name
            right.plot(ticks, line, look, lw=1, color=plots.color("ink"), label=label)
        ends[name] = ", ".join(f"{loss:.3f}" for loss in losses.mean(axis=0))
    right.set(xlabel="λ (not to scale)", ylabel="loss L at the end", ylim=(0, None))
    right.set_xticks(ticks, [f"{lam:g}" for lam in lams])
    right.legend()
    plot.show(
        "Two plots of the loss. Left, in training and in the test, against the steps: "
        f"{'; '.join(told)}. Right, at the end, for λ = {', '.join(f'{lam:g}' for lam in lams)}, "
        f"in the mean of {len(seeds)} runs: {ends['training']} in training, "
        f"{ends['test']} in the test."
    )


def draw_weights(stages: Mapping[str, Any], units: int = 8) -> None:
    """Draw the weights of a layer's first units as images, a row for each stage.

    Args:
        stages: matrices of shape (units, 64), by what they are called.
        units: how many units to draw.
    """
    limit = 0.5 * max(abs(W).max() for W in stages.values())
    plot, panels = plots.grid(len(stages), units, height=220)
    for row, (name, W) in zip(panels, stages.items(), strict=True):
        for ax, weights in zip(row, W, strict=False):
            drawn = ax.imshow(weights.reshape(8, 8), vmin=-limit, vmax=limit)
            ax.set(xticks=[], yticks=[])
        row[0].set_ylabel(name)
    plot.figures[0].colorbar(drawn, ax=panels, label="weight", extend="both", location="bottom")
    sizes = ", ".join(
        f"{name}: {np.sqrt(np.mean(W[:units] ** 2)):.3f}" for name, W in stages.items()
    )
    plot.show(
        f"{len(stages)} rows of {units} images of 8 by 8 weights. The root of the mean square of "
        f"the weights in each row: {sizes}."
    )
