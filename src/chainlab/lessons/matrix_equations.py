"""What *A batch, and softmax* and *Layers by hand* show: pulls on logits, and a layer's sums."""

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.patches import Rectangle

from chaingrad import Node
from chainview import Figure, plots, transposes

PULLS = 8  # images, the last three of them the worst


def draw_sums() -> Figure:
    """Draw a layer of small whole numbers, and which entries each entry of a gradient sums up."""
    few = np.random.default_rng(170)
    examples = Node(few.integers(-2, 4, (4, 3)), "X", requires_grad=False)
    weights = Node(few.integers(-2, 3, (2, 3)), "W")
    layer = examples @ weights.T
    layer.label = "Z"
    targets = layer.data + few.integers(-2, 3, (4, 2))
    (((layer - targets) ** 2).sum() / 2).backward()
    return transposes(layer)


def draw_pulls(before: Any, after: Any, labels: Any) -> None:
    """Draw p - y of some images before and after training.

    Args:
        before, after: p - y for each image, of shape (images, classes).
        labels: the right classes, of shape (images,).
    """
    rows = np.arange(len(labels))
    worst = np.argsort(after[rows, labels])[:3]
    picked = [*range(PULLS - 3), *worst]
    plot, panels = plots.axes(2, width=380, height=290)
    for ax, pull, when in zip(panels, (before, after), ("before", "after"), strict=True):
        shown = pull[picked]
        ax.imshow(shown, vmin=-1, vmax=1, aspect="auto")
        for i, k in np.ndindex(shown.shape):
            if is_label := bool(k == labels[picked[i]]):
                ax.add_patch(Rectangle((k - 0.5, i - 0.5), 1, 1, fill=False, ec="black", lw=2))
            if is_label or abs(shown[i, k]) >= 0.01:
                ink = "white" if abs(shown[i, k]) > 0.7 else "black"
                number = f"{shown[i, k]:+.2f}".replace("0.", ".").replace("-.00", ".00")
                ax.text(k, i, number, ha="center", va="center", color=ink)
        ax.set(xticks=range(shown.shape[1]), title=f"p − y, {when} training", xlabel="logit")
        ax.set_yticks(range(PULLS), labels[picked])
        ax.set_ylabel("right class")
        ax.grid(visible=False)
    at_label = after[picked, labels[picked]]
    plot.show(
        f"Two heat maps of p minus y, {PULLS} images by {before.shape[1]} logits. Before training "
        f"the right class has {before[rows, labels].mean():.2f} on average, and each other one "
        "about plus 0.1. After training it has, row by row, "
        f"{', '.join(f'{pull:.2f}' for pull in at_label)}."
    )


def numerical(f: Callable[[], Any], array: Any, eps: float = 1e-6) -> Any:
    """Return the gradient of ``f()`` with respect to an array that it reads, by differences.

    Args:
        f: a function of no arguments that returns a number.
        array: moved entry by entry, and as it was in the end.
        eps: how far up and down an entry is moved.
    """
    gradient = np.zeros(array.shape)
    for index in np.ndindex(array.shape):
        kept = array[index]
        array[index] = kept + eps
        above = f()
        array[index] = kept - eps
        gradient[index] = (above - f()) / (2 * eps)
        array[index] = kept
    return gradient
