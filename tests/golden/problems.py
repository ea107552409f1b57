"""Forty problems of each kind and level: numbers, boxes, right answers, mistakes, sentences."""

import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import Any

from chainlab.drills import KINDS, problem, typed
from chainlab.drills.bank import pictures
from chainlab.drills.equations import form
from chainlab.drills.kinds import LEVELS
from chainlab.drills.problem import Problem, exact
from chainlab.mistakes import MISTAKES
from tests.golden.record import Entry

SEEDS = range(1, 41)


def entries() -> Iterator[Entry]:
    yield "lessons", {name: row.lesson for name, row in MISTAKES.items()}
    for kind, task in KINDS.items():
        yield f"{kind}", {"title": task.title, "asks": task.asks, "sheet": task.sheet}
        for level in LEVELS:
            for number in range(len(task.forms(level))):
                yield f"{kind}-{level} graph {number}", list(_drawn(kind, level, number))
            for seed in SEEDS:
                drawn = problem(kind, level, seed)
                yield drawn.name, _told(drawn)


def _drawn(kind: str, level: int, number: int) -> Iterator[Any]:
    """The words of the pictures of a graph."""
    for picture in pictures(kind, level, number):
        root = ET.fromstring(picture)
        yield [
            root.get("aria-label"),
            *(words for words in map(str.strip, root.itertext()) if words),
        ]


def _told(drawn: Problem) -> dict[str, Any]:
    """A problem as its reader sees it, without the places of its numbers."""
    entry = drawn.entry

    def say(text: Any) -> Any:
        if isinstance(text, str):
            known = drawn.names
            return re.sub(
                r"\{(n\d+)\}", lambda mark: known.get(mark[1], mark[0]), drawn.filled(text)
            )
        if isinstance(text, list | tuple):
            return list(map(say, text))
        return text

    def at(place: int) -> str:
        return exact(drawn.values[place])

    told: dict[str, Any] = {
        "graph": drawn.number,
        "names": dict(drawn.names),
        "leaves": list(drawn.leaves),
        "shown": [[node, text + at(place)] for node, place, text in entry["shown"]],
        "given": say(entry["given"]),
        "steps": say(entry["steps"]),
        "known": {name: matrix.tolist() for name, matrix in drawn.known.items()},
        "boxes": [
            {
                **{key: box[key] for key in ("node", "name", "slot", "label", "says")},
                "hint": say(box["hint"]),
                "right": at(box["right"]),
                "wrong": [
                    [name, at(gives), say(says), edge]
                    for name, gives, says, edge in box["slips"]
                    if math.isfinite(drawn.values[gives])
                ],
            }
            for box in entry["boxes"]
        ],
    }
    for key in ("letters", "children", "says", "why", "wrong", "order", "right", "matrices", "made",
                "text", "seed", "tray", "lines", "forward", "names", "typed"):  # fmt: skip
        if key in entry:
            told[f"asked {key}"] = say_all(entry[key], say)
    if drawn.variant:
        edge = entry["edges"][drawn.variant["fault"]]
        told["fault"] = {
            "name": drawn.variant["name"],
            "says": say(drawn.variant["says"]),
            "at": {key: say(edge[key]) for key in ("parent", "child", "ends", "label", "says")},
            "local": at(edge["local"]),
            "right": at(edge["right"]),
            "sent": list(map(at, drawn.variant["sent"])),
            "sums": {node: at(place) for node, place in drawn.variant["sums"].items()},
        }
    if "typed" in entry:
        told["verdicts"] = list(_verdicts(drawn))
    return told


def say_all(data: Any, say: Any) -> Any:
    if isinstance(data, dict):
        return {key: say_all(value, say) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [say_all(value, say) for value in data]
    return say(data)


def _verdicts(drawn: Problem) -> Iterator[list[Any]]:
    """What is said of the right lines, and of each mistake in each line."""
    right = [line["right"] for line in drawn.entry["typed"]]
    of = form(KINDS[drawn.kind].forms(drawn.level)[drawn.number])
    tried = [right]
    for place, slips in enumerate(of.slips):
        tried += [[*right[:place], slip.text, *right[place + 1 :]] for slip in slips]
    for lines in tried:
        verdict = typed.judge(drawn, lines)
        yield [lines, list(verdict.marks), verdict.at, list(verdict.wrong), verdict.words]
