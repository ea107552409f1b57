"""Time contenders in turn, so that a slow moment of the machine falls on all of them.

The clock counts the time of this process, all of whose libraries have one thread: what other
programs take is not in it.
"""

import gc
import platform
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass
class Contender:
    """What is timed: ``run`` on the fresh result of ``prepare``, which is not."""

    run: Callable[[Any], object]
    prepare: Callable[[], Any] = lambda: None


def seconds(contender: Contender, number: int, collector: bool = True) -> float:
    """Return the mean time of ``number`` runs, with the cyclic collector on or off.

    What was there before is kept out of the collector's way: see `interleaved`.
    """
    prepared = [contender.prepare() for _ in range(number)]
    gc.collect()
    if not collector:
        gc.disable()
    start = time.process_time()
    for argument in prepared:
        contender.run(argument)
    elapsed = time.process_time() - start
    gc.enable()
    return elapsed / number


def interleaved(
    contenders: Mapping[str, Contender], rounds: int, least: float = 3e-2, collector: bool = True
) -> dict[str, list[float]]:
    """Time each contender once a round, in rotating order, for about ``least`` s each time."""
    gc.collect()
    gc.freeze()
    number = {}
    for name, contender in contenders.items():
        seconds(contender, 1, collector)  # a first run may compile, or fill caches
        once = seconds(contender, 1, collector)
        number[name] = max(1, min(2000, int(least / max(once, 1e-9))))
    times: dict[str, list[float]] = {name: [] for name in contenders}
    names = list(contenders)
    for r in range(rounds):
        for name in names[r % len(names) :] + names[: r % len(names)]:
            times[name].append(seconds(contenders[name], number[name], collector))
    gc.unfreeze()
    return times


def ratio(ours: list[float], theirs: list[float]) -> tuple[float, float, float]:
    """Return the first quartile, median and third quartile of the ratio, round by round."""
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    if len(ratios) == 1:
        return (ratios[0],) * 3
    first, median, third = statistics.quantiles(ratios, n=4, method="inclusive")
    return first, median, third


def processor() -> str:
    """Return the name of this machine's processor."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
