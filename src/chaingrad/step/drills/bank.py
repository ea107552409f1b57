"""What a problem needs beside its seed: a graph, and the program that gives all its numbers."""

import functools
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from chaingrad.draw.boxes import Direction
from chaingrad.draw.items import Item
from chaingrad.draw.words import describe
from chaingrad.step.drills import equations, keep, messages, orders, tiles
from chaingrad.step.drills.fit import Entry, settle
from chaingrad.step.drills.forms import DOMAINS, Form
from chaingrad.step.drills.kinds import KINDS
from chaingrad.step.drills.recording import Recording
from chaingrad.step.drills.series import Series
from chaingrad.step.drills.tasks import Box, placed
from chaingrad.step.names import Names, is_bare
from chaingrad.step.picture import Look, draw
from chaingrad.step.program import Program

MOST = (30.0, 60.0, 99.0)  # the largest number of a level
GENERIC = 5  # settings that tell apart what is not the same
LAYOUTS: tuple[tuple[Direction, float], ...] = (("LR", 60), ("TB", 26))
ROOM = ("data −000", "data −0/00")  # the widest that is written into a node
EMPTY: Mapping[str, Any] = {  # of problems without numbers
    key: [] for key in ("constants", "code", "domains", "kinks", "shown", "given", "boxes")
} | {"most": 0.0}


@functools.cache
def entry(kind: str, level: int, number: int) -> Entry:
    """One graph of a kind and level, as a page and `problem` read it, without its pictures."""
    task = KINDS[kind]
    if task.sheet == "order":
        graph = orders.Graph(task.forms(level)[number])
        return {**EMPTY, **orders.described(graph), "steps": list(orders.steps(graph))}
    if task.sheet == "keep":
        return {**EMPTY, **keep.described(keep.Graph(task.forms(level)[number]))}
    if task.sheet == "tiles":
        return {**EMPTY, **tiles.described(task.forms(level)[number], level)}
    if task.sheet == "typed":
        return {**EMPTY, **equations.described(task.forms(level)[number])}
    form = Form.parse(task.forms(level)[number])
    rec = _recording(form)
    boxes = task.boxes(rec) if task.sheet == "boxes" else []
    steps = list(task.steps(rec))
    given = task.given(rec) if task.given else []
    outputs = {f"data {item.id}": rec.value(item) for item in rec.items}
    outputs |= {f"kink {i}": x for i, x in enumerate(rec.kinks())}
    for i, box in enumerate(boxes):
        outputs[f"right {i}"] = box.right
        outputs |= {f"slip {i} {j}": slip.gives for j, slip in enumerate(box.slips)}
    wrong = messages.faults(rec) if task.sheet == "messages" else []
    outputs |= messages.outputs(rec, wrong) if wrong else {}
    program = rec.written(outputs)
    places = program.pop("places")
    found = {
        **program,
        "domains": [form.domains.get(name, DOMAINS[level - 1]) for name in form.leaves],
        "most": task.most or MOST[level - 1],
        "kinks": [place for name, place in places.items() if name.startswith("kink")],
        "shown": [
            [item.id, places[f"data {item.id}"], "" if is_bare(item) else "data "]
            for item in ([] if task.looks else rec.items)
        ],
        "given": [] if kind == "local" else [[rec.items[-1].id, "grad", "grad 1"]],
        "boxes": [_told(rec, box, i, places) for i, box in enumerate(boxes)],
        "steps": placed(rec, steps),
    }
    if task.given:
        found["given"] = [[node, slot, rec.placed(text)] for node, slot, text in given]
    found |= messages.described(rec, wrong, places) if wrong else {}
    _tell_apart(found)
    settle(found)
    return found


def _told(rec: Recording, box: Box, i: int, places: Mapping[str, int]) -> dict[str, Any]:
    return {
        "node": box.item.id,
        "name": box.name or box.item.label,
        "slot": box.slot,
        **({"column": box.column} if box.column[1] > 1 else {}),
        "label": box.label,
        "says": box.says,
        "hint": box.hint,
        "right": places[f"right {i}"],
        "slips": [
            [slip.name, places[f"slip {i} {j}"], rec.placed(slip.says), slip.edge]
            for j, slip in enumerate(box.slips)
        ],
    }


def _tell_apart(found: dict[str, Any]) -> None:
    """Leave out mistakes that always give what is right, or what another gives."""
    program = Program(found["constants"], found["code"], (), 0, ())
    dice, runs = Series("generic"), []
    for _ in range(GENERIC):
        values = [dice.choose(d) * (1 + dice.below(99) / 997) for d in found["domains"]]
        runs.append(program.run(values))

    def results(place: int) -> tuple[float, ...]:
        return tuple(float(f"{float(run[place]):.9g}") for run in runs)

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
    """The graph from left to right and from the top down, with places for numbers, as SVG."""
    task = KINDS[kind]
    lines = task.forms(level)[number]
    carried = ROOM[0].removeprefix("data ") if task.sheet == "messages" else ""
    if task.sheet == "order":
        items = orders.Graph(lines).items
        looks = [_bare_look(item) for item in items]
    elif task.sheet == "keep":
        items = list(keep.Graph(lines).items.values())
        looks = [_bare_look(item, True) for item in items]
    elif task.sheet == "tiles":
        items = tiles.layer(lines).nodes
        looks = [_sized_look(Names(items), item) for item in items]
    elif task.sheet == "typed":
        looks = equations.looks(equations.form(lines))
        items = [look.item for look in looks]
    elif task.looks:
        looks = task.looks(_recording(Form.parse(lines)))
        items = [look.item for look in looks]
    else:
        rec = _recording(Form.parse(lines))
        items, slots = rec.items, dict[str, list[str]]()
        for box in task.boxes(rec) if task.sheet == "boxes" else ():
            slots.setdefault(box.item.id, []).append(box.slot)
        has_grads = rec.moving if carried else [rec.items[-1]]
        looks = [_look(rec, item, slots.get(item.id, []), item in has_grads) for item in rec.items]
    alt = describe("Graph", items, False, False)
    drawn = (draw(looks, direction, gap, alt, carried=carried) for direction, gap in LAYOUTS)
    return tuple(ET.tostring(root, encoding="unicode") for root in drawn)


def _recording(form: Form) -> Recording:
    values = [form.domains.get(name, DOMAINS[0])[0] for name in form.leaves]
    return Recording(form.run(values), form.leaves)


def _bare_look(item: Item, leaves: bool = False) -> Look:
    """A node that is only to be chosen, if it is no leaf, or leaves are, too."""
    color = {"operation": "node", "constant": "constant"}.get(item.kind, "leaf")
    lines = (("number",),) * (leaves or not item.is_leaf)
    return Look(item, item.label, item.op, lines, ("000000",), color)


def _sized_look(names: Names, item: Item) -> Look:
    """A node of an array, with its shape."""
    title = names.whole(item) if item.label or item.op == "transpose" or is_bare(item) else ""
    note = "" if item.op == "transpose" else item.op.replace("relu", "φ")
    color = {"operation": "node", "constant": "constant"}.get(item.kind, "leaf")
    return Look(item, title, note, (("data",),) * (not is_bare(item)), ("(0, 0)",), color)


def _look(rec: Recording, item: Item, asked: Sequence[str], has_grad: bool) -> Look:
    """A node with its value, and two lines of room for each number that is asked for."""
    lines: list[tuple[str, ...]] = [("data",)]
    for slot in asked:
        lines += [(slot,), ()]
    if has_grad and not asked:
        lines.append(("grad",))
    return Look(
        item,
        "" if is_bare(item) else rec.names.whole(item),
        "" if is_bare(item) else item.op,
        tuple(lines),
        ("000",) if is_bare(item) else ROOM,
        {"operation": "node", "constant": "constant"}.get(item.kind, "leaf"),
    )
