"""What a problem needs beside its seed: a graph, and the program that gives all its numbers."""

import functools
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from chainlab.drills import messages
from chainlab.drills.fit import Entry, settle, values_of
from chainlab.drills.forms import DOMAINS
from chainlab.drills.kinds import KINDS, Kind
from chainlab.drills.looks import look, room
from chainlab.drills.recording import Recording
from chainlab.drills.series import Series
from chainlab.drills.tasks import Box, placed
from chainview.draw.boxes import Direction
from chainview.player.names import is_plain_number
from chainview.player.picture import Look, draw
from chainview.read.words import describe

MOST = (30.0, 60.0, 99.0)  # the largest number of a level
GENERIC = 5  # settings that tell apart what is not the same
LAYOUTS: tuple[tuple[Direction, float], ...] = (("LR", 60), ("TB", 26))
ROOM = ("data −000", "data −0/00")  # the widest that is written into a node
EMPTY: Mapping[str, Any] = {  # of problems without numbers
    key: [] for key in ("constants", "code", "domains", "kinks", "shown", "given", "boxes")
} | {"most": 0.0}


@functools.cache
def entry(kind: str, level: int, number: int) -> Entry:
    """Return one graph of a kind and level, as a page and `problem` read it, without pictures."""
    task = KINDS[kind]
    text = task.forms(level)[number]
    if task.described:
        return {**EMPTY, **task.described(text)}
    rec = Recording(text)
    boxes, steps, given = task.boxes(rec), list(task.steps(rec)), task.given(rec)
    kinks, wrong = rec.kinks(), messages.passes(rec) if task.sheet == "messages" else []
    numbers = [*map(rec.value, rec.items), *kinks]
    for box in boxes:
        numbers += [box.right, *(slip.gives for slip in box.slips)]
    numbers += messages.numbers(rec, wrong) if wrong else []
    domains = rec.form.domains
    found = {
        **rec.written(numbers),
        "domains": [domains.get(name, DOMAINS[level - 1]) for name in rec.form.leaves],
        "most": task.most or MOST[level - 1],
        "kinks": list(map(rec.place, kinks)),
        "shown": [
            [item.id, rec.place(rec.value(item)), "" if is_plain_number(item) else "data "]
            for item in ([] if task.looks else rec.items)
        ],
        "given": [[node, slot, rec.placed(text)] for node, slot, text in given],
        "boxes": [_told(rec, box) for box in boxes],
        "steps": placed(rec, steps),
    }
    found |= messages.described(rec, wrong) if wrong else {}
    _tell_apart(found)
    settle(found)
    return found


def _told(rec: Recording, box: Box) -> dict[str, Any]:
    return {
        "node": box.item.id,
        "name": box.name or box.item.label,
        "slot": box.slot,
        **({"column": box.column} if box.column[1] > 1 else {}),
        **({"part": box.part} if box.part else {}),
        "label": box.label,
        "says": box.says,
        "hint": box.hint,
        "right": rec.place(box.right),
        "slips": [
            [slip.name, rec.place(slip.gives), rec.placed(slip.says), slip.edge]
            for slip in box.slips
        ],
    }


def _tell_apart(found: dict[str, Any]) -> None:
    """Leave out mistakes that always give the right number, or the number of another mistake."""
    dice, runs = Series("generic"), []
    for _ in range(GENERIC):
        leaves = [dice.choose(d) * (1 + dice.below(99) / 997) for d in found["domains"]]
        runs.append(values_of(found, leaves))

    def results(place: int) -> tuple[float, ...]:
        return tuple(float(f"{run[place]:.9g}") for run in runs)

    def apart(right: int, made: Iterable[Any], gives: Callable[[Any], int]) -> list[Any]:
        known, kept = {results(right)}, []
        for each in made:
            if results(gives(each)) not in known:
                known.add(results(gives(each)))
                kept.append(each)
        return kept

    for box in found["boxes"]:
        box["slips"] = apart(box["right"], box["slips"], lambda slip: int(slip[1]))
    if "edges" in found:
        passes = found["variants"]
        found["variants"] = [
            kept
            for i, edge in enumerate(found["edges"])
            for kept in apart(
                edge["right"],
                [variant for variant in passes if variant["fault"] == i],
                lambda variant: int(variant["sent"][variant["fault"]]),
            )
        ]


# --- pictures -----------------------------------------------------------------------------------


@functools.cache
def pictures(kind: str, level: int, number: int) -> tuple[str, ...]:
    """Draw the graph from left to right and from the top down, with room for numbers, as SVG."""
    task = KINDS[kind]
    text = task.forms(level)[number]
    looks = task.looks(text) if task.looks else _looks(task, Recording(text))
    alt = describe("Graph", [each.item for each in looks], False, False)
    carried = ROOM[0].removeprefix("data ") if task.sheet == "messages" else ""
    drawn = (draw(looks, direction, gap, alt, carried=carried) for direction, gap in LAYOUTS)
    return tuple(ET.tostring(root, encoding="unicode") for root in drawn)


def _looks(task: Kind, rec: Recording) -> list[Look]:
    """Return nodes with their values and gradients, and room for the numbers to fill in."""
    asked = dict[str, list[str]]()
    for box in task.boxes(rec):
        asked.setdefault(box.item.id, []).append(box.slot)
    with_grads = rec.moving if task.sheet == "messages" else [rec.items[-1]]
    found = []
    for item in rec.items:
        slots = asked.get(item.id, [])
        shown = ["data", *["grad"] * (item in with_grads and not slots)]
        names = (
            ("", "", "000")
            if is_plain_number(item)
            else (rec.names.full_name(item), item.op, *ROOM)
        )
        title, note, *widest = names
        found.append(look(item, title, note, room(shown, slots), *widest))
    return found
