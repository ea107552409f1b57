"""Four problems of each kind and level: numbers, boxes, right answers, mistakes, sentences."""

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import Any

from chainlab.drills import KINDS, problem
from chainlab.drills.draw.small_numbers import exact
from chainlab.drills.kinds.kind import LEVELS, Problem
from chainlab.drills.kinds.numpy_equations import form
from chainlab.drills.page import typed
from chainlab.drills.page.bank import pictures
from chainlab.mistakes import MISTAKES
from tests.golden.record import Entry

SEEDS = range(1, 5)


def entries() -> Iterator[Entry]:
    yield "lessons", {name: row.lesson for name, row in MISTAKES.items()}
    for kind, task in KINDS.items():
        yield (
            f"{kind}",
            {"title": task.title, "asks": list(map(task.asks, LEVELS)), "sheet": task.sheet},
        )
        for level in LEVELS:
            for number in range(len(task.forms(level))):
                yield f"{kind}-{level}: graph {number}", list(_drawn(kind, level, number))
            for seed in SEEDS:
                drawn = problem(kind, level, seed)
                yield f"{kind}-{level}: {seed}", _told(drawn)


def _drawn(kind: str, level: int, number: int) -> Iterator[Any]:
    """The words of the pictures of a graph."""
    for picture in pictures(kind, level, number):
        root = ET.fromstring(picture)
        yield [
            root.get("aria-label"),
            *(words for words in map(str.strip, root.itertext()) if words),
        ]


def _told(drawn: Problem) -> dict[str, Any]:
    """A problem as its reader sees it."""
    entry = drawn.entry
    told: dict[str, Any] = {
        "graph": drawn.number,
        "names": dict(drawn.names),
        "leaves": list(drawn.leaves),
        "known": {name: matrix.tolist() for name, matrix in drawn.known.items()},
        **{key: value for key, value in entry.items() if key != "boxes"},
        "boxes": [
            {
                **box,
                "right": exact(box["right"]),
                "mistakes": [
                    [name, None if gives is None else exact(gives), says, edge]
                    for name, gives, says, edge in box["mistakes"]
                ],
            }
            for box in entry.get("boxes", [])
        ],
    }
    if "typed" in entry:
        told["verdicts"] = list(_verdicts(drawn))
    return told


def _verdicts(drawn: Problem) -> Iterator[list[Any]]:
    """What is said of the right lines, and of each mistake in each line."""
    right = [line["right"] for line in drawn.entry["typed"]]
    of = form(KINDS[drawn.kind].forms(drawn.level)[drawn.number])
    tried = [right]
    for place, slips in enumerate(of.slips):
        tried += [[*right[:place], slip.gives, *right[place + 1 :]] for slip in slips]
    for lines in tried:
        verdict = typed.judge(drawn, lines)
        yield [lines, list(verdict.marks), verdict.at, list(verdict.wrong), verdict.words]
