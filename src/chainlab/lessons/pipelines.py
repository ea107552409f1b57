"""What *Pipelines* draws: who does which piece of a training step, when, and who waits."""

from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import NamedTuple

from chainview import Figure

HERE = files(__package__)
STAGES, MICROBATCHES = range(1, 9), range(1, 13)
STAGE, MICROBATCH = 4, 1  # at first
JOINED, SPLIT = {"F": 1, "B": 2}, {"F": 1, "B": 1, "W": 1}  # turns that a piece takes
KINDS = {"F": "forward", "B": "backward", "W": "backward, weights only"}


class Piece(NamedTuple):
    """What a device does at some time: forward, backward, or the weights' gradient alone."""

    device: int
    kind: str
    microbatch: int
    begin: int


class Schedule(NamedTuple):
    """A name, what a device prefers, and how long the pieces take."""

    name: str
    rule: str
    length: dict[str, int]

    def room(self, p: int, m: int) -> list[int]:
        """Return how many microbatches each of `p` devices may hold, of `m`."""
        if self.rule == "FB":
            return [m] * p
        return [p + 1] * p if self.rule == "BFW" else [p - s for s in range(p)]


SCHEDULES = (
    Schedule("all forward first", "FB", JOINED),
    Schedule("one forward, one backward", "BF", JOINED),
    Schedule("backward in two halves", "BFW", SPLIT),
)


def pipeline(
    p: int, m: int, rule: str, room: Sequence[int], length: dict[str, int], message: int = 0
) -> list[Piece]:
    """Return what each of `p` devices does with `m` microbatches, in the order of time.

    Args:
        p, m: how many devices and microbatches there are.
        rule: the kinds of work, by preference.
        room: how many microbatches each device may hold.
        length: the turns that each kind takes.
        message: the turns between a piece and the piece on another device that needs it.

    Raises:
        ValueError: a device has no room, so that it would wait for ever.

    >>> [piece.begin for piece in pipeline(2, 1, "FB", [1, 1], JOINED)]
    [0, 1, 2, 4]
    """
    if len(room) != p or min(room) < 1:
        raise ValueError(f"pipeline: room for one microbatch or more on each of {p}, not {room}")
    pieces: list[Piece] = []
    done: dict[tuple[str, int, int], int] = {}
    turn, free, frees = 0, [0] * p, "W" if "W" in rule else "B"
    count = [dict.fromkeys(rule, 0) for _ in range(p)]

    def came(kind: str, i: int, s: int, way: int = 0) -> bool:
        return done.get((kind, i, s), turn + 1) + way <= turn

    while len(pieces) < p * m * len(rule):
        for s, n in enumerate(count):
            may = {
                "F": n["F"] < min(m, n[frees] + room[s])
                and (s == 0 or came("F", n["F"], s - 1, message)),
                "B": came("F", n["B"], s) and (s == p - 1 or came("B", n["B"], s + 1, message)),
                "W": "W" in n and came("B", n["W"], s),
            }
            kind = next((kind for kind in rule if may[kind] and free[s] <= turn), None)
            if kind:
                pieces.append(Piece(s, kind, n[kind], turn))
                free[s] = done[kind, n[kind], s] = turn + length[kind]
                n[kind] += 1
        turn += 1
    return pieces


def ends(pieces: Sequence[tuple[int, str, int, int]], length: dict[str, int]) -> int:
    """Return the turn at which the last piece is done."""
    return max(begin + length[kind] for _, kind, _, begin in pieces)


def idle(pieces: Sequence[tuple[int, str, int, int]], length: dict[str, int]) -> float:
    """Return the share of all devices' time in which they wait."""
    devices = len({device for device, *_ in pieces})
    work = sum(length[kind] for _, kind, *_ in pieces)
    return 1 - work / (devices * ends(pieces, length))


def held(pieces: Sequence[tuple[int, str, int, int]]) -> list[int]:
    """Return how many microbatches each device holds at once, at most."""
    kinds = {kind for _, kind, *_ in pieces}
    frees = "W" if "W" in kinds else "B"
    now: dict[int, int] = {}
    most: dict[int, int] = {}
    for device, kind, _, _ in sorted(pieces, key=lambda piece: piece[3]):
        now[device] = now.get(device, 0) + (kind == "F")
        most[device] = max(most.get(device, 0), now[device])
        now[device] -= kind == frees
    return [most[device] for device in sorted(most)]


def timeline() -> Figure:
    """Show a pipeline's schedule, and let readers change it.

    >>> print(timeline())  # doctest: +ELLIPSIS
    <Figure: Who works when: a row for each device. Done after 12 turns; each device is idle ...
    """
    schedule = SCHEDULES[0]
    pieces = pipeline(STAGE, MICROBATCH, schedule.rule, [MICROBATCH] * STAGE, JOINED)
    picks = "".join(
        f'<button type="button" aria-pressed="{str(not i).lower()}">{its.name}</button>'
        for i, its in enumerate(SCHEDULES)
    )
    controls = (
        f'<div class="cg-controls" hidden><div class="cg-picks">{picks}</div>'
        f"{_slider('microbatches', MICROBATCHES, MICROBATCH)}"
        f"{_slider('devices', STAGES, STAGE)}</div>"
    )
    return _figure(pieces, schedule.length, controls, {"schedules": [its[1:] for its in SCHEDULES]})


def draw(pieces: Sequence[tuple[int, str, int, int]], length: dict[str, int]) -> Figure:
    """Draw the pieces of a schedule, a row for each device.

    Args:
        pieces: device, kind, microbatch and the turn at which it begins.
        length: the turns that each kind takes.
    """
    return _figure(pieces, length)


def _slider(name: str, values: range, value: int) -> str:
    return (
        f'<label>{name} <b>{value}</b><input type="range" min="{values[0]}" max="{values[-1]}" '
        f'value="{value}" autocomplete="off"></label>'
    )


def _figure(
    pieces: Sequence[tuple[int, str, int, int]],
    length: dict[str, int],
    controls: str = "",
    data: object = None,
) -> Figure:
    turns, most = ends(pieces, length), held(pieces)
    rows = "".join("".join(_row(s, most[s], pieces, length, turns)) for s in range(len(most)))
    words = _words(turns, idle(pieces, length), max(most))
    kinds = [kind for kind in KINDS if data or kind in length]
    key = "".join(
        f'<span{" hidden" * (kind not in length)}><i class="cg-{kind}"></i> {KINDS[kind]}</span>'
        for kind in kinds
    )
    inside = (
        f'{controls}<div class="cg-rows">{rows}</div>'
        f'<p class="cg-key">{key}<span><i></i> idle</span></p>'
        f'<p class="cg-words"{" role=status" * bool(data)}>{words}</p>'
    )
    title = "Who works when: a row for each device"
    told = words.replace("<b>", "").replace("</b>", "")
    script = HERE / "pipelines.bundle.js" if data else None
    sheet = HERE / "pipelines.css"
    return Figure(f"{title}. {told}", data, inside, "pipeline", [sheet], script, _title=title)


def _row(
    s: int,
    most: int,
    pieces: Sequence[tuple[int, str, int, int]],
    length: dict[str, int],
    turns: int,
) -> Iterator[str]:
    yield f'<div class="cg-row"><span><span>device</span> {s + 1}</span><div class="cg-line">'
    for device, kind, i, begin in pieces:
        if device == s:
            left, width = 100 * begin / turns, 100 * length[kind] / turns
            yield f'<i class="cg-{kind}" style="left:{left:.3f}%;width:{width:.3f}%">{i + 1}</i>'
    yield f'</div><span class="cg-held"><span>holds</span> {most}</span></div>'


def _words(turns: int, share: float, most: int) -> str:
    percent = int(100 * share + 0.5)
    return (
        f"Done after <b>{turns}</b> turns; each device is idle <b>{percent} %</b> of the "
        f"time, and one holds up to <b>{most}</b> of the microbatches."
    )
