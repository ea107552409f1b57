"""The problems of a level as one file, and the pictures of its graphs."""

import functools
import json
import re
import xml.etree.ElementTree as ET

from chainlab.drills.kinds import KINDS
from chainlab.drills.pack import Packed
from chainlab.drills.problem import problem
from chainview.draw.boxes import Direction
from chainview.player.picture import draw
from chainview.read.words import describe

PROBLEMS = 200  # of each level, on the page; after them the series begins anew
PLACES = re.compile(r'(?<= d=")[^"]*|(?<= points=")[^"]*')
LAYOUTS: tuple[tuple[Direction, float], ...] = (("LR", 60), ("TB", 26))


def bank(kind: str, level: int) -> str:
    """Return the problems of a level, graph by graph, as a page reads them."""
    graphs = []
    count = len(KINDS[kind].forms(level))
    for number in range(count):
        drawn = [problem(kind, level, seed) for seed in range(number + 1, PROBLEMS + 1, count)]
        packed = Packed([{"entry": one.entry, "names": one.names} for one in drawn])
        shown = pictures(kind, level, number)
        graphs.append({"pictures": shown, "form": packed.form, "columns": packed.columns})
    return json.dumps(graphs, ensure_ascii=False, separators=(",", ":"))


@functools.cache
def pictures(kind: str, level: int, number: int) -> tuple[str, ...]:
    """Draw a graph from left to right and from the top down, with room for numbers, as SVG."""
    task = KINDS[kind]
    looks = task.looks(task.forms(level)[number])
    alt = describe("Graph", [each.item for each in looks], False, False)
    drawn = (draw(looks, direction, gap, alt, carried=task.carried) for direction, gap in LAYOUTS)
    return tuple(_brief(ET.tostring(root, encoding="unicode")) for root in drawn)


def _brief(picture: str) -> str:
    """Leave out of the paths of a picture what says nothing: of curves, parts of a pixel."""
    return PLACES.sub(_shorter, picture).replace(" />", "/>")


def _shorter(place: re.Match[str]) -> str:
    digits = 0 if "C" in place[0] else 1
    return re.sub(r"-?\d+\.\d+", lambda x: f"{round(float(x[0]), digits):g}", place[0])
