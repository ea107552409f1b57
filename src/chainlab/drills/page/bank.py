"""The problems of a level in a few files, and the pictures of its graphs."""

import functools
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import Any

from chainlab.drills.kinds.kind import LEVELS
from chainlab.drills.problem import KINDS, problem
from chainview.draw.boxes import Direction
from chainview.player.picture import NOTHING, draw
from chainview.read.words import describe

PROBLEMS = 200  # of each level, on the page; after them the series begins anew
A_FILE = 50  # of these
PLACES = re.compile(r'(?<= d=")[^"]*|(?<= points=")[^"]*')
LAYOUTS: tuple[tuple[Direction, float], ...] = (("LR", 60), ("TB", 26))


def names(kind: str) -> Iterator[tuple[str, int, int]]:
    """Yield the files of a kind: the name of each, its level, and its first problem."""
    for level in LEVELS:
        for part, first in enumerate(range(1, PROBLEMS + 1, A_FILE)):
            yield f"{kind}-{level}-{part}", level, first


def bank(kind: str, level: int, first: int) -> str:
    """Return a file's problems from the first on, graph by graph, as a page reads them.

    Problems of one graph have most of their words in common. They stand together, because what
    compresses the file on its way looks back no further than 32 kB.
    """
    drawings = [pictures(kind, level, number) for number in range(len(KINDS[kind].forms(level)))]
    problems: list[dict[int, Any]] = [{} for _ in drawings]
    for seed in range(first, first + A_FILE):
        drawn = problem(kind, level, seed)
        problems[drawn.number][seed] = {"entry": drawn.entry, "names": drawn.names}
    graphs = [{"pictures": drawing, "problems": drawn}
              for drawing, drawn in zip(drawings, problems, strict=True)]  # fmt: skip
    return json.dumps(graphs, ensure_ascii=False, separators=(",", ":"))


@functools.cache
def pictures(kind: str, level: int, number: int, carries: bool = True) -> tuple[str, ...]:
    """Draw a graph from left to right and from the top down, with room for numbers, as SVG.

    Args:
        kind, level, number: which graph.
        carries: whether its arrows need room for what they carry.
    """
    task = KINDS[kind]
    looks = task.looks(task.forms(level)[number])
    alt = describe("Graph", [each.item for each in looks], False, False)
    carried = task.carried if carries else NOTHING
    drawn = (draw(looks, direction, gap, alt, carried=carried) for direction, gap in LAYOUTS)
    return tuple(_brief(ET.tostring(root, encoding="unicode")) for root in drawn)


def _brief(picture: str) -> str:
    """Leave out of the paths of a picture what says nothing: of curves, parts of a pixel."""
    return PLACES.sub(_shorter, picture).replace(" />", "/>")


def _shorter(place: re.Match[str]) -> str:
    digits = 0 if "C" in place[0] else 1
    return re.sub(r"-?\d+\.\d+", lambda x: f"{round(float(x[0]), digits):g}", place[0])
