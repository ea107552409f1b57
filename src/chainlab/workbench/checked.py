"""The view *check*: each gradient beside a difference quotient, and what a kink does.

The text is run again at the moved leaf. Where that agrees with the recorded graph, the graph alone
gives the differences, which is quicker; where it doesn't, the view says what the graph missed.
"""

import html
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chaingrad.backward import adjoints
from chaingrad.differences import ATOL, RTOL, STEP, is_kink, slopes, step_at
from chainlab.workbench.recompute import Replay, require_open
from chainlab.workbench.rerun import Rerun, unrecorded
from chainlab.workbench.subject import Subject
from chainlab.workbench.tables import table
from chainlab.workbench.views import View
from chainview.player.names import amount, index_text

MOST = 200  # entries
SHOWN = 40

Number = Callable[[Sequence[Any]], float]


@dataclass(frozen=True)
class CheckedEntry:
    """An entry of a leaf, its gradient, and the slopes to its left and right.

    Attributes:
        missed: what of the program the graph doesn't hold, in words, if it is about this leaf.
    """

    name: str
    gradient: float
    left: float
    right: float
    missed: str = ""

    @property
    def difference(self) -> float:
        return (self.left + self.right) / 2

    @property
    def is_known(self) -> bool:
        return bool(np.isfinite([self.left, self.right]).all())

    @property
    def agrees(self) -> bool:
        return _agree(self.gradient, self.difference)

    @property
    def is_kink(self) -> bool:
        return is_kink(self.left, self.right)

    @property
    def comparison(self) -> str:
        if not self.is_known:
            return "can’t know: the function has no finite value on one side"
        if self.is_kink:
            sides = f"{amount(self.left)} on the left, {amount(self.right)} on the right"
            return (
                f"can’t know: a kink. The slope is {sides}, and the engine takes "
                f"{amount(self.gradient)}"
            )
        if self.agrees:
            return "they agree"
        return f"they differ: {self.missed}" if self.missed else "they differ"


def _agree(a: float, b: float) -> bool:
    return bool(abs(a - b) <= ATOL + RTOL * abs(b))


def require_check(subject: Subject) -> None:
    """Refuse a graph with too many entries to move, or with parts that it hides."""
    subject.require_scalar("check")
    if subject.entries > MOST:
        raise ValueError(
            f"check moves each entry of each leaf by itself, and there are {subject.entries:,}, "
            f"more than {MOST}: take smaller arrays"
        )
    require_open(subject)


def checked(subject: Subject) -> View:
    """Compare each gradient with central differences of the program, in float64."""
    replay = Replay.read(subject)
    with np.errstate(all="ignore"):
        rerun = Rerun.of(subject) if subject.text else None
        rows = list(_rows(replay, rerun))
    words = _summary(rows)
    if subject.text and rerun is None:
        words += (
            " Run a second time, the program makes other leaves or another result, so only the "
            "recorded graph was checked."
        )
    more = f" The first {SHOWN} are shown." if len(rows) > SHOWN else ""
    heads = ("by", "gradient", "difference", "")
    lines = [
        (html.escape(r.name), amount(r.gradient), amount(r.difference), html.escape(r.comparison))
        for r in rows[:SHOWN]
    ]
    return View(table("check", words + more, heads, lines), words)


def _summary(rows: Sequence[CheckedEntry]) -> str:
    unknown = [row for row in rows if row.is_kink or not row.is_known]
    wrong = next((row for row in rows if not row.agrees and row not in unknown), None)
    if wrong:
        return (
            f"The first entry that differs is {wrong.name}: gradient {amount(wrong.gradient)}, "
            f"differences {amount(wrong.difference)}."
        )
    of = f", to {RTOL:g} of its size"
    if not unknown:
        all_agree = f"All {len(rows)} entries agree with central differences"
        one_agrees = "The gradient agrees with the central difference"
        return f"{all_agree if len(rows) > 1 else one_agrees}{of}."
    names = ", ".join(row.name for row in unknown[:4]) + " …" * (len(unknown) > 4)
    where = "a kink" if all(row.is_known for row in unknown) else "a kink or an end of the domain"
    stand = "is" if len(unknown) == 1 else "are"
    rest = len(rows) - len(unknown)
    agree = f" The other {rest} agree{of}." if rest > 1 else f" The other agrees{of}." * rest
    return f"{names} {stand} at {where}, where differences can’t tell the gradient.{agree}"


def _rows(replay: Replay, rerun: Rerun | None) -> Iterator[CheckedEntry]:
    grads = adjoints(replay.root, replay.root.seed(), replay.leaves)
    points = [np.array(x, np.float64) for x in replay.values]
    count = len(replay.leaves)
    for place, leaf in enumerate(replay.leaves):
        gradient = np.broadcast_to(np.asarray(grads.get(leaf, 0.0)), points[place].shape)
        number: Number = replay.number
        name, missed = str(leaf.label or "a leaf"), ""
        if rerun and not _alike(rerun.number, replay.number, points, place, count):
            number = _of_leaves(rerun.number, count)
            after = rerun.root(_moved(points, place, STEP)[:count])
            missed = unrecorded(replay.root, after, name)

        def value(moved: Any, number: Number = number, place: int = place) -> float:
            return number([*points[:place], moved, *points[place + 1 :]])

        for index in np.ndindex(points[place].shape):
            left, right = slopes(value, points[place], index, step_at(points[place][index]))
            at = float(gradient[index])
            yield CheckedEntry(f"{name}{index_text(index)}", at, left, right, missed)


def _of_leaves(number: Number, count: int) -> Number:
    return lambda points: number(points[:count])


def _moved(points: Sequence[Any], place: int, step: float) -> list[Any]:
    """Return the points with each entry of one moved, by amounts that cancel nowhere."""
    x = points[place]
    weights = np.cos(1.0 + np.arange(x.size)).reshape(x.shape)
    return [*points[:place], x + step * weights * np.maximum(1.0, abs(x)), *points[place + 1 :]]


def _alike(program: Number, graph: Number, points: list[Any], place: int, count: int) -> bool:
    """Check that a program and its graph follow a leaf that moves to the same values."""
    slopes = []
    for number in (_of_leaves(program, count), graph):
        here = number(points)
        sides = [number(_moved(points, place, step)) for step in (-STEP, STEP)]
        slopes.append([(side - here) / STEP for side in sides])
    return all(_agree(a, b) or (np.isnan(a) and np.isnan(b)) for a, b in zip(*slopes, strict=True))
