"""The race of the first page: one sweep back, against nudging each knob, and sending too soon.

The nets are small graphs of the engine, and what a lane has to do is counted on them. A net with
many knobs is too large to build for each place of a slider. So `arrows` counts two small ones and
goes on from there; a test holds it to the messages of larger ones.
"""

import html
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any

from chaingrad import Node
from chaingrad.messages import messages
from chaingrad.nn import Parameter
from chainview import Figure
from chainview.player.picture import SHEET as PICTURE
from chainview.player.picture import Look, draw, fill
from chainview.read.items import Item
from chainview.read.reading import read

HERE = files(__package__)
KNOBS = (2, 4, *(n * 10**k for k in range(1, 6) for n in (1, 2, 5)), 10**6)
NEURONS = range(5, 31)
GAP = 12  # pixels between two ranks
INSIDE = 4  # how many arrows a lane could cross while it is in the box that stands for many
UNITS = (("year", 365 * 86400), ("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1))
Edge = tuple[str, str]  # the ids of an operand and of what it is used for


# --- the nets, and what there is to do on them --------------------------------------------------


def tower(neurons: int) -> Node:
    """Build the loss of neurons on top of each other: the course's neuron, with two knobs each.

    With one neuron it is the graph that the first page starts from.
    """
    out, target = Node(1.5, "x"), Node(0.2, "target")
    for _ in range(neurons):
        p = out * Parameter(0.5, "w")
        z = p + Parameter(-0.2, "b")
        h = z.tanh()
        out = z + h
        p.label, z.label, h.label, out.label = "p", "z", "h", "out"
    error = out - target
    loss = error**2
    error.label, loss.label = "error", "loss"
    return loss


def stack(neurons: int) -> Node:
    """Build neurons on top of each other that have a weight each, and a skip past all of it."""
    out = Node(0.5, "x")
    for _ in range(neurons):
        p = Parameter(0.2, "w") * out
        h = p.tanh()
        out = out + h
        p.label, h.label, out.label = "p", "h", "out"
    return out


@cache
def arrows(knobs: int) -> int:
    """Count the arrows of a tower that has this many knobs, which are even.

    >>> arrows(2), arrows(4), arrows(1_000_000)
    (10, 17, 3500003)
    """
    one, two = (sum(1 for _ in messages(tower(neurons))) for neurons in (1, 2))
    return one + (two - one) * (knobs // 2 - 1)


def sent_at_once(root: Node) -> int:
    """Count the messages of a program in which each number passes on at once whatever it gets.

    It sends along every route from the root. Routes are not walked here: from a node on there are
    as many messages as its arrows, and those from each operand on.

    >>> [sent_at_once(stack(neurons)) for neurons in (5, 10, 15, 30)]
    [155, 5115, 163835, 5368709115]
    """
    sent: dict[Node, int] = {}
    for node in reversed(root.sorted_graph()):
        sent[node] = sum(1 + sent[parent] for parent in node.parents)
    return sent[root]


def in_words(seconds: float) -> str:
    """Say a time in its two largest units.

    >>> [in_words(s) for s in (1, 7.4, 999, 9_999, 999_999, 36e6)]  # doctest: +NORMALIZE_WHITESPACE
    ['1 second', '7 seconds', '16 minutes and 39 seconds', '2 hours and 47 minutes',
     '11 days and 14 hours', '1 year and 52 days']
    """
    for (large, size), (small, step) in pairwise(UNITS):
        steps = round(seconds / step)
        if steps * step >= size:
            whole, rest = divmod(steps, size // step)
            return _several(whole, large) + (f" and {_several(rest, small)}" if rest else "")
    return _several(round(seconds), "second")


def _several(count: int, unit: str) -> str:
    return f"{count:,} {unit}{'s' * (count != 1)}"


# --- what a page shows --------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A place of the slider.

    Attributes:
        size: how many knobs or neurons there are.
        arrows: how many arrows the net has; a run or a sweep over all of them takes a second.
        seconds: what the lane beside the sweep takes.
        totals: what each lane has to do, by its counters.
        behind: what the lane beside the sweep has done when the sweep has arrived.
        more: how many neurons one box stands for.
        swept: what is said when the sweep has arrived.
        ended: what is said when the other lane has arrived, too.
    """

    size: int
    arrows: int
    seconds: float
    totals: Sequence[Sequence[int]]
    behind: Sequence[int]
    more: int
    swept: str
    ended: str


@dataclass(frozen=True, kw_only=True)
class Contest:
    """What the sweep races against.

    Attributes:
        name: by which the script knows it.
        button: what the reader presses for it.
        unit: what the slider counts.
        asks: what is said before the start.
        lanes: what stands above them.
        counters: what is counted in them.
        settings: the places of the slider.
        start: the one to begin with.
        sweep: when the sweep has arrived, in seconds.
    """

    name: str
    button: str
    unit: str
    asks: str
    lanes: tuple[str, str]
    counters: Sequence[str]
    settings: Sequence[Setting]
    start: int
    sweep: int

    @property
    def at_start(self) -> Setting:
        return self.settings[self.start]


def _nudging(knobs: int) -> Setting:
    runs, per_run = knobs + 1, arrows(knobs)
    everything = "both gradients" if knobs == 2 else f"all {knobs:,} gradients"
    return Setting(
        size=knobs,
        arrows=per_run,
        seconds=runs,
        totals=((runs, runs * per_run, knobs), (2, 2 * per_run, knobs)),
        behind=(2, 2 * per_run, 1),
        more=knobs // 2 - 1,
        swept=f"After 2 seconds, one run and one sweep had found {everything}. Nudging had found "
        f"1, and had {in_words(runs - 2)} to go.",
        ended=f"Nudging has found {everything}, too, after {in_words(runs)}. The sweep took 2 "
        "seconds.",
    )


def _sending(neurons: int) -> Setting:
    root = stack(neurons)
    per_sweep, sent = sum(1 for _ in messages(root)), sent_at_once(root)
    seconds = sent / per_sweep
    return Setting(
        size=neurons,
        arrows=per_sweep,
        seconds=seconds,
        totals=((sent,), (per_sweep,)),
        behind=(per_sweep,),
        more=neurons - 2,
        swept=f"After 1 second, the sweep was done, with one message along each of {per_sweep} "
        f"arrows. The program on the left still had {in_words(seconds - 1)} to go: each neuron "
        "doubles the messages of all before it.",
        ended=f"The program on the left is done, too, after {in_words(seconds)}. The sweep took 1 "
        "second.",
    )


@cache
def contests() -> tuple[Contest, Contest]:
    """Return what the sweep races against: nudging each knob, and sending at once."""
    return (
        Contest(
            name="nudging",
            button="Nudge each knob",
            unit="knobs",
            asks="On this clock, one run through the network takes a second, however large it is. "
            "Who is first to know what each knob does to the loss?",
            lanes=("Nudge one knob, run again", "One run, one sweep back"),
            counters=("runs", "arrows", "gradients"),
            settings=[_nudging(knobs) for knobs in KNOBS],
            start=KNOBS.index(1000),
            sweep=2,
        ),
        Contest(
            name="sending",
            button="Send at once",
            unit="neurons",
            asks="Both lanes go back from the last number, and each neuron offers two ways. On the "
            "left, a number passes on whatever comes, as soon as it comes. On the right, it waits "
            "until all has come. Does waiting take longer?",
            lanes=("Pass it on at once", "Wait, then send once"),
            counters=("messages",),
            settings=[_sending(neurons) for neurons in NEURONS],
            start=NEURONS.index(15),
            sweep=1,
        ),
    )


def race(*, small: bool = False) -> Figure:
    """Show what all gradients cost: one run and one sweep, beside a run for each knob.

    Both lanes cross the same number of arrows in a second. A slider sets the number of knobs, from
    2 to a million. A second race is against a program whose numbers pass on at once whatever they
    get, in 5 to 30 neurons with skips.

    Args:
        small: show the first race alone, and no graph.

    >>> print(race(small=True).alt)
    With 1,000 knobs, nudging takes 1,001 runs; one run and one sweep back find all gradients.
    """
    shown = contests()[: 1 if small else 2]
    first = shown[0].at_start
    picks = "".join(
        f'<button type="button" aria-pressed="{str(not i).lower()}">{each.button}</button>'
        for i, each in enumerate(shown)
    )
    group = f'<div class="cg-bar cg-picks" role="group" aria-label="Against">{picks}</div>'
    scenes = "".join(_scene(each, not small, is_first=not i) for i, each in enumerate(shown))
    data = [_data(contest, not small) for contest in shown]
    title = "A race: one run and one sweep back, beside a run for each knob"
    alt = (
        f"With {first.size:,} knobs, nudging takes {first.totals[0][0]:,} runs; one run and one "
        "sweep back find all gradients."
    )
    inside = f'{group * (not small)}<div class="cg-scenes">{scenes}</div>'
    script, sheets = HERE / "race.bundle.js", [PICTURE, HERE / "race.css"]
    return Figure(alt, data, inside, "race", sheets, script, _title=title)


def _data(contest: Contest, is_drawn: bool) -> dict[str, Any]:
    """Return what the script reads."""
    graphs = _graphs(contest.name) if is_drawn else ()
    return {
        "name": contest.name,
        "asks": contest.asks,
        "sweep": contest.sweep,
        "settings": [asdict(setting) for setting in contest.settings],
        "edges": [list(_edges(items)) for items in graphs],
        "knobs": [item.id for items in graphs[:1] for item in items if item.kind == "parameter"],
    }


def _scene(contest: Contest, is_drawn: bool, is_first: bool) -> str:
    """Write the two lanes as they are when the sweep has arrived, and the controls."""
    setting = contest.at_start
    said = [contest.asks, *(text for each in contest.settings for text in (each.swept, each.ended))]
    pictures = "".join(_pictures(contest)) if is_drawn else ""
    lanes = "".join(
        f'<div class="cg-lane" role="group" aria-label="{title}"><p class="cg-name">{title}</p>'
        f"{pictures}{_counters(contest.counters, now, total)}</div>"
        for title, now, total in zip(
            contest.lanes, (setting.behind, setting.totals[1]), setting.totals, strict=True
        )
    )
    last = len(contest.settings) - 1
    value = f"{setting.size:,}"
    controls = (
        '<div class="cg-controls" hidden><button type="button">Start</button>'
        f"<label><span>{contest.unit} <b>{value}</b></span>"
        f'<input type="range" min="0" max="{last}" value="{contest.start}" autocomplete="off" '
        f'aria-valuetext="{value}"></label><span class="cg-clock">0.0 s</span></div>'
    )
    off = "" if is_first else " cg-off"
    return (
        f'<div class="cg-scene{off}">{controls}<div class="cg-lanes">{lanes}</div>'
        f'<p class="cg-words" role="status" '
        f'data-longest="{html.escape(max(said, key=len))}">{html.escape(setting.swept)}</p></div>'
    )


def _counters(names: Iterable[str], now: Iterable[int], totals: Iterable[int]) -> str:
    items = (
        f"<div><dt>{name}</dt><dd><b>{count:,}</b> <span>of {total:,}</span></dd></div>"
        for name, count, total in zip(names, now, totals, strict=True)
    )
    return f"<dl>{''.join(items)}</dl>"


# --- the graphs ---------------------------------------------------------------------------------


def _cut(items: Sequence[Item], label: str) -> Iterator[Item]:
    """Put one box, for many neurons, between the first node of a label and its users."""
    cut = next(item for item in items if item.label == label)
    more = Item("more", "more neurons", "", "operation", (cut.id,))
    for item in items:
        parents = tuple("more" if parent == cut.id else parent for parent in item.parents)
        yield replace(item, parents=parents)
        if item is cut:
            yield more


@cache
def _graphs(name: str) -> Sequence[Sequence[Item]]:
    """Return the graphs of a contest that are drawn, the one without a box for the rest first."""
    if name == "nudging":
        items = read(tower(1), "race", 100)
        return items, list(_cut(items, "out"))
    return (list(_cut(read(stack(2), "race", 100), "out")),)


def _pictures(contest: Contest) -> Iterator[str]:
    graphs = _graphs(contest.name)
    chosen = min(contest.at_start.more, len(graphs) - 1)
    for i, items in enumerate(graphs):
        alt = f"The network: {', '.join(item.label for item in items)}"
        root = draw([_look(item) for item in items], "LR", GAP, alt)
        fill(root, {("more", "count"): f"{contest.at_start.more:,}", ("more", "says"): "more"})
        hidden = " hidden" * (i != chosen)
        yield f'<div class="cg-picture"{hidden}>{ET.tostring(root, encoding="unicode")}</div>'


def _look(item: Item) -> Look:
    """Show the name of a node, and in the box for many how many they are."""
    if item.id != "more":
        return Look(item, item.label, color=item.color)
    return Look(item, "", slots=(("count",), ("says",)), widest=("499,999",), is_centred=True)


def _edges(items: Sequence[Item]) -> Iterator[Edge | None]:
    """Yield the arrows of a drawing as a sweep crosses them, with room for those in the box."""
    for item in reversed(items):
        yield from [None] * (INSIDE * (item.id == "more"))
        yield from ((parent, item.id) for parent in item.parents)
