"""One training step as PyTorch's profiler sees it, at several batch sizes; writes the timelines.

The lesson on profiling draws them. All times are shares of their step, or of a step with one
example: what a reader may compare is which of them grow. ``make bench STEP=1`` records them again.
"""

import datetime
import json
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function

from benchmarks.measure import processor

RESULTS = Path(__file__).parents[1] / "src" / "chainlab" / "lessons" / "profiling.json"
BATCHES = (1, 4, 16, 64, 256, 1024, 4096)
PHASES = ("forward", "backward", "optimizer")
PRODUCTS = ("aten::addmm", "aten::mm")


def make_step(batch: int) -> Any:
    """Return a function that does one training step of the lesson's network."""
    torch.manual_seed(0)
    layers = [nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10)]
    model, criterion = nn.Sequential(*layers), nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters())
    x, y = torch.randn(batch, 784), torch.randint(0, 10, (batch,))

    def step() -> None:
        with record_function("forward"):
            loss = criterion(model(x), y)
        with record_function("backward"):
            loss.backward()
        with record_function("optimizer"):
            optimizer.step()
            optimizer.zero_grad()

    return step


def callers(event: Any) -> Iterator[str]:
    """Yield the names of the events around this one, from the nearest outward."""
    while event := event.cpu_parent:
        yield event.name


def bars(events: Iterable[Any]) -> Iterator[tuple[str, str, float, float]]:
    """Yield the outermost operations and the products: phase, name, start and end."""
    for event in events:
        around = list(callers(event))
        phase = next((name for name in around if name in PHASES), None)
        is_outermost = not any(name.startswith("aten::") for name in around)
        if phase and event.name.startswith("aten::") and (is_outermost or event.name in PRODUCTS):
            span = event.time_range
            yield phase, event.name.removeprefix("aten::"), span.start, span.end


def record(batch: int, tries: int) -> dict[str, Any]:
    """Record a step some times, warm, and return the quickest one, in microseconds."""
    step = make_step(batch)
    for _ in range(5):
        step()
    found = []
    for _ in range(tries):
        with profile(activities=[ProfilerActivity.CPU]) as prof:
            step()
        events = list(prof.events())
        spans = {e.name: e.time_range for e in events if e.name in PHASES}
        begin, end = spans["forward"].start, spans["optimizer"].end
        found.append((end - begin, begin, spans, events))
    long, begin, spans, events = min(found, key=lambda each: each[0])
    return {
        "batch": batch,
        "us": long,
        "phases": {name: (spans[name].start - begin, spans[name].end - begin) for name in PHASES},
        "bars": sorted((*who, a - begin, b - begin) for *who, a, b in bars(events)),
    }


def shares(recorded: dict[str, Any], unit: float) -> dict[str, Any]:
    """Return a recording with its times as shares of the step, in 1/10,000, and no seconds."""
    long = recorded["us"]

    def share(time: float) -> int:
        return round(1e4 * time / float(long))

    rows: dict[str, list[tuple[str, int, int]]] = {name: [] for name in PHASES}
    for phase, name, start, end in sorted(recorded["bars"], key=lambda bar: (bar[2], -bar[3])):
        rows[phase].append((name, share(start), share(end)))
    return {
        "batch": recorded["batch"],
        "times": round(long / unit, 2),  # as long as the step with one example
        "phases": {name: tuple(map(share, span)) for name, span in recorded["phases"].items()},
        "bars": rows,
    }


def main(tries: int = 60) -> None:
    torch.set_num_threads(1)
    recorded = [record(batch, tries) for batch in BATCHES]
    git = ["git", "describe", "--always", "--dirty"]
    commit = subprocess.run(git, capture_output=True, text=True, cwd=RESULTS.parent, check=False)
    about = {
        "processor": processor(),
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "date": datetime.date.today().isoformat(),
        "commit": commit.stdout.strip() or "unknown",
        "tries": tries,
    }
    steps = [shares(each, recorded[0]["us"]) for each in recorded]
    RESULTS.write_text(json.dumps(about | {"steps": steps}, separators=(",", ":")) + "\n")
    for each, step in zip(recorded, steps, strict=True):
        print(f"{each['batch']:5} {each['us']:9.0f} µs", step["phases"])


if __name__ == "__main__":
    main()
