"""The player: steps, the pictures in which they happen, and key frames where no script runs."""

import copy
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any

from chainview.piece import TRANSPORT, Piece, piece
from chainview.player import picture
from chainview.player.names import plain
from chainview.player.steps import SlotChange, Step

MOST_NODES = 200
BEYOND = (
    "a player can step through: play a smaller model or fewer examples, write the computation with "
    "arrays instead of scalars, or draw the whole with draw_graph"
)
HERE = files(__package__)
SCRIPT = HERE / "players.bundle.js"
SHEETS = (picture.SHEET, TRANSPORT, HERE / "player.css")


@dataclass(frozen=True, repr=False)
class Player(Piece):
    """A player that shows itself in a notebook or on a page.

    Attributes:
        alt: what it plays, in words.
        steps: the steps, in order.
    """

    alt: str
    steps: Sequence[Step]
    _draw: Callable[[], Sequence[ET.Element]]  # one picture, or another for narrow screens, too
    _start: Sequence[SlotChange]
    _frames: Sequence[tuple[str, int]]  # a title, and a place in the steps

    def __repr__(self) -> str:
        return f"<Player: {self.alt}>"

    @cached_property
    def html(self) -> str:
        """The player as a piece of HTML."""
        frames = "".join(self._frame(title, at) for title, at in self._frames)
        others = "".join(ET.tostring(x, encoding="unicode") for x in self._pictures[1:])
        inside = f'<div class="cg-frames">{frames}</div><template>{others}</template>'
        return piece("player", self.alt, inside, self._data(), SCRIPT, SHEETS)

    def _data(self) -> dict[str, Any]:
        phases = list(dict.fromkeys(step.phase for step in self.steps))
        rows = [
            [phases.index(s.phase), s.words, s.nodes, s.edge or 0, s.changes, s.entries]
            for s in self.steps
        ]
        return {"label": self.alt, "phases": phases, "start": self._start, "steps": rows}

    def _text(self) -> str:
        frames = [f"{title}: {plain(self.steps[at].words)}" for title, at in self._frames]
        return "\n".join([self.alt, *frames])

    @cached_property
    def _pictures(self) -> Sequence[ET.Element]:
        return self._draw()

    def _frame(self, title: str, at: int) -> str:
        step = self.steps[at]
        changes = [*self._start, *(c for s in self.steps[: at + 1] for c in s.changes)]
        root = copy.deepcopy(self._pictures[0])
        root.set("aria-label", f"{title}: {plain(step.words)}")
        picture.fill(root, {(node, slot): text for node, slot, text in changes})
        _mark(root, step)
        drawn = ET.tostring(root, encoding="unicode")
        return (
            f'<figure><div class="cg-scroll" tabindex="0" role="group" aria-label="{title}">'
            f"{drawn}</div><figcaption><b>{title}.</b> {step.words}</figcaption></figure>"
        )


def _mark(root: ET.Element, step: Step) -> None:
    parent, child, which, above, local, _ = step.edge or ("", "", 0, "", "", ())
    edges = [g for g in root.iter("g") if (g.get("data-from"), g.get("data-to")) == (parent, child)]
    for group in edges[which : which + 1] if above else []:
        for place, text in zip(group.findall("text"), (above, f"× {local}"), strict=True):
            place.text = text
    marked = [g for g in root.iter("g") if g.get("data-node") and g.get("data-node") in step.nodes]
    for group in marked + edges[which : which + 1]:
        group.set("class", f"{group.get('class')} cg-on")
