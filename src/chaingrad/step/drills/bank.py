"""What a problem needs beside its seed: a graph, and the program that gives all its numbers."""

import functools
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from typing import Any

from chaingrad.draw.boxes import Direction
from chaingrad.draw.items import Item
from chaingrad.draw.words import describe
from chaingrad.step.drills.fit import Entry, settle
from chaingrad.step.drills.forms import DOMAINS, Form
from chaingrad.step.drills.kinds import KINDS
from chaingrad.step.drills.recording import Recording
from chaingrad.step.drills.series import Series
from chaingrad.step.drills.tasks import Box, placed
from chaingrad.step.names import is_bare
from chaingrad.step.picture import Look, draw
from chaingrad.step.program import Program

MOST = (30.0, 60.0, 99.0)  # the largest number of a level
GENERIC = 5  # settings that tell apart what is not the same
LAYOUTS: tuple[tuple[Direction, float], ...] = (("LR", 60), ("TB", 26))
ROOM = ("data −000", "data −0/00")  # the widest that is written into a node


@functools.cache
def entry(kind: str, level: int, number: int) -> Entry:
    """One graph of a kind and level, as a page and `problem` read it, without its pictures."""
    task = KINDS[kind]
    form = Form.parse(task.levels[level - 1][number])
    rec = _recording(kind, level, number)
    boxes = task.boxes(rec)
    steps = list(task.steps(rec))
    outputs = {f"data {item.id}": rec.value(item) for item in rec.items}
    for i, box in enumerate(boxes):
        outputs[f"right {i}"] = box.right
        outputs |= {f"slip {i} {j}": slip.gives for j, slip in enumerate(box.slips)}
    outputs |= {f"kink {i}": number for i, number in enumerate(rec.kinks())}
    program = rec.written(outputs)
    places = program.pop("places")
    domains = [form.domains.get(name, DOMAINS[level - 1]) for name in form.leaves]
    told = [_told(rec, box, i, places) for i, box in enumerate(boxes)]
    _tell_apart(told, Program(program["constants"], program["code"], (), 0, ()), domains)
    root = rec.items[-1]
    found = {
        **program,
        "domains": domains,
        "most": MOST[level - 1],
        "kinks": [place for name, place in places.items() if name.startswith("kink")],
        "shown": [
            [item.id, places[f"data {item.id}"], "" if is_bare(item) else "data "]
            for item in rec.items
        ],
        "given": [[root.id, "grad", "grad 1"]] if boxes[0].slot == "grad" else [],
        "boxes": told,
        "steps": placed(rec, steps),
    }
    settle(found)
    return found


def _told(rec: Recording, box: Box, i: int, places: Mapping[str, int]) -> dict[str, Any]:
    return {
        "node": box.item.id,
        "name": box.item.label,
        "slot": box.slot,
        "label": box.label,
        "says": box.says,
        "hint": box.hint,
        "right": places[f"right {i}"],
        "slips": [
            [slip.name, places[f"slip {i} {j}"], rec.placed(slip.says), slip.edge]
            for j, slip in enumerate(box.slips)
        ],
    }


def _tell_apart(
    boxes: Sequence[dict[str, Any]], program: Program, domains: Sequence[Sequence[float]]
) -> None:
    """Leave out mistakes that always give what is right, or what another gives."""
    dice = Series("generic")
    settings = [
        [dice.choose(d) * (1 + dice.below(99) / 997) for d in domains] for _ in range(GENERIC)
    ]
    runs = [program.run(values) for values in settings]

    def results(place: int) -> tuple[float, ...]:
        return tuple(float(f"{float(run[place]):.9g}") for run in runs)

    for box in boxes:
        known, kept = {results(box["right"])}, []
        for slip in box["slips"]:
            gives = results(slip[1])
            if gives not in known:
                known.add(gives)
                kept.append(slip)
        box["slips"] = kept


# --- pictures -----------------------------------------------------------------------------------


@functools.cache
def pictures(kind: str, level: int, number: int) -> tuple[str, ...]:
    """The graph from left to right and from the top down, with places for numbers, as SVG."""
    rec = _recording(kind, level, number)
    slots: dict[str, list[str]] = {}
    for box in KINDS[kind].boxes(rec):
        slots.setdefault(box.item.id, []).append(box.slot)
    alt = describe("Graph", rec.items, False, False)
    looks = [_look(rec, item, slots.get(item.id, [])) for item in rec.items]
    drawn = (draw(looks, direction, gap, alt) for direction, gap in LAYOUTS)
    return tuple(ET.tostring(root, encoding="unicode") for root in drawn)


def _recording(kind: str, level: int, number: int) -> Recording:
    form = Form.parse(KINDS[kind].levels[level - 1][number])
    values = [form.domains.get(name, DOMAINS[0])[0] for name in form.leaves]
    return Recording(form.run(values), form.leaves)


def _look(rec: Recording, item: Item, asked: Sequence[str]) -> Look:
    """A node with its value, and two lines of room for each number that is asked for."""
    is_root = item is rec.items[-1]
    lines: list[tuple[str, ...]] = [("data",)]
    for slot in asked:
        lines += [(slot,), ()]
    if is_root and not asked:
        lines.append(("grad",))
    return Look(
        item,
        "" if is_bare(item) else rec.names.whole(item),
        "" if is_bare(item) else item.op,
        tuple(lines),
        ("000",) if is_bare(item) else ROOM,
        {"operation": "node", "constant": "constant"}.get(item.kind, "leaf"),
    )
