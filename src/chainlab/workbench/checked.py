"""The view *check*: each gradient beside a difference quotient, and what a kink does."""

import html
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from chaingrad.backward import adjoints
from chaingrad.node import Node
from chainlab.workbench.replay import Replay
from chainlab.workbench.tables import table
from chainlab.workbench.views import View, require_scalar
from chainview.player.names import amount, index_text

STEP = 1e-6  # times the size of an entry, where that is above 1
RELATIVE, ABSOLUTE = 1e-5, 1e-7  # the two may differ by this much, as in check_gradients
KINK = 1e-2  # if the slopes on either side differ by more, relative to their size, it's a kink
MOST = 200  # entries
SHOWN = 40


@dataclass(frozen=True)
class CheckedEntry:
    """An entry of a leaf, its gradient, and the slopes to its left and right."""

    name: str
    gradient: float
    left: float
    right: float

    @property
    def difference(self) -> float:
        return (self.left + self.right) / 2

    @property
    def agrees(self) -> bool:
        allowed = ABSOLUTE + RELATIVE * abs(self.difference)
        return bool(abs(self.gradient - self.difference) <= allowed)

    @property
    def is_kink(self) -> bool:
        apart = abs(self.left - self.right)
        return bool(apart > KINK * max(1.0, abs(self.left), abs(self.right)))

    @property
    def comparison(self) -> str:
        if self.is_kink:
            sides = f"{amount(self.left)} on the left, {amount(self.right)} on the right"
            return f"a kink: the slope is {sides}, and the engine takes {amount(self.gradient)}"
        return "they agree" if self.agrees else "they differ"


def checked(root: Node) -> View:
    """Compare each gradient with central differences of the graph, replayed in float64."""
    require_scalar(root, "check")
    replay = Replay.read(root)
    count = sum(leaf.size for leaf in replay.leaves)
    if count > MOST:
        raise ValueError(
            f"check moves each entry of each leaf by itself, and there are {count}, more than "
            f"{MOST}: take smaller arrays"
        )
    with np.errstate(all="ignore"):
        rows = list(_rows(replay))
    wrong = next((row for row in rows if not row.agrees and not row.is_kink), None)
    kinks = sum(row.is_kink for row in rows)
    words = f"All {count} entries agree with central differences, to {RELATIVE:g} of their size."
    if kinks:
        words = f"{kinks} of {count} entries stand at a kink, where differences mean nothing."
    if wrong:
        words = (
            f"The first entry that differs is {wrong.name}: gradient {amount(wrong.gradient)}, "
            f"differences {amount(wrong.difference)}."
        )
    heads = ("by", "gradient", "difference", "")
    lines = [
        (html.escape(r.name), amount(r.gradient), amount(r.difference), html.escape(r.comparison))
        for r in rows[:SHOWN]
    ]
    more = f" The first {SHOWN} are shown." if count > SHOWN else ""
    return View(table("check", words + more, heads, lines), words)


def _rows(replay: Replay) -> Iterator[CheckedEntry]:
    grads = adjoints(replay.root, replay.root.seed(), replay.leaves)
    points = [np.array(x, np.float64) for x in replay.values]
    here = replay.number(points)
    for leaf, point in zip(replay.leaves, points, strict=False):
        gradient = np.broadcast_to(np.asarray(grads.get(leaf, 0.0)), point.shape)
        for index in np.ndindex(point.shape):
            at = float(point[index])
            step = STEP * max(1.0, abs(at))
            sides = []
            for moved in (at - step, at + step):
                point[index] = moved
                sides.append(replay.number(points))
            point[index] = at
            left, right = (here - sides[0]) / step, (sides[1] - here) / step
            yield CheckedEntry(
                f"{leaf.label or 'a leaf'}{index_text(index)}", float(gradient[index]), left, right
            )
