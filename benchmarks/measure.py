"""Time contenders in turn, so that a slow moment of the machine falls on all of them."""

import gc
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass
class Contender:
    """What is timed: ``run`` on the fresh result of ``prepare``, which is not."""

    run: Callable[[Any], object]
    prepare: Callable[[], Any] = lambda: None


def seconds(contender: Contender, number: int) -> float:
    """The time of one run, averaged over ``number`` of them, with older objects out of gc's way."""
    prepared = [contender.prepare() for _ in range(number)]
    gc.collect()
    gc.freeze()
    start = time.perf_counter()
    for argument in prepared:
        contender.run(argument)
    elapsed = time.perf_counter() - start
    gc.unfreeze()
    return elapsed / number


def interleaved(
    contenders: Mapping[str, Contender], rounds: int, least: float = 5e-2
) -> dict[str, list[float]]:
    """Time each contender once a round, in an order that turns, for about ``least`` s each time."""
    number = {
        name: max(1, min(200, int(least / seconds(contender, 1))))
        for name, contender in contenders.items()
    }
    times: dict[str, list[float]] = {name: [] for name in contenders}
    names = list(contenders)
    for r in range(rounds):
        for name in names[r % len(names) :] + names[: r % len(names)]:
            times[name].append(seconds(contenders[name], number[name]))
    return times


def ratio(ours: list[float], theirs: list[float]) -> tuple[float, float, float]:
    """First quartile, median and third quartile of the ratio, round by round."""
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    if len(ratios) == 1:
        return (ratios[0],) * 3
    first, median, third = statistics.quantiles(ratios, n=4, method="inclusive")
    return first, median, third
