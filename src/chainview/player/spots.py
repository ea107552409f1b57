"""Where what an arrow carries is written: above and below it, or beside it, clear of all boxes."""

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Sequence

Place = tuple[float, float]
Box = tuple[float, float, float, float]  # left, top, right, bottom

_UP, _DOWN = 11.0, 4.0  # from a line of text to its top and its bottom
_MARGIN = 3.0
_ALONG = (0.5, 0.44, 0.56, 0.38, 0.62, 0.32, 0.68, 0.26, 0.74, 0.2, 0.8, 0.15, 0.85)  # of an arrow
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_STEPS = 16  # into which each curve of an arrow is cut


def spots(
    path: str, widths: tuple[float, float], taken: Sequence[Box], frame: Box
) -> tuple[Place, Place]:
    """Choose the middles of two lines of text at an arrow.

    They are above and below it or, where it's steep, to its left and right, near the middle of the
    arrow: at the first place where they cover nothing, or at the one where they cover the least.

    Args:
        path: the arrow, as Graphviz draws it.
        widths: of the two texts.
        taken: what they should not cover.
        frame: what they should stay within.
    """
    best, least = None, math.inf
    for choice in _choices(path, widths):
        cost = sum(_cost(box, taken, frame) for box in boxes(choice, widths))
        if cost < least:
            best, least = choice, cost
        if not cost:
            break
    assert best is not None
    return best


def boxes(spots: Iterable[Place], widths: Iterable[float]) -> list[Box]:
    """Return the boxes around texts of these widths with their middles at these places."""
    return [
        (x - width / 2, y - _UP, x + width / 2, y + _DOWN)
        for (x, y), width in zip(spots, widths, strict=True)
        if width
    ]


def _choices(path: str, widths: tuple[float, float]) -> Iterator[tuple[Place, Place]]:
    """Yield pairs of places, the best first."""
    points = _points(path)
    places = [_at(points, part) for part in _ALONG]
    first, second = (width / 2 for width in widths)
    ways = [True, False]
    for is_across in ways if _is_flat(points) else ways[::-1]:
        for x, y, slope in places:
            if is_across:
                lift = min(abs(slope) * max(first, second), 12.0)
                yield (x, y - 6 - lift), (x, y + 15 + lift)
            else:
                yield (x - 7 - first, y + 4), (x + 7 + second, y + 4)
    for x, y, _ in places:
        for side in (1, -1):
            yield (x + side * (7 + first), y - 4), (x + side * (7 + second), y + 12)


def _points(path: str) -> list[Place]:
    """Return places along a path of cubic curves."""
    numbers = list(map(float, _NUMBER.findall(path)))
    corners = list(zip(numbers[::2], numbers[1::2], strict=True))
    points = corners[:1]
    for i in range(0, len(corners) - 1, 3):
        p, q, r, s = corners[i : i + 4]
        for k in range(1, _STEPS + 1):
            t = k / _STEPS
            parts = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
            x, y = (sum(part * c[axis] for part, c in zip(parts, (p, q, r, s), strict=True))
                    for axis in (0, 1))  # fmt: skip
            points.append((x, y))
    return points


def _is_flat(points: Sequence[Place]) -> bool:
    _, _, slope = _at(points, 0.5)
    return abs(slope) < 1.2


def _at(points: Sequence[Place], part: float) -> tuple[float, float, float]:
    """Return the place on a way after this part of its length, and how steep it is there."""
    left = part * sum(map(math.dist, points, points[1:]))
    for (x, y), (u, v) in itertools.pairwise(points):
        step = math.dist((x, y), (u, v))
        if left <= step or (u, v) == points[-1]:
            share = min(1.0, left / step) if step else 0.0
            slope = (v - y) / (u - x) if u != x else math.inf
            return x + (u - x) * share, y + (v - y) * share, slope
        left -= step
    raise AssertionError("a way has an end")


def _cost(box: Box, taken: Iterable[Box], frame: Box) -> float:
    """Return the area of a box that covers others, or is outside of the frame."""
    left, top, right, bottom = box
    whole = (right - left) * (bottom - top)
    outside = whole - _common(box, frame)
    return outside + sum(
        _common(box, (a - _MARGIN, b - _MARGIN, c + _MARGIN, d + _MARGIN)) for a, b, c, d in taken
    )


def _common(one: Box, other: Box) -> float:
    """Return the area that two boxes have in common."""
    across = min(one[2], other[2]) - max(one[0], other[0])
    down = min(one[3], other[3]) - max(one[1], other[1])
    return max(0.0, across) * max(0.0, down)
