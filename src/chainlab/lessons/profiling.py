"""What *Profiling the backward pass* draws: one training step, recorded at several batch sizes.

``benchmarks/training_step.py`` makes the record. Its times are shares of their own step.
"""

import datetime
import html
import json
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from chainview import Figure

HERE = files(__package__)
START = 3  # the place of the slider to begin with: 64 examples
PRODUCTS = ("addmm", "mm")
ROWS = {"forward": "forward", "backward": "backward", "optimizer": "Adam"}
KINDS = ("products of matrices", "all other operations", "between the operations")


@cache
def recorded() -> dict[str, Any]:
    """Return the record: the steps, and with what and when they were recorded."""
    found: dict[str, Any] = json.loads((HERE / "profiling.json").read_text())
    return found


def bars(step: dict[str, Any], phase: str) -> Iterator[tuple[str, float, float, bool]]:
    """Yield name, start and end in percent of the step, and whether it lies in another bar."""
    until = 0
    for name, start, end in step["bars"][phase]:
        yield name, start / 100, end / 100, start < until
        until = max(until, end)


def parts(step: dict[str, Any]) -> dict[str, float]:
    """Return how many percent of a step lie in products, in other operations and between.

    >>> {name: round(part) for name, part in parts(recorded()["steps"][0]).items()}
    {'products of matrices': 10, 'all other operations': 52, 'between the operations': 38}
    """
    products = outermost = 0.0
    for phase in ROWS:
        for name, start, end, is_inside in bars(step, phase):
            products += (end - start) * (name in PRODUCTS)
            outermost += (end - start) * (not is_inside)
    return dict(zip(KINDS, (products, outermost - products, 100 - outermost), strict=True))


def longest(step: dict[str, Any]) -> list[tuple[str, float]]:
    """Return the three operations with the largest shares, all their calls together."""
    found: defaultdict[str, float] = defaultdict(float)
    for phase in ROWS:
        each = list(bars(step, phase))
        for (name, start, end, _), after in zip(each, [*each[1:], None], strict=True):
            inside = after[2] - after[1] if after and after[3] else 0
            found[name] += end - start - inside
    return sorted(found.items(), key=lambda item: -item[1])[:3]


def step_timeline() -> Figure:
    """Show one training step as a profiler draws it, at the batch size that one chooses.

    >>> print(step_timeline())  # doctest: +ELLIPSIS
    <Figure: One training step ... 64 examples: products of matrices 38 %, ...
    """
    record = recorded()
    step = record["steps"][START]
    found = parts(step)
    title = "One training step as a profiler draws it, recorded at seven batch sizes"
    shares = ", ".join(f"{name} {part:.0f} %" for name, part in found.items())
    day = datetime.date.fromisoformat(record["date"])
    about = (
        f"Recorded once, on {day.day} {day:%B %Y}: PyTorch {record['torch'].partition('+')[0]}, "
        f"one thread of an {record['processor']}, the quickest of {record['tries']} steps at each "
        "size. On your machine the shares are others."
    )
    rows = "".join(_row(step, phase, title) for phase, title in ROWS.items())
    counts = "".join(
        f'<div class="cg-kind"><dt>{name}</dt><dd>{part:.0f} %</dd></div>'
        for name, part in found.items()
    )
    last = len(record["steps"]) - 1
    inside = (
        '<label class="cg-controls" hidden><span>examples in the batch</span>'
        f'<input type="range" min="0" max="{last}" value="{START}" autocomplete="off">'
        f"<output>{step['batch']:,}</output></label>"
        f'<div class="cg-rows" aria-hidden="true">{rows}</div><dl>{counts}</dl>'
        f'<p class="cg-words" role="status">{html.escape(words(step))}</p>'
        f'<p class="cg-about">{html.escape(about)}</p>'
    )
    data = [_packed(each) for each in record["steps"]]
    script, sheets = HERE / "profiling.bundle.js", [HERE / "profiling.css"]
    alt = f"{title}. {step['batch']} examples: {shares}. {words(step)}"
    return Figure(alt, data, inside, "step", sheets, script, _title=title)


def words(step: dict[str, Any]) -> str:
    """Say how long the step took beside the one with one example, and what took longest."""
    batch, first = step["batch"], recorded()["steps"][0]
    names = ", ".join(f"{name} {share:.0f} %" for name, share in longest(step))
    if step is first:
        return f"One example. The longest operations are {names}."
    grown = [
        step["times"] * (b - a) / (first["phases"][phase][1] - first["phases"][phase][0])
        for phase, (a, b) in step["phases"].items()
    ]
    there, back, adam = (f"{times:.0f}" if times > 9.95 else f"{times:.1f}" for times in grown)
    return (
        f"{batch:,} examples. Beside one example, the forward pass took {there} times as long, the "
        f"backward pass {back} times, Adam {adam} times. The longest operations are {names}."
    )


def _row(step: dict[str, Any], phase: str, title: str) -> str:
    inside = "".join(
        f'<i class="cg-{"product" if name in PRODUCTS else "op"}" title="{name}" '
        f'style="left:{start:.2f}%;width:{end - start:.2f}%"></i>'
        for name, start, end, _ in bars(step, phase)
    )
    a, b = step["phases"][phase]
    span = f'<b style="left:{a / 100:.2f}%;width:{(b - a) / 100:.2f}%"></b>'
    share = f"<span>{(b - a) / 100:.0f} %</span>"
    return (
        f'<div class="cg-row cg-{phase}"><p>{title} {share}</p>'
        f'<div class="cg-line">{span}{inside}</div></div>'
    )


def _packed(step: dict[str, Any]) -> dict[str, Any]:
    """Return what the script shows of a step: places in 1/100 percent, shares, and words."""
    return {
        "batch": f"{step['batch']:,}",
        "spans": list(step["phases"].values()),
        "bars": [[place for _, *ends in step["bars"][p] for place in ends] for p in ROWS],
        "parts": [round(part) for part in parts(step).values()],
        "words": words(step),
    }
